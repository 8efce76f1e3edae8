"""Objects that loops and branches of the graph make, and let names stand for, are those of plain Python."""

import itertools

import autoloop as al
import numpy as np
import pytest
from each_case import each
from programs_of_objects import CHANGED, GROWN, HELD, KINDS, LEFT, MADE, MOST, MUTABLE
from programs_of_sharing import HOLDING, MOVING, STAYING
from worlds import module, played

EXECUTORS = itertools.cycle(["auto", "sequential", "dataflow"])


def first(name, *_):
    return name


def check(name, text, is_left=False):
    executor = next(EXECUTORS)
    expected, _ = played(name, text)
    found, reasons = played(name, text, executor)
    assert bool(reasons) == is_left
    for one, other in zip(expected, found, strict=True):
        mine, others = (repr(given).split(" object at ")[0] for given in (one, other))
        assert mine == others and one[2:] == other[2:], executor


def of_kinds():
    for kind, text in KINDS.items():
        for name, body, told in [*MADE, *GROWN] if kind in MOST else [*MADE[::3], GROWN[1]]:
            yield f"{name}_{kind}", body, told, text


@each(of_kinds(), first)
def test_objects_are_made_in_loops_and_branches(name, body, told, kind):
    check(name, module(body, kind, told=told))


@each([(f"{name}_{kind}", *rest, KINDS[kind]) for kind in MOST for name, *rest in CHANGED], first)
def test_names_stand_for_the_very_objects(name, body, state, told, kind):
    check(name, module(body, kind + HELD, state, told=told))


@each([(name, *rest, KINDS[kind]) for kind, (name, *rest) in zip(itertools.cycle(MUTABLE), LEFT)], first)
def test_where_it_matters_which_object_it_is_plain_python_runs(name, body, state, kind):
    check(name, module(body, kind + HELD, state), is_left=True)


class Point:
    def __init__(self, x):
        self.x = x


def changed(x):
    p = a = Point(x)
    if x > 1:
        p = Point(x * 2)
    p.x += 1
    return a.x


def asked(x):
    p = a = Point(x)
    if x > 1:
        p = Point(x * 2)
    return p is a


def test_where_tensors_take_part_that_is_refused():
    with pytest.raises(
        TypeError, match="a Point changes of which only a loop or branch on tensors decides .*: let the"
    ):
        al.function(changed)(al.constant(2.0))
    with pytest.raises(TypeError, match="whether this Point is that one is asked, .*: compare their values"):
        al.function(asked)(al.constant(2.0))


def test_gradients_go_through_objects():
    def walked(x):
        p = Point(x)
        while p.x < 10:
            p = Point(p.x * x)
        return p.x

    assert al.grad(walked)(np.float64(3.0)) == 27.0


def found(x):
    p = None
    if x > 1:
        p = Point(x)
    return p


def test_an_object_or_none_is_not_given_back_by_a_graph():
    with pytest.raises(TypeError, match="is an object or None, as only the run knows: give back its attributes"):
        al.function(found)(al.constant(2.0))


def respawned(x):
    p = Point(x)
    while x > 1:
        x -= 1
        p.x += 1
        if p.x > 3:
            p = Point(x)
    return p.x


def test_an_object_that_a_loop_changes_and_replaces_is_refused_of_tensors():
    with pytest.raises(TypeError, match="lets its name stand for others, too: let each iteration make a new one"):
        al.function(respawned)(al.constant(2.0))


def swapped(n, x):
    a, b = Point(1.0), Point(2.0)
    d = a
    for _ in range(n):
        a, b = b, a
        d.x += x
    return a.x, b.x, d.x


def set_and_replaced(n, x):
    a = Point(1.0)
    d = a
    for i in range(n):
        d.x = 5.0
        a = Point(x + i)
    return a.x, d.x


def test_an_object_that_a_loop_changes_by_another_name_than_the_one_that_stands_anew():
    for f in (swapped, set_and_replaced):
        with pytest.warns(
            UserWarning, match="a Point changes in a loop on tensors that lets its name stand for others"
        ):
            assert [al.function(f)(np.int64(n), 0.5) for n in range(4)] == [f(n, 0.5) for n in range(4)]
        with pytest.raises(TypeError, match="lets its name stand for others, too: let each iteration make a new one"):
            al.function(f)(al.constant(2), 0.5)


@each(STAYING + MOVING, first)
def test_lists_inside_a_dict_stay_the_lists_that_they_are(name, body):
    check(name, module(body, HOLDING, "(o, p is o.d['p'])"), is_left=(name, body) in MOVING)


NEW_ONES = """
class Q:
    def __init__(self, v, y=0): self.v, self.y = v, y
@dataclasses.dataclass
class P:
    v: object
    y: object = 0
    def moved(self, d): return dataclasses.replace(self, v=self.v + d)
q, p = Q(1.0), P(1.0, 2)
"""


@each(["q = Q(q.v + x[0], q.y)", "p = p.moved(x[1])", "q, p = Q(p.v, q.v), P(q.v * 0.5, 1)"])
def test_a_global_that_stands_for_a_new_object_in_each_turn(line):
    body = f"global q, p\nn = 0\nwhile n < x.sum():\n    n += 1\n    {line}\nreturn n"
    text = module(body, "import dataclasses" + NEW_ONES, "vars(q), vars(p)")
    wanted, _ = played("new ones", text)
    assert not any(isinstance(call[0][0], type) for call in wanted), wanted
    for executor in ("auto", "dataflow"):
        assert played("new ones", text, executor) == (wanted, [])
