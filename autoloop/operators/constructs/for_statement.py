"""``for`` statements: Python loops over Python values; over tensors, and from where a tensor decides, staged."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.records import record_decision

from ... import operators
from ..staging.clauses import Clauses, Step, clauses_of
from ..staging.moved_lists import refuse_moved
from ..staging.staged_values import any_staged
from ..staging.users_methods import method_of
from .iterables import StagedIterable, run_over
from .long_ranges import Growth
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


#: what is wrong with what a loop runs over
_LEFT = "is left by a loop when a tensor says so: how far it is then only the run knows"


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
        whole: Values = _of_graph().for_staged(staged, loop, values)
        return whole
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
            rest: Values = _of_graph().rest_of_python_loop(iterator, loop.inside(body), values, growth)
            return rest
        if any(flags):
            break
        if growth is not None and (long := growth.rest()):
            made: Values | None = _of_graph().rest_of_long_range(long, loop.inside(body), before, values, growth)
            if made is not None:
                return made
    _tell(iterable, names, growth)
    return values


def _tell(iterable: Any, names: tuple[str, ...], growth: Growth | None) -> None:
    """Note for ``explain`` that Python has run a loop."""
    told = f"; as a loop of the graph {growth.why_not}" if growth is not None and growth.why_not else ""
    counts = (growth.count, growth.nodes) if growth is not None else ()
    record_decision("for", names, False, f"it iterates over a Python {type(iterable).__name__}{told}", *counts)


def _of_graph() -> Any:
    """Return the module for what Python does not run to its end."""
    with undivided():
        from . import staged_fors
    return staged_fors


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
