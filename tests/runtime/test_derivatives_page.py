"""``docs/derivatives.md``, row by row: first and second, reverse and forward, eagerly and in each executor."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from autoloop.differentiation import grad, jacobian, jvp
from autoloop_runtime.dataclass import dataclass
from autoloop_runtime.registry import FUNCTIONS
from executors import EXECUTORS

PAGE = Path(__file__).parent.parent.parent / "docs" / "derivatives.md"
#: operations that have no machine code, or whose gradients have none
INTERPRETED_ONLY = ("complex", "sort")
#: a direction in which no two elements move alike
WEIGHTS = np.array([1.0, -0.7, 0.45])


@dataclass(frozen=True)
class Row:
    operation: str
    expression: str
    at: tuple[float, ...]
    first: object
    second: object
    whose: str

    def __str__(self):
        return f"{self.expression} at {self.at}"

    def f(self, x):
        return eval(self.expression, {**FUNCTIONS, "x": x, "len": lambda t: t.shape[0], "inf": np.inf})


def numbers(text):
    return np.array(eval(text, {"nan": np.nan, "inf": np.inf, "__builtins__": {}}), float)


def read():
    rows = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) != 6 or not re.fullmatch(r"`.*`", cells[1]):
            continue
        at = tuple(float(v) for v in cells[2].split(","))
        second = numbers(cells[4]) if cells[4] != "0" else np.zeros((len(at), len(at)))
        rows.append(Row(cells[0], cells[1].strip("`"), at, numbers(cells[3]), second, cells[5]))
    return rows


ROWS = read()


def derivatives(row, x):
    """The gradient, the Hessian, and both in the direction ``WEIGHTS``, forward mode."""
    direction = al.constant(WEIGHTS[: x.shape[0]])
    gradient = grad(row.f)
    return gradient(x), jacobian(gradient)(x), *(jvp(f, [x], [direction])[1] for f in (row.f, gradient))


@cache
def staged(expression, count, executor):
    """The derivatives at any point of ``count`` elements, from one trace."""
    row = next(row for row in ROWS if row.expression == expression)
    return al.function(lambda x: derivatives(row, x), executor=executor, autograph=False)


@pytest.mark.parametrize("executor", ["eager", *EXECUTORS])
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_row(row, executor):
    x = al.constant(np.array(row.at))
    if executor == "eager":
        found = derivatives(row, x)
    elif executor == "native" and any(name in row.expression for name in INTERPRETED_ONLY):
        pytest.skip("no machine code")
    else:
        found = staged(row.expression, len(row.at), executor)(x)
    first, second, forward, forward_again = (np.asarray(v) for v in found)
    weights = WEIGHTS[: len(row.at)]
    close = {"rtol": 1e-9, "atol": 1e-13}
    np.testing.assert_allclose(first, row.first, **close)
    np.testing.assert_allclose(second, row.second, **close)
    if np.isfinite(row.first).all():
        np.testing.assert_allclose(forward, row.first @ weights, **close)
        if np.isfinite(row.second).all():
            np.testing.assert_allclose(forward_again, row.second @ weights, **close)


def test_every_row_says_whose_it_is():
    assert len(ROWS) > 150
    assert all(row.whose == "JAX" or row.whose.startswith("ours: ") for row in ROWS)
