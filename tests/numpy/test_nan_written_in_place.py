"""``np.nan_to_num(x, copy=False)`` writes to the array; ``x[i] = None`` writes nan."""

from __future__ import annotations

from typing import Any

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS
from left_to_python import refused_or_plain

GIVEN = np.array([[1.0, np.nan], [np.inf, 2.0]])


def whole(x: Any) -> Any:
    np.nan_to_num(x, copy=False, posinf=7.0)
    return x


def rows(x: Any) -> Any:
    for i in range(x.shape[0]):
        np.nan_to_num(x[i], False)
        if x[i, 0] > 1:
            x[i, 1] = None
    return x


def own(x: Any) -> Any:
    y = x * 1
    np.nan_to_num(y[0], copy=False)
    y[1] = None
    return y, np.nan_to_num(x)


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("f", [whole, rows, own])
def test_what_is_written(f: Any, executor: str) -> None:
    for order in "CF":
        mine, theirs = GIVEN.copy(order), GIVEN.copy(order)
        assert repr(al.function(f, executor=executor)(mine)) == repr(f(theirs))
        np.testing.assert_array_equal(mine, theirs)


def test_what_cannot_be_written_is_refused() -> None:
    refused_or_plain(lambda x: np.nan_to_num([1.0, x[0, 0]], copy=False), "does not take the argument 'copy'", GIVEN)

    @al.function
    def f(x: Any) -> Any:
        x[0] = None
        return x

    with pytest.raises(TypeError, match="NoneType"):
        f(np.arange(3))
