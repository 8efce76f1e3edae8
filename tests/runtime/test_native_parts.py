"""Machine code: parts of arrays that are moved about, and graphs that are large."""

from __future__ import annotations

import numpy as np
import pytest
from api import Buffer, NativeRefusal, call, convert_to_tensor, while_loop
from native_checks import check, compile_native, graph_of

# -- slices that begin where a tensor says -------------------------------------------------------------------


def windows(x, i):
    def body(k, x, total):
        part = x[k : k + 3, 2 * k : 2 * k + 4 : 2]
        return k + 1, call("set_item", x, (slice(k - 1, k + 1), 0), part[1:, 1]), total + part

    return while_loop(lambda k, *_: k < i, body, [convert_to_tensor(np.int32(1)), x, np.zeros((3, 2))])


def test_a_slice_of_known_extent_that_begins_at_a_tensor():
    check(windows, np.arange(70.0).reshape(7, 10), np.int32(4))


def test_a_slice_that_is_cut_short_is_refused_when_it_happens():
    run = compile_native(graph_of(windows, np.arange(70.0).reshape(7, 10), np.int32(4)))
    with pytest.raises(NativeRefusal, match="cut short"):
        run([np.arange(70.0).reshape(7, 10), np.int32(5)])


@pytest.mark.parametrize(("shift", "axis"), [(-7, None), ((1, -2), (0, 2)), ((1, 0, 9), (-1, 1, 0))], ids=str)
def test_rolls_along_several_axes(shift, axis):
    x = np.arange(60.0).reshape(3, 4, 5)
    check(lambda x: call("roll", call("transpose", x, axes=(2, 0, 1)), shift, axis), x)


def test_a_large_graph_whose_loops_are_functions_of_their_own():
    def build(x, y):
        def body(k, x, y):
            for turn in range(40):
                row = call("sum", call("multiply", x, y), axis=turn % 2, keepdims=True)
                x = call("tanh", x + call("cos", row) * 0.5) * (k + 1.0)
                y = call("where", x > call("max", y), y, x - call("mean", y, axis=None))
            return k + 1, call("matmul", x, y), y

        return while_loop(lambda k, *_: k < 2, body, [convert_to_tensor(np.int32(0)), x, y])[1:]

    x = np.random.default_rng(0).standard_normal((6, 6))
    got = check(build, x, x[::-1].copy())
    assert np.isfinite(got).all()


def test_a_long_chain_of_element_wise_operations():
    def build(x):
        y = x
        for turn in range(300):
            x, y = x * 0.99 + y, call("sin", y) - (x if turn % 3 else y) * 0.01
        return x, y

    check(build, np.linspace(-1, 1, 9))


@pytest.mark.parametrize(("times", "axis"), [(3, 1), (0, 0), ([2, 0, 1], 0), ([1, 2, 0, 4], -1), (2, -1)], ids=str)
def test_repeated_rows(times, axis):
    x = np.arange(12.0).reshape(3, 4)
    check(lambda x: [call("repeat", x, times, axis), call("repeat", call("transpose", x), 2, 0)], x)


def test_memory_that_may_be_that_of_many_is_listed_once():
    """Each of sixty loops leaves one of the two that the one before left: there are 2 ** 60 ways to the first."""
    first = one = other = Buffer("%0", 8)
    for k in range(60):
        one, other = Buffer(f"%a{k}", 8, within=(one, other)), Buffer(f"%b{k}", 8, within=(other, one))
    found = list(one.all())
    right = found[0] is one and first in found
    assert right and (len(found), len(set(found))) == (120, 120)
