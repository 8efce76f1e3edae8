"""From a finished graph to numbers: passes, the choice of an executor, and the run.

``prepare`` is the one door that functions, eager loops and sessions go through. The executors give the same
values; they differ in how the graph is walked (see ``EXECUTORS``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import nest
from .codegen.python import compile_graph, compile_region
from .dataclass import dataclass
from .graph import CONST, Graph
from .lowering import lower
from .passes.cost import choose
from .passes.pipeline import optimize
from .passes.regions import form_regions
from .recording import recorders
from .runstate import EAGER, RunState
from .scheduler import Executable
from .tensor import Tensor
from .values import convert_to_tensor

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
    executor : str
        The executor that was chosen.
    reason : str
        Why, in a sentence.
    """

    run: Callable[[list[Any], RunState], list[Any]]
    graph: Graph
    executor: str
    reason: str


def check_executor(executor: str) -> str:
    """``executor`` if there is such a one (``ValueError`` otherwise)."""
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
    if executor == "native":
        from .codegen.native import compile_native  # of the extra ``native``, and not small

        return Runner(compile_native(optimized), optimized, executor, "asked for")
    reason = "asked for"
    auto = executor == "auto"
    if auto:
        choice = choose(optimized)
        executor, reason = choice.executor, choice.reason
    if executor == "sequential":
        return Runner(compile_graph(optimized), optimized, executor, reason)
    runs = form_regions(optimized, compile_region) if auto else optimized
    executable = Executable(lower(runs, runs.outputs, runs.inputs))
    return Runner(executable.run, optimized, executor, reason)


def run_now(build: Callable[[], Any]) -> Any:
    """Trace ``build`` into a graph of its own, run it, and give its value with concrete tensors."""
    graph = Graph(ordered=True)
    with graph.as_default():
        leaves, structure = nest.flatten_with_structure(build(), expand_composites=True)
        set_outputs(graph, [convert_to_tensor(leaf) for leaf in leaves])
    results = run_graph(graph, prepare(graph), [])
    return nest.unflatten(structure, results[: len(leaves)])


def run_graph(graph: Graph, runner: Runner, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The outputs of ``graph``, which ``runner`` runs, for concrete inputs; recorders get to know of it."""
    watching = recorders()
    if watching:
        return watching[-1].run(graph, runner, inputs)
    return [wrap(v) for v in runner.run([t.value for t in inputs], EAGER)]


def wrap(value: Any) -> Tensor:
    """A concrete tensor of what a kernel gave."""
    return Tensor(value if hasattr(value, "dtype") else np.asarray(value))
