"""``while`` loops that count by a Python int, and Python knows how far: the rest of a long one is a loop over a range.

What such a loop does to its count is only seen in the turns that were made. So the rest is built with a count that the
run knows, and stays if each turn adds the same to it, and the test compares it with the same number and asks for
nothing else: then it is known beforehand what it is after the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.analysis.counting import limit_for, step_from
from autoloop_runtime.analysis.inside import count_nodes
from autoloop_runtime.base.dataclass import dataclass, replace
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import NumberTracer

from ...left_to_python import LeftToPython
from ..mutation.side_effects import Outside
from ..staging.staged_values import asked
from .asked_tests import asks_plainly
from .for_statement import Statement
from .long_ranges import Growth
from .staged_fors import rest_of_long_range, stays
from .tried_loops import Tried

Values = tuple[Any, ...]
#: types of what stays Python's in the rest where a turn leaves it as it was
_FIXED = (bool, int, float)
#: comparison -> the sign of the steps that lead to its end, and how far behind the limit that is
_ENDS = {"<": (1, 0), "<=": (1, 1), ">": (-1, 0), ">=": (-1, -1)}


def rest_of_counted(
    test: Callable[..., Any], loop: Statement, before: Values, values: Values, graph: Graph, size: int, count: int
) -> tuple[Values | None, str]:
    """Return what a ``while`` loop leaves whose rest is long, as a loop of the graph; None, and why, if it is not.

    Parameters
    ----------
    test : callable
    loop : Statement
    before, values : tuple
        Its variables before and after the latest turn.
    graph : Graph
        It had *size* nodes before the loop, which has made *count* turns.
    """
    unroll = (loop.options() if loop.options is not None else {}).get("unroll")
    moving = [k for k, pair in enumerate(zip(before, values, strict=True)) if not stays(*pair)]
    if loop.shared or loop.places is not None or unroll or len(moving) != 1:
        return None, ""
    [place] = moving
    start, here = before[place], values[place]
    if not type(start) is type(here) is int or not asks_plainly(test, values):
        return None, ""
    limit = _limit(test, loop, values, place)
    rest = None if limit is None else _until(limit, here, here - start)
    if limit is None or not rest:
        return None, ""
    nodes = sum(1 + sum(map(count_nodes, node.subgraphs)) for node in graph.nodes[size:])
    items = range(here - count * rest.step, rest.stop, rest.step)
    growth = Growth(items, loop.body, graph, unroll, count, nodes)
    if not growth.rest():
        return None, ""
    made = _through(_Counting(place, limit, rest), test, loop, (before, values), growth)
    return made, "" if made is not None else growth.why_not


@dataclass(frozen=True)
class _Counting:
    """How a loop counts: the place of its count, what its test compares that with, and what it is in the turns left."""

    place: int
    limit: tuple[str, int]
    rest: range


def _through(
    counting: _Counting, test: Callable[..., Any], loop: Statement, turn: tuple[Values, Values], growth: Growth
) -> Values | None:
    """Return what the rest of a loop leaves, as a loop over a range; None if its count is not that of the range.

    ``turn``: its variables before and after the latest one.
    """
    place, rest, (before, values) = counting.place, counting.rest, turn
    # what a turn leaves as it is stays Python's
    known = {k: one for k, one in enumerate(values) if type(one) in _FIXED and loop.names[k] not in loop.until}
    known[place] = None
    kept = [k for k in range(len(values)) if k not in known]
    body, count_of, differs = loop.body, len(values), []

    def whole(item: Any, others: Values) -> Values:
        every = known | dict(zip(kept, others, strict=True)) | {place: item}
        return tuple(every[k] for k in range(count_of))

    def each(item: Any, *others: Any) -> Values:
        mine = whole(item, others)
        is_same = counting.limit == _limit_of(asked(test(*mine)), item)
        left = body(*mine) or ()
        counts = isinstance(left[place], NumberTracer) and step_from(left[place].plain, item) == rest.step
        if not (is_same and counts and all(_same(left[k], one) for k, one in known.items() if k != place)):
            differs.append(item)
        return tuple(left[k] for k in kept)

    def holds(made: Values) -> bool:
        return not differs and all(flag is False for flag in counted.flags(made))

    counted = replace(loop, body=each, names=tuple(loop.names[k] for k in kept))
    earlier, now = tuple(before[k] for k in kept), tuple(values[k] for k in kept)
    made = rest_of_long_range(rest, counted, earlier, now, growth, holds)
    return None if made is None else whole(rest[-1] + rest.step, made)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and repr(one) == repr(other)


def _limit(test: Callable[..., Any], loop: Statement, values: Values, place: int) -> tuple[str, int] | None:
    """Return how the test of a loop compares one of its variables, a Python int, if it does nothing else."""
    tried = Tried(Outside((test,), (), None, values), values, loop.names)
    with tried.block:
        try:
            number = NumberTracer(ops.identity(np.int64(values[place])))
            found = _limit_of(asked(test(*values[:place], number, *values[place + 1 :])), number)
        except (Exception, LeftToPython):  # of numbers that are known it may say more
            found = None
    tried.undo()
    return found


def _limit_of(answer: Any, number: Any) -> tuple[str, int] | None:
    return limit_for(answer.plain, number) if isinstance(answer, Tensor) and isinstance(number, Tensor) else None


def _until(limit: tuple[str, int], here: int, step: int) -> range | None:
    """Return the numbers from here on for which a comparison holds, up to the first for which it does not; None if that
    does not come, or at once."""
    comparison, end = limit
    if comparison in _ENDS:
        sign, further = _ENDS[comparison]
        return range(here, end + further, step) if sign * step > 0 else None
    turns, rest = divmod(end - here, step) if step else (0, 1)
    return range(here, end, step) if comparison == "!=" and not rest and turns > 0 else None
