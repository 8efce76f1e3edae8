"""``while`` and ``for`` statements: Python loops on Python values, staged from where a tensor decides."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from opcode import opname
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.base.dataclass import replace
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.rollback import mark, rollback

from ..mutation.side_effects import Outside, Places
from ..staging.growing_list import refuse_moved
from ..staging.staged_loops import Loop, any_staged, record, staged_loop
from ..staging.staged_values import answer, asked, is_staged
from .attempts import Made
from .boolean_operators import not_, or_
from .if_statement import if_stmt
from .iterables import StagedIterable, as_staged
from .overloads import method_of

Values = tuple[Any, ...]
_CONSTANT = {"RESUME", "COPY_FREE_VARS", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
Options = Callable[[], dict[str, Any]]


def while_stmt(
    test: Callable[..., Any],
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    *,
    until: tuple[str, ...] = (),
    shared: tuple[str, ...] = (),
    places: Places | None = None,
    options: Options | None = None,
) -> Values:
    """Run a ``while`` loop.

    Parameters
    ----------
    test, body : callable
        Take the loop variables; ``body`` returns their next values.
    values, names : tuple
        The loop variables: values on entry, and names.
    until : tuple of str
        Loop variables that end the loop when true, before the test is asked again.
    shared : tuple of str
        Variables that the body changes through ``nonlocal`` or ``global``.
    places : callable, optional
        Gives the attributes that the body changes, as ``(object, name)``.
    options : callable, optional
        Gives the arguments of ``set_loop_options``.

    Returns
    -------
    tuple
        The values after the loop.
    """
    __tracebackhide__ = True  # debuggers that know this do not show the frame
    stops = [names.index(name) for name in until]
    count = 0
    while True:
        deciding: Any = None
        if stops:
            flags = [values[stop] for stop in stops]
            if any_staged(flags):
                deciding = next(flag for flag in flags if is_staged(flag))
            elif any(flags):
                break
        if deciding is None:
            deciding = _ask(test, values, (body, test), shared, places)
        if is_staged(deciding):
            loop = Loop(test, body, names, until, Outside((body, test), shared, places, values))
            return _rest_of_while(loop, values, count, options, deciding)
        if not deciding:
            break
        made = Made()
        values = body(*values) or ()
        count += 1
        if _is_endless(test) and made.may_raise():
            # Only an exception of the run's ends it: written out it would have no end.
            loop = Loop(_always, body, names, until, Outside((body, test), shared, places, values))
            return _rest_of_while(loop, values, count, options, _always())
    record("while", names, False, "the condition is a Python value")
    return values


def _is_endless(test: Callable[..., Any]) -> bool:
    """Return whether a test is ``True`` itself."""
    code = getattr(test, "__code__", None)
    return code is not None and {opname[one] for one in code.co_code[::2]} <= _CONSTANT


def _always(*_: Any) -> Any:
    return answer(ops.logical_not(ops.identity(False)))


def _after(count: int, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for what is left of a loop that has made some iterations in Python."""
    most = options.get("maximum_iterations")
    if most is None or not count:
        return options
    left = ops.maximum(ops.subtract(most, count), 0) if is_staged(most) else max(most - count, 0)
    return {**options, "maximum_iterations": left}


def _ask(
    test: Callable[..., Any],
    values: Values,
    functions: tuple[Callable[..., Any], ...],
    shared: tuple[str, ...],
    places: Places | None,
) -> Any:
    """Return the test's answer; if it is a tensor, what asking did is undone, for the staged loop asks again."""
    graph = current_graph()
    if graph is None:
        return asked(test(*values))
    outside = Outside(functions, shared, places, values)
    before, begun = outside.read(), mark(graph)
    answer = asked(test(*values))
    if is_staged(answer):
        outside.write(before)
        rollback(graph, begun)
    return answer


def _rest_of_while(loop: Loop, values: Values, count: int, options: Options | None, deciding: Any) -> Values:
    """Run in the graph what is left of a ``while`` loop that has made ``count`` iterations in Python."""
    loop = replace(loop, options=_after(count, options() if options else {}))
    after = f"became a tensor after {count} iterations" if count else "is a tensor"
    record("while", loop.names, True, f"the condition {after}")
    return staged_loop(loop, values, deciding)


def for_stmt(
    iterable: Any,
    body: Callable[..., Any],
    values: Values,
    names: tuple[str, ...],
    *,
    until: tuple[str, ...] = (),
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
        As for :func:`while_stmt`.

    Returns
    -------
    tuple
        The values after the loop.
    """
    __tracebackhide__ = True  # debuggers that know this do not show the frame
    refuse_moved(iterable)
    if (method := method_of(iterable, "__iter__")) is not None:
        iterable = method()
    staged = as_staged(iterable)
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
    )
    record("for", names, True, f"it iterates over {items.describe}")
    return staged_loop(loop, (0, *values), items.length)[1:]


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
    record("for", names, False, "it iterates over Python values; a tensor decides when it ends")
    for item in iterator:
        flags = [values[stop] for stop in stops]
        stop = or_(flags[0], *(_constant(flag) for flag in flags[1:]))
        if not is_staged(stop) and stop:
            break
        values = if_stmt(not_(stop), functools.partial(body, item), None, names, shared=shared, places=places)(*values)
    return values


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value
