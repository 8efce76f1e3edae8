"""Decorated functions whose defaults hold arrays, called by others: these are the caller's, in every trace."""

import autoloop as al
import numpy as np
import pytest


class Direction:
    def __init__(self, vector):
        self.vector = vector

    def of(self, undefined=np.zeros(3), *, scales=(1.0, np.ones(3))):  # noqa: B008
        length = np.linalg.norm(self.vector)
        if length < 1:
            return undefined
        return self.vector / length * scales[1]

    decorated = al.function(of)

    @al.function
    def asked(self):
        return self.decorated()


def shorter(v, bound=np.ones(3)):  # noqa: B008
    return bound if v[0] < 1 else v


@pytest.mark.parametrize("executor", ["auto", "sequential", "dataflow"])
def test_a_call_that_is_traced_several_times_has_them(executor):
    inner = al.function(shorter, executor=executor)
    outer = al.function(lambda v: inner(v) * 2, executor=executor)
    for v in (np.full(3, 2.0), np.zeros(3), np.full((2, 3), 2.0), np.zeros(3)):
        if v.ndim == 1:
            assert outer(v).tolist() == (shorter(v) * 2).tolist()
        assert inner(v[0:3] if v.ndim == 1 else v[0]) is not None
    assert inner(np.zeros(3)) is shorter.__defaults__[0]
    shorter.__defaults__[0][:] = 5.0
    try:
        assert outer(np.zeros(3)).tolist() == [10.0] * 3
    finally:
        shorter.__defaults__[0][:] = 1.0


def test_a_method_that_another_calls_has_them():
    for vector in (np.zeros(3), np.full(3, 3.0), np.zeros(3)):
        one = Direction(vector)
        assert one.asked().tolist() == one.of().tolist() == one.decorated().tolist()
    assert Direction(np.zeros(3)).asked() is Direction.of.__defaults__[0]
