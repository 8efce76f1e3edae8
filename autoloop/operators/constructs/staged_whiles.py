"""``while`` loops of the graph, from where a tensor decides."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.base.dataclass import replace
from autoloop_runtime.ir.records import record_decision

from ... import operators
from ..mutation.side_effects import Outside
from ..staging.staged_blocks import TestChanges
from ..staging.staged_values import answer as as_answer
from ..staging.staged_values import asked, is_staged, truth
from .asked_tests import ChangingTest
from .staged_loops import Loop, nor, staged_loop

Values = tuple[Any, ...]
Options = Callable[[], dict[str, Any]]
_ASKED = "the condition"


def rest_of_while(
    test: Callable[..., Any],
    body: Callable[..., Any],
    names: tuple[str, ...],
    until: tuple[str, ...],
    outside: Outside,
    values: Values,
    count: int,
    options: Options | None,
    answer: Any,
) -> Values:
    """Run in the graph what is left of a ``while`` loop that has made ``count`` iterations in Python.

    ``answer`` is the test's, which is a tensor or a ``ChangingTest``; None if the test is ``True`` itself.
    """
    if answer is None:
        test, answer = _always, _always()
    loop = Loop(test, body, names, until, outside, options=_after(count, options() if options else {}))
    after = f"became a tensor after {count} iterations" if count else "is a tensor"
    record_decision("while", loop.names, True, f"the condition {after}")
    if type(answer) is not ChangingTest:
        with suppress(TestChanges):
            return staged_loop(loop, values, answer)
    return _asked_at_the_end(loop, values)


def _always(*_: Any) -> Any:
    return as_answer(ops.logical_not(ops.identity(False)))


def _after(count: int, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for what is left of a loop that has made some iterations in Python."""
    most = options.get("maximum_iterations")
    if most is None or not count:
        return options
    left = ops.maximum(ops.subtract(most, count), 0) if is_staged(most) else max(most - count, 0)
    return {**options, "maximum_iterations": left}


def _asked_at_the_end(loop: Loop, values: Values) -> Values:
    """Run a loop whose test changes something: it is asked before the loop, and at the end of each iteration."""
    test, names = loop.test, loop.names

    def then(_: Any, *mine: Any) -> Values:
        said = asked(test(*mine))
        return truth(said) if is_staged(said) else bool(said), *mine

    def is_on(mine: Values) -> Any:
        stops = [mine[names.index(name)] for name in loop.until]
        return operators.if_stmt(nor(stops, lambda: True), then, None, (_ASKED, *names))(False, *mine)[0]

    def body(_: Any, *mine: Any) -> Values:
        left = loop.body(*mine) or ()
        return is_on(left), *left

    first = is_on(values)
    rest = replace(loop, test=lambda is_on, *_: is_on, body=body, names=(_ASKED, *names))
    return staged_loop(rest, (first, *values), first)[1:]
