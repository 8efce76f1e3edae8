"""Results of which each run says which array they are, the caller's, one that is a result already, or a new one, or
which part of the caller's."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.ir.basic_indices import tensors_in
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer

from .operators.staging.array_origins import Origins
from .operators.staging.told_arrays import argument_of, chosen_from, is_argument, is_array, is_in_doubt, root_of
from .returned_views import Returned, chain_of, is_part_of_input, views_of


@dataclass(frozen=True, eq=False)
class Told:
    """A leaf of the result of which each run says which array it is.

    Attributes
    ----------
    place : int
        Which leaf.
    code : int
        The number of the array, or which of those that a run gives says it.
    is_chosen : bool
        Whether the run says it.
    of_inputs : dict
        The numbers of inputs, and of views of them -> what the leaf is then.
    is_whole : bool
        Whether the leaf is the array, and no view of it.
    """

    place: int
    code: int
    is_chosen: bool
    of_inputs: dict[int, Returned]
    is_whole: bool


@dataclass(frozen=True, eq=False)
class Part:
    """Leaves of the result that are one part of an input, of which each run says which.

    Attributes
    ----------
    places : tuple of int
        Which leaves.
    returned : Returned
        What makes it, but for the indices of views of which the run knows them.
    ends : dict
        Tensors in these indices, by id -> which of the numbers that a run gives they are.
    """

    places: tuple[int, ...]
    returned: Returned
    ends: dict[int, int]

    def of(self, array: np.ndarray[Any, Any], codes: Sequence[Any]) -> Any:
        """Return the part of an array."""
        known = {key: int(codes[k]) for key, k in self.ends.items()}  # of a truth value of Python's, too
        views = [
            view if view.real is not None else replace(view, real=operator.itemgetter(_with(view.index, known)))
            for view in self.returned.views
        ]
        return replace(self.returned, views=tuple(views)).of(array)


class ToldResults:
    """What makes of the numbers of arrays, and of the ends of parts, which a run gives, the results.

    Attributes
    ----------
    codes : list of Tensor
        What a run gives besides the results.
    told : list of Told
    parts : list of Part
    """

    def __init__(self, told: Origins | None, leaves: Sequence[Any], inputs: Sequence[Any]) -> None:
        self.codes: list[Tensor] = []
        self.told: list[Told] = []
        self.parts = self._of_inputs(leaves)
        if told is not None:
            self._tell(told, leaves, inputs)

    def _of_inputs(self, leaves: Sequence[Any]) -> list[Part]:
        """Return the parts of inputs of which only a run knows which they are."""
        found: dict[int, list[int]] = {}
        for place, leaf in enumerate(leaves):
            if is_part_of_input(leaf):
                found.setdefault(id(leaf), []).append(place)
        made = []
        for places in found.values():
            leaf = leaves[places[0]]
            views = chain_of(leaf)
            ends = {id(end): end for view in views if view.real is None for end in tensors_in(view.index)}
            numbers = dict(zip(ends, range(len(self.codes), len(self.codes) + len(ends)), strict=True))
            self.codes += ends.values()
            returned = Returned(places[0], leaf.storage.argument, views, leaf.is_writeable)
            made.append(Part(tuple(places), returned, numbers))
        return made

    def _tell(self, told: Origins, leaves: Sequence[Any], inputs: Sequence[Any]) -> None:
        places = [place for place, leaf in enumerate(leaves) if is_array(leaf) and isinstance(leaf, ArrayTracer)]
        every = {place: {told.number(one): one for one in chosen_from(root_of(leaves[place]))} for place in places}
        counts = Counter(number for place in places for number in every[place])
        # an array that nothing has chosen is the object that those are which turn out to be it: it is first
        for place in sorted(places, key=lambda place: root_of(leaves[place]).storage.choice is not None):
            leaf, numbers = leaves[place], every[place]
            code, is_whole = told.of(root_of(leaf)), leaf.view_of is None
            table = {}
            if isinstance(code, Tensor) and is_in_doubt(leaf):
                arguments = {number: one for number, one in numbers.items() if is_argument(one)}
                table = {number: _returned(place, one, inputs, leaf) for number, one in arguments.items()}
            if not table and not (is_whole and any(counts[number] > 1 for number in numbers)):
                continue
            if isinstance(code, Tensor):
                self.codes.append(code)
                self.told.append(Told(place, len(self.codes) - 1, True, table, is_whole))
            else:
                self.told.append(Told(place, code, False, table, is_whole))

    def input_of(self, codes: Sequence[Any], values: Sequence[Any]) -> Any:
        """Return the input that the first of the results is, or the view of one; None if it is another array."""
        if self.parts:
            part = self.parts[0]
            return part.of(values[part.returned.position], codes)
        one = self.told[0]
        returned = one.of_inputs.get(int(codes[one.code]) if one.is_chosen else one.code)
        return None if returned is None else returned.of(values[returned.position])

    def put_into(self, leaves: list[Any], values: Sequence[Any], codes: Sequence[Any]) -> None:
        """Replace results by the arrays that they are.

        Parameters
        ----------
        leaves : list
            The results.
        values : sequence
            The inputs.
        codes : sequence of int
        """
        for part in self.parts:
            array = values[part.returned.position]
            if isinstance(
                array, np.ndarray
            ):  # of a tensor it is what the run has computed, which may be differentiated
                whole = part.of(array, codes)
                for place in part.places:
                    leaves[place] = whole
        known: dict[int, Any] = {}
        for one in self.told:
            code = int(codes[one.code]) if one.is_chosen else one.code
            if one.is_whole and code in known:
                leaves[one.place] = known[code]
                continue
            if (returned := one.of_inputs.get(code)) is not None:
                leaves[one.place] = returned.of(values[returned.position])
            if one.is_whole and code:
                known[code] = leaves[one.place]


def _returned(place: int, one: Any, inputs: Sequence[Any], leaf: Any) -> Returned:
    """Return what a leaf is if it is, or is a view of, an input or a view of one."""
    mine = () if leaf is root_of(leaf) else views_of(leaf) or ()
    itself = next((k for k, value in enumerate(inputs) if value is one), None)
    position, views = (argument_of(one), views_of(one)) if itself is None else (itself, ())
    return Returned(place, position, (*views, *mine), one.is_writeable and leaf.is_writeable)  # type: ignore[misc,arg-type]


def _with(index: Any, known: dict[int, int]) -> Any:
    """Return a basic index with numbers in place of tensors."""
    if isinstance(index, tuple):
        return tuple([_with(one, known) for one in index])
    if isinstance(index, slice):
        return slice(*[_with(one, known) for one in (index.start, index.stop, index.step)])
    return known[id(index)] if isinstance(index, Tensor) else index


def told_results(told: Origins | None, leaves: Sequence[Any], inputs: Sequence[Any]) -> ToldResults | None:
    """Return what makes the results that each run tells apart; None if there are none."""
    made = ToldResults(told, leaves, inputs)
    return made if made.codes else None
