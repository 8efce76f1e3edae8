"""Whether a trace that does not know extents does with them what one did that knew its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.base import nest
from autoloop_runtime.base.dtypes import variant
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.array_views import dense_strides
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, own_kind

from .concrete import ConcreteFunction
from .operators.staging.mixed_numbers import MixedNumber
from .returned_views import Returned
from .state.stateful import StatefulFunction, Variant
from .told_results import ToldResults
from .written_arguments import ReferringFunction

#: a number of Python's or NumPy's: where a loop may not run, one function may give both
_NUMBER = "number"


def may_stand_for(made: Any, example: Any) -> bool:
    """Return whether what was *made* without extents gives objects of the same kinds as the *example* that knew its
    own, which share memory in the same way, and changes nothing but arguments."""
    made, example = _of_arguments(made), _of_arguments(example)
    if made is None or example is None:
        return False
    if any(t.dtype == variant for node in nodes_inside(made.graph) for t in node.outputs):
        return False  # what collections of no elements are made of, only a trace of shapes that it knows can tell
    return bool(_form(made) == _form(example))


def _of_arguments(trace: Any) -> ConcreteFunction | None:
    """Return the trace itself if all that it changes are its arguments."""
    if isinstance(trace, StatefulFunction):
        trace = trace.variants[0]
    if isinstance(trace, Variant):
        return None if trace.is_pair or trace.result is not None else trace.concrete
    return trace if type(trace) in (ConcreteFunction, ReferringFunction) else None


def _form(trace: ConcreteFunction) -> Any:
    """Return what of how results are handed back does not hang on extents."""
    leaves, structure = nest.flatten_with_structure(trace.structured_outputs)
    storages = list(map(kept, leaves))
    together = [k if one is None else storages.index(one) for k, one in enumerate(storages)]
    views, fresh, told = trace.sharing
    shared = [_of_views(every) for every in views], None if fresh is None else list(fresh.places), _of_told(told)
    returned, same = [], frozenset[Any]()
    if isinstance(trace, ReferringFunction):
        returned, same = _of_views(trace.references.returned), trace.references.same
        if trace.references.lying:
            return object()  # it has asked how far elements lie apart
    return structure, list(map(_kind, leaves)), together, shared, returned, trace.written, same


def _of_told(told: ToldResults | None) -> Any:
    """Return what of the results that only a run tells apart does not hang on extents."""
    if told is None:
        return None
    parts = [(part.places, _of_views([part.returned]), list(part.ends.values())) for part in told.parts]
    chosen = [
        (one.place, one.code, one.is_chosen, list(one.of_inputs), _of_views([*one.of_inputs.values()]), one.is_whole)
        for one in told.told
    ]
    return parts, chosen


def _of_views(every: Sequence[Returned]) -> list[Any]:
    return [(one.place, one.position, len(one.views), one.is_writeable) for one in every]


def _kind(leaf: Any) -> Any:
    """Return what kind of object a leaf of the result is, and whether its elements are in another order than C's."""
    if not isinstance(leaf, Tensor):
        return _NUMBER if isinstance(leaf, (bool, int, float, complex, MixedNumber)) else type(leaf)
    kind = own_kind(leaf)
    if kind is NumberTracer or (kind is ArrayTracer and leaf.shape.rank == 0):
        return _NUMBER
    lies = dense_strides(leaf) if isinstance(leaf, ArrayTracer) else None
    is_ordered = lies is None or list(lies) == sorted(lies, reverse=True)
    return kind, leaf.dtype, is_ordered, isinstance(leaf, ArrayTracer) and leaf.is_writeable
