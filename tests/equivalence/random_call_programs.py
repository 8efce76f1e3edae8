"""Random programs of calls: what functions are given by name and by place, how they are called, and what they call.

The other machines call a program in one way, with what it has by place. Here it has any signature, is a method or is
wrapped, is called in several ways in turn, with views of its other arguments by name, and with arguments and a world
that change between the calls. Inside, it calls helpers in as many ways.
"""

from __future__ import annotations

import random
from typing import Any

from random_array_programs import HEAD, HELPERS, LAYOUTS
from random_call_lines import (
    CALLED,
    CHANGED,
    CHANGES,
    EXTRAS,
    LINES,
    NAMES,
    OF_CLASS,
    OF_MORE,
    OF_NOTED,
    OF_REST,
    OF_SEEN,
    OF_SELF,
)
from random_construct_programs import NAMES as OF_CONSTRUCTS
from random_construct_programs import TOOLS, ConstructWriter
from random_object_programs import ObjectWriter
from random_object_world import NAMES as OF_OBJECTS
from random_object_world import OBJECTS
from random_state_programs import GLOBALS, VS, WORLD, StatefulWriter

PARAMETERS = HEAD[HEAD.index("(") + 1 : HEAD.index(")")].split(", ")
#: how many calls a program has: the world changes before two of them
CALLS = 5
CALLING = f"""
CALLS = {CALLS}
GOT = None
def call(f, own, k):
    global GOT
    GOT = called(f, own, k)
    return GOT
def called(f, own, k):
"""
STATE = """
state_before_calls = state
def state():
    return (state_before_calls(), CA, Caller.made, filed.__defaults__, filed.__kwdefaults__, GIVEN,
            f_of_world.__defaults__, f_of_world.__kwdefaults__)
"""
#: around the call of a program, {call}
WAYS = (
    *["return {call}"] * 6,
    "{call}\nreturn {call}",
    "return [{call} for _ in range(2)][-1]",
    "return in_thread(lambda: {call})",
    "got = []\nsorted([1, 0], key=lambda z: got.append({call}) or z)\nreturn got[-1]",
    "return next(map(lambda _: {call}, [0]))",
    "return max([{call}], key=id)",
)
#: what is called in the place of a program
CALLERS = (
    *["{f}"] * 8,
    "around({f})",
    "functools.partial({f})",
    "functools.partial(in_thread, {f})",
    "functools.partial(outer, {f})",
    "functools.partial(passing, {f})",
    "functools.partial(beside, {f})",
)
AROUND = """
def in_thread(g, *some, **named):
    got = []
    def run():
        try:
            got.append(g(*some, **named))
        except Exception as error:
            got.append(error)
    one = threading.Thread(target=run)
    one.start()
    one.join()
    if isinstance(got[0], Exception):
        raise got[0]
    return got[0]
def beside(g, *some, **named):
    return [*map(lambda _: g(*some, **named), range(1))][0]
"""
#: what becomes of the arguments between two calls
OTHERS = (
    "own[6] = 2", "own[6] = 0.5", "own[6] = np.float32(1.5)", "own[6] = np.array(1.5)", "own[6] = True",
    "own[6] = np.float64(0.25)", "own[7] = 3", "own[7] = np.int64(2)", "own[7] = np.int32(3)", "own[7] = 0",
    "own[7] = np.int64(4)", "own[0] = own[0].astype(np.float32)", "own[0] = own[0][1:]", "own[0] = own[0].copy()",
    "own[0] = np.concatenate([own[0], own[0]])", "own[1] = own[0]", "own[1] = own[0][::-1]", "own[1] = own[0][1:]",
    "own[2] = own[2].T.copy().T", "own[2] = own[2][:, ::-1]", "own[2] = own[2].astype(np.float32)", "own[0] = W",
    "own[0] = own[2][0]", "own[1] = W[::-1]", "own[3] = own[3].astype(np.int32)", "own[0] = np.arange(6)",
    "own[6] = None", "own[0], own[1] = own[1], own[0]", "own[6] = own[0][0]", "own[6] = np.ones(1)",
    "own[0] = own[0].tolist()",
    *["if isinstance(GOT, tuple) and np.shape(GOT[0]) == np.shape(own[0]): own[0] = GOT[0]"] * 4,
    "if isinstance(GOT, tuple) and np.ndim(GOT[0]) == 0: own[6] = GOT[0]",
)  # fmt: skip


class Signature:
    """The parameters of a program, and calls that suit them.

    Parameters
    ----------
    choices : random.Random
        What decides.
    """

    def __init__(self, choices: random.Random) -> None:
        self.choices = choices
        self.bound = choices.choice(("", "", "", "method", "classmethod", "staticmethod"))
        some = choices.sample([*EXTRAS], choices.randrange(0, 4))
        named = len(PARAMETERS)
        #: how many parameters have places, are without names, and what "*rest" holds
        self.places = choices.choice((named, named, named, 0, choices.randrange(named)))
        self.nameless = choices.choice((0, 0, 0, choices.randrange(self.places + 1)))
        self.rest = PARAMETERS[self.places :][: choices.choice((0, 2, 5, 9))] if choices.random() < 0.5 else []
        self.has_rest = bool(self.rest) or choices.random() < 0.1
        self.only = PARAMETERS[self.places + len(self.rest) :] + some
        self.more: list[str] = []
        self.has_more = choices.random() < 0.5
        if self.has_more:
            self.more = [one for one in self.only if choices.random() < 0.5]
            self.only = [one for one in self.only if one not in self.more]
        self.extras = some
        self.defaults = choices.choice(({}, {}, {"seen": "[]"}, {"noted_": "{'n': 0}"}, {"x": "1.5", "seen": "[]"}))

    def place(self, name: str) -> str:
        """Return what a parameter given by name is called in the program."""
        return f"more[{name!r}]" if name in self.more else name

    def text(self) -> str:
        """Return the head of the program, with the lines that give the names of ``HEAD`` what they stand for."""
        parts = PARAMETERS[: self.places]
        if "x" in self.defaults and "x" in parts:
            parts[parts.index("x") :] = [f"{one}={WITHOUT[one]}" for one in parts[parts.index("x") :]]
        if self.nameless:
            parts.insert(self.nameless, "/")
        if self.bound in ("method", "classmethod"):
            parts.insert(0, "self")
        some = {name: text for name, text in self.defaults.items() if name in ("seen", "noted_")}
        if not self.has_rest and not self.only:
            parts += [f"{name}={text}" for name, text in some.items()]
        else:
            parts.append("*rest" if self.has_rest else "*")
            parts += [*self.only, *(f"{name}={text}" for name, text in some.items())]
        if self.has_more:
            parts.append("**more")
        lines = []
        if self.rest:
            lines.append(f"{', '.join(self.rest)}, *rest = rest")
        lines += [f"{one} = more[{one!r}]" for one in PARAMETERS if one in self.more]
        return f"def f({', '.join(parts)}):\n" + "".join(f"    {line}\n" for line in lines)

    def call(self, f: str) -> str:
        """Return a call."""
        own = {name: f"own[{k}]" for k, name in enumerate(PARAMETERS)}
        own.update({name: f"GIVEN[{name!r}]" for name in self.extras})
        inside = [*PARAMETERS[: self.places], *self.rest]
        least = len(inside) if self.rest else self.nameless
        by_place = inside[: max(least, self.choices.choice((0, len(inside), self.choices.randrange(len(inside) + 1))))]
        named = [name for name in own if name not in by_place]
        if "x" in self.defaults and self.choices.random() < 0.5:
            named = [name for name in named if name not in ("x", "n") or name in self.only + self.more]
        self.choices.shuffle(named)
        parts = [own[name] for name in by_place]
        if by_place and self.choices.random() < 0.3:
            parts = [f"*own[:{len(by_place)}]"] if self.choices.random() < 0.5 else [f"*[{', '.join(parts)}]"]
        cut = self.choices.randrange(len(named) + 1) if self.choices.random() < 0.4 else len(named)
        parts += [f"{name}={own[name]}" for name in named[:cut]]
        if named[cut:]:
            parts.append("**{" + ", ".join(f"{name!r}: {own[name]}" for name in named[cut:]) + "}")
        if "seen" in self.defaults and self.choices.random() < 0.15:
            parts.append("seen=LOG")
        if self.has_more and self.choices.random() < 0.2:
            parts.append("zz=1")
        return f"{f}({', '.join(parts)})"


WITHOUT = {"x": "1.5", "n": "3"}


class Calls:
    """What a writer of programs knows of calls, before one of the other writers."""

    def __init__(self, choices: random.Random, layout: str, world: str) -> None:
        self.signature = Signature(choices)
        self.lines_of_given: list[str] = []
        super().__init__(choices, layout, world)  # type: ignore[call-arg]
        self.give()

    def give(self) -> None:
        """Let the program's world have what it is given beside the parameters of all programs."""
        signature, lines = self.signature, self.lines_of_given
        self.world["own"] = [self.world[name] for name in PARAMETERS]
        given = {name: self.value_of(EXTRAS[name][0]) for name in signature.extras}
        for name in signature.extras:
            lines += [one.replace("{e}", signature.place(name)) for one in EXTRAS[name][1]]
            if name not in signature.more:
                self.world[name] = given[name]
        if signature.has_more:
            self.world["more"] = {name: {**self.world, **given}[name] for name in signature.more}
            lines += OF_MORE
        if signature.has_rest:
            self.world["rest"] = []
            lines += OF_REST
        if "seen" in signature.defaults:
            self.world["seen"] = []
            lines += OF_SEEN
        if "noted_" in signature.defaults:
            self.world["noted_"] = {"n": 0}
            lines += OF_NOTED
        if signature.bound == "method":
            self.world["self"] = self.world["h"]
            lines += OF_SELF
        if signature.bound == "classmethod":
            self.world["self"] = self.world["Held"]
            lines += OF_CLASS

    def simple(self) -> None:
        if self.chance(0.5):
            some = self.lines_of_given if self.lines_of_given and self.chance(0.5) else LINES
            known = {"p": "S", "q": "LOG", "j": "0", **self.known()}
            if any(self.say(self.choices.choice(some).format(**known)) for _ in range(5)):
                return
        super().simple()  # type: ignore[misc]

    def known(self) -> dict[str, str]:
        if isinstance(self, ConstructWriter):
            return super().known()  # type: ignore[misc]
        return {"k": self.scalar(), "a": self.array(kinds="f"), "u": self.array(kinds="f"), "new": self.new()}

    def changes(self) -> str:
        text = super().changes().replace("def change(k):\n", "def change(k):\n" + NAMES + CHANGED)  # type: ignore[misc]
        text = text.replace("if k == 2:", "if k == 3:")
        before, after = text.rsplit("    return None\n", 1)
        for call in (1, 3):
            if self.chance(0.5):
                line = self.choices.choice(CHANGES).format(k=self.choices.randrange(5))
                before += f"    if k == {call}:\n        {line}\n"
        return before + "    return None\n" + after

    def calls(self) -> str:
        """Return the text of what calls the program, whose arguments may change before."""
        signature = self.signature
        text = CALLING
        for call in (1, 3):
            if self.chance(0.4):
                text += f"    if k == {call}:\n        {self.choices.choice(OTHERS)}\n"
        for name in signature.extras:
            kept = self.chance(0.5)
            text += f"    {'if k == 0: ' if kept else ''}GIVEN[{name!r}] = {EXTRAS[name][0]}\n"
        f = {
            "": self.one("f", "f", "f", "globals()['f']"),
            "method": self.one("h.go", "h.go", "Held.go.__get__(h)", "functools.partial(Held.go, h)"),
            "classmethod": self.one("h.go", "Held.go"),
            "staticmethod": self.one("h.go", "Held.go"),
        }[signature.bound]
        if signature.bound:
            text += f"    Held.go = {'f' if signature.bound == 'method' else f'{signature.bound}(f)'}\n"
        ways = [self.way(f) for _ in range(self.choices.randrange(1, 4))]
        for k, way in enumerate(ways):
            margin = "    "
            if k + 1 < len(ways):
                text += f"    if k % {len(ways)} == {k}:\n"
                margin *= 2
            text += "".join(f"{margin}{line}\n" for line in way.splitlines())
        return text

    def way(self, f: str) -> str:
        caller = self.choices.choice(CALLERS).format(f=f)
        return self.choices.choice(WAYS).format(call=self.signature.call(caller))


class StatefulCalls(Calls, StatefulWriter):
    """Writes a program of calls with a world."""


class ConstructCalls(Calls, ConstructWriter):
    """Writes a program of calls and of Python's constructs."""


class ObjectCalls(Calls, ObjectWriter):
    """Writes a program of calls and of classes."""


#: of each kind its writer, what its world holds beside that of programs with a world, and its names
KINDS: dict[str, tuple[Any, str, str]] = {
    "state": (StatefulCalls, "", GLOBALS),
    "constructs": (ConstructCalls, TOOLS, OF_CONSTRUCTS),
    "objects": (ObjectCalls, TOOLS + OBJECTS, OF_CONSTRUCTS + OF_OBJECTS),
}


def program(choices: random.Random, kind: str = "") -> tuple[str, str]:
    """Return the text of a random program of calls, and how its arguments lie."""
    writer_of, tools, names = KINDS[kind or choices.choice([*KINDS])]
    layout = choices.choice(("the world's", *["apart"] * 4, *(one for one in LAYOUTS if one != "swapped")))
    world = WORLD.format(V=choices.choice(VS), v=choices.choice(("W", "np.ones(6)"))) + tools + CALLED + AROUND
    writer = writer_of(choices, "apart" if layout == "the world's" else layout, "decorate = lambda g: g\n" + world)
    for _ in range(choices.randrange(1, 5)):
        writer.statement(2, False)
    body = "\n".join(writer.lines) + "\n    return " + writer.results() + "\n"
    head, *first = writer.signature.text().splitlines(True)
    wrapped = choices.choice(("", "", "", "f = around(f)\n", "f = around(around(f))\n"))
    text = HELPERS + world + head + names + NAMES + "".join(first) + body + "f_of_world = f\n" + wrapped + STATE
    return text + writer.changes() + writer.calls(), layout
