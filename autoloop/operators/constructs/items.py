"""Setting items: in place on Python objects, as a new value on tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base.callbacks import module_of
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.numpy_protocols import counterpart_of
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, kind_of, marked

from ... import operators
from ...errors import programs_own
from ...left_to_python import refuse_unknown
from ..mutation import lifted_arrays
from ..mutation.outside_world import leave, stays
from ..staging.maybe_same import are_some, lose_changed, watched
from ..staging.mixed_numbers import MixedNumber
from ..staging.staged_values import is_staged
from ..staging.standins import is_growing
from ..staging.taken_containers import grown_of
from ..staging.users_methods import method_of
from .iterables import iterable_of
from .library_calls import by_numpy
from .stateful_calls import used

#: of Python's own, what a staged index may choose from
CHOSEN_FROM = (list, tuple, range, dict, str, bytes)
#: what takes the values themselves, and nothing that stands for one
_WITH_VALUES = (np.ndarray, np.void, memoryview)
#: references to an array that one attribute holds: that, a variable and the argument of who counts
_ALONE = 3


def unpack(value: Any, nested: tuple[tuple[int, ...], ...] = ()) -> Any:
    """Return what can be unpacked into targets: of a tensor, its rows.

    Parameters
    ----------
    value : object
        What is to be unpacked.
    nested : tuple of tuple of int
        The places of the targets that are unpacked themselves, such as ``((1,),)`` for ``i, (a, b)``.
    """
    value = _rows_of(stays(value))
    for path in nested:
        value = _unpacked_at(value, path)
    return value


def parts(iterable: Any, nested: tuple[tuple[int, ...], ...] = ()) -> Any:
    """Return what a comprehension runs over whose target has parts: ``nested`` as for `unpack`."""
    found = operators.elements(iterable)
    return found if current_graph() is None else (unpack(one, nested) for one in found)


def _unpacked_at(value: Any, path: tuple[int, ...]) -> Any:
    """Return a tuple or list with the rows of the tensor at one place in it; anything else is for Python to unpack."""
    if not path:
        return _rows_of(value)
    if type(value) not in (list, tuple) or not -len(value) <= path[0] < len(value):
        return value
    inner = _unpacked_at(value[path[0]], path[1:])
    if inner is value[path[0]]:
        return value
    every = list(value)
    every[path[0]] = inner
    return every


def _rows_of(value: Any) -> Any:
    if iterable_of(value) is not None:
        return operators.elements(value)
    if not is_staged(value):
        return value
    tensor = convert_to_tensor(value)
    if tensor.shape.rank is None or not tensor.shape.rank or tensor.shape.as_list()[0] is None:
        refuse_unknown(
            f"a tensor of shape {tensor.shape} cannot be unpacked",
            "the number of its rows must be known; give it with set_shape or input_signature, or use x[0], x[1], ...",
        )
    return list(value) if isinstance(value, ArrayTracer) else marked(kind_of((value,)), ops.unstack(tensor))


def item(sequence: Any, index: Any) -> Any:
    """Return ``sequence[index]``; of a Python list, tuple, range or array a tensor may choose the element."""
    if not isinstance(sequence, dict):
        index = _of_ints(index)
    if not isinstance(sequence, Tensor | np.ndarray | np.number | np.bool_) and _is_later(index):
        return _chosen_from(sequence, index)
    if isinstance(sequence, np.ndarray | np.number | np.bool_) and _is_later(index):
        _of_numbers(sequence)
        array, sequence = sequence, marked(ArrayTracer, convert_to_tensor(sequence))
        made = sequence[index]
        if made.view_of is not None and isinstance(array, np.ndarray):
            made.storage.stands_for(array)
        return made
    return _asked(sequence, index)


def _of_numbers(array: Any) -> None:
    """Let plain Python index an array of texts, dates or records."""
    if array.dtype.kind not in "biufc":
        leave(
            f"an array of dtype {array.dtype} is indexed by what only the run knows",
            "a graph computes numbers: choose among the elements of a list, x.tolist()[i]",
        )


def _refused_tuple(sequence: Any) -> None:
    try:
        sequence[()]  # which says that it takes none
    except TypeError as error:
        raise programs_own(error) from None


def _chosen_from(holder: Any, index: Any) -> Any:
    """Return ``holder[index]`` of what is no array."""
    if type(holder) in CHOSEN_FROM:
        if type(index) is tuple and type(holder) is not dict:
            _refused_tuple(holder)
        return operators.chosen(holder, index)
    if isinstance(holder, dict):
        operators.hashed(index)
    if is_growing(holder) and not isinstance(index, slice):
        index = operators.place_in([], index)
    if module_of(type(holder)).startswith("numpy.lib"):  # np.r_ and the like
        written = type(holder).__getitem__
        if counterpart_of(written) is not None:
            return by_numpy(written)(holder, index)
    return _asked(holder, index)


def _asked(holder: Any, index: Any) -> Any:
    method = method_of(used(holder, "it is read"), "__getitem__")
    return holder[index] if method is None else method(index)


def _of_ints(index: Any) -> Any:
    """Return an index with ints for numbers that are ints of several types."""
    if isinstance(index, MixedNumber):
        return index.whole()
    if isinstance(index, slice):
        return slice(*map(_of_ints, (index.start, index.stop, index.step)))
    return tuple(map(_of_ints, index)) if type(index) is tuple else index


def set_item(array: Any, index: Any, value: Any) -> Any:
    """Do ``array[index] = value`` and return what the name is bound to afterwards.

    An array is written to in place. A tensor does not change: the result is a new one, and other names keep the old
    value.
    """
    if not isinstance(array, dict):
        index = _of_ints(index)
    array = _taking(array, index, value)
    if type(array) is NumberTracer:
        array[index] = value  # which says that it has no items
    if isinstance(array, Tensor) and not _is_reference(array):
        if isinstance(array, ArrayTracer):
            array.check_writeable()
        return marked(type(array), ops.set_item(array, index, value))
    _set(array, index, value)
    return array


def _stored(array: Any, value: Any) -> Any:
    """Return what is written: a number of several types as one if an array holds it in the same way whichever it is."""
    if isinstance(value, MixedNumber) and isinstance(array, np.ndarray | ArrayTracer):
        held, given = array.dtype.kind, value.carrier.kind
        if held == "c" or (held == "f" and given in "biuf"):
            return value.leaving()
    return value


def _is_reference(array: Any) -> bool:
    """Return whether what is set in ``array`` is seen by whoever holds it; a scalar of NumPy's takes nothing."""
    return isinstance(array, ArrayTracer) and not array.is_scalar


def _taking(array: Any, index: Any, value: Any) -> Any:
    """Return ``array``; if it cannot hold what the graph only computes later, the trace begins anew."""
    if type(array) is np.flatiter:
        _taking(array.base, index, value)
    if type(array) is np.ndarray and array.dtype.kind in "biufc":
        if _is_later(index) or _is_later(value):
            lifted_arrays.refuse(array)
        lifted_arrays.set_in_block(array)
    elif type(array) is np.ndarray and _is_later(index):
        _of_numbers(array)
    elif isinstance(array, _WITH_VALUES) and not _holds_objects(array) and _is_later(value):
        refuse_unknown(
            f"{_described(array)} is given values that only the run knows",
            "a graph computes numbers: use an array of them for each field",
        )
    return array


def _holds_objects(holder: Any) -> bool:
    return isinstance(holder, np.ndarray) and holder.dtype.kind == "O"


def _described(holder: Any) -> str:
    is_array = isinstance(holder, np.ndarray | np.void)
    return f"what is of dtype {holder.dtype}" if is_array else f"a {type(holder).__name__}"


def _is_later(given: Any) -> bool:
    """Return whether an index or a value is a tensor or is made of some."""
    if isinstance(given, slice):
        given = (given.start, given.stop, given.step)
    if type(given) in (list, tuple):
        return any(map(_is_later, given))
    return is_staged(given) or isinstance(given, MixedNumber)


def _set(array: Any, index: Any, value: Any) -> None:
    if isinstance(array, dict):
        operators.hashed(index)
    if are_some():
        watched()
    if grown_of(array) is not None:
        array[0].refuse()
    method = method_of(used(array, "it is written to"), "__setitem__")
    if type(array) is list and _is_later(index):
        raise UnknownWhileTracing(
            "which place of a list gets a value here only the run knows: use an array, x = np.array(x)"
        )
    if method is None:
        array[index] = _stored(array, value)
    else:
        method(index, value)
    if are_some():
        lose_changed()


def update_item(
    array: Any, index: Any, sign: str, value: Callable[[], Any], now: Callable[[], Any] | None = None
) -> Any:
    """Do ``array[index] += value()`` (or another ``sign``) and return what the name is bound to afterwards: if it is
    another object by then, as *now* tells, it stays that."""
    old = item(array, index)
    new = operators.update(old, sign, value())
    bound = array if now is None else now()
    made = array if _is_part(new, old, array) else set_item(array, index, new)
    return made if bound is array else bound


def _is_part(new: Any, old: Any, array: Any) -> bool:
    """Return whether ``old += value`` has written to ``array`` itself, of which it is a view."""
    return new is old and isinstance(old, ArrayTracer) and old.storage is getattr(array, "storage", None)


def set_items(array: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Do ``array[i][j] = value``, with ``path`` as ``(i, j)``; return what the name is bound to afterwards.

    Where there is a tensor on the way, what holds it gets a new one.
    """
    return _set_back(_on_the_way(array, path), path, value)


def update_items(
    array: Any, path: tuple[Any, ...], sign: str, value: Callable[[], Any], now: Callable[[], Any] | None = None
) -> Any:
    """Do ``array[i][j] += value()`` (or another ``sign``), with ``path`` as ``(i, j)``; return what ``update_item``
    does."""
    containers = _on_the_way(array, path)
    old = item(containers[-1], path[-1])
    new = operators.update(old, sign, value())
    bound = array if now is None else now()
    made = array if _is_part(new, old, containers[-1]) else _set_back(containers, path, new)
    return made if bound is array else bound


def _on_the_way(array: Any, path: tuple[Any, ...]) -> list[Any]:
    """Return what the indices of a path are applied to, each fetched once."""
    containers = [array]
    for index in path[:-1]:
        containers.append(item(containers[-1], index))
    return containers


def _set_back(containers: list[Any], path: tuple[Any, ...], value: Any) -> Any:
    holders = [None, *containers]
    for holder, container, index in zip(reversed(holders[:-1]), reversed(containers), reversed(path), strict=True):
        if is_growing(holder) and isinstance(container, Tensor):
            value = marked(type(container), ops.set_item(container, index, value))  # which it holds a copy of
            operators.note_written(holder.name, value)
            continue
        new = set_item(container, index, value)
        if new is container:
            return containers[0]
        value = new
    return value


def set_item_of(owner: Any, name: str, index: Any, value: Any) -> None:
    """Do ``owner.name[index] = value``; an attribute that is a tensor is set to a new one."""
    array = _taking(_alone(owner, name, index, value), index, value)
    if isinstance(array, Tensor) and not _is_reference(array):
        setattr(owner, name, marked(type(array), ops.set_item(array, index, value)))
    else:
        _set(array, index, value)


def update_item_of(owner: Any, name: str, index: Any, sign: str, value: Callable[[], Any]) -> None:
    """Do ``owner.name[index] += value()`` (or another ``sign``)."""
    array = getattr(owner, name)
    old = item(array, index)
    new = operators.update(old, sign, value())
    if _is_part(new, old, array):
        return
    is_value = isinstance(array, Tensor) and not _is_reference(array)
    if not is_value and getattr(owner, name) is not array:  # what is changed is what was found before
        _set(_taking(array, index, new), index, new)
        return
    del array, old
    array = _taking(_alone(owner, name, index, new), index, new)
    if isinstance(array, Tensor) and not _is_reference(array):
        setattr(owner, name, marked(type(array), ops.set_item(array, index, new)))
    else:
        _set(array, index, new)


def _alone(owner: Any, name: str, index: Any, value: Any) -> Any:
    """Return an attribute; an array that nobody else holds as a tracer, if it is to take what only the run knows."""
    array = getattr(owner, name)
    if type(array) is not np.ndarray or not (_is_later(index) or _is_later(value)):
        return array
    if sys.getrefcount(array) > _ALONE or array.base is not None or array.dtype.kind not in "biufc":
        return array
    setattr(owner, name, marked(ArrayTracer, convert_to_tensor(array)))
    return getattr(owner, name)
