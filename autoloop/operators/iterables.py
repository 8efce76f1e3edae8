"""What a staged ``for`` loop can run over: ranges with tensor bounds, rows of tensors, and combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autoloop.operators.growing import GrowingList
from autoloop.operators.values import is_staged
from autoloop_runtime.graph import convert_to_tensor
from autoloop_runtime.registry import call
from autoloop_runtime.tensor import Tensor


class StagedIterable:
    """A sequence whose length or elements are known only when the graph runs.

    Attributes
    ----------
    length : Tensor or int
        How many elements.
    get : callable
        Gives the element at an index (a tensor).
    """

    def __init__(self, length: Any, get: Callable[[Any], Any], describe: str) -> None:
        self.length = length
        self.get = get
        self.describe = describe

    def __len__(self) -> int:
        raise TypeError("the length of this sequence is a tensor: call len(...) in converted code")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"{self.describe} can be iterated over only by a `for` statement in converted code, not by a "
            f"comprehension or a library function"
        )

    def __getitem__(self, index: Any) -> Any:
        return self.get(index)


def staged_range(*args: Any) -> StagedIterable:
    """``range`` with tensor bounds; the step may have either sign."""
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    for what, value in (("start", start), ("stop", stop), ("step", step)):
        tensor = convert_to_tensor(value)
        if tensor.dtype.kind not in "iu":
            raise TypeError(f"the {what} of range must be an integer, got a tensor of dtype {tensor.dtype}")
        if tensor.shape.rank not in (0, None):
            raise TypeError(f"the {what} of range must be a scalar, got shape {tensor.shape}")
    span = call("subtract", stop, start)
    if isinstance(step, int) and not isinstance(step, bool):
        if step == 0:
            raise ValueError("range() arg 3 must not be zero")
        length = span if step == 1 else _ceil_div(span, step)
    else:
        length = _ceil_div(span, step)
    plain = isinstance(start, int) and start == 0 and isinstance(step, int) and step == 1
    return StagedIterable(
        call("maximum", length, 0),
        (lambda k: k) if plain else (lambda k: call("add", start, call("multiply", k, step))),
        "a range with tensor bounds",
    )


def _ceil_div(span: Any, step: Any) -> Any:
    return call("negative", call("floor_divide", call("negative", span), step))


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
    """The rows of a tensor along its first axis."""
    if tensor.shape.rank == 0:
        raise TypeError("a `for` loop runs over the rows of a tensor; this one has no dimensions")
    static = tensor.shape.as_list()[0] if tensor.shape.rank is not None else None
    length = static if static is not None else call("getitem", call("shape", tensor), 0)
    return StagedIterable(length, lambda k: call("getitem", tensor, k), "a tensor")


def _part(value: Any) -> StagedIterable:
    """Return one of several sequences that run side by side; a Python sequence becomes a tensor."""
    staged = as_staged(value)
    return staged if staged is not None else rows(convert_to_tensor(list(value)))


def staged_enumerate(iterable: Any, start: Any = 0) -> StagedIterable:
    """``enumerate`` over a staged iterable."""
    inner = _part(iterable)
    plain = isinstance(start, int) and start == 0
    return StagedIterable(
        inner.length,
        lambda k: (k if plain else call("add", k, start), inner.get(k)),
        "an enumerate over tensors",
    )


def staged_zip(*iterables: Any, strict: bool = False) -> StagedIterable:
    """``zip`` over iterables of which one is staged."""
    parts = [_part(one) for one in iterables]
    length = parts[0].length
    for part in parts[1:]:
        both_known = isinstance(length, int) and isinstance(part.length, int)
        length = min(length, part.length) if both_known else call("minimum", length, part.length)
    return StagedIterable(length, lambda k: tuple(part.get(k) for part in parts), "a zip over tensors")


def staged_reversed(iterable: Any) -> StagedIterable:
    """``reversed`` over a staged iterable."""
    inner = _part(iterable)
    return StagedIterable(
        inner.length,
        lambda k: inner.get(call("subtract", call("subtract", inner.length, 1), k)),
        "a reversed tensor",
    )


def staged_map(function: Callable[..., Any], *iterables: Any) -> StagedIterable:
    """``map`` over iterables of which one is staged."""
    inner = staged_zip(*iterables)
    return StagedIterable(inner.length, lambda k: function(*inner.get(k)), "a map over tensors")
