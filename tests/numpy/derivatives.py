"""The derivatives of samples: ours, in reverse mode, against differences of what NumPy itself gives.

A sample is made a number, a sum of sines of all it gives, and moves with the real and the imaginary parts of its
arguments. The arguments are those of the pool, moved off every tie and integer, or where the function has no value
there, numbers between 0 and 1, or between 1 and 3.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import autoloop as al
import numpy as np
from sample_calls import DTYPES, REFUSED, WORKS, WRONG, Outcome, Sample, compiled, pool

Arrays = Sequence[np.ndarray[Any, Any]]
#: nothing moves: the gradient is zero; there is none to have: no floats, or no value
FLAT, NONE = "flat", "none"
#: of differences of the fourth order
STEP = 2e-4
#: of matrices they read one triangle: the gradient is symmetric, and so is what is differed
SYMMETRIC = ("np.linalg.eigh", "np.linalg.eigvalsh", "np.linalg.cholesky")
#: vectors that are determined up to a sign or phase, which LAPACK picks anew for each matrix: differences see it,
#: gradients do not
UP_TO_A_PHASE = ("linalg.eig", "linalg.eigh", "linalg.svd", "linalg.qr")
#: calls whose derivative is said on docs/derivatives.md, and is not that of the differences
BY_CONVENTION = {
    "np.linalg.pinv(cube, rtol=0.1)": "what it cuts off counts as zero",
    "np.nan_to_num(x / (x * 0))": "0 * inf is nan",
}


@cache
def places(dtype: str) -> tuple[dict[str, Any], ...]:
    """Return what the names of samples stand for, in the order in which they are tried."""
    rng = np.random.default_rng(21)
    known = pool(dtype)

    def moved(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if x.dtype.kind not in "fc":
            return x
        made = x + 0.3 * rng.uniform(0.1, 1.0, x.shape)
        return made + 0.3j * rng.uniform(0.1, 1.0, x.shape) if x.dtype.kind == "c" else made

    def between(x: np.ndarray[Any, Any], low: float, high: float) -> np.ndarray[Any, Any]:
        if x.dtype.kind not in "fc":
            return x
        made = rng.uniform(low, high, x.shape)
        return made + 0.3j * rng.uniform(low, high, x.shape) if x.dtype.kind == "c" else made

    return (
        {name: moved(x) for name, x in known.items()},
        {name: between(x, 0.25, 0.85) for name, x in known.items()},
        {name: between(x, 1.2, 2.7) for name, x in known.items()},
    )


class Moving(NamedTuple):
    """A sample as a number that moves with real arrays.

    ``scales`` are the sizes of what it gives, each at its place, by which that is divided.
    """

    sample: Sample
    given: list[Any]
    scales: dict[int, float]

    @property
    def parts(self) -> list[Any]:
        """Return what moves."""
        made = []
        for x in self.given:
            made += [x.real.copy(), x.imag.copy()] if x.dtype.kind == "c" else [x] if x.dtype.kind == "f" else []
        return made

    def arguments(self, parts: Sequence[Any]) -> list[Any]:
        """Return the arguments that have these parts."""
        left, made = list(parts), []
        for x in self.given:
            if x.dtype.kind == "c":
                made.append(left.pop(0) + 1j * left.pop(0))
            else:
                made.append(left.pop(0) if x.dtype.kind == "f" else np.array(x))
        return made


def number_of(moving: Moving) -> Callable[..., Any]:
    """Return the function of the parts; no method: it would be found with its ``exec``."""
    f = compiled(moving.sample)

    def value(*parts: Any) -> Any:
        total = 0.0
        for k, y in inexact(f(*moving.arguments(parts))):
            if y.dtype.kind == "c":
                y = np.real(y) + 0.6 * np.imag(y)
            total = total + np.sum(np.sin(y * ((0.7 + 0.1 * (k % 7)) / moving.scales[k]) + 0.3))
        return total

    return value


def inexact(value: Any) -> list[tuple[int, Any]]:
    """Return the floats and complex numbers, at any depth, and where they stand."""
    return [
        (k, y) for k, y in enumerate(_leaves(value)) if getattr(getattr(y, "dtype", None), "kind", "") in ("f", "c")
    ]


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in _leaves(part)]
    return [np.asarray(value) if isinstance(value, (float, complex)) else value]


def differentiable(sample: Sample) -> Sample:
    """Return the sample as it can be compared: in double precision, and of symmetric matrices where it means them."""
    text = sample.text
    for narrow, wide in (("float32", "float64"), ("complex64", "complex128"), ("'f4'", "'f8'")):
        text = text.replace(narrow, wide)
    if sample.function in SYMMETRIC or "hermitian=True" in text or "True, True, True" in text:
        for name in ("s", "m"):
            text = text.replace(f"({name}", f"(({name} + {name}.conj().T) / 2").replace(
                f"={name}", f"=({name} + {name}.T)"
            )
        text = text.replace("(cube[..., :3]", "(cube[..., :3] + cube[..., :3].mT")
    if sample.function.removeprefix("np.") in UP_TO_A_PHASE:
        text = f"[abs(q) for q in {text}]"
    return sample._replace(text=text)


@cache
def moving(sample: Sample, dtype: str) -> Moving | str:
    """Return the sample at the first place where all is finite, or why there is none."""
    sample, words = differentiable(sample), "no value"
    for place in places(dtype):
        given = [np.array(place[name]) for name in sample.names]
        made, words = _value(sample, given)
        if words:
            continue
        if not any(x.dtype.kind in "fc" and x.size for x in given):
            return "no floats among its arguments"
        if not made:
            return "no floats in what it gives"
        if all(np.isfinite(y).all() for _, y in made):
            return Moving(sample, given, {k: max(1.0, float(np.abs(y).max(initial=0))) for k, y in made})
        words = "not finite"
    return words


def _value(sample: Sample, given: Arrays) -> tuple[list[tuple[int, Any]], str]:
    try:
        return quiet(lambda: inexact(compiled(sample)(*map(np.array, given)))), ""
    except Exception as error:
        return [], f"raises {type(error).__name__}"


def quiet(f: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f()


def differences(f: Callable[[Any], Any], at: Sequence[Any], towards: Sequence[Any]) -> Any:
    """Return how ``f`` of arrays changes in a direction."""

    def value(t: float) -> Any:
        return np.asarray(f([x + t * d for x, d in zip(at, towards)]))

    return (8 * (value(STEP) - value(-STEP)) - (value(2 * STEP) - value(-2 * STEP))) / (12 * STEP)


def _directions(parts: Arrays) -> list[Any]:
    rng = np.random.default_rng(4)
    return [rng.choice([-1, 1], x.shape) * rng.uniform(0.5, 1, x.shape) for x in parts]


def gradient(sample: Sample, dtype: str = DTYPES[0], order: int = 1, way: str = "sequential") -> Outcome:
    """Return what the gradient of a sample is, or that of its gradient; ``way`` is an executor or ``tape``."""
    made = BY_CONVENTION.get(sample.text) or moving(sample, dtype)
    if isinstance(made, str):
        return Outcome(NONE, made)
    return quiet(lambda: _outcome(made, order, way))


def _outcome(made: Moving, order: int, way: str) -> Outcome:
    number, parts = number_of(made), made.parts
    try:
        ours = _gradients(number, parts, order, way)
    except Exception as error:
        expected = _expected(number, parts)
        if not any(map(np.any, expected)) or not all(np.isfinite(one).all() for one in expected):
            return Outcome(NONE, "flat, and refused")
        return Outcome(REFUSED, f"{type(error).__name__}: {error}".splitlines()[0])
    if order == 1:
        expected = _expected(number, parts)
    else:
        towards = _directions(parts)
        expected = [
            differences(lambda xs, k=k: _gradients(number, xs, 1, way)[k], parts, towards) for k in range(len(parts))
        ]
    if not all(np.isfinite(one).all() for one in expected):
        return Outcome(NONE, "its differences are not finite")
    scale = max([1.0, *[np.abs(one).max(initial=0) for one in expected]])
    for one, wanted in zip(ours, expected):
        if one.shape != wanted.shape or not np.allclose(one, wanted, rtol=1e-6, atol=2e-7 * scale):
            return Outcome(WRONG, f"{one.tolist()}, not {wanted.tolist()}")
    return Outcome(WORKS if any(map(np.any, expected)) else FLAT)


def _expected(number: Callable[..., Any], parts: Arrays) -> list[Any]:
    """Return the differences by each element."""
    made = []
    for k, x in enumerate(parts):
        slopes = np.zeros(x.shape)
        for place in np.ndindex(x.shape):
            towards = [np.zeros(one.shape) for one in parts]
            towards[k][place] = 1.0
            slopes[place] = differences(lambda xs: number(*xs), parts, towards)
        made.append(slopes)
    return made


def _gradients(number: Callable[..., Any], parts: Arrays, order: int, way: str) -> list[Any]:
    """Return the gradient, or how it moves: the second derivatives in one direction."""
    towards, every = _directions(parts), tuple(range(len(parts)))
    if way == "tape":
        xs = [al.constant(x) for x in parts]
        with al.GradientTape() as outer:
            outer.watch(xs)
            with al.GradientTape() as tape:
                tape.watch(xs)
                y = number(*xs)
            found = tape.gradient(y, xs)
            along = sum(
                [al.sum(g * d) for g, d in zip(found, towards) if g is not None], start=al.constant(0.0, al.float64)
            )
        found = found if order == 1 else outer.gradient(along, xs)
        return [np.zeros(x.shape) if g is None else np.asarray(g) for g, x in zip(found, parts)]
    first = al.grad(number, every)

    def moved(*xs: Any) -> Any:
        return sum([np.sum(g * d) for g, d in zip(first(*xs), towards)])

    asked = al.function(first if order == 1 else al.grad(moved, every), executor=way)
    return [np.asarray(g) for g in asked(*map(np.array, parts))]
