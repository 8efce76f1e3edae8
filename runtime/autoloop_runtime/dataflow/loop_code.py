"""The tree of a whole loop as the source of a Python function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from types import CodeType
from typing import Any

from ..analysis.ownership import Ownership
from ..ir.run_state import RunState
from .flat_graph import Lowered, Port
from .item_code import ItemCode, Lines
from .loop_items import Loop, LoopTree, used_inside

RunLoop = Callable[[list[Any], int, RunState], tuple[Any, ...]]


class Unwanted(Exception):
    """Raised by a loop that nobody waits for any more."""


class Arguments(list[Any]):
    """The arguments of a loop; it ends when there is anything in ``unwanted``."""

    __slots__ = ("unwanted",)

    def __init__(self, values: Iterable[Any]) -> None:
        super().__init__(values)
        self.unwanted: list[bool] = []


class LoopCode(ItemCode):
    """Writes the function of one loop.

    Parameters
    ----------
    lowered : Lowered
    tree : LoopTree
    owned : Ownership

    Attributes
    ----------
    source : str
    places : dict of int to FlatNode
        Line -> the node whose kernel it calls.
    """

    def __init__(self, lowered: Lowered, tree: LoopTree, owned: Ownership) -> None:
        variables = len(tree.loop.enter)
        super().__init__(lowered, tree, owned, tree.inputs[variables:])
        self._globals |= {"count": count, "Unwanted": Unwanted}
        lines, _ = self._loop(tree.loop, set(tree.results), 1)
        names = [*[self._name(port) for port, _ in tree.loop.enter], *self._captured.values()]
        first: Lines = [(0, "def run(args, start, state):", None), (1, f"[{', '.join(names)}] = args", None)]
        first.append((1, "args.clear()", None))
        first.append((1, "unwanted = getattr(args, 'unwanted', ())", None))
        last = "".join([f"{self._name(value)}, " for value in tree.results])
        self.source, self.places = self._finished(first, [*lines, (1, f"return ({last})", None)])

    def compile(self) -> RunLoop:
        """Return ``run(args, start, state)``: it empties ``args``, and counts iterations from ``start``."""
        code: CodeType = compile(self.source, "<autoloop loop>", "exec")
        exec(code, self._globals)
        made: RunLoop = self._globals["run"]
        return made

    def _inner(self, item: Loop, after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        """Return the lines of a loop in the loop."""
        lines, top = self._loop(item, after, depth)
        lines += self._dropped(sorted(top), after, depth)
        start, before = self._assign(item.enter, top | after, depth)
        return start + lines, before

    def _loop(self, item: Loop, after: set[Port], depth: int) -> tuple[Lines, set[Port]]:
        """Return the lines of a loop whose variables are set, and which values are used from its beginning on."""
        top = after | used_inside(item)
        body, before_body = self._block(item.body, top, depth + 1)
        head, _ = self._block(item.head, before_body | after | {item.predicate}, depth + 1)
        lines: Lines = [(depth, f"for n{item.frame} in count({'start' if depth == 1 else ''}):", None), *head]
        lines.append((depth + 1, f"if not {self._name(item.predicate)}:", None))
        lines.append((depth + 2, "break", None))
        lines.append((depth + 1, "if unwanted:", None))
        lines.append((depth + 2, "raise Unwanted", None))
        return lines + body, top
