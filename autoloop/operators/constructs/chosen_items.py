"""Items of Python's own sequences and dicts that a staged index or key chooses: ``[1, 2, 3][k]``, ``{1: 2.5}[k]``."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes, nest
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir import op
from autoloop_runtime.ir.array_storage import taken_from
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.number_operators import carried, number_type, widest
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, ZeroDimArray, kind_of, marked, number_of

from ...left_to_python import refuse_unknown
from ..staging.maybe_same import may_be
from ..staging.mixed_numbers import MixedNumber, codes_of, components, mixed
from ..staging.raising import Raising, raise_unless, remade
from ..staging.staged_blocks import in_staged_block
from ..staging.staged_values import answer, check_hashable, is_staged, stands_for
from ..staging.told_arrays import is_array
from .container_comparisons import asks_the_run, equal, is_of_run
from .if_statement import if_exp
from .math_functions import tried
from .ranges import number_at
from .text import chosen_text

#: of so many arrays branches choose one
_MOST = 16
_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def chosen(container: Any, index: Any) -> Any:
    """Return ``container[index]``."""
    if isinstance(container, dict):
        return _of_dict(container, index)
    if isinstance(index, slice):
        raise UnknownWhileTracing(
            f"a part of a {type(container).__name__} at a place that only the run knows: take it of an array, "
            f"np.array(...)[i:j]"
        )
    index = place_in(container, index)
    if isinstance(container, range):
        return number_at(container.start, container.step, len(container), index)
    elements = list(container) if isinstance(container, bytes) else container
    return _element(elements, index if isinstance(container, str) else _inside(container, index))


def _inside(sequence: Any, index: Any) -> Any:
    """Return a place in a sequence, which Python says of in its own words that it is none."""
    with suppress(AttributeError, TypeError):
        try:
            sequence[len(sequence)]
        except IndexError as error:
            return marked(kind_of((index,), ArrayTracer), op.call("place_in", index, len(sequence), str(error)))
    return index


def place_in(sequence: Any, index: Any) -> Any:
    """Return what only the run knows as an index of Python's own sequences: a truth value is 0 or 1, no mask.

    Python says which it takes.
    """
    if isinstance(index, ArrayTracer) and index.shape.rank is None:
        refuse_unknown("whether an index of a list or the like is one number only the run knows", "write int(...)")
    kind = stands_for(index)
    is_number = hasattr(kind, "__index__") or issubclass(kind, Tensor)
    tried(operator.index if is_number else functools.partial(operator.getitem, sequence), index)
    if isinstance(index, NumberTracer) and index.dtype == dtypes.bool_:
        return marked(NumberTracer, ops.cast(index, dtypes.int64))
    return index


def _element(sequence: Sequence[Any], index: Any) -> Any:
    """Choose among the elements of a sequence, which must be text or have one structure, dtype and shape."""
    if not sequence:
        sequence[0]  # of which Python says that there is none
    if all(isinstance(one, str) for one in sequence):
        return chosen_text(sequence, index)
    structures = [nest.flatten_with_structure(one) for one in sequence]
    structure = structures[0][1]
    kinds = (bool, int, float, complex, np.generic, np.ndarray, Tensor)
    if any(one != structure for _, one in structures) or not all(
        isinstance(leaf, kinds) for leaves, _ in structures for leaf in leaves
    ):
        refuse_unknown(
            f"a tensor cannot choose an element of this {type(sequence).__name__}: its elements must be text, or "
            f"numbers or tensors of one structure",
            "use autoloop.switch_case for others",
        )
    columns = [*zip(*(leaves for leaves, _ in structures), strict=True)]
    are_arrays = len(sequence) <= _MOST and not in_staged_block() and any(map(_has_arrays, columns))
    if are_arrays or any(map(_may_differ, columns)):
        size = len(sequence)
        place = ops.where(ops.less(index, 0), ops.add(index, size), index)
        return _halved(sequence, marked(kind_of((index,), ArrayTracer), place), 0, size)
    found = nest.unflatten(structure, [_of_column(list(column), index) for column in columns])
    for one in sequence:
        may_be("what an index chooses", found, one, of_objects=True)
    return found


def _has_arrays(column: Sequence[Any]) -> bool:
    """Return whether all are arrays, or all such without axes: a branch chooses one, the row of a stack is a copy."""
    is_known = not any(isinstance(one, ArrayTracer) for one in column)
    return not is_known and (all(map(is_array, column)) or all(map(_is_without_axes, column)))


def _is_without_axes(value: Any) -> bool:
    return type(value) is ZeroDimArray or (type(value) is np.ndarray and not value.ndim)


def _may_differ(column: Sequence[Any]) -> bool:
    """Return whether arrays have other dtypes or shapes than one another, or may have, as only the run knows."""
    if all(codes_of(one) is not None for one in column):  # numbers, also of several types
        return False
    arrays = [one for one in column if isinstance(one, ArrayTracer | np.ndarray)]
    forms = {(dtypes.as_dtype(one.dtype), TensorShape(one.shape)) for one in arrays}
    return len(forms) > 1 or not all(shape.is_fully_defined() for _, shape in forms)


def _halved(sequence: Sequence[Any], place: Any, first: int, end: int) -> Any:
    """Return an element by branches, which may have any shape: of those from ``first`` to ``end``, as it says."""
    if end - first == 1:
        return sequence[first]
    middle = (first + end) // 2
    lower = answer(ops.less(place, middle), place)
    return if_exp(lower, lambda: _halved(sequence, place, first, middle), lambda: _halved(sequence, place, middle, end))


def _of_column(column: list[Any], index: Any) -> Any:
    either = _of_several_types(column, index) if number_of((index,)) is NumberTracer else None
    if either is not None:
        return either
    kind = ZeroDimArray if all(map(_is_without_axes, column)) else kind_of(column)
    numbers = column
    if issubclass(kind, NumberTracer):
        common = widest(*[number_type(one) or complex for one in column])
        numbers = [carried(one, common) for one in column]
    return taken_from(marked(kind, ops.getitem(ops.stack(numbers), index)), column)


def _of_several_types(column: list[Any], index: Any) -> MixedNumber | None:
    """Choose among numbers of several types; None if they are no such, or of one type."""
    if len({codes_of(one) for one in column}) == 1:
        return None
    every = [mixed(one, *column) for one in column]
    known = [one for one in every if one is not None]
    if len(known) < len(column):
        return None
    parts = zip(*map(components, known), strict=True)
    value, tag = (ops.getitem(ops.stack(part), index) for part in parts)
    return MixedNumber(known[0].types, known[0].carrier, value, tag)


def _same(item: Any, values: Sequence[Any]) -> Any:
    """Return for each of some values whether it equals a staged number, as Python compares; None if they are others."""
    tensor = convert_to_tensor(item)
    if tensor.shape.rank != 0 or tensor.dtype.kind not in "biuf":
        return None
    if not all(isinstance(one, (str, bytes, type(None), *_NUMBERS)) for one in values):
        return None
    held = [_held(one, tensor.dtype) for one in values]
    table = np.array([0 if one is None else one for one in held], tensor.dtype)
    there = np.array([one is not None for one in held], bool)
    return ops.logical_and(ops.equal(tensor, table), there)


def _held(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the number of a dtype that equals a value; None if there is none."""
    if not isinstance(value, _NUMBERS):
        return None
    with np.errstate(all="ignore"):
        try:
            made = np.array(value).astype(dtype)[()]
        except OverflowError:
            return None
    return made if made.item() == (value.item() if isinstance(value, np.generic) else value) else None


def _of_dict(table: dict[Any, Any], key: Any) -> Any:
    if not table:
        raise KeyError(key)
    missing = remade(KeyError(key))
    raise_unless(ops.any(_found(table, key)), Raising(KeyError, missing.make), *missing.tensors)
    return _value(table, key)


def _found(table: dict[Any, Any], key: Any) -> Any:
    check_hashable(key)
    found = _same(key, list(table))
    if found is None:
        raise UnknownWhileTracing(
            "which key of a dict this is only the run knows, so keys and values must be numbers: choose by `if`, or "
            "let the index of an array choose"
        )
    return found


def _value(table: dict[Any, Any], key: Any) -> Any:
    place = ops.argmax(_found(table, key))
    return _element(list(table.values()), marked(kind_of((key,), ArrayTracer), place))


def _got(table: dict[Any, Any], key: Any, default: Any = None) -> Any:
    if not table:
        return default
    return if_exp(answer(ops.any(_found(table, key)), key), lambda: _value(table, key), lambda: default)


def _equals(sequence: Sequence[Any], item: Any) -> Any:
    found = _same(item, list(sequence)) if is_staged(item) else None
    return found if found is not None else ops.stack([equal(one, item) for one in sequence])


def _place(sequence: Sequence[Any], item: Any) -> Any:
    found = _equals(sequence, item) if sequence else ops.zeros([1], dtypes.bool_)
    holder = remade(ValueError(item))  # has what is not there as the run knows it, and the elements of that
    missing = Raising(ValueError, lambda *values: _complaint(sequence, holder.make(*values).args[0]))
    raise_unless(ops.any(found), missing, *holder.tensors)
    return number_of((item, *sequence))(ops.argmax(found))


def _complaint(sequence: Sequence[Any], item: Any) -> BaseException:
    """Return what Python says of an element that a sequence does not have."""
    try:
        type(sequence)().index(item) if not isinstance(sequence, range) else range(0).index(item)
    except ValueError as error:
        return error
    raise AssertionError("an empty sequence has an element")


def _count(sequence: Sequence[Any], item: Any) -> Any:
    if not sequence:
        return 0
    return number_of((item, *sequence))(ops.sum(ops.cast(_equals(sequence, item), dtypes.int64)))


_METHODS: dict[tuple[type, str], Callable[..., Any]] = {
    **{(of, "index"): _place for of in (list, tuple, range)}, **{(of, "count"): _count for of in (list, tuple, range)},
    (dict, "get"): _got,
}  # fmt: skip


def asking(f: Any) -> Callable[..., Any]:
    """Return a method of a Python sequence or dict that takes what only the run knows."""
    owner = f.__self__
    staged = _METHODS.get((type(owner), f.__name__))
    if staged is None:
        plain: Callable[..., Any] = f
        return plain

    def asked(*args: Any, **named: Any) -> Any:
        is_sequence = isinstance(owner, (list, tuple))
        is_for_run = any(is_of_run(one) or asks_the_run(one) for one in args) or (is_sequence and asks_the_run(owner))
        if named or not is_for_run:
            return f(*args, **named)
        if len(args) > 1 and not isinstance(owner, dict):
            raise UnknownWhileTracing(
                f"{f.__name__}() takes no bounds for what only the run knows: give it a part of the list"
            )
        return staged(owner, *args)

    return asked
