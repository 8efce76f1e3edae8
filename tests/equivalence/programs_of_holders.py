"""What calls the user's code without naming it: (name, statement, what stands above it, which makes and fills ``log``).

Each is something other than a function's own code that leads to it: a wrapper or an object of a library, what stands in
a class, an element of a container.
"""

_NAMESPACES = "s = types.SimpleNamespace(n=0)\nlog = [s]\ndef h(): s.n += 1"
_MODULE = "m = types.ModuleType('m')\ndef bump(): log.append(1)\nm.bump = bump\ndel bump\n"
_BY_NAME = "import operator\n" + _MODULE + "m.log, name = log, 'bu' + 'mp'\n"
_METHOD = "class C:\n    n = 0\n    def go(self): log.append(1)\n    def __hash__(self): return 1\n"
_DATA = (
    "class D:\n    def __get__(self, o, t=None): log.append(1)\n    def __set__(self, o, v): log.append(v)\n"
    "    def __delete__(self, o): log.append(3)\nclass C:\n    d = D()\nc = C()"
)
_PROPERTY = "class C:\n    @property\n    def p(self): log.append(1)\n"
_PROPERTY += "    @p.setter\n    def p(self, v): log.append(2)\n    @p.deleter\n    def p(self): log.append(3)\nc = C()"

HOLDERS = [
    ("setter", "c.p = 1", _PROPERTY),
    ("deleter", "del c.p", _PROPERTY),
    ("setter_in_a_helper", "h(c)", _PROPERTY + "\ndef h(q): q.p = 1"),
    ("deleter_in_a_helper", "h(c)", _PROPERTY + "\ndef h(q): del q.p"),
    ("descriptor_set_in_a_helper", "h([c])", _DATA + "\ndef h(q): q[0].d = 2"),
    ("descriptor_asked", "c.d", _DATA),
    ("descriptor_set", "c.d = 2", _DATA),
    ("descriptor_deleted", "del c.d", _DATA),
    ("cached_property", "C().p", "class C:\n    @functools.cached_property\n    def p(self): log.append(1)"),
    ("partialmethod", "C().p()", "class C:\n    p = functools.partialmethod(lambda self, k: log.append(k), 3)"),
    ("singledispatchmethod", "c.m(1.0)",
     "class C:\n    @functools.singledispatchmethod\n    def m(self, x): log.append(1)\nc = C()"),
    ("singledispatch", "h(x)", "@functools.singledispatch\ndef h(x): log.append(1)"),
    ("metaclass", "C()", "class M(type):\n    def __call__(cls): log.append(1)\nclass C(metaclass=M): pass"),
    ("new", "C()", "class C:\n    def __new__(cls): log.append(1)"),
    ("init_subclass", "class B(C): pass", "class C:\n    def __init_subclass__(cls): log.append(1)"),
    ("class_getitem", "C[int]", "class C:\n    def __class_getitem__(cls, k): log.append(1)"),
    ("enumeration", "E.a.go()", "import enum\nclass E(enum.Enum):\n    a = 1\n    def go(self): log.append(1)"),
    ("text", "c.go()", "class C(str):\n    def go(self): log.append(1)\nc = C('a')"),
    ("number", "c.go()", "class C(float):\n    def go(self): log.append(1)\nc = C(1)"),
    ("tuple", "c.go()", "class C(tuple):\n    def go(self): log.append(1)\nc = C((1,))"),
    ("set", "c.go()", "class C(set):\n    def go(self): log.append(1)\nc = C()"),
    ("list", "c.go()", "class C(list):\n    def go(self): log.append(1)\nc = C()"),
    ("array", "c.go()", "class C(np.ndarray):\n    def go(self): log.append(1)\nc = np.ones(2).view(C)"),
    ("elements_of_a_set", "for o in s: o.go()", _METHOD + "s = frozenset([C()])"),
    ("keys_of_a_dict", "for o in d: o.go()", _METHOD + "d = {C(): 1}"),
    ("values_of_a_dict", "for o in v: o.append(1)", "log = [[]]\nv = {1: log[0]}.values()"),
    ("weak_proxy", "p.go()", _METHOD + "c = C()\np = weakref.proxy(c)"),
    ("method_kept", "go()", _METHOD + "go = C().go"),
    ("cache", "h()", "h = functools.lru_cache(maxsize=0)(lambda: log.append(1))"),
    ("context_decorator", "h()",
     "class C(contextlib.ContextDecorator):\n    def __enter__(self): log.append(1)\n"
     "    def __exit__(self, *_): log.append(2)\n@C()\ndef h(): pass"),
    ("order", "sorted([2, 1], key=o)", "o = functools.cmp_to_key(lambda a, b: log.append(1) or 0)"),
    ("method_by_name", "g(c)", "import operator\n" + _METHOD + "g, c = operator.methodcaller('go'), C()"),
    ("attribute_by_name", "g(c)", "import operator\n" + _PROPERTY + "\ng = operator.attrgetter('p')"),
    ("vectorized", "v(1.0)", "v = np.vectorize(lambda k: log.append(1) or k, otypes=[float])"),
    ("vectorized_over_an_array", "v(x)", "v = np.vectorize(lambda k: log.append(1) or k)"),
    ("chosen_elements", "np.piecewise(x, [x > 9.0, x < 1.5], [h, h, 0.0])",
     "def h(v):\n    log.append(1)\n    return v"),
    ("default_factory", "d[len(d)]", "d = collections.defaultdict(lambda: log.append(1))"),
    ("each_row", "np.apply_along_axis(h, 0, np.stack([x, x]))", "def h(r):\n    log.append(1)\n    return r.sum()"),
    ("namespace", "h()", _NAMESPACES),
    ("exception", "h()", _NAMESPACES.replace("types.SimpleNamespace(n=0)", "ValueError(); s.n = 0")),
    ("module_in_a_closure", "h()", _MODULE + "def made():\n    n = m\n    return lambda: n.bump()\nh = made()"),
    ("module_in_an_object", "s.m.bump()", _MODULE + "s = types.SimpleNamespace(m=m)\ndel m"),
    ("module_by_text", "getattr(m, 'bump')()", _MODULE),
    ("module_by_a_name", "getattr(m, name)()", _BY_NAME),
    ("module_in_a_partial", "g()()", _BY_NAME + "g = functools.partial(getattr, m, name)\ndel m"),
    ("module_in_its_own_method", "g(name)()", _BY_NAME + "g = m.__getattribute__\ndel m"),
    ("module_asked_by_an_object", "g(m)", _BY_NAME + "g = operator.methodcaller(name)"),
    ("module_asked_by_an_alias", "g(m, name)()", _BY_NAME + "g = getattr"),
    ("namespace_of_a_module", "vars(m)[name]()", _BY_NAME),
    ("dict_of_a_module", "[*m.__dict__.values()][-2]()", _BY_NAME + "m.__dict__['last'] = None"),
    ("module_in_a_list", "for o in s: getattr(o, name)()", _BY_NAME + "s = [m]\ndel m"),
    ("module_of_a_local_name", "n = m\nn.bump()", _BY_NAME),
    ("text_of_code", "exec('log.append(1)')", ""),
    ("expression_in_text", "eval('log.append(1)')", ""),
]  # fmt: skip

#: those that no graph can do: refused, and nothing has changed
NOT_FOLLOWED = [
    ("method_of_a_list", "add(1)", "add = log.append"),
    ("wrapper_of_a_method", "add([1])", "add = log.__iadd__"),
    ("default", "h(1)", "def h(k, l=log): l.append(k)"),
]  # fmt: skip

#: what each call finds there now: (name, body, what stands above, state, what happens before call number ``k``)
FOUND = [
    ("attribute_in_a_set", "for o in s: x = x * o.n\nreturn x", _METHOD + "c = C()\ns = {c}", "c.n", "c.n = k + 2.0"),
    ("attribute_of_a_key", "for o in d: x = x * o.n\nreturn x", _METHOD + "c = C()\nd = {c: 1}", "c.n",
     "c.n = k + 2.0"),
    ("global_of_a_vectorized", "return v(x)", "W = np.ones(1)\nv = np.vectorize(lambda t: t * W[0], otypes=[float])",
     "W", "W[0] = k + 2"),
    ("attribute_of_an_exception", "return x * e.n", "e = ValueError()\ne.n = 1.0", "e.n", "e.n = k + 2.0"),
    ("class_in_a_partial", "return h(x)",
     "class C:\n    n = 1.0\nh = functools.partial(lambda c, x: x * c.n, C)", "C.n", "C.n = k + 2.0"),
    ("module_in_a_partial", "return x * g()",
     "import types\nm = types.ModuleType('m')\nm.n = 1.0\ng = functools.partial(getattr, m, 'n')", "m.n",
     "m.n = k + 2.0"),
    ("object_in_a_partial", "return x * g()",
     "import types\nc = types.SimpleNamespace(n=1.0)\ng = functools.partial(getattr, c, 'n')", "c.n", "c.n = k + 2.0"),
    ("object_in_its_own_method", "return x * g('n')",
     "import types\nc = types.SimpleNamespace(n=1.0)\ng = c.__getattribute__", "c.n", "c.n = k + 2.0"),
    ("property_of_a_text", "return x * c.p", "class C(str):\n    @property\n    def p(self): return W[0]\n"
     "W, c = np.ones(1), C('a')", "W", "W[0] = k + 2"),
]  # fmt: skip
