"""Writing LLVM IR as text: one function at a time, and the module around it.

Text, because it is what LLVM's own manual speaks, because a template reads as the instruction it becomes, and
because it is made and parsed faster than the objects of a builder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from ...base.dataclass import dataclass, field


def filled(template: str, words: Mapping[str, object]) -> str:
    """Return ``template`` with ``words`` in the place of its ``$name`` and ``${name}``.

    ``string.Template`` does it more slowly, and is itself loaded for a millisecond.
    """
    first, *rest = template.split("$")
    parts = [first]
    for part in rest:
        if part[0] == "{":
            name, _, after = part[1:].partition("}")
        else:
            end = next((k for k, c in enumerate(part) if not (c.isalnum() or c == "_")), len(part))
            name, after = part[:end], part[end:]
        parts += [str(words[name]), after]
    return "".join(parts)


@dataclass
class Phi:
    """A value that depends on where control came from; ``sources`` fills up while the function is written."""

    name: str
    type: str
    sources: list[tuple[str, str]] = field(default_factory=list)

    def add(self, value: str, block: str) -> None:
        """Let it be ``value`` when control comes from ``block``."""
        self.sources.append((value, block))

    def __str__(self) -> str:
        return f"  {self.name} = phi {self.type} " + ", ".join(f"[ {v}, %{b} ]" for v, b in self.sources)


@dataclass(frozen=True)
class Loop:
    """A counted loop that is being written.

    Attributes
    ----------
    index : str
        The counter, an i64 from 0.
    phis : list of Phi
        Where to put values that are carried from one round to the next.
    may_be_none : bool
        There may be no round.
    """

    index: str
    phis: list[Any]
    before: str
    may_be_none: bool = False

    def carry(self, writer: Writer, type: str, start: str) -> Phi:
        """Return a value carried around the loop; the caller adds what it becomes."""
        phi = Phi(writer.new(), type, [(start, self.before)])
        self.phis.append(phi)
        return phi

    def carried(self, writer: Writer, phi: Phi, result: str) -> str:
        """Let ``phi`` be ``result`` in the next round, at the end of one; gives what it is behind the loop."""
        phi.add(result, writer.block)
        return phi.name if self.may_be_none else result


class Writer:
    """The body of one function, written from top to bottom.

    A *section* is a place in the text to which lines can still be added when the writing has gone on.

    Parameters
    ----------
    beside : Writer, optional
        Of a function some of whose names are used in this one too; new names differ from them.
    """

    def __init__(self, beside: Writer | None = None) -> None:
        self.lines: list[Any] = []
        self._top = self.lines
        self._names: Iterator[int] = beside._names if beside is not None else count(1)
        self.block = "entry"
        #: what instructions end with: nothing, or a comment for who reads them; and what has these comments
        self.mark: str = beside.mark if beside is not None else ""
        self.marks: Any = beside.marks if beside is not None else None

    def new(self, hint: str = "v") -> str:
        """Return a name for a value that is not taken."""
        return f"%{hint}{next(self._names)}"

    def do(self, text: str) -> None:
        """Add an instruction without a value."""
        self.lines.append(f"  {text}{self.mark}")

    def let(self, text: str, hint: str = "v") -> str:
        """Add an instruction and give the name of its value."""
        name = self.new(hint)
        self.lines.append(f"  {name} = {text}{self.mark}")
        return name

    def label(self, hint: str) -> str:
        """Return a name for a block."""
        return self.new(hint)[1:]

    def start(self, label: str) -> None:
        """Begin the block ``label``."""
        self.lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str, extra: str = "") -> None:
        """Go to ``label``."""
        self.do(f"br label %{label}{extra}")

    def branch(self, condition: str, then: str, otherwise: str, extra: str = "") -> None:
        """Go to ``then`` or to ``otherwise``."""
        self.do(f"br i1 {condition}, label %{then}, label %{otherwise}{extra}")

    @contextmanager
    def unless_null(self, pointer: str, then: str, after: str) -> Iterator[None]:
        """Write what is done only if an address is not null; ``then`` and ``after`` are what the blocks are called."""
        there, done = self.label(then), self.label(after)
        self.branch(self.let(f"icmp ne ptr {pointer}, null"), there, done)
        self.start(there)
        yield
        self.jump(done)
        self.start(done)

    def either(self, condition: str, type: str, then: Callable[[], str], otherwise: Callable[[], str]) -> str:
        """Return what the one or the other writes, of which only one is done."""
        labels, done, found = (self.label("then"), self.label("else")), self.label("join"), []
        self.branch(condition, *labels)
        for label, write in zip(labels, (then, otherwise)):
            self.start(label)
            found.append((write(), self.block))
            self.jump(done)
        self.start(done)
        phi = self.phi(type)
        for value, block in found:
            phi.add(value, block)
        return phi.name

    def phi(self, type: str, hint: str = "p") -> Phi:
        """Return a value at the head of the current block, whose sources are added later."""
        phi = Phi(self.new(hint), type)
        self.lines.append(phi)
        return phi

    def section(self) -> list[Any]:
        """Return a place here to which ``at`` comes back."""
        place: list[Any] = []
        self.lines.append(place)
        return place

    @contextmanager
    def at(self, section: list[Any]) -> Iterator[None]:
        """Write into ``section`` (straight-line code only)."""
        outer, self.lines = self.lines, section
        try:
            yield
        finally:
            self.lines = outer

    @contextmanager
    def loop(self, rounds: int | str, extra: str = "", may_be_none: bool = False) -> Iterator[Loop]:
        """Write the body of a loop of so many rounds: at least one, unless there ``may_be_none``."""
        head, done = self.label("loop"), self.label("done")
        before = self.block
        self.jump(head)
        self.start(head)
        index = self.phi("i64", "i")
        index.add("0", before)
        made = Loop(index.name, self.section(), before, may_be_none)
        if may_be_none:
            first = self.label("round")
            self.branch(self.let(f"icmp ult i64 {index.name}, {rounds}"), first, done)
            self.start(first)
        yield made
        following = self.let(f"add nuw nsw i64 {index.name}, 1")
        index.add(following, self.block)
        if may_be_none:
            self.jump(head, extra)
        else:
            self.branch(self.let(f"icmp eq i64 {following}, {rounds}"), done, head, extra)
        self.start(done)

    def render(self) -> str:
        """Return the text so far."""
        out: list[str] = []
        _flatten(self._top, out)
        return "\n".join(out)


def _flatten(lines: Sequence[Any], out: list[str]) -> None:
    for line in lines:
        if isinstance(line, list):
            _flatten(line, out)
        else:
            out.append(str(line))


#: what a loop is told of which nothing is to be told: LLVM passes over what it does not know
_NOTHING = '!{!"of autoloop"}'
#: names of values and blocks, labels, and metadata
_MARKS = r"(?m)  ; @\d+$"
_NAMES = r"(?m)%[A-Za-z]\w*|^[A-Za-z]\w*(?=:$)|![0-9]+"


def symbol_of(name: str, type: str) -> str:
    """Return what the helper function ``name`` for ``type``, which may be a vector, is called."""
    return f"{name}.{type.strip('<>').replace(' ', '')}"


class Module:
    """Everything beside the function: declarations, helper functions, attributes, metadata.

    Parameters
    ----------
    helpers : callable
        ``helpers(name, type)`` gives the text of the helper function ``@name.type`` and the names of those it
        calls.
    """

    def __init__(self, helpers: Callable[[str, str], str]) -> None:
        self._helpers = helpers
        self._texts: dict[str, str] = {}
        self._forms: dict[str, str] = {}
        self._declared: dict[str, None] = {}
        self._attributes: dict[str, int] = {}
        self._metadata: list[str] = []
        self._used: dict[str, None] = {}

    def helper(self, name: str, type: str) -> str:
        """Return the helper function ``name`` for ``type``, as ``@name.type``."""
        full = symbol_of(name, type)
        if full not in self._texts:
            self._texts[full] = ""
            self._texts[full] = self._helpers(name, type)
        return "@" + full

    def has(self, name: str) -> bool:
        """Return whether the function ``name`` was defined."""
        return name in self._texts

    def declare(self, text: str) -> None:
        """Declare an external function, once."""
        self._declared["declare " + text] = None

    def declares(self, symbol: str) -> bool:
        """Return whether ``symbol`` was declared."""
        return any(f" @{symbol}(" in text for text in self._declared)

    def keep(self, symbol: str) -> None:
        """Keep the declaration of ``symbol`` although nothing calls it yet."""
        self._used[symbol] = None

    def attributes(self, text: str) -> str:
        """Return a group of attributes, as ``#n``."""
        return f"#{self._attributes.setdefault(text, len(self._attributes))}"

    def metadata(self, text: str) -> str:
        """Return a metadata node, as ``!n``; ``{self}`` in the text is itself."""
        name = f"!{len(self._metadata)}"
        self._metadata.append(f"{name} = {text.replace('{self}', name)}")
        return name

    def loop_id(self, *hints: str) -> str:
        """Return what the branch back to the head of a loop ends with, with what LLVM is told of that loop.

        Every loop around others has it, and is told something: LLVM merges the branches of two loops that go back at
        one place unless both are told something, and then what is told of the inner one holds for both.
        """
        told = ", ".join(["{self}", *map(self.metadata, hints or [_NOTHING])])
        return ", !llvm.loop " + self.metadata(f"distinct !{{{told}}}")

    def define(self, name: str, make: Callable[[], str]) -> None:
        """Add the function ``name``, whose text ``make`` gives, unless it is there."""
        if name not in self._texts:
            self._texts[name] = make()

    def shared(self, text: str) -> str:
        """Return the name of a function of which ``text`` is all but the name, ``{name}`` there; equal ones are one."""
        names: dict[str, str] = {}
        form = re.sub(_NAMES, lambda m: names.setdefault(m[0], f"%{len(names)}"), re.sub(_MARKS, "", text))
        known = self._forms.get(form)
        if known is None:
            known = self._forms[form] = f"form{len(self._forms)}"
            self._texts[known] = text.replace("{name}", known)
        return known

    def render(self) -> str:
        """Return the text of the module."""
        parts = [*self._declared, *self._texts.values()]
        if self._used:
            names = ", ".join(f"ptr @{symbol}" for symbol in self._used)
            size = len(self._used)
            parts.append(f'@llvm.compiler.used = appending global [{size} x ptr] [{names}], section "llvm.metadata"')
        parts += [f"attributes #{n} = {{ {text} }}" for text, n in self._attributes.items()]
        parts += self._metadata
        return "\n".join(parts) + "\n"
