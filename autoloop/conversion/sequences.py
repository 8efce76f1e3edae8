"""Which names of a function may hold a list, a tuple or an array: their items may be asked for by a tensor."""

from __future__ import annotations

import gast

from .callables import Environment
from .nodes import Node, statements_in


def sequence_names(function: Node, environment: Environment, local_names: frozenset[str]) -> frozenset[str]:
    """Return the names that a function sets to a list, a tuple, or what a function of NumPy gives."""
    found = set()
    for node in statements_in(function):
        if isinstance(node, gast.Assign) and gives_sequence(node.value, environment, local_names):
            found |= {target.id for target in node.targets if isinstance(target, gast.Name)}
    return frozenset(found)


def gives_sequence(value: Node, environment: Environment, local_names: frozenset[str]) -> bool:
    """Return whether an expression gives a list, a tuple, or what a function of NumPy gives."""
    if isinstance(value, gast.List | gast.Tuple):
        return bool(value.elts)
    if isinstance(value, gast.ListComp):
        return True
    if not isinstance(value, gast.Call):
        return False
    function = environment.resolve(value.func, local_names)
    return str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"
