"""``for`` statements: Python loops over Python values; over tensors, and from where a tensor decides, staged."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from ..mutation.side_effects import Outside, Places
from ..staging.moved_lists import refuse_moved
from ..staging.staged_loops import Loop, any_staged, record, staged_loop
from ..staging.staged_values import is_staged
from .boolean_operators import not_, or_
from .if_statement import if_stmt
from .iterables import StagedIterable, as_staged, counting
from .overloads import method_of
from .stateful_calls import iterated

Values = tuple[Any, ...]
#: so many steps under conditions are written out of what may have no end
_MOST = 300


def for_stmt(
    iterable: Any,
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    *,
    until: tuple[str, ...] = (),
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

    Returns
    -------
    tuple
        The values after the loop.
    """
    __tracebackhide__ = True  # debuggers that know this do not show the frame
    refuse_moved(iterable)
    iterated(iterable)
    if (method := method_of(iterable, "__iter__")) is not None:
        iterable = method()
    staged = as_staged(iterable)
    if staged is not None and staged.written_out and isinstance(staged.length, int):
        iterable, staged = map(staged.get, range(staged.length)), None
    if staged is not None and isinstance(staged.length, int) and staged.length == 0:
        record("for", names, False, f"{staged.describe} has no elements")
        return values
    if staged is not None:
        return _for_staged(staged, body, values, names, until, shared, places, options() if options else {})
    stops = [names.index(name) for name in until]
    iterator = iter(iterable)
    for item in iterator:
        values = body(item, *values) or ()
        flags = [values[stop] for stop in stops]
        if any_staged(flags):
            return _rest_of_python_loop(iterator, body, values, names, stops, shared, places)
        if any(flags):
            break
    record("for", names, False, f"it iterates over a Python {type(iterable).__name__}")
    return values


def _for_staged(
    items: StagedIterable,
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    until: tuple[str, ...],
    shared: tuple[str, ...],
    places: Places | None,
    options: dict[str, Any],
) -> Values:
    """Run a ``for`` loop in the graph, by counting."""

    def counted_body(k: Any, *mine: Any) -> Values:
        item = items.get(k)
        if items.keep is None:
            return (k + 1, *(body(item, *mine) or ()))
        chosen = if_stmt(items.keep(item), functools.partial(body, item), None, names, shared=shared, places=places)
        return (k + 1, *(chosen(*mine) or ()))

    loop = Loop(
        test=lambda k, *_: k < items.length,
        body=counted_body,
        names=("iteration", *names),
        until=until,
        outside=Outside((body,), shared, places, values),
        options=options,
        number=items.number,
        counted=True,
        surely=isinstance(items.length, int)
        and items.length > 0
        and items.keep is None
        and _are_down(values, names, until),
    )
    record("for", names, True, f"it iterates over {items.describe}")
    return staged_loop(loop, (0, *values), items.length)[1:]


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
) -> Values:
    """Go on with a Python loop after a tensor has decided whether to leave it: each step under a condition."""
    endless = counting(iterator)
    if endless is not None:
        return _for_staged(endless, body, values, names, tuple(names[stop] for stop in stops), shared, places, {})
    record("for", names, False, "it iterates over Python values; a tensor decides when it ends")
    for count, item in enumerate(iterator):
        if count > _MOST and operator.length_hint(iterator, -1) < 0:
            raise TypeError(
                f"a tensor decides when this loop over a Python {type(iterator).__name__} is left, which has given "
                f"{_MOST} elements and tells of no end: count in a `while` loop, or loop over an array or a range"
            )
        flags = [values[stop] for stop in stops]
        stop = or_(flags[0], *(_constant(flag) for flag in flags[1:]))
        if not is_staged(stop) and stop:
            break
        values = if_stmt(not_(stop), functools.partial(body, item), None, names, shared=shared, places=places)(*values)
    return values


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value
