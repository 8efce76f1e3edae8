"""Random differentiable functions with loops, and their derivatives by complex steps through plain Python.

The plain function runs on ``Step``, complex arrays whose order, absolute value and extremes look at the real part: the
imaginary part of ``f(x + 1e-30j v)`` is the derivative along ``v``, exact to rounding. Second derivatives are central
differences of those.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

N = 3
TINY = 1e-30
ORDER = {np.less, np.less_equal, np.greater, np.greater_equal}


class Step(np.ndarray):
    """Complex numbers that are compared by their real parts, so that a program for real numbers takes its own way."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        kwargs.pop("out", None)  # of ``+=``: a new number, as of NumPy's scalars
        plain = [x.view(np.ndarray) if isinstance(x, Step) else x for x in inputs]
        if ufunc in ORDER:
            return ufunc(*[np.real(x) for x in plain])
        if ufunc is np.absolute:
            made = plain[0] * np.sign(plain[0].real)
        elif ufunc in (np.maximum, np.minimum):
            first = np.greater if ufunc is np.maximum else np.less
            made = np.where(first(np.real(plain[0]), np.real(plain[1])), *plain)
        else:
            made = getattr(ufunc, method)(*plain, **kwargs)
        return as_step(made)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        def plain(x: Any) -> Any:
            return [plain(e) for e in x] if isinstance(x, (list, tuple)) else np.asarray(x)

        return as_step(func(*[plain(x) if isinstance(x, (Step, list, tuple)) else x for x in args], **kwargs))

    def __getitem__(self, key: Any) -> Any:
        return as_step(self.view(np.ndarray)[key])


def as_step(x: Any) -> Any:
    """Complex results stay of that kind, scalars too."""
    x = np.asarray(x)
    return x.view(Step) if x.dtype.kind == "c" else x


def slopes(f: Callable[..., Any], arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The gradient of the scalar ``f(*arrays)``."""
    found = [np.zeros_like(a) for a in arrays]
    for k, a in enumerate(arrays):
        for place in np.ndindex(a.shape):
            moved = [as_step(b.astype(complex)) for b in arrays]
            moved[k].view(np.ndarray)[place] += 1j * TINY
            found[k][place] = np.imag(np.asarray(f(*moved))) / TINY
    return found


def along(f: Callable[..., Any], arrays: list[np.ndarray], directions: list[np.ndarray], h: float) -> list[np.ndarray]:
    """How the gradient changes along ``directions``: the Hessian times these, by central differences."""
    ahead = slopes(f, [a + h * d for a, d in zip(arrays, directions)])
    behind = slopes(f, [a - h * d for a, d in zip(arrays, directions)])
    return [(p - q) / (2 * h) for p, q in zip(ahead, behind)]


def between(
    f: Callable[..., Any], arrays: list[np.ndarray], directions: list[np.ndarray], h: float
) -> list[np.ndarray]:
    """The mean of the gradients ahead and behind: that at the point itself, where nothing jumps."""
    ahead = slopes(f, [a + h * d for a, d in zip(arrays, directions)])
    behind = slopes(f, [a - h * d for a, d in zip(arrays, directions)])
    return [(p + q) / 2 for p, q in zip(ahead, behind)]


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counters: list[str] = []
        self.names = 0

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def index(self) -> str:
        return self.one("0", "-1", "2", *[f"{c} % 3" for c in self.counters])

    def scalar(self, depth: int = 2) -> str:
        leaf = ("s", "t", f"x[{self.index()}]", f"w[{self.index()}]", "np.sum(x)", "np.mean(y)", "np.max(x)")
        if depth == 0 or self.random.random() < 0.3:
            return self.one(*leaf)
        a, b = self.scalar(depth - 1), self.scalar(depth - 1)
        return self.one(
            f"np.tanh({a})", f"np.sin({a} + 0.3)", f"{a} * np.cos({b})", f"({a} + {b}) * 0.5", f"({a} - 0.7 * {b})",
            f"np.exp(-({a}) ** 2)", f"np.sqrt(1.0 + {a} * {a})", f"np.maximum({a}, {b})", f"{a} / (2.0 + {b} ** 2)",
            f"np.dot({self.array(0)}, {self.array(0)}) * 0.3", f"np.log(1.5 + np.abs({a}))", f"np.arctan({a}) * {b}",
        )  # fmt: skip

    def array(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self.one("x", "y", "w", "x[::-1]", "(v * 0.5)", "(x * w)")
        a, b = self.array(depth - 1), self.array(depth - 1)
        return self.one(
            f"np.tanh({a})", f"(np.sin({a}) * {self.scalar(depth - 1)})", f"(({a} + {b}) * 0.6)", f"({a} * {b})",
            f"np.where({a} > {self.scalar(0)}, {a}, {b} * 0.5)", f"np.minimum({a}, {b} + 0.1)",
            f"(np.cumsum({a}) * 0.4)", f"(m @ {a})", f"np.concatenate([{a}[1:], {b}[:1]])",
            f"np.stack([{a}, {b}])[{self.index()} % 2]",
            f"np.exp(np.tanh({a}))", f"(np.outer({a}, {b})[1] * 0.5)", f"np.reshape({a}, (3, 1))[:, 0]",
            f"np.roll({a}, 1)",
        )  # fmt: skip

    def test(self) -> str:
        return self.one(
            f"{self.scalar(1)} > {self.scalar(1)}", f"np.sum({self.array(1)}) < {self.scalar(0)}",
            *[f"{c} % 2 == 0" for c in self.counters],
        )  # fmt: skip

    def statement(self, depth: int, budget: int) -> None:
        roll = self.random.random()
        if budget <= 0 or roll < 0.5:
            self.simple(depth)
        elif roll < 0.68:
            self.line(depth, f"if {self.test()}:")
            self.block(depth + 1, budget - 1)
            if self.random.random() < 0.5:
                self.line(depth, "else:")
                self.block(depth + 1, budget - 1)
        elif self.counters and roll < 0.74:
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, self.one("break", "continue"))
        else:
            self.loop(depth, budget - 1)

    def block(self, depth: int, budget: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, budget)

    def simple(self, depth: int) -> None:
        roll = self.random.random()
        if roll < 0.35:
            self.line(depth, f"{self.one('s', 't')} = {self.scalar()}")
        elif roll < 0.45:
            self.line(depth, f"{self.one('s', 't')} += {self.scalar(1)} * 0.3")
        elif roll < 0.8:
            self.line(depth, f"{self.one('x', 'y')} = {self.array()}")
        elif roll < 0.9:
            self.line(depth, f"out.append({self.scalar(1)})")
        else:
            self.line(depth, "x, y = y, x")

    def loop(self, depth: int, budget: int) -> None:
        self.names += 1
        counter = f"i{self.names}"
        trips = self.one("n", "n", "3", "0", "n + 2")
        if self.random.random() < 0.5:
            self.line(depth, f"for {counter} in range({trips}):")
        else:
            extra = self.one("", "", f" and {self.scalar(0)} < 1.5")
            self.line(depth, f"{counter} = 0")
            self.line(depth, f"while {counter} < {trips}{extra}:")
            self.line(depth + 1, f"{counter} += 1")
        self.counters.append(counter)
        self.block(depth + 1, budget)
        self.counters.pop()


def text_of(seed: int) -> str:
    """The source of the random function of that seed."""
    writer = _Writer(seed)
    writer.line(0, "def program(w, v, n):")
    for start in ("s = w[0] * 1.0", "t = v[1] * 0.5", "x = w * 1.0", "y = np.sin(v)", "out = [s]"):
        writer.line(1, start)
    for _ in range(4):
        writer.statement(1, 3)
    writer.line(1, "for e in out:")
    writer.line(2, "t = t * 0.7 + e")
    writer.line(1, "return np.sum(np.tanh(x)) + np.sum(np.sin(y) * w) + s * 0.5 + np.tanh(t)")
    return "\n".join(writer.lines) + "\n"


def random_smooth(seed: int) -> tuple[Callable[..., Any], str]:
    """Return the random function of that seed, of two vectors and a trip count, and its text."""
    text = text_of(seed)
    name = f"<random smooth function {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    matrix = np.random.default_rng(7).normal(size=(N, N)) * 0.5
    namespace: dict[str, Any] = {"np": np, "m": matrix}
    exec(compile(text, name, "exec"), namespace)
    return namespace["program"], text


def point(seed: int) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """Where to differentiate: two vectors, two directions, a trip count."""
    generator = np.random.default_rng(seed)
    arrays = [generator.uniform(-1.2, 1.2, N) for _ in range(2)]
    directions = [generator.normal(size=N) for _ in range(2)]
    return arrays, directions, int(generator.integers(0, 5))
