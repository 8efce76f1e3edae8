"""A loop whose recurrences feed each other as one step of the plan that several threads work on: a pipeline.

Each stage (``pipeline_stages``) is a loop of its own, which hands values on. Where one has to wait, for a value or as
it is as far ahead as ``parallel_iterations`` lets it, its thread goes on with another stage (``pipeline_runs``). On one
thread the loop is one loop. Nothing in it can fail, see ``split_loops``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.ownership import Ownership
from ..ir.graph import Node
from ..ir.run_state import RunState
from .dependence import is_loop_merge
from .flat_graph import FlatNode, Lowered, Port
from .kernels import Unwanted
from .loop_items import doors
from .pipeline_runs import PipelineRun
from .pipeline_stages import Stage
from .stage_code import RunStage, StageCode, StageTree, alone
from .whole_loops import WholeLoop


class StageLoop(WholeLoop):
    """One stage.

    Parameters
    ----------
    lowered : Lowered
        The graph that the loop is in.
    frame : int
    owned : Ownership
    stage : Stage
    channels : mapping of Port to sequence of int
        See ``StageTree``.
    """

    def __init__(
        self, lowered: Lowered, frame: int, owned: Ownership, stage: Stage, channels: Mapping[Port, Sequence[int]]
    ) -> None:  # fmt: skip
        own = alone(lowered, frame, stage)
        super().__init__(own, frame, owned)
        everything, mine = _members(lowered, frame), _members(own, frame)
        inputs, exits = doors(lowered, everything)
        places = {node.index: k for k, node in enumerate(filter(is_loop_merge, everything))}
        captured = {port: k for k, port in enumerate(inputs) if k >= len(places)}
        starts, (given, ends) = [places[node.index] for node in mine if is_loop_merge(node)], doors(own, mine)
        #: which of the values it is given, and which of the results are its own; not changed
        self._taken = [*starts, *[captured[port] for port in given[len(starts) :]]]
        self.results = [exits.index(node) for node in ends]
        self._form: tuple[StageTree, Ownership] = StageTree(own, frame, stage, channels), owned
        self._stage: RunStage | None = None
        self._own = own

    def started(self, args: Sequence[Any], state: RunState, turns: Any, channels: Sequence[Any]) -> Any:
        """Return what runs it, step by step."""
        run = self._stage
        if run is None:  # threads may make it at one time, and go on with their own: one is like the other
            code = StageCode(self._own, *self._form)
            self._places = code.places
            run = self._stage = code.compile(self)  # type: ignore[assignment]
        return run([args[k] for k in self._taken], state, turns, channels)  # type: ignore[misc]


class PipelinedLoop:
    """What is called for such a loop.

    Parameters
    ----------
    whole : WholeLoop
        The loop as one.
    lowered : Lowered
    stages : sequence of Stage
    owned : Ownership

    Attributes
    ----------
    frame : int
    blas : bool
        Several threads may call BLAS in it.
    stages : list of StageLoop
    """

    #: several threads work on it, if there are; and its tokens are not moved in native memory
    overlaps, is_native = True, False
    is_heavy = True

    def __init__(self, whole: WholeLoop, lowered: Lowered, stages: Sequence[Stage], owned: Ownership) -> None:
        self.frame, self.blas, self._whole = whole.frame, whole.blas, whole
        self._window = lowered.frames[whole.frame].parallel_iterations
        ways: list[dict[Port, list[int]]] = [{} for _ in stages]
        #: of how many channels; not changed
        self._channels = 0
        for k, stage in enumerate(stages):
            for port in stage.given:
                maker = next(j for j, one in enumerate(stages[:k]) if port[0] in one.nodes)
                ways[maker].setdefault(port, []).append(self._channels)
                ways[k][port] = [self._channels]
                self._channels += 1
        self.stages = [StageLoop(lowered, self.frame, owned, stage, own) for stage, own in zip(stages, ways)]

    def __call__(self, state: RunState, args: list[Any]) -> tuple[Any, ...]:
        """Run it; ``args`` is emptied."""
        threads = min(getattr(args, "threads", 1), len(self.stages))
        if threads < 2:
            return self._whole(state, args)
        unwanted = getattr(args, "unwanted", ())
        run = PipelineRun(threads, len(self.stages), self._channels, self._window, self.frame, unwanted)
        codes = [one.started(args, state, turns, run.channels) for one, turns in zip(self.stages, run.turns)]
        args.clear()
        results: list[Any] = [None] * sum([len(one.results) for one in self.stages])
        for one, made in zip(self.stages, run.run(codes)):
            for k, value in zip(one.results, made):
                results[k] = value
        return tuple(results)

    def place(self, error: BaseException) -> tuple[FlatNode, list[tuple[Node, int]]] | None:
        """Return the node whose kernel raised ``error``, see ``WholeLoop``."""
        return next((found for one in self._parts() if (found := one.place(error)) is not None), None)

    def reached(self, error: Unwanted) -> list[str]:
        """Return the lines that tell how far it was when it ended with ``error``."""
        return next((found for one in self._parts() if (found := one.reached(error))), [])

    def _parts(self) -> list[WholeLoop]:
        return [self._whole, *self.stages]


def _members(lowered: Lowered, frame: int) -> list[FlatNode]:
    return [node for node in lowered.nodes if node.frame == frame and node.index >= 0]
