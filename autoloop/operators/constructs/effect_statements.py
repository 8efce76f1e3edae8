"""``assert`` and ``raise`` under conditions that only a run can decide."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.ir.array_storage import Block
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.rollback import mark, rollback

from ... import operators
from ...errors import ConversionError
from ...left_to_python import unless_left
from ..staging.raising import catches, raised_kind, refuse_untold_text
from ..staging.staged_blocks import StagedRaise, in_staged_block
from ..staging.staged_values import asked, is_staged, truth
from .asked_tests import Asking

Kinds = Callable[[], tuple[Any, ...]] | None


def checked(
    test: Any, message: Callable[[], Any] | None = None, caught: Kinds = None, caught_outside: Kinds = None
) -> Any:
    """Return the test of an ``assert``; a staged one becomes a check at run time and counts as true.

    Parameters
    ----------
    test : object
        The condition.
    message : callable, optional
        Gives the message.
    caught, caught_outside : callable, optional
        Give what the ``except`` clauses around the statement catch.
    """
    test = asked(test)
    if is_staged(test):
        for kinds in (caught, caught_outside):
            _refuse_if_caught(AssertionError, kinds)
        if message is None:
            ops.assert_true(truth(test))
        elif (said := _at_hand(message)) is None:
            operators.if_stmt(operators.not_(test), _failing(message), None, ())()
        else:
            ops.assert_true(truth(test), said)
        return True
    if not test and in_staged_block() and not catches(caught, AssertionError):
        _refuse_if_caught(AssertionError, caught_outside)
        raise StagedRaise(AssertionError(*([] if message is None else [message()])))
    return test


def _at_hand(message: Callable[[], Any]) -> Any:
    """Return the message of an ``assert`` if nothing has to be done to make it; None, with all undone, if there is.

    Python makes it only where the test fails: elsewhere what it changes, prints or raises would be too much.
    """
    graph = current_graph()
    assert graph is not None
    asking, begun, count = Asking(message, ()), mark(graph), len(graph.nodes)
    with Block(graph, every=True) as block:
        said = None
        with suppress(Exception):  # which only a run that comes there raises
            said = message()
            for leaf in nest.flatten([said]):
                refuse_untold_text(leaf)
        if not asking.undo() and len(graph.nodes) == count and said is not None:
            return said
        block.undo()
        rollback(graph, begun)
    return None


def _failing(message: Callable[[], Any]) -> Callable[[], NoReturn]:
    def then() -> NoReturn:
        raise StagedRaise(AssertionError(message()))

    return then


def raised(error: Any, caught: Kinds = None, caught_outside: Kinds = None) -> Any:
    """Return what a ``raise`` statement in a loop or branch raises.

    Parameters
    ----------
    error : exception or exception type
        What the user raises.
    caught : callable, optional
        Gives what the ``except`` clauses inside the same loop body or branch catch: that works as in Python.
    caught_outside : callable, optional
        Gives what ``except`` clauses around the loop or branch catch: no graph can do that.
    """
    if not in_staged_block() or isinstance(error, StagedRaise) or catches(caught, error):
        return error
    _refuse_if_caught(error, caught_outside)
    return StagedRaise(error)


def _refuse_if_caught(error: Any, kinds: Kinds) -> None:
    if catches(kinds, error):
        raise unless_left(ConversionError(
            f"{raised_kind(error).__name__} is raised under a tensor condition, at run time, and cannot be caught by "
            f"an `except` in the converted function: catch it around the call, or choose a value with `if` "
            f"instead [AL004]"
        ))  # fmt: skip
