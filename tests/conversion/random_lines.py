"""Lines of random programs: what all writers of blocks and branches do alike."""

from __future__ import annotations

import random


class Lines:
    """Writes statements; who inherits says what a ``statement`` and a ``test`` are."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counter = 0

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def fresh(self) -> int:
        self.counter += 1
        return self.counter

    def test(self) -> str:
        raise NotImplementedError

    def statement(self, depth: int, loop: bool, budget: int) -> None:
        raise NotImplementedError

    def block(self, depth: int, loop: bool, budget: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, loop, budget)

    def branch(self, depth: int, loop: bool, budget: int) -> None:
        self.line(depth, f"if {self.test()}:")
        self.block(depth + 1, loop, budget)
        if self.random.random() < 0.3:
            self.line(depth, f"elif {self.test()}:")
            self.block(depth + 1, loop, budget)
        if self.random.random() < 0.5:
            self.line(depth, "else:")
            self.block(depth + 1, loop, budget)
