"""Growing lists as they begin: what their elements are is told by one that they hold, or will hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, own_kind

from .growing_list import GrowingList, is_list_of_rows
from .instances import as_objects, as_rows
from .leaves_of_elements import checked_leaf, refuse_hollow
from .list_columns import as_element, empty_arrays


def growing(name: str, elements: Sequence[Any], example: Any, others: Any = ()) -> GrowingList:
    """Return a growing list that starts with ``elements``; ``example`` is a growing list, or the like of one.

    Its numbers may be of the types that they are in ``others``, a list of another iteration or branch.
    """
    elements = as_objects(list(elements))
    made = example.empty() if isinstance(example, GrowingList) else _like(name, example)
    made.name = name
    for one in (*elements, *(others if type(others) is list else ())):
        leaves, structure = nest.flatten_with_structure(as_rows(one))
        if structure == made.structure:
            made.admit(leaves, True)
    if isinstance(others, GrowingList):
        made = made.with_types_of(others)
    made.begin(elements)
    return made


def _like(name: str, element: Any) -> GrowingList:
    leaves, structure = nest.flatten_with_structure(element)
    if not leaves:
        refuse_hollow(name)
    tensors = [leaf if isinstance(leaf, _Spec) else as_element(checked_leaf(name, leaf)) for leaf in leaves]
    kinds = [leaf.kind if isinstance(leaf, _Spec) else own_kind(leaf) for leaf in leaves]
    lists = frozenset(place for place, leaf in enumerate(leaves) if isinstance(leaf, _Spec) and leaf.is_list)
    return GrowingList(name, empty_arrays((one.dtype, one.shape) for one in tensors), structure, kinds, lists)


def example_of(*lists: Any) -> Any:
    """Return a growing list, or the element that best tells what the elements are: a tensor before a number."""
    for one in lists:
        if isinstance(one, GrowingList):
            return one
    elements = [nest.map_structure(_spec, as_rows(element)) for one in lists for element in reversed(one)]
    kinds = Tensor | _Spec | np.ndarray
    tensors = [one for one in elements if any(isinstance(leaf, kinds) for leaf in nest.flatten(one))]
    return (tensors or elements)[0]


@dataclass(frozen=True)
class _Spec:
    """What an element is, without its value."""

    dtype: Any
    shape: TensorShape
    kind: Kind
    is_list: bool = False


def _spec(leaf: Any) -> Any:
    """Return what tells of an element that is itself a growing list, or a view that may be one of a loop's body."""
    if isinstance(leaf, ArrayTracer) and leaf.view_of is not None:
        return _Spec(leaf.dtype, leaf.shape, ArrayTracer)
    if not isinstance(leaf, GrowingList):
        return leaf
    (array,) = leaf.arrays[:1]
    is_list = is_list_of_rows(leaf)
    kind = leaf.__autoloop_kind__ if is_list else ArrayTracer
    return _Spec(array.dtype, TensorShape([None]).concatenate(array.element_shape), kind, is_list)
