"""Random programs of Python's constructs: what people write between the lines that compute.

To a world come nested functions with variables of their own, generators, comprehensions, ``try`` with all its parts,
``with``, ``match``, loops with ``else``, starred targets, walruses, f-strings, lists and dicts of numbers, dataclasses
and operators of classes. They stand in loops and branches on values of arrays as well as in straight lines.
"""

from __future__ import annotations

import random

from random_array_programs import HEAD, HELPERS
from random_construct_lines import BLOCKS, FUNCTIONS, LINES, MATCHES
from random_state_programs import GLOBALS, VS, WORLD, StatefulWriter

#: what programs may use beside a world
TOOLS = """
import collections, contextlib, dataclasses, functools, itertools, operator
@dataclasses.dataclass
class Point:
    x: float
    y: object = 0.0
    def far(self):
        return (self.x ** 2 + np.max(self.y) ** 2) ** 0.5
    def moved(self, d):
        return dataclasses.replace(self, x=self.x + d)
@dataclasses.dataclass(frozen=True)
class Pair:
    one: object
    two: object = 1
    def __add__(self, other):
        return Pair(self.one + other.one, self.two + other.two)
    def __mul__(self, k):
        return Pair(self.one * k, self.two * k)
    def __lt__(self, other):
        return self.two < other.two
Named = collections.namedtuple('Named', 'u v')
class Stack:
    deepest = 0
    def __init__(self, *items):
        self.items = [*items]
    def __repr__(self):
        return f'Stack{self.items}'
    def __len__(self):
        return len(self.items)
    def __bool__(self):
        return bool(self.items)
    def __getitem__(self, k):
        return self.items[k]
    def __setitem__(self, k, v):
        self.items[k] = v
    def __contains__(self, v):
        return v in self.items
    def __iter__(self):
        yield from self.items
    def __iadd__(self, v):
        self.items.append(v)
        type(self).deepest = max(self.deepest, len(self.items))
        return self
    def __enter__(self):
        self.items.append('in')
        return self
    def __exit__(self, kind, *rest):
        self.items.append('out' if kind is None else kind.__name__)
        return kind is KeyError
class Low(ValueError):
    def __init__(self, v):
        super().__init__(f'low: {v:.2f}')
        self.v = v
@contextlib.contextmanager
def noted(v):
    LOG.append(('+', v))
    try:
        yield v * 2
    finally:
        LOG.append(('-', v))
def logged(g):
    @functools.wraps(g)
    def inner(*some, **named):
        LOG.append(g.__name__)
        return g(*some, **named)
    return inner
@logged
def twice(v, *, by=2):
    return v * by
def up(u, k=1):
    for z in u:
        yield z + k
def low(v, least=0):
    if v < least:
        raise Low(v)
    return v
def halves(v, *rest, k=0, **named):
    return v * 0.5, k + len(rest) + len(named)
st = Stack(1, 2)
PT, PR, N = Point(1.0), Pair(1, 2), Named(1.0, 2)
T = (1, (2.5, 3))
state_of_world = state
def state():
    return state_of_world(), st, Stack.deepest, PT, PR, N, T
"""
NAMES = GLOBALS + "    global st, PT, PR, N, T\n"


class ConstructWriter(StatefulWriter):
    """Writes a program of Python's constructs.

    Parameters
    ----------
    choices : random.Random
        What decides.
    layout : str
        How the second argument lies to the first.
    world : str
        The text of the world.
    """

    def __init__(self, choices: random.Random, layout: str, world: str) -> None:
        super().__init__(choices, layout, world)
        self.functions: list[str] = []
        for line in ("p1 = 2", "p2 = 0.5", "q1 = [1, 2.5]", "q2 = []"):
            self.say(line)

    def known(self) -> dict[str, str]:
        """Return what the places of a line may stand for."""
        number = super().scalar()
        if self.functions and self.chance(0.35):
            number = f"{self.choices.choice(self.functions)}({number})"
        # a name of the program's own is a number that all forms may use
        p, q = self.one("p1", "p2"), self.one("q1", "q2")
        number = self.one(number, number, number, "p1", "p2", f"len({q})", "C", "S")
        return {
            "k": number, "p": p, "q": q, "a": self.array(kinds="f"), "u": self.array(kinds="f"), "t": self.test(),
            "new": self.new(),
        }  # fmt: skip

    def test(self) -> str:
        forms = (
            "q1",
            "p1 > 1",
            "p2 < x",
            "len(q2) > 1",
            "p1 is None",
            "p1 == 2",
            "not q2",
            "st",
            "PT.x > x",
            "T[0] == 1",
        )
        return self.choices.choice(forms) if self.chance(0.35) else super().test()

    def one_of(self, lines: list[str]) -> bool:
        """Write one of these lines, as a rule; return whether it was written."""
        forms = (self.choices.choice(lines).format(**self.known()) for _ in range(4))
        return self.chance(0.6) and any(map(self.say, forms))

    def simple(self) -> None:
        if not self.one_of(LINES):
            super().simple()

    def statement(self, budget: int, jumps: bool) -> None:
        if budget > 0 and self.chance(0.4):
            self.choices.choice((self.parts, self.parts, self.match, self.function, self.function))(budget, jumps)
        else:
            super().statement(budget, jumps)

    def head(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def parts(self, budget: int, jumps: bool) -> None:
        """Write a statement of several blocks."""
        loops = jumps
        for head in self.choices.choice(BLOCKS).format(**self.known()).split("|"):
            if not head:
                return
            loops = jumps or head.startswith("for ")
            self.head(head)
            if head.endswith(":"):
                self.block(budget - 1, loops)

    def match(self, budget: int, jumps: bool) -> None:
        head, *cases = self.choices.choice(MATCHES)
        known = self.known()
        self.head(head.format(**known))
        self.depth += 1
        for case in cases:
            self.head(case.format(**known))
            self.block(budget - 1, jumps)
        self.depth -= 1

    def function(self, budget: int, jumps: bool) -> None:
        """Write a function of the program's own; its variables are the world's while the program is written."""
        self.write_function(self.choices.choice(FUNCTIONS))

    def write_function(self, form: str) -> None:
        self.made += 1
        name = f"g{self.made}"
        text = form.format(**self.known(), g=name)
        if self.run(text.replace("nonlocal", "global") + f"\n{name}(1.5)"):
            self.lines += ["    " * self.depth + line for line in text.splitlines()]
            if self.depth == 1:
                self.functions.append(name)
            else:
                self.say(f"p1 = {name}({super().scalar()})")

    def results(self) -> str:
        return super().results() + (", p1, p2, q1, q2" if not self.early else "")


def program(choices: random.Random) -> tuple[str, str]:
    """Return the text of a random program of constructs, and how its arguments lie."""
    layout = choices.choice(("apart", "apart", "apart", "same", "view"))
    world = WORLD.format(V=choices.choice(VS), v=choices.choice(("W", "np.ones(6)"))) + TOOLS
    writer = ConstructWriter(choices, layout, world)
    for _ in range(choices.randrange(2, 6)):
        writer.statement(2, False)
    body = "\n".join(writer.lines) + "\n    return " + writer.results() + "\n"
    return HELPERS + world + HEAD + NAMES + body + writer.changes(), layout
