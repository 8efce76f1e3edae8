"""Results that are memory of another array, of the caller's or of the run's: the array, and views of it.

A graph gives values; which of them share memory a trace knows. So one value of an array is enough, and the others are
made of it by the very views that NumPy would have made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.array_layouts import is_writeable
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.array_views import View
from autoloop_runtime.ir.basic_indices import tensors_in
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, TextTracer

from .given_arrays import distance, whole_of


@dataclass(frozen=True)
class Returned:
    """A leaf of the result that is memory of another array.

    Attributes
    ----------
    place : int
        Which leaf.
    position : int
        Which input, or which output, it is, or is a view of.
    views : tuple of View
        What makes it of that, one after the other.
    is_writeable : bool
        Whether the function lets it be written to.
    """

    place: int
    position: int
    views: tuple[View, ...]
    is_writeable: bool

    def of(self, array: Any) -> Any:
        """Return it for an array, or for a tensor that stands for one."""
        for view in self.views:
            make = view.forward if isinstance(array, Tensor) else view.real
            assert make is not None  # see ``views_of``
            array = make(array)
        if isinstance(array, np.ndarray) and not self.is_writeable and is_writeable(array):
            array = array.view()
            array.flags.writeable = False
        return array


def views_of(leaf: Any) -> tuple[View, ...] | None:
    """Return what makes a view of the array that it is a part of; None if only a run knows."""
    made: list[View] = []
    view = getattr(leaf, "view_of", None)
    while view is not None:
        if view.real is None:
            return None
        made.append(view)
        view = view.parent.view_of
    return tuple(made[::-1])


def chain_of(leaf: Any) -> tuple[View, ...]:
    """Return the views that make a view of the array that it is a part of, be it known or not which part."""
    made: list[View] = []
    view = getattr(leaf, "view_of", None)
    while view is not None:
        made.append(view)
        view = view.parent.view_of
    return tuple(made[::-1])


def is_part_of_input(leaf: Any) -> bool:
    """Return whether a leaf of the result is a part of an input that is named by numbers which a run can give."""
    storage = None if isinstance(leaf, TextTracer) else kept(leaf)
    if storage is None or storage.argument is None or leaf.view_of is None or leaf.shape.rank == 0:
        return False
    graph = storage.tensor.graph
    untold = [view for view in chain_of(leaf) if view.real is None]
    ends = [tensors_in(view.index) for view in untold]
    return bool(untold) and all(ends) and all(end.graph is graph for every in ends for end in every)


def copied(array: np.ndarray[Any, Any], seen: dict[int, Any]) -> Any:
    """Return a copy of an array, which shares memory with the copies of arrays that share memory with it.

    Parameters
    ----------
    array : ndarray
    seen : dict
        The copies so far, by the identity of what they were made of.
    """
    if id(array) not in seen:
        whole = whole_of(array)
        base = seen.get(id(whole))
        if base is None:
            base = seen[id(whole)] = whole.copy(order="K")
        if array is whole:
            base.flags.writeable = is_writeable(array)
            return base
        is_so = is_writeable(base)
        base.flags.writeable = True  # what is made of it may be, too, as views are that were made before it was locked
        if base.flags.c_contiguous and whole.flags.c_contiguous and not array.dtype.hasobject:
            made = np.ndarray(array.shape, array.dtype, base, distance(whole, array), array.strides)
        else:
            made = array.copy()
        made.flags.writeable, base.flags.writeable = is_writeable(array), is_so
        seen[id(array)] = made
    return seen[id(array)]


class SharedMemory:
    """Which results are one array that a run makes, or views of it.

    Parameters
    ----------
    leaves : sequence
        The results, flat.
    others : collection of int
        Leaves that are memory of the caller's.

    Attributes
    ----------
    first : dict
        Leaf -> the leaf of which it is, or is a view of, the array.
    bases : dict
        Such leaves -> the whole array, where they are a view themselves.
    """

    def __init__(self, leaves: Sequence[Any], others: Collection[int]) -> None:
        self._leaves = leaves
        self.first: dict[int, int] = {}
        self.bases: dict[int, Tensor] = {}
        together: dict[int, list[int]] = {}
        for place, leaf in enumerate(leaves):
            storage = None if isinstance(leaf, TextTracer) else kept(leaf)
            if storage is not None and storage.argument is None and place not in others and views_of(leaf) is not None:
                together.setdefault(id(storage), []).append(place)
        for places in together.values():
            if len(places) > 1:
                whole = [place for place in places if leaves[place].view_of is None]
                first = (whole or places)[0]
                self.first.update(dict.fromkeys(places, first))
                if whole:
                    del self.first[first]
                else:
                    self.bases[first] = leaves[first].storage.tensor

    def returned(self, outputs: dict[int, int]) -> list[list[Returned]]:
        """Return the leaves that are made of outputs; those of one list are one object.

        Parameters
        ----------
        outputs : dict
            Leaf of ``first`` -> the output that is its array.
        """
        objects: dict[int, list[Returned]] = {}
        for place, first in self.first.items():
            leaf = self._leaves[place]
            one = Returned(place, outputs[first], views_of(leaf) or (), leaf.is_writeable)
            objects.setdefault(id(leaf), []).append(one)
        return list(objects.values())


def may_share(kind: Kind, tensor: Tensor) -> bool:
    """Return whether an output is an array of the caller's, or a list: to change one must not change another."""
    return (kind is ArrayTracer and tensor.shape.rank != 0) or tensor.dtype.kind == "O"


def set_apart(given: list[Any], places: Sequence[tuple[int, int]]) -> None:
    """Replace arrays that may share memory with others, or with elements of lists, by copies, but for those of one
    tensor."""
    # of those with one owner, and of those that lie in what NumPy has not made, which may be anybody's
    together: dict[int, list[tuple[Any, int | None]]] = {}
    foreign = together.setdefault(0, [])
    arrays = [(place, tensor) for place, tensor in places if type(given[place]) is np.ndarray]
    if arrays and len(arrays) < len(places):
        for element in _elements([given[place] for place, _ in places]):
            whole = whole_of(element)
            (together.setdefault(id(whole), []) if whole.base is None else foreign).append((element, None))
    for place, tensor in arrays:  # tensors share no memory that anybody writes to
        array = given[place]
        whole = whole_of(array)
        mine = together.setdefault(id(whole), []) if whole.base is None else foreign
        others = [*mine, *foreign] if mine is not foreign else [one for every in together.values() for one in every]
        if any(one != tensor and np.may_share_memory(other, array) for other, one in others):
            given[place] = array.copy()
        else:
            mine.append((array, tensor))


def _elements(given: Sequence[Any]) -> Iterator[Any]:
    """Yield the arrays in whose memory those lie that are elements of lists."""
    for one in given:
        if isinstance(one, Tensor) and (memory := getattr(one.value, "memory_of_elements", None)) is not None:
            yield from memory()
