"""Which traces the instances of a class may share: those where what a run uses neither is nor holds the instance."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator, Sequence
from typing import Any

from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.analysis.observable import may_go_on
from autoloop_runtime.ir.graph import Graph, Node
from autoloop_runtime.ir.tensor import Tensor

from ..concrete import ConcreteFunction
from ..conversion.scopes import value_in
from ..operators.mutation.parts_of_objects import MOST_OBJECTS
from .noted import Reached
from .places import Place

#: what does not hold an instance, or is the graph's
OPAQUE = (types.ModuleType, type, types.CodeType, Graph, Node, Tensor, Place)
CLOSED = (*OPAQUE, str, bytes, int, float, complex)


def is_shareable(instance: Any, reached: Reached, made: ConcreteFunction, used: Sequence[Any]) -> bool:
    """Return whether a trace may be used for other instances.

    Parameters
    ----------
    instance : object
        For which it was made.
    reached : Reached
        What it was found to hold, besides others.
    made : ConcreteFunction
    used : sequence
        What writes to the world after a run, and makes its result.
    """
    if made.fresh is not None or not may_go_on(made.graph):
        return False
    roots = [*used, *made.values, *attributes_of(made.graph)]
    own = {id(instance), *[id(one) for place, one in reached.holders if place.path[0] == "receiver"]}
    return not any(id(one) in own or count > MOST_OBJECTS for count, one in enumerate(held_by(roots)))


def attributes_of(graph: Graph) -> list[Any]:
    """Return what the operations of a graph hold objects by."""
    return [list(node.attrs.values()) for node in nodes_inside(graph)]


def held_by(roots: Sequence[Any], closed: tuple[type, ...] = CLOSED) -> Iterator[Any]:
    """Yield what objects hold, and these themselves; nothing that is *closed*."""
    todo, seen = list(roots), {id(roots)}
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, closed):
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, types.FunctionType):  # not its globals
            todo += [value_in(cell) for cell in one.__closure__ or ()]
            todo += one.__defaults__ or ()
        else:
            todo += gc.get_referents(one)
