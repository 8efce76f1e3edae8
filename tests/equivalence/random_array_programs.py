"""Random programs that write to arrays: through views, aliases, containers and helpers, in loops and branches.

A writer runs each line that it writes, once, on arrays of its own, see ``random_array_expressions``.
"""

from __future__ import annotations

import random
import re
import warnings
from typing import Any

import numpy as np
from random_array_expressions import Expressions

#: what programs may call beside NumPy
HELPERS = """
def bump(q, v):
    q += v
def put(q, j, v):
    q[j] = v
def part(q):
    return q[1:]
def clamp(q):
    q[q > 3] = 3
    return q
def fresh(q):
    r = q * 2
    r[0] = 1
    return r
def fill(q, n):
    for j in range(n):
        q[j] = j
def maybe(q, v):
    if v > 1:
        q[0] = v
    return q
class Box:
    def __init__(self, u, v):
        self.u, self.v, self.n = u, v, 0
    def step(self):
        self.u[1:] += self.v[:-1]
        self.n += 1
    def swap(self):
        self.u, self.v = self.v, self.u
"""
HEAD = "def f(a, b, m, i, c, flags, x, n):\n"

#: how the second array lies to the first, in memory or otherwise
LAYOUTS = (*["apart"] * 8, "same", "view", "strided", "reversed", "swapped", "float32", "read-only", "empty", "overlap")

#: statements that write to an array {a}, of its elements {v} or a number {k}
IN_PLACE = (
    "np.add({a}, {v}, out={a})", "np.multiply({a}, 0.5, out={a}, where={a} > 1)", "np.copyto({a}, {v})",
    "np.copyto({a}, {k}, where={a} > x)", "np.put({a}, [0, 1, 1], [{k}, 2, 3])", "np.place({a}, {a} > 2, [1, {k}])",
    "np.putmask({a}, {a} > 2, {v})", "{a}.sort()", "{a}.fill({k})", "{a}.partition(0)",
    "np.add.at({a}, [0, 0, 1], {k})", "np.subtract.at({a}, np.array([1, 1]), {k})",
    "np.cumsum({a}.copy(), out={a})", "np.clip({a}, 0, {k}, out={a})", "{a}[...] = {v}", "np.negative({a}, {a})",
    "np.maximum({a}, {v}, {a})", "np.sqrt(abs({a}), out={a})", "{a}.put([0], {k})", "{a}[:] = {a}[::-1]",
    "np.minimum({a}, 5, out={a}[...])",
)  # fmt: skip
OF_VECTORS = (
    "{a}[1:] = {a}[:-1]", "{a}[:-1] += {a}[1:]", "{a}[0], {a}[1] = {a}[1], {a}[0]", "{a}[[1, 0]] = {a}[[0, 1]]",
    "np.cumsum({a}, out={a})", "{a}[::-1].sort()", "for r in {a}: r += 1", "np.add({a}[1:], {a}[:-1], out={a}[1:])",
    "{a}[{a}.argmax()] = {k}", "t = ({a}, 1); t[0][0] += {k}",
)  # fmt: skip
OF_MATRICES = (
    "np.fill_diagonal({a}, {k})", "{a}[0], {a}[1] = {a}[1], {a}[0]", "{a}[[0, 1]] = {a}[[1, 0]]",
    "for r in {a}: r += {k}", "for r in {a}: r[0] = {k}", "for j, r in enumerate({a}): r[0] = j",
    "{a}.sort(axis=0)", "{a}.T[0] = {k}", "np.sum({a}, axis=0, out={a}[0])", "for r, s in zip({a}, a): r *= s",
    "{a}[1:] += {a}[:-1]", "{a}[1] += {a}[0]",
)  # fmt: skip
CALLS = (
    "bump({a}, {k})", "put({a}, {i}, {k})", "bump({a}[{s}], {k})", "put({a}.T, 0, {k})", "fill({a}, n - 1)",
    "bump(part({a}), {k})", "maybe({a}, {k})", "clamp({a})[0] = {k}",
)  # fmt: skip
#: what holds arrays: its name says of what type it is
CONTAINERS = (
    "l{n} = [{a}, {b}]", "d{n} = {{'p': {a}, 'q': {b}}}", "t{n} = ({a}, {b})", "o{n} = Box({a}, {b})",
    "l{n} = [{a}, {b}.copy(), {a}[1:]]",
)  # fmt: skip
#: statements that write to what a container holds
OF_PARTS = (
    "{p}[0] = {k}", "{p}[1:] += {k}", "{p} += {k}", "{new} = {p}", "{p}[...] = {q}", "bump({p}, {k})",
    "{p}[{s}] = {k}",
)  # fmt: skip
_SETTING = ("{p}, {q} = {q}, {p}", "{p} = {a}", "{p} = {p} * 0.5")
#: statements that change a container
OF_CHANGING = {
    "t": (),
    "d": _SETTING,
    "l": (*_SETTING, "for z in {c}: z[0] += 1", "{c}.append({a}.copy())"),
    "o": (*_SETTING, "{c}.step()", "{c}.swap()", "{c}.n += 1"),
}


def arguments(layout: str, count: Any) -> tuple[Any, ...]:
    """Return new arguments; a number of a NumPy type is one that a trace does not know."""
    a = np.arange(6.0) + 0.25
    b = {
        "apart": lambda: np.arange(6.0)[::-1].copy(),
        "same": lambda: a,
        "view": lambda: a[:],
        "overlap": lambda: np.arange(8.0)[2:],
        "strided": lambda: np.arange(12.0)[::2],
        "reversed": lambda: np.arange(6.0)[::-1],
        "swapped": lambda: np.arange(6.0).astype(">f8"),
        "float32": lambda: np.arange(6.0, dtype=np.float32),
        "read-only": lambda: np.arange(6.0),
        "empty": lambda: np.zeros(0),
    }[layout]()
    if layout == "overlap":
        a = b.base[:6]
    if layout == "read-only":
        b.flags.writeable = False
    m = np.arange(12.0).reshape(3, 4) + 0.5
    if layout == "strided":
        m = (np.arange(12.0).reshape(4, 3) + 0.5).T
    flags = np.array([1, 0, 0, 1, 0, 1], bool)
    return a, b, m, np.arange(5), np.arange(3) * (1 + 2j), flags, np.float64(1.5), count


class Writer(Expressions):
    """Writes the body of one program.

    Parameters
    ----------
    choices : random.Random
        What decides.
    layout : str
        One of ``LAYOUTS``.
    """

    def __init__(self, choices: random.Random, layout: str) -> None:
        world: dict[str, Any] = {"np": np}
        exec(HELPERS, world)
        names = HEAD[HEAD.index("(") + 1 : HEAD.index(")")].split(", ")
        world.update(zip(names, arguments(layout, 3), strict=True))
        super().__init__(choices, world)
        self.lines: list[str] = []
        #: what all returns give, if there is one in the middle
        self.early = ""
        self.loops = 0

    def run(self, text: str) -> bool:
        """Run a statement; return whether it did no harm, without which it is not written."""
        before = set(self.world)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(text, self.world)
                if all([_is_tame(value) for value in self.world.values()]):
                    return True
            except Exception as error:
                if self.chance(0.03) and not isinstance(error, SyntaxError):
                    return True
        for name in [one for one in self.world if one not in before]:
            del self.world[name]
        return False

    def say(self, text: str) -> bool:
        if self.run(text):
            self.lines += ["    " * self.depth + line for line in text.splitlines()]
            return True
        return False

    def simple(self) -> None:
        """Write one statement without a block."""
        for _ in range(5):
            kinds = (self.store, self.store, self.augment, self.augment, self.name_view, self.name_new, self.in_place,
                     self.in_place, self.helper, self.container, self.rebind)  # fmt: skip
            if self.say(self.choices.choice(kinds)()):
                return
        self.say("a[0] += 1")

    def target(self) -> str:
        """Return what can be written to, an array's part."""
        name = self.array(kinds="fic")
        if self.chance(0.15):
            return f"{name}.T[0]"
        if self.chance(0.1):
            return f"{name}.flat[{self.one('0', '1:3', '-1', *self.counters)}]"
        if self.chance(0.12) and self.world[name].ndim == 2:
            return f"{name}[{self.position(self.world[name].shape[0])}][{self.one('1', '1:', '::-1', '0')}]"
        if self.chance(0.08):
            return f"{name}[1:][{self.one('0', ':2', '::-1')}]"
        return f"{name}[{self.index(name)}]"

    def shape_of(self, text: str) -> tuple[int, ...]:
        try:
            return np.shape(self.value_of(text))
        except Exception:
            return ()

    def store(self) -> str:
        target = self.target()
        if self.chance(0.08):
            other = self.target()
            return f"{target}, {other} = {other}, {target}"
        if self.chance(0.05):
            return f"{target} = {self.target()} = {self.scalar()}"
        # `x.flat[1:] = x` takes what it has just written
        return f"{target} = {self.scalar() if '.flat' in target else self.like(self.shape_of(target))}"

    def augment(self) -> str:
        target = self.target() if self.chance(0.6) else self.array(kinds="fic")
        sign = self.one("+", "+", "-", "*", "/")
        kind = self.world[re.match(r"\w+(\.[uvw]\b|\['\w'\])?", target)[0]].dtype.kind
        if kind in "iu":  # where a nan is assigned to one element NumPy raises
            return f"{target} {self.one('+', '-', '*', '//', '%', '|', '&', '<<')}= {self.one('1', '2', '3')}"
        return f"{target} {sign}= {self.like(self.shape_of(target))}"

    def name_view(self) -> str:
        return f"{self.new()} = {self.view(self.array(kinds='fic'))}"

    def name_new(self) -> str:
        name = self.new()
        return f"{name} = {self.made_new()}".format(name)

    def rebind(self) -> str:
        one, other = self.array(), self.array()
        mine, its = self.world[one], self.world[other]
        # where the run decides which array it is, its dtype is that of both
        if one != other and (mine.shape, mine.dtype) == (its.shape, its.dtype) and self.depth < 3 and self.chance(0.3):
            return f"{one}, {other} = {other}, {one}"
        return f"{self.new()} = {one}"

    def in_place(self) -> str:
        name = self.array(kinds="f")
        shape = self.world[name].shape
        forms = list(IN_PLACE)
        if shape[0] > 1:
            forms += OF_VECTORS if len(shape) == 1 else OF_MATRICES if len(shape) == 2 else ()
        return self.choices.choice(forms).format(a=name, v=self.like(shape), k=self.scalar())

    def helper(self) -> str:
        name = self.array(kinds="f")
        if self.chance(0.3):
            return f"{self.new()} = {self.one('part', 'clamp', 'fresh')}({name})"
        where, part = self.position(len(self.world[name])), self.slice()
        return self.choices.choice(CALLS).format(a=name, k=self.scalar(), i=where, s=part)

    def container(self) -> str:
        held = [name for name, value in self.world.items() if name[0] in "ldto" and name[1:].isdigit()]
        if not held or self.chance(0.3):
            one, other = self.array(kinds="f"), self.array(kinds="f")
            self.made += 1
            return self.choices.choice(CONTAINERS).format(n=self.made, a=one, b=other)
        name = self.choices.choice(held)
        first, second = {"l": ("[0]", "[1]"), "d": ("['p']", "['q']"), "t": ("[0]", "[1]"), "o": (".u", ".v")}[name[0]]
        forms = [one for one in (*OF_PARTS, *OF_CHANGING[name[0]]) if self.depth == 1 or one not in _SETTING]
        first, second = self.choices.sample([name + first, name + second], 2)
        known = {"p": first, "q": second, "k": self.scalar(), "s": self.slice(), "c": name, "a": self.array(kinds="f")}
        return self.choices.choice(forms).format(**known, new=self.new())

    def block(self, budget: int, jumps: bool) -> None:
        """Write a block; names that it makes are forgotten."""
        self.depth += 1
        before, written = set(self.world), len(self.lines)
        for _ in range(self.choices.randrange(1, 4)):
            self.statement(budget, jumps)
        if len(self.lines) == written:
            self.lines.append("    " * self.depth + "pass")
        for name in [one for one in self.world if one not in before]:
            del self.world[name]
        self.depth -= 1

    def statement(self, budget: int, jumps: bool) -> None:
        kind = self.choices.random()
        if budget <= 0 or kind < 0.5:
            self.simple()
        elif kind < 0.66:
            self.branch(budget - 1, jumps)
        elif kind < 0.84:
            self.for_loop(budget - 1)
        elif kind < 0.92:
            self.while_loop(budget - 1)
        elif jumps:
            self.lines.append("    " * self.depth + f"if {self.test()}: {self.one('break', 'continue', 'break')}")
        elif self.chance(0.5):
            self.early = "a * 2, m.sum()"
            self.lines.append("    " * self.depth + f"if {self.test()}: return {self.early}")
        else:
            self.simple()

    def branch(self, budget: int, jumps: bool) -> None:
        self.lines.append("    " * self.depth + f"if {self.test()}:")
        self.block(budget, jumps)
        if self.chance(0.4):
            self.lines.append("    " * self.depth + "else:")
            self.block(budget, jumps)

    def for_loop(self, budget: int) -> None:
        self.loops += 1
        k = f"k{self.loops}"
        rows = [name for name, value in self.world.items() if isinstance(value, np.ndarray) and value.ndim == 2]
        if rows and self.chance(0.15):
            name, row = self.choices.choice(rows), f"r{self.loops}"
            self.lines.append("    " * self.depth + f"for {row} in {name}:")
            self.world[row] = self.world[name][0] if len(self.world[name]) else np.zeros(1)
            self.block(budget, True)
            return
        header = self.one("n", "n", "n", "1, n", "n - 1, -1, -1", "3", "0, n, 2", "len(a) - 3")
        self.lines.append("    " * self.depth + f"for {k} in range({header}):")
        self.counters.append(k)
        self.world[k] = 1
        self.block(budget, True)
        self.counters.remove(k)
        self.world.pop(k, None)

    def while_loop(self, budget: int) -> None:
        self.loops += 1
        k = f"w{self.loops}"
        margin = "    " * self.depth
        start = self.one("0", "0", "n - n")
        self.lines += [f"{margin}{k} = {start}", f"{margin}while {k} < n and {self.test()}:" if self.chance(0.5) else
                       f"{margin}while {k} < n:", f"{margin}    {k} += 1"]  # fmt: skip
        self.counters.append(k)
        self.world[k] = 1
        self.block(budget, True)
        self.counters.remove(k)
        self.world.pop(k, None)

    def results(self) -> str:
        """Return what a program returns."""
        if self.early:
            return self.early
        names = [name for name, value in self.world.items() if isinstance(value, np.ndarray) and name not in "ab"]
        some = [self.choices.choice(names) for _ in range(min(2, len(names)))]
        return ", ".join([f"{name} * 1" for name in some] + [self.one("x", "a.sum()", "a", "m", "b")])


def _is_tame(value: Any) -> bool:
    """Return whether numbers are small enough for loops to repeat what made them; they are, afterwards."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fic" or not value.size:
        return True
    if abs(value).max() < 1e3:
        return True
    if value.flags.writeable:
        value[...] = 1
    return False


def program(choices: random.Random) -> tuple[str, str]:
    """Return the text of a random program, and how its arguments lie."""
    layout = choices.choice(LAYOUTS)
    writer = Writer(choices, layout)
    for _ in range(choices.randrange(1, 5)):
        writer.statement(2, False)
    writer.lines.append("    return " + writer.results())
    return HELPERS + HEAD + "\n".join(writer.lines) + "\n", layout
