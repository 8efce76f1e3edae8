"""The samples of the table as functions, what the names in them stand for, and what becomes of one."""

from __future__ import annotations

import ast
import linecache
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sample_files import gathered

try:
    import scipy.linalg
    import scipy.special
except ImportError:
    scipy = None

#: the first is what samples are tried with by day
DTYPES = ("float64", "int32", "bool", "float32", "int64", "uint8", "complex128", "float16")
TYPED = frozenset(("x", "y", "v", "w", "cube"))
WORKS, SAME_ERROR, REFUSED, WRONG, UNCLEAR = "works", "same error", "refused", "WRONG", "UNCLEAR"


@cache
def _values() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(12)
    return {
        "x": np.array([[3.0, -1.0, 2.5], [0.5, 4.0, -2.0]]),
        "y": np.array([[1.5, 2.0, 1.0], [3.0, 1.0, 0.5]]),
        "v": np.array([2.0, 0.5, 3.0, 1.0]),
        "w": np.array([1.0, 2.0, 4.0, 0.5]),
        "cube": rng.uniform(0.5, 5.0, (2, 3, 4)).round(1),
    }


@cache
def pool(dtype: str = "float64") -> dict[str, Any]:
    """Return what the names in samples stand for; who hands it to a sample makes copies.

    ``x``, ``y``: matrices of 2 x 3; ``v``, ``w``: vectors of 4; ``cube``: 2 x 3 x 4; all of ``dtype``. ``m``: a matrix
    of 3 x 3 that has an inverse, ``s``: a symmetric positive one, ``z``: complex, 2 x 3; ``i``: the integers 2, 0, 1;
    ``j``: 2 x 3 integers; ``b``: 2 x 3 booleans; ``n``: an integer array of no dimensions, 3; ``t``: a float of no
    dimensions, 0.5; ``empty``: 0 x 3.
    """
    typed = {name: _as(value, dtype) for name, value in _values().items()}
    m = np.array([[2.0, -1.0, 0.5], [0.3, 3.0, 1.0], [-0.7, 0.2, 1.5]])
    return {
        **typed, "m": m, "s": m @ m.T + np.eye(3), "z": _values()["x"] + 1j * _values()["y"], "i": np.array([2, 0, 1]),
        "j": np.array([[5, 3, 2], [7, 1, 4]]), "b": np.array([[True, False, True], [False, False, True]]),
        "n": np.array(3), "t": np.array(0.5), "empty": np.zeros((0, 3)),
    }  # fmt: skip


def _as(value: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    if dtype == "bool":
        return value > 1
    return np.abs(value).astype(dtype) if dtype.startswith("u") else value.astype(dtype)


class Sample(NamedTuple):
    """A call of ``function`` as an expression, and the names it uses."""

    function: str
    text: str
    names: tuple[str, ...]

    @property
    def dtypes(self) -> tuple[str, ...]:
        return DTYPES if TYPED & set(self.names) else DTYPES[:1]


def samples() -> list[Sample]:
    """Return all samples, of each function the first one first."""
    known = pool()
    made = []
    for function, texts in gathered("SAMPLES").items():
        for text in texts:
            used = [node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)]
            made.append(Sample(function, text, tuple([name for name in known if name in used])))
    return made


@cache
def compiled(sample: Sample) -> Any:
    """Return the function whose body is the sample, with a source that can be read."""
    source = f"def sample({', '.join(sample.names)}):\n    return {sample.text}\n"
    filename = f"<sample {sample.text}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace: dict[str, Any] = {"np": np, "__name__": "sample"}
    if scipy is not None:
        namespace.update(special=scipy.special, linalg=scipy.linalg)
    exec(compile(source, filename, "exec"), namespace)
    return namespace["sample"]


class Outcome(NamedTuple):
    """What became of a sample: its status, and the words that say why."""

    status: str
    words: str = ""
