"""``for`` loops of the graph: over what only a run knows, and what is left of one that Python has begun."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.records import record_decision
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.int_bounds import runs_through

from ... import operators
from ...left_to_python import LeftToPython
from ..mutation.side_effects import Outside
from ..staging.mixed_numbers import MixedNumber
from ..staging.staged_values import is_staged
from ..staging.standins import Maybe, is_growing, opened
from ..staging.undefined import spoken
from .iterables import StagedIterable, counting, known_range
from .long_ranges import PEELED, Growth
from .staged_loops import Loop, staged_loop
from .tried_loops import Tried

if TYPE_CHECKING:
    from .for_statement import Statement

Values = tuple[Any, ...]
#: why a loop stays one of Python's; and what is wrong with what it runs over
_UNKNOWN = "what {0!r} holds would only be known to a run"
_TOO_LARGE = "it counts to what an int of 64 bits does not hold"
#: so many steps under conditions are written out of what may have no end
_MOST = 300


def rest_of_long_range(
    items: range,
    loop: Statement,
    before: Values,
    values: Values,
    growth: Growth,
    holds: Callable[[Values], bool] = lambda _: True,
) -> Values | None:
    """Return what a long loop over a Python range leaves, as a loop of the graph; None if it has to be written out.

    It has if something that Python knows would be for the run to say then, but for numbers and lists of which nobody
    is likely to ask, see ``Growth.may_carry``, or if something does not hold of what the loop leaves.
    """
    changes = zip(loop.names, before, values, strict=True)
    if moving := [name for name, *pair in changes if not (stays(*pair) or growth.may_carry(*pair))]:
        growth.why_not = _UNKNOWN.format(spoken(moving[0]))
        return None
    tried = Tried(Outside((loop.body,), loop.shared, loop.places, values), values, loop.names)
    why, graph = "", tried.graph
    size = len(graph.nodes)
    with tried.block, growth.trying():
        try:
            made = for_staged(known_range(items), loop, values, growth.before(items))
        except (Exception, LeftToPython) as error:  # what the loop of a graph cannot do, written out it can
            why = f"it cannot be built: {str(error).partition(chr(10))[0]}"
        else:
            both = zip(loop.names, values, made, strict=True)
            other = [name for name, one, now in both if name not in loop.until and not _goes_on(one, now, growth)]
            why = _UNKNOWN.format(spoken(other[0])) if other else "" if holds(made) else "it does not count by itself"
            counts = any(type(one) is int and now is not one for one, now in zip(values, made, strict=True))
            why = why or (_TOO_LARGE if _may_pass(graph.nodes[size:], counts) else "")
        if why:
            tried.undo()
            growth.failed(why)
            return None
    growth.staged()
    return made


def _goes_on(one: Any, other: Any, growth: Growth) -> bool:
    """Return whether what a loop of the graph leaves is what Python would, or is a number of its type, or a list."""
    if _is_alike(one, other):
        return True
    return growth.may_carry(one, one) and (is_growing(other) if type(one) is list else number_type(other) is type(one))


def _may_pass(nodes: list[Any], counts: bool) -> bool:
    with undivided():  # which few functions need
        from autoloop_runtime.analysis.number_spans import passes_a_bound
    return passes_a_bound(nodes, counts)


def stays(before: Any, value: Any) -> bool:
    """Return whether a variable is carried by a graph as it is, or is left alone by a loop."""
    return _is_alike(before, value) and not isinstance(value, list | dict | set)


def _is_alike(one: Any, other: Any) -> bool:
    """Return whether one value can be used in place of another: both are the very same, or of one type for the run."""
    if isinstance(other, Maybe):
        return type(one) is type(other) and _is_alike(opened(one).value, opened(other).value)
    if isinstance(other, MixedNumber):
        return isinstance(one, MixedNumber) and one.types == other.types
    if isinstance(other, Tensor):
        return type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape
    if type(other) is tuple:
        return type(one) is tuple and len(one) == len(other) and all(map(_is_alike, one, other))
    return one is other


def for_staged(items: StagedIterable, loop: Statement, values: Values, growth: Growth | None = None) -> Values:
    """Run a ``for`` loop in the graph, by counting; ``growth``: of what it is the rest of."""
    if isinstance(items.length, int) and items.length == 0:
        record_decision("for", loop.names, False, f"{items.describe} has no elements")
        return values
    is_known = isinstance(items.length, int)
    rows = operators.Rows(items, loop.names, loop.targets if is_known and not loop.until else ())

    def counted_body(k: Any, *mine: Any) -> Values:
        item = items.get(k)
        if items.keep is None:
            left = loop.body(item, *mine) or ()
            return (k + 1, *rows.kept_out(item, left, mine))
        wanted = functools.partial(loop.body, item) if items.made is None else _making(items.made, item, loop.body)
        return (k + 1, *loop.where(items.keep(item), wanted, mine))

    # no flag stops it before its first iteration
    surely = is_known and items.length > 0 and items.keep is None and all(f is False for f in loop.flags(values))
    start, test, body = 0, lambda k, *_: k < items.limit, counted_body
    numbers = items.numbers if surely else None
    if numbers is not None:  # to count by the elements themselves saves making them of the count
        start, test, body = numbers.start, _inside(numbers), _by_element(loop.body, numbers)
    counted = Loop(
        test=test,
        body=body,
        names=("iteration", *loop.names),
        until=loop.until,
        outside=Outside((loop.body, *items.functions), loop.shared, loop.places, values),
        options=({} if loop.options is None else loop.options()) | ({} if growth is None else growth.options()),
        number=items.number,
        counted=numbers is None,
        surely=surely,
    )
    counts = () if growth is None else (growth.length, growth.expected)
    how = "it iterates over" if loop.kind == "for" else "it counts through"
    record_decision(loop.kind, loop.names, True, f"{how} {items.describe}", *counts)
    left = rows.put_in(staged_loop(counted, (start, *values), items.length)[1:])
    for check in items.checks:
        check()
    return left


def _inside(numbers: range) -> Callable[..., Any]:
    return (lambda k, *_: k < numbers.stop) if numbers.step > 0 else (lambda k, *_: k > numbers.stop)


def _by_element(body: Callable[..., Any], numbers: range) -> Callable[..., Any]:
    def each(k: Any, *mine: Any) -> Values:
        runs_through(k, numbers)
        return (k + numbers.step, *(body(k, *mine) or ()))

    return each


def _making(made: Callable[[Any], Any], item: Any, body: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *mine: body(made(item), *mine)


def rest_of_python_loop(iterator: Iterator[Any], loop: Statement, values: Values, growth: Growth | None) -> Values:
    """Go on with a Python loop after a tensor has decided whether to leave it: each step under a condition.

    Where much of a long range is left, the variables settle in some such steps, and a loop of the graph follows if they
    can be its variables.
    """
    long = None if growth is None else growth.rest(in_branches=True)
    endless = counting(iterator)
    if endless is not None:
        return for_staged(endless, loop, values)
    for count, item in enumerate(operators.perhaps_wanted(iterator)):
        if count > _MOST and operator.length_hint(iterator, -1) < 0:
            raise TypeError(
                f"a tensor decides when this loop over a Python {type(iterator).__name__} is left, which has given "
                f"{_MOST} elements and tells of no end: count in a `while` loop, or loop over an array or a range"
                " [AL018]"
            )
        flags = loop.flags(values)
        stop = operators.or_(flags[0], *(_constant(flag) for flag in flags[1:]))
        if not is_staged(stop) and stop:
            break
        before, values = values, loop.where(operators.not_(stop), functools.partial(loop.body, item), values)
        if growth is not None and long is not None and count in (0, PEELED - 1) and (left := long[count + 1 :]):
            rest = rest_of_long_range(left, loop, before, values, growth)
            if rest is not None:
                return rest
    record_decision("for", loop.names, False, "it iterates over Python values; a tensor decides when it ends")
    return values


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value
