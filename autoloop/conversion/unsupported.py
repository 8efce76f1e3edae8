"""Refuses, or leaves alone, what cannot be converted; and finds what has to stay a Python statement."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from ..errors import ConversionError
from .exits import can_follow, is_left_by_a_jump
from .frame_readers import YIELDS, is_frame_reader
from .nodes import Node, children
from .scopes import FUNCTIONS
from .source import FunctionSource, place_of

_ASYNC = (gast.AsyncFor, gast.AsyncWith, gast.Await)
_SCOPES = (*FUNCTIONS, gast.ClassDef)


def refuse_unsupported(source: FunctionSource) -> None:
    """Raise :class:`ConversionError` for constructs that have no meaning in a graph.

    Raises
    ------
    ConversionError
        With the file, the line, its text and what to do instead.
    """
    if isinstance(source.node, gast.AsyncFunctionDef):
        raise _refusal(source, source.node, "`async def` cannot be converted: write it as a plain `def` [AL003]")
    for node in own_nodes(source.node):
        if isinstance(node, YIELDS):
            raise _refusal(
                source,
                node,
                "`yield` cannot be converted: collect the values in a list and return it, or keep the "
                "generator outside and mark it with `autoloop.do_not_convert` [AL003]",
            )
        if isinstance(node, _ASYNC):
            raise _refusal(source, node, "`async` statements cannot be converted: use their plain forms [AL003]")


def _refusal(source: FunctionSource, node: Node, advice: str) -> ConversionError:
    return ConversionError(f"{advice}\n{place_of(source.filename, node)}")


def own_nodes(function: Node) -> Iterator[Node]:
    """Yield the nodes of a function, without those of functions and classes inside it."""
    todo = list(function.body) if isinstance(function.body, list) else [function.body]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _SCOPES):
            todo += children(node)


def is_asynchronous(function: Node) -> bool:
    """Return whether a nested function is left as it is: it is asynchronous, or a part of it is."""
    return isinstance(function, gast.AsyncFunctionDef) or any(isinstance(node, _ASYNC) for node in own_nodes(function))


def is_generator(function: Node) -> bool:
    """Return whether a function is a generator, whose loops and branches stay Python where they hold a `yield`."""
    return any(isinstance(node, YIELDS) for node in own_nodes(function))


def must_stay_python(node: Node, known: dict[Node, bool]) -> bool:
    """Return whether a loop or branch has to stay a Python statement.

    It has to if it looks at its own frame (``locals()``) or leaves it (``yield``), or if a jump leaves a ``finally``
    block that cannot follow its ``try``: such a jump swallows the exception on its way, which no flag can imitate.

    Parameters
    ----------
    node : node
        The statement.
    known : dict
        The answers so far, kept by the caller so that no statement is looked through once per loop around it.
    """
    if node not in known:
        known[node] = (
            is_frame_reader(node)
            or isinstance(node, (gast.TryStar, *YIELDS))
            or (is_left_by_a_jump(node) and not can_follow(node))
            or any(must_stay_python(child, known) for child in children(node) if not isinstance(child, _SCOPES))
        )
    return known[node]
