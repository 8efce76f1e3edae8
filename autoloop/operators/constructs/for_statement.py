"""``for`` statements: Python loops over Python values; over tensors, and from where a tensor decides, staged."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from autoloop_runtime.ir.array_storage import Block
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.tensor import Tensor

from ...errors import LeftToPython
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
    options: Callable[[], dict[str, Any]] | None = None,
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
    if (clauses := clauses_of(iterable, bool(until))) is not None:
        return _through_clauses(clauses, body, values, names, until, shared, places, options)
    refuse_moved(iterated(iterable))
    iterable = iterable if (method := method_of(iterable, "__iter__")) is None else method()
    staged = run_over(iterable)
    if staged is not None and staged.written_out and isinstance(staged.length, int):
        iterable, staged = map(staged.get, range(staged.length)), None
    if staged is not None:
        return _for_staged(staged, body, values, names, until, shared, places, options() if options else {}, targets)
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
            return _rest_of_python_loop(iterator, body, values, names, stops, shared, places, long)
        if any(flags):
            break
        if is_range and count == _PEELED and (long := _long_rest(iterable, count, graph, size, MOST_NODES)):
            rest = _rest_of_long_range(long, body, before, values, names, until)
            if rest is not None:
                return rest
    record("for", names, False, f"it iterates over a Python {type(iterable).__name__}")
    return values


def _long_rest(items: range, count: int, graph: Graph | None, size: int, most: int) -> range | None:
    """Return what follows ``count`` elements if one iteration has added too much to a graph for all of it."""
    rest = items[count:]
    return rest if graph is not None and (len(graph.nodes) - size) * len(rest) > most else None


def _through_clauses(
    clauses: Clauses,
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    until: tuple[str, ...],
    shared: tuple[str, ...],
    places: Places | None,
    options: Callable[[], dict[str, Any]] | None,
) -> Values:
    """Run a loop over what a generator expression gives: a loop for each ``for`` in it, a branch for each ``if``."""

    def through(step: Step) -> Callable[..., Values]:
        def each(item: Any, *mine: Any) -> Values:
            [(test, made, following)] = step([item])

            def wanted(*mine: Any) -> Values:
                if following is None:
                    return body(made(), *mine) or ()
                inner = clauses.over(made())
                return for_stmt(inner, through(following), mine, names, until=until, shared=shared, places=places)

            if test is None:
                return wanted(*mine)
            return if_stmt(test(), wanted, None, names, shared=shared, places=places)(*mine) or ()

        return each

    source, run = clauses.source, through(clauses.step)
    clauses.gone = "was left by an exception"
    made = for_stmt(source, run, values, names, until=until, shared=shared, places=places, options=options)
    clauses.gone = ""
    clauses.left([made[names.index(name)] for name in until])
    return made


def _rest_of_long_range(
    items: range,
    body: Callable[..., Any],
    before: Values,
    values: Values,
    names: tuple[str, ...],
    until: tuple[str, ...],
) -> Values | None:
    """Return what a long loop over a Python range leaves, as a loop of the graph; None if it has to be written out.

    It has if something that Python knows would be for the run to say then, or lists grow.
    """
    if not all(map(_stays, before, values)):
        return None
    graph = current_graph()
    assert graph is not None
    with Block(graph, every=True) as block:
        try:
            staged = known_range(items)
            made = _for_staged(staged, body, values, names, until, (), None, {})
        except (Exception, LeftToPython):  # what the loop of a graph cannot do, written out it can
            made = None
        alike = made and [
            _is_alike(*pair) for name, *pair in zip(names, values, made, strict=True) if name not in until
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


def _for_staged(
    items: StagedIterable,
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    until: tuple[str, ...],
    shared: tuple[str, ...],
    places: Places | None,
    options: dict[str, Any],
    targets: tuple[str, ...] = (),
) -> Values:
    """Run a ``for`` loop in the graph, by counting."""
    if isinstance(items.length, int) and items.length == 0:
        record("for", names, False, f"{items.describe} has no elements")
        return values
    rows = Rows(items, names, targets if isinstance(items.length, int) and not until else ())

    def counted_body(k: Any, *mine: Any) -> Values:
        item = items.get(k)
        if items.keep is None:
            left = body(item, *mine) or ()
            return (k + 1, *rows.kept_out(item, left, mine))
        wanted = functools.partial(body, item) if items.made is None else _making(items.made, item, body)
        chosen = if_stmt(items.keep(item), wanted, None, names, shared=shared, places=places)
        return (k + 1, *(chosen(*mine) or ()))

    loop = Loop(
        test=lambda k, *_: k < items.length,
        body=counted_body,
        names=("iteration", *names),
        until=until,
        outside=Outside((body, *items.functions), shared, places, values),
        options=options,
        number=items.number,
        counted=True,
        surely=isinstance(items.length, int)
        and items.length > 0
        and items.keep is None
        and _are_down(values, names, until),
    )
    record("for", names, True, f"it iterates over {items.describe}")
    return rows.put_in(staged_loop(loop, (0, *values), items.length)[1:])


def _making(made: Callable[[Any], Any], item: Any, body: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *mine: body(made(item), *mine)


def _are_down(values: Values, names: tuple[str, ...], until: tuple[str, ...]) -> bool:
    """Return whether no flag stops a loop before its first iteration."""
    return all(values[names.index(name)] is False for name in until)


def _rest_of_python_loop(
    iterator: Iterator[Any],
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    stops: list[int],
    shared: tuple[str, ...],
    places: Places | None,
    long: range | None,
) -> Values:
    """Go on with a Python loop after a tensor has decided whether to leave it: each step under a condition.

    Where ``long`` are the elements that are left, the variables settle in some such steps, and a loop of the graph
    follows if they can be its variables.
    """
    until = tuple(names[stop] for stop in stops)
    endless = counting(iterator)
    if endless is not None:
        return _for_staged(endless, body, values, names, until, shared, places, {})
    for count, item in enumerate(perhaps_wanted(iterator)):
        if count > _MOST and operator.length_hint(iterator, -1) < 0:
            raise TypeError(
                f"a tensor decides when this loop over a Python {type(iterator).__name__} is left, which has given "
                f"{_MOST} elements and tells of no end: count in a `while` loop, or loop over an array or a range"
            )
        flags = [values[stop] for stop in stops]
        stop = or_(flags[0], *(_constant(flag) for flag in flags[1:]))
        if not is_staged(stop) and stop:
            break
        before = values
        values = if_stmt(not_(stop), functools.partial(body, item), None, names, shared=shared, places=places)(*values)
        if long is not None and count + 1 == _PEELED:
            rest = _rest_of_long_range(long[_PEELED:], body, before, values, names, until)
            if rest is not None:
                return rest
    record("for", names, False, "it iterates over Python values; a tensor decides when it ends")
    return values


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value
