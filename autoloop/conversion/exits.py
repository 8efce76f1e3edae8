"""How control leaves a statement: by falling off its end, or by a jump.

A ``finally`` that may be left by a jump becomes what follows its ``try``.

Such a jump swallows the exception on its way. So the exception is caught and kept, and raised again by who falls off
the end::

    error = None
    try:
        ...
    except BaseException as caught:
        error = caught
    if x > 2:
        return x
    if error is not None:
        raise error

If the ``try`` itself may be left by a jump, or the ``finally`` asks for the exception, the statement stays Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gast

from .nodes import Block, Maker, Node, children
from .scopes import FUNCTIONS

LOOPS = (gast.While, gast.For)
_SCOPES = (*FUNCTIONS, gast.ClassDef)


def block_fields(statement: Node) -> Iterator[tuple[Node, str, Block]]:
    """Yield ``(owner, field, block)`` for the blocks of a compound statement."""
    if isinstance(statement, _SCOPES):
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


def always_leaves(statement: Node) -> bool:
    """Return whether control never reaches what follows a ``try``, its ends all being jumps or exceptions."""
    if not isinstance(statement, gast.Try):
        return False
    ends = [statement.body if not _goes_on(statement.body) else statement.orelse, *[h.body for h in statement.handlers]]
    return not any(map(_goes_on, ends))


def _goes_on(block: Block) -> bool:
    return falls_off(block) and not any(map(always_leaves, block))


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


# -- a jump out of a ``finally`` -----------------------------------------------------------------------------


def is_left_by_a_jump(statement: Node) -> bool:
    """Return whether a statement is a ``try`` with a jump in its ``finally``."""
    return isinstance(statement, gast.Try) and any(map(_has_jump, statement.finalbody))


def can_follow(statement: Node) -> bool:
    """Return whether what stands in the ``finally`` of such a statement may follow it instead."""
    parts = [*statement.body, *statement.orelse, *statement.handlers]
    return not any(map(_has_jump, parts)) and not any(map(_raises_again, statement.finalbody))


def followed(statement: Node, new_name: Callable[[str], str]) -> Block:
    """Return the statements that such a ``try`` becomes; any other statement as it is."""
    if not (is_left_by_a_jump(statement) and can_follow(statement)):
        return [statement]
    make = Maker(statement)
    error, caught = new_name("error"), new_name("caught")
    last, statement.finalbody = statement.finalbody, []
    body = [statement] if statement.handlers else statement.body
    keep = make.set_name(error, make.load(caught))
    handler = make.place(gast.ExceptHandler(make.load("BaseException"), make.store(caught), [keep]))
    raised = make.place(gast.Compare(make.load(error), [gast.IsNot()], [make.constant(None)]))
    return [
        make.set_name(error, make.constant(None)),
        make.place(gast.Try(body, [handler], [], [])),
        *last,
        make.if_(raised, [make.place(gast.Raise(make.load(error), None))], []),
    ]


def _has_jump(statement: Node) -> bool:
    if isinstance(statement, gast.Return | gast.Break | gast.Continue):
        return True
    return any(_has_jump(child) for child in children(statement) if not isinstance(child, _SCOPES))


def _raises_again(statement: Node) -> bool:
    if isinstance(statement, gast.Raise) and statement.exc is None:
        return True
    return any(_raises_again(child) for child in children(statement) if not isinstance(child, _SCOPES))
