"""``while`` statements: Python loops on Python values, staged from where a tensor decides."""

from __future__ import annotations

from collections.abc import Callable
from opcode import opname
from typing import TYPE_CHECKING, Any

from autoloop_runtime.analysis.inside import Made
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.array_storage import Block
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.records import record_decision
from autoloop_runtime.ir.rollback import mark, rollback

from ...left_to_python import weigh_trace
from ..mutation.side_effects import Outside
from ..staging.staged_values import any_staged, asked, is_staged
from .asked_tests import Asking, ChangingTest

if TYPE_CHECKING:
    from ..mutation.named_places import Places

Values = tuple[Any, ...]
_CONSTANT = {"RESUME", "COPY_FREE_VARS", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
Options = Callable[[], dict[str, Any]]
#: after so many turns it is first asked whether the rest is a loop of the graph, if they have added so many nodes
FIRST_LOOK, GROWN = 4, 30
#: so many times it is looked at what a test changes: one that Python answers so long mostly is Python's to the end
FIRST_ASKED = 3


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
    given = body, names, until, shared, places, options
    graph = current_graph()
    keeps = graph is not None and graph.root.keeps_checkpoints  # of what is written out there are no checkpoints
    look, grown = (1, 1) if keeps else (FIRST_LOOK, GROWN)
    count, size, why_not = 0, 0 if graph is None else len(graph.nodes), ""
    while True:
        flags = [values[stop] for stop in stops]
        deciding: Any = next(filter(is_staged, flags), None) if any_staged(flags) else not any(flags)
        if deciding is True:
            deciding = _ask(test, values, (body, test), shared, places, count < FIRST_ASKED)
        if is_staged(deciding) or type(deciding) is ChangingTest:
            return _rest_of_while(test, given, values, count, deciding)
        if not deciding:
            break
        made = Made()
        before, values, count = values, body(*values) or (), count + 1
        if _is_endless(test) and made.may_raise():
            # Only an exception of the run's ends it: written out it would have no end.
            return _rest_of_while(test, given, values, count, None)
        if count == look and graph is not None and (look := 2 * count) and len(graph.nodes) - size >= grown:
            rest, why_not = _rest_as_range(test, given, before, values, graph, size, count)
            if rest is not None:
                return rest
    record_decision("while", names, False, f"the condition is a Python value{why_not}", count if keeps else 0)
    return values


def _rest_of_while(test: Callable[..., Any], given: tuple[Any, ...], values: Values, count: int, answer: Any) -> Values:
    """Run in the graph what is left of a loop, see ``staged_whiles``, which loops that Python runs do without."""
    with undivided():
        from .staged_whiles import rest_of_while

    body, names, until, shared, places, options = given
    outside = Outside((body, test), shared, places, values)
    return rest_of_while(test, body, names, until, outside, values, count, options, answer)


def _rest_as_range(
    test: Callable[..., Any],
    given: tuple[Any, ...],
    before: Values,
    values: Values,
    graph: Graph,
    size: int,
    count: int,
) -> tuple[Values | None, str]:
    """Return what a long loop that counts leaves, see ``counted_whiles``; None, and why, if it is no such."""
    with undivided():
        from .counted_whiles import rest_of_counted
        from .for_statement import Statement

    body, names, until, shared, places, options = given
    loop = Statement(body, names, until, shared, places, options, (), "while")
    left, why_not = rest_of_counted(test, loop, before, values, graph, size, count)
    return left, f"; as a loop of the graph {why_not}" if why_not else ""


def _is_endless(test: Callable[..., Any]) -> bool:
    """Return whether a test is ``True`` itself."""
    code = getattr(test, "__code__", None)
    return code is not None and {opname[one] for one in code.co_code[::2]} <= _CONSTANT


def _ask(
    test: Callable[..., Any],
    values: Values,
    functions: tuple[Callable[..., Any], ...],
    shared: tuple[str, ...],
    places: Places | None,
    is_looked_at: bool,
) -> Any:
    """Return the test's answer; if it is a tensor, what asking did is undone, for the staged loop asks again."""
    graph = current_graph()
    if graph is None:
        return asked(test(*values))
    weigh_trace()
    outside = Outside(functions, shared, places, values)
    before, begun = outside.read(), mark(graph)
    asking = Asking(test, values) if is_looked_at else None
    with Block(graph, every=True) as block:
        answer = asked(test(*values))
        if is_staged(answer):
            block.undo()
            changes = asking is not None and asking.undo()
            outside.write(before)
            rollback(graph, begun)
            return ChangingTest() if changes else answer
    return answer
