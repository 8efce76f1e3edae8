"""Feeds in, fetches out: one run of a plan, and how its failures are told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import inf
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..analysis.ownership import Ownership
from ..base import config
from ..base.deadlines import DEADLINE
from ..base.forks import Kind, generation, undivided
from ..base.fp_warnings import asked, restore, setting, silence
from ..base.profiler import boards
from ..ir.graph import current_graph, eager
from ..ir.run_state import EAGER, RunState
from .execution_plan import Plan
from .flat_graph import GONE, Lowered
from .frames import State
from .kernels import Watch
from .one_thread import by_itself, by_itself_from, in_time, results_of, run_alone, way_of_run
from .sole_holders import donate, returned
from .whole_loops import light_kernels, middling_kernels, with_joined_steps

if TYPE_CHECKING:
    from .batches import Machine
    from .faster_kernels import Source
    from .memory_limit import Budget, MemoryLimit
    from .overlapped_loops import Hoped, HopedLoops
    from .pieces import Piece

_KIND = Kind(
    "Executable._looking", "nobody waits for it; a child looks itself, for what was found is put in as a whole"
)
#: seconds that runs take before it is looked for faster kernels
LONG = 0.1
#: nodes from which on the background thread looks for them: a program of so many would stand still meanwhile
MANY = 1000
#: nanoseconds after which a run ends when its time is over, at most
LATE = 2e6
_HIDDEN: AbstractContextManager[None] = nullcontext()


class Ways:
    """What runs go by; replaced as a whole, and a run keeps to the one that it has begun with.

    Parameters
    ----------
    lowered : Lowered
        A node for each kernel.
    plan : Plan
        Several kernels may be a step.
    owned : Ownership
    moved : Plan, optional
        In which all tokens are moved by Python, if that is another: how far loops are is seen by those.
    joined : Lowered, optional
        That of ``plan``, if some are moved in native memory.
    """

    def __init__(
        self, lowered: Lowered, plan: Plan, owned: Ownership, moved: Plan | None = None, joined: Lowered | None = None
    ) -> None:  # fmt: skip
        self.lowered, self.plan, self.joined, self._owned = lowered, plan, joined, owned
        self.moved = moved or plan
        #: made by the first that wants it, without a lock: two threads make the same
        self._each: Plan | None = None
        #: what traced runs go by; likewise
        self._traced: Plan | None = None
        #: what runs go by under the last limit to memory, and that; likewise, and replaced as a whole
        self._limited: tuple[Budget, Plan] | None = None
        #: whether loops that are one step ask often enough whether the time is over, of each plan; likewise
        self._often: dict[Plan, bool] = {}
        #: what runs on one thread go by; likewise
        self._alone: Plan | None = None

    def node_by_node(self) -> Plan:
        """Return the plan in which each kernel is a step: for runs that are traced, or whose memory is counted."""
        if self.plan.nodes is self.lowered.nodes:
            return self.plan
        if self._each is None:
            self._each = Plan(self.lowered, self._owned)
        return self._each

    def traced(self) -> Plan:
        """Return the plan of runs that are traced: of those that others go by where tokens are moved in native memory,
        if it can be told of each kernel; else that in which each is a step."""
        if self._traced is None:
            with undivided():
                from .seen_steps import is_seen_joined

            is_joined = is_seen_joined(self.lowered, self.plan.nodes)
            self._traced = self.plan if is_joined else self.node_by_node()
        return self._traced

    def limited(self, budget: Budget) -> Plan:
        """Return the plan of runs under a limit to memory."""
        known = self._limited
        if known is None or not budget.is_like(known[0]):
            with undivided():
                from .limited_plans import limited

            plan = limited(self.lowered, self.joined, self._owned, budget) if self.joined is not None else None
            known = self._limited = budget, plan or self.node_by_node()
        return known[1]

    def may_join(self, watch: Watch | None) -> bool:
        """Return whether several kernels may be a step of a run that is not traced: if it asks often enough whether its
        time is over, which loops that are one step do once in an iteration."""
        return watch is None or self._asks_often(self.plan)

    def _asks_often(self, plan: Plan) -> bool:
        if plan not in self._often:
            with undivided():
                from .loops_alone import nanoseconds_of_iterations

            took = nanoseconds_of_iterations(plan.source, plan.nodes)
            self._often[plan] = max(took, default=0.0) < LATE
        return self._often[plan]

    def alone(self, watch: Watch | None) -> Plan:
        """Return the plan of runs on one thread: loops whose tokens others move in native memory, so that what takes
        long may overlap, are one step if they can be. That has no tokens, and longer parts in machine code."""
        if self._alone is None:
            there = {node.frame for node in self.moved.nodes if node.kind is not GONE.kind}
            moving = {step.flat.value.frame for step in self.plan.steps.values() if step.overlaps}
            self._alone = self.moved if moving and not there & moving else self.plan
        return self._alone if watch is None or self._asks_often(self._alone) else self.plan


class Executable:
    """A lowered graph ready to run, any number of times and from several threads at once.

    Parameters
    ----------
    lowered : Lowered
        See ``lowering.lower``.
    donated : collection of int
        Feeds that a run may write to.
    owned : Ownership, optional
        What may be written to of those.
    faster : callable, optional
        Gives a source of faster kernels, or None, once runs have taken long.

    Notes
    -----
    What later runs go by is one reference, which a run reads once. One thread at a time looks for faster kernels; the
    others go on without. Of the seconds that runs have taken some may get lost where several end at the same time: they
    only say roughly when to look.
    """

    def __init__(
        self, lowered: Lowered, donated: Collection[int] = (), owned: Ownership | None = None,
        faster: Callable[[], Source | None] | None = None,
    ) -> None:  # fmt: skip
        self.donated = donated
        self._owned = owned or Ownership()
        #: held by the thread that looks for faster kernels: it alone changes the next, and ``_due``, ``_pieces``,
        #: ``_loops`` and ``_ways``
        self._looking = _KIND.lock()
        self._faster: Source | Callable[[], Source | None] | None = faster
        #: seconds that runs have taken, and after which it is looked for faster kernels
        self._spent, self._due = 0.0, LONG
        #: what the last run was like that was traced, in one line, and what it went by
        self.seen = ""
        self.seen_by: Plan | None = None
        #: with NumPy's kernels
        self._numpys = lowered
        #: what runs go by for which floating-point errors are asked: faster kernels do not tell them; made by the first
        self._telling: Plan | None = None
        #: for which it is waited for faster kernels: to find them takes longer than many a run
        self._pieces: Sequence[Piece] = ()
        #: loops that may do without the interpreter
        self._loops: HopedLoops | None = None
        #: the process in which the background thread is to look; any recent value will do: at worst it looks twice
        self._asked = -1
        #: what runs go by: a run reads this once
        self._ways = self._planned(lowered)

    @property
    def plan(self) -> Plan:
        """What runs go by that begin now."""
        return self._ways.plan

    @property
    def lowered(self) -> Lowered:
        """The graph of that, with a node for each kernel."""
        return self._ways.lowered

    def _planned(self, lowered: Lowered, machine: Machine = MappingProxyType({})) -> Ways:
        """Return how runs go by a graph that do batches by what there is of ``machine``."""
        lowered, plan, moved = _plans(lowered, self._owned, machine)
        return Ways(lowered, plan, self._owned, moved)

    def run(
        self,
        feed_values: Sequence[Any],
        state: RunState = EAGER,
        *,
        threads: int | None = None,
        timeout: float | None = None,
        memory: MemoryLimit | None = None,
    ) -> list[Any]:
        """Compute the fetches.

        Parameters
        ----------
        feed_values : sequence of array
            One per feed of the lowered graph.
        state : RunState
            Handed to stateful kernels.
        threads : int, optional
            How many threads may work on it, the calling one included; default ``config.get_num_threads()``.
        timeout : float, optional
            Seconds after which the run is stopped.
        memory : MemoryLimit, optional
            How much kernels may fill; default ``config.get_memory_limit()``.

        Returns
        -------
        list
            One value per fetch.

        Raises
        ------
        TimeoutError
            If it took longer than ``timeout``. A kernel that is running is waited for, a ``py_function`` is not.
        RuntimeError
            If nothing can run any more and a fetch has no value.
        BaseException
            What a kernel raised, with the user's own lines in its traceback.
        """
        ways = self._ways
        count = _count(ways.plan, threads, len(feed_values))
        watch, budget = _watch(ways, timeout, count), _budget(memory)
        is_silent, before, limit, begin = not asked(), setting(), DEADLINE.get(), perf_counter()
        tokens = State(self._plan_of(ways, is_silent, watch, budget, count))
        try:
            DEADLINE.set(limit if watch is None else watch.deadline)
            if is_silent:
                silence()
            run = way_of_run(tokens.plan, count, watch, budget) if count > 1 and ways.plan.parallel else run_alone
            # a kernel computes: a user's function called by one must not add to the graph being built around us
            with _HIDDEN if current_graph() is None else eager(), _shown(tokens) if boards else _HIDDEN:
                in_time(run, tokens, donate(feed_values, self.donated), state, watch, budget)
            results = results_of(tokens)
            if is_silent:
                self._note(perf_counter() - begin)
            return list(map(returned, results)) if self.donated else results
        finally:
            restore(before)
            DEADLINE.set(limit)
            tokens.close()
            self.seen, self.seen_by = _seen(watch, tokens) or (self.seen, self.seen_by)

    def _note(self, seconds: float) -> None:
        """Note that a run has taken so long, and go on with faster kernels once they are there."""
        if self._faster is None and self._loops is None:
            return
        self._spent += seconds
        if self._spent < self._due:
            return
        if len(self._numpys.nodes) < MANY:
            self._look()
            return
        with undivided():
            from .faster_kernels import looked_for_beside

        if not (is_asked := self._asked == generation()):
            self._asked = generation()
        if not looked_for_beside(self._look_there, is_asked):
            self._due = inf

    def _look_there(self) -> None:
        """Look on the background thread, where settings of the caller hold."""
        try:
            self._look()
        except Exception:  # whatever is wrong, or gone, the program runs without
            self._faster = self._loops = None
        finally:
            self._asked = -1

    def _look(self) -> None:
        """Go on with what is faster as far as it is there, unless somebody does."""
        if self._looking.acquire(blocking=False):
            try:
                if self._loops is not None:
                    self._look_at_loops(self._loops)
                elif self._faster is not None:
                    self._look_for_kernels(self._faster)
            finally:
                self._looking.release()

    def _look_for_kernels(self, faster: Source | Callable[[], Source | None]) -> None:
        """Go on with what faster kernels there are. The lock is held."""
        with undivided():
            from .faster_kernels import of_batches, with_kernels
            from .overlapped_parts import OverlappedParts

        source = self._faster = faster() if callable(faster) else faster
        if source is None:
            return
        is_first = source is not faster and not self.donated  # code of parts is made sooner than that of larger ones
        if is_first and self._hopes(OverlappedParts(self._numpys, self._owned, by_itself, by_itself_from), source):
            return
        pieces = self._pieces = self._pieces or list(_pieces(self._numpys, self._owned))
        found = source.kernels(pieces, self._spent, self.plan.parallel and config.get_num_threads() > 1)
        if found is None:
            self._due = source.due
            return
        self._faster, self._pieces = None, ()
        if found:
            pieces = [*pieces, *[part for piece in pieces if piece.key not in found for part in piece.parts()]]
            lowered, machine = with_kernels(self._numpys, pieces, found), of_batches(pieces, found)
            self._ways = self._planned(lowered, machine)
            if len(lowered.frames) > 1 and (self.plan.sharing or middling_kernels(lowered, light_kernels(lowered))):
                self._hopes(self._overlapped_loops(machine), source)

    def _hopes(self, hoped: Hoped | None, source: Source) -> bool:
        """Wait for the code of what may do without the interpreter; returns whether there is any such thing. The lock
        is held."""
        if hoped is None or not hoped.forms:
            return False
        with undivided():
            from .overlapped_loops import HopedLoops

        self._loops, self._due = HopedLoops(hoped, source), 0.0
        return True

    def _overlapped_loops(self, machine: Machine) -> Hoped | None:
        """Return loops that may do without the interpreter."""
        with undivided():
            from .overlapped_loops import OverlappedLoops

        joined, single = with_joined_steps(self.lowered, self._owned, machine, True)
        plan = Plan(joined, self._owned, single, self.lowered)
        if not plan.sharing:
            return None
        there = {node.frame for node in self._ways.moved.nodes if node.kind is not GONE.kind}
        whole = set(range(len(joined.frames))) - there
        runs = by_itself, by_itself_from
        return OverlappedLoops(self._numpys, self.lowered, joined, plan, self._owned, *runs, False, whole)

    def _look_at_loops(self, loops: HopedLoops) -> None:
        """Go on with loops that do without the interpreter once they are there. The lock is held."""
        found = loops.joined(self._spent)
        self._due = loops.due
        if not loops.is_hoped:
            self._loops, self._due = None, 0.0
        if found is not None:
            self._faster = None
            plan = Plan(found, self._owned, None, self.lowered)
            self._ways = Ways(self.lowered, plan, self._owned, self._ways.moved, found)
            self._loops = loops.around(found, plan)
            self._due = 0.0

    def _plan_of(
        self, ways: Ways, is_silent: bool, watch: Watch | None, budget: Budget | None, threads: int
    ) -> Plan:  # fmt: skip
        """Return what a run goes by."""
        if not is_silent and (ways.lowered is not self._numpys or ways.plan.stacked or ways.plan is not ways.moved):
            if self._telling is None:
                self._telling = Plan(self._numpys, self._owned)
            return self._telling
        if budget is not None:
            is_watched = watch is not None and (watch.seen is not None or not ways.may_join(watch))
            return ways.node_by_node() if boards or is_watched else ways.limited(budget)
        if watch is not None and watch.seen is not None:
            plan = ways.node_by_node() if boards else ways.traced()
            watch.seen.run.is_joined = plan.nodes is not ways.lowered.nodes
            return plan
        if not ways.may_join(watch):
            return ways.node_by_node()
        if boards:
            return ways.moved
        return ways.plan if threads > 1 else ways.alone(watch)


def _plans(lowered: Lowered, owned: Ownership, machine: Machine) -> tuple[Lowered, Plan, Plan]:
    """Return a graph with a node for each kernel, what runs go by, and that in which each loop is one."""
    if len(lowered.frames) > 2:  # where a loop goes forward and one back
        with undivided():
            from .gradient_products import with_gradient_products

        lowered = with_gradient_products(lowered)
    joined, single = with_joined_steps(lowered, owned, machine)
    plan = moved = Plan(joined, owned, single, lowered)
    if plan.sharing and len(lowered.frames) > 1 and not machine:
        with undivided():
            from .split_plans import joined_apart

        if (found := joined_apart(lowered, owned)) is not None:
            plan = Plan(found[1], owned, found[2], found[0])
    return lowered, plan, moved


def _pieces(numpys: Lowered, owned: Ownership) -> Iterator[Piece]:
    """Return what may be machine code, of the graph as it is joined where all of that is."""
    with undivided():
        from .loop_parts import part_pieces
        from .loop_pieces import loop_pieces
        from .pieces import pieces_of

    joined, _ = with_joined_steps(numpys, owned, None)
    whole = [*loop_pieces(numpys, joined.nodes), *part_pieces(numpys, joined.nodes)]
    return pieces_of(numpys, joined.nodes, whole)


def _count(plan: Plan, threads: int | None, values: int) -> int:
    """Return how many threads may work on a run that is given so many values."""
    if values != len(plan.feeds):
        raise ValueError(f"{len(plan.feeds)} feeds are needed, got {values} values [AL502]")
    if threads is not None:
        return config.check_num_threads(threads)
    return config.get_num_threads() if plan.parallel else 1  # asks the system


def _watch(ways: Ways, timeout: float | None, threads: int) -> Watch | None:
    watch = Watch.needed(timeout)
    if watch is not None and watch.recorder is not None:
        with undivided():
            from .seen_runs import Seen

        watch.seen = Seen(watch.recorder, ways.lowered, threads if ways.plan.parallel else 1)
    return watch


def _seen(watch: Watch | None, tokens: State) -> tuple[str, Plan] | None:
    """Return what a run was like that is over, if it was traced, and what it went by."""
    return None if watch is None or watch.seen is None else (watch.seen.ended(), tokens.plan)


def _shown(tokens: State) -> AbstractContextManager[None]:
    """Let it be seen how far the loops of a run are."""
    with undivided():
        from .open_frames import shown

    return shown(tokens)


def _budget(memory: MemoryLimit | None) -> Budget | None:
    most = config.get_memory_limit()
    if memory is None and most is None:
        return None
    with undivided():
        from .memory_limit import budget_of

    return budget_of(memory, most or 0)
