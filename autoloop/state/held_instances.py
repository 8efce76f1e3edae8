"""Which traces the instances of a class, and functions of one code, may share: those where what a run uses neither is
nor holds the instance or the function."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.analysis.observable import may_go_on
from autoloop_runtime.base.locations import is_library_file
from autoloop_runtime.ir.graph import Graph, Node
from autoloop_runtime.ir.tensor import Tensor

from ..concrete import ConcreteFunction
from ..conversion.callables import is_users_class
from ..conversion.cells import value_in
from ..keys import OBJECTS, SHARED, leaf_key
from ..operators.mutation.parts_of_objects import MOST_OBJECTS, has_state, is_made_anew
from .noted import Guard, Reached
from .places import Place

if TYPE_CHECKING:
    from .retrials import Request

#: what does not hold an instance, or is the graph's
OPAQUE = (types.ModuleType, type, types.CodeType, Graph, Node, Tensor, Place)
CLOSED = (*OPAQUE, str, bytes, int, float, complex)


def sharing(
    request: Request, reached: Reached, made: ConcreteFunction, used: Sequence[Any]
) -> tuple[bool, list[Guard]]:  # fmt: skip
    """Return whether a trace may be used for other instances, and for other objects of their classes among the
    arguments, and the guards of functions that have to be the very ones, where others of their code may not do.

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
    instances = _objects_of(request.leaves)
    SHARED.update(map(type, instances))
    roots = ["call"] if instances else []
    if request.receiver is not None:
        instances.append(request.receiver())
        roots.append("receiver")
    functions = [one for _, one in reached.made_anew]
    held = [*instances, *[one for place, one in reached.holders if place.path[0] in roots]]
    held += [*functions, *[cell for place, cell in reached.cells if place.parent is not None]]
    are_asked = reached.hides_functions and any(map(_is_of_code, held))
    if not held or not (are_asked or _is_used(held, made, used)):
        return bool(instances), []
    return False, [Guard("is", place, one) for place, one in reached.made_anew]


def _is_used(objects: Sequence[Any], made: ConcreteFunction, used: Sequence[Any]) -> bool:
    """Return whether what a run uses is, or holds, one of some objects, as far as can be told."""
    if made.fresh is not None or not may_go_on(made.graph):
        return True
    own = set(map(id, objects))  # recipes know the ids of what they find
    if any(id(one) in own or count > MOST_OBJECTS for count, one in enumerate(held_by(used))):
        return True
    return holds_any(objects, [*made.values, made.structured_outputs, *attributes_of(made.graph)])


def _objects_of(leaves: Sequence[Any]) -> list[Any]:
    """Return the objects among some arguments of which a trace knows no more than their class, or their code."""
    objects = [one for one in leaves if isinstance(leaf_key(one), OBJECTS)]
    return [one for one in objects if _is_of_code(one) or (has_state(one) and is_users_class(type(one)))]


def _is_of_code(value: Any) -> bool:
    """Return whether something is a function of the user's, or stands around others, which are found from it."""
    if isinstance(value, types.FunctionType):
        return not is_library_file(value.__code__.co_filename)
    return is_made_anew(value)


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
