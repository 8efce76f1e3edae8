"""What a staged ``for`` loop can run over: ranges with tensor bounds, rows of tensors, and combinations."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.ir.convert import convert_to_tensor, has_tensor
from autoloop_runtime.ir.number_operators import as_number, carried
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    DecidedNumber,
    Kind,
    NumberTracer,
    TextTracer,
    join,
    kind_of,
    marked,
    number_of,
)
from autoloop_runtime.ops.creation import RANGE

from ...errors import mark_programs_own
from ..mutation.outside_world import stays
from ..staging.clauses import Clauses, StagedClauses, clauses_of
from ..staging.growing_list import GrowingList
from ..staging.raising import Raising, raise_unless
from ..staging.staged_values import is_staged
from ..staging.standins import StandIn
from .math_functions import tried
from .named_iterators import refuse_again, refuse_named

#: more iterations than a run can make
_NO_END = 2**62


class StagedIterable(StandIn):
    """A sequence whose length or elements are known only when the graph runs.

    Attributes
    ----------
    length : NumberTracer or int
        How many elements.
    get : callable
        Gives the element at an index, a number.
    describe : str
        What messages call it.
    keep : callable, optional
        Tells of an element whether a loop gets to see it; ``length`` counts those that it does not see, too.
    written_out : bool
        Whether it has elements that only Python knows: a loop over it is one of Python's, if its length is known.
    number : Kind
        What Python numbers are after a loop over it: tensors, if tensors decide how often it runs.
    """

    advice = "loop over it with a `for` statement, or make a list of it, list(...)"

    def __init__(
        self,
        length: Any,
        get: Callable[[Any], Any],
        describe: str,
        keep: Callable[[Any], Any] | None = None,
        number: Kind | None = None,
        written_out: bool = False,
    ) -> None:
        self.written_out = written_out
        self.number = number_of((length,)) if number is None else number
        self.length = as_number(length, self.number)
        self.get = get
        self.describe = describe
        self.keep = keep
        #: what becomes of an element that a loop gets to see
        self.made: Callable[[Any], Any] | None = None
        #: the user's that make or choose its elements
        self.functions: tuple[Callable[..., Any], ...] = ()
        #: whether its last element raises, which nobody may ask for
        self.is_uneven = False
        #: of an iterator of Python's: whether a loop has begun to run over it
        self.is_used: bool | None = None

    def once(self) -> StagedIterable:
        """Let this be an iterator of Python's, which gives its elements once."""
        self.is_used = False
        return self

    def by(self, *functions: Callable[..., Any], parts: Iterable[StagedIterable] = ()) -> StagedIterable:
        """Note the functions of the user's that make its elements, with those of its parts."""
        self.functions = (*functions, *[one for part in parts for one in part.functions])
        return self

    def described(self) -> str:
        """Return what messages call it."""
        return self.describe

    def __repr__(self) -> str:
        return f"<{self.describe}>"

    def holds(self, item: Any) -> Any:
        """Return ``item in`` a range; other sequences would have to be run through."""
        raise TypeError(f"`in` does not work on {self.describe}: loop over it, or ask its tensors")

    def __len__(self) -> int:
        raise TypeError("the length of this sequence is a tensor: call len(...) in converted code")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"{self.describe} can be iterated over only by a `for` statement in converted code, not by a "
            f"comprehension or a library function: append to a list in a `for` loop"
        )

    def decision(self) -> Any:
        """Return whether it has elements."""
        return marked(self.number, ops.greater(self.length, 0))

    def __getitem__(self, index: Any) -> Any:
        return self.get(index)


class StagedRange(StagedIterable):
    """A range whose bounds the run knows, and what Python's has under a dot.

    Parameters
    ----------
    start, stop, step : int or NumberTracer
    length : int or NumberTracer
    number : Kind
    """

    def __init__(self, start: Any, stop: Any, step: Any, length: Any, number: Kind) -> None:
        plain = isinstance(start, int) and start == 0 and isinstance(step, int) and step == 1
        super().__init__(
            length, (lambda k: k) if plain else functools.partial(_at, start, step), "a range with tensor bounds",
            number=number,
        )  # fmt: skip
        self.start, self.stop, self.step = (as_number(one, number) for one in (start, stop, step))

    def holds(self, item: Any) -> Any:
        """Return ``item in`` the range."""
        kind = number_of((item, self.start, self.step, self.length))
        return marked(kind, _in_range(item, self.start, self.step, self.length))

    def index(self, item: Any) -> Any:
        """Return the place of a number; ``ValueError`` if it has none."""
        raise_unless(self.holds(item), Raising(ValueError, lambda: ValueError("the number is not in range")))
        return (as_number(item, self.number) - self.start) // self.step

    def count(self, item: Any) -> Any:
        """Return how often it has a number: once or never."""
        found = self.holds(item)
        return as_number(found, type(found)) + 0

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise TypeError(f"a part of {self.describe} is none: write range(i, j)")
        return number_at(self.start, self.step, self.length, index)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, range | StagedRange):
            return False
        mine, theirs = self.length, other.length if isinstance(other, StagedRange) else len(other)
        starts = ops.logical_or(ops.equal(mine, 0), ops.equal(self.start, other.start))
        steps = ops.logical_or(ops.less_equal(mine, 1), ops.equal(self.step, other.step))
        same = ops.logical_and(ops.equal(mine, theirs), ops.logical_and(starts, steps))
        return marked(number_of((mine, theirs)), same)

    __hash__ = object.__hash__


def staged_range(*args: Any) -> StagedIterable:
    """Return ``range`` with tensor bounds; the step may have either sign."""
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1) if len(args) == 2 else args
    for what, value in (("start", start), ("stop", stop), ("step", step)):
        tensor = convert_to_tensor(value)
        if tensor.dtype.kind not in "iu":
            tried(range, value)  # which says it in Python's words, where it is no tensor
            raise TypeError(f"the {what} of range must be an integer, got a tensor of dtype {tensor.dtype}")
        if tensor.shape.rank not in (0, None):
            raise TypeError(f"the {what} of range must be a scalar, got shape {tensor.shape}")
    number = number_of(args)
    start, stop, step = map(as_number, (start, stop, step))
    if isinstance(step, int) and step == 0:
        raise ValueError("range() arg 3 must not be zero")
    span = stop if isinstance(start, int) and start == 0 else stop - start
    length = _largest(span if isinstance(step, int) and step == 1 else -(-span // step))
    return StagedRange(start, stop, step, length, number)


def number_at(start: Any, step: Any, length: Any, index: Any) -> Any:
    """Return the number of a range at a place, which may count from its end."""
    kind = number_of((start, step, length, index))
    place = ops.cast(index, dtypes.int64)
    count = carried(length)
    inside = ops.logical_and(ops.less(place, count), ops.greater_equal(place, ops.negative(count)))
    raise_unless(inside, Raising(IndexError, lambda: IndexError("range object index out of range")))
    place = ops.where(ops.less(place, 0), ops.add(place, count), place)
    return kind(ops.add(carried(start), ops.multiply(carried(step), place)))


def _at(start: Any, step: Any, k: Any) -> Any:
    """Return the number of a range at a place: it is between the bounds, and so has no more bits."""
    product = ops.multiply(carried(k), carried(step))
    return marked(kind_of((start, step, k)), ops.add(carried(start), product))


def known_range(items: range) -> StagedIterable:
    """Return a range of Python's for a loop of the graph."""
    get = functools.partial(_at, items.start, items.step)
    return StagedIterable(len(items), get, "a long Python range", number=NumberTracer)


def counting(iterator: Any) -> StagedIterable | None:
    """Return what ``itertools.count`` has still to give, if it counts by ints; None of any other iterator."""
    if not isinstance(iterator, itertools.count):
        return None
    first, second = next(iterator), next(iterator)
    if not (type(first) is int and type(second) is int):
        raise TypeError("a tensor decides when this loop over itertools.count is left: let it count by ints")
    get = functools.partial(_at, first, second - first)
    return StagedIterable(_NO_END, get, "itertools.count", number=NumberTracer)


def _largest(length: Any) -> Any:
    """Return a length that may have come out negative."""
    return max(length, 0) if isinstance(length, int) else as_number(ops.maximum(length, 0), type(length))


def _in_range(item: Any, start: Any, step: Any, length: Any) -> Any:
    offset = ops.subtract(item, start)
    index = ops.floor_divide(offset, step)
    inside = ops.logical_and(ops.less_equal(0, index), ops.less(index, length))
    return ops.logical_and(inside, ops.equal(ops.mod(offset, step), 0))


def as_staged(value: Any) -> StagedIterable | None:
    """Return a staged iterable for what a staged loop runs over, else None."""
    if isinstance(value, StagedIterable):
        if value.is_used:
            refuse_again(value.describe)
        return value
    if isinstance(value, StagedClauses):
        return _of_clauses(value)
    if isinstance(value, GrowingList):
        return StagedIterable(value.length, value.copy().__getitem__, "a list of tensors", number=NumberTracer)
    if is_staged(value):
        return rows(value)
    return None


def _of_clauses(clauses: Clauses) -> StagedIterable:
    """Return a generator expression that gives an element for each of what it runs over as a sequence."""
    clauses.stays()
    source = as_staged(clauses.source)
    if not clauses.is_whole or (source is not None and source.keep is not None):
        raise TypeError(
            "how many elements a generator expression with an `if`, or another `for`, gives only the run knows, and "
            "they are counted, or paired, here: make a list of it, [...]"
        )
    source = _elements(list(clauses.source)) if source is None else source
    clauses.gone = "was run over before"
    get = source.get
    made = StagedIterable(
        source.length, lambda k: clauses.step([get(k)])[0][1](), "a generator expression", number=source.number
    )
    return made.once().by(clauses.step, parts=[source])


def run_over(value: Any) -> StagedIterable | None:
    """Return a staged iterable, of which it is noted that a loop runs over it."""
    staged = as_staged(value)
    if staged is not None and staged.is_used is not None:
        staged.is_used = True
    return staged


def rows(value: Any) -> StagedIterable:
    """Return the rows of a tensor or array along its first axis."""
    if isinstance(value, TextTracer):
        iter(value)  # says what to do
    tensor, kind = convert_to_tensor(value), kind_of((value,))
    if tensor.shape.rank == 0:
        raise TypeError("a `for` loop runs over the rows of a tensor; this one has no dimensions")
    static = tensor.shape.as_list()[0] if tensor.shape.rank is not None else None
    counted = _counted(tensor, static, kind)
    if counted is not None:
        return counted
    if isinstance(value, ArrayTracer) and tensor.shape.rank is None:
        raise_unless(ops.greater(ops.rank(tensor), 0), Raising(TypeError, _no_rows))
    length = static if static is not None else ops.getitem(ops.shape(tensor), 0)
    if isinstance(value, ArrayTracer):
        return StagedIterable(length, value.__getitem__, "a tensor", number=number_of((value,)))
    get = functools.partial(ops.getitem, tensor)
    return StagedIterable(length, lambda k: marked(kind, get(k)), "a tensor", number=number_of((value,)))


def _no_rows() -> TypeError:
    return TypeError("iteration over a 0-d array")


def _counted(tensor: Tensor, static: int | None, kind: Kind) -> StagedIterable | None:
    """Return the numbers of ``range(start, limit, delta)`` without the tensor, which is then never made."""
    if not tensor.is_symbolic or tensor.op.op is not RANGE or tensor.dtype.kind != "i":
        return None
    start, limit, delta = (known if known is not None else t for t in tensor.op.inputs for known in [_integer(t)])
    if not isinstance(delta, int) or delta == 0:
        return None
    every = staged_range(start, limit, delta)
    dtype, number = tensor.dtype, every.get
    return StagedIterable(
        every.length if static is None else static,
        lambda k: marked(kind, ops.cast(carried(number(k)), dtype)),
        "a tensor",
        number=DecidedNumber if kind is Tensor else NumberTracer,
    )  # fmt: skip


def _integer(tensor: Tensor) -> int | None:
    value = tensor.constant_value()
    return None if value is None else int(value)


def part_of(value: Any) -> StagedIterable:
    """Return one of several sequences that run side by side; a Python sequence becomes a tensor."""
    clauses = clauses_of(value)
    staged = as_staged(stays(value)) if clauses is None else _of_clauses(clauses)
    if staged is not None and staged.keep is not None:
        raise TypeError(
            f"{staged.describe} has no length to count or pair its elements by: make a list of it, list(filter(...))"
        )
    if staged is None:
        refuse_named(value, "runs side by side with a tensor: how far it is then is not followed")
    return staged if staged is not None else _elements(list(value))


def _elements(values: list[Any]) -> StagedIterable:
    """Return the elements of a Python list, each as it is where its place is known; those of numbers are numbers."""

    @functools.cache
    def gathered() -> tuple[Kind, Tensor]:
        kind = kind_of((values,))
        numbers = issubclass(kind, NumberTracer) and not has_tensor(values)
        return kind, convert_to_tensor(np.asarray(values) if numbers else values)

    def get(k: Any) -> Any:
        if isinstance(k, int):
            return values[k]
        kind, tensor = gathered()
        return marked(kind, ops.getitem(tensor, k))

    return StagedIterable(len(values), get, "a list", number=NumberTracer, written_out=not _are_alike(values))


def _are_alike(values: list[Any]) -> bool:
    """Return whether values can be the rows of one array, each of which is what the value was."""
    types = set(map(type, values))
    return (len(types) == 1 and not issubclass(types.pop(), str | bytes | type(None))) or any(map(is_staged, values))


def staged_enumerate(iterable: Any, start: Any = 0) -> StagedIterable:
    """Return ``enumerate`` over a staged iterable."""
    inner = part_of(iterable)
    first = as_number(start)
    return StagedIterable(
        inner.length, lambda k: (first + k, inner.get(k)), "an enumerate over tensors", number=inner.number,
        written_out=inner.written_out,
    ).once().by(parts=[inner])  # fmt: skip


def staged_zip(*iterables: Any, strict: bool = False) -> StagedIterable:
    """Return ``zip`` over iterables of which one is staged."""
    parts = [part_of(one) for one in iterables]
    length = parts[0].length
    number = join(*[part.number for part in parts])
    lengths = [part.length for part in parts]
    for part in parts[1:]:
        both_known = isinstance(length, int) and isinstance(part.length, int)
        length = min(length, part.length) if both_known else as_number(ops.minimum(length, part.length), number)
    end: Any = None
    if strict and not (isinstance(length, int) and all(one == length for one in lengths)):
        # the element after the last is one more, which raises when it is asked for, if any is
        end, longest = length, functools.reduce(ops.maximum, lengths)
        known = all(isinstance(one, int) for one in lengths)
        length = end + 1 if known else as_number(ops.minimum(longest, ops.add(end, 1)), number)

    def element(k: Any) -> tuple[Any, ...]:
        if end is not None:
            _check_end(k, end, lengths)
        return tuple(part.get(k) for part in parts)

    written_out = any(part.written_out for part in parts)
    made = StagedIterable(length, element, "a zip over tensors", number=number, written_out=written_out)
    made.is_uneven = end is not None
    return made.once().by(parts=parts)


def _check_end(k: Any, end: Any, lengths: Sequence[Any]) -> None:
    """Raise, now or at run time, as ``zip(..., strict=True)`` does where the iterables end of which one is longer."""

    def error(*lengths: Any) -> ValueError:
        end = min(lengths)
        short = next((number for number, one in enumerate(lengths, 1) if one == end))
        number = short if short > 1 else next(number for number, one in enumerate(lengths, 1) if one > end)
        than = "argument 1" if number == 2 else f"arguments 1-{number - 1}"
        return ValueError(f"zip() argument {number} is {'shorter' if short > 1 else 'longer'} than {than}")

    if isinstance(k, int) and isinstance(end, int):
        if k < end:
            return
        try:
            raise error(*lengths)
        except ValueError as ended:
            mark_programs_own(ended)
            raise
    raise_unless(ops.less(k, end), Raising(ValueError, error), *lengths)


def staged_reversed(iterable: Any) -> StagedIterable:
    """Return ``reversed`` over a staged iterable."""
    inner = part_of(iterable)
    return (
        StagedIterable(
            inner.length,
            lambda k: inner.get(inner.length - 1 - k),
            "a reversed tensor",
            number=inner.number,
            written_out=inner.written_out,
        )
        .once()
        .by(parts=[inner])
    )
