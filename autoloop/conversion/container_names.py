"""Which variables of a function hold lists, tuples or dicts, as far as its text shows it: they compare by elements."""

from __future__ import annotations

from collections.abc import Iterator

import gast

from .nodes import Node, walk

_DISPLAYS = (gast.List, gast.Tuple, gast.Dict, gast.ListComp, gast.DictComp)
_MAKERS = ("list", "tuple", "dict", "sorted")


def is_display(node: Node) -> bool:
    """Return whether an expression writes out a list, tuple or dict."""
    return isinstance(node, _DISPLAYS)


def container_names(function: Node) -> frozenset[str]:
    """Return the variables that are set to a list, tuple or dict anywhere in a function, or in one inside it."""
    found = set()
    for node in walk(function):
        if isinstance(node, gast.Assign | gast.AnnAssign | gast.NamedExpr) and node.value is not None:
            for target in node.targets if isinstance(node, gast.Assign) else [node.target]:
                found |= {one.id for one, value in _pairs(target, node.value) if _is_container(value)}
    return frozenset(found)


def _pairs(target: Node, value: Node) -> Iterator[tuple[Node, Node]]:
    """Yield each name that a target sets, and what to, as far as that is written out."""
    if isinstance(target, gast.Name):
        yield target, value
    elif isinstance(target, gast.Tuple | gast.List) and isinstance(value, gast.Tuple | gast.List):
        for one, its_value in zip(target.elts, value.elts, strict=False):
            yield from _pairs(one, its_value)


def _is_container(value: Node) -> bool:
    return is_display(value) or _is_made(value)


def _is_made(value: Node) -> bool:
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Name) and value.func.id in _MAKERS
