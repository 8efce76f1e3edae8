"""Functions of NumPy's that call a function of the user's: on rows, on elements, on what a condition chooses.

The function is converted, and traced once: what it is called on becomes a loop of the graph.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.analysis.inside import Made
from autoloop_runtime.base import nest
from autoloop_runtime.base.dtypes import of_numbers
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.control.map_scan import map_fn
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.numpy_arguments import refuse
from autoloop_runtime.ir.numpy_protocols import counterpart_of
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, NumberTracer, ZeroDimArray, ask_numpy, kind_of, marked
from autoloop_runtime.ops.numpy_names.numpy_creation import of_python_ints

from ... import operators
from ...errors import programs_own
from ..mutation.heap_snapshot import snapshots
from ..mutation.held_before import has_changed, restore
from ..mutation.outside_world import leave
from ..staging.mixed_numbers import TYPES, MixedNumber


def _array(value: Any, dtype: Any = None) -> Tensor:
    """Return what ``np.asarray`` makes of a value, as a tensor."""
    asarray = counterpart_of(np.asarray)
    assert asarray is not None
    tensor: Tensor = asarray(value, dtype)
    return tensor.plain


def _extents(tensor: Tensor) -> list[Any]:
    """Return the extents, Python ints where they are known."""
    found = ops.shape(tensor)
    return [found[k] if d is None else d for k, d in enumerate(tensor.shape.known)]


def _as_array(kind: Kind, made: Any) -> Any:
    """Return a result that is an array to NumPy, also where it has no axes."""
    return marked(ZeroDimArray if kind is ArrayTracer else kind, made)


def _mapped(f: Any, each: Callable[[Any], Any], rows: Any) -> Any:
    """Return what a function of the user's gives for each of some rows; one that changes something is Python's."""
    with _changing_nothing(f, "that NumPy calls again and again", "call it in a `for` statement"):
        return map_fn(each, rows)


@contextmanager
def _changing_nothing(f: Any, called: str, instead: str) -> Iterator[None]:
    """Let plain Python run what changes something while a function of the user's is called inside."""
    before, variables = snapshots([f], (), ())
    yield
    changed = [slot.name for slot, value in variables if slot.get() is not value]
    changed += [one.name for one in before if has_changed(one)]
    if changed:
        restore(before, variables)
        leave(f"{changed[0]!r} is changed by a function {called}", instead)


def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Return ``np.apply_along_axis``: the rows are those of a loop."""
    x, kind = _array(arr), kind_of((arr, *args, *kwargs.values()), ArrayTracer)
    axis = np.lib.array_utils.normalize_axis_index(axis, len(x.shape))
    moved = ops.moveaxis(x, axis, -1)
    rest = _extents(moved)[:-1]
    if 0 in rest:
        raise programs_own(ValueError("Cannot apply_along_axis when any iteration dimensions are 0"))
    function = operators.call(func1d)
    rows = ops.reshape(moved, [functools.reduce(operator.mul, rest, 1), _extents(moved)[-1]])

    def each(row: Tensor) -> Tensor:
        given = marked(kind, row)
        found = _array(_of_one_dtype(function(given, *args, **kwargs), "np.apply_along_axis"))
        _leave_written(given, "np.apply_along_axis")
        return found

    made = _mapped(func1d, each, rows)
    inner = _extents(made)[1:]
    made = ops.reshape(made, [*rest, *inner])
    places = range(axis, axis + len(inner))
    return _as_array(kind, ops.moveaxis(made, tuple(range(len(rest), len(rest) + len(inner))), tuple(places)))


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """Return ``np.apply_over_axes``."""
    kind = kind_of((a,), ArrayTracer)
    if axes is None or (not isinstance(a, (ArrayTracer, np.ndarray)) and kind is ArrayTracer):
        raise UnknownWhileTracing("np.apply_over_axes: what this means NumPy alone knows; give an array, and axes")
    made = _handle(kind, a)
    rank, function = len(made.shape), operators.call(func)
    for axis in [axes] if isinstance(axes, (int, np.integer)) else list(axes):
        place = axis + rank if axis < 0 else axis
        found = _handle(kind, function(made, place))
        if len(found.shape) == rank - 1:
            found = _handle(kind, np.expand_dims(found, place))
        if len(found.shape) != rank:
            raise programs_own(ValueError("function is not returning an array of the correct shape (apply_over_axes)"))
        made = found
    return made


def _handle(kind: Kind, value: Any) -> Any:
    """Return an array itself, which others see written to; of anything else what ``np.asarray`` makes of it."""
    return value if isinstance(value, ArrayTracer) else marked(kind, _array(value))


def _leave_written(given: Any, caller: str) -> None:
    """Leave to plain Python what writes to the rows that NumPy gives it, which are parts of the array."""
    if (storage := kept(given)) is not None and storage.version:
        leave(f"a function that {caller} calls writes to the rows of the array", "call it in a `for` statement")


def _of_one_dtype(made: Any, caller: str) -> Any:
    """Return a result whose dtype NumPy gives to all; where only the run knows that, plain Python calls it."""
    if isinstance(made, MixedNumber) and len({TYPES[code][1] for code in made.types}) > 1:
        leave(
            f"the first result of what {caller} calls has a type that only the run knows, which is that of all",
            "let each branch give a number of one type, 1.0 for 1",
        )
    return made


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Return ``np.piecewise``: each function is called on the elements that its condition chooses."""
    kind = kind_of((x, condlist), ArrayTracer)
    given = _array(x)
    if isinstance(condlist, (list, tuple)) and (not len(given.shape) or np.ndim(condlist[0])):
        tests = [_array(one, bool) for one in condlist]
        if len({len(test.shape) for test in tests}) > 1:
            try:
                _array(condlist)
            except ValueError as error:  # there is no array of them
                ask_numpy(np.asarray, (condlist,), {}, error)
                raise
    else:
        one = _array(condlist, bool)
        tests = list(ops.unstack(one)) if len(one.shape) > len(given.shape) else [one]
    if len(tests) == len(funclist) - 1:
        rest = tests[0]
        for test in tests[1:]:
            rest = ops.logical_or(rest, test)
        tests.append(ops.logical_not(rest))
    elif len(tests) != len(funclist):
        said = f"with {len(tests)} condition(s), either {len(tests)} or {len(tests) + 1} functions are expected"
        raise programs_own(ValueError(said))
    made = ops.zeros_like(given)
    for test, function in zip(tests, funclist):
        value = function
        if callable(function):
            value = _of_chosen(function, marked(kind, _array(x)[test]), *args, **kw)
        made = ops.set_item(made, test, value)
    return _as_array(kind, made)


def _of_chosen(f: Any, chosen: Any, *args: Any, **kw: Any) -> Tensor:
    """Return what a function gives for the elements that a condition chooses; NumPy does not call it if none are."""
    made = Made()
    with _changing_nothing(f, "that NumPy calls if its condition holds somewhere", "call it in an `if` statement"):
        found = _array(operators.call(f)(chosen, *args, **kw))
    if any(node.op.effect for node in made.nodes()):
        leave("a function that NumPy calls if its condition holds somewhere has an effect", "use an `if` statement")
    return found


def vectorized(f: np.vectorize) -> Callable[..., Any]:
    """Return an object of ``np.vectorize`` as what takes staged arguments: the elements are those of a loop."""

    def of_elements(*args: Any, **kwargs: Any) -> Any:
        for argument, asked in (("signature", f.signature), ("excluded", f.excluded), ("kwargs", kwargs)):
            if asked:
                refuse("numpy.vectorize", argument)
        kind = kind_of(args, ArrayTracer)
        arrays = _spread([_array(one) for one in args])
        function, number = operators.call(f.pyfunc), NumberTracer if kind is ArrayTracer else Tensor
        if f.otypes is not None:
            wanted = [of_numbers(one) for one in f.otypes]
        else:  # the first element is asked once more, as NumPy asks it: for the dtypes of the results
            if arrays[0].shape.num_elements() == 0:
                raise programs_own(ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set"))
            first = function(*[marked(kind, ops.ravel(one)[0]) for one in arrays])
            every = first if isinstance(first, tuple) else (first,)
            wanted = [_array(_of_one_dtype(one, "np.vectorize")).dtype for one in every]
        columns = [ops.ravel(ops.cast(one, _of_numbers(one))) for one in arrays]
        made = _mapped(
            f.pyfunc,
            lambda row: nest.map_structure(_array, function(*[marked(number, one) for one in row])),
            tuple(columns),
        )
        columns_made = made if isinstance(made, tuple) else (made,)
        if len(columns_made) != len(wanted):
            raise UnknownWhileTracing("np.vectorize: otypes are not as many as the function gives results")
        parts = [ops.reshape(_as_asked(one, to), _extents(arrays[0])) for one, to in zip(columns_made, wanted)]
        return _as_array(kind, tuple(parts) if isinstance(made, tuple) else parts[0])

    return of_elements


def _spread(arrays: list[Tensor]) -> list[Tensor]:
    """Return arrays broadcast against one another."""
    shape = ops.zeros_like(arrays[0], np.bool_)
    for one in arrays[1:]:
        shape = ops.logical_or(shape, ops.zeros_like(one, np.bool_))
    extents = _extents(shape)
    return [ops.broadcast_to(one, extents) for one in arrays]


def _as_asked(made: Tensor, dtype: Any) -> Tensor:
    if made.dtype.kind == "c" and dtype.kind in "iuf":
        raise TypeError(f"numpy.vectorize: a complex number does not become {dtype} [AL026]")
    narrow = made.dtype.kind in "iu" and dtype.kind in "iu" and dtype.itemsize < 8
    return of_python_ints(made, dtype) if narrow else ops.cast(made, dtype)


def _of_numbers(x: Tensor) -> Any:
    """Return the dtype of the Python numbers that elements become."""
    return np.dtype({"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64}.get(x.dtype.kind, np.complex128))
