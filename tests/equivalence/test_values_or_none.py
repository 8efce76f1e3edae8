"""What is None or a value, as the run decides, in containers that are given back or kept: it may be None there."""

import types
from collections import deque

import autoloop as al
import numpy as np
import pytest

KEPT = types.SimpleNamespace()


class Result(dict):
    pass


def in_a_loop(x, tol):
    status = None
    for i in range(40):
        if x.max() < tol:
            status = i
        x = x * 0.5
    return status


def until_a_break(x, tol):
    status, i = None, 0
    while i < 40:
        if x.max() < tol:
            status = x * 1.0
            break
        x = x * 0.5
        i += 1
    return status


def appended(status):
    found = []
    found.append(status)
    return found


def kept(status):
    KEPT.found = [status]
    KEPT.pair = status, [status]


def put_in_a_queue(status):
    return [*deque([status])], {"status": [status]}


def in_a_container_of_a_class(status):
    return Result(status=status, tail=0 if status is None else 1)


@pytest.mark.parametrize("executor", ["auto", "sequential", "dataflow"])
@pytest.mark.parametrize("search", [in_a_loop, until_a_break])
@pytest.mark.parametrize("use", [appended, kept, put_in_a_queue, in_a_container_of_a_class])
@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_it_may_be_none(use, search, executor):
    def plain(x, tol):
        return use(search(x, tol))

    function = al.function(plain, executor=executor)
    for tol in (0.1, 1e-30, 0.1):
        sides = []
        for f in (plain, function):
            vars(KEPT).clear()
            sides.append((repr(f(np.ones(2), tol)), repr(KEPT)))
        assert sides[0] == sides[1]


def test_of_tensors_a_container_of_a_class_is_refused():
    function = al.function(lambda x, tol: in_a_container_of_a_class(in_a_loop(x, tol)))
    with pytest.raises(TypeError, match="'status'\\]\" would still hold 'status', of which only the run tells"):
        function(al.ones(2), 0.1)


def by_itself(s):
    return s == 3, 3 == s, s != 3, s == None, s != None, s == "a"  # noqa: E711


def in_others(s):
    return None in [s], s in (None, 3), None not in (s, 1)


def in_lists(s):
    return [s] == [None], (s, [s]) == (None, [None]), {"a": s} != {"a": None}


def asked_for(s):
    return [1, s].count(None), [None, s].index(None), [s, None].index(None)


@pytest.mark.parametrize("executor", ["auto", "sequential"])
@pytest.mark.parametrize("compare", [by_itself, in_others, in_lists, asked_for])
@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_it_is_compared_as_what_it_is(compare, executor):
    def plain(x, tol):
        return compare(in_a_loop(x, tol))

    function = al.function(plain, executor=executor)
    for tol in (0.3, 1e-30, 1.5):
        assert repr(function(np.ones(2), tol)) == repr(plain(np.ones(2), tol))
