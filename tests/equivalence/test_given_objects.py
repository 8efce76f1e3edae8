"""Objects among the arguments: those of one class share traces, and each is left what plain Python leaves."""

import contextlib
import io

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import INTERPRETED


class Body:
    count = 0

    def __init__(self, x, m=1.0, child=None):
        self.x, self.m, self.child, self.log = x, m, child, []

    def kick(self, d):
        self.x = self.x + d
        self.log.append(self.x.sum())
        return self

    @property
    def energy(self):
        return (self.x**2).sum() * self.m

    def __add__(self, other):
        return type(self)(self.x + other.x, self.m + other.m)


class Slotted:
    __slots__ = ("child", "log", "m", "x")
    __init__, kick, energy, __add__ = Body.__init__, Body.kick, Body.energy, Body.__add__


class Equal(Body):
    def __eq__(self, other):
        return isinstance(other, Body) and np.all(self.x == other.x)


WORLD: dict = {}


def energy(p):
    return p.energy


def itself(p):
    p.x = p.x * 2
    return p, p.x


def kept(p):
    was, WORLD["best"] = WORLD.get("best"), p
    return was is p, p.x * 2


def seen(p):
    WORLD.setdefault("seen", []).append(p)
    return p in WORLD["seen"][:-1], p.x.sum()


def keyed(p):
    return {p: p.x}


def kicked(p):
    p.kick(1.0).kick(2.0)
    return p.log


def shown(p):
    print(p.m, p.x)
    return isinstance(p, Body), p.x * 2


def raised(p):
    if p.x.sum() > 3:
        raise ValueError(p)
    return p.x


def counted(p):
    p.m += 1
    Body.count += 1
    return p.m, Body.count


def chained(p):
    total, length = 0.0, 0
    while p is not None and length < 5:
        total, length, p = total + p.x.sum(), length + 1, p.child
    return total, length, p


def of_child(p):
    return p.child is p, p.x * 2 if p.child is None else p.child.x


def made(p):
    other = type(p)(p.x * 2, p.m)
    other.child = p
    return other


def one_or_two(p, q):
    p.x += 1
    q.x *= 2
    return p is q, p.x.sum() + q.x.sum(), p != q


def swapped(p, q):
    p.x, q.x, p.child = q.x, p.x, q
    return p + q


def listed(p, q):
    return [one.energy for one in (p, q, p)], sum(one.x for one in [p, q])


SINGLE = (energy, itself, kept, seen, keyed, kicked, shown, raised, counted, chained, of_child, made)
PAIRS = (one_or_two, swapped, listed)


def calls(kind, pairs):
    """Objects that share arrays, hold one another and themselves, and have other numbers and shapes."""
    a, b, c = kind(np.arange(3.0)), kind(np.arange(3.0) + 1), kind(np.arange(4.0), 2.0)
    d, e = kind(a.x[::-1], 3.0, a), kind(np.arange(3.0) * 2)
    e.child = e
    f = kind(np.arange(3.0), 1.0, d)
    if pairs:
        return [(a, b), (b, e), (a, a), (d, a), (a, d), (f, a), (e, e), (b, c) if pairs is listed else (b, e), (f, f)]
    return [(one,) for one in (a, b, c, d, e, f, a, b, e, kind(np.arange(3.0) + 5), kind(np.arange(4.0), 7.0))]


def told(value, names):
    """What a value is, with the objects and arrays in it by when they were met."""
    if isinstance(value, Body | Slotted | np.ndarray):
        if id(value) in names:
            return names[id(value)]
        names[id(value)] = len(names)
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if isinstance(value, Body | Slotted):
        return type(value), [told(getattr(value, name), names) for name in Slotted.__slots__]
    if isinstance(value, list | tuple | dict):
        return type(value), [told(one, names) for one in (value.items() if isinstance(value, dict) else value)]
    return type(value), repr(value)


def played(f, kind, program):
    WORLD.clear()
    Body.count, found = 0, []
    for given in calls(kind, program if program in PAIRS else None):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            try:
                result = f(*given)
            except (ValueError, TypeError) as error:
                result = type(error), *error.args
        found.append((told([result, *given, WORLD], {}), text.getvalue(), Body.count))
    return found


@pytest.mark.filterwarnings("ignore:.*runs as plain Python", "ignore:.*was traced")
@each([(program, kind) for program in (*SINGLE, *PAIRS) for kind in (Body, Slotted, Equal)])
def test_each_is_left_what_python_leaves(program, kind):
    executor = INTERPRETED[len(program.__name__) % 3]
    assert played(al.function(program, executor=executor), kind, program) == played(program, kind, program)


@each([(kind,) for kind in (Body, Slotted)])
def test_objects_of_one_class_share_a_trace(kind):
    for program in (energy, itself, kicked, of_child):
        decorated = al.function(program)
        for k in range(20):
            p = kind(np.arange(3.0) + k)
            assert told(decorated(p), {}) == told(program(kind(np.arange(3.0) + k)), {}) or program in (itself, kicked)
        assert decorated.tracing_count == 1
    decorated = al.function(energy)
    for k in range(20):
        assert decorated(kind(np.arange(3.0), 1.0 + k)) == 5.0 * (1 + k)
    assert decorated.tracing_count <= 6  # then the number is an input


def test_a_list_of_them_shares_one_too():
    decorated = al.function(listed)
    for k in range(10):
        decorated(Body(np.arange(3.0) + k), Body(np.arange(3.0) - k))
    assert decorated.tracing_count == 1


def test_calls_with_new_objects_take_the_quick_way(monkeypatch):
    decorated, looked = al.function(energy), []
    usual = type(decorated)._call_nested
    monkeypatch.setattr(type(decorated), "_call_nested", lambda self, call: looked.append(1) or usual(self, call))
    for k in range(20):
        assert decorated(Body(np.arange(3.0) + k)) == ((np.arange(3.0) + k) ** 2).sum()
    assert len(looked) <= 2
    told_apart = al.function(keyed)  # each has a trace of its own
    for _ in range(2):
        for p in (Body(np.ones(2)), Body(np.ones(2))):
            assert list(told_apart(p)) == [p]
