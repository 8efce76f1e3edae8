"""The timeline of a call, as the page shows it: of a run on copies, which ends where the page is full."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.base.profiler import trace
from autoloop_runtime.dataflow.executable import Executable
from autoloop_runtime.dataflow.lowering import lower
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.prices import Price
from autoloop_runtime.ir.run_state import ApartState, RunState
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.runner import Runner

from ...bound_function import BoundFunction
from ...concrete import ConcreteFunction
from ...function import Function
from ...profiler import Trace
from .runs_apart import copies_of, run_apart, unnoticed
from .seen_stages import Source

#: kernels and seconds after which the run ends
MOST_KERNELS, MOST_SECONDS = 5_000, 3.0
#: seconds of a run that is made twice: in the first, code is made
SHORT = 1.0


class _Enough(BaseException):
    """As much is recorded as is shown; nobody but who has begun the run catches it."""


class _Bounded(Trace):
    """A trace that ends its run when enough is recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.last = self.start + int(MOST_SECONDS * 1e9)

    def record(self, *given: Any, **named: Any) -> None:
        super().record(*given, **named)
        self.coming(0)

    def coming(self, count: int) -> None:
        if len(self.slices) + count >= MOST_KERNELS or time.perf_counter_ns() > self.last:
            raise _Enough


def timeline_of(
    function: Function | BoundFunction, args: Sequence[Any], kwargs: dict[str, Any], source: Source
) -> dict[str, Any] | None:
    """Return the timeline of a call; None where there are no arguments, or it cannot be told kernel by kernel."""
    if function.executor == "native":
        return None

    def run(
        _: ConcreteFunction, graph: Graph, runner: Runner, values: Sequence[Any], state: RunState
    ) -> dict[str, Any] | None:
        return _timeline(graph, runner.run, values, state, source)

    return run_apart(function, args, kwargs, function.executor, run)


def timeline_of_graph(
    graph: Graph, fetches: Sequence[Tensor], feeds: Sequence[Tensor], values: Sequence[Any], state: RunState,
    source: Source,
) -> dict[str, Any] | None:  # fmt: skip
    """Return the timeline of a run of the scheduler that computes ``fetches``; None as for ``timeline_of``."""
    executable = Executable(lower(graph, fetches, feeds, keep_variables=True))
    return _timeline(graph, executable.run, values, state, source)


def _timeline(
    graph: Graph, run: Callable[[list[Any], RunState], Any], values: Sequence[Any], state: RunState, source: Source
) -> dict[str, Any] | None:
    """Return the timeline of a run on copies; None where the user's Python would be called for it."""
    if any(node.op.traits.price is Price.FOREIGN for node in nodes_inside(graph)):
        return None
    seen, note = _traced(graph, run, values, state)
    if not note and time.perf_counter_ns() - seen.start < SHORT * 1e9:
        seen, note = _traced(graph, run, values, state)
    made = seen.timeline(source.file)
    return None if made is None else {**made, "note": note}


def _traced(
    graph: Graph, run: Callable[[list[Any], RunState], Any], values: Sequence[Any], state: RunState
) -> tuple[Trace, str]:
    """Return what is recorded of a run, and what ended it early."""
    note = ""
    with trace(kind=_Bounded) as seen, unnoticed(graph):
        try:
            run(copies_of(values), ApartState(state))
        except _Enough:
            note = f"the run was ended after {len(seen.slices):,} kernels; autoloop.profiler.trace records whole runs"
        except Exception as error:
            note = f"the run failed: {type(error).__name__}: {error}"
    return seen, note
