"""Machine code that says where it is: for traces, a word of memory has the line it is at, others count its blocks."""

from __future__ import annotations

from contextvars import ContextVar

import numpy as np

from ...base.locations import Line, users_line
from ...ir.graph import Graph, Node

#: words: where it is, and the counts of so many blocks
_WORDS = 1 << 12


class Marks:
    """What code that is being written is to say of itself.

    Attributes
    ----------
    words : ndarray
        In the first the code leaves the number of a line, see ``lines``; in others how often blocks ran.
    lines : list of Line or None
        By number.
    blocks : dict
        Which word counts how often a graph ran.
    """

    def __init__(self) -> None:
        self.words = np.zeros(_WORDS, np.int64)
        self.lines: list[Line | None] = [None]
        self.blocks: dict[Graph, int] = {}
        self._numbers: dict[Line | None, int] = {None: 0}

    def number(self, node: Node) -> int:
        """Return the number of the line of a node."""
        line = users_line(node.location)
        found = self._numbers.get(line)
        if found is None:
            found = self._numbers[line] = len(self.lines)
            self.lines.append(line)
        return found

    def block(self, graph: Graph) -> int | None:
        """Return the word that counts how often ``graph`` runs; None if there are no more."""
        found = self.blocks.get(graph)
        if found is None and len(self.blocks) < _WORDS - 1:
            found = self.blocks[graph] = 1 + len(self.blocks)
        return found


#: what code that is written here is to say of itself; None: nothing
MARKS: ContextVar[Marks | None] = ContextVar("autoloop_marks", default=None)
