"""Parameters that a function writes to for its caller: ``def swap(a, i, j): a[i], a[j] = a[j], a[i]``."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from .nodes import Node, walk
from .scopes import FUNCTIONS, parameter_names

# What is asked of an array without handing it on.
_ASKED = frozenset(("dtype", "ndim", "shape", "size"))


def mutated_parameters(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the parameters whose elements a function sets, and which it neither returns nor hands on.

    What it sets can then only be meant for its caller, who keeps another value where the parameter is a tensor.

    Parameters
    ----------
    nodes : sequence of Node
        The function and all nodes in it.
    """
    function = nodes[0]
    if not isinstance(function, gast.FunctionDef) or any(isinstance(one, gast.Yield | gast.YieldFrom) for one in nodes):
        return ()
    own = set(parameter_names(function.args)) & {_root(one) for one in nodes if _is_set(one)}
    if not own:
        return ()
    parameters = {id(one) for one in walk(function.args)}
    looked_at = {id(_looked_at(one)) for one in nodes}
    kept = {one.id for one in nodes if isinstance(one, gast.Name) and id(one) not in looked_at | parameters}
    for one in nodes[1:]:
        if isinstance(one, (gast.Return, gast.ClassDef, *FUNCTIONS)):
            kept |= {inner.id for inner in walk(one) if isinstance(inner, gast.Name)}
    return tuple(name for name in parameter_names(function.args) if name in own - kept)


def _is_set(node: Node) -> bool:
    return isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store)


def _root(node: Node) -> str | None:
    while isinstance(node, gast.Subscript):
        node = node.value
    return getattr(node, "id", None)


def _looked_at(node: Node) -> Node | None:
    """Return ``a`` of ``a[i]``, ``a.shape`` and ``len(a)``."""
    if isinstance(node, gast.Subscript) or (isinstance(node, gast.Attribute) and node.attr in _ASKED):
        return node.value
    if isinstance(node, gast.Call) and getattr(node.func, "id", None) == "len" and len(node.args) == 1:
        return node.args[0]
    return None
