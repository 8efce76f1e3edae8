"""A run of a graph that is cut at its loops: somebody stands between the iterations, and keeps what there is.

Two keep: a folder, for who starts the program again, and anchors on a cluster, for when a worker dies. Both want a loop
called again and again for some iterations, as a function of its state. Iterations that take long because of the loops
inside them are gone through, too: their body is cut in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from ..ir.failures import annotate_further, count_from
from ..ir.graph import CONST, Graph
from ..ir.run_state import RunState
from ..ir.tensor import Tensor
from ..passes.loop_stages import BranchPart, Cut, LoopPart, Part, cut_at_loops
from ..saving.load_errors import SaveError, unsavable
from ..saving.loop_checkpoints import CheckpointError, CheckpointFolder, Kept, Place
from .outside_state import OutsideState

Run: TypeAlias = Callable[[list[Any], RunState], list[Any]]
#: more iterations than any loop does
ALL = 1 << 62
#: seconds: iterations that take longer are gone through; after so many a loop inside another is kept, too
LONG, PATIENCE = 5.0, 60.0
#: how many iterations are done at first where only their time says how many; seconds that so many are to take
_FIRST, _SOON, _LATE = 16, 1.0, 4.0


class Segments:
    """A graph that is cut at its loops, and what runs the pieces.

    Parameters
    ----------
    graph : Graph
        After the passes.
    made : callable
        Makes what runs a graph.
    """

    def __init__(self, graph: Graph, made: Callable[[Graph], Run]) -> None:
        self.whole, self._made = cut_at_loops(graph), made
        #: what runs each piece, made when it is first wanted; two threads may make it twice
        self._runs: dict[Graph, Run] = {}

    def run_of(self, graph: Graph) -> Run:
        """Return what runs a piece."""
        if graph not in self._runs:
            self._runs[graph] = self._made(graph)
        return self._runs[graph]


class SegmentedRun:
    """One run.

    Parameters
    ----------
    segments : Segments
    state : RunState
    outside : OutsideState
        Of the graph.
    recovered : callable, optional
        Gives for the values of a loop on entry, and how many iterations it has done, what lets it go on after a loss,
        see ``distributed.loop_recovery``, or None.
    folder : CheckpointFolder, optional
        Where the state of loops is kept.
    every : int
        How many iterations of an outermost loop there are between two times that it is.

    Attributes
    ----------
    places : list
        The loops and branches around what is run now, the outermost first.
    turns : int
        How many iterations there were of loops whose iterations were not gone through.
    """

    def __init__(
        self, segments: Segments, state: RunState, outside: OutsideState,
        recovered: Callable[[list[Any], int], Any] | None, folder: CheckpointFolder | None = None, every: int = ALL,
    ) -> None:  # fmt: skip
        self._segments, self._state, self.outside = segments, state, outside
        self.recovered, self.folder, self.every = recovered, folder, every
        self.places: list[_Loop | _Side] = []
        self.saved_at, self.turns = perf_counter(), 0

    def outputs(self, values: Sequence[Any], kept: Kept | None = None) -> list[Any]:
        """Return what the run gives, which goes on from what was ``kept``."""
        whole = self._segments.whole
        if kept is None:
            return self.through(whole, values)
        if not kept.places:
            raise CheckpointError("the checkpoint says no loop [AL714]")
        known = dict(zip(whole.graph.inputs, values))
        first = whole.stages[0]
        if isinstance(first, Part):
            self._part(first, known)  # it can be made again
        self.outside.put(self._state, kept.outside)
        return self._through(whole, known, kept.places)

    def through(self, cut: Cut, values: Sequence[Any], places: Sequence[Place] = ()) -> list[Any]:
        """Return the outputs of a graph for the values of its inputs, from a place in it on."""
        return self._through(cut, dict(zip(cut.graph.inputs, values)), places)

    def run(self, graph: Graph, values: list[Any]) -> list[Any]:
        """Run a piece."""
        return self._segments.run_of(graph)(values, self._state)

    def noted(self) -> Callable[[], None]:
        """Return what puts the state outside of the graph back to where it is now."""
        now = self.outside.now(self._state)
        return lambda: self.outside.put(self._state, now)

    def save(self) -> None:
        """Keep where the run is."""
        assert self.folder is not None
        try:
            self.folder.save([place.place() for place in self.places], self.outside.now(self._state))
        except SaveError as error:
            raise unsavable(str(error), self.places[-1].stage.node.location) from None
        self.saved_at = perf_counter()

    def _through(self, cut: Cut, known: dict[Tensor, Any], places: Sequence[Place]) -> list[Any]:
        first = places[0].stage if places else 0
        if places and (first >= len(cut.stages) or isinstance(cut.stages[first], Part)):
            raise CheckpointError(f"the checkpoint is of a loop that there is not: {first} [AL714]")
        for k, stage in enumerate(cut.stages[first:], first):
            here = places if k == first else ()
            if isinstance(stage, Part):
                self._part(stage, known)
            elif isinstance(stage, LoopPart):
                self._loop(_Loop(self, k, stage, known, here), known)
            else:
                self._branch(_Side(k, stage, known, here), known, here)
            for tensor in stage.ends:
                known.pop(tensor, None)
        return [value_of(known, tensor) for tensor in cut.graph.outputs]

    def _part(self, part: Part, known: dict[Tensor, Any]) -> None:
        if part.graph.nodes:
            known.update(zip(part.gives, self.run(part.graph, [value_of(known, t) for t in part.takes])))

    def _loop(self, loop: _Loop, known: dict[Tensor, Any]) -> None:
        self.places.append(loop)
        try:
            values = loop.through()
        finally:
            self.places.pop()
        node = loop.stage.node
        known.update((node.outputs[j], value) for j, value in zip(loop.stage.loop.variables, values))

    def _branch(self, side: _Side, known: dict[Tensor, Any], places: Sequence[Place]) -> None:
        node = side.stage.node
        self.places.append(side)
        try:
            given = [value_of(known, tensor) for tensor in node.inputs[1:]]
            known.update(zip(node.outputs, self.through(side.stage.sides[side.number], given, places[1:])))
        finally:
            self.places.pop()


def value_of(known: dict[Tensor, Any], tensor: Tensor) -> Any:
    """Return the value of a tensor of a graph that is run."""
    if tensor.op.op is CONST:
        return tensor.op.attrs["value"]
    return known.get(tensor, np.True_)  # an effect has no value


def _held(stage: LoopPart | BranchPart, known: dict[Tensor, Any], kept: Sequence[Any] | None) -> list[tuple[str, Any]]:
    """Return what there is besides, with its names, after it was put where it was ``kept``."""
    if kept is not None:
        if len(kept) != len(stage.holds):
            raise CheckpointError("the checkpoint holds another number of values than there are [AL714]")
        known.update(zip(stage.holds, kept))
    return [(tensor.op.name, value_of(known, tensor)) for tensor in stage.holds]


class _Side:
    """A branch that is gone through: which side, and what there is besides."""

    def __init__(self, stage_number: int, stage: BranchPart, known: dict[Tensor, Any], places: Sequence[Place]) -> None:
        self.stage, self._stage_number = stage, stage_number
        self._holds = _held(stage, known, places[0].values if places else None)
        self.number = places[0].iteration if places else 1 - bool(value_of(known, stage.node.inputs[0]))
        if self.number not in (0, 1):
            raise CheckpointError("the checkpoint is of a branch that there is not [AL714]")

    is_loop = False

    def place(self) -> Place:
        """Return where the run is."""
        return Place(self._stage_number, self.number, [value for _, value in self._holds], [n for n, _ in self._holds])


class _Loop:
    """A loop that is gone through.

    Parameters
    ----------
    run : SegmentedRun
    stage_number : int
    stage : LoopPart
    known : dict
        The values there are.
    places : sequence of Place
        Where it goes on, and where the loops inside it do.
    """

    is_loop = True

    def __init__(
        self, run: SegmentedRun, stage_number: int, stage: LoopPart, known: dict[Tensor, Any], places: Sequence[Place]
    ) -> None:
        self._run, self.stage, self._stage_number = run, stage, stage_number
        node, loop = stage.node, stage.loop
        count = len(loop.variables)
        self._done, self._inner = 0, places[1:]
        self._values = [value_of(known, node.inputs[j]) for j in loop.variables]
        if places:
            self._done, self._values = places[0].iteration, list(places[0].values[:count])
        self._holds = _held(stage, known, places[0].values[count:] if places else None)
        if len(self._values) != count:
            raise CheckpointError("the checkpoint holds another number of values than the loop has [AL714]")
        self._captured = [value_of(known, node.inputs[j]) for j in loop.captured]
        self._is_outermost = not any(place.is_loop for place in run.places)
        self._saved, self._size, self._each = self._done, _FIRST, 0.0 if stage.inside is None else LONG
        #: how many iterations of loops inside there were in the last one that was gone through
        self._within = 0
        recovered = run.recovered
        self._recovered = None if recovered is None else recovered(self._values, self._done)
        #: by how many iterations were done, on entry and at the last anchor: what puts back the state outside
        self._marks = {self._done: run.noted()} if self._recovered is not None else {}
        self._entry, self._is_held = self._done, False

    def place(self) -> Place:
        """Return where the run is."""
        names = [*self.stage.names, *[name for name, _ in self._holds]]
        return Place(self._stage_number, self._done, [*self._values, *[value for _, value in self._holds]], names)

    def through(self) -> list[Any]:
        """Do what is left of it; return the values of its variables."""
        try:
            while self._goes_on():
                pass
        finally:
            if self._recovered is not None:
                self._recovered.close()
        return self._values

    def _goes_on(self) -> bool:
        """Do some iterations; return whether there may be more."""
        is_inside = self._is_inside()
        limit, begin = 1 if is_inside else self._limit(), perf_counter()
        try:
            turns, values = self._turn() if is_inside else self._turns(limit)
            took = perf_counter() - begin
            if self._recovered is not None and turns == limit:
                values = self._anchored(self._done + turns, values)
            elif self._recovered is not None:
                values = self._recovered.given(values)
        except Exception as error:
            if not self._is_recovered(error):
                self._tell(error, is_inside)
                raise
            return True
        self._done, self._values = self._done + turns, values
        self._run.turns += 0 if is_inside else turns
        if turns < limit:
            return False
        if self.stage.inside is not None:
            self._each = took / limit
        self._size = max(self._size // 4, 1) if took > _LATE else self._size * 4 if took < _SOON else self._size
        if self._run.folder is not None and self._is_to_be_saved():
            self._save()
        return True

    def _save(self) -> None:
        """Keep where the run is, if that can be: inside of an iteration there may be what is saved for a gradient."""
        try:
            self._run.save()
        except SaveError:
            if self._is_outermost:
                raise
            self._run.saved_at = perf_counter()  # it is not tried all the time
        self._saved = self._done

    def _is_inside(self) -> bool:
        """Return whether the next iteration is gone through: it takes long, or is as much as there is to an anchor."""
        if self._inner or self.stage.inside is None:
            return bool(self._inner)
        if self._recovered is None:
            return self._run.folder is not None and self._each >= LONG
        return self._each >= LONG or self._within >= self._recovered.size

    def _limit(self) -> int:
        """Return how many iterations to do at once."""
        limits = [ALL]
        if self._run.folder is not None:
            if self._is_outermost:
                limits.append(self._run.every - (self._done - self._saved))
            if self.stage.inside is not None or not self._is_outermost:
                limits.append(self._size)
        if self._recovered is not None:
            limits.append(max(self._recovered.size // max(self._within, 1), 1))
        return min(limits)

    def _is_to_be_saved(self) -> bool:
        if self._is_outermost:
            return self._done - self._saved == self._run.every
        return perf_counter() - self._run.saved_at >= PATIENCE

    def _turns(self, limit: int) -> tuple[int, list[Any]]:
        """Do so many iterations, or fewer if it is over then; return how many, and the values of the variables."""
        loop = self.stage.loop
        turns, *values = self._run.run(loop.graph, [np.int64(limit), *self._values, *self._captured])
        return int(turns), values[: len(loop.variables)]

    def _turn(self) -> tuple[int, list[Any]]:
        """Do one iteration, and stand between those of the loops inside it."""
        node, loop, inner = self.stage.node, self.stage.loop, self._inner
        assert self.stage.inside is not None
        cond, body = self.stage.inside
        known = {**dict(zip(loop.variables, self._values)), **dict(zip(loop.captured, self._captured))}
        given = [known[k] if k in known else value_of({}, tensor) for k, tensor in enumerate(node.inputs)]
        if not inner and not self._run.through(cond, given)[0]:
            return 0, self._values
        before = self._run.turns
        made = self._run.through(body, given, inner)
        self._inner, self._within = (), self._run.turns - before
        return 1, [made[k] for k in loop.variables]

    def _anchored(self, done: int, values: list[Any]) -> list[Any]:
        assert self._recovered is not None
        made: list[Any] = self._recovered.anchored(done, values)
        if not self._is_held:  # there will be more iterations
            self._captured, self._is_held = self._recovered.held(self._captured), True
        self._marks[done] = self._run.noted()
        goes_back = (self._entry, self._recovered.last)
        self._marks = {at: mark for at, mark in self._marks.items() if at in goes_back}
        return made

    def _is_recovered(self, error: Exception) -> bool:
        """Return whether what was lost is there again, to go on from."""
        again = None if self._recovered is None else self._recovered.after(error)
        if again is None:
            return False
        self._done, self._values = again
        self._saved, self._inner = min(self._saved, self._done), ()
        self._marks[self._done]()
        return True

    def _tell(self, error: Exception, is_inside: bool) -> None:
        """Let an error say which iteration it was."""
        if is_inside:
            annotate_further(error, [(self.stage.node, self._done)])
        else:
            count_from(error, self.stage.node, self._done)
