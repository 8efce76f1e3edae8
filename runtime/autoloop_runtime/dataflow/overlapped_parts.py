"""Kernels outside of loops that fall into many parts which need not wait for each other, all of which are machine code:
one step of the plan, that hands them out in native memory (``core_runs``).

It is run as a loop of one iteration would be, see ``overlapped_loops``. Its parts are small, since to take the next one
takes next to nothing; and most of them are of one kind, so that there is little to compile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf

from ..analysis.aliasing import is_fresh
from ..analysis.cost import ARRAY_CALL
from ..analysis.failure import can_fail
from ..analysis.ownership import Ownership
from ..analysis.sizes import bytes_of
from ..analysis.weight import Weight, is_bulky
from ..base.dataclass import replace
from .batches import LEAST, NATIVE_LEAST, with_batches
from .bundles import tensor_at
from .core_frame_tables import Untold
from .core_tables import Enter, LoopTables
from .critical_path import CriticalPaths
from .dependence import LONG, Dependence
from .execution_plan import Plan
from .flat_graph import GONE, FlatNode, FrameInfo, Kind, Lowered, Port, nanoseconds, renamed
from .overlapped_loops import GoOn, OverlappedLoop, Run, forms_of_tokens
from .pieces import only_gives
from .step_forms import StepCode, StepForm, step_forms
from .whole_loops import is_light, with_joined_steps

#: nanoseconds of all of them for which a run in native memory is worth beginning
WORTH = 20 * LONG
#: how much longer all of them take than the longest chain of them
GAIN = 1.5
#: nanoseconds of them for each byte that is copied into the memory of a run and out of it, at least
COPY = 4.0
#: the frame that they are put in
FRAME = 1


class OverlappedParts:
    """The kernels of a graph without loops that may be run so.

    Parameters
    ----------
    lowered : Lowered
        With NumPy's kernels.
    owned : Ownership
    run, go_on : callable
        Runs a plan on one thread; runs one to the end that has begun.

    Attributes
    ----------
    forms : list of StepForm
        Of all of them; none if there are none.
    """

    def __init__(self, lowered: Lowered, owned: Ownership, run: Run, go_on: GoOn) -> None:
        self._lowered, self._owned, self._run, self._go_on = lowered, owned, run, go_on
        self.forms: list[StepForm] = []
        times, self._members = _members_of(lowered)
        if sum([times[k] for k in self._members]) < WORTH:
            return
        found = _alone(lowered, self._members)
        if found is None:
            return
        self._place, self._given, self._alone = found
        copied = sum([_bytes(lowered, port) for port in (*self._given, *self._alone.fetches)])
        if copied * COPY > sum(times.values()):
            return
        light = {node.index for node in self._alone.nodes if node.kind is Kind.KERNEL}
        joined = with_batches(self._alone, Dependence(self._alone, light), light, owned, None, True)
        kernels = [node for node in joined.nodes if node.kind in (Kind.KERNEL, Kind.BATCH)]
        self._times = {node.index: sum([times[k] for k in _parts_of(node)]) for node in kernels}
        if not _is_wide(kernels, self._times):
            return
        forms = list(step_forms(self._alone, self._alone, kernels))
        if len(forms) == len(kernels):
            self.forms, self._joined = forms, joined

    def joined(self, codes: Mapping[int, StepCode], enter: Enter, workers: int) -> Lowered | None:
        """Return the graph with one node in place of all of them; None if there is not the code of each."""
        graph = entered(self._joined)
        plan = Plan(graph, self._owned)
        for step in plan.steps.values():
            if self._times.get(step.flat.index, 0.0) >= NATIVE_LEAST:
                step.weight = Weight.HEAVY
        members = [node for node in graph.nodes if node.frame == FRAME and node.kind is not Kind.GONE]
        try:
            forms = forms_of_tokens(members, codes)
            tables = LoopTables(plan, FRAME, codes, forms, CriticalPaths.of(plan), workers)
        except Untold:
            return None
        outside = self._outside(OverlappedLoop(0, tables, enter, plan, self._run, self._go_on))
        return with_joined_steps(outside, self._owned)[0]

    def around(self, found: Lowered, plan: Plan) -> None:
        """Return nothing: there are no loops around them."""

    def _outside(self, called: OverlappedLoop) -> Lowered:
        nodes, place = list(self._lowered.nodes), self._place
        source = nodes[place].source
        for k in self._members:
            nodes[k] = GONE
        results = {port: (place, k) for k, port in enumerate(self._alone.fetches)}
        name = self._lowered.nodes[place].name
        nodes[place] = FlatNode(
            place, Kind.WHOLE, name, self._given, (), 0, source, None, {}, len(results), False, called
        )  # fmt: skip
        fetches = tuple([results.get(port, port) for port in self._lowered.fetches])
        return replace(self._lowered, nodes=tuple([renamed(node, results) for node in nodes]), fetches=fetches)


def _members_of(lowered: Lowered) -> tuple[dict[int, float], set[int]]:
    """Return how long kernels take as machine code that may be among them, and those of which no two have to wait for
    one that may not; none where there is anything beside them that takes long."""
    nodes = lowered.nodes
    if len(lowered.frames) > 1 or any(node.kind is Kind.SWITCH for node in nodes):
        return {}, set()
    #: how often a way to each node, at most, comes into those that may be, and out of them
    changes = [0] * len(nodes)
    times, sums = dict[int, float](), dict[int, float]()
    for node in nodes:
        is_one = _may_be_one(node)
        if node.kind is Kind.KERNEL and not is_one and not is_light(node):
            return {}, set()
        before = [changes[k] + ((k in times) is not is_one) for k, _ in (*node.inputs, *node.controls)]
        here = changes[node.index] = max(before, default=0)
        if is_one:
            time = times[node.index] = max(nanoseconds(node) - ARRAY_CALL, LEAST)
            sums[here] = sums.get(here, 0.0) + time
    most = max(sums, key=sums.__getitem__, default=0)
    return times, {k for k in times if changes[k] == most}


def _may_be_one(flat: FlatNode) -> bool:
    """Return whether a kernel only computes, cannot fail, and waits for what it is given."""
    node = flat.source
    if flat.kind is not Kind.KERNEL or node is None or flat.controls or not flat.inputs or not only_gives(flat, node):
        return False
    return not can_fail(node) and not is_bulky(node) and all(map(is_fresh, node.outputs))


def _alone(lowered: Lowered, members: Collection[int]) -> tuple[int, tuple[Port, ...], Lowered] | None:
    """Return where they can be one step, what that is given, and them as a graph of their own, whose nodes keep their
    places; None if there is no such place."""
    nodes = lowered.nodes
    own = set(members)
    given, wanted = dict[Port, None](), dict[Port, None]()
    last = len(nodes)
    for node in nodes:
        for port in (*node.inputs, *node.controls):
            if node.index in own and port[0] not in own and nodes[port[0]].kind is not Kind.CONST:
                given[port] = None
            elif node.index not in own and port[0] in own:
                wanted[port] = None
                last = min(last, node.index)
    wanted.update(dict.fromkeys([port for port in lowered.fetches if port[0] in own]))
    places = [k for k in own if max([port[0] for port in given], default=-1) < k < last]
    if not places or not given or len({k for k, _ in given}) < len(given):
        return None
    made = [node if k in own or node.kind is Kind.CONST else GONE for k, node in enumerate(nodes)]
    for k, number in given:
        if number:
            return None
        made[k] = FlatNode(k, Kind.FEED, f"given/{k}", (), (), 0, nodes[k].source, None, {}, 1, False, None)
    feeds, frames = tuple([k for k, _ in given]), lowered.frames[:1]
    return min(places), tuple(given), Lowered(tuple(made), frames, feeds, tuple(wanted))


def entered(lowered: Lowered) -> Lowered:
    """Return a graph with all its kernels in a frame of one iteration."""
    nodes, enters = list(lowered.nodes), dict[Port, Port]()

    def add(kind: Kind, port: Port) -> Port:
        place = len(nodes)
        name = f"{kind.value}/{port[0]}/{port[1]}"
        nodes.append(FlatNode(place, kind, name, (port,), (), FRAME, None, None, {}, 1, False, None))
        return place, 0

    for k in lowered.feeds:
        enters[k, 0] = add(Kind.ENTER, (k, 0))
    for k, node in enumerate(lowered.nodes):
        if node.kind in (Kind.KERNEL, Kind.BATCH):
            nodes[k] = replace(renamed(node, enters), frame=FRAME)
    exits = tuple([add(Kind.EXIT, port) for port in lowered.fetches])
    frames = (*lowered.frames, FrameInfo(FRAME, 0, "parts", None, 1))
    return replace(lowered, nodes=tuple(nodes), frames=frames, fetches=exits)


def _bytes(lowered: Lowered, port: Port) -> float:
    """Return how large a value is; of one that is not known, larger than any."""
    node = lowered.nodes[port[0]]
    is_fed = node.kind is Kind.FEED and node.source is not None
    tensor = node.source.outputs[0] if is_fed else tensor_at(lowered, port)  # type: ignore[union-attr]
    size = None if tensor is None else bytes_of(tensor)
    return inf if size is None else size


def _parts_of(node: FlatNode) -> Sequence[int]:
    members: Sequence[int] = node.value.members if node.kind is Kind.BATCH else (node.index,)
    return members


def _is_wide(kernels: Sequence[FlatNode], times: Mapping[int, float]) -> bool:
    """Return whether another thread gains much: whether all take longer than the longest chain of them."""
    ends = dict[int, float]()
    for node in kernels:
        before = [ends.get(k, 0.0) for k, _ in (*node.inputs, *node.controls)]
        ends[node.index] = times[node.index] + max(before, default=0.0)
    return sum(times.values()) > GAIN * max(ends.values(), default=0.0)
