"""A class that changes between two calls: by special methods, which no code names, by its bases, by its metaclass.

And attributes that an object holds under the name of a descriptor of its class.
"""

import itertools

import autoloop as al
import numpy as np
from each_case import each
from worlds import module, played, world

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])
TOP = """\
import dataclasses as dc
class C:
    def __init__(self): self.k = 2.0
    def m(self): return 3.0
@dc.dataclass
class D:
    k: float = 2.0
    def m(self): return 3.0
class F:
    def __call__(self): return False
class P:
    def __get__(self, o, t=None): return 77.0
    def __set__(self, o, v): pass
class B:
    k = 4.0
    def m(self): return 1.0
    def __len__(self): return 3
    def __bool__(self): return True
    def __eq__(self, o): return True
class B2:
    def m(self): return 100.0
    def __len__(self): return 0
class S(B): pass
class M(type): pass
class M2(M):
    def __len__(cls): return 9
    def __call__(cls, *a):
        o = super().__call__(*a)
        o.z = 5.0
        return o
class Q(metaclass=M): z = 1.0
class T:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1.0
c, d, p, q, s, r, t = C(), C(), D(), D(), S(), S(), T()
"""
#: what asks an object for a method that it has not yet -> what is done before the second call
ADDED = {
    "return x * 2 if c else x": "C.__bool__ = lambda s: False",
    "return x * 2 if p else x": "D.__bool__ = lambda s: False",
    "return x * (not c)": "C.__len__ = lambda s: 0",
    "return x * (2 if (c and d) else 1)": "C.__bool__ = F()",
    "return x * 2 if c == 3 else x": "C.__eq__ = lambda s, o: True",
    "return x * 2 if p != p else x": "D.__ne__ = lambda s, o: True",
    "return x * 2 if p == q else x": "D.__eq__ = lambda s, o: False",
    "return x * 2 if d in [c] else x": "C.__eq__ = lambda s, o: True",
    "return x * len({c, d})": "C.__hash__ = lambda s: 5\nC.__eq__ = lambda s, o: True",
    "try: return x * c(2)\nexcept TypeError: return x": "C.__call__ = lambda s, o: 5",
    "return x * 2 if f'{c}' == 'abc' else x": "C.__str__ = lambda s: 'abc'",
    "return x * 2 if repr(p) == 'abc' else x": "D.__repr__ = lambda s: 'abc'",
    "try: return x * sum(c)\nexcept TypeError: return x": "C.__iter__ = lambda s: iter([1, 2, 5])",
    "try: return x * c[1]\nexcept TypeError: return x": "C.__getitem__ = lambda s, i: [1, 2, 5][i]",
    "try: return x * 2 if 3 in c else x\nexcept TypeError: return -x": "C.__contains__ = lambda s, i: True",
    "c.k = c.k + 1\nreturn x * c.k": "C.__setattr__ = lambda s, n, v: object.__setattr__(s, n, v * 2)",
    "c.z = 1\ndel c.z\nreturn x * c.k": "C.__delattr__ = lambda s, n: object.__setattr__(s, 'k', 99.0)",
    "try: return x * c.q\nexcept AttributeError: return x": "C.__getattr__ = lambda s, n: 8",
    "return x * c.k": "C.__getattribute__ = lambda s, n: 8.0",
    "try: return x * x[c]\nexcept (TypeError, IndexError): return x": "C.__index__ = lambda s: 1",
    "try: return x * float(c)\nexcept TypeError: return x": "C.__float__ = lambda s: 4.5",
    "try: return np.sin(c)\nexcept TypeError: return x": "C.__array__ = lambda s, *_, **__: np.arange(3.)",
    "try: return np.cos(c)\nexcept TypeError: return x": "C.__array_ufunc__ = lambda s, *a, **k: np.arange(3.)",
    "try: return x + c\nexcept TypeError: return x": "C.__radd__ = lambda s, o: o*3",
    "try: return -c * x\nexcept TypeError: return x": "C.__neg__ = lambda s: 3",
    "try:\n    with c: return x * 2\nexcept (TypeError, AttributeError): return x":
        "C.__enter__ = lambda s: 3\nC.__exit__ = lambda s, *a: None",
    "return x * D().k": "def i(s): s.k = 9.0\nD.__init__ = i",
    "match p:\n    case D(a): return x * a\nreturn x": "D.__match_args__ = ()",
    "s = 0.0\nfor v in x:\n    if v > 1: s = s + (v if c else -v)\nreturn s": "C.__bool__ = lambda s: False",
    "return x*2 if d else x": "del C.m\nC.__bool__ = lambda s: False",
    "return x*3 if c else x": "C.__bool__ = lambda s: False\nm = C.m\ndel C.m\nC.m = m",
}  # fmt: skip
CHANGED = {
    "return x * s.m()": "S.__bases__ = (B2, )",
    "return x * len(s)": "S.__bases__ = (B2, )",
    "return x if s else -x": "del B.__bool__; B.__len__ = lambda s: 0",
    "return x if s == r else -x": "del B.__eq__",
    "try: return x * len({s, r})\nexcept TypeError: return x": "B.__hash__ = lambda s: 3",
    "return x * s.k": "S.k = 50.0",
    "return x * super(S, s).m()": "B.m = lambda s: 50.0",
    "return x * Q().z": "Q.__class__ = M2",
    "try: return x * len(Q)\nexcept TypeError: return x": "M.__len__ = lambda c: 4",
    "return x * getattr(Q, 'zz', 2)": "M.zz = 4",
    "return x * isinstance(3, Q)": "M.__instancecheck__ = lambda c, i: True",
    "return x * t.a": "T.a = property(lambda s: 44.0)",
    "return x * getattr(t, 'a', 5)": "del T.a",
    "return x * c.k": "C.k = property(lambda s: 11.0)",
    "return x * (c.k + 1)": "C.k = P()",
    "return x * c.m()": "c.m = lambda: 9.0",
    "return x * d.m()": "d.__class__ = type('E', (C,), {'m': lambda s: 10.0})",
}
HELD = """\
class C:
    def __init__(self): self.__dict__['k'] = 2.0
    @property
    def k(self): return self.__dict__['k']
    @k.setter
    def k(self, v): self.__dict__['k'] = v * 2
class Typed:
    def __set_name__(self, o, n): self.n = n
    def __get__(self, o, t=None): return o.__dict__.get(self.n, 7.0)
    def __set__(self, o, v): o.__dict__[self.n] = v * 3
class U: b = Typed()
class S:
    __slots__ = ('a', '__dict__')
class T(S):
    @property
    def a(self): return S.a.__get__(self) * 10
    @a.setter
    def a(self, v): S.a.__set__(self, v + 1)
c, u, t = C(), U(), T()
t.a = 4.0
"""
KEPT = {
    "return x * c.k": "c.__dict__['k'] = float(k)",
    "c.k = x[0]\nreturn x * c.k": "pass",
    "c.k += 1\nreturn x * c.k": "if k == 2: c.k = 4",
    "i = 0\nwhile i < x[0]:\n    c.k += 1\n    i += 1\nreturn x * c.k": "pass",
    "u.b = x * 2\nreturn u.b + 1": "pass",
    "if x[0] > 1: u.b = x[0]\nreturn u.b + x": "pass",
    "for i in range(3): u.b += x[i]\nreturn u.b": "u.b = float(k)",
    "t.a += x[0]\nreturn t.a": "if k == 2: t.a = 1.0",
    "if x[0] > 1: t.a = x[1]\nreturn t.a": "pass",
    "o = U()\nif x[0] > 1: o.b = x[1]\nr = [o]\nreturn r[0].b + x": "pass",
    "o = [C(), C()]\nfor i in range(2): o[i].k = x[i]\nreturn o[0].k + o[1].k": "pass",
}


def check(body, *program):
    text = module(body, *program)
    assert played("changed", text, next(EXECUTORS))[0] == played("changed", text)[0]


@each([*ADDED.items(), *CHANGED.items()])
def test_each_call_finds_the_class_that_there_is(body, change):
    check(body, TOP, "", "if k == 1:\n    " + change.replace("\n", "\n    "))


@each(KEPT.items())
def test_what_a_descriptor_keeps_under_its_own_name_is_what_the_object_holds(body, change):
    check(body, HELD, "(vars(c), vars(u), S.a.__get__(t), c.k, u.b, t.a)", change)


NAMED = {
    "global Z\ntry: del Z\nexcept NameError: return -x\nreturn x": ("Z = 1.0", "pass"),
    "try: del o.q\nexcept AttributeError: return -x\nreturn x": ("class O: q = 1\no = O()\no.q = 2", "pass"),
    "return x * len(h.__annotations__)": ("def h(v: int): return v", "h.__annotations__['q%d' % k] = int"),
    "return x * len(h.__name__ + h.__doc__)": ("def h(v): 'a'", "h.__name__ = 'q' * k\nh.__doc__ = 'q' * k"),
    "return x * len(O.__name__)": ("class O: pass", "O.__name__ = 'q' * k"),
    "return x * cfg.zz": ("import types\ncfg = types.ModuleType('cfg')\nn = [3]\ncfg.__getattr__ = lambda q: n[0]",
                          "n[0] = k"),
    "try: return x * cfg.zz\nexcept AttributeError: return x": (
        "import types\ncfg = types.ModuleType('cfg')", "if k: cfg.__getattr__ = lambda name: 7.0"),
    "try: return x * cfg.zz\nexcept AttributeError: return -x": (
        "import types\ncfg = types.ModuleType('cfg')\nclass Q(types.ModuleType):\n    @property\n"
        "    def zz(self): return 9.0", "if k: cfg.__class__ = Q"),
    "return x * m()": ("from unittest import mock\nm = mock.Mock(return_value=3)", "m.return_value = m.call_count"),
    "return x * len(O.__subclasses__())": ("class O: pass\nmade = []", "made.append(type('P', (O,), {}))"),
    "return x * isinstance(3, O)": ("import abc\nclass O(abc.ABC): pass", "if k == 1: O.register(int)"),
    "return x * len(t)": ("class O(tuple): pass\nt = O([1, 2])", "if k == 1: O.__len__ = lambda s: 7"),
    "return x * sum(v for _, v in t.items())": ("class O(dict): pass\nt = O(a=1)",
                                                "if k == 1: O.items = lambda s: [(1, 9)]"),
}  # fmt: skip


@each(NAMED.items())
def test_what_answers_by_a_name_or_for_one_is_what_there_is(body, around):
    check(body, around[0], "", around[1])


@each(["return x * 2 if c and p and s else x", "return x * s.m() * C().k * D().k * len(s)", "return x * t.a * Q().z"])
def test_a_class_that_does_not_change_is_traced_once(body):
    f = al.function(world("unchanged", module(body, TOP))["f"])
    for _ in range(3):
        f(np.ones(3))
    assert f.tracing_count == 1
