"""Random programs with nested loops, branches, jumps, structures and lists, the same for the same seed."""

from __future__ import annotations

import linecache

from random_lines import Lines

NAMES = ("a", "b", "c", "d")
PARTS = ("p[0]", "p[1]", 'e["k"]', 'e["m"][0]', 'e["m"][1]', "len(out)")


class _Writer(Lines):
    def __init__(self, seed: int, structures: bool) -> None:
        super().__init__(seed)
        self.structures = structures

    def value(self) -> str:
        choice = self.random.random()
        if choice < 0.5:
            return self.random.choice(NAMES)
        if self.structures and choice < 0.6:
            return self.random.choice(PARTS)
        if choice < 0.7:
            return str(self.random.randint(-3, 5))
        sign = self.random.choice(("+", "-", "*"))
        return f"({self.value()} {sign} {self.value()}) % 97"

    def test(self) -> str:
        choice = self.random.random()
        if choice < 0.15:
            return f"not {self.test()}" if self.random.random() < 0.5 else f"({self.test()})"
        if choice < 0.35:
            return f"({self.test()} {self.random.choice(('and', 'or'))} {self.test()})"
        if choice < 0.45:
            return f"{self.value()} < {self.value()} <= {self.value()}"
        return f"{self.value()} {self.random.choice(('<', '>', '==', '!=', '<='))} {self.value()}"

    def statement(self, depth: int, loop: bool, budget: int) -> None:
        choice = self.random.random()
        if budget <= 0 or choice < 0.4:
            self.simple(depth)
        elif choice < 0.62:
            self.branch(depth, loop, budget - 1)
        elif choice < 0.74:
            self.for_loop(depth, budget - 1)
        elif choice < 0.84:
            self.while_loop(depth, budget - 1)
        elif loop and choice < 0.95:
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, self.random.choice(("break", "continue", f"return {self.value()}, 1")))
        else:
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, f"return {self.value()}, {self.random.randint(2, 9)}")

    def simple(self, depth: int) -> None:
        if self.structures and self.random.random() < 0.3:
            self.change(depth)
            return
        name = self.random.choice(NAMES)
        choice = self.random.random()
        if choice < 0.5:
            self.line(depth, f"{name} = {self.value()}")
        elif choice < 0.75:
            self.line(depth, f"{name} {self.random.choice(('+=', '-='))} {self.value()}")
        elif choice < 0.9:
            # Never `d, d = b, a`: some releases of CPython compile it wrongly.
            other = self.random.choice([one for one in NAMES if one != name])
            self.line(depth, f"{name}, {other} = {self.value()}, {self.value()}")
        else:
            self.line(depth, f"{name} = {self.value()} if {self.test()} else {self.value()}")

    def change(self, depth: int) -> None:
        """Change a tuple, a dict with a list in it, or the length of a list."""
        choice = self.random.random()
        if choice < 0.25:
            self.line(depth, f"p = (p[1], {self.value()})")
        elif choice < 0.45:
            self.line(depth, f"""e["k"] {self.random.choice(("=", "+=", "-="))} {self.value()}""")
        elif choice < 0.6:
            self.line(depth, f"""e["m"][{self.random.randint(0, 1)}] = {self.value()}""")
        elif choice < 0.85:
            self.line(depth, f"out.append({self.value()})")
        else:
            self.line(depth, "if len(out) > 1:")
            self.line(depth + 1, f"{self.random.choice(NAMES)} = out.pop()")

    def for_loop(self, depth: int, budget: int) -> None:
        self.counter += 1
        bounds = self.random.choice(("abs(a) % 4", "1, abs(b) % 5", "abs(c) % 5, -1, -2", "3"))
        self.line(depth, f"for i{self.counter} in range({bounds}):")
        self.simple(depth + 1)
        self.line(depth + 1, f"{self.random.choice(NAMES)} += i{self.counter}")
        self.block(depth + 1, True, budget)
        self.loop_else(depth, budget)

    def while_loop(self, depth: int, budget: int) -> None:
        self.counter += 1
        counter = f"k{self.counter}"
        self.line(depth, f"{counter} = 0")
        self.line(depth, f"while {counter} < 4 and {self.test()}:")
        self.line(depth + 1, f"{counter} += 1")
        self.block(depth + 1, True, budget)
        self.loop_else(depth, budget)

    def loop_else(self, depth: int, budget: int) -> None:
        if self.random.random() < 0.2:
            self.line(depth, "else:")
            self.block(depth + 1, False, budget)


def random_program(seed: int):
    """Return a random function of three integers, and its text; every other one has structures and lists."""
    writer = _Writer(seed, structures=seed % 2 == 1)
    writer.line(0, "def program(a, b, c):")
    writer.line(1, "d = 1")
    if writer.structures:
        writer.line(1, "p = (1, 2)")
        writer.line(1, """e = {"k": 0, "m": [1, 2]}""")
        writer.line(1, "out = []")
    for _ in range(4):
        writer.statement(1, False, 3)
    if writer.structures:
        writer.line(1, "for x in out:")
        writer.line(2, "a = a * 2 % 97 + x")
        writer.line(1, f"a += {' + '.join(PARTS)}")
    writer.line(1, "return a + b * 3 + c * 5 + d * 7, 0")
    text = "\n".join(writer.lines) + "\n"
    name = f"<random program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, object] = {}
    exec(compile(text, name, "exec"), namespace)
    return namespace["program"], text
