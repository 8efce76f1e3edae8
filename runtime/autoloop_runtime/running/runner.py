"""A graph made ready to run: the passes, and the executor that was asked for or chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.cost import Choice, choose
from ..analysis.inside import first_line, loops_inside
from ..analysis.observable import may_repeat, starting_over
from ..base.callbacks import listener
from ..base.config import REMOTE
from ..base.dataclass import dataclass, replace
from ..base.forks import undivided
from ..ir.graph import Graph
from ..ir.run_state import RunState
from ..passes.optimize import optimize
from .standing import Entry, Standing, Straight

if TYPE_CHECKING:
    from ..dataflow.faster_kernels import Source
    from .automatic import Automatic


@dataclass(frozen=True, slots=True)
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
    settled : Standing or None
        What ``auto`` has decided once and for all.
    automatic : Automatic or None
        What ``auto`` decides again and again.
    direct : Straight or None
        The shortest way through it, where that is settled.
    is_shown : bool
        Whether runs show how far they are: then there is no way but ``run``.
    noting : tuple of callables
        What notes where generators stand, see ``starting_over``.
    """

    run: Callable[[list[Any], RunState], list[Any]]
    graph: Graph
    asked: str
    settled: Standing | None = None
    automatic: Automatic | None = None
    direct: Straight | None = None
    noting: tuple[Callable[[], Callable[[], None]], ...] = ()
    is_shown: bool = False

    @property
    def standing(self) -> Standing:
        """What runs it now, and why."""
        if self.automatic is not None:
            return self.automatic.standing()
        return self.settled or Standing(self.asked, "asked for")

    @property
    def executor(self) -> str:
        """What runs it now."""
        return self.standing.executor

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return self.standing.reason

    @property
    def seen(self) -> str | None:
        """What its last traced run was like, empty if there was none; None if it is not the scheduler that runs it."""
        if self.executor != "dataflow" or self.graph.theirs is not None:
            return None
        with undivided():
            from ..dataflow.compile_dataflow import seen_of

        return seen_of(self.run if self.automatic is None else self.automatic.base)

    def straight(self) -> Straight | None:
        """Return the shortest way through it, if there is one and it pays to take it."""
        if self.is_shown:
            return None
        return self.direct if self.automatic is None else self.automatic.straight()

    def entry(self, shapes: tuple[tuple[int, ...], ...], is_taken: bool) -> Entry:
        """Return the machine code that runs it for inputs of such shapes, if there is, and until when.

        *Is it taken*, then calls go there without Python in between once there is machine code.
        """
        if self.is_shown:
            return Entry(None)
        if self.automatic is not None:
            return self.automatic.entry(shapes, is_taken)
        return Entry(self.run.entered if self.asked == "native" else None)  # type: ignore[attr-defined]

    def plain_turn(self, values: Sequence[Any]) -> Callable[[float], None] | None:
        """Return what is told how long the undecorated function takes, if that is to run a call; None if a run is."""
        return None if self.automatic is None or self.is_shown else self.automatic.plain_turn(values)

    def noted(self) -> Callable[[], None]:
        """Return what puts the generators back to where they stand now."""
        if not self.noting:
            return _nothing
        noted = [note() for note in self.noting]

        def put_back() -> None:
            for one in noted:
                one()

        return put_back

    def reconsidered(self) -> Runner:
        """Return what decides again and again what runs the graph, where that was settled once and for all: there are
        so many calls that machine code would be felt in all of them together."""
        with undivided():
            from .tier_up import is_wanted

        is_foreign = self.graph.theirs is not None
        if self.settled is None or self.automatic is not None or self.is_shown or is_foreign or not is_wanted():
            return self
        return _deciding(self.graph, choose(self.graph), self.noting)

    @property
    def may_repeat(self) -> bool:
        """Whether nobody notices that it runs twice."""
        return may_repeat(self.graph)

    @property
    def loops(self) -> dict[str, Standing]:
        """What runs each of its loops now, by the name of the node."""
        if self.automatic is not None:
            return self.automatic.loops()
        return dict.fromkeys((loop.name for loop in loops_inside(self.graph)), self.standing)


def _nothing() -> None:
    """Put nothing back."""


def made_ready(graph: Graph, executor: str, donated: Mapping[int, int]) -> Runner:
    """Return what runs ``graph``; see ``prepare``."""
    if graph.root.theirs is not None:
        with undivided():
            from ..passes.results_apart import keep_results_apart

        keep_results_apart(graph)
    optimized = optimize(graph, donated)
    optimized.donated = dict(donated)
    optimized.shows_progress = graph.root.shows_progress
    optimized.keeps_checkpoints, optimized.written_out = graph.root.keeps_checkpoints, graph.root.written_out
    if graph.root.keeps_checkpoints and graph.root.theirs is None:
        return with_checkpoints(optimized, executor)
    runner = _foreign(graph, optimized, executor) if graph.root.theirs is not None else _runner(optimized, executor)
    if executor == "auto" and (logs := listener()) is not None:
        begun = runner.settled or runner.automatic.choice  # type: ignore[union-attr]
        logs.detail("running", lambda: f"auto begins with {begun.executor}: {begun.reason}", first_line(optimized))
    return with_progress(runner) if optimized.shows_progress else runner


def _foreign(graph: Graph, optimized: Graph, executor: str) -> Runner:
    """Return what runs a graph over arrays of another library."""
    with undivided():
        from .foreign_runs import ForeignRun, check_dtypes, said_of

    optimized.theirs = theirs = graph.root.theirs
    foreign = [k for k, t in enumerate(graph.inputs) if theirs.known.get(t)]
    check_dtypes(graph)
    known: dict[Any, int] = {}
    first = [known.setdefault(t, k) for k, t in enumerate(graph.outputs)]
    run = ForeignRun(optimized, theirs.namespace, foreign, first)
    return Runner(run, optimized, executor, said_of(theirs.namespace))


def with_progress(runner: Runner) -> Runner:
    """Return what runs the same, and shows how far it is."""
    with undivided():
        from .shown_runs import shown

    return replace(runner, run=shown(runner.run, runner.graph), is_shown=True)


def with_checkpoints(optimized: Graph, executor: str) -> Runner:
    """Return what runs a graph and keeps its outermost loops in a folder, if that is asked for."""
    with undivided():
        from .checkpointed_runs import CheckpointedRuns

    runs = CheckpointedRuns(optimized, lambda part: _runner(part, executor).run)
    chosen = choose(optimized).executor if executor == "auto" else executor
    return Runner(runs, optimized, executor, Standing(chosen, "its loops are kept in a folder"), is_shown=True)


def _runner(optimized: Graph, executor: str) -> Runner:
    noting = () if optimized.donated else starting_over(optimized)
    if executor == REMOTE:
        return _remote(optimized, noting)
    if executor != "auto":
        run = _made(optimized, executor)
        return Runner(run, optimized, executor, direct=_direct(run, executor), noting=noting)
    choice = choose(optimized)
    if choice.no_gain:
        settled = Standing(choice.executor, f"{choice.reason}; {choice.no_gain}")
        run = _made(optimized, choice.executor)
        return Runner(run, optimized, executor, settled, direct=_direct(run, choice.executor), noting=noting)
    return _deciding(optimized, choice, noting)


def _deciding(graph: Graph, choice: Choice, noting: tuple[Callable[[], Callable[[], None]], ...]) -> Runner:
    """Return what decides again and again what runs ``graph``."""
    with undivided():
        from .automatic import Automatic

    automatic = Automatic(graph, choice)
    return Runner(automatic, graph, "auto", automatic=automatic, noting=noting)


def _remote(graph: Graph, noting: tuple[Callable[[], Callable[[], None]], ...]) -> Runner:
    """Return what sends the heavy parts of ``graph`` to a cluster; it is all done here if there are none."""
    with undivided():
        from .remote_programs import compiled_remote

    here = _runner(graph, "auto")
    run = compiled_remote(graph, here.run)
    if run is None:
        return replace(here, asked=REMOTE)
    standing = Standing(REMOTE, "parts that take long may go to the cluster, where that pays; the rest runs here")
    return Runner(run, graph, REMOTE, standing, noting=noting)


def _direct(run: Any, executor: str) -> Straight | None:
    """Return the shortest way through what ``_made`` has given."""
    return None if executor != "sequential" or run.stateful else Straight(run.function, run.explained)


def _made(graph: Graph, executor: str) -> Callable[[list[Any], RunState], list[Any]]:
    if executor == "sequential":
        with undivided():
            from ..python_code.compile_python import compile_graph

        return compile_graph(graph)
    if executor == "dataflow":
        with undivided():
            from ..dataflow.compile_dataflow import compile_dataflow

        return compile_dataflow(graph, graph.outputs, graph.inputs, later_kernels)
    with undivided():
        from ..native import compile_native  # of the extra ``native``, and not small

    return compile_native(graph)


def later_kernels() -> Source | None:
    """Return where the scheduler has faster kernels from for one graph, once it asks; None if there can be none."""
    with undivided():
        from .machine_kernels import machine_kernels

    return machine_kernels()
