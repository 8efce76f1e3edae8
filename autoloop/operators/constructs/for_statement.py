"""``for`` statements: Python loops over Python values; over tensors, and from where a tensor decides, staged."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.int_bounds import runs_through

from ... import operators
from ...left_to_python import LeftToPython
from ..mutation.side_effects import Outside
from ..staging.clauses import Clauses, Step, clauses_of
from ..staging.mixed_numbers import MixedNumber
from ..staging.moved_lists import refuse_moved
from ..staging.staged_values import is_staged
from ..staging.standins import Maybe, is_growing, opened
from ..staging.undefined import spoken
from ..staging.users_methods import method_of
from .iterables import StagedIterable, counting, known_range, run_over
from .long_ranges import PEELED, Growth, Tried
from .staged_loops import Loop, any_staged, record, staged_loop
from .stateful_calls import iterated

if TYPE_CHECKING:
    from ..mutation.named_places import Places

Values = tuple[Any, ...]
Options = Callable[[], dict[str, Any]]


@dataclass
class Statement:
    """A ``for`` statement as it is written, whatever it runs over: what ``for_stmt`` is given beside that; or a
    ``while`` statement that counts."""

    body: Callable[..., Any]
    names: tuple[str, ...]
    until: tuple[str, ...]
    shared: tuple[str, ...]
    places: Places | None
    options: Options | None
    targets: tuple[str, ...]
    kind: Literal["for", "while"] = "for"

    def flags(self, values: Values) -> Values:
        """Return which of the variables that end the loop are up."""
        return tuple(values[self.names.index(name)] for name in self.until)

    def where(self, test: Any, taken: Callable[..., Any], values: Values) -> Values:
        """Return the variables after ``taken`` where the test holds; elsewhere they stay."""
        return operators.if_stmt(test, taken, None, self.names, shared=self.shared, places=self.places)(*values) or ()

    def inside(self, body: Callable[..., Any]) -> Statement:
        """Return a loop that is a part of this one: around another body it ends as this one does."""
        return replace(self, body=body, options=None, targets=())

    def over(self, iterable: Any, values: Values) -> Values:
        """Run it."""
        return for_stmt(
            iterable,
            self.body,
            values,
            self.names,
            until=self.until,
            shared=self.shared,
            places=self.places,
            options=self.options,
            targets=self.targets,
        )


#: why a loop stays one of Python's; and what is wrong with what it runs over
_UNKNOWN = "what {0!r} holds would only be known to a run"
_LEFT = "is left by a loop when a tensor says so: how far it is then only the run knows"
_TOO_LARGE = "it counts to what an int of 64 bits does not hold"
#: so many steps under conditions are written out of what may have no end
_MOST = 300


def for_stmt(
    iterable: Any,
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    *,
    until: tuple[str, ...] = (),
    targets: tuple[str, ...] = (),
    shared: tuple[str, ...] = (),
    places: Places | None = None,
    options: Options | None = None,
) -> Values:
    """Run a ``for`` loop.

    Parameters
    ----------
    iterable : object
        What the loop runs over.
    body : callable
        Takes the next element and the loop variables; returns the variables' next values.
    values, names, until, shared, places, options
        As for ``while_stmt``.
    targets : tuple of str
        The variables to which the loop gives its elements, or parts of them.

    Returns
    -------
    tuple
        The values after the loop.
    """
    __tracebackhide__ = True  # debuggers that know this do not show the frame
    loop = Statement(body, names, until, shared, places, options, targets)
    if (clauses := clauses_of(iterable, bool(until))) is not None:
        return _through_clauses(clauses, loop, values)
    unroll = None if options is None else options().get("unroll")
    iterable, staged = _over(iterable, bool(unroll))
    if staged is not None:
        return _for_staged(staged, loop, values)
    stops = [names.index(name) for name in until]
    iterator = iter(iterable)
    growth = _growth(iterable, loop, unroll)
    for item in iterator:
        before, values = values, body(item, *values) or ()
        if growth is not None:
            growth.step()
            growth.tell()
        if any_staged(flags := [values[stop] for stop in stops]):
            operators.refuse_named(iterator, _LEFT)
            operators.refuse_changing(iterator)
            return _rest_of_python_loop(iterator, loop.inside(body), values, growth)
        if any(flags):
            break
        if growth is not None and (long := growth.rest()):
            made = rest_of_long_range(long, loop.inside(body), before, values, growth)
            if made is not None:
                return made
    told = f"; as a loop of the graph {growth.why_not}" if growth is not None and growth.why_not else ""
    counts = (growth.count, growth.nodes) if growth is not None else ()
    record("for", names, False, f"it iterates over a Python {type(iterable).__name__}{told}", *counts)
    return values


def _growth(iterable: Any, loop: Statement, unroll: bool | None) -> Growth | None:
    """Return what looks at how a graph grows by a loop that Python runs; None if there is no graph."""
    graph = current_graph()
    if graph is None:
        return None
    growth = Growth(iterable, loop.body, graph, unroll)
    if loop.shared or loop.places is not None:
        growth.changes_others()
    return growth


def _over(iterable: Any, unroll: bool) -> tuple[Any, StagedIterable | None]:
    """Return what gives the elements to Python, and to the graph if that is to run over them."""
    refuse_moved(iterated(iterable))
    iterable = iterable if (method := method_of(iterable, "__iter__")) is None else method()
    staged = run_over(iterable)
    if staged is not None and (staged.written_out or unroll) and isinstance(staged.length, int):
        return map(staged.get, range(staged.length)), None
    return iterable, staged


def _through_clauses(clauses: Clauses, loop: Statement, values: Values) -> Values:
    """Run a loop over what a generator expression gives: a loop for each ``for`` in it, a branch for each ``if``."""

    body = loop.body  # by itself: who looks for what a block changes looks into the closures of its functions

    def through(step: Step) -> Callable[..., Values]:
        def each(item: Any, *mine: Any) -> Values:
            [(test, made, following)] = step([item])

            def wanted(*mine: Any) -> Values:
                if following is None:
                    return body(made(), *mine) or ()
                return loop.inside(through(following)).over(clauses.over(made()), mine)

            return wanted(*mine) if test is None else loop.where(test(), wanted, mine)

        return each

    clauses.gone = "was left by an exception"
    made = replace(loop, body=through(clauses.step), targets=()).over(clauses.source, values)
    clauses.gone = ""
    clauses.left(loop.flags(made))
    return made


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
            made = _for_staged(known_range(items), loop, values, growth.before(items))
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


def _for_staged(items: StagedIterable, loop: Statement, values: Values, growth: Growth | None = None) -> Values:
    """Run a ``for`` loop in the graph, by counting; ``growth``: of what it is the rest of."""
    if isinstance(items.length, int) and items.length == 0:
        record("for", loop.names, False, f"{items.describe} has no elements")
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
    record(loop.kind, loop.names, True, f"{how} {items.describe}", *counts)
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


def _rest_of_python_loop(iterator: Iterator[Any], loop: Statement, values: Values, growth: Growth | None) -> Values:
    """Go on with a Python loop after a tensor has decided whether to leave it: each step under a condition.

    Where much of a long range is left, the variables settle in some such steps, and a loop of the graph follows if they
    can be its variables.
    """
    long = None if growth is None else growth.rest(in_branches=True)
    endless = counting(iterator)
    if endless is not None:
        return _for_staged(endless, loop, values)
    for count, item in enumerate(operators.perhaps_wanted(iterator)):
        if count > _MOST and operator.length_hint(iterator, -1) < 0:
            raise TypeError(
                f"a tensor decides when this loop over a Python {type(iterator).__name__} is left, which has given "
                f"{_MOST} elements and tells of no end: count in a `while` loop, or loop over an array or a range"
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
    record("for", loop.names, False, "it iterates over Python values; a tensor decides when it ends")
    return values


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value
