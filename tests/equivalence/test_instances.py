"""Instances of one class share the traces of its decorated methods, and each is left what plain Python leaves."""

import gc
import operator
import types
import weakref

import autoloop as al
import numpy as np
import pytest
from each_case import each
from worlds import module, played


class Steps:
    """An optimiser, as people write them."""

    def __init__(self, rate=0.5, size=3):
        self.w, self.m, self.t, self.rate = np.arange(size) + 1.0, np.zeros(size), 0, rate
        self.log, self.child = [], None

    def step(self, g):
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * g
        self.w -= self.rate * self.m
        self.log.append(self.w.sum())
        return self.w * 1

    def itself(self, g):
        self.last = g * self.t
        return self

    def kept(self, g):
        self.callback = self.told
        return g

    def told(self):
        return self.t

    def of_child(self, g):
        self.child.t += 1
        self.child.w[0] = self.w[0]
        return g * self.child.t

    def of_child_raised(self, g):
        if g.sum() > 0:
            raise ValueError(self.child, self.log)
        return g

    def raised(self, g):
        if g.sum() > 0:
            raise ValueError(self)
        return g


class Decorated(Steps):
    step, itself, kept = al.function(Steps.step), al.function(Steps.itself), al.function(Steps.kept)
    of_child, raised = al.function(Steps.of_child), al.function(Steps.raised)
    of_child_raised = al.function(Steps.of_child_raised)


def held(one):
    return one.t, one.w.tolist(), one.m.tolist(), one.log


def traces(instances, name):
    return sum(getattr(one, name).tracing_count for one in instances)


def test_a_hundred_instances_have_one_trace():
    plain, ours = [Steps() for _ in range(100)], [Decorated() for _ in range(100)]
    for k in range(3):
        for one, other in zip(plain, ours, strict=True):
            assert one.step(np.ones(3) * k).tolist() == other.step(np.ones(3) * k).tolist()
            assert held(one) == held(other)
    assert traces(ours, "step") == 1


def test_numbers_that_differ_from_instance_to_instance_become_inputs():
    plain, ours = [Steps(k / 10) for k in range(20)], [Decorated(k / 10) for k in range(20)]
    for _ in range(2):
        for one, other in zip(plain, ours, strict=True):
            assert one.step(np.ones(3)).tolist() == other.step(np.ones(3)).tolist()
    assert traces(ours, "step") <= 6
    other = Decorated(size=4)
    other.step(np.ones(4))
    assert traces([other], "step") == 1


def test_each_instance_is_itself():
    ours = [Decorated() for _ in range(8)]
    for k, one in enumerate(ours):
        one.t = k
        assert one.itself(np.ones(2)) is one
        assert one.last.tolist() == [k, k]
        one.kept(np.ones(2))
        assert one.callback() == k
        one.child = ours[k - 1]
        assert one.of_child(np.ones(2)).tolist() == [ours[k - 1].t] * 2
        assert one.child.w[0] == one.w[0]
        with pytest.raises(ValueError) as error:
            one.raised(np.ones(1))
        assert error.value.args[0] is one
        with pytest.raises(ValueError) as error:
            one.of_child_raised(np.ones(1))
        assert error.value.args[0] is one.child and error.value.args[1] is one.log
    assert traces(ours, "itself") < 8
    one = ours[0]
    one.child = one  # which another trace is for
    assert one.of_child(np.ones(2)).tolist() == [one.t] * 2


def test_shared_traces_keep_no_instance_alive():
    one, other = Decorated(), Decorated()
    one.step(np.ones(3))
    seen = weakref.ref(one)
    del one
    gc.collect()
    assert seen() is None
    other.step(np.ones(3))
    assert traces([other], "step") == 0


class Model:
    """What changes what its decorated methods find."""

    def __init__(self):
        self.n, self.w = 0, np.ones(2)

    @al.function
    def loss(self, x):
        self.n += 1
        return (x * self.w).sum() * self.n


def called_within(method):
    return al.function(lambda x: method(x))


def called_in_a_loop(method):
    @al.function
    def stepped(x):
        for _ in range(3):
            if x.sum() > 0:
                x = x - method(x)
        return x

    return stepped


def stepped(one, x):
    for _ in range(3):
        if x.sum() > 0:
            x = x - Model.loss.python_function(one, x)
    return x


def test_a_method_that_is_held_finds_what_its_instance_holds_now():
    x = np.array([1.0, 2.0])
    value = Model.loss.python_function

    def gradient(one, x):
        value(one, x)
        return one.w * one.n

    for held, plain in (
        (al.grad, gradient), (lambda method: called_within(al.grad(method)), gradient), (called_within, value),
        (al.value_and_grad, lambda one, x: (value(one, x), one.w * one.n)),
        (lambda method: called_within(method.function), value), (called_in_a_loop, stepped),
    ):  # fmt: skip
        ours, one = Model(), Model()
        f = held(ours.loss)
        for k in range(4):
            ours.w, one.w = np.full(2, k + 1.0), np.full(2, k + 1.0)
            np.testing.assert_equal(f(x), plain(one, x))
            assert ours.n == one.n


class Held:
    """An object that is as another one with the same attributes."""

    c = 1.0

    def __init__(self):
        self.p = 2.0

    def __eq__(self, other):
        return vars(self) == vars(other)

    __hash__ = None

    def count(self):
        return len(self.__dict__)


def born(o, x):
    if x.sum() > 1:
        o.q = 3.0


def born_in_a_loop(o, x):
    i = 0
    while i < x[0]:
        i += 1
        o.q = 3.0 * i


def gone(o, x):
    if x.sum() > 1:
        del o.p


def of_the_class(o, x):
    if x.sum() > 1:
        o.c = Held.c


def is_there(o):
    return "q" in vars(o) or "p" not in vars(o) or "c" in o.__dict__


SETTING = [born, born_in_a_loop, gone, of_the_class]
ASKING = {
    "in": is_there,
    "pop": lambda o: o.__dict__.pop("q", None),
    "equal": lambda o: o.__dict__ == {"p": 2.0},
    "length": lambda o: len(vars(o)),
    "order": lambda o: sorted(o.__dict__),
    "elements": lambda o: [k for k in vars(o)],
    "dir": lambda o: dir(o),
    "by name": lambda o: len(getattr(o, "__dict__")),  # noqa: B009
    "by attrgetter": lambda o: len(operator.attrgetter("__dict__")(o)),
    "by map": lambda o: [len(one) for one in map(vars, [o])],
    "method": lambda o: o.count(),
    "state": lambda o: len(o.__getstate__()),
}


UNTOLD = "only the run knows, where all attributes of its owner are asked for"


def is_plain(f):
    """Check what a function of an object makes, and leaves, whatever a branch has done."""
    with pytest.raises(TypeError, match=UNTOLD):
        al.function(f, executor="native")(Held(), np.ones(2))
    decorated = al.function(f)
    with pytest.warns(UserWarning, match=f"runs as plain Python, at each call: .*{UNTOLD}") as told:
        for size in (0.0, 2.0):
            ours, plain = Held(), Held()
            made = decorated(ours, np.ones(2) * size)
            assert made == f(plain, np.ones(2) * size) and ours == plain
    assert len(told) == 1


@each([(setting, asked) for setting in SETTING for asked in ASKING if setting is born or asked == "in"])
def test_all_attributes_of_an_object_are_asked_for_where_only_the_run_knows_them(setting, asked):
    ask = ASKING[asked]

    def f(o, x):
        setting(o, x)
        return ask(o)

    is_plain(f)


@each([(one,) for one in SETTING])
def test_a_name_may_hold_all_attributes_of_an_object_that_a_branch_changes(setting):
    def f(o, x):
        held = vars(o)
        setting(o, x)
        return len(held), list(held)

    is_plain(f)


def test_all_attributes_of_an_object_that_the_run_does_not_decide_are_in_the_graph():
    def f(o, x):
        o.q = x.sum()
        if x[0] > 1:
            o.q = 2.0
            o.p = 1.0
        return len(vars(o)), vars(o)["q"], "p" in o.__dict__

    for size in (0.0, 2.0):
        ours, plain = Held(), Held()
        assert al.function(f, executor="sequential")(ours, np.ones(2) * size) == f(plain, np.ones(2) * size)
        assert ours == plain


def with_a_class_that_a_branch_changes(x):
    class Own:
        pass

    o = Own()
    if x.sum() > 1:
        Own.k = 1
    return "k" in dir(o), "k" in Own.__dict__


def changed_and_put_back(o, x):
    if x[0] > 2:
        o.c = x[1]
    old = o.d["c"]
    o.d["c"] = 9
    found = o.c
    o.d["c"] = old
    return found


def with_a_namespace(x):
    o = types.SimpleNamespace()
    if x.sum() > 1:
        o.k = 3.0
    return str(o), f"{o} {o!r}"


def with_a_namespace_of_either(x):
    o = types.SimpleNamespace(k=x.sum())
    if x.sum() > 1:
        o.k = 3.0
    return repr(o)


@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
@each([(with_a_class_that_a_branch_changes,), (with_a_namespace,), (with_a_namespace_of_either,)])
def test_what_shows_all_attributes_shows_those_of_the_run(f):
    decorated = al.function(f)
    for size in (0.0, 2.0):
        assert decorated(np.ones(2) * size) == f(np.ones(2) * size)


@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
def test_a_namespace_is_printed_as_it_is_then(capsys):
    def f(o, x):
        o.k = x * 2
        print(o)

    for call in (f, al.function(f)):
        call(types.SimpleNamespace(), np.ones(2))
    plain, ours = capsys.readouterr().out.splitlines()
    assert plain == ours == "namespace(k=array([2., 2.]))"


def first(name, *_):
    return name


M = "import array, logging, textwrap, types\no = types.ModuleType('o')\no.k, o.n = 2, 0\n"
W = M + "o = textwrap.TextWrapper()\no.k, o.n = 2, 0\n"
P = "import functools\no = functools.partial(max, 1)\no.k, o.n = 2, 0\n"
R = "import random\no = random.Random(3)\no.k, o.n = 2, 0\n"
C = "import ctypes\nclass Kept(ctypes.Structure): _fields_ = [('k', ctypes.c_double), ('n', ctypes.c_double)]\n"
OF_OTHERS = [
    ("a_module", "o.n = x.sum()\nreturn x * o.k", M, "o.n", False),
    ("a_new_name_of_a_module", "o.z = x.sum()\nreturn x * o.k", M, "getattr(o, 'z', 0)", False),
    ("read", "return x * o.k", W, "o.n", False),
    ("set", "o.n = x.sum()\nreturn x * o.k", W, "o.n", True),
    ("added_to", "o.n += 1\nreturn x * o.k", W, "o.n", True),
    ("in_a_branch", "if x[0] > 0: o.n += 1\nreturn x", W + "o = logging.getLogger('o')\no.k = o.n = 1\n", "o.n", True),
    ("read_of_a_partial", "return o(x[0]) * o.k", P, "o.n", False),
    ("set_in_a_partial", "o.n = x.sum()\nreturn x", P, "o.n", True),
    ("read_of_a_generator", "return o.random() * o.k * x", R, "o.n", False),
    ("set_in_a_generator", "o.n = x.sum()\nreturn x", R, "o.n", True),
    ("read_in_c", "return x * o.k", C + "o = Kept(2, 0)\n", "o.n", True),
    ("set_in_c", "o.n += x[1]\nreturn x", C + "o = Kept(2, 0)\n", "o.n", True),
    (
        "items_in_c",
        "a[0] += o.k\nreturn x * a[1]",
        W + "import ctypes\na = (ctypes.c_double * 2)(1, 2)\n",
        "a[0]",
        True,
    ),
    ("items", "a[0] += o.k\nreturn x * a[1]", W + "a = array.array('d', [1, 2])\n", "a[0]", True),
]


@each(OF_OTHERS, first)
def test_attributes_of_modules_and_of_objects_of_pythons_own(name, body, top, state, is_left):
    text = module(body, top, state, "o.k = k + 2")
    found, reasons = played(name, text, "sequential")
    assert found == played(name, text)[0]
    assert bool(reasons) == is_left


LOOKING = """
import types
D = {'c': 1}
def looked(n):
    if n not in D: raise AttributeError(n)
    return D[n]
class Asked:
    def __getattr__(self, n): return looked(n)
class Slots(Asked): __slots__ = ('c', 'z')
class Always:
    def __getattribute__(self, n):
        own = object.__getattribute__(self, '__dict__')
        return looked(n) if n in 'cz' and n not in own else object.__getattribute__(self, n)
class Meta(type):
    def __getattr__(cls, n): return looked(n)
def hidden():
    if kind == 'class':
        class Of(metaclass=Meta): pass
        return Of
    if kind == 'module':
        made = types.ModuleType('made')
        made.__getattr__ = looked
        return made
    return {'instance': Asked, 'slots': Slots, 'always': Always}[kind]()
"""
ANSWERED = [
    (kind, asking)
    for kind in ("instance", "slots", "always", "class", "module")
    for asking in ("o.c", "getattr(o, 'c')", "hasattr(o, 'z')", "0")
]


@each(ANSWERED)
def test_methods_of_the_users_answer_for_an_attribute_that_only_the_run_knows_to_be_the_objects_own(kind, asking):
    body = f"""\
o = hidden()
if x[0] > 2: o.c = o.z = 3
D['c'] = D['z'] = 9
s = {asking}
del D['z']
D['c'] = 1
return s, o.c, getattr(o, 'z', 0)"""
    top = f"{LOOKING}kind = {kind!r}\n"
    text = module(body, top, "D")
    found, reasons = played(f"{kind}_{len(asking)}", text, "sequential")
    assert found == played(f"{kind}_{len(asking)}", text)[0]
    assert reasons


def test_classes_with_getattr_that_the_names_of_the_function_do_not_lead_to():
    class Asked:
        def __init__(self):
            self.d = {"c": 1}

        def __getattr__(self, name):
            if name[:1] == "_" or name not in self.d:
                raise AttributeError(name)
            return self.d[name]

    with pytest.warns(UserWarning, match="'Asked.c' is there only the run knows.*__getattr__"):
        assert al.function(changed_and_put_back)(Asked(), np.ones(2)) == 9
