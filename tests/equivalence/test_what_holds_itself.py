"""Trees whose nodes know their parents, lists in themselves, and whatever else holds what it is held by."""

import collections
import dataclasses
import itertools
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each
from executors import needs_native

INTERPRETED = itertools.cycle(["auto", "sequential", "dataflow"])


class Node:
    def __init__(self, value, parent=None):
        self.value, self.parent, self.children = value, parent, []


@dataclasses.dataclass
class Leaf:
    value: object
    holder: object = None


def tree(x):
    top = Node(x * 2)
    for number in range(2):
        top.children.append(Node(x + number, top))
    return top


def a_child_first(x):
    top = tree(x)
    return top.children[0], top


def in_all_kinds(x):
    top = Node(x)
    top.parent = {"top": top, "pair": (top, x * 2)}
    top.value = collections.deque([top, x], maxlen=3)
    top.children = {top}
    return top


def changed_in_a_loop(x):
    top = Node(x)
    top.parent = top
    for _ in range(30):
        top.value = top.value + x
    return top


def changed_in_a_branch(x):
    top = Node(x)
    top.parent = top
    if x.sum() > 4:
        top.value = x * 5
    return top


IN_THE_GRAPH = [tree, a_child_first, in_all_kinds, changed_in_a_loop, changed_in_a_branch]


def a_list(x):
    made = [x * 2]
    made.append(made)
    return made


def a_dict(x):
    made = {"x": x * 2}
    made["itself"] = [made]
    return made


def a_dataclass(x):
    made = Leaf(x * 2)
    made.holder = made
    return made


def through_a_tuple(x):
    made = Node(x)
    pair = made, x * 2
    made.parent = pair
    return pair


PLAIN = [a_list, a_dict, a_dataclass, through_a_tuple]


def form(value, seen):
    """Return what something holds, and by their numbers what was met before."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.tolist()
    if id(value) in seen:
        return seen[id(value)]
    seen[id(value)] = len(seen)
    held = vars(value).values() if isinstance(value, Node | Leaf) else value
    held = held.values() if isinstance(held, dict) else held
    return type(value).__name__, [form(one, seen) for one in held] if hasattr(held, "__iter__") else repr(value)


@each([*((f, 0) for f in IN_THE_GRAPH), *((f, 1) for f in PLAIN)], lambda f, _: f.__name__)
def test_what_is_made_so_is_made_so_at_each_call(f, warned):
    decorated = al.function(f, executor=next(INTERPRETED))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for number in (1.0, 3.0, 1.0):
            x = np.array([number, 2.0])
            made, other = decorated(x), decorated(x)
            assert made is not other
            assert form(made, {}) == form(other, {}) == form(f(x), {})
    assert [("holds itself" in str(one.message) or "holding itself" in str(one.message)) for one in told] == [
        True
    ] * warned


def hung_up(box, x):
    top = tree(x)
    box["top"], box["child"] = top, top.children[1]
    box["list"] = made = [x + 1]
    made.append(made)


def read(box, x):
    child = box["child"]
    child.value = child.parent.value + x
    return child.parent.children[1]


def test_it_is_left_and_found_outside():
    hang, use = (al.function(f, executor=next(INTERPRETED)) for f in (hung_up, read))
    for number in (1.0, 3.0):
        ours, plain, x = {}, {}, np.array([number, 2.0])
        hang(ours, x), hung_up(plain, x)
        assert form(ours, {}) == form(plain, {})
        del ours["list"], plain["list"]  # a dict that holds that has no end
        assert use(ours, x) is ours["child"]
        read(plain, x)
        assert form(ours, {}) == form(plain, {})


def of_an_argument(held, x):
    held.holder.value = held.value + x
    return held.holder


def test_an_argument_without_an_end_is_plain_pythons():
    decorated = al.function(of_an_argument)
    with pytest.warns(UserWarning, match="runs as plain Python: a structure has an end, .* holds itself") as told:
        for number in (1.0, 3.0):
            held = Leaf(number)
            held.holder = held
            assert decorated(held, np.ones(2)) is held
            assert held.value.tolist() == [number + 1] * 2
    assert len(told) == 1
    with pytest.raises(TypeError, match="holds itself"):
        al.function(of_an_argument, executor="native")(held, np.ones(2))
    with pytest.raises(TypeError, match="holds itself"):
        al.grad(lambda x, held: x.sum())(np.ones(2), held)


LOG = []


def put_in_itself(x, n, held):
    for k in range(n):
        held.append(held)
        x[k] += 1


def under_its_key(x, n, held):
    if x[0] < n:
        held["itself"] = held
    x[0] += 1


def in_one_another(x, n, held):
    while x[0] < n:
        held.append(LOG)
        LOG.append(held)
        x[0] += 1


def carried_only(x, n, held):
    held.append((held, x))
    for k in range(n):
        x[k] += len(held)
    held.clear()


def of_the_turn(x, n, held):
    for k in range(n):
        made = [x[k]]
        made.append(made)
        held.append(made)
        x[k] += 1


def of_an_attribute(x, n, held):
    for k in range(n):
        held.value.append(held.value)
        x[k] += 1


IN_A_BLOCK = {
    put_in_itself: (list, collections.deque),
    under_its_key: (dict, collections.OrderedDict),
    in_one_another: (list,),
    carried_only: (list,),
    of_the_turn: (list,),
    of_an_attribute: (lambda: Leaf([]),),
}


def left_by(f, make, calls):
    """Return what calls of ``f`` leave of what they are given."""
    LOG.clear()
    held, x = make(), np.zeros(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it runs as plain Python
        for _ in range(calls):
            f(x, np.int64(2), held)
    return form([x, held, LOG], {})


@each([(f, make) for f, makes in IN_A_BLOCK.items() for make in makes], lambda f, make: f"{f.__name__}-{make.__name__}")
def test_what_comes_to_hold_itself_in_a_loop_or_branch_is_plain_pythons(f, make):
    decorated = al.function(f, executor=next(INTERPRETED))
    assert left_by(decorated, make, 2) == left_by(f, make, 2)


@needs_native
def test_machine_code_refuses_what_comes_to_hold_itself_in_a_loop():
    with pytest.raises(TypeError, match="'held' is a list that holds itself, .* let an object hold it"):
        left_by(al.function(put_in_itself, executor="native"), list, 1)
