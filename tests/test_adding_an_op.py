"""``docs/adding-an-op.md`` quotes the sources, and is right: one row adds an operation to the whole house."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from api import FUNCTIONS, NUMPY_UFUNCS, OPS, Graph, ops
from executors import EXECUTORS
from gradient_checks import differences

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "adding-an-op.md").read_text()
QUOTES = re.findall(r"<!-- from: (\S+) -->\n```python\n(.*?)```", PAGE, re.DOTALL)

ROW = """
fmod = binary(
    "fmod", np.fmod, "np.fmod({0}, {1})", lambda g, z, x, y: (g, -g * trunc(x / y)),
    doc="The remainder of ``x / y``, with the sign of ``x``.", numpy=np.fmod, aliases=("truncatemod",),
    traits=FUNCTION,
    llvm={"f": "~libm:fmod $x, $y"},
)
"""
A, B = np.array([[5.5, -7.25, 3.1], [0.5, 8.0, -2.6]]), np.array([2.0, 3.5, -0.75])


def test_the_page_quotes_the_sources():
    assert len(QUOTES) == 10 and PAGE.count("```python") == 10
    for name, quoted in QUOTES:
        source = (ROOT / name).read_text()
        for part in re.split(r"^ *\.\.\.\n", quoted, flags=re.MULTILINE):
            assert part in source, f"{name} has no longer\n{part}"


def test_the_page_names_what_there_is():
    for path in re.findall(r"`((?:ops|ir|native|tests)/[\w/.*]+)`", PAGE):
        assert list(ROOT.glob(path)) or list((ROOT / "runtime" / "autoloop_runtime").glob(path)), path


@pytest.fixture
def fmod():
    """The function that the row makes; afterwards everything is as it was."""
    tables = (OPS, FUNCTIONS, NUMPY_UFUNCS, ops.ALIASES)
    before = [dict(table) for table in tables]
    words = dict(vars(ops.powers), trunc=al.trunc)
    exec(ROW, words)
    yield words["fmod"]
    for table, entries in zip(tables, before):
        table.clear()
        table.update(entries)


def test_a_row_is_a_public_function(fmod):
    assert str(inspect.signature(fmod)).replace("'", "") == (
        "(x: ArrayLike, y: ArrayLike, name: str | None = None) -> Tensor"
    )
    assert fmod.__doc__.startswith("Return the remainder of ``x / y``, with the sign of ``x``.\n\nParameters")
    assert FUNCTIONS["fmod"] is fmod and ops.ALIASES["truncatemod"] == "fmod"
    found = fmod(A, B)
    np.testing.assert_array_equal(found.numpy(), np.fmod(A, B))
    np.testing.assert_array_equal(np.fmod(found, 2.0), np.fmod(np.fmod(A, B), 2.0))
    assert fmod([5], 3).dtype == al.int32 and fmod([5], 3.5).dtype == al.float64
    with pytest.raises(TypeError, match="fmod: ufunc 'fmod' not supported.*complex128"):
        fmod(1j, 2)
    with pytest.raises(ValueError, match="fmod: "):
        fmod(A, [1.0, 2.0])


def _looped(fmod):
    def f(x, y):
        total, k = x * 0, 0
        while k < 5:
            total = total + fmod(x + k, y)
            k += 1
        return total

    return f


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_row_runs_everywhere(fmod, executor):
    f = _looped(fmod)
    found = al.function(f, executor=executor)(al.constant(A), al.constant(B))
    np.testing.assert_allclose(found, sum(np.fmod(A + k, B) for k in range(5)), rtol=1e-15)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_row_has_gradients_everywhere(fmod, executor):
    f = al.function(lambda x, y: al.sum(_looped(fmod)(x, y) ** 2), executor=executor)
    by_x, by_y = al.grad(f, argnums=(0, 1))(al.constant(A), al.constant(B))
    values = lambda x, y: al.constant(np.sum(sum(np.fmod(x + k, y) for k in range(5)) ** 2))  # noqa: E731
    np.testing.assert_allclose(by_x, differences(values, [A, B], 0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(by_y, differences(values, [A, B], 1), rtol=1e-5, atol=1e-6)


def test_a_row_is_known_to_passes_and_to_rows_of_elements(fmod):
    traits = OPS["fmod"].traits
    assert traits.elementwise and not traits.overwrites
    np.testing.assert_array_equal(al.vectorized_map(lambda x: fmod(x, 2.0), al.constant(A)), np.fmod(A, 2.0))
    graph = Graph()
    with graph.as_default():
        x = graph.parameter(al.float64, al.TensorShape([2, 3]))
        assert fmod(x, B).shape == (2, 3)
