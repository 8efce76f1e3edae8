"""Runs whose outermost loops are kept in a folder every so many iterations, and go on from there.

Nothing of it is in the executors: the graph is cut before and after each outermost loop, and a loop is called again and
again for the iterations between two checkpoints, as a function of its state. So all executors can, and a run of which
nobody wants checkpoints knows nothing of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeAlias

import numpy as np

from ..analysis.inside import nodes_inside
from ..base.asked_checkpoints import asked_checkpoints
from ..base.dtypes import variant
from ..ir.failures import count_from
from ..ir.graph import CONST, Graph
from ..ir.run_state import EAGER, RunState
from ..ir.tensor import Tensor
from ..passes.loop_stages import LoopPart, Part, Stage, loop_stages
from ..saving.file_form import Arrays, packed
from ..saving.graph_form import GraphWriter
from ..saving.load_errors import SaveError, unsavable
from ..saving.loop_checkpoints import FOREIGN, CheckpointError, CheckpointFolder, Kept

Run: TypeAlias = Callable[[list[Any], RunState], list[Any]]
#: more iterations than any loop does
_ALL = 1 << 62


class CheckpointedRuns:
    """The runs of one graph.

    Parameters
    ----------
    graph : Graph
        After the passes.
    made : callable
        Makes what runs a graph.
    recovered : callable, optional
        Gives for the values of a loop on entry, and how many iterations it has done, what lets it go on after a loss,
        see ``distributed.loop_recovery``, or None.

    Raises
    ------
    SaveError
        If a run may depend on more than a checkpoint can hold.
    """

    def __init__(
        self, graph: Graph, made: Callable[[Graph], Run], recovered: Callable[[list[Any], int], Any] | None = None
    ) -> None:  # fmt: skip
        self._graph, self._made, self.recovered = graph, made, recovered
        self._stages: list[Stage] = loop_stages(graph)
        self._fingerprint = b""
        if graph.keeps_checkpoints:
            self._fingerprint = _fingerprint(graph)
            for stage in self._stages:
                if isinstance(stage, LoopPart):
                    _check(stage)
        #: what runs each stage, made when it is first wanted; two threads may make it twice
        self._runs: dict[int, Run] = {}

    def __call__(self, values: list[Any], state: RunState = EAGER) -> list[Any]:
        """Return the outputs for the values of the inputs."""
        asked = asked_checkpoints() if self._fingerprint else None
        if asked is None:  # whoever asked for them has kept the trace
            return _Running(self, values, state, None, _ALL).outputs(None)
        name, run = asked.next_call(), self._run_of(values)
        with ExitStack() as stack:
            folder = stack.enter_context(CheckpointFolder(os.path.join(asked.folder, name), run))
            kept = None
            if asked.resume_from == asked.folder:
                kept = folder.newest()
            elif folder.numbers():
                raise CheckpointError(
                    f"there are checkpoints in {folder.path!r} already; go on from them with resume=True, or remove "
                    "them [AL715]"
                )
            elif asked.resume_from is not None:
                kept = CheckpointFolder(os.path.join(asked.resume_from, name), run).newest()
            results = _Running(self, values, state, folder, asked.every).outputs(kept)
            folder.clear()
        return results

    def _run_of(self, values: Sequence[Any]) -> str:
        """Return what tells this run from those of other graphs and other inputs."""
        found = hashlib.sha256(self._fingerprint)
        for value in values:
            try:
                found.update(_said_of(value))
            except SaveError as error:
                loops = [stage.node.location for stage in self._stages if isinstance(stage, LoopPart)]
                raise unsavable(str(error), *loops[:1]) from None
        return found.hexdigest()

    def run_of(self, k: int) -> Run:
        """Return what runs the k-th stage."""
        if k not in self._runs:
            stage = self._stages[k]
            self._runs[k] = self._made(stage.loop.graph if isinstance(stage, LoopPart) else stage.graph)
        return self._runs[k]

    @property
    def stages(self) -> Sequence[Stage]:
        """What a run is done by."""
        return self._stages

    @property
    def graph(self) -> Graph:
        """The whole."""
        return self._graph


class _Running:
    """One run: the values there are."""

    def __init__(
        self, runs: CheckpointedRuns, values: Sequence[Any], state: RunState, folder: CheckpointFolder | None,
        every: int,
    ) -> None:  # fmt: skip
        self._runs, self._state, self._folder, self._every = runs, state, folder, every
        self._values: dict[Tensor, Any] = dict(zip(runs.graph.inputs, values))

    def outputs(self, kept: Kept | None) -> list[Any]:
        """Return what the run gives, which goes on from what was ``kept``."""
        loops = [k for k, stage in enumerate(self._runs.stages) if isinstance(stage, LoopPart)]
        first = 0
        if kept is not None:
            if kept.loop >= len(loops):
                raise CheckpointError(f"the checkpoint is of a loop that there is not: {kept.loop} [AL714]")
            if self._runs.stages and isinstance(self._runs.stages[0], Part):
                self._do_part(0)  # it can be made again
            first = loops[kept.loop]
        for k in range(first, len(self._runs.stages)):
            stage = self._runs.stages[k]
            if isinstance(stage, LoopPart):
                self._do_loop(k, stage, loops.index(k), kept if k == first else None)
            else:
                self._do_part(k)
            for tensor in stage.ends:
                self._values.pop(tensor, None)
        return list(map(self._value, self._runs.graph.outputs))

    def _value(self, tensor: Tensor) -> Any:
        if tensor.op.op is CONST:
            return tensor.op.attrs["value"]
        return self._values.get(tensor, np.True_)  # an effect has no value

    def _do_part(self, k: int) -> None:
        part = self._runs.stages[k]
        assert isinstance(part, Part)
        if part.graph.nodes:
            results = self._runs.run_of(k)(list(map(self._value, part.takes)), self._state)
            self._values.update(zip(part.gives, results))

    def _do_loop(self, k: int, stage: LoopPart, number: int, kept: Kept | None) -> None:
        """Do a loop, from its beginning or from where it was kept."""
        node, loop, done = stage.node, stage.loop, 0
        count = len(loop.variables)
        if kept is None:
            values = [self._value(node.inputs[j]) for j in loop.variables]
        else:
            if len(kept.values) != count + len(stage.holds):
                raise CheckpointError("the checkpoint holds another number of values than the loop has [AL714]")
            values, done = kept.values[:count], kept.iteration
            self._values.update(zip(stage.holds, kept.values[count:]))
        captured = [self._value(node.inputs[j]) for j in loop.captured]
        run, saved = self._runs.run_of(k), done
        recovered = None if self._runs.recovered is None else self._runs.recovered(values, done)
        try:
            while True:
                limit = self._every - (done - saved)
                if recovered is not None:
                    limit = min(limit, recovered.size)
                try:
                    turns, *values = run([np.int64(limit), *values, *captured], self._state)[: count + 1]
                    if recovered is not None and turns == limit:
                        values = recovered.anchored(done + int(turns), values)
                except Exception as error:
                    again = None if recovered is None else recovered.after(error)
                    if again is None:
                        count_from(error, node, done)
                        raise
                    done, values = again
                    saved = min(saved, done)
                    continue
                done += int(turns)
                if turns < limit:
                    break
                if done - saved == self._every and self._folder is not None:
                    self._save(stage, number, done, values)
                    saved = done
        finally:
            if recovered is not None:
                recovered.close()
        self._values.update((node.outputs[j], value) for j, value in zip(loop.variables, values))

    def _save(self, stage: LoopPart, number: int, done: int, values: Sequence[Any]) -> None:
        assert self._folder is not None
        held = [(t.op.name, self._value(t)) for t in stage.holds]
        try:
            self._folder.save(number, done, [*zip(stage.names, values), *held])
        except SaveError as error:
            raise unsavable(str(error), stage.node.location) from None


def _check(stage: LoopPart) -> None:
    """Refuse a loop whose state no file can hold."""
    node = stage.node
    found = [(name, node.inputs[j]) for name, j in zip(stage.names, stage.loop.variables)]
    for name, tensor in [*found, *((t.op.name, t) for t in stage.holds)]:
        if tensor.dtype == variant or tensor.dtype.kind == "O":
            raise unsavable(
                f"{name!r} is a list, a TensorArray or what is saved for a gradient: a checkpoint holds arrays and "
                "numbers; write into an array of fixed size, out[i] = x", node.location
            )  # fmt: skip


def _fingerprint(graph: Graph) -> bytes:
    """Return what tells a graph from others that compute something else; ``SaveError`` if nothing can."""
    for node in nodes_inside(graph):
        if node.op.stateful or node.op.draws is not None:
            said = f"{node.name!r} ({node.op.name}) depends on the state of the program, which no checkpoint holds"
            raise unsavable(said, node.location)
    writer = GraphWriter()
    form = _without_places(writer.form(graph))
    return hashlib.sha256(packed({"graph": form}, writer.values.arrays)).digest()


def _without_places(form: Any) -> Any:
    """Return the form of a graph without the user's lines, which move when something else is written above."""
    if isinstance(form, dict):
        return {key: _without_places(value) for key, value in form.items() if key != "at"}
    return [_without_places(one) for one in form] if isinstance(form, list) else form


def _said_of(value: Any) -> bytes:
    """Return what tells an input from others: the content of NumPy's, what is known of any other without computing."""
    for foreign in [*FOREIGN.values()]:  # another thread may add to it meanwhile
        if foreign.takes(value):
            return foreign.told(value).encode()
    arrays = Arrays()
    arrays.add(np.asarray(value))
    head: Mapping[str, Any] = {}
    return hashlib.sha256(packed(head, arrays)).digest()
