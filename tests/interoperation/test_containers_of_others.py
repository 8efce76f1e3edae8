"""Lists, dicts and numbers of which only a run tells the type, given and made beside arrays of other libraries."""

from __future__ import annotations

import importlib
import warnings
from dataclasses import dataclass

import autoloop as al
import numpy as np
import pytest


def dask_array(values):
    pytest.importorskip("dask.array")
    return importlib.import_module("dask.array").from_array(np.asarray(values), chunks=2)


def torch_tensor(values):
    return pytest.importorskip("torch").tensor(values)


def strict_array(values):
    return pytest.importorskip("array_api_strict").asarray(values)


every_library = pytest.mark.parametrize("theirs", [dask_array, torch_tensor, strict_array])


def kinds(value):
    if isinstance(value, (list, tuple)):
        return [type(value), *map(kinds, value)]
    if isinstance(value, dict):
        return [dict, *[(key, kinds(one)) for key, one in value.items()]]
    return type(value), str(getattr(value, "dtype", "")), np.asarray(value).tolist()


@dataclass
class State:
    x: object
    turns: int


def appended(x, found):
    found.append(1)
    while x[1] > 0.5:
        x = x * 0.5
        found.append(x)
    return found


def first_replaced(found):
    found[0] = found[0] * 2.0
    return found


def counted(state):
    state["n"] = state["n"] + 1
    state["x"] = state["x"] + 1.0
    return {"state": state, "x": state["x"]}


def nested(pair):
    pair[1].append(pair[0])
    return pair, pair[1]


def of_an_object(state):
    state.turns += 1
    return state.x


@every_library
def test_what_the_caller_gave_is_changed(theirs):
    for f, given in (
        (appended, lambda x: (x, [])),
        (first_replaced, lambda x: ([x],)),
        (counted, lambda x: ({"n": 0, "x": x},)),
        (nested, lambda x: ((x, [2]),)),
        (lambda found: found, lambda x: ([x, 3],)),
    ):
        decorated = al.function(f)
        for _ in range(2):
            mine, theirs_given = given(theirs([1.0, 3.0, 2.0])), given(theirs([1.0, 3.0, 2.0]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted, got = f(*mine), decorated(*theirs_given)
            assert kinds(got) == kinds(wanted) and kinds(theirs_given) == kinds(mine)
            if isinstance(wanted, list):
                assert [got is one for one in theirs_given] == [wanted is one for one in mine]
    state = State(theirs([1.0, 2.0]), 0)
    x = state.x
    assert kinds(al.function(of_an_object)(state)) == kinds(x)
    assert state.turns == 1 and state.x is x


def collected(x):
    out = []
    while x[1] > 0.5:
        x = x * 0.5
        out.append(x)
    return out


def pairs(x):
    out, sizes, n = [], [], 0
    while x[1] > 0.5:
        x = x * 0.5
        n += 1
        out.append((x, n))
        sizes.append(n)
    return out, sizes


def scalars(x):
    out = []
    while x[1] > 0.5:
        x = x * 0.5
        out.append(x[1] * 1.0)
    return out


@every_library
@pytest.mark.parametrize("f", [collected, pairs, scalars])
def test_lists_that_grow(theirs, f):
    decorated = al.function(f)
    for values in ([1.0, 3.0, 2.0], [0.0, 0.25]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert kinds(decorated(theirs(values))) == kinds(f(theirs(values)))


def a_number_or_an_array(x):
    y = 0
    while x[1] > 0.5:
        x = x * 0.5
        y = x
    return y


def a_number_or_an_element(x):
    y = 0
    while x[1] > 0.5:
        x = x * 0.5
        y = x[1] * 1.0
    return y


def an_extreme(x):
    return max(x[1] * 1.0, 1)


@every_library
@pytest.mark.parametrize("f", [a_number_or_an_array, a_number_or_an_element, an_extreme])
def test_what_only_a_run_tells_the_type_of(theirs, f):
    decorated = al.function(f)
    for values in ([1.0, 3.0, 2.0], [0.0, 0.25]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert kinds(decorated(theirs(values))) == kinds(f(theirs(values)))


@every_library
def test_the_dtype(theirs):
    for f in (lambda x: x.dtype, lambda x: (x * 2.0).dtype):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted, got = f(theirs([1.0, 2.0])), al.function(f)(theirs([1.0, 2.0]))
        assert got == wanted and type(got) is type(wanted)


def grown_and_joined(x, n):
    found = []
    for k in range(n):
        found.append(x * k)
    return sum(found), np.concatenate(found)


def grown_and_summed(x):
    found = []
    while x[1] > 0.5:
        x = x * 0.5
        found.append(x)
    return sum(found)


@pytest.mark.parametrize("theirs", [dask_array, np.asarray])
def test_a_grown_list_goes_to_pythons_sum(theirs):
    for n in (3, np.int64(3)):
        assert kinds(al.function(grown_and_joined)(theirs([1.0, 4.0, 2.0]), n)) == kinds(
            grown_and_joined(theirs([1.0, 4.0, 2.0]), n)
        )
    wanted = kinds(grown_and_summed(theirs([1.0, 4.0, 2.0])))
    assert kinds(al.function(grown_and_summed)(theirs([1.0, 4.0, 2.0]))) == wanted
