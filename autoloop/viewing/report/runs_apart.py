"""Runs that a page tells of: with the inputs of a call, on copies, so that nothing is left of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TypeVar

import numpy as np
from autoloop_runtime.analysis.observable import drawn_from
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import replace
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.run_state import RunState
from autoloop_runtime.ir.tensor_spec import TensorSpec
from autoloop_runtime.passes.quiet import quiet
from autoloop_runtime.running.prepare import prepare
from autoloop_runtime.running.runner import Runner

from ...bound_function import BoundFunction
from ...concrete import ConcreteFunction
from ...function import Function

T = TypeVar("T")


class _Left(BaseException):
    """A call is left that was only to say what its run is given."""


def run_apart(
    function: Function | BoundFunction, args: Sequence[Any], kwargs: dict[str, Any], executor: str,
    run: Callable[[ConcreteFunction, Graph, Runner, Sequence[Any], RunState], T],
) -> T | None:  # fmt: skip
    """Return what ``run`` gives for a trace of a call of ``function``, its graph, what runs that, and the values and
    state that a run is given; None where there are no arguments, or plain Python runs it. What ``function`` has is not
    touched, and what has no result but an effect is not in the graph.
    """
    if any(isinstance(leaf, TensorSpec) for leaf in nest.flatten([list(args), kwargs])):
        return None
    apart = Function(function.python_function, function.input_signature, function.autograph, executor, function.name)
    trace = apart.trace_for(*args, **kwargs)
    concrete = getattr(trace, "newest", trace)
    if not isinstance(concrete, ConcreteFunction) or not hasattr(concrete, "runner"):
        return None
    found: list[T] = []
    runner = concrete.runner
    graph, _ = quiet(concrete.graph)
    if graph is not concrete.graph:
        runner = prepare(graph, executor, runner.graph.donated)

    def leave(values: list[Any], state: RunState) -> list[Any]:
        found.append(run(concrete, graph, runner, values, state))
        raise _Left

    concrete.runner = replace(concrete.runner, run=leave, direct=None, automatic=None)
    try:
        with np.errstate(all="ignore"):
            apart(*args, **kwargs)
    except _Left:
        return found[0]
    return None


def copies_of(values: Sequence[Any]) -> list[Any]:
    """Return values of which the arrays are copies."""
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]


@contextmanager
def unnoticed(graph: Graph) -> Iterator[None]:
    """Let nobody see what a run of ``graph`` prints, and put the generators it draws from back to where they stood."""
    generators = [note() for note in drawn_from(graph)]
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        for put_back in generators:
            put_back()
