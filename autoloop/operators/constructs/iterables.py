"""What a staged ``for`` loop can run over: ranges with tensor bounds, rows of tensors, and combinations."""

from __future__ import annotations

import functools
import gc
import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.stand_ins import UnknownWhileTracing, called
from autoloop_runtime.ir.convert import convert_to_tensor, has_tensor
from autoloop_runtime.ir.graph import theirs_here
from autoloop_runtime.ir.number_operators import as_number, carried
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    DecidedNumber,
    Kind,
    NumberTracer,
    TextTracer,
    kind_of,
    marked,
    number_of,
)
from autoloop_runtime.ops.later_rows import is_range

from ... import operators
from ...errors import ConversionError, programs_own
from ...left_to_python import leave_unknown
from ..staging.clauses import Clauses, StagedClauses
from ..staging.raising import Raising, raise_unless
from ..staging.staged_values import is_staged
from ..staging.standins import Face, StandIn, faced, is_growing, opened
from .ranges import bounds_of_part, in_range, number_at, number_of_step

#: more iterations than a run can make
_NO_END = 2**62

#: in the place of an argument that may be None
_NOT_GIVEN = object()


@called("iterator or sequence (of which only the run knows the elements)")
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
        #: what its places are below, if there are any: its length, which may have come out negative
        self.limit = self.length
        #: what becomes of an element that a loop gets to see
        self.made: Callable[[Any], Any] | None = None
        #: the user's that make or choose its elements
        self.functions: tuple[Callable[..., Any], ...] = ()
        #: whether its last element raises, which nobody may ask for
        self.is_uneven = False
        #: raise when its elements would be others, had each been asked for in its turn
        self.checks: tuple[Callable[[], None], ...] = ()
        #: the range of Python's that it is
        self.numbers: range | None = None
        #: of an iterator of Python's: whether a loop has begun to run over it
        self.is_used: bool | None = None

    def seen_as(self, kind: type) -> Any:
        """Return what the user gets: an iterator of a class of Python's, which gives its elements once."""
        self.is_used = False
        return faced(self, kind)

    def by(self, *functions: Callable[..., Any], parts: Iterable[StagedIterable] = ()) -> StagedIterable:
        """Note the functions of the user's that make its elements, with those of its parts."""
        parts = list(parts)
        self.functions = (*functions, *[one for part in parts for one in part.functions])
        self.checks = tuple([one for part in parts for one in part.checks])
        return self

    def described(self) -> str:
        """Return what messages call it."""
        return self.describe

    def __repr__(self) -> str:
        return f"<{self.describe}>"

    def holds(self, item: Any) -> Any:
        """Return ``item in`` a range; other sequences would have to be run through."""
        raise TypeError(f"`in` does not work on {self.describe}: loop over it, or ask its tensors [AL018]")

    def refuse_leaving(self, what: str) -> NoReturn:
        """Let plain Python run the function, which has one of Python's there, if it can."""
        leave_unknown(f"{what} {self.described()}")
        raise UnknownWhileTracing(f"{what} {self.described()}: {self.advice}")

    def decision(self) -> Any:
        """Return whether it has elements; an iterator is true."""
        return self.is_used is not None or marked(self.number, ops.greater(self.length, 0))


@called("range (of which only the run knows the length)")
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
            length,
            (lambda k: k) if plain else functools.partial(number_of_step, start, step),
            "a range with tensor bounds",
            number=number,
        )
        self.start, self.stop, self.step = (as_number(one, number) for one in (start, stop, step))

    def holds(self, item: Any) -> Any:
        """Return ``item in`` the range."""
        kind = number_of((item, self.start, self.step, self.length))
        return marked(kind, in_range(item, self.start, self.step, self.length))

    def index(self, item: Any) -> Any:
        """Return the place of a number; ``ValueError`` if it has none."""
        raise_unless(self.holds(item), Raising(ValueError, lambda: ValueError("the number is not in range")))
        return (as_number(item, self.number) - self.start) // self.step

    def count(self, item: Any) -> Any:
        """Return how often it has a number: once or never."""
        found = self.holds(item)
        return as_number(found, type(found)) + 0

    def asked_for(self, name: str) -> Any:
        """Return what ranges have under a name."""
        return getattr(self, name)

    def at(self, index: Any) -> Any:
        """Return the number at a place, or a part."""
        if isinstance(index, slice):
            bounds = (index.start, index.stop, index.step)
            range(0)[
                slice(*(None if isinstance(one, Tensor) else one for one in bounds))
            ]  # which says what is no bound
            part = slice(*(operators.as_index(one) if isinstance(one, Tensor) else one for one in bounds))
            return staged_range(*bounds_of_part(self.start, self.step, self.length, part))
        return number_at(self.start, self.step, self.length, index)

    def same_as(self, other: object) -> Any:
        """Return whether another range has the same numbers."""
        other = opened(other)
        if not isinstance(other, range | StagedRange):
            return False
        mine, theirs = self.length, other.length if isinstance(other, StagedRange) else len(other)
        starts = ops.logical_or(ops.equal(mine, 0), ops.equal(self.start, other.start))
        steps = ops.logical_or(ops.less_equal(mine, 1), ops.equal(self.step, other.step))
        same = ops.logical_and(ops.equal(mine, theirs), ops.logical_and(starts, steps))
        return marked(number_of((mine, theirs)), same)


class RangeFace(Face):
    """What stands for a range."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        return self.__record__.at(index)

    def __len__(self) -> int:
        raise ConversionError("the length of this sequence is a tensor: call len(...) in converted code [AL007]")

    def __iter__(self) -> Any:
        every = self.__record__
        made = StagedIterable(every.length, every.get, f"an iterator of {every.describe}", number=every.number)
        return made.seen_as(type(iter(range(0))))

    def __eq__(self, other: object) -> Any:
        return self.__record__.same_as(other)

    __hash__ = object.__hash__


def staged_range(start: Any, stop: Any = _NOT_GIVEN, step: Any = 1, /) -> Any:
    """Return ``range`` with tensor bounds; the step may have either sign."""
    start, stop = (0, start) if stop is _NOT_GIVEN else (start, stop)
    return faced(_range_of(start, stop, step), range, RangeFace)


def _range_of(start: Any, stop: Any, step: Any) -> StagedRange:
    for what, value in (("start", start), ("stop", stop), ("step", step)):
        tensor = convert_to_tensor(value)
        if tensor.dtype.kind not in "iu":
            operators.tried(range, value)  # which says it in Python's words, where it is no tensor
            raise TypeError(f"the {what} of range must be an integer, got a tensor of dtype {tensor.dtype} [AL026]")
        if tensor.shape.rank not in (0, None):
            raise TypeError(f"the {what} of range must be a scalar, got shape {tensor.shape} [AL026]")
    number = number_of((start, stop, step))
    start, stop, step = map(as_number, (start, stop, step))
    if isinstance(step, int):
        range(0, 0, step)  # which says what Python says of zero
    else:
        raise_unless(ops.not_equal(step, 0), Raising(ValueError, lambda: ValueError("range() arg 3 must not be zero")))
    span = stop if isinstance(start, int) and start == 0 else stop - start
    count = span if isinstance(step, int) and step == 1 else -(-span // step)
    made = StagedRange(start, stop, step, _largest(count), number)
    made.limit = as_number(count, number)
    return made


def known_range(items: range) -> StagedIterable:
    """Return a range of Python's for a loop of the graph."""
    with undivided():  # which loops that are written out do without
        from autoloop_runtime.ops.int_bounds import runs_through

    def get(k: Any) -> Any:
        if isinstance(k, int):
            return items[k]
        runs_through(made := number_of_step(items.start, items.step, k), items)
        return made

    made = StagedIterable(len(items), get, "a long Python range", number=NumberTracer)
    made.numbers = items
    return made


def counting(iterator: Any) -> StagedIterable | None:
    """Return what ``itertools.count`` has still to give, if it counts by ints; None of any other iterator."""
    if not isinstance(iterator, itertools.count):
        return None
    first, second = next(iterator), next(iterator)
    if not (type(first) is int and type(second) is int):
        raise TypeError("a tensor decides when this loop over itertools.count is left: let it count by ints [AL018]")
    get = functools.partial(number_of_step, first, second - first)
    return StagedIterable(_NO_END, get, "itertools.count", number=NumberTracer)


def repeating(iterator: Any) -> StagedIterable | None:
    """Return what ``itertools.repeat`` has still to give; None of any other iterator."""
    if type(iterator) is not itertools.repeat:
        return None
    # the last that it refers to; pickling tells it, too, but warns in Python 3.13 and is gone in 3.14
    repeated = gc.get_referents(iterator)[-1]
    length = operator.length_hint(iterator, _NO_END)
    return StagedIterable(length, lambda k: repeated, "itertools.repeat", number=NumberTracer)


def _largest(length: Any) -> Any:
    """Return a length that may have come out negative."""
    return max(length, 0) if isinstance(length, int) else as_number(ops.maximum(length, 0), type(length))


def iterable_of(value: Any) -> StagedIterable | None:
    """Return what is behind a range or iterator of the user's whose elements the run makes; None of anything else."""
    found = opened(value)
    return found if isinstance(found, StagedIterable) else None


def as_staged(value: Any) -> StagedIterable | None:
    """Return a staged iterable for what a staged loop runs over, else None."""
    if (found := iterable_of(value)) is not None:
        if found.is_used:
            operators.refuse_again(found.describe)
        return found
    if isinstance(opened(value), StagedClauses):
        return of_clauses(opened(value))
    if is_growing(value):
        return StagedIterable(value.length, value.alike().__getitem__, "a list of tensors", number=NumberTracer)
    if is_staged(value):
        return rows(value)
    return None


def of_clauses(clauses: Clauses) -> StagedIterable:
    """Return a generator expression that gives an element for each of what it runs over as a sequence."""
    clauses.stays()
    source = run_over(clauses.source)
    if not clauses.is_whole or (source is not None and source.keep is not None):
        raise TypeError(
            "how many elements a generator expression with an `if`, or another `for`, gives only the run knows, and "
            "they are counted, or paired, here: make a list of it, [...] [AL018]"
        )
    source = listed(*operators.drawn(clauses.source)) if source is None else source
    clauses.gone = "was run over before"
    get = source.get
    made = StagedIterable(
        source.length, lambda k: clauses.step([get(k)])[0][1](), "a generator expression", number=source.number
    )
    made.is_used = False
    return made.by(clauses.step, parts=[source])


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
    if isinstance(value, ArrayTracer) and (theirs := theirs_here()) is not None:
        theirs.check_rows(value)
    tensor, kind = convert_to_tensor(value), kind_of((value,))
    if tensor.shape.rank == 0:
        operators.tried(iter, value)  # which says it in Python's words, where it is no tensor
        raise TypeError("a `for` loop runs over the rows of a tensor; this one has no dimensions [AL007]")
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
    return programs_own(TypeError("iteration over a 0-d array"))


def _counted(tensor: Tensor, static: int | None, kind: Kind) -> StagedIterable | None:
    """Return the numbers of ``range(start, limit, delta)`` without the tensor, which is then never made."""
    if not tensor.is_symbolic or not is_range(tensor.op.op) or tensor.dtype.kind != "i":
        return None
    start, limit, delta = (known if known is not None else t for t in tensor.op.inputs for known in [_integer(t)])
    if not isinstance(delta, int) or delta == 0:
        return None
    every = _range_of(start, limit, delta)
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


def listed(values: Sequence[Any], check: Callable[..., None] | None = None) -> StagedIterable:
    """Return the elements of a Python list, each as it is where its place is known; those of numbers are numbers.

    Parameters
    ----------
    values : list
    check : callable, optional
        Raises when the elements, from a place on, would be others now.
    """
    is_column = _are_numbers(values)

    @functools.cache
    def gathered() -> tuple[Kind, Tensor]:
        kind = kind_of((values,))
        numbers = issubclass(kind, NumberTracer) and not has_tensor(values)
        return kind, convert_to_tensor(np.asarray(values) if numbers else values)

    def get(k: Any) -> Any:
        if isinstance(k, int):
            if check is not None:
                check(k)
            return values[k]
        if not is_column:
            return operators.chosen(values, k)
        kind, tensor = gathered()
        return marked(kind, ops.getitem(tensor, k))

    made = StagedIterable(len(values), get, "a list", number=NumberTracer, written_out=not is_column)
    made.checks = () if check is None else (check,)
    return made


def _are_numbers(values: Sequence[Any]) -> bool:
    """Return whether values are numbers of one type, or tensors, which can be the rows of one array."""
    types = set(map(type, values))
    if len(types) != 1:
        return False
    [kind] = types
    if not issubclass(kind, Tensor):
        return issubclass(kind, bool | int | float | complex | np.generic)
    if len({(one.dtype, *(one.shape.as_list() if one.shape.rank is not None else ["?"])) for one in values}) != 1:
        return False
    return not issubclass(kind, ArrayTracer) or values[0].shape.rank == 0
