"""Which traces the instances of a class may share: those where what a run uses neither is nor holds the instance."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.analysis.observable import may_go_on
from autoloop_runtime.ir.graph import Graph, Node
from autoloop_runtime.ir.tensor import Tensor

from ..concrete import ConcreteFunction
from ..conversion.callables import is_users_class
from ..conversion.cells import value_in
from ..keys import OBJECTS, SHARED, leaf_key
from ..operators.mutation.parts_of_objects import MOST_OBJECTS, has_state
from .noted import Reached
from .places import Place

if TYPE_CHECKING:
    from .retrials import Request

#: what does not hold an instance, or is the graph's
OPAQUE = (types.ModuleType, type, types.CodeType, Graph, Node, Tensor, Place)
CLOSED = (*OPAQUE, str, bytes, int, float, complex)


def is_shareable(request: Request, reached: Reached, made: ConcreteFunction, used: Sequence[Any]) -> bool:
    """Return whether a trace may be used for other instances, and for other objects of their classes among the
    arguments.

    Parameters
    ----------
    request : Request
        For which it was made.
    reached : Reached
        What it was found to hold, besides others.
    made : ConcreteFunction
    used : sequence
        What writes to the world after a run, and makes its result.
    """
    if made.fresh is not None or not may_go_on(made.graph):
        return False
    instances = _objects_of(request.leaves)
    SHARED.update(map(type, instances))
    roots = ["call"] if instances else []
    if request.receiver is not None:
        instances.append(request.receiver())
        roots.append("receiver")
    if not instances:
        return False
    objects = [*instances, *[one for place, one in reached.holders if place.path[0] in roots]]
    own = set(map(id, objects))  # recipes know the ids of what they find
    if any(id(one) in own or count > MOST_OBJECTS for count, one in enumerate(held_by(used))):
        return False
    return not holds_any(objects, [*made.values, made.structured_outputs, *attributes_of(made.graph)])


def _objects_of(leaves: Sequence[Any]) -> list[Any]:
    """Return the objects among some arguments of which a trace knows no more than their class."""
    objects = [one for one in leaves if isinstance(leaf_key(one), OBJECTS)]
    return [one for one in objects if has_state(one) and is_users_class(type(one))]


def holds_any(objects: Sequence[Any], roots: Sequence[Any]) -> bool:
    """Return whether one of some objects is held, or its identity, or a text that tells it."""
    known = {*map(id, objects), *map(object.__hash__, objects)}
    words = [f"{id(one):x}" for one in objects]
    for count, one in enumerate(held_by(roots, OPAQUE)):
        if id(one) in known or count > MOST_OBJECTS:
            return True
        if isinstance(one, int | np.integer) and int(one) in known:
            return True
        texts = (one,) if isinstance(one, str) else one.flat if _holds_texts(one) else ()
        if any(word in text.lower() for text in texts for word in words):
            return True
    return False


def _holds_texts(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "U"


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
