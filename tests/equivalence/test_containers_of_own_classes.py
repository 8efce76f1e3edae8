"""Arguments that are containers of the user's classes, and of Python's that are no structures: as Python has them."""

import collections
import copy
import itertools
import warnings

import autoloop as al
import numpy as np
from each_case import each
from executors import EXECUTORS
from worlds import module, world

INTERPRETED = itertools.cycle(["auto", "sequential", "dataflow"])

TOP = """
seen = []
class Setting(dict):
    def __setitem__(self, k, v): super().__setitem__(k, v); seen.append(k)
class Ordered(collections.OrderedDict):
    def __setitem__(self, k, v): super().__setitem__(k, v); seen.append(k)
class Asked(dict):
    def get(self, k, d=None): seen.append(k); return super().get(k, d)
class Bare(dict): pass
class Counting(list):
    def append(self, v): super().append(v); self.n = getattr(self, 'n', 0) + 1
class Pushed(list):
    n = 0
    def push(self, v): self.append(v); self.n += 1
class Doubling(list):
    def append(self, v): super().append(v * 2)
    def __setitem__(self, i, v): super().__setitem__(i, v * 2)
class Noted(set):
    def add(self, v): super().add(v * 2); seen.append(v)
class Queue(collections.deque):
    def append(self, v): super().append(v * 2); seen.append(v)
class Counts(collections.Counter): pass
class Pair(tuple): pass
class Named(collections.namedtuple('Named', 'a b')):
    def put(self, v): return self._replace(b=v)
class Holder:
    def __init__(self, v): self.v = v
"""
ITEM, SIZE = "o['a'] = x * 2\nreturn o['a']", "o.append(x.sum())\nreturn len(o)"
COUNT = "o['a'] += 1\nreturn x * o['a']"
PROGRAMS = [
    ("Setting()", ITEM), ("Setting()", "if x[0] > 0: o['a'] = x\nreturn x"), ("Ordered()", ITEM),
    ("Asked(b=np.ones(2))", "o['a'] = o.get('b', x) + x\nreturn o['a']"), ("Bare(a=1)", COUNT),
    ("Bare()", "if x[0] > 0: o.n = getattr(o, 'n', 0) + 1\nreturn x"),
    ("Counting()", SIZE), ("Pushed()", "o.push(x[0])\nreturn len(o)"),
    ("Pushed()", "if x[0] > 0: o.push(x[0])\nreturn len(o)"), ("Pushed()", "if x[0] > 0: o.n += 1\nreturn len(o)"),
    ("Doubling()", SIZE), ("Doubling([1.0])", "o[0] = x[0]\nreturn o[0]"), ("Noted()", "o.add(3)\nreturn x * len(o)"),
    ("Queue()", SIZE), ("Counts(a=2)", COUNT), ("collections.Counter(a=2)", COUNT),
    ("collections.Counter(a=2)", "seen.append(1)\nif x[0] > 0: o['a'] += 1\nreturn x * o['a']"),
    ("collections.defaultdict(int)", COUNT), ("collections.OrderedDict(a=1)", COUNT),
    ("set()", "o.add(len(o))\nreturn x * len(o)"), ("bytearray(b'a')", "o.append(1)\nreturn x * len(o)"),
    ("collections.deque([3.0, 4.0], maxlen=2)", "o.appendleft(x[0])\nreturn x * o[-1]"),
    ("memoryview(bytearray(b'abc'))", "o[0] = len(seen)\nseen.append(1)\nreturn x * o[0] + np.asarray(o)[0]"),
    ("Pair((np.ones(2),))", "o.n = getattr(o, 'n', 0) + 1\no[0][0] += 1\nreturn x * o.n + o[0]"),
    ("Pair((np.ones(2), 3))", "return x + o[0] + o[1]"),
    ("Pair((3, 4))", "o.n = getattr(o, 'n', 0) + 1\nreturn x * o[0] * o.n"),
    ("Named(np.ones(2), 3)", "o = o.put(x * 2)\nreturn o.a + o.b"),
    ("Holder(Pushed())", "o.v.push(x.sum())\nif x[0] > 1: o.v.push(x[0])\nreturn len(o.v)"),
    # changed in a branch that returns
    ("[1]", "if x[0] > 0:\n    o.append(7)\n    return x + 1\nreturn x"),
    ("[1]", "if x[0] > 0:\n    o += [x[0]]\n    return x + 1\nreturn x"),
    ("[1.0]", "if x[0] > 0:\n    o[0] = x[0]\n    return x + 1\nreturn x"),
    ("[[1, 2]]", "if x[0] > 0:\n    o[0][0] += 1\n    return x + 1\nreturn x"),
    ("[1]", "if x[0] > 0:\n    o.append(7)\nelse:\n    o.append(8)\n    return x\nreturn x * 2"),
    ("[1]", "if x[0] > 1:\n    o.clear()\n    return x\nif x[0] > 0:\n    o.append(x[0])\n    return x * 3\nreturn x"),
    ("[1]", "p = [o]\nif x[0] > 0:\n    p[0].append(3)\n    return x * 3\nreturn x"),
    ("[1]", "p = []\no.append(p)\nif x[0] > 0:\n    p.append(3)\n    return x * 3\nreturn x"),
    ("[1]", "def g(q): q.append(x[0])\nif x[0] > 0:\n    g(o)\n    return x * 3\nreturn x"),
    ("[1]", "def g(q):\n    if x[0] > 0:\n        q.append(5)\n        return x * 2\n    return x\nreturn g(o)"),
    ("[1]", "if x[0] > 0:\n    if x[0] > 1:\n        o.append(5)\n        return x * 2\n    return x\nreturn x * 3"),
    ("{'q': 1}", "if x[0] > 0:\n    o['q'] += 1\n    return x + 1\nreturn x"),
    ("set()", "if x[0] > 0:\n    o.add(7)\n    return x + 1\nreturn x"),
    ("collections.deque([1])", "if x[0] > 0:\n    o.append(7)\n    return x + 1\nreturn x"),
    ("bytearray(b'a')", "if x[0] > 0:\n    o.append(7)\n    return x + 1\nreturn x"),
    ("Holder(Named(np.ones(2), np.ones(2)))", "o.v = o.v.put(o.v.b * x)\no.v.a[0] += 1\nreturn o.v.b"),
]  # fmt: skip


def held(value):
    return repr(bytes(value) if isinstance(value, memoryview) else value), repr(getattr(value, "__dict__", None))


@each(PROGRAMS, lambda made, body: f"{made} {body}")
def test_a_container_among_the_arguments_is_changed_as_plain_python_does(made, body):
    outcomes = []
    for executor in (None, next(INTERPRETED)):
        names = world("containers", module(body, TOP).replace("def f(x)", "def f(o, x)"))
        f = names["f"] if executor is None else al.function(names["f"], executor=executor)
        o, found = eval(made, names), []
        for k in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # plain Python runs what no graph can do
                result = repr(f(o, np.ones(2) * k))
            inner = o.v if isinstance(o, names["Holder"]) else o
            found.append((result, *held(inner), copy.copy(names["seen"])))
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]


class Pair(tuple):
    """Elements are arguments, and sums are of elements."""

    def __new__(cls, *parts):
        return tuple.__new__(cls, parts)

    def __add__(self, other):
        return Pair(*(a + b for a, b in zip(self, other, strict=True)))

    __radd__ = __add__


class Holder:
    pass


def pairs(holder, x):
    made = Pair(1.0, 2.0)
    made.name = "one"
    holder.kept = Pair(3.0, [made])
    for _ in range(3):
        made = made + Pair(0.5, 0.5)
    return made, [Pair(np.zeros(2), made)], {"k": Pair(Pair(1), 2)}, x + 1


@each(EXECUTORS)
def test_tuples_of_a_class_that_takes_their_elements_as_arguments(executor):
    decorated = al.function(pairs, executor=executor)
    x, kept = np.arange(3.0), []
    for _ in range(2):
        plain, ours = Holder(), Holder()
        wanted, found = pairs(plain, x), decorated(ours, x)
        assert repr(wanted) == repr(found) and repr(plain.kept) == repr(ours.kept)
        assert type(found[0]) is type(found[2]["k"][0]) is type(ours.kept) is type(ours.kept[1][0]) is Pair
        assert ours.kept[1][0].name == "one"
        kept.append(found[1][0][0])
    kept[0][:] = 7.0
    assert kept[1].tolist() == [0.0, 0.0]


@each(EXECUTORS)
def test_the_shape_of_a_tensor_is_given_back(executor):
    def f(x):
        return x.shape, x + 1, {"shape": x.shape, "rank": x.ndim}

    t = al.ones((3, 4))
    shape, more, held = al.function(f, executor=executor)(t)
    assert type(shape) is type(held["shape"]) is type(t.shape) and shape == held["shape"] == (3, 4)
    assert more.shape == (3, 4) and held["rank"] == 2


class Doubled(collections.namedtuple("Doubled", "a b")):
    """Two fields of one argument."""

    def __new__(cls, a):
        return super().__new__(cls, a, a * 2)


class Moved(collections.namedtuple("Moved", "a b")):
    """A constructor that is not to be called again."""

    def __new__(cls, a, b):
        return super().__new__(cls, a + 1, b)


def given_back(x, n, holder):
    holder.kept = Doubled(x), Moved(x, n)
    return holder.kept[0], Moved(x, 1.0), [Doubled(x)]


def carried(x, n, holder):
    pair, i = Doubled(x), 0
    while i < n:
        pair = Doubled(pair.a + 1)
        holder.kept = Moved(pair.b, i)
        i += 1
    return pair, holder.kept


def chosen(x, n, holder):
    pair = Moved(x, x * 2) if x[0] > 1 else Moved(x + 1, x)
    holder.kept = [Doubled(x[0])]
    return pair, pair.a + pair.b


def elements(x, n, holder):
    made = Doubled(x)
    for k in range(n):
        made.a[k] += k
        holder.kept = Moved(made.a, made.b)
    return made.a.sum(), made


@each([(f, executor) for f in (given_back, carried, chosen, elements) for executor in EXECUTORS])
def test_named_tuples_are_made_by_their_constructor_where_the_program_calls_it(f, executor):
    decorated = al.function(f, executor=executor)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in (np.arange(3.0), np.arange(3.0) + 2):
            plain, ours = Holder(), Holder()
            wanted = f(x.copy(), np.int64(2), plain)
            try:
                found = decorated(x.copy(), np.int64(2), ours)
            except TypeError as error:
                assert executor == "native" and "executor='native' cannot" in str(error), error
                return
            assert repr((wanted, plain.kept)) == repr((found, ours.kept))


@each(EXECUTORS)
def test_named_tuples_are_given_as_they_are(executor):
    def f(pair, n):
        total = 0.0
        for k in range(n):
            total = total + pair.b[k]
        return pair, total

    pair = Moved(np.arange(3.0), np.arange(3.0))
    found, total = al.function(f, executor=executor)(pair, np.int64(3))
    assert type(found) is Moved and repr(found) == repr(pair) and total == 3.0
    assert repr(al.nest.map_structure(lambda x: x * 2, Doubled(2.0))) == repr(Doubled(4.0))
