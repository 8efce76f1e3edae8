"""How much is left to do behind each kernel: the longest chain of kernels from it to the end of the run.

Of the kernels that are ready the one goes first behind which most is left; so nobody waits at the end for a chain that
was begun too late, and a pipeline fills by itself. What kernels take is estimated first, and then learnt: runs on
several threads note what those take that are worth another thread.

In a loop, what is left behind a node in iteration ``i`` of ``n`` is what is left in that iteration, and ``rate`` for
each of the iterations after it: the longest cycle, by iteration, that it leads to. So a chain that has got ahead of
another comes after it. How often a loop runs is estimated and learnt, too. Nothing but the order depends on all this.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.cost import HEAVY, expected_trips
from ..analysis.weight import Weight
from .execution_plan import Plan, Step
from .flat_graph import FlatNode, Kind, Lowered, nanoseconds
from .frames import Iteration

#: iterations of a loop that are walked to see what each adds; the first half finds chains that lead to longer ones
WALKED = 8
#: a mean is of about so many calls
REMEMBERED = 8
#: where what a kernel takes has changed by this factor, paths are found again
CHANGED = 1.25


class CriticalPaths:
    """What is left behind each step of a plan, for all its runs."""

    def __init__(self, plan: Plan) -> None:
        self._lowered, self._nodes, self._frames = plan.source, plan.nodes, plan.frames
        self._loops = [step for step in plan.steps.values() if step.flat.kind is Kind.WHOLE]
        self._joined = {step.flat.index for step in self._loops}
        #: nanoseconds by node, measured, and how often; several threads change single items, and may lose some
        self._measured: dict[int, tuple[float, int]] = {}
        self._runs = 0
        self._rest: _Rest | None = None

    @staticmethod
    def of(plan: Plan) -> CriticalPaths:
        """Return what is known of a plan; of two that are made at once one is lost, with what it has learnt."""
        paths: CriticalPaths | None = plan.paths
        if paths is None:
            paths = plan.paths = CriticalPaths(plan)
        return paths

    def took(self, step: Step, nanoseconds: int) -> None:
        """Note how long a kernel has taken."""
        mean, count = self._measured.get(step.flat.index, (0.0, 0))
        mean += (nanoseconds - mean) / min(count + 1, REMEMBERED)
        self._measured[step.flat.index] = mean, count + 1

    def ran(self) -> None:
        """Note that a run has ended; what was learnt is looked at after 1, 2, 4, ... of them.

        Loops that are run as one are shared out like heavy kernels if they take as long: what a thread keeps for itself
        would have to wait for them.
        """
        self._runs += 1
        if self._runs & (self._runs - 1):
            return
        for step in self._loops:
            if self._measured.get(step.flat.index, (0.0, 0))[0] > HEAVY:
                step.weight = Weight.HEAVY
        rest = self._rest
        if rest is not None and self._differs(rest):
            self._rest = None

    def left(self, it: Iteration, step: Step) -> float:
        """Return nanoseconds from the beginning of a kernel to the end of the run, if nothing has to wait."""
        rest = self._known()
        here, rate = rest.nodes[step.flat.index]
        while True:
            frame = it.frame
            number = frame.plan.number
            here += rate * (max(rest.trips[number] - 1.0, frame.newest.index) - it.index)
            if frame.parent is None:
                return here
            behind, rate = rest.behind[number]
            here += behind
            it = frame.parent

    def behind(self, step: Step) -> tuple[float, float]:
        """Return nanoseconds from the beginning of a kernel to the end of its loop, in the last iteration, and for each
        iteration before."""
        return self._known().nodes[step.flat.index]

    def around(self, frame: int) -> tuple[float, float, float]:
        """Return nanoseconds from the end of a loop to the end of the frame around it, in its last iteration, and for
        each iteration before; and the number of the last iteration of the loop itself."""
        rest = self._known()
        return *rest.behind[frame], max(rest.trips[frame] - 1.0, 0.0)

    def _known(self) -> _Rest:
        rest = self._rest
        if rest is None:
            rest = self._rest = _Rest(self._lowered, self._nodes, self._times(), self._trips())
        return rest

    def _times(self) -> list[float]:
        measured, times = self._measured.copy(), [0.0] * len(self._lowered.nodes)
        for k, node in enumerate(self._lowered.nodes):
            if node.kind is Kind.KERNEL:
                known = k in measured and k not in self._joined  # that is the time of all of it
                times[k] = measured[k][0] if known else nanoseconds(node)
        return times

    def _trips(self) -> list[float]:
        estimated = [1.0 if f.source is None else float(expected_trips(f.source)) for f in self._lowered.frames]
        return [float(frame.trips) or trips for frame, trips in zip(self._frames, estimated)]

    def _differs(self, rest: _Rest) -> bool:
        known = [(time, rest.times[k]) for k, (time, _) in self._measured.copy().items() if k not in self._joined]
        known += zip(self._trips(), rest.trips)
        return any(max(pair) > CHANGED * min(pair) for pair in known)


class _Rest:
    """What is left behind each node, derived once.

    Attributes
    ----------
    nodes : list of (float, float)
        By node: to the end of its frame, in its last iteration, and for each iteration before.
    behind : list of (float, float)
        By frame: from where it ends to the end of the frame around it, likewise.
    times, trips : list of float
        What it was derived from.
    """

    def __init__(self, lowered: Lowered, nodes: Sequence[FlatNode], times: list[float], trips: list[float]) -> None:
        self.times, self.trips = times, trips
        self._all = lowered.nodes
        self.nodes = [(0.0, 0.0)] * len(times)
        count = len(lowered.frames)
        self.behind = [(0.0, 0.0)] * count
        #: from where each frame is entered to the end of the frame around it
        whole = [(0.0, 0.0)] * count
        parents = [frame.parent for frame in lowered.frames]
        seen_from: list[list[int]] = [[] for _ in lowered.frames]
        for node in self._all:
            seen_from[node.frame].append(node.index)
            if node.kind in (Kind.ENTER, Kind.EXIT):
                seen_from[parents[node.frame]].append(node.index)
        self._back = {n.inputs[-1][0]: n.index for n in self._all if n.kind is Kind.MERGE and n.inputs[-1][0] > n.index}
        for frame in range(count - 1, -1, -1):  # those inside before those around them
            self._derive(frame, seen_from[frame], whole)
        for node in nodes:
            if node.kind is Kind.WHOLE:
                self.nodes[node.index] = whole[node.value.frame]

    def _derive(self, frame: int, members: list[int], whole: list[tuple[float, float]]) -> None:
        """Find what is left behind the nodes of a frame, those of the frames inside it being known."""
        walks = WALKED if frame else 1
        ranks: dict[int, float] = {}
        half: tuple[dict[int, float], dict[int, float], dict[int, float]] = ({}, {}, {})
        now = half
        for walk in range(walks):
            if walk == walks // 2:
                half = now
            now = self._walk(frame, members, ranks)
            ranks = now[0]
        steps = max(1, walks - walks // 2)
        for found, before, where in zip(now, half, (self.nodes, self.behind, whole)):
            for k, most in found.items():
                rate = (most - before.get(k, most)) / steps
                where[k] = most - rate * (walks - 1), rate

    def _walk(
        self, frame: int, members: list[int], again: dict[int, float]
    ) -> tuple[dict[int, float], dict[int, float], dict[int, float]]:
        """Walk an iteration backwards; returns what is left behind nodes, and where frames inside end, and begin.

        Parameters
        ----------
        again : dict
            What is left behind the Merges of the next iteration.
        """
        left: dict[int, float] = {}
        behind: dict[int, float] = {}
        whole: dict[int, float] = {}
        for k in reversed(members):
            node = self._all[k]
            most = left.get(k, 0.0)
            inputs = node.inputs + node.controls
            if node.frame != frame:
                if node.kind is Kind.EXIT:
                    behind[node.frame] = max(behind.get(node.frame, 0.0), most)
                    continue
                inner, rate = self.nodes[k]
                most = inner + rate * (self.trips[node.frame] - 1.0) + behind.get(node.frame, 0.0)
                whole[node.frame] = max(whole.get(node.frame, 0.0), most)
            elif node.kind is Kind.ENTER:
                left[k] = most
                continue
            elif node.kind is Kind.NEXT_ITERATION:
                most = again.get(self._back.get(k, -1), 0.0)
            else:
                left[k] = most = most + self.times[k]
            for before, _ in inputs:
                if before < k and most > left.get(before, 0.0):
                    left[before] = most
        return left, behind, whole
