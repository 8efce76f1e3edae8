"""What a staged ``for`` loop can run over: ranges with tensor bounds, rows of tensors, and combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.base.dtypes import int32
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.creation import RANGE

from ..staging.growing_list import GrowingList
from ..staging.staged_values import is_staged
from ..staging.standins import StandIn
from .raising import Raising, raise_unless


class StagedIterable(StandIn):
    """A sequence whose length or elements are known only when the graph runs.

    Attributes
    ----------
    length : Tensor or int
        How many elements.
    get : callable
        Gives the element at an index (a tensor).
    describe : str
        What messages call it.
    contains : callable, optional
        Tells whether a value is an element.
    keep : callable, optional
        Tells of an element whether a loop gets to see it; ``length`` counts those that it does not see, too.
    """

    advice = "loop over it with a `for` statement, or make a list of it, list(...)"

    def __init__(
        self,
        length: Any,
        get: Callable[[Any], Any],
        describe: str,
        contains: Callable[[Any], Any] | None = None,
        keep: Callable[[Any], Any] | None = None,
    ) -> None:
        self.length = length
        self.get = get
        self.describe = describe
        self.contains = contains
        self.keep = keep

    def described(self) -> str:
        """Return what messages call it."""
        return self.describe

    def __repr__(self) -> str:
        return f"<{self.describe}>"

    def holds(self, item: Any) -> Any:
        """Return ``item in`` a range; other sequences would have to be run through."""
        if self.contains is None:
            raise TypeError(f"`in` does not work on {self.describe}: loop over it, or ask its tensors")
        return self.contains(item)

    def __len__(self) -> int:
        raise TypeError("the length of this sequence is a tensor: call len(...) in converted code")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"{self.describe} can be iterated over only by a `for` statement in converted code, not by a "
            f"comprehension or a library function: append to a list in a `for` loop"
        )

    def decision(self) -> Any:
        """Return whether it has elements."""
        return ops.greater(self.length, 0)

    def __getitem__(self, index: Any) -> Any:
        return self.get(index)


def staged_range(*args: Any) -> StagedIterable:
    """Return ``range`` with tensor bounds; the step may have either sign."""
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    for what, value in (("start", start), ("stop", stop), ("step", step)):
        tensor = convert_to_tensor(value)
        if tensor.dtype.kind not in "iu":
            raise TypeError(f"the {what} of range must be an integer, got a tensor of dtype {tensor.dtype}")
        if tensor.shape.rank not in (0, None):
            raise TypeError(f"the {what} of range must be a scalar, got shape {tensor.shape}")
    span = ops.subtract(stop, start)
    if isinstance(step, int) and not isinstance(step, bool):
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        length = span if step == 1 else _ceil_div(span, step)
    else:
        length = _ceil_div(span, step)
    plain = isinstance(start, int) and start == 0 and isinstance(step, int) and step == 1
    return StagedIterable(
        ops.maximum(length, 0),
        (lambda k: k) if plain else (lambda k: ops.add(start, ops.multiply(k, step))),
        "a range with tensor bounds",
        lambda item: _in_range(item, start, step, ops.maximum(length, 0)),
    )


def _in_range(item: Any, start: Any, step: Any, length: Any) -> Any:
    offset = ops.subtract(item, start)
    index = ops.floor_divide(offset, step)
    inside = ops.logical_and(ops.less_equal(0, index), ops.less(index, length))
    return ops.logical_and(inside, ops.equal(ops.mod(offset, step), 0))


def _ceil_div(span: Any, step: Any) -> Any:
    return ops.negative(ops.floor_divide(ops.negative(span), step))


def as_staged(value: Any) -> StagedIterable | None:
    """Return a staged iterable for what a staged loop runs over, else None."""
    if isinstance(value, StagedIterable):
        return value
    if isinstance(value, GrowingList):
        return StagedIterable(value.length, value.copy().__getitem__, "a list of tensors")
    if is_staged(value):
        return rows(convert_to_tensor(value))
    return None


def rows(tensor: Tensor) -> StagedIterable:
    """Return the rows of a tensor along its first axis."""
    if tensor.shape.rank == 0:
        raise TypeError("a `for` loop runs over the rows of a tensor; this one has no dimensions")
    static = tensor.shape.as_list()[0] if tensor.shape.rank is not None else None
    counted = _counted(tensor, static)
    if counted is not None:
        return counted
    length = static if static is not None else ops.getitem(ops.shape(tensor), 0)
    return StagedIterable(length, lambda k: ops.getitem(tensor, k), "a tensor")


def _counted(tensor: Tensor, static: int | None) -> StagedIterable | None:
    """Return the numbers of ``range(start, limit, delta)`` without the tensor, which is then never made."""
    if not tensor.is_symbolic or tensor.op.op is not RANGE or tensor.dtype.kind != "i":
        return None
    start, limit, delta = (known if known is not None else t for t in tensor.op.inputs for known in [_integer(t)])
    if not isinstance(delta, int) or delta == 0:
        return None
    if static is None:
        return staged_range(start, limit, delta)
    first, _, step = tensor.op.inputs
    dtype = tensor.dtype

    def get(k: Any) -> Any:
        number = k if dtype == int32 else ops.cast(k, dtype)
        number = number if delta == 1 else ops.multiply(number, step)
        return number if start == 0 else ops.add(number, first)

    return StagedIterable(static, get, "a tensor")


def _integer(tensor: Tensor) -> int | None:
    value = tensor.constant_value()
    return None if value is None else int(value)


def _part(value: Any) -> StagedIterable:
    """Return one of several sequences that run side by side; a Python sequence becomes a tensor."""
    staged = as_staged(value)
    if staged is not None and staged.keep is not None:
        raise TypeError(
            f"{staged.describe} has no length to count or pair its elements by: make a list of it, list(filter(...))"
        )
    return staged if staged is not None else rows(convert_to_tensor(list(value)))


def staged_enumerate(iterable: Any, start: Any = 0) -> StagedIterable:
    """Return ``enumerate`` over a staged iterable."""
    inner = _part(iterable)
    plain = isinstance(start, int) and start == 0
    return StagedIterable(
        inner.length,
        lambda k: (_count(k) if plain else ops.add(_count(k), start), inner.get(k)),
        "an enumerate over tensors",
    )


def _count(k: Any) -> Any:
    """Return a position as the int32 that counts are; ``k`` has the dtype of the bounds."""
    return ops.cast(k, int32) if isinstance(k, Tensor) and k.dtype != int32 else k


def staged_zip(*iterables: Any, strict: bool = False) -> StagedIterable:
    """Return ``zip`` over iterables of which one is staged."""
    parts = [_part(one) for one in iterables]
    length = parts[0].length
    for number, part in enumerate(parts[1:], 2):
        both_known = isinstance(length, int) and isinstance(part.length, int)
        if strict:
            _check_lengths(length, part.length, number)
        length = min(length, part.length) if both_known else ops.minimum(length, part.length)
    return StagedIterable(length, lambda k: tuple(part.get(k) for part in parts), "a zip over tensors")


def _check_lengths(length: Any, other: Any, number: int) -> None:
    """Raise, now or at run time, as ``zip(..., strict=True)`` does; which of the two is shorter it does not tell."""
    message = f"zip() argument {number} has another length than those before it"
    if isinstance(length, int) and isinstance(other, int):
        if length != other:
            raise ValueError(message)
        return
    raise_unless(ops.equal(length, other), Raising(ValueError, lambda: ValueError(message)))


def staged_reversed(iterable: Any) -> StagedIterable:
    """Return ``reversed`` over a staged iterable."""
    inner = _part(iterable)
    return StagedIterable(
        inner.length,
        lambda k: inner.get(ops.subtract(ops.subtract(inner.length, 1), k)),
        "a reversed tensor",
    )


def staged_filter(function: Callable[..., Any] | None, iterable: Any) -> StagedIterable:
    """Return ``filter`` over a staged iterable: a loop over it passes by the elements that are not wanted."""
    inner = _part(iterable)
    return StagedIterable(
        inner.length, inner.get, "a filter over tensors", keep=function if function is not None else lambda item: item
    )


def staged_map(function: Callable[..., Any], *iterables: Any) -> StagedIterable:
    """Return ``map`` over iterables of which one is staged."""
    inner = staged_zip(*iterables)
    return StagedIterable(inner.length, lambda k: function(*inner.get(k)), "a map over tensors")
