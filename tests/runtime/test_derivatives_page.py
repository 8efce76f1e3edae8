"""``docs/derivatives.md``, row by row: first and second, reverse and forward, eagerly and in each executor."""

from __future__ import annotations

import linecache
import re
from functools import cache
from pathlib import Path

import autoloop as al
import numpy as np
from api import FUNCTIONS, Graph, TensorShape, dataclass, prepare, run_graph, set_outputs
from autoloop.differentiation import grad, jacobian, jvp, value_and_grad
from executors import EXECUTORS, spread_each

PAGE = Path(__file__).parent.parent.parent / "docs" / "derivatives.md"
#: operations that have no machine code, or whose gradients have none
INTERPRETED_ONLY = ("complex", "sort")
#: a row of more elements has a second derivative that takes seconds to compile
SMALL = 4
#: a direction in which no two elements move alike
WEIGHTS = np.array([1.0, -0.7, 0.45, 0.9, -0.3, 0.55, -1.1, 0.25, 0.8])


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

    @property
    def f(self):
        """The function of ``x``, which can be read where it says that it stands."""
        return function(self.expression)


@cache
def function(expression):
    text, name = f"f = lambda x: {expression}\n", f"<row {expression}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    found = {**FUNCTIONS, "len": lambda t: t.shape[0], "inf": np.inf}
    exec(compile(text, name, "exec"), found)
    return found["f"]


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
    (_, gradient), moved = jvp(value_and_grad(row.f), [x], [al.constant(WEIGHTS[: x.shape[0]])])
    return gradient, jacobian(grad(row.f))(x), *moved


@cache
def graph_of_row(expression, count):
    """The derivatives at any point of ``count`` elements, as a graph."""
    row = next(row for row in ROWS if row.expression == expression)
    graph = Graph(ordered=True)
    with graph.as_default():
        set_outputs(graph, derivatives(row, graph.parameter(np.dtype(float), TensorShape([count]))))
    return graph


@cache
def runner(expression, count, executor):
    return prepare(graph_of_row(expression, count), executor)


def has_no_machine_code(row, executor):
    """None, or too much of it."""
    return executor == "native" and (len(row.at) > SMALL or any(name in row.expression for name in INTERPRETED_ONLY))


# eager code takes as long as all others do, and computes a point by the same rules as the scheduler: it has its turns
@spread_each([(row,) for row in ROWS], ["eager", *EXECUTORS], but=has_no_machine_code)
def test_row(row, executor):
    x, weights = al.constant(np.array(row.at)), WEIGHTS[: len(row.at)]
    if executor == "eager":
        found = [grad(row.f)(x), jacobian(grad(row.f))(x), *jvp(value_and_grad(row.f), [x], [weights])[1]]
    else:
        key = row.expression, len(row.at)
        found = run_graph(graph_of_row(*key), runner(*key, executor), [x])
    first, second, forward, forward_again = (np.asarray(v) for v in found)
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
