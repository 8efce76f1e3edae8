"""What functions of libraries keep in variables and attributes of their own is as plain Python leaves it."""

import autoloop as al
import numpy as np
import pytest

LIBRARY = """
def counted(function):
    calls, total, kept = [0], 0, {}
    def wrapper(*args):
        nonlocal total
        total, calls[0] = total + 1, calls[0] + 1
        wrapper.calls += 1
        kept[total] = args
        return function(*args)
    wrapper.calls = 0
    return wrapper, lambda: (calls[0], total, wrapper.calls, len(kept))

def memoized(function):
    known = {}
    def wrapper(x, k):
        if k not in known:
            known[k] = k + 1
        return function(x) * known[k]
    return wrapper
"""


def library():
    """Return what a module of an installed package holds."""
    held = {"__name__": "numpy.lib._counting"}
    exec(compile(LIBRARY, np.__file__.replace("__init__", "_counting"), "exec"), held)
    return held


def in_the_graph(x):
    return (x * x).sum()


def with_values(x):
    return float(str(x.sum()))


def programs(wrapper):
    """Return functions that call it: in straight lines, in a loop, in a branch, of what is given and inside another."""
    outer = library()["counted"](wrapper)[0]

    def straight(x, given):
        return wrapper(x) * 2

    def looped(x, given):
        for _ in range(3):
            x = x + wrapper(x)
        return x

    def branched(x, given):
        return wrapper(x) if x.sum() > 2 else x

    def of_given(x, given):
        return given(x) + 1

    def inside(x, given):
        return outer(x) + 1

    def needed(x, given):
        return [0] * int(given(x))

    return straight, looped, branched, of_given, inside, needed


@pytest.mark.parametrize("function", [in_the_graph, with_values])
@pytest.mark.parametrize("executor", ["auto", "sequential"])
@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
def test_each_call_counts_once(function, executor):
    for k in range(6):
        seen = []
        for decorate in (lambda f: f, lambda f: al.function(f, executor=executor)):
            wrapper, told = library()["counted"](function)
            f = decorate(programs(wrapper)[k])
            seen.append([(np.asarray(f(np.full(2, number), wrapper)).tolist(), told()) for number in (1.0, 2.0, 3.0)])
        assert seen[0] == seen[1], programs(wrapper)[k].__name__


def test_the_reason_names_the_function():
    wrapper, _ = library()["counted"](in_the_graph)
    with pytest.warns(UserWarning, match="'wrapper', a function of a library, changes what it keeps"):
        al.function(lambda x: wrapper(x) * 2)(np.ones(2))


def test_a_memo_of_plain_values_stays_in_the_graph():
    memoized = library()["memoized"](in_the_graph)
    function = al.function(lambda x: memoized(x, 2))
    assert [function(np.ones(2) * k) for k in (1, 2)] == [6, 24]
    assert function.tracing_count == 1
