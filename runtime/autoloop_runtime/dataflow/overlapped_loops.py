"""Loops with heavy kernels that can run beside each other, some of which are machine code: one step of the plan, that
moves their tokens in native memory (``core_runs``).

So are those of the loops in it that are not one step. Until all of that is compiled, and where somebody looks how far
they are, tokens are moved as everywhere else; and so they are from where a kernel has failed, to tell which stands
first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

from ..analysis.cost import expected_trips
from ..analysis.ownership import Ownership
from ..analysis.weight import Weight
from ..base import config
from ..base.dataclass import Protocol
from ..base.forks import undivided
from ..ir.graph import Node
from ..ir.run_state import RunState
from .batched_loops import with_loops
from .core_calls import deadline_of
from .core_frame_tables import Untold
from .core_handover import gone_on, reached
from .core_runs import CoreRun, keep_memory, narrow
from .core_tables import Enter, LoopTables
from .critical_path import CriticalPaths
from .execution_plan import Plan
from .flat_graph import FlatNode, Kind, Lowered, Port, nanoseconds
from .flat_graph import reached as come_to_from
from .frames import State
from .kernels import Seen, TimeIsOver, Until, Unwanted, Watch
from .loops_alone import alone
from .overlap import overlapping
from .piece_graphs import BOOLEAN
from .step_forms import StepCode, StepForm, step_forms
from .token_forms import TokenForm

if TYPE_CHECKING:
    from .faster_kernels import Source
    from .memory_limit import Budget

Run = Callable[..., list[Any]]  # of a plan, values, a RunState, a Watch; ``most``: bytes of what goes ahead
GoOn = Callable[..., list[Any]]  # of a State, what is ready, a RunState, a Watch; likewise
#: threads that work on one loop at once
MOST = 16
#: kernels that take long, and stand outside of a loop, which are looked at
MANY = 16
#: nanoseconds of a loop in a loop; a run of its own takes some 50 µs to begin and to end
SHORT = 500_000.0
_CALLED = (Kind.KERNEL, Kind.BATCH)
#: what hands its first input on
_HANDING_ON = (
    Kind.SWITCH, Kind.IDENTITY, Kind.ENTER, Kind.EXIT, Kind.NEXT_ITERATION, Kind.MERGE, Kind.LOOP_COND,
)  # fmt: skip


class OverlappedLoop:
    """What is called for such a loop.

    Attributes
    ----------
    frame : int
    blas : bool
        Several threads may call BLAS in it.
    most : int
        Bytes that it may take, 0 if nobody wants to know.
    """

    overlaps = is_native = True

    def __init__(self, frame: int, tables: LoopTables, enter: Enter, otherwise: Plan, run: Run, go_on: GoOn) -> None:
        self.frame = frame
        self.blas = any(one.is_blas for one in tables.called.values())
        self._tables, self._enter, self._otherwise, self._run, self._go_on = tables, enter, otherwise, run, go_on
        self.most, self._window = 0, 0
        self._memory: Budget | None = None

    def __call__(self, state: RunState, args: list[Any]) -> tuple[Any, ...]:
        """Run it; ``args`` is emptied."""
        if self._memory is None:
            return self._called(state, args, 0)
        with self._memory.promised(self.most) as has_room:
            return self._called(state, args, self._window if has_room else 1)

    def _called(self, state: RunState, args: list[Any], window: int) -> tuple[Any, ...]:
        """Run it with so many iterations at once, 0: as many as there may be."""
        unwanted, seen = getattr(args, "unwanted", ()), getattr(args, "seen", None)
        run = CoreRun(self._tables, self._enter, getattr(args, "threads", 1), unwanted, state, seen)
        narrow(run, window)
        found = run.run(args)
        if unwanted:
            raise Unwanted(reached(run))
        given = args.copy()
        args.clear()
        if found is not None:
            keep_memory(run)
            return found
        if run.is_left:
            return tuple(gone_on(run, state, Wanted(unwanted, seen), self._go_on))
        return tuple(self._run(self._otherwise, given, state, Wanted(unwanted, seen)))

    def narrowed(self, budget: Budget) -> OverlappedLoop | None:
        """Return one that takes no more bytes than what goes ahead may, with fewer iterations at once if need be; None
        if it cannot. Where other runs take much already, it has one iteration at once."""
        with undivided():
            from .limited_plans import Needs

        needs, made = Needs(self._tables), copy(self)
        made._window = needs.window(budget.ahead, self._tables.window)
        if not made._window:
            return None
        made.most, made._memory = int(needs.besides + made._window * needs.each), budget
        made._run, made._go_on = partial(self._run, most=budget.ahead), partial(self._go_on, most=budget.ahead)
        return made

    def steps(self) -> Iterator[FlatNode]:
        """Yield what is called in it."""
        return iter([one.step.flat for one in self._tables.called.values()])

    def place(self, error: BaseException) -> tuple[FlatNode, list[tuple[Node, int]]] | None:
        """Return nothing: an error that comes out of it has been told of."""

    def reached(self, error: Unwanted) -> list[str]:
        """Return the lines that tell how far it was, and loops in it, when it ended with ``error``."""
        found: list[str] = error.args[0] if error.args else []
        return found


class Wanted(Watch):
    """Ends a run that nobody waits for any more; ``seen``: what is noted of it."""

    def __init__(self, unwanted: Sequence[bool], seen: Seen | None = None) -> None:
        super().__init__(None, None)
        self._unwanted, self.seen = unwanted, seen

    def expired(self) -> bool:
        return bool(self._unwanted)

    def unwanted(self) -> Any:
        return Until(self.expired, deadline_of(self._unwanted))

    def timed_out(self, tokens: State, over: TimeIsOver | None = None) -> Exception:
        return Unwanted()


class OverlappedLoops:
    """The loops of a graph that may be run so.

    Parameters
    ----------
    numpys, lowered, joined : Lowered
        See ``step_forms``.
    plan : Plan
        Of ``joined``.
    owned : Ownership
    run, go_on : callable
        Runs a plan on one thread; runs one to the end that has begun.
    around : bool
        Only loops around such as are one step by now.
    whole : collection of int
        Loops that are one step, or in one, if they are not run so.

    Attributes
    ----------
    forms : list of StepForm
        Of all their kernels.
    """

    def __init__(
        self, numpys: Lowered, lowered: Lowered, joined: Lowered, plan: Plan, owned: Ownership, run: Run, go_on: GoOn,
        around: bool = False, whole: Collection[int] = (),
    ) -> None:  # fmt: skip
        self._numpys, self._lowered, self._joined, self._plan, self._owned = numpys, lowered, joined, plan, owned
        self._run, self._go_on = run, go_on
        self._members: dict[int, list[FlatNode]] = {}
        self._users: dict[int, list[int]] = {}
        nodes = [node for node in joined.nodes if node.kind is not Kind.GONE]
        forms = {one.place: one for one in step_forms(numpys, lowered, nodes)} if plan.parallel else {}
        for k in range(1, len(lowered.frames) if forms else 0):  # those around others before them
            those = [node for node in nodes if self._is_inside(node.frame, k)]
            if not those or (k in whole and self._is_short(k)):
                continue
            if (not around or any(map(_is_overlapped, those))) and self._may_be_one(those, forms):
                self._members[k] = those
        long = [node for node in nodes if self._is_long(node)] if self._members else []
        self._members = {k: those for k, those in self._members.items() if self._is_apart(those, long)}
        kernels = {node.index: None for those in self._members.values() for node in _kernels(those)}
        self.forms = [forms[k] for k in kernels if k in forms]

    def _is_inside(self, frame: int, outer: int) -> bool:
        """Return whether a loop is another, or in it."""
        while frame > outer:
            frame = self._lowered.frames[frame].parent
        return frame == outer

    def _may_be_one(self, members: Sequence[FlatNode], forms: Mapping[int, StepForm]) -> bool:
        kernels = _kernels(members)
        if not any(node.index in forms for node in kernels):
            return False
        steps = [self._plan.steps[node.index] for node in members if node.kind in (*_CALLED, Kind.WHOLE)]
        return any(step.flat.index in self._plan.sharing for step in steps) and not any(step.bulky for step in steps)

    def _is_short(self, frame: int) -> bool:
        """Return whether a loop in a loop takes too little time to be worth beginning a run of its own each time."""
        info = self._lowered.frames[frame]
        if not info.parent or info.source is None:
            return False
        kernels = [node for node in self._lowered.nodes if node.frame == frame and node.kind is Kind.KERNEL]
        return expected_trips(info.source) * sum(map(nanoseconds, kernels)) < SHORT

    def _is_long(self, node: FlatNode) -> bool:
        step = self._plan.steps.get(node.index)
        return step is not None and (node.kind is Kind.WHOLE or step.weight is Weight.HEAVY)

    def _is_apart(self, members: Sequence[FlatNode], long: Sequence[FlatNode]) -> bool:
        """Return whether nothing outside of a loop that takes long, and that it waits for, or that waits for it, can
        run beside what is in it: as one step a loop begins when it has been given all, and gives all at its end."""
        frames, own = {node.frame for node in members}, {node.index for node in members if self._is_long(node)}
        waits = self._waiting([node.index for node in members])
        outside = [one.index for one in long if one.frame not in frames]
        connected = [k for k in outside if k in waits or any(node.index in self._waiting([k]) for node in members)]
        if len(connected) > MANY:
            return False
        return not any(k in overlapping(self._joined, {*own, k}) for k in connected)

    def _waiting(self, those: Sequence[int]) -> set[int]:
        """Return the nodes that wait for one of these, in any number of steps."""
        if not self._users:
            for node in self._joined.nodes:
                for index, _ in node.inputs + node.controls:
                    self._users.setdefault(index, []).append(node.index)
        users = self._users
        return come_to_from([k for one in those for k in users.get(one, ())], lambda k: users.get(k, ()))

    def around(self, found: Lowered, plan: Plan) -> OverlappedLoops:
        """Return the loops around those that are one step in ``found``."""
        runs = self._run, self._go_on
        return OverlappedLoops(self._numpys, self._lowered, found, plan, self._owned, *runs, True)

    def joined(self, codes: Mapping[int, StepCode], enter: Enter, workers: int) -> Lowered | None:
        """Return the graph with one node in place of each of those loops of which there is all code; None if there is
        none."""
        loops = dict(self._made(codes, enter, workers))
        members = {frame: self._members[frame] for frame in loops}
        return with_loops(self._joined, self._lowered, members, loops.__getitem__) if loops else None

    def _made(
        self, codes: Mapping[int, StepCode], enter: Enter, workers: int
    ) -> Iterator[tuple[int, OverlappedLoop]]:  # fmt: skip
        made = list[int]()
        for frame, members in self._members.items():
            if any(self._is_inside(frame, outer) for outer in made):
                continue
            own = {node.index: codes[node.index] for node in _kernels(members) if node.index in codes}
            otherwise = Plan(alone(self._joined, members), self._owned)
            try:
                forms = forms_of_tokens(members, own)
                tables = LoopTables(otherwise, frame, own, forms, CriticalPaths.of(self._plan), workers)
            except Untold:
                continue
            made.append(frame)
            yield frame, OverlappedLoop(frame, tables, enter, otherwise, self._run, self._go_on)


class Hoped(Protocol):
    """What may be run so: ``OverlappedLoops``, and ``overlapped_parts``."""

    forms: list[StepForm]

    def joined(self, codes: Mapping[int, StepCode], enter: Enter, workers: int) -> Lowered | None: ...
    def around(self, found: Lowered, plan: Plan) -> Hoped | None: ...


class HopedLoops:
    """Such loops as long as it is not known whether there is code of them.

    Attributes
    ----------
    due : float
        How many seconds runs must have taken before it is asked the next time.
    is_hoped : bool
    """

    def __init__(self, loops: Hoped, source: Source) -> None:
        self._loops, self._source, self._cores = loops, source, source.cores()
        self.due, self.is_hoped = self._cores.due, True

    def around(self, found: Lowered, plan: Plan) -> HopedLoops | None:
        """Return the loops around those that are one step in ``found``, which ``joined`` gave; None if there are
        none."""
        loops = self._loops.around(found, plan)
        return HopedLoops(loops, self._source) if loops is not None and loops.forms else None

    def joined(self, spent: float) -> Lowered | None:
        """Return what ``OverlappedLoops.joined`` does; None as long as it is not known."""
        cores = self._cores
        codes = cores.steps(self._loops.forms, spent)
        self.due = cores.due
        if codes is None:
            return None
        self.is_hoped = False
        if cores.enter is None:
            return None
        return self._loops.joined(codes, cores.enter, min(max(config.get_num_threads(), os.cpu_count() or 1), MOST))


def _is_overlapped(node: FlatNode) -> bool:
    return node.kind is Kind.WHOLE and bool(node.value.overlaps)


def _kernels(members: Sequence[FlatNode]) -> list[FlatNode]:
    return [node for node in members if node.kind in _CALLED]


def forms_of_tokens(members: Sequence[FlatNode], codes: Mapping[int, StepCode]) -> dict[Port, TokenForm]:
    """Return how the tokens of a loop lie in memory, by ports: as those say that make or take them.

    Raises
    ------
    Untold
        If they do not say the same.
    """
    same, known = dict[Port, Port](), dict[Port, TokenForm]()

    def root(port: Port) -> Port:
        while port in same:
            port = same[port]
        return port

    for node in members:
        if node.kind in _HANDING_ON:
            ports = node.inputs if node.kind is Kind.MERGE else node.inputs[:1]
            for port in (*ports, *[(node.index, k) for k in range(1, 1 + (node.kind is Kind.SWITCH))]):
                one, other = root(port), root((node.index, 0))
                if one != other:
                    same[one] = other
    truth = TokenForm((BOOLEAN,))
    told = list[tuple[Port, TokenForm | None]]()
    told += [(node.inputs[1], truth) for node in members if node.kind is Kind.SWITCH]
    for node in members:
        code = codes.get(node.index)
        if code is not None:
            told += [*zip(node.inputs, code.inputs), *[((node.index, k), form) for k, form in enumerate(code.outputs)]]
    for port, form in told:
        if form is not None and known.setdefault(root(port), form) != form:
            raise Untold
    every = [port for node in members for port in node.inputs]
    every += [(node.index, k) for node in members for k in range(max(2, node.outputs))]
    return {port: known[root(port)] for port in every if root(port) in known}
