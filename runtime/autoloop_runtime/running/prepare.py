"""From a finished graph to numbers: passes, the choice of an executor, and the run.

``prepare`` is the one door that functions, eager loops and sessions go through. The executors give the same
values; they differ in how the graph is walked (see ``EXECUTORS``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import nest
from ..base.callbacks import watched
from ..base.collector import NoCollection
from ..base.config import EXECUTORS as EXECUTORS
from ..base.config import check_executor as check_executor
from ..base.config import shows_progress
from ..base.contexts import undisturbed
from ..base.forks import undivided
from ..base.fp_warnings import asked
from ..ir.convert import TakenArrays, convert_to_tensor
from ..ir.graph import CONST, Graph, Node
from ..ir.op import Op, function
from ..ir.recorders import recorders
from ..ir.run_state import EAGER, RunState
from ..ir.tensor import Tensor

if TYPE_CHECKING:
    from .lazy_inputs import LazyInputs
    from .runner import Runner


def checked_progress(progress: bool | None) -> bool | None:
    """Return ``progress`` if it says something; raises ``ImportError`` if it asks for what is not installed."""
    if progress is not None and not isinstance(progress, bool):
        raise TypeError(f"progress is True, False or None, got {progress!r} [AL609]")
    if progress:
        with undivided():
            from .progress_bars import check_extra

        check_extra()
    return progress


def set_outputs(graph: Graph, outputs: Sequence[Tensor]) -> None:
    """Make ``outputs``, and the last effect, the results of a function graph."""
    graph.outputs = [graph.capture(t) for t in outputs]
    if graph.token is not None and graph.token.op.op is not CONST:
        graph.outputs.append(graph.token)


def prepare(graph: Graph, executor: str = "auto", donated: Mapping[int, int] = MappingProxyType({})) -> Runner:
    """Make ``graph`` (with ``.inputs`` and ``.outputs``) ready to run.

    Parameters
    ----------
    graph : Graph
    executor : str
        One of ``EXECUTORS``.
    donated : mapping
        Inputs that a run may overwrite -> the output that is wanted in the memory of each. The output that a run gives
        is that very array where it could be computed there.

    Raises
    ------
    NotImplementedError
        If ``native`` cannot take the graph; names the operation and the user's line.
    ImportError
        If ``native`` is asked for and its extra is not installed.
    """
    with undivided(), NoCollection():
        from .runner import made_ready  # with the passes and two executors, which no import of a program needs

    return made_ready(graph, executor, donated)


def run_now(build: Callable[[], Any]) -> Any:
    """Trace ``build`` into a graph of its own, run it, and give its value with concrete tensors."""
    graph = Graph(ordered=True)
    graph.shows_progress = shows_progress()

    def trace() -> tuple[list[Any], Any]:
        with watched(build), graph.as_default():
            leaves, structure = nest.flatten_with_structure(build(), expand_composites=True)
            set_outputs(graph, [convert_to_tensor(leaf) for leaf in leaves])
        return leaves, structure

    taken = _Taken(graph)
    if not recorders():
        graph.record(TakenArrays).take = taken.take
    leaves, structure = undisturbed(trace)
    if lazy := taken.inputs:
        given = lazy.let_be_theirs()
        made = list(map(lazy.given_back, prepare(graph, "dataflow").run(given, EAGER)))
        return nest.unflatten(structure, made[: len(leaves)])
    results = run_graph(graph, prepare(graph, "dataflow" if asked() else "auto"), [])
    return nest.unflatten(structure, results[: len(leaves)])


class _Taken:
    """Arrays that are elsewhere, which a graph takes as inputs: what knows them is loaded with the first."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.inputs: LazyInputs | None = None

    def take(self, value: Any, is_tensor: bool = False) -> Tensor | None:
        """Return what stands for an array, or for a tensor of one; None if nobody knows its library."""
        if self.inputs is None:
            with undivided():
                from .lazy_inputs import LazyInputs
            self.inputs = LazyInputs(self._graph)
        return self.inputs.take(value, is_tensor)


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


def _computed_elsewhere(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return what a public function gives of arrays that are computed later, or lie on another device: their library's
    where they come of such, tensors else."""
    with undivided():
        from .eager_elsewhere import walked
    graph = Graph(ordered=True)
    taking = _Taken(graph)
    graph.record(TakenArrays).take = taking.take
    with graph.as_default():
        leaves, structure = nest.flatten_with_structure(f(*args, **kwargs), expand_composites=True)
        places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
        set_outputs(graph, [leaves[k] for k in places])
    taken = taking.inputs
    given = taken.let_be_theirs() if taken else []
    made = walked(graph, taken.namespace, given) if taken else None
    made = prepare(graph, "dataflow").run(given, EAGER) if made is None else made
    for k, one in zip(places, made):  # without the last effect
        leaves[k] = taken.given_back(one) if taken else wrap(one)
    return nest.unflatten(structure, leaves)


function("computed_elsewhere", _computed_elsewhere)


# -- what sessions do, which no function needs ------------------------------------------------------------------


def _evaluated(value: Any, feed_dict: Any, session: Any) -> Any:
    with undivided():
        from .session import evaluated

    return evaluated(value, feed_dict, session)


def _run_operation(node: Node, feed_dict: Any, session: Any) -> None:
    with undivided():
        from .session import run_operation

    run_operation(node, feed_dict, session)


def _get_default_graph() -> Graph:
    with undivided():
        from .session import get_default_graph

    return get_default_graph()


function("eval", _evaluated)
function("run_operation", _run_operation)
function("get_default_graph", _get_default_graph)


def _applied_elsewhere(op: Op, inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Return what an op gives of tensors some of whose values are elsewhere: those come of their library's functions.

    Raises
    ------
    NamespaceRefusal
        If the library has no function for it; told at the user's line.
    """
    with undivided():
        from .eager_elsewhere import of_values, walked
    if op.effect:  # which shows or checks values
        return of_values(op, inputs, attrs)
    graph = Graph(ordered=True)
    taking = _Taken(graph)
    graph.record(TakenArrays).take = taking.take
    with graph.as_default():
        set_outputs(graph, graph.add(op, inputs, attrs).results)
    taken = taking.inputs
    assert taken
    given = taken.let_be_theirs()
    made = walked(graph, taken.namespace, given) or prepare(graph, "dataflow").run(given, EAGER)
    return tuple(map(taken.given_back, made))


function("applied_elsewhere", _applied_elsewhere)


def _by_those_who_know(name: str) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        with undivided():  # which few programs need
            from . import eager_elsewhere
        return getattr(eager_elsewhere, name)(value)

    return call


function("kept_elsewhere", _by_those_who_know("kept_elsewhere"))
function("fetched", _by_those_who_know("fetched"))
