"""Objects that are compared by which they are, in every way there is: a trace does not take one for another."""

import linecache

import autoloop as al
import numpy as np
import pytest

TESTS = (
    "ONE is OTHER", "ONE == OTHER", "not (ONE != OTHER)", "(ONE, 1) == (OTHER, 1)", "[ONE] == HOLDER.many",
    "ONE in HOLDER.many", "ONE in HOLDER.pair", "ONE in HOLDER.keys", "ONE in HOLDER.some", "ONE in HOLDER.keys.keys()",
    "HOLDER.keys.get(ONE, 0)", "ONE in HOLDER.named.values()", "HOLDER.many.count(ONE)", "len({ONE, OTHER}) == 1",
    "hash(ONE) == hash(OTHER)", "any(ONE == one for one in HOLDER.many)",
)  # fmt: skip
PROGRAM = """
class Thing:
    def __init__(self, w):
        self.w = w

    def run(self, x):
        for k in range(3):
            x = x * 1.5
        return x * 0 if {of_self} else x + self.w

class Holder:
    pass

def f(x):
    for k in range(3):
        x = x * 1.5
    return x * 0 if {test} else x + ONE.w
"""


def world(test, number):
    text = PROGRAM.format(test=test, of_self=test.replace("ONE", "self"))
    name = f"<compared {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {}
    exec(compile(text, name, "exec"), names)
    thing, holder = names["Thing"], names["Holder"]()
    things = [thing(1.0), thing(1.0)]
    holder.many, holder.pair, holder.keys, holder.some = [things[0]], (things[0], 2), {things[0]: 1}, {things[0]}
    holder.named = {"a": things[0]}
    names.update(OTHER=things[0], HOLDER=holder)
    return names, things


@pytest.mark.filterwarnings("ignore:.*hash.. is asked of an object")
@pytest.mark.parametrize("order", [(0, 1, 0, 1), (1, 0, 1, 0)])
@pytest.mark.parametrize("number", range(len(TESTS)))
def test_a_name_stands_for_one_object_and_then_for_another(number, order):
    names, things = world(TESTS[number], number)
    f = al.function(names["f"], executor="sequential")
    for k in order:
        names["ONE"] = things[k]
        assert np.array_equal(f(np.ones(2)), names["f"](np.ones(2)))


@pytest.mark.filterwarnings("ignore:.*hash.. is asked of an object")
@pytest.mark.parametrize("order", [(0, 1, 0, 1), (1, 0, 1, 0)])
@pytest.mark.parametrize("number", range(len(TESTS)))
def test_instances_that_are_alike_share_no_trace_that_tells_them_apart(number, order):
    names, things = world(TESTS[number], number)
    plain = names["Thing"].run
    names["Thing"].run = al.function(plain, executor="sequential")
    for k in order:
        assert np.array_equal(things[k].run(np.ones(2)), plain(things[k], np.ones(2)))


def test_instances_that_nothing_tells_apart_share_a_trace():
    names, things = world("ONE is OTHER", 100)
    thing = type(things[0])
    traced = thing.run = al.function(thing.run, executor="sequential")
    things += [thing(1.0), thing(1.0)]
    for one in things[1:]:  # each another than OTHER
        one.run(np.ones(2))
    assert sum(known.tracing_count for _, known in traced._bound.values()) == 1
