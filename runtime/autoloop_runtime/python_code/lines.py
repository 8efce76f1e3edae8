"""Lines of generated code that remember which node and which loops they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base.dataclass import dataclass, replace
from ..ir.graph import Node
from .templates import Expr, Span, render

INDENT = "    "


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop around a line: its node, the variable that counts its iterations if there is one, and from where."""

    node: Node
    counter: str | None
    start: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes
    ----------
    parts : str, or tuple of str and Expr
        The text.
    depth : int
        Levels of indentation.
    loops : tuple of Loop
        Around it, within its function, outermost first.
    node : Node or None
        What it does as a whole.
    """

    parts: str | tuple[str | Expr, ...]
    depth: int = 0
    loops: tuple[Loop, ...] = ()
    node: Node | None = None

    def render(self) -> tuple[str, list[Span]]:
        """Return the text and the nodes computed in it."""
        start = INDENT * self.depth
        if isinstance(self.parts, str):
            return start + self.parts, []
        text, spans = render(self.parts, len(start))
        if self.node is not None:
            spans.append((0, len(start) + len(text), self.node))
        return start + text, spans


@dataclass(frozen=True)
class Place:
    """What a line of generated code is about.

    Attributes
    ----------
    spans : tuple of (int, int, Node)
        Columns and the node computed there.
    loops : tuple of Loop
        Around the line within its function, outermost first.
    """

    spans: tuple[Span, ...]
    loops: tuple[Loop, ...]


def iterations(loops: tuple[Loop, ...], variables: Mapping[str, Any]) -> list[tuple[Node, int]]:
    """Return the loops around a line and the iterations they are in, innermost first, given the local variables."""
    return [
        (loop.node, int(variables.get(loop.counter, loop.start)) - loop.start)
        for loop in reversed(loops) if loop.counter
    ]  # fmt: skip


class Lines:
    """A block of lines under construction.

    Parameters
    ----------
    depth : int
        Levels of indentation.
    loops : tuple of Loop
        Around the block.
    loop_depth : int
        How many loops Python sees around it.
    """

    def __init__(self, depth: int = 1, loops: tuple[Loop, ...] = (), loop_depth: int = 0) -> None:
        self.depth = depth
        self.loops = loops
        self.loop_depth = loop_depth
        self.lines: list[Line] = []

    def add(
        self, *parts: str | Expr, indent: int = 0, node: Node | None = None, loops: tuple[Loop, ...] | None = None
    ) -> None:
        """Add a line."""
        self.lines.append(Line(parts, self.depth + indent, self.loops if loops is None else loops, node))

    def extend(self, lines: Sequence[Line]) -> None:
        """Add finished lines."""
        self.lines.extend(lines)

    def assign(self, targets: Sequence[str], value: Expr) -> None:
        """Write ``a, b = value``."""
        self.add(", ".join(targets), " = ", value)

    def unpack(self, targets: Sequence[str], value: Expr) -> None:
        """Write ``a, b = value`` and, for a single target, ``a, = value``."""
        self.add(", ".join(targets), ", = " if len(targets) == 1 else " = ", value)

    def assign_all(self, targets: Sequence[str], values: Sequence[Expr]) -> None:
        """Give all ``targets`` their ``values`` as if at once.

        One after the other where no target is read by a value that is still to come; those that are read in
        a circle (``a, b = b, a + b``) in one statement.
        """
        pending = [(t, v) for t, v in zip(targets, values) if v.name != t]
        while pending:
            for index, (target, value) in enumerate(pending):
                if not any(target in other.reads for k, (_, other) in enumerate(pending) if k != index):
                    self.assign([target], value)
                    del pending[index]
                    break
            else:
                parts: list[str | Expr] = [", ".join(t for t, _ in pending), " = "]
                for index, (_, value) in enumerate(pending):
                    parts += ([", "] if index else []) + ([value] if value.precedence > 1 else ["(", value, ")"])
                self.add(*parts)
                return

    def branch(
        self, predicate: Expr, negated: Sequence[str | Expr], then: Sequence[Line], other: Sequence[Line]
    ) -> None:
        """Write ``if``, with ``elif`` where the other branch is nothing but another ``if``."""
        if not then and not other:
            return
        if not then:
            self.add("if ", *negated, ":")
            self.extend(other)
            return
        self.add("if ", predicate, ":")
        self.extend(then)
        if other and _is_single_if(other, self.depth + 1):
            first, *rest = other
            assert isinstance(first.parts, tuple)
            self.extend([replace(first, parts=("elif ", *first.parts[1:]), depth=self.depth)])
            self.extend([replace(line, depth=line.depth - 1) for line in rest])
        elif other:
            self.add("else:")
            self.extend(other)

    def finished(self, depth: int) -> list[Line]:
        """Return the lines, for a function body whose first level is ``depth``."""
        return [replace(line, depth=line.depth - self.depth + depth) for line in self.lines]


def _is_single_if(lines: Sequence[Line], depth: int) -> bool:
    """Return whether ``lines`` are one ``if`` statement."""
    heads = [line.parts[0] if isinstance(line.parts, tuple) else line.parts for line in lines if line.depth == depth]
    return heads[0] == "if " and all(h in ("elif ", "else:") for h in heads[1:])
