"""What a file says of arguments and results of a function: made of a trace here, refused where it has no words."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.locations import Location
from autoloop_runtime.ir.array_views import View, dense_strides
from autoloop_runtime.ir.run_state import Stored
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, ZeroDimArray, own_kind
from autoloop_runtime.ops.index import Slice
from autoloop_runtime.saving.load_errors import SaveError, unsavable
from autoloop_runtime.saving.value_form import ValueWriter, name_of_kind, shape_form, spec_dtype_text

from ..call_form import CallForm, InputForm
from ..concrete import ConcreteFunction
from ..operators.staging.growing_list import GrowingList
from ..operators.staging.mixed_numbers import MixedNumber
from ..operators.staging.optional import MaybeNone
from ..parameters import Parameters
from ..written_arguments import ReferringFunction
from .loaded_results import is_basic
from .tree_form import tree_form

#: values of Python's that come back as they are
_CONSTANTS = (bool, int, float, complex, str, type(None))


def _constant(value: Any, what: str, values: ValueWriter, location: Location) -> Any:
    is_array = type(value) is np.ndarray or isinstance(value, np.generic)
    is_plain = type(value) in _CONSTANTS or isinstance(value, np.dtype) or is_array
    if not is_plain:
        raise unsavable(f"{what} of the class {type(value).__qualname__!r} cannot be saved", location)
    return ["constant", values.form(value, what, location)]


def arguments_form(form: CallForm, values: ValueWriter, location: Location) -> list[Any]:
    """Return what a file says of the arguments of a trace: a structure of inputs and constants.

    Raises
    ------
    SaveError
        If one is none that a file holds, or arrays are given twice.
    """

    def leaf(value: Any) -> Any:
        if type(value) is InputForm:
            spec = value.spec
            return ["argument", value.position, value.kind, spec_dtype_text(spec.dtype), shape_form(spec.shape)]
        return _constant(value, "an argument", values, location)

    made = []
    _, named = form.parameters.split(form.call)
    every = form.parameters.named(form.call)
    try:
        for place, (name, argument) in enumerate(every):
            made.append([name, place >= len(every) - len(named), tree_form(argument, leaf, values)])
    except SaveError as error:
        raise unsavable(f"the argument {name!r} cannot be saved: {error}", location) from None
    return made


def parameters_form(parameters: Parameters, values: ValueWriter) -> list[Any]:
    """Return what a file says of parameters: name, kind, and the default, if a file can hold that."""
    made: list[Any] = []
    for one in parameters.every:
        row: list[Any] = [one.name, int(one.kind)]
        if one.default is not inspect.Parameter.empty and type(one.default) in _CONSTANTS:
            row.append(values.form(one.default, "a default"))
        made.append(row)
    return made


def results_form(concrete: ConcreteFunction, values: ValueWriter, location: Location, arguments: int) -> dict[str, Any]:
    """Return what a file says of the results of a trace, and of those of its ``arguments`` that it writes to.

    Raises
    ------
    SaveError
        If a result is none that a file holds, or an array outside of the arguments is written to or given back.
    """
    references = concrete.references if isinstance(concrete, ReferringFunction) else None
    written = [] if references is None else [k for k, _ in references.written]
    outside = [concrete.graph.inputs[k].op.name for k in written if k >= arguments]
    if outside:
        what = f"{concrete.name} changes what is outside of its arguments, {', '.join(outside)}: that cannot be saved"
        raise unsavable(what, location)
    leaves, structure = nest.flatten_with_structure(concrete.structured_outputs)
    sayer = _Results(concrete, values, location, arguments)
    forms = [_Leaf(sayer.form(leaf)) for leaf in leaves]
    try:
        tree = tree_form(nest.unflatten(structure, forms), lambda leaf: leaf.form, values)
    except SaveError as error:
        raise unsavable(f"the result cannot be saved: {error}", location) from None
    if references is not None and (references.lying or references.same):
        raise unsavable("how arguments lie in memory is part of this trace: that cannot be saved", location)
    return {"results": tree, "written": written}


class _Leaf:
    """Stands in a structure for the form of a leaf."""

    __slots__ = ("form",)

    def __init__(self, form: Any) -> None:
        self.form = form


class _Results:
    """Says what the leaves of a result are, one after the other."""

    def __init__(self, concrete: ConcreteFunction, values: ValueWriter, location: Location, arguments: int) -> None:
        self._arguments = arguments
        given = concrete.references.returned if isinstance(concrete, ReferringFunction) else ()
        self._returned = {one.place: one for one in given}
        self._again = {one.place: one for same in concrete.sharing[0] for one in same}
        self._constants, self._values, self._location = concrete.values, values, location
        self._place = self._output = 0

    def form(self, leaf: Any) -> Any:
        """Return the form of a leaf, which may be several values."""
        if isinstance(leaf, GrowingList):
            return self._of_list(leaf)
        if isinstance(leaf, MixedNumber):
            parts = [self._simple(part) for part in nest.flatten(leaf, True)]
            return ["mixed number", sorted(leaf.types), spec_dtype_text(leaf.carrier), *parts]
        if isinstance(leaf, MaybeNone):
            record = leaf.__record__
            parts, structure = nest.flatten_with_structure(record.value, True)
            said = nest.unflatten(structure, [_Leaf(self._simple(part)) for part in parts])
            form = tree_form(said, lambda one: one.form, self._values)
            return ["maybe none", str(record.name), form, self._simple(record.is_set)]
        if len(nest.flatten(leaf, True)) != 1:
            what = f"a result of the class {type(leaf).__qualname__!r} cannot be saved: return tensors"
            raise unsavable(what, self._location)
        return self._simple(leaf)

    def _of_list(self, leaf: GrowingList) -> Any:
        """Return the form of a list of which the run knows the length."""
        if leaf.lists or leaf.several or leaf.known:
            raise unsavable("a list that grows, of lists or of numbers of several types, cannot be saved",
                            self._location)  # fmt: skip
        kinds = nest.unflatten(leaf.structure, [_Leaf(["kind", name_of_kind(kind)]) for kind in leaf.kinds])
        columns = [
            [spec_dtype_text(array.dtype), shape_form(array.element_shape), self._simple(array.flow)]
            for array in leaf.arrays
        ]
        return ["growing list", leaf.name, tree_form(kinds, lambda one: one.form, self._values), columns]

    def _simple(self, leaf: Any) -> Any:
        """Return the form of a leaf that is one value."""
        place = self._place
        self._place += 1
        if (one := self._returned.get(place) or self._again.get(place)) is not None:
            views = views_form(one.views, self._values)
            if views is None:
                whose = "an argument" if place in self._returned else "another result"
                raise unsavable(f"a result that is a view of {whose} cannot be saved: return a copy", _written_at(leaf))
            if place in self._returned:
                if one.position >= self._arguments:
                    what = "a result that is an array outside of the arguments cannot be saved: return a copy"
                    raise unsavable(what, self._location)
                return ["argument", one.position, one.is_writeable, views]
            return ["output", one.position, *_said_of(leaf)[:1], one.is_writeable, None, views]
        if isinstance(leaf, (Tensor, Stored)):
            self._output += 1
            return ["output", self._output - 1, *_said_of(leaf), []]
        return _constant(self._constants[place], "a result", self._values, self._location)


def views_form(views: Sequence[View], values: ValueWriter) -> list[Any] | None:
    """Return the form of what makes a view of an array; None if a file has no words for it."""
    made: list[Any] = []
    for view in views:
        if view.axes is not None:
            made.append(["axes", list(view.axes)])
            continue
        entries = view.index if isinstance(view.index, tuple) else (view.index,)
        if view.index is None or view.is_flat or not all(map(is_basic, entries)):
            return None
        made.append(["part", *[_part_form(one, values) for one in entries]])
    return made


def _part_form(entry: Any, values: ValueWriter) -> Any:
    is_slice = isinstance(entry, slice)
    return values.form(Slice(entry.start, entry.stop, entry.step) if is_slice else entry, "an index")


def _written_at(leaf: Any) -> Location:
    node = getattr(leaf, "node", None)
    return () if node is None else node.location


def _said_of(leaf: Any) -> list[Any]:
    """Return the kind of an output, whether it may be written to, and the order of its axes in memory if not C's."""
    kind = own_kind(leaf)
    if kind not in (ArrayTracer, ZeroDimArray):
        return [name_of_kind(kind), True, None]
    strides = dense_strides(leaf)
    axes = None if strides is None else sorted(range(len(strides)), key=lambda axis: -strides[axis])
    if strides is None and leaf.view_of is not None and leaf.shape.is_fully_defined():
        order = leaf.view_of.axes  # of what a run makes in C's order, as far as anybody knows
        axes = None if order is None else [int(one) for one in np.argsort(order)]
    return [name_of_kind(kind), leaf.is_writeable, None if axes == sorted(axes or ()) else axes]
