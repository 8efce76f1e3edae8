"""Traces that write to the arrays they are called with, or give them back: the caller's own arrays are meant.

A run writes to the caller's array where it can; what it has computed elsewhere is copied there when it is over.
Nothing of this is paid by functions that do neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.fp_warnings import asked
from autoloop_runtime.ir.array_layouts import Lying, is_writeable, lying
from autoloop_runtime.ir.array_storage import kept, refuse_lost
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.followers import written
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer
from autoloop_runtime.running.prepare import prepare, run_graph

from .concrete import CalledPlain, ConcreteFunction, leave_unknown_errors, own
from .given_arrays import COPIED, TakenForTwo, is_folded, is_same, overlap
from .returned_views import Returned, views_of

if TYPE_CHECKING:
    from autoloop_runtime.running.runner import Runner

    from .told_results import ToldResults


class OtherMemory(Exception):
    """Arrays lie otherwise in memory than the trace was made for: one is given as several arguments, elements are not
    in C order, or, *exactly*, have other strides or flags, or overlap with what is no argument. The *refusal* is what
    is said if no trace can be made for that."""

    def __init__(self, exactly: bool = False, refusal: str = "") -> None:
        self.exactly, self.refusal = exactly, refusal

    def refuse(self, name: str) -> NoReturn:
        """Raise the error for who calls the trace itself."""
        said = (
            f"{name}: an array lies otherwise in memory than the one that this trace was made for, or is given twice; "
            f"call the function itself, or give a copy [AL013]"
        )
        raise TypeError(self.refusal or said) from None


class OverlappingArguments(TypeError):
    """Two arguments, or elements of one, overlap in memory, and one of them is written to."""


@dataclass(frozen=True)
class References:
    """What a trace does to the arrays it is called with.

    Attributes
    ----------
    written : tuple of (int, Tensor)
        Which inputs are written to, and what they hold in the end.
    returned : tuple of Returned
        Which leaves of the result are inputs, or views of them.
    names : tuple of str
        The inputs' names.
    same : frozenset of (int, int)
        Pairs of inputs that are known to be one array, or parts of one.
    ordered : tuple of int
        Inputs whose elements must lie in C order.
    without_axes : bool
        Whether some are arrays without axes.
    lying : tuple of (int, Lying)
        How inputs must lie in memory that were asked how they do.
    world_from : int
        From which input on there are no arguments.
    apart : tuple of (int, int)
        Pairs of inputs that ``is`` has told are two arrays.
    """

    written: tuple[tuple[int, Tensor], ...]
    returned: tuple[Returned, ...]
    names: tuple[str, ...]
    same: frozenset[tuple[int, int]] = frozenset()
    ordered: tuple[int, ...] = ()
    without_axes: bool = False
    lying: tuple[tuple[int, Lying], ...] = ()
    world_from: int = 0
    apart: tuple[tuple[int, int], ...] = ()


def _refuse_flatiter(leaf: Any) -> None:
    view = leaf.view_of if isinstance(leaf, ArrayTracer) else None
    if view is not None and view.is_flat:
        raise TypeError("a decorated function gives no numpy.flatiter: return the array, or a copy, x.flat[:] [AL029]")


def references_of(
    graph: Graph, arguments: Sequence[Any], value: Any, same: frozenset[tuple[int, int]], world_from: int
) -> References | None:
    """Return what a trace does to its arguments; None if it only reads them.

    Parameters
    ----------
    graph : Graph
    arguments : sequence
        What stands for the inputs of ``graph``.
    value : object
        What the function gave.
    same : frozenset of (int, int)
        Pairs of inputs that are one array, or parts of one.
    world_from : int
        See ``References``.

    Raises
    ------
    TypeError
        If it is not known what an argument holds in the end.
    """
    written, asked_of = [], []
    ordered: list[int] = []
    copied: list[int] = []
    names = tuple([t.op.name for t in graph.inputs])
    for position, argument in enumerate(arguments):
        storage = kept(argument)
        if storage is None or storage.argument != position:
            continue
        if storage.lost:
            refuse_lost(f"{storage.lost}, and the argument {names[position]!r} may be that array")
        if storage.version:
            written.append((position, storage.tensor))
        if storage.is_order_asked and storage.contiguous:
            (copied if storage.is_copied_by_order else ordered).append(position)
        if storage.is_lying_asked and storage.lying is not None:
            asked_of.append((position, storage.lying))
    returned = _returned(value, arguments, graph.root.theirs is not None)
    apart = _apart(graph, arguments)
    if not written and not returned and not asked_of and not copied and not apart:
        return None
    storages = map(kept, arguments)
    without_axes = any(storage is not None and storage.is_without_axes for storage in storages)
    return References(
        tuple(written),
        tuple(returned),
        names,
        same,
        tuple(copied + ordered) if written else tuple(copied),
        without_axes,
        tuple(asked_of),
        world_from,
        apart,
    )


def _returned(value: Any, arguments: Sequence[Any], is_foreign: bool) -> list[Returned]:
    """Return which leaves of a result are inputs, or views of them; of another library's arrays that makes views."""
    returned = []
    for place, leaf in enumerate(nest.flatten(value, True)):
        storage, views = kept(leaf), views_of(leaf)
        _refuse_flatiter(leaf)
        if storage is not None and storage.argument is not None and views is not None:
            itself = next((k for k, one in enumerate(arguments) if one is leaf), None)
            position, views = (storage.argument, views) if itself is None else (itself, ())
            if views and is_foreign:
                continue
            returned.append(Returned(place, position, views, leaf.is_writeable))
    return returned


def _apart(graph: Graph, arguments: Sequence[Any]) -> tuple[tuple[int, int], ...]:
    """Return which pairs of inputs the trace has compared by ``is`` and taken for two."""
    if (compared := graph.records.pop(TakenForTwo, None)) is None:
        return ()
    places = {id(one): position for position, one in enumerate(arguments)}
    pairs = [(places.get(id(one)), places.get(id(other))) for one, other in compared.pairs]
    return tuple({(one, other): None for one, other in pairs if one is not None and other is not None})


def refuse_read_only(refusal: str) -> NoReturn:
    """Raise the error for an array that cannot be written to.

    Plain Python says at which line, and may find that none writes to it; some functions of NumPy's do not ask.
    """
    error = ValueError(refusal)
    if COPIED.get():
        raise error
    raise CalledPlain from error


class ReferringFunction(ConcreteFunction):
    """A trace that writes to its arguments or gives them back.

    Attributes
    ----------
    references : References
        What it does to them.
    """

    def __init__(
        self, name: str, graph: Graph, value: Any, executor: str, references: References,
        told: ToldResults | None = None,
    ) -> None:  # fmt: skip
        self.references = references
        shared = {one.place for one in references.returned}
        super().__init__(name, graph, value, executor, references.written, shared, told)
        self._written = [position for position, _ in references.written]
        is_leaf = not references.returned and self._structure.is_leaf()
        self._gives_none = is_leaf and self._fixed[0][0] and self._fixed[0][1] is None
        # which leaves are made, and which are one of these again: a view that has two names is one array
        objects: dict[Any, int] = {}
        first = [objects.setdefault((one.position, one.views), one.place) for one in references.returned]
        self._apart = [one for one, at in zip(references.returned, first) if one.place == at]
        self._again = [(one.place, at) for one, at in zip(references.returned, first) if one.place != at]
        #: made when it is first wanted; if two threads make it, one is dropped
        self._made_to_record: Runner | None = None

    def run(self, values: list[Any], arrays: Sequence[np.ndarray[Any, Any]] = (), call: tuple[Any, ...] = ()) -> Any:
        """Run on raw values, of which the arrays are the caller's own."""
        self._check(values)
        if self.references.without_axes:
            self._check_without_axes(values, arrays)
        return self.given(self.results(values), values, arrays)

    def given(self, results: Sequence[Any], values: Sequence[Any], arrays: Sequence[np.ndarray[Any, Any]] = ()) -> Any:
        """Return what the caller gets of what a run on ``values`` has given, and write what it has to the arrays."""
        made = [handed(own(result, arrays)) for handed, result in zip(self._handed, results)]
        self._write(values, results[self._codes.stop :])
        if self._gives_none:
            return None
        if self._single is not None and self._told is None:
            return made[0]
        return self._packed(made, values, results[self._codes])

    def __call__(self, *args: Any) -> Any:
        """Call with one value per graph input."""
        try:
            return super().__call__(*args)
        except OtherMemory as other:
            other.refuse(self.name)

    @property
    def plainly_lying(self) -> tuple[Sequence[int], Sequence[int]] | None:
        """The inputs that are written to, and those whose elements must lie in C order, where nothing else is asked of
        how arrays lie that have memory of their own; None otherwise."""
        asked_of = self.references
        is_plain = not (asked_of.lying or asked_of.without_axes or asked_of.apart)
        return (self._written, asked_of.ordered) if is_plain else None

    @property
    def plainly_written(self) -> Sequence[tuple[int, int]]:
        """The inputs that are written to, and the output that each of them holds in the end."""
        return list(self._donated.items())

    @property
    def plainly_given(self) -> tuple[Sequence[tuple[int, int]], Sequence[int]] | None:
        """The outputs that are the inputs written to, once nothing is to be copied, and the input that is the result,
        or none for None; None where there is more to it."""
        if self._handed or self._told is not None or not self._structure.is_leaf():
            return None
        ends = [(self._codes.stop + j, k) for j, k in enumerate(self._written)]
        itself = [one.position for one in self.references.returned if not one.views and one.is_writeable]
        return (ends, itself) if self._gives_none or len(itself) == 1 else None

    def run_recorded(self, leaves: Sequence[Any]) -> tuple[Any, Any]:
        """Run on tensors and arrays while somebody records: what the way back reads is not written to."""
        self._check(leaves)
        runner = self._checked_to_record if asked() else self._recorded_runner
        results = run_graph(self.graph, runner, [convert_to_tensor(leaf) for leaf in leaves])
        ends = results[self._codes.stop :]
        self._write(leaves, [t.value for t in ends])
        held = list(leaves)
        for position, end in zip(self._written, ends):
            if isinstance(held[position], Tensor):
                written(held[position])
                held[position] = end
        return self._recorded(results, held)

    @property
    def _checked_to_record(self) -> Runner:
        """What tells of floating-point errors, and leaves the arrays that it is given as they are."""
        leave_unknown_errors(self)
        return prepare(self.graph, "dataflow")

    @property
    def _recorded_runner(self) -> Runner:
        """What leaves the arrays that it is given as they are."""
        if self._made_to_record is None:
            self._made_to_record = prepare(self.graph, self.runner.asked)
        return self._made_to_record

    def _check(self, values: Sequence[Any]) -> None:
        """Raise, before anything is done, if what is written to cannot be, or is more than one argument."""
        names, same = self.references.names, self.references.same
        for one, another in self.references.apart:
            if values[one] is values[another]:
                raise OtherMemory(max(one, another) >= self.references.world_from)
        for position in self.references.ordered:
            if type(values[position]) is np.ndarray and not values[position].flags.c_contiguous:
                raise OtherMemory
        if self.references.lying and COPIED.get():
            raise TypeError(
                f"{self.name} asks how an argument lies in memory, x.strides or the like, and one is of another byte "
                f"order or library: give a copy of it, np.array(x, x.dtype.newbyteorder('=')) [AL008]"
            )
        for position, known in self.references.lying:
            if type(values[position]) is np.ndarray and lying(values[position]) != known:
                raise OtherMemory(exactly=True)
        arrays = [(other, value) for other, value in enumerate(values) if type(value) is np.ndarray]
        apart = len({id(value) for _, value in arrays}) == len(arrays)
        for _, value in arrays:
            if not value.flags.owndata:
                apart = False
                break
        for position in self._written:
            array = values[position]
            if type(array) is not np.ndarray:
                continue
            if not is_writeable(array):
                refuse_read_only(f"assignment destination is read-only (argument {names[position]!r})")
            if apart:
                continue
            if is_folded(array):
                raise OverlappingArguments(
                    f"{self.name}: elements of the argument {names[position]!r} lie in the same memory as others, and "
                    f"it is written to; give a copy of it"
                )
            owns = array.flags.owndata
            for other, value in arrays:
                if other == position or (owns and value.flags.owndata and value is not array):
                    continue
                if not np.may_share_memory(array, value):
                    continue
                if (position, other) in same or (other, position) in same or not overlap(array, value):
                    continue
                if is_same(array, value):
                    raise OtherMemory
                refusal = (
                    f"{self.name}: the arguments {names[position]!r} and {names[other]!r} overlap in memory, and "
                    f"{names[position]!r} is written to; give a copy of one [AL015]"
                )
                if max(position, other) >= self.references.world_from:
                    raise OtherMemory(True, refusal)
                raise OverlappingArguments(refusal)

    def _check_without_axes(self, values: Sequence[Any], arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        """Raise if an array without axes, of which the run has the value, is a part of what is written to."""
        for position in self._written:
            if any(not one.ndim and np.may_share_memory(one, values[position]) for one in arrays):
                raise OverlappingArguments(
                    f"{self.name}: an argument without axes is a part of {self.references.names[position]!r}, which is "
                    f"written to; give a copy of one"
                )

    def _write(self, values: Sequence[Any], results: Sequence[Any]) -> None:
        """Put what the run gave for the arguments into them, where it is not there already."""
        moved = [(values[k], result) for k, result in zip(self._written, results) if result is not values[k]]
        if len(moved) > 1:  # what is written to one may lie in the memory of another
            arrays = [v for v in values if isinstance(v, np.ndarray)]
            moved = [(array, own(result, arrays)) for array, result in moved]
        for array, result in moved:
            if type(array) is np.ndarray:
                array[...] = result

    def _shared(self, values: Sequence[Any]) -> Mapping[int, Any]:
        """Return the leaves that are memory of the caller's."""
        shared = {one.place: one.of(values[one.position]) for one in self._apart}
        for place, first in self._again:
            shared[place] = shared[first]
        return shared


def same_arrays(leaves: Sequence[Any]) -> tuple[int, ...]:
    """Return, for each leaf of a call, which leaf it is the same array as: the first, or itself."""
    arrays = [(place, leaf) for place, leaf in enumerate(leaves) if isinstance(leaf, np.ndarray)]
    first = list(range(len(leaves)))
    for place, leaf in arrays:
        first[place] = next(other for other, value in arrays if is_same(value, leaf))
    return tuple(first)


def in_order(leaves: Sequence[Any]) -> tuple[bool, ...]:
    """Return which leaves of a call are arrays whose elements lie in C order."""
    return tuple([isinstance(leaf, np.ndarray) and leaf.flags.c_contiguous for leaf in leaves])


def lying_of(leaves: Sequence[Any]) -> tuple[Lying | None, ...]:
    """Return how the leaves of a call that are arrays lie in memory."""
    return tuple([lying(leaf) if isinstance(leaf, np.ndarray) else None for leaf in leaves])
