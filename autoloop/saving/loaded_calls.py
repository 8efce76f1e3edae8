"""What a file says of arguments and results, read: checked against the graph, and matched with a call."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.dtypes import variant
from autoloop_runtime.ir.array_views import new_layout
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_spec import TensorSpec
from autoloop_runtime.ir.tracers import ArrayTracer, TextTracer, Tracer, ZeroDimArray, marked
from autoloop_runtime.ops.index import Slice
from autoloop_runtime.saving.file_form import is_count, values_of
from autoloop_runtime.saving.graph_reader import said_name
from autoloop_runtime.saving.load_errors import damaged, refused
from autoloop_runtime.saving.saved_graph import SavedGraph
from autoloop_runtime.saving.value_form import KINDS, ValueReader, spec_dtype_of

from ..call_form import InputForm
from .loaded_results import Axes, growing_list, is_basic, maybe_none, mixed_number, viewed
from .tree_form import leaves_of, mapped, parts_of, tree_of

#: what an argument may be to the function
_ARGUMENT_KINDS = ("tensor", "array", "array without axes", "number")
_KINDS = (
    inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD,
)  # fmt: skip
_PARTS = {"name", "parameters", "arguments", "results", "written"}


@dataclass(frozen=True, eq=False)
class Constant:
    """A value that is part of a saved function."""

    value: Any


@dataclass(frozen=True, eq=False)
class Output:
    """A leaf of the result that a run gives.

    Attributes
    ----------
    position : int
    kind : type
        What it is to the caller.
    is_writeable : bool
    axes : tuple of int or None
        The order of its axes in memory, if that is not C's.
    """

    position: int
    kind: type[Tensor]
    is_writeable: bool
    axes: tuple[int, ...] | None
    views: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class SharedArgument:
    """A leaf of the result that is an argument, or a view of it.

    Attributes
    ----------
    position : int
    is_writeable : bool
    views : tuple
        What makes it of the argument: an index, or an order of axes, after the other.
    """

    position: int
    is_writeable: bool
    views: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Several:
    """A leaf of the result that several values make.

    Attributes
    ----------
    made : callable
        Makes it of these.
    parts : object
        A structure of ``Output``.
    """

    made: Callable[[Any], Any]
    parts: Any


@dataclass(frozen=True, eq=False)
class SavedCall:
    """How a saved function is called, and what it gives.

    Attributes
    ----------
    name : str
    signature : Signature
    arguments : list of (str, object)
        The name of each argument, and its structure of ``InputForm`` and ``Constant``.
    named : frozenset of str
        Those of them, the last ones, that are given by name.
    inputs : list of InputForm
    results : object
        A structure of ``Output``, ``Constant``, ``SharedArgument`` and ``Several``.
    outputs : int
        How many outputs of the graph are of the result.
    written : tuple of int
        The inputs that are written to.
    """

    name: str
    signature: inspect.Signature
    arguments: list[tuple[str, Any]]
    named: frozenset[str]
    inputs: list[InputForm]
    results: Any
    outputs: int
    written: tuple[int, ...]


def read_call(saved: SavedGraph) -> SavedCall:
    """Return how a saved function is called; ``LoadError`` if the file says nothing of the kind."""
    said, values = saved.function, saved.values
    if set(said) != _PARTS:
        raise damaged("the file does not say how the function is called")
    reader = _Reader(saved)
    with refused("what the file says of arguments"):
        parameters = [_parameter(row, values) for row in _listed(said["parameters"])]
        signature = inspect.Signature(parameters)
        arguments = [_argument(row, reader, values) for row in _listed(said["arguments"])]
        are_named = [row[1] for row in said["arguments"]]
        if len(dict(arguments)) < len(arguments) or not all(type(one) is bool for one in are_named):
            raise damaged("an argument is none")
        if are_named != sorted(are_named):
            raise damaged("arguments that are given by name come last")
        named = frozenset(name for (name, _), is_named in zip(arguments, are_named) if is_named)
    with refused("what the file says of results"):
        results = tree_of(said["results"], reader.result, values)
        written = tuple(_listed(said["written"]))
    count = reader.check(written)
    return SavedCall(said_name(said["name"]), signature, arguments, named, reader.inputs, results, count, written)


def _listed(rows: Any) -> list[Any]:
    if not isinstance(rows, list):
        raise damaged("a list is none")
    return rows


def _parameter(row: Any, values: ValueReader) -> inspect.Parameter:
    name, kind, *default = row
    if type(name) is not str or type(kind) is not int or len(default) > 1:
        raise damaged("a parameter is none")
    empty = inspect.Parameter.empty
    return inspect.Parameter(name, _KINDS[kind], default=values.value(default[0]) if default else empty)


def _argument(row: Any, reader: _Reader, values: ValueReader) -> tuple[str, Any]:
    name, _, form = values_of(row, "an argument", 3)
    reader.name = said_name(name)
    return name, tree_of(form, reader.argument, values)


class _Reader:
    """Reads leaves, and notes which inputs and outputs of the graph they are."""

    def __init__(self, saved: SavedGraph) -> None:
        self.graph, self._values = saved.graph, saved.values
        self.inputs: list[InputForm] = []
        self.name = ""
        self._outputs: set[int] = set()

    def argument(self, form: list[Any]) -> Any:
        """Return a leaf of an argument."""
        if form[0] == "constant":
            return Constant(self._values.value(values_of(form, "a constant", 2)[1]))
        tag, position, kind, dtype, shape = values_of(form, "an argument", 5)
        if tag != "argument" or position != len(self.inputs) or kind not in _ARGUMENT_KINDS:
            raise damaged("an argument is none")
        if position >= len(self.graph.inputs):
            raise damaged("there are more arguments than the graph has")
        tensor = self.graph.inputs[position]
        spec = TensorSpec(self._values.shape(shape), spec_dtype_of(dtype), self.name)
        if spec.dtype != tensor.dtype or spec.shape != tensor.shape:
            raise damaged("an argument is not what the graph takes")
        made = InputForm(position, kind, spec)
        self.inputs.append(made)
        return made

    def result(self, form: list[Any]) -> Any:
        """Return a leaf of the result."""
        if form[0] == "constant":
            return Constant(self._values.value(values_of(form, "a constant", 2)[1]))
        if form[0] == "argument":
            _, position, is_writeable, views = values_of(form, "a result", 4)
            is_array = is_count(position) and position < len(self.inputs)
            if not is_array or self.inputs[position].kind != "array" or type(is_writeable) is not bool:
                raise damaged("a result is no argument")
            return SharedArgument(position, is_writeable, self._views(views))
        if form[0] in ("growing list", "mixed number", "maybe none"):
            return self._several(form)
        return self._output(form)

    def _part(self, form: Any) -> Output | Constant:
        made = self.result(form) if type(form) is list and form else None
        if type(made) is not Output and type(made) is not Constant:
            raise damaged("a part of a result is none")
        return made

    def _output(self, form: Any) -> Output:
        tag, position, kind, is_writeable, axes, views = values_of(form, "a result", 6)
        if tag != "output" or not is_count(position) or type(is_writeable) is not bool or type(kind) is not str:
            raise damaged("a result is none")
        if position >= len(self.graph.outputs) or kind not in KINDS:
            raise damaged("there are more results than the graph has")
        shape = self.graph.outputs[position].shape
        if axes is not None and (not shape.is_fully_defined() or sorted(axes) != list(range(len(shape)))):
            raise damaged("a result has not these axes")
        self._outputs.add(position)
        order = None if axes is None else tuple(axes)
        return Output(position, KINDS[kind], is_writeable, order, self._views(views))

    def _views(self, rows: Any) -> tuple[Any, ...]:
        made: list[Any] = []
        for row in _listed(rows):
            if row[0] == "axes":
                if not all(map(is_count, values_of(row, "a view", 2)[1])):
                    raise damaged("a view has no such axes")
                made.append(Axes(tuple(row[1])))
                continue
            entries = [self._values.value(one) for one in row[1:]]
            parts = [slice(one.start, one.stop, one.step) if type(one) is Slice else one for one in entries]
            if row[0] != "part" or not all(map(is_basic, parts)):
                raise damaged("a view is none")
            made.append(tuple(parts))
        return tuple(made)

    def _several(self, form: list[Any]) -> Several:
        if form[0] == "mixed number":
            _, types, dtype, value, tag = values_of(form, "a number", 5)
            if not all(map(is_count, _listed(types))):
                raise damaged("a number has no such types")
            make = mixed_number(frozenset(types), spec_dtype_of(dtype))
            return Several(make, (self._part(value), self._part(tag)))
        if form[0] == "maybe none":
            _, name, tree, is_set = values_of(form, "a value or None", 4)
            parts = (tree_of(tree, self._part, self._values), self._part(is_set))
            return Several(maybe_none(said_name(name)), parts)
        _, name, tree, columns = values_of(form, "a list", 4)
        kinds = tree_of(tree, _kind, self._values)
        rows = [values_of(row, "a part of a list", 3) for row in _listed(columns)]
        specs = [(spec_dtype_of(dtype), self._values.shape(shape)) for dtype, shape, _ in rows]
        if len(leaves_of(kinds)) != len(rows):
            raise damaged("a list has not as many parts")
        flows = [self._output(flow) for *_, flow in rows]
        if not all(self.graph.outputs[one.position].dtype == variant for one in flows):
            raise damaged("a list has elements of no array")
        return Several(growing_list(said_name(name), kinds, specs), flows)

    def check(self, written: Sequence[Any]) -> int:
        """Refuse a graph with other inputs and outputs; return how many of these are of the result."""
        graph = self.graph
        if len(self.inputs) != len(graph.inputs):
            raise damaged("there are fewer arguments than the graph has")
        first, count = len(self._outputs), len(self._outputs) + len(written)
        has_token = graph.token is not None and len(graph.outputs) == count + 1 and graph.outputs[-1] is graph.token
        if self._outputs != set(range(first)) or len(graph.outputs) != count + has_token:
            raise damaged("there are other results than the graph has")
        for position, end in zip(written, graph.outputs[first:]):
            if not is_count(position) or position >= len(self.inputs) or self.inputs[position].kind != "array":
                raise damaged("what is written to is no array")
            tensor = graph.inputs[position]
            if end.dtype != tensor.dtype or not end.shape.is_subsumed_by(tensor.shape):
                raise damaged("what is written to an array does not fit it")
        return first


def _kind(form: list[Any]) -> type[Tensor]:
    _, name = values_of(form, "a kind", 2)
    if form[0] != "kind" or type(name) is not str or name not in KINDS:
        raise damaged("there is no such kind of value")
    return KINDS[name]


# -- a call ---------------------------------------------------------------------------------------------------------


def matched(saved: SavedCall, args: Sequence[tuple[str, Any]]) -> list[Any]:
    """Return the inputs of the graph that arguments, by name, are for.

    Raises
    ------
    TypeError, ValueError
        If they are not those that the function was saved for.
    """
    wanted = [name for name, _ in saved.arguments]
    given = [name for name, _ in args]
    if sorted(given) != sorted(wanted):
        raise TypeError(
            f"{saved.name} was saved for the arguments ({', '.join(wanted)}), got ({', '.join(given)}) [AL712]"
        )
    found: list[Any] = [None] * len(saved.inputs)
    arguments = dict(args)
    for name, form in saved.arguments:
        try:
            for leaf, value in parts_of(form, arguments[name], name):
                if type(leaf) is Constant:
                    _check_constant(leaf.value, value, name)
                else:
                    found[leaf.position] = _taken(leaf, value, name)
        except (TypeError, ValueError) as error:
            error.args = (f"{saved.name}: {error}",)
            raise
    return found


def _check_constant(known: Any, value: Any, name: str) -> None:
    if isinstance(known, np.ndarray):
        is_same = isinstance(value, np.ndarray) and value.dtype == known.dtype and np.array_equal(value, known)
    elif isinstance(value, Tensor):
        is_same = False
    else:
        is_same = type(value) is type(known) and (value == known or (value != value and known != known))
        if is_same and isinstance(value, float):
            is_same = math.copysign(1, value) == math.copysign(1, known)
    if not is_same:
        raise TypeError(
            f"argument {name!r} is part of what was saved, {known!r}, and cannot be {_shown(value)}; save the function "
            f"for an array, np.asarray(...), to give another [AL712]"
        )


def _shown(value: Any) -> str:
    return f"a {type(value).__name__}" if isinstance(value, (Tensor, np.ndarray)) else repr(value)


def _taken(form: InputForm, value: Any, name: str) -> Any:
    """Return a value that is given for an input, if it can be."""
    spec, is_number = form.spec, isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
    if is_number and form.kind in ("tensor", "number"):
        value = convert_to_tensor(value, spec.dtype)
    if not isinstance(value, (Tensor, np.ndarray, np.generic)) and not hasattr(value, "__autoloop_tensor__"):
        raise TypeError(f"argument {name!r} is to be {_kind_in_words(form)}, not {type(value).__name__} [AL712]")
    if value.dtype != spec.dtype:
        raise TypeError(f"argument {name!r} is to be {_kind_in_words(form)}, not of dtype {value.dtype} [AL712]")
    if not spec.shape.is_compatible_with(value.shape):
        raise ValueError(
            f"argument {name!r} is to be {_kind_in_words(form)}, not of shape {tuple(value.shape)}; save the function "
            f"for TensorSpec([None, ...], {spec.dtype}) to give others [AL712]"
        )
    return value


def _kind_in_words(form: InputForm) -> str:
    kind = {"number": "a number", "tensor": "a tensor"}.get(form.kind, "an array")
    return f"{kind} of dtype {form.spec.dtype} and shape {form.spec.shape}"


# -- the result -----------------------------------------------------------------------------------------------------


def returned(saved: SavedCall, outputs: Sequence[Tensor], inputs: Sequence[Any]) -> Any:
    """Return the result of a call, in the graph that is being built, and write to the arguments."""
    are_tensors = any(
        form.kind != "tensor" and isinstance(value, Tensor) and not isinstance(value, Tracer)
        for form, value in zip(saved.inputs, inputs)
    )
    made: dict[Any, Any] = {}

    def leaf(one: Any) -> Any:
        if type(one) is Constant:
            return one.value.copy() if isinstance(one.value, np.ndarray) else one.value
        if type(one) is Several:
            return one.made(mapped(one.parts, leaf))
        key = type(one), one.position, repr(one.views)  # slices have no hashes
        if key not in made:
            whole = inputs[one.position] if type(one) is SharedArgument else made.get((Output, one.position))
            if whole is None:
                whole = made[Output, one.position] = _given(one, outputs[one.position], are_tensors)
            made[key] = viewed(whole, one.views, one.is_writeable)
        return made[key]

    for position, end in zip(saved.written, outputs[saved.outputs :]):
        _write(inputs[position], end, saved.inputs[position].spec.name)
    return mapped(saved.results, leaf)


def _write(array: Any, end: Tensor, name: str | None) -> None:
    if not isinstance(array, ArrayTracer):
        raise TypeError(f"the argument {name!r} is written to: give an array of NumPy's, tensors are values [AL712]")
    array.check_writeable()
    array.overwrite(end)


def _given(one: Output, tensor: Tensor, are_tensors: bool) -> Any:
    if one.kind is Tensor or (are_tensors and one.kind is not TextTracer):
        return tensor
    if one.kind in (ArrayTracer, ZeroDimArray) and one.axes is not None:
        back = tuple(np.argsort(one.axes).tolist())
        root: Any = marked(ArrayTracer, ops.transpose(tensor, one.axes))
        if (layout := new_layout(root.plain)) is not None:
            root.storage.lies_as(layout)
        return root.transpose(back)
    made: Any = tensor if one.kind is Tensor else one.kind(tensor)
    if isinstance(made, ArrayTracer) and not one.is_writeable:
        made.freeze(True)
    return made
