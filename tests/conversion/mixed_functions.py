"""Random functions in which Python values and tensors decide side by side, the same for the same seed.

Loops of all kinds with ``break``, ``continue``, ``else`` and ``return``, local functions that read and rebind, a name
that is born late, lists that grow, walruses, ``match``, ``try`` and comprehensions.
"""

from __future__ import annotations

import linecache

import numpy as np
from random_lines import Lines

NAMES = ("x", "y", "p", "q", "t")


class _Writer(Lines):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.functions: list[str] = []

    def number(self) -> str:
        return self.random.choice((*NAMES, "w[0]", "w[1]", "w[k % 3]", "two", "half", "three", "less"))

    def value(self, depth: int = 0) -> str:
        inner, roll = depth + 1, self.random.random()
        if roll < 0.45 or depth > 2:
            return self.number()
        if roll < 0.5:
            return "late"
        if roll < 0.56 and self.functions:
            return self.random.choice(self.functions) + "()"
        if roll < 0.62:
            return f"({self.value(inner)} if {self.test(inner)} else {self.value(inner)})"
        if roll < 0.66:
            return f"max({self.value(inner)}, {self.value(inner)})"
        if roll < 0.69:
            return f"sum(e * {self.number()} for e in w)"
        if roll < 0.71:
            return f"sum(e for e in w if e > {self.number()})"
        if roll < 0.73:
            return f"(z := {self.value(inner)})"
        return f"({self.value(inner)} {self.random.choice('+-*')} {self.value(inner)})"

    def test(self, depth: int = 0) -> str:
        inner, roll = depth + 1, self.random.random()
        if roll < 0.15:
            return "flag"
        if roll < 0.3 and depth < 2:
            return f"({self.test(inner)} {self.random.choice(('and', 'or'))} {self.test(inner)})"
        if roll < 0.36:
            return f"not {self.test(inner)}"
        if roll < 0.42:
            return f"any(e > {self.number()} for e in w)"
        if roll < 0.46:
            return f"({self.number()} > 1 and (z := {self.number()}) > 0)"
        if roll < 0.5:
            return f"{self.number()} < {self.number()} <= {self.number()}"
        return f"{self.value(inner)} {self.random.choice(('<', '>', '>=', '<='))} {self.value(inner)}"

    def simple(self, depth: int) -> None:
        roll = self.random.random()
        if roll < 0.6:
            self.line(depth, f"{self.random.choice(NAMES)} = clip({self.value()})")
        elif roll < 0.7:
            self.line(depth, f"late = clip({self.value()})")
        elif roll < 0.8:
            self.line(depth, f"{self.random.choice(NAMES)} += {self.random.choice(('1', '0.25', 't', 'w[1]'))}")
        elif roll < 0.88:
            self.line(depth, f"out.append(clip({self.value()}))")
        elif roll < 0.94:
            one, other = self.random.sample(NAMES, 2)
            self.line(depth, f"{one}, {other} = {other}, clip({self.value()})")
        else:
            self.line(depth, "k += 1")

    def statement(self, depth: int, loop: bool, budget: int) -> None:
        roll = self.random.random()
        if budget <= 0 or roll < 0.38:
            self.simple(depth)
        elif roll < 0.6:
            self.branch(depth, loop, budget - 1)
        elif roll < 0.7:
            self.for_loop(depth, loop, budget - 1)
        elif roll < 0.78:
            self.while_loop(depth, loop, budget - 1)
        elif roll < 0.83 and loop:
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, self.random.choice(("break", "continue")))
        elif roll < 0.88:
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, f"return {self.value()}, {self.value()}")
        elif roll < 0.93 and depth < 3:
            self.function(depth)
        elif roll < 0.96:
            self.line(depth, "try:")
            self.block(depth + 1, loop, budget - 1)
            self.line(depth, "finally:")
            self.simple(depth + 1)
        elif roll < 0.98:
            self.line(depth, "match k:")
            for case in ("case 1 | 3:", "case kk if kk > 1:"):
                self.line(depth + 1, case)
                self.block(depth + 2, loop, budget - 1)
        else:
            self.simple(depth)

    def for_loop(self, depth: int, loop: bool, budget: int) -> None:
        name = f"i{self.fresh()}"
        iterable = self.random.choice(("range(3)", "w", "range(k % 4)", "(x, y)", "enumerate(w)"))
        self.line(depth, f"for {'_, ' * iterable.startswith('enumerate')}{name} in {iterable}:")
        self.line(depth + 1, f"t = clip(t + {name})")
        self.block(depth + 1, True, budget)
        self.loop_else(depth, loop, budget)

    def while_loop(self, depth: int, loop: bool, budget: int) -> None:
        name = f"c{self.fresh()}"
        test = f"{name} < {self.random.choice('234')} and {self.test()}" if self.random.random() < 0.7 else "True"
        self.line(depth, f"{name} = 0")
        self.line(depth, f"while {test}:")
        self.line(depth + 1, f"{name} += 1")
        self.line(depth + 1, f"if {name} > 4:")
        self.line(depth + 2, "break")
        self.block(depth + 1, True, budget)
        self.loop_else(depth, loop, budget)

    def loop_else(self, depth: int, loop: bool, budget: int) -> None:
        if self.random.random() < 0.25:
            self.line(depth, "else:")
            self.block(depth + 1, loop, budget)

    def function(self, depth: int) -> None:
        name = f"g{self.fresh()}"
        self.line(depth, f"def {name}():")
        if self.random.random() < 0.4:
            rebound = self.random.choice(NAMES)
            self.line(depth + 1, f"nonlocal {rebound}")
            self.line(depth + 1, f"{rebound} = clip({rebound} + 1)")
        self.line(depth + 1, f"return clip({self.random.choice((*NAMES, 'late'))})")
        if depth == 1:
            self.functions.append(name)


def clip(value):
    return np.clip(value, -50.0, 50.0)


def mixed_program(seed: int):
    """Return a random function of two scalars, a number, a bool and an array of three, and its text."""
    writer = _Writer(seed)
    writer.line(0, "def program(x, y, p, flag, w):")
    writer.line(1, "zero = x * 0; two = zero + 2; half = zero + 0.5; three = zero + 3; less = zero - 1.5")
    writer.line(1, "q = zero + p; t = zero + 0; z = zero + 1; k = 1; out = []")
    writer.line(1, "if k > 1: late = 0.0")
    for _ in range(writer.random.randint(3, 5)):
        writer.statement(1, False, 3)
    if writer.random.random() < 0.3:
        writer.line(1, "return late, t")
    else:
        writer.line(1, "s = 0.0")
        writer.line(1, "for o in out:")
        writer.line(2, "s = s * 0.5 + o")
        writer.line(1, "return x + y * 2 + p * 3 + q * 5 + t * 7 + s, z")
    text = "\n".join(writer.lines) + "\n"
    name = f"<mixed program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, object] = {"clip": clip}
    exec(compile(text, name, "exec"), namespace)
    return namespace["program"], text
