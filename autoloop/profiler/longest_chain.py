"""The longest chain of kernels of a run that waited for each other, found afterwards in the graph that was run.

No number of threads makes a run shorter than that. The chain goes through the operations that move tokens, which take
no time here: so it goes from iteration to iteration, into loops and out of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from autoloop_runtime.dataflow.flat_graph import FlatNode, Kind, Lowered

from .seen_kernels import Kernel

#: a node of the flat graph, and the iterations it is in, of the innermost loop first
Where = tuple[int, tuple[int, ...]]
NOTHING = -1


def waited_for(lowered: Lowered, kernels: Sequence[Kernel]) -> list[int]:
    """Return for each kernel of a run which of those that it needed ends the longest chain; ``NOTHING`` for none.

    Parameters
    ----------
    kernels : sequence of Kernel
        By the time they began.
    """
    return _Chains(lowered, kernels).find()


def longest(kernels: Sequence[Kernel], before: Sequence[int]) -> list[int]:
    """Return the longest chain, its last kernel first, given what ``waited_for`` gives."""
    lengths = _lengths(kernels, before)
    here = max(range(len(lengths)), key=lengths.__getitem__, default=NOTHING)
    chain = []
    while here != NOTHING:
        chain.append(here)
        here = before[here]
    return chain


def _lengths(kernels: Sequence[Kernel], before: Sequence[int]) -> list[int]:
    lengths: list[int] = []
    for kernel, one in zip(kernels, before):
        lengths.append(kernel.time + (0 if one == NOTHING else lengths[one]))
    return lengths


class _Chains:
    def __init__(self, lowered: Lowered, kernels: Sequence[Kernel]) -> None:
        self._kernels = kernels
        depths = [0] * len(lowered.frames)
        for frame in lowered.frames[1:]:
            depths[frame.index] = depths[frame.parent] + 1
        #: by node, what its tokens come through, and how many loops are around that
        self._needs = [[(k, depths[of.frame] - (of.kind is Kind.EXIT)) for k, of in _sources(lowered, node)]
                       for node in lowered.nodes]  # fmt: skip
        self._kinds = [_kind(node) for node in lowered.nodes]
        self._frames = [node.frame for node in lowered.nodes]
        #: what ends the longest chain to a node in certain iterations
        self._ends: dict[Where, int] = {}
        #: by frame, and the iterations around it, its last iteration
        self._last: dict[Where, int] = {}
        self._lengths: list[int] = []
        for kernel in kernels:
            if kernel.iterations:
                around = kernel.of.frame, kernel.iterations[1:]
                self._last[around] = max(self._last.get(around, 0), kernel.iterations[0])

    def find(self) -> list[int]:
        found, kernels, lengths = [], self._kernels, self._lengths
        for k, kernel in enumerate(kernels):
            where = kernel.iterations
            before = NOTHING
            for node, depth in self._needs[kernel.of.index]:
                before = self._longer(before, self._end((node, where[len(where) - depth :])))
            if before != NOTHING and kernels[before].end > kernel.start:
                before = NOTHING  # of a branch that was not taken
            found.append(before)
            lengths.append(kernel.time + (0 if before == NOTHING else lengths[before]))
            self._ends[kernel.of.index, where] = k
        return found

    def _longer(self, one: int, other: int) -> int:
        if NOTHING in (one, other):
            return max(one, other)
        return one if self._lengths[one] >= self._lengths[other] else other

    def _end(self, wanted: Where) -> int:
        """Return what ends the longest chain to a node; by hand, as chains through many iterations are deep.

        A kernel that has not run by now is nothing that was waited for: it stands in a branch that was not taken.
        """
        ends = self._ends
        known = ends.get(wanted)
        if known is not None:
            return known
        stack = [(wanted, self._before(*wanted))]
        while stack:
            here, needs = stack[-1]
            missing = [one for one in needs if one not in ends]
            if missing:
                stack += [(one, self._before(*one)) for one in missing]
                continue
            stack.pop()
            end = NOTHING
            for one in needs:
                end = self._longer(end, ends[one])
            ends[here] = end
        return ends[wanted]

    def _before(self, node: int, where: tuple[int, ...]) -> list[Where]:
        """Return what a node needs in certain iterations; nothing of a kernel."""
        kind, needs = self._kinds[node], self._needs[node]
        if kind is Kind.KERNEL:
            return []
        if kind is Kind.ENTER:
            where = where[1:]
        elif kind is Kind.NEXT_ITERATION:
            where = (where[0] - 1, *where[1:])
        elif kind is Kind.EXIT:
            last = self._last.get((self._frames[node], where))
            if last is None:
                return []
            where = (last, *where)
        elif kind is _HEAD:
            needs = [needs[1 if where[0] else 0]]
        around = len(where)
        return [(one, where[around - depth :]) for one, depth in needs]


#: of the Merge at the head of a loop
_HEAD = "head of a loop"


def _kind(node: FlatNode) -> Kind | str:
    return _HEAD if node.kind is Kind.MERGE and node.inputs[-1][0] > node.index else node.kind


def _sources(lowered: Lowered, node: FlatNode) -> list[tuple[int, FlatNode]]:
    """Return the nodes that a node waits for."""
    ports = node.inputs if _kind(node) is _HEAD else node.inputs + node.controls
    return [(k, lowered.nodes[k]) for k, _ in ports]
