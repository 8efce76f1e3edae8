"""What NumPy's own functions warn of: plain and decorated, at each call, or as the page of exceptions says."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import autoloop as al
import numpy as np
import pytest
from written_out import program

X, N = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[np.nan, np.nan], [1.0, np.nan]])
#: said of values: at each call, under a setting that asks for warnings
OF_VALUES = [
    "np.nanmin(n, axis=())", "np.nanmax(n, axis=1)", "np.nanmean(n, axis=1)", "np.nanvar(n, axis=1)",
    "np.nanstd(n[1], ddof=1)", "np.var(x[:0])", "x[:0].std(axis=0)", "np.var(x, ddof=4)", "np.var(x[0, 0], ddof=1)",
    "np.mean(x[:0])", "x[:0].mean(axis=0)", "np.average(x[:0])", "np.median(x[:0])", "np.cov(x, ddof=2)",
    "np.cov(x[:1, :1])", "np.polyfit(x[0], x[1], 3)", "np.var(n[n > 2])", "np.mean(x[x > 9])",
]  # fmt: skip
#: said of types and shapes: while a trace is made
OF_TYPES = [
    *[f"np.fft.{name}(x, s=(2, 2))" for name in ("fftn", "ifftn", "rfftn", "irfftn")],
    "np.fft.fftn(x, s=(2, None), axes=(0, 1))", "np.fft.fft2(x, s=(2, 2))", "np.cross(x, x)", "np.histogram(x > 1)",
    "(x + 1j).astype(float)", "np.asarray(x + 1j, 'f4')", "np.array(x + 1j, float)",
    *(["np.row_stack((x, x))"] if hasattr(np, "row_stack") else []),
]  # fmt: skip


def _heard(f: Callable[..., Any]) -> list[tuple[Any, str]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        f(X.copy(), N.copy())
    return [(one.category, str(one.message)) for one in found if "runs as plain Python" not in str(one.message)]


@pytest.mark.parametrize("text", OF_VALUES)
def test_what_numpy_says_of_values_is_said_at_each_call(text: str) -> None:
    f = program(text, ["x", "n"])
    g = al.function(f)
    _heard(g)
    for setting in ({"all": "warn"}, {"over": "raise", "divide": "ignore", "invalid": "ignore"}):
        with np.errstate(**setting):  # type: ignore[arg-type]
            for _ in range(4):
                assert _heard(g) == _heard(f)


@pytest.mark.parametrize("text", OF_TYPES)
def test_what_numpy_says_of_types_and_shapes_is_said_while_a_trace_is_made(text: str) -> None:
    f = program(text, ["x", "n"])
    g = al.function(f)
    assert _heard(g) == _heard(f)
    assert _heard(g) == []
