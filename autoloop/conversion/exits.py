"""How control leaves a statement: by falling off its end, or by a jump."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from .nodes import Block, Node
from .scopes import FUNCTIONS

LOOPS = (gast.While, gast.For)


def block_fields(statement: Node) -> Iterator[tuple[Node, str, Block]]:
    """Yield ``(owner, field, block)`` for the blocks of a compound statement."""
    if isinstance(statement, (*FUNCTIONS, gast.ClassDef)):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield statement, name, block
    for name in ("handlers", "cases"):
        for part in getattr(statement, name, None) or []:
            yield part, "body", part.body


def escaping(statement: Node) -> bool:
    """Return whether a ``break``, ``continue`` or ``return`` in a statement leaves it."""
    if isinstance(statement, gast.Return | gast.Break | gast.Continue):
        return True
    if isinstance(statement, LOOPS):
        return any(_returns(one) for one in statement.body) or any(map(escaping, statement.orelse))
    return any(escaping(one) for _, _, block in block_fields(statement) for one in block)


def _returns(statement: Node) -> bool:
    if isinstance(statement, gast.Return):
        return True
    return any(_returns(one) for _, _, block in block_fields(statement) for one in block)


def falls_off(block: Block, until: dict[int, tuple[str, ...]] | None = None) -> bool:
    """Return whether control may reach the end of a block; ``until`` holds the flags that end its lowered loops."""
    for statement in block:
        if isinstance(statement, gast.Return | gast.Raise | gast.Break | gast.Continue):
            return False
        if isinstance(statement, gast.If):
            if statement.orelse and not falls_off(statement.body, until) and not falls_off(statement.orelse, until):
                return False
        elif isinstance(statement, gast.While) and is_endless(statement) and not (until or {}).get(id(statement)):
            return False
    return True


def is_endless(loop: Node) -> bool:
    """Return whether a ``while True`` has no ``break`` of its own."""
    if not (isinstance(loop.test, gast.Constant) and loop.test.value):
        return False
    return not any(map(_breaks, loop.body))


def _breaks(statement: Node) -> bool:
    if isinstance(statement, gast.Break):
        return True
    if isinstance(statement, LOOPS):
        return any(map(_breaks, statement.orelse))
    return any(_breaks(one) for _, _, block in block_fields(statement) for one in block)
