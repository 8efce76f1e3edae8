"""Which instructions are of which line of the user's source, for code that a person is to read.

Each ends with a comment that says it.
``toolchain.debug_lines`` makes what LLVM calls debug information of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ...ir.graph import Node
from ..ir.writer import Writer
from .values import Expr, Pending, Value

T = TypeVar("T")
#: how the comment begins; a number follows
MARK = "  ; @"


class Marks:
    """The marks of what is being written.

    Parameters
    ----------
    line_of : callable
        The line that a node comes from, 0 if that is not known.
    """

    def __init__(self, line_of: Callable[[Node], int]) -> None:
        self._line_of = line_of
        # values are kept, so that each has an id of its own
        self._marks: dict[int, tuple[Any, str]] = {}

    def of(self, node: Node) -> str:
        """Return what an instruction of a node ends with."""
        return f"{MARK}{self._line_of(node)}"

    def note(self, value: Value | None, mark: str) -> None:
        """Keep the mark of a value whose elements are computed later, perhaps together with others."""
        while isinstance(value, (Pending, Expr)) and id(value) not in self._marks:
            self._marks[id(value)] = value, mark
            value = value.expr if isinstance(value, Pending) else None

    def of_value(self, value: Value, otherwise: str) -> str:
        """Return the mark of a value; ``otherwise`` where it has none."""
        return self._marks.get(id(value), (None, otherwise))[1]


def marked(writer: Writer, value: Value, write: Callable[[], T]) -> T:
    """Return what ``write`` gives, which writes the instructions of a value."""
    if writer.marks is None:
        return write()
    outer = writer.mark
    writer.mark = writer.marks.of_value(value, outer)
    made = write()
    writer.mark = outer
    return made
