"""From a finished graph to numbers: passes, the choice of an executor, and the run.

``prepare`` is the one door that functions, eager loops and sessions go through. The executors give the same
values; they differ in how the graph is walked (see ``EXECUTORS``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..analysis.inside import loops_inside
from ..base import nest
from ..base.contexts import undisturbed
from ..base.dataclass import dataclass
from ..base.forks import undivided
from ..dataflow.compile_dataflow import compile_dataflow
from ..ir.convert import convert_to_tensor
from ..ir.graph import CONST, Graph
from ..ir.recorders import recorders
from ..ir.run_state import EAGER, RunState
from ..ir.tensor import Tensor
from ..passes.optimize import optimize
from ..python_code.compile_python import compile_graph
from .automatic import Automatic, Standing

#: ``auto`` chooses; ``dataflow`` runs the lowered graph on the scheduler; ``sequential`` runs generated Python;
#: ``native`` runs machine code
EXECUTORS = ("auto", "dataflow", "sequential", "native")


@dataclass(frozen=True)
class Runner:
    """A graph made ready to run.

    Attributes
    ----------
    run : callable
        ``run(values, state)`` gives the list of output values for the list of input values.
    graph : Graph
        The graph after the passes.
    asked : str
        The executor that was asked for.
    """

    run: Callable[[list[Any], RunState], list[Any]]
    graph: Graph
    asked: str

    @property
    def standing(self) -> Standing:
        """What runs it now, and why."""
        return self.run.standing() if isinstance(self.run, Automatic) else Standing(self.asked, "asked for")

    @property
    def executor(self) -> str:
        """What runs it now."""
        return self.standing.executor

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return self.standing.reason

    @property
    def loops(self) -> dict[str, Standing]:
        """What runs each of its loops now, by the name of the node."""
        if isinstance(self.run, Automatic):
            return self.run.loops()
        return dict.fromkeys((loop.name for loop in loops_inside(self.graph)), self.standing)


def check_executor(executor: str) -> str:
    """Return ``executor`` if there is such a one (``ValueError`` otherwise)."""
    if executor not in EXECUTORS:
        raise ValueError(f"executor must be one of {', '.join(EXECUTORS)}, got {executor!r}")
    return executor


def set_outputs(graph: Graph, outputs: Sequence[Tensor]) -> None:
    """Make ``outputs``, and the last effect, the results of a function graph."""
    graph.outputs = [graph.capture(t) for t in outputs]
    if graph.token is not None and graph.token.op.op is not CONST:
        graph.outputs.append(graph.token)


def prepare(graph: Graph, executor: str = "auto") -> Runner:
    """Make ``graph`` (with ``.inputs`` and ``.outputs``) ready to run.

    Raises
    ------
    NotImplementedError
        If ``native`` cannot take the graph; names the operation and the user's line.
    ImportError
        If ``native`` is asked for and its extra is not installed.
    """
    optimized = optimize(graph)
    return Runner(_made(optimized, executor), optimized, executor)


def _made(graph: Graph, executor: str) -> Callable[[list[Any], RunState], list[Any]]:
    if executor == "auto":
        return Automatic(graph)
    if executor == "sequential":
        return compile_graph(graph)
    if executor == "dataflow":
        return compile_dataflow(graph, graph.outputs, graph.inputs)
    with undivided():
        from ..native import compile_native  # of the extra ``native``, and not small

    return compile_native(graph)


def run_now(build: Callable[[], Any]) -> Any:
    """Trace ``build`` into a graph of its own, run it, and give its value with concrete tensors."""
    graph = Graph(ordered=True)

    def trace() -> tuple[list[Any], Any]:
        with graph.as_default():
            leaves, structure = nest.flatten_with_structure(build(), expand_composites=True)
            set_outputs(graph, [convert_to_tensor(leaf) for leaf in leaves])
        return leaves, structure

    leaves, structure = undisturbed(trace)
    results = run_graph(graph, prepare(graph), [])
    return nest.unflatten(structure, results[: len(leaves)])


def run_graph(graph: Graph, runner: Runner, inputs: Sequence[Tensor], state: RunState = EAGER) -> list[Tensor]:
    """Return the outputs of ``graph``, which ``runner`` runs, for concrete inputs; recorders get to know of it."""
    watching = recorders()
    if watching:
        return watching[-1].run(graph, runner, inputs, state)
    return [wrap(v) for v in runner.run([t.value for t in inputs], state)]


def wrap(value: Any) -> Tensor:
    """Return a concrete tensor of what a kernel gave."""
    try:
        return Tensor(value)
    except AttributeError:  # a Python value
        return Tensor(np.asarray(value))
