"""``for`` statements: Python loops over Python values; over tensors, and from where a tensor decides, staged."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.ir.array_storage import Block
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.tensor import Tensor

from ...left_to_python import LeftToPython
from ..mutation.side_effects import Outside, Places
from ..staging.clauses import Clauses, Step, clauses_of
from ..staging.mixed_numbers import MixedNumber
from ..staging.moved_lists import refuse_moved
from ..staging.staged_values import is_staged
from ..staging.standins import Maybe, opened
from ..staging.users_methods import method_of
from .boolean_operators import not_, or_
from .if_statement import if_stmt
from .iterables import StagedIterable, counting, known_range, run_over
from .last_rows import Rows
from .named_iterators import refuse_changing, refuse_named
from .staged_loops import Loop, any_staged, record, staged_loop
from .stateful_calls import iterated
from .unwanted_elements import perhaps_wanted

Values = tuple[Any, ...]
Options = Callable[[], dict[str, Any]]


@dataclass
class _Statement:
    """A ``for`` statement as it is written, whatever it runs over: what ``for_stmt`` is given beside that."""

    body: Callable[..., Any]
    names: tuple[str, ...]
    until: tuple[str, ...]
    shared: tuple[str, ...]
    places: Places | None
    options: Options | None
    targets: tuple[str, ...]

    def flags(self, values: Values) -> Values:
        """Return which of the variables that end the loop are up."""
        return tuple(values[self.names.index(name)] for name in self.until)

    def where(self, test: Any, taken: Callable[..., Any], values: Values) -> Values:
        """Return the variables after ``taken`` where the test holds; elsewhere they stay."""
        return if_stmt(test, taken, None, self.names, shared=self.shared, places=self.places)(*values) or ()

    def inside(self, body: Callable[..., Any]) -> _Statement:
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


#: how many nodes a loop over a Python range may be written out as, and one of which each iteration is a branch, since
#: a tensor decides when it ends; after how many iterations that is asked
MOST_NODES = 5_000
MOST_IN_BRANCHES = 500
_PEELED = 3
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
    loop = _Statement(body, names, until, shared, places, options, targets)
    if (clauses := clauses_of(iterable, bool(until))) is not None:
        return _through_clauses(clauses, loop, values)
    iterable, staged = _over(iterable)
    if staged is not None:
        return _for_staged(staged, loop, values)
    stops = [names.index(name) for name in until]
    iterator = iter(iterable)
    graph = current_graph()
    is_range = isinstance(iterable, range) and not shared and places is None
    for count, item in enumerate(iterator, 1):
        before, size = values, 0 if graph is None else len(graph.nodes)
        values = body(item, *values) or ()
        if any_staged(flags := [values[stop] for stop in stops]):
            refuse_named(iterator, "is left by a loop when a tensor says so: how far it is then only the run knows")
            refuse_changing(iterator)
            long = _long_rest(iterable, count, graph, size, MOST_IN_BRANCHES) if is_range else None
            return _rest_of_python_loop(iterator, loop.inside(body), values, long)
        if any(flags):
            break
        if is_range and count == _PEELED and (long := _long_rest(iterable, count, graph, size, MOST_NODES)):
            made = _rest_of_long_range(long, loop.inside(body), before, values)
            if made is not None:
                return made
    record("for", names, False, f"it iterates over a Python {type(iterable).__name__}")
    return values


def _over(iterable: Any) -> tuple[Any, StagedIterable | None]:
    """Return what gives the elements to Python, and to the graph if that is to run over them."""
    refuse_moved(iterated(iterable))
    iterable = iterable if (method := method_of(iterable, "__iter__")) is None else method()
    staged = run_over(iterable)
    if staged is not None and staged.written_out and isinstance(staged.length, int):
        return map(staged.get, range(staged.length)), None
    return iterable, staged


def _long_rest(items: range, count: int, graph: Graph | None, size: int, most: int) -> range | None:
    """Return what follows ``count`` elements if one iteration has added too much to a graph for all of it."""
    rest = items[count:]
    return rest if graph is not None and (len(graph.nodes) - size) * len(rest) > most else None


def _through_clauses(clauses: Clauses, loop: _Statement, values: Values) -> Values:
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


def _rest_of_long_range(items: range, loop: _Statement, before: Values, values: Values) -> Values | None:
    """Return what a long loop over a Python range leaves, as a loop of the graph; None if it has to be written out.

    It has if something that Python knows would be for the run to say then, or lists grow.
    """
    if not all(map(_stays, before, values)):
        return None
    graph = current_graph()
    assert graph is not None
    with Block(graph, every=True) as block:
        try:
            made = _for_staged(known_range(items), loop, values)
        except (Exception, LeftToPython):  # what the loop of a graph cannot do, written out it can
            made = None
        alike = made and [
            _is_alike(*pair) for name, *pair in zip(loop.names, values, made, strict=True) if name not in loop.until
        ]
        if alike is None or not all(alike):
            block.undo()
            return None
    return made


def _stays(before: Any, value: Any) -> bool:
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


def _for_staged(items: StagedIterable, loop: _Statement, values: Values) -> Values:
    """Run a ``for`` loop in the graph, by counting."""
    if isinstance(items.length, int) and items.length == 0:
        record("for", loop.names, False, f"{items.describe} has no elements")
        return values
    is_known = isinstance(items.length, int)
    rows = Rows(items, loop.names, loop.targets if is_known and not loop.until else ())

    def counted_body(k: Any, *mine: Any) -> Values:
        item = items.get(k)
        if items.keep is None:
            left = loop.body(item, *mine) or ()
            return (k + 1, *rows.kept_out(item, left, mine))
        wanted = functools.partial(loop.body, item) if items.made is None else _making(items.made, item, loop.body)
        return (k + 1, *loop.where(items.keep(item), wanted, mine))

    counted = Loop(
        test=lambda k, *_: k < items.length,
        body=counted_body,
        names=("iteration", *loop.names),
        until=loop.until,
        outside=Outside((loop.body, *items.functions), loop.shared, loop.places, values),
        options={} if loop.options is None else loop.options(),
        number=items.number,
        counted=True,
        # no flag stops it before its first iteration
        surely=is_known and items.length > 0 and items.keep is None and all(f is False for f in loop.flags(values)),
    )
    record("for", loop.names, True, f"it iterates over {items.describe}")
    left = rows.put_in(staged_loop(counted, (0, *values), items.length)[1:])
    for check in items.checks:
        check()
    return left


def _making(made: Callable[[Any], Any], item: Any, body: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *mine: body(made(item), *mine)


def _rest_of_python_loop(iterator: Iterator[Any], loop: _Statement, values: Values, long: range | None) -> Values:
    """Go on with a Python loop after a tensor has decided whether to leave it: each step under a condition.

    Where ``long`` are the elements that are left, the variables settle in some such steps, and a loop of the graph
    follows if they can be its variables.
    """
    endless = counting(iterator)
    if endless is not None:
        return _for_staged(endless, loop, values)
    for count, item in enumerate(perhaps_wanted(iterator)):
        if count > _MOST and operator.length_hint(iterator, -1) < 0:
            raise TypeError(
                f"a tensor decides when this loop over a Python {type(iterator).__name__} is left, which has given "
                f"{_MOST} elements and tells of no end: count in a `while` loop, or loop over an array or a range"
            )
        flags = loop.flags(values)
        stop = or_(flags[0], *(_constant(flag) for flag in flags[1:]))
        if not is_staged(stop) and stop:
            break
        before, values = values, loop.where(not_(stop), functools.partial(loop.body, item), values)
        if long is not None and count + 1 == _PEELED:
            rest = _rest_of_long_range(long[_PEELED:], loop, before, values)
            if rest is not None:
                return rest
    record("for", loop.names, False, "it iterates over Python values; a tensor decides when it ends")
    return values


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value
