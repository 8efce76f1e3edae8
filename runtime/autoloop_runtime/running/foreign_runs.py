"""Graphs that run over arrays of another library: on the scheduler, kernel by kernel, with that library's functions."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..base.forks import undivided
from ..dataflow.executable import Executable
from ..dataflow.lowering import lower
from ..ir.graph import Graph
from ..ir.run_state import EAGER, RunState
from ..namespaces import NamespaceRefusal, check_promotions, in_namespace, kept_arrays
from ..namespaces.foreign_collections import may_hold
from ..passes.loop_stages import follow_one_another
from ..passes.loop_strands import strands_of
from .checkpointed_runs import CheckpointedRuns
from .outside_state import OutsideState
from .remote_programs import Program, arrived
from .segmented_run import Run
from .standing import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ..dataflow.flat_graph import Lowered
    from ..namespaces import Namespace


class ForeignRun:
    """What runs a graph some inputs of which are arrays of another library; none of them is written to.

    Parameters
    ----------
    graph : Graph
        After the passes.
    namespace : Namespace
        The library.
    foreign : collection of int
        Which inputs are its arrays.
    first : sequence of int
        Which output each of them is the same array as, itself if it is the first.
    """

    def __init__(
        self, graph: Graph, namespace: Namespace, foreign: Collection[int], first: Sequence[int]
    ) -> None:  # fmt: skip
        self.namespace, self._first = namespace, first
        if namespace.is_lazy and not graph.keeps_checkpoints:
            graph = _by_chunks(graph, foreign)
        # what is refused is at once, whatever will run it
        lowered = _lowered(graph, namespace, foreign)
        self._run: Run
        if graph.keeps_checkpoints or (namespace.is_lazy and follow_one_another(graph)):
            if graph.keeps_checkpoints and not namespace.is_lazy:
                kept_arrays.register(namespace)
            # between the iterations of its loops somebody sees to what is lost when workers die, or may
            self._run = CheckpointedRuns(graph, lambda part: _PartRun(part, namespace), _recovered(namespace))
        else:
            whole = _made(lowered, namespace)
            self._run = _with_loops_apart(graph, namespace, whole) if namespace.is_lazy else whole
        #: why it cannot be: what a run has found holds for the next; threads that find it find the same
        self.refused: NamespaceRefusal | None = None
        self._is_told = False

    def __call__(self, values: list[Any], state: RunState = EAGER) -> list[Any]:
        """Return the outputs for the values of the inputs.

        Raises
        ------
        NamespaceRefusal
            If the library computes something else than NumPy.
        """
        if self.refused is not None:
            raise self.refused.with_traceback(None)
        try:
            made = self._run(values, state)
            return self._set_apart(values, made) if self.namespace.is_lazy else made
        except NamespaceRefusal as refusal:
            self.refused = refusal
            raise
        except BaseException as error:
            told = self._told(error)
            if told is error:
                raise
        try:
            raise told
        finally:
            del told  # its traceback has this frame

    def _set_apart(self, values: Sequence[Any], made: list[Any]) -> list[Any]:
        """Return the outputs, an array of its own for each that the library's function has given back as it was: what
        changes one in place must not change another."""
        seen = {id(value) for value in values}
        for k, (first, one) in enumerate(zip(self._first, made)):  # behind them, what the run itself wants
            if first < k:
                made[k] = made[first]
            elif id(one) in seen and self.namespace.holds(one):
                made[k] = type(one)(one.dask, one.name, one.chunks, meta=one)
            seen.add(id(one))
        return made

    def _told(self, error: BaseException) -> BaseException:
        """Return what is said of an error: what befell a cluster in our words."""
        if not self.namespace.is_lazy:
            return error
        with undivided():
            from ..distributed.lost_clusters import lost_of_call

        return lost_of_call(error)

    def is_first(self) -> bool:
        """Return whether nobody has been told of the refusal; that is done then."""
        was_told, self._is_told = self._is_told, True
        return not was_told


class _PartRun:
    """What runs a part of a graph; which of its inputs are arrays of the library, or hold some, only a run knows."""

    def __init__(self, graph: Graph, namespace: Namespace) -> None:
        self._graph, self._namespace = graph, namespace
        #: which inputs are the library's -> what runs it; threads that make one at the same time make the same
        self._runs: dict[tuple[int, ...], Run] = {}

    def __call__(self, values: list[Any], state: RunState) -> list[Any]:
        foreign = tuple([k for k, value in enumerate(values) if may_hold(self._namespace, value)])
        if foreign not in self._runs:
            self._runs[foreign] = _made(_lowered(self._graph, self._namespace, foreign), self._namespace)
        return self._runs[foreign](values, state)


def _by_chunks(graph: Graph, lazy: Collection[int]) -> Graph:
    """Return a graph whose loops over rows go by chunks; some inputs are computed later."""
    with undivided():
        from ..distributed.mapped_loops import with_mapped_rows

    return with_mapped_rows(graph, [graph.inputs[k] for k in lazy], Program, arrived)


def _lowered(graph: Graph, namespace: Namespace, foreign: Collection[int]) -> Lowered:
    return in_namespace(lower(graph, graph.outputs, graph.inputs), namespace, foreign)


def _made(lowered: Lowered, namespace: Namespace) -> Run:
    """Return what runs a graph as a whole."""
    if not namespace.is_lazy:
        return Executable(lowered).run
    with undivided():  # whoever has such arrays has Dask
        from ..distributed.engine import DaskExecutable

    executable = DaskExecutable(lowered)
    return lambda values, state: executable.run(values, state=state)


def _with_loops_apart(graph: Graph, namespace: Namespace, whole: Run) -> Run:
    """Return what runs loops that need nothing of each other, on a cluster each by itself."""
    strands = strands_of(graph)
    states = [strand for strand in strands if OutsideState(strand.graph).is_any()]
    if sum(strand.is_loop for strand in strands) < 2 or states:
        return whole  # who goes back must not put back what others have changed
    with undivided():
        from ..distributed.loops_apart import LoopsApart

    recovered = _recovered(namespace)
    runs: list[Run] = [
        CheckpointedRuns(one.graph, lambda part: _PartRun(part, namespace), recovered) if one.is_loop
        else _PartRun(one.graph, namespace) for one in strands
    ]  # fmt: skip
    apart = LoopsApart(strands, runs, graph.inputs, graph.outputs)
    return lambda values, state: (apart if apart.is_worth() else whole)(values, state)


def _recovered(namespace: Namespace) -> Callable[[list[Any], int], Any] | None:
    """Return what sees to it that loops go on when workers die."""
    if not namespace.is_lazy:
        return None
    with undivided():
        from ..distributed import chunk_files, loop_recovery

    chunk_files.register(namespace)
    return functools.partial(loop_recovery.recovered, namespace)


def check_dtypes(graph: Graph) -> None:
    """Raise ``NamespaceRefusal`` where the library brings operands of a traced graph to other dtypes than NumPy."""
    theirs = graph.root.theirs
    assert theirs is not None
    check_promotions(graph, theirs.namespace, lambda tensor: theirs.of(tensor) is not False, theirs.said)


def said_of(namespace: Namespace) -> Standing:
    """Return what runs a graph over arrays of a library, and why."""
    return Standing("dataflow", f"arrays of {namespace.name} are among the arguments: kernels are its functions")
