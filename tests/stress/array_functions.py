"""Random functions over arrays, numbers and flags: Python control flow that turns tensor in the middle, and back.

All numbers are multiples of a quarter and stay small, so that every dtype holds them exactly and the order of additions
does not show.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

ARRAYS = ("x", "y")


def arguments(seed: int) -> list[tuple[Any, ...]]:
    """Three calls of one signature: two arrays, a float, an int and a flag."""
    generator = np.random.default_rng(seed)

    number = float(generator.integers(-12, 12)) / 4
    arrays = generator.integers(-12, 12, (3, 2, 3)) / 4
    return [(w, v, number, seed % 4, seed % 2 == 0) for w, v in arrays]


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names = 0
        self.loops: list[str] = []  # counters of the loops around
        self.helper = ""

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def fresh(self, start: str) -> str:
        self.names += 1
        return f"{start}{self.names}"

    # -- expressions

    def whole(self) -> str:
        """A Python number that is whole."""
        return self.one("n", "k", *self.loops, "len(x)", "2", "1")

    def scalar(self, depth: int = 2) -> str:
        leaf = ["s", "t", "(s - g) % 8", "(t + 0.5)", f"(s * {self.whole()}) % 8", f"x[{self.whole()} % 3]", "w[-1]"]
        if depth == 0 or self.random.random() < 0.35:
            return self.one(*leaf)
        a, b = self.scalar(depth - 1), self.scalar(depth - 1)
        return self.one(
            f"({a} + {b}) % 8", f"({a} - {b})", f"np.maximum({a}, {b})", f"min({a}, {b})", f"abs({a})",
            f"np.floor({a})", f"({a} * 2) % 4", f"({a} if {self.test(0)} else {b})", f"-{a}",
            f"np.sum({self.array(depth - 1)}) % 8", *([f"{self.helper}({a})"] if self.helper else []),
        )  # fmt: skip

    def array(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.35:
            return self.one("x", "y", "w", "x[::-1]", "np.abs(y)", "np.cumsum(w) % 8")
        a, b = self.array(depth - 1), self.array(depth - 1)
        return self.one(
            f"({a} + {b}) % 8", f"({a} - {self.scalar(depth - 1)})", f"np.where({a} > {b}, {a}, {b})",
            f"np.minimum({a}, {b})", f"({a} * 3) % 4",
        )  # fmt: skip

    def test(self, depth: int = 2) -> str:
        roll = self.random.random()
        if depth and roll < 0.3:
            return f"({self.test(depth - 1)} {self.one('and', 'or')} {self.test(depth - 1)})"
        if depth and roll < 0.36:
            return f"not {self.test(depth - 1)}"
        if roll < 0.44:
            return self.one("r", "not r", "n", "k > 2", "n == 2")
        if roll < 0.5:
            return f"np.{self.one('any', 'all')}({self.array(1)} > {self.scalar(0)})"
        if roll < 0.55:
            return f"{self.one('any', 'all')}(e > {self.scalar(0)} for e in {self.one('x', 'w')})"
        return f"{self.scalar(1)} {self.one('<', '>', '>=', '<=')} {self.scalar(1)}"

    # -- statements

    def block(self, depth: int, budget: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, budget)

    def statement(self, depth: int, budget: int) -> None:
        roll = self.random.random()
        if budget <= 0 or roll < 0.42:
            self.simple(depth)
        elif roll < 0.6:
            self.branch(depth, budget - 1)
        elif roll < 0.8:
            self.loop(depth, budget - 1)
        elif self.loops and roll < 0.93:
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, self.one("break", "continue", self.result()))
        else:
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, self.result())

    def result(self) -> str:
        return self.one("return s, x, 1", "return t, y, k", f"return {self.scalar(1)}, x, n", "return s, w, 0")

    def simple(self, depth: int) -> None:
        roll = self.random.random()
        if roll < 0.35:
            self.line(depth, f"{self.one('s', 't')} = {self.scalar()}")
        elif roll < 0.5:
            self.line(depth, f"{self.one('s', 't')} {self.one('+=', '-=')} {self.scalar(1)}")
        elif roll < 0.75:
            self.line(depth, f"{self.one(*ARRAYS)} = {self.array()}")
        elif roll < 0.82:
            self.line(depth, f"k = (k + {self.whole()}) % 5")
        elif roll < 0.9:
            self.line(depth, f"out.append({self.scalar(1)})")
        elif roll < 0.95:
            self.line(depth, "x, y = y, x")
        else:
            self.line(depth, f"s, t = t, {self.scalar(1)}")

    def branch(self, depth: int, budget: int) -> None:
        self.line(depth, f"if {self.test()}:")
        self.block(depth + 1, budget)
        if self.random.random() < 0.5:
            self.line(depth, "else:")
            self.block(depth + 1, budget)

    def loop(self, depth: int, budget: int) -> None:
        roll = self.random.random()
        counter = self.fresh("i")
        if roll < 0.25:
            self.line(depth, f"for {counter} in range({self.one('3', 'n', 'len(w)', 'k')}):")
        elif roll < 0.4:
            element = self.fresh("e")
            self.line(depth, f"for {counter}, {element} in enumerate({self.one('x', 'w')}):")
            self.line(depth + 1, f"s = (s + {element}) % 8")
        elif roll < 0.7:
            self.line(depth, f"{counter} = 0")
            self.line(depth, f"while {counter} < 4 and {self.test()}:")
            self.line(depth + 1, f"{counter} += 1")
        else:
            self.line(depth, f"{counter} = 0")
            self.line(depth, "while True:")
            self.line(depth + 1, f"{counter} += 1")
            self.line(depth + 1, f"if {counter} > 3:")
            self.line(depth + 2, self.one("break", "break", self.result()))
        self.loops.append(counter)
        self.block(depth + 1, budget)
        if roll >= 0.7:
            self.line(depth + 1, f"if {self.test()}:")
            self.line(depth + 2, self.one("break", self.result()))
        self.loops.pop()
        if 0.25 < roll < 0.7 and self.random.random() < 0.2:
            self.line(depth, "else:")
            self.simple(depth + 1)


def text_of(seed: int) -> str:
    """The source of the random function of that seed."""
    writer = _Writer(seed)
    writer.line(0, "def program(w, v, g, n, r):")
    for start in ("s = w[0]", "t = w[1] + g", "x = w * 1", "y = v", "k = 0", "out = [s * 0]"):
        writer.line(1, start)
    if writer.random.random() < 0.4:
        writer.line(1, "def helper(z):")
        writer.line(2, writer.one("return (z + s) % 8", "return np.maximum(z, t)", "return z if z > s else x[0]"))
        writer.helper = "helper"
    for _ in range(4):
        writer.statement(1, 3)
    writer.line(1, "for e in out:")
    writer.line(2, "s = (s + e) % 8")
    writer.line(1, writer.one("return s + t, x + y, k", "return s, x, k", "return t, y, 0"))
    return "\n".join(writer.lines) + "\n"


def random_function(seed: int) -> tuple[Callable[..., Any], str]:
    """Return the random function of that seed, and its text."""
    text = text_of(seed)
    name = f"<random array function {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    return namespace["program"], text
