"""Functions of the array API in converted code, and of any arrays."""

from __future__ import annotations

import autoloop as al
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from test_standard_values import ALL


def test_the_standard_s_functions_are_staged():
    @al.function
    def of(x, n):
        total = al.zeros(())
        while n > 0:
            found = al.unique_all(x)
            spread = al.broadcast_arrays(x, found.values[:1])[1]
            total += al.cast(al.sum(found.counts), al.float32) + al.sum(spread)
            total += al.sum(al.cumulative_sum(x, include_initial=True)) + al.vecdot(x, x) + al.linalg.vector_norm(x)
            total += al.linalg.trace(al.linalg.inv(al.linalg.outer(x, x) + al.eye(4)))
            total += al.abs(al.fft.fft(x))[0] + al.cast(al.sum(al.signbit(x)), al.float32)
            n -= 1
        return total

    x = np.array([3.0, -1.0, 3.0, 0.5], np.float32)
    one = (
        4 - 4 + np.cumsum(x).sum() + x @ x + np.linalg.norm(x) + np.trace(np.linalg.inv(np.outer(x, x) + np.eye(4)))
        + abs(x.sum()) + 1
    )  # fmt: skip
    np.testing.assert_allclose(float(of(al.asarray(x), al.asarray(3))), 3 * one, rtol=1e-5)


def test_derivatives_pass_through_them():
    def f(x):
        shaped = al.broadcast_arrays(x, al.ones((2, 1)))[0]
        norm = al.linalg.vector_norm(x) + al.vecdot(x, al.flip(x)) + al.sum(al.cumulative_prod(x, include_initial=True))
        return al.sum(shaped) + norm + al.sum(al.sort(x, descending=True)[:1]) + al.std(x, correction=1)

    x = np.array([0.5, 1.5, -2.0])
    found = al.grad(f)(al.asarray(x)).numpy()
    for place in range(3):
        step = np.zeros(3)
        step[place] = 1e-6
        slope = (float(f(al.asarray(x + step))) - float(f(al.asarray(x - step)))) / 2e-6
        assert abs(found[place] - slope) < 1e-6


ARRAYS = st.sampled_from(ALL).flatmap(
    lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=4))
)


@example(np.array([1, complex(0, np.nan), complex(np.nan, 0), 2, complex(0, np.nan), 1]), np.array(False))
@settings(max_examples=25, deadline=None)
@given(ARRAYS, ARRAYS)
def test_any_arrays(x, y):
    for f in (
        lambda xp, x, y: xp.unique_counts(x), lambda xp, x, y: xp.unique_inverse(x), lambda xp, x, y: xp.sum(x != x),
        lambda xp, x, y: xp.permute_dims(x, tuple(range(x.ndim))[::-1]), lambda xp, x, y: xp.flip(x),
        lambda xp, x, y: xp.any(x), lambda xp, x, y: xp.equal(x, xp.astype(x, x.dtype)),
        lambda xp, x, y: xp.concat([xp.reshape(x, (-1,)), xp.reshape(y, (-1,))]), lambda xp, x, y: xp.count_nonzero(y),
    ):  # fmt: skip
        with np.errstate(all="ignore"):
            ours, theirs = f(al, al.asarray(x), al.asarray(y)), f(np, x, y)
        for one, other in zip(ours, theirs) if isinstance(theirs, tuple) else [(ours, theirs)]:
            np.testing.assert_array_equal(one.numpy(), other)
            assert one.dtype == np.asarray(other).dtype or one.dtype == al.int32  # a sum of booleans
    assert al.result_type(al.asarray(x), al.asarray(y)) == np.result_type(x, y)


def test_hypothesis_makes_arrays_of_the_namespace():
    from hypothesis.extra.array_api import make_strategies_namespace

    made = make_strategies_namespace(al, api_version="2024.12")

    @settings(max_examples=30, deadline=None)
    @given(made.scalar_dtypes().flatmap(lambda dtype: made.arrays(dtype, made.array_shapes())), st.data())
    def takes(x, data):
        assert isinstance(x, al.Tensor)
        index = data.draw(made.indices(x.shape))
        np.testing.assert_array_equal(x[index].numpy(), x.numpy()[index])

    takes()


def test_a_spread_of_too_few_elements_is_nan():
    x = al.asarray([1.0, 2.0, 4.0])
    for correction in (3, 4, 7.5):
        for f in (al.var, al.std, al.function(lambda v, f=al.var, c=correction: f(v, correction=c))):
            found = f(x, correction=correction) if f in (al.var, al.std) else f(x)
            assert np.isnan(found.numpy()) and found.dtype == al.float32
    assert np.isclose(al.var(x, correction=2).numpy(), np.var([1.0, 2.0, 4.0], ddof=2))
