"""Containers that grow at each call: a bounded number of traces, and then plain Python, with one warning."""

import collections
import types
import warnings

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS


def box():
    return types.SimpleNamespace(log=[], d={}, s=set(), q=collections.deque(maxlen=5), n=0)


def length(o, x):
    o.log.append(x.sum())
    if len(o.log) > 3:
        o.n += 1
    return x * len(o.log)


def last(o, x):
    o.log.append(x.sum())
    return x - o.log[-1]


def arrays(o, x):
    o.log.append(x * 2)
    return np.mean(o.log, axis=0)


def items(o, x):
    o.d[len(o.d)] = x.sum()
    return x * len(o.d)


def elements(o, x):
    o.n += 1
    o.s.add(o.n)
    return x * len(o.s)


def keys(o, x):
    k = o.n % 3
    o.n += 1
    if k not in o.d:
        o.d[k] = x * k
    return o.d[k]


def bounded(o, x):
    o.q.append(x.sum())
    return sum(o.q) / len(o.q)


def window(o, x):
    o.log.append(float(x.sum()))
    if len(o.log) > 3:
        o.log.pop(0)
    return x * len(o.log)


def only_added_to(o, x):
    o.log.append(x.sum())
    return x


def played(function):
    o, found = box(), []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for k in range(20):
            given = function(o, np.array([1.0, 2.0]) * (k % 4))
            found.append((np.asarray(given).tolist(), repr(o)))
    return found, [str(one.message) for one in warned]


@pytest.mark.parametrize(
    ("f", "most", "word"),
    [
        (length, 9, "'o.log', which it looks into, has another length"), (last, 9, "o.log"),
        (arrays, 9, "o.log"), (items, 9, "o.d"), (elements, 9, "o.s"),
        (keys, 13, "'o.n', of which it needs the value, is another number at each call"),
        (bounded, 9, ""), (window, 5, ""), (only_added_to, 1, ""),
    ],
)  # fmt: skip
def test_there_is_an_end_of_the_traces(f, most, word):
    decorated = al.function(f)
    (expected, _), (found, warned) = played(f), played(decorated)
    assert expected == found
    assert decorated.tracing_count <= most
    assert [word in one and "runs as plain Python" in one for one in warned] == ([True] if word else [])


OUTSIDE = box()


def longer(x):
    OUTSIDE.log.append(x.sum())
    return (x * len(OUTSIDE.log)).sum()


def test_there_is_an_end_of_the_traces_of_machine_code_and_gradients_too():
    native, decorated = [al.function(longer, executor=one) for one in (EXECUTORS[-1], "auto")]
    gradient = al.value_and_grad(decorated)
    with pytest.warns(UserWarning, match="runs as plain Python, at each call: 'OUTSIDE.log', which it looks into"):
        for k in range(1, 21):
            OUTSIDE.log[:] = [0.0] * (k - 1)
            assert native(np.ones(2)) == 2.0 * k and len(OUTSIDE.log) == k
            value, slope = gradient(np.ones(2))
            assert (value, *slope) == (2.0 * (k + 1), k + 1, k + 1) and len(OUTSIDE.log) == k + 1
    assert native.tracing_count <= 9 and decorated.tracing_count <= 9
    assert [one.tracing_count <= 9 for one in decorated.with_gradient.values()] == [True]


@pytest.mark.filterwarnings("ignore:named was traced for 16 kinds of arguments, or of what it finds outside them")
def test_what_others_change_is_told_of_and_traced():
    o = types.SimpleNamespace(name="")

    @al.function
    def named(x):
        return x * len(o.name)

    with pytest.warns(UserWarning, match="traced 16 times: what it finds outside its arguments is different each"):
        for k in range(20):
            o.name = f"name {k}"
            assert named(np.float64(1)) == len(o.name)
    assert named.tracing_count == 16  # its budget


SMALL = np.arange(1.0, 3.0)


def test_an_array_from_outside_that_step_after_step_may_keep_is_noted_once():
    def program(x):
        r, m = SMALL, SMALL / 4
        for k in range(16):  # with twice as much at each step this would have no end
            n = m * r + x
            if np.abs(n - r).sum() < 1e-3:
                break
            r = n
        return r, k

    (expected, steps), (found, k) = program(np.ones(2)), al.function(program)(np.ones(2))
    assert k == steps
    np.testing.assert_allclose(found, expected)
