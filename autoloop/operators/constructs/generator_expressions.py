"""Generator expressions, and the builtins that use them up: loops that a graph may run, and leave when it says so.

An element, and what it takes to know whether it is wanted, is asked for in the loop, where its effects are seen and
happen as often as in Python.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable
from typing import Any

from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tensor import Tensor

from ...errors import mark_programs_own
from ..staging.clauses import Clauses, StagedClauses, Step, clauses_of, drawn, generator_of
from ..staging.moved_lists import refuse_moved
from ..staging.raising import Raising, raise_unless
from ..staging.staged_values import asked, is_staged, truth
from ..staging.standins import Maybe, StandIn, faced
from ..staging.undefined import Undefined, defined, when_set
from .boolean_operators import not_, or_
from .comprehensions import elements, extreme_of
from .container_comparisons import compare
from .for_statement import for_stmt
from .if_statement import if_stmt
from .iterables import StagedIterable, as_staged, iterable_of
from .overloads import binary
from .pythons_words import in_pythons_words
from .stateful_calls import advanced, iterated

#: a loop over so few rows is written out
_FEW = 32
_MOST = 1_000
_NO_DEFAULT: Any = object()


def generated(iterable: Any, step: Step, *, once: bool = False, tested: bool = False, nested: bool = False) -> Any:
    """Return what a generator expression is: a generator, or clauses that loops of the graph run through.

    Parameters
    ----------
    iterable : object
        What its first ``for`` runs over.
    step : callable
        What becomes of an element.
    once : bool
        Whether who uses it up stands around it, so that nobody else sees it.
    tested, nested : bool
        Whether it has an ``if``; whether it has more than one ``for``.
    """
    if current_graph() is None:
        return drawn(iter(iterable), step, Clauses(None, step, _unlike_few, tested, nested), iter)
    refuse_moved(iterated(iterable))
    source = _source(iterable, _FEW if once else _MOST)
    if once or isinstance(source, StagedIterable):
        return faced(StagedClauses(source, step, _unlike_few, tested, nested), types.GeneratorType)
    return generator_of(Clauses(source, step, _unlike_few, tested, nested), elements)


def listing(clauses: Any) -> Any:
    """Return the list of a comprehension with more than one ``for``."""
    return clauses if isinstance(clauses, list) else list_of(clauses)


def list_of(clauses: Clauses) -> Any:
    """Return the list of what a generator expression gives; it grows in a loop where only the run knows how far."""

    def appended(one: Any, comprehension: Any) -> tuple[Any]:
        comprehension.append(one)
        return (comprehension,)

    return for_stmt(clauses, appended, ([],), ("comprehension",))[0]


def _unlike_few(iterable: Any) -> Any:
    """Return what an inner ``for`` runs over: few rows one by one, many in a loop of the graph."""
    return _source(iterable, _FEW)


def _source(iterable: Any, most: int) -> Any:
    if not isinstance(iterable, StandIn | Tensor) or isinstance(iterable, Maybe) or clauses_of(iterable) is not None:
        return iterable
    if isinstance(iterable, Tensor) and iterable.shape.rank == 0:
        return elements(iterable)  # says that there are none
    staged = as_staged(iterable)
    if staged is None:
        return elements(iterable)
    if staged.keep is not None or not isinstance(staged.length, int) or staged.length > most or staged.is_uneven:
        return staged
    return iter(elements(iterable))


# -- builtins -------------------------------------------------------------------------------------------------


def used_up(builtin: Any, clauses: Clauses | StagedIterable, *args: Any, **kwargs: Any) -> Any:
    """Return what a builtin makes of all that a generator expression gives, or of as much as it needs."""
    return _USED_UP[builtin](clauses, *args, **kwargs)


def _any_of(clauses: Clauses | StagedIterable) -> Any:
    return for_stmt(clauses, lambda one, found: (_truth(one),), (False,), ("found",), until=("found",))[0]


def _all_of(clauses: Clauses | StagedIterable) -> Any:
    return not_(for_stmt(clauses, lambda one, found: (not_(_truth(one)),), (False,), ("found",), until=("found",))[0])


def _truth(value: Any) -> Any:
    answer = asked(value)
    return truth(answer) if is_staged(answer) else bool(answer)


def _sum_of(clauses: Clauses, start: Any = 0) -> Any:
    """Return ``sum``; what only Python numbers make it adds up itself, more exactly than one by one."""
    if isinstance(start, str | bytes | bytearray):
        return sum((), start)  # says what to do
    if isinstance(clauses.source, StagedIterable):
        return _added(clauses, start)
    if clauses.is_nested:
        made = list_of(clauses)
        return _total(made, start) if isinstance(made, list) else _added(made, start)
    source, total = clauses.source, _Sum(start)
    iterator = iter(source)
    for count, item in enumerate(iterator, 1):
        [(test, made, _)] = clauses.step([item])
        answer = test is None or asked(test())
        if is_staged(answer):
            (value,) = if_stmt(answer, _adding(made), None, ("sum",))(total.value())
        elif not answer or total.takes(one := made()):
            continue
        else:
            value = binary(total.value(), "+", one)
        clauses.source = source[count:] if isinstance(source, range) else iterator
        return _added(clauses, value)
    clauses.left(())
    return total.value()


class _Sum:
    """A sum that is Python's own as long as nothing in it is for the run: it adds floats up more exactly than `+`."""

    def __init__(self, start: Any) -> None:
        self.start, self.held = start, list[Any]()

    def takes(self, value: Any) -> bool:
        """Add a value, unless the graph has to."""
        if is_staged(value) or is_staged(self.start) or isinstance(value, StandIn) or isinstance(self.start, StandIn):
            return False
        self.held.append(value)
        return True

    def value(self) -> Any:
        """Return the sum."""
        return sum(self.held, self.start) if self.held else self.start


def _total(values: list[Any], start: Any) -> Any:
    total = _Sum(start)
    for count, one in enumerate(values):
        if not total.takes(one):
            return functools.reduce(lambda left, right: binary(left, "+", right), values[count:], total.value())
    return total.value()


def _adding(made: Callable[[], Any]) -> Callable[[Any], tuple[Any]]:
    return lambda total: (binary(total, "+", made()),)


def _added(values: Any, start: Any) -> Any:
    return for_stmt(values, lambda one, total: (binary(total, "+", one),), (start,), ("sum",))[0]


def _next_of(clauses: Clauses | StagedIterable, default: Any = _NO_DEFAULT) -> Any:
    """Return the first element; of what a graph has no say in the generator gives it."""
    start = Undefined("next") if default is _NO_DEFAULT else default
    found, value = for_stmt(
        clauses, lambda one, found, value: (True, one), (False, start), ("found", "next"), until=("found",)
    )
    if default is not _NO_DEFAULT:
        return value
    if is_staged(found):
        raise_unless(found, Raising(StopIteration, StopIteration))
    elif not found:
        error = StopIteration()
        mark_programs_own(error)
        raise error
    return when_set(value)


def _extreme_of(plain: Callable[..., Any], clauses: Clauses, *, key: Any = None, default: Any = _NO_DEFAULT) -> Any:
    """Return ``max`` or ``min`` of what a generator expression gives."""
    few = not isinstance(clauses.source, range) or len(clauses.source) <= _FEW
    if clauses.is_whole and few and not isinstance(clauses.source, StagedIterable):
        given = () if default is _NO_DEFAULT else (default,)
        return extreme_of(plain, clauses.generator or generator_of(clauses, elements), key, *given)
    return extreme_of_each(plain, clauses, key=key, default=default)


def extreme_of_each(plain: Callable[..., Any], values: Any, *, key: Any = None, default: Any = _NO_DEFAULT) -> Any:
    """Return ``max`` or ``min``: the first of equal ones, as Python compares one after the other in a loop."""
    sign = ">" if plain is builtins.max else "<"

    def compared(one: Any, found: Any, *best: Any) -> tuple[Any, ...]:
        new = (one,) if key is None else (one, key(one))
        better = or_(not_(found), lambda: compare(new[-1], sign, _set(best[-1])))
        return (True, *if_stmt(better, lambda *best: new, None, names[1:])(*best))

    unset = Undefined("best") if default is _NO_DEFAULT else default
    names = ("found", "best") if key is None else ("found", "best", "key")
    found, best, *_ = for_stmt(values, compared, (False, unset, Undefined("key"))[: len(names)], names)
    if default is not _NO_DEFAULT:
        return best
    if is_staged(found):
        raise_unless(found, Raising(ValueError, functools.partial(_error_of_nothing, plain)))
    elif not found:
        raise _error_of_nothing(plain)
    return when_set(best)


def _set(value: Any) -> Any:
    """Return the best so far, where there is one: nobody asks for it elsewhere."""
    return defined(value) if type(value) is Undefined else when_set(value)


def _error_of_nothing(plain: Callable[..., Any]) -> BaseException:
    """Return what ``max`` or ``min`` says to no values."""
    try:
        plain(())
    except ValueError as error:
        mark_programs_own(error)
        return error.with_traceback(None)
    raise AssertionError("unreachable")


_USED_UP: dict[Any, Callable[..., Any]] = {
    all: _all_of,
    any: _any_of,
    list: list_of,
    max: functools.partial(_extreme_of, max),
    min: functools.partial(_extreme_of, min),
    sum: _sum_of,
}


def reduced(function: Callable[[Any, Any], Any], values: Any, *initial: Any) -> Any:
    """Return ``functools.reduce``: a loop of the graph where only the run knows how many values there are."""
    clauses = clauses_of(values)
    given = _source(values, _MOST) if clauses is None else clauses
    is_lazy = clauses is not None and (isinstance(clauses, StagedClauses) or not clauses.is_whole)
    if not (iterable_of(given) is not None or is_lazy):
        return functools.reduce(function, elements(values), *initial)
    if initial:
        return for_stmt(given, lambda one, result: (function(result, one),), initial, ("result",))[0]

    def joined(one: Any, found: Any, result: Any) -> tuple[Any, Any]:
        together = if_stmt(found, lambda result: (function(_set(result), one),), lambda result: (one,), ("result",))
        return True, together(result)[0]

    found, result = for_stmt(given, joined, (False, Undefined("result")), ("found", "result"))
    if is_staged(found):
        raise_unless(found, Raising(TypeError, _error_of_no_start))
    elif not found:
        raise _error_of_no_start()
    return when_set(result)


def _error_of_no_start() -> BaseException:
    """Return what ``reduce`` says to no values."""
    try:
        functools.reduce(max, ())
    except TypeError as error:
        mark_programs_own(error)
        return error.with_traceback(None)
    raise AssertionError("unreachable")


def _asked(iterator: Any, *default: Any) -> Any:
    """Return ``next``, of a generator expression its first element."""
    if (items := iterable_of(iterator)) is not None and items.is_used is not None:
        return _next_of(items, *default)
    clauses = clauses_of(iterator, may_leave=True)
    if clauses is None or (clauses.generator is not None and clauses.is_whole):
        return advanced(iterator, *default)
    return _next_of(clauses, *default)


#: what is called in place of ``next``
next_of = in_pythons_words(next, _asked)
