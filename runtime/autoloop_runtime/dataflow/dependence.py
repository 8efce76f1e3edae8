"""What every node of a flat graph waits for: which of them become ready together, whatever order the run takes.

As in the partitioning of non-strict programs into threads (Iannucci, Traub, Schauser): what happens at a time of its
own is an *arrival*: the result of a kernel that is worth another thread or has an effect, a token at the Merge of a
loop, the result of a loop, a Merge of branches that wait for different arrivals. Any other node is *light*: it needs no
more than the arrivals before it. Light nodes with one set of arrivals are ready together, so none of them waits for
anything that it would not wait for anyhow if they are run one after the other.

The sets are a least of what is needed: where ways meet, only what both need, besides the meeting itself, which is an
arrival of its own. So two nodes with one set need exactly the same. At the start all variables of a loop are taken to
arrive at once and to need much, which is then taken back until it is consistent, as in ``overlap``.

A loop is *whole* if all its nodes, and those of the loops in it, are light and wait for one arrival: that of its
variables, which come together at the start and again after each iteration. While such a loop runs, nobody outside
could see more of it than how long it takes, which is not worth another thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from .flat_graph import FlatNode, Kind, Lowered

#: nanoseconds of light kernels that are worth another thread together
LONG = 100_000.0
#: loops and branches in each other, of a loop that is written out as one
DEEP = 12


class Dependence:
    """Walks the nodes in order, which is topological but for what NextIteration brings back to a Merge.

    Parameters
    ----------
    lowered : Lowered
    light : collection of int
        The kernels that cost little and do nothing but compute.
    torn : collection of int
        Frames that are not to be whole.

    Attributes
    ----------
    needs : list of int
        The arrivals that each node needs, as bits.
    whole : list of bool
        Whether each frame is a loop that can be run as one; the outermost is none.
    members : list of list of FlatNode
        The nodes of each frame.
    any_heavy : bool
        Whether any kernel is not light.
    """

    def __init__(self, lowered: Lowered, light: Collection[int], torn: Collection[int] = ()) -> None:
        self._nodes = lowered.nodes
        self._parents = [frame.parent for frame in lowered.frames]
        self._light = light
        #: without, nobody gains from what is there before a whole loop has ended
        self.any_heavy = any(node.kind is Kind.KERNEL and node.index not in light for node in self._nodes)
        self._bits: dict[tuple[str, int], int] = {}
        #: the arrivals inside each frame, not counting those of frames in it
        self._inside = [0] * len(self._parents)
        self.members: list[list[FlatNode]] = [[] for _ in self._parents]
        for node in self._nodes:
            self.members[node.frame].append(node)
        #: loop Merge -> the first of those that its token arrives together with
        self._class = self._one_class_a_frame()
        #: first of a class -> what its tokens need of the frames around
        self._around: dict[int, int] = {}
        self.whole = [depth <= DEEP and k not in torn for k, depth in enumerate(self._depths())]
        self.whole[0] = False
        self.needs: list[int] = []
        self._walk()
        while self._retract():
            self._walk()

    def _one_class_a_frame(self) -> dict[int, int]:
        merges = [[node.index for node in members if is_loop_merge(node)] for members in self.members]
        return {index: found[0] for found in merges for index in found}

    def classes(self, frame: int) -> int:
        """Return how many groups of variables of a loop arrive by themselves."""
        return len({self._class[node.index] for node in self.members[frame] if is_loop_merge(node)})

    def class_of(self, merge: int) -> int:
        """Return which group a variable of a loop arrives with."""
        return self._class[merge]

    def _depths(self) -> list[int]:
        """Return how many loops and branches there are in each other in each frame, itself included."""
        nodes = self._nodes
        outside, inside, at = [0] * len(self._parents), [1] * len(self._parents), [0] * len(nodes)
        for node in nodes:
            depth = max([at[k] for k, _ in (*node.inputs, *node.controls) if k < node.index], default=0)
            if node.kind is Kind.ENTER:
                outside[node.frame] = max(outside[node.frame], depth)
                continue
            if node.kind is Kind.EXIT:
                depth = outside[node.frame]
            elif node.kind is Kind.MERGE:
                depth = max(depth - 1, 0)
            elif node.kind is Kind.SWITCH and nodes[node.inputs[1][0]].kind is not Kind.LOOP_COND:
                depth += 1
            at[node.index] = depth
            inside[node.frame] = max(inside[node.frame], depth + 1)
        for frame in range(len(self._parents) - 1, 0, -1):
            around = self._parents[frame]
            inside[around] = max(inside[around], inside[frame] + outside[frame] + 1)
        return inside

    def after(self, frame: int) -> int:
        """Return the arrivals that the results of a whole loop need."""
        return next((self.needs[node.index] for node in self.members[frame] if node.kind is Kind.EXIT), 0)

    def is_inside(self, frame: int, outer: int) -> bool:
        """Return whether a frame is ``outer``, or in it."""
        while frame > outer:  # parents come before children
            frame = self._parents[frame]
        return frame == outer

    # -- what a node needs --------------------------------------------------------------------------------

    def _walk(self) -> None:
        self.needs = [0] * len(self._nodes)
        opening = self._opening
        for node in self._nodes:
            if node.kind is Kind.ENTER:
                need = self.needs[node.inputs[0][0]]
                if not node.constant and not self._brings_token(node):
                    need |= opening(node.frame)
            elif node.kind is Kind.MERGE:
                need = self._at_loop(node) if is_loop_merge(node) else self._where_branches_meet(node)
            else:
                need = 0
                for index, _ in (*node.inputs, *node.controls):
                    need |= self.needs[index]
                if node.kind is Kind.EXIT:
                    need = self._leaving(node, need)
                elif node.kind is Kind.WHOLE or (node.kind is Kind.KERNEL and node.index not in self._light):
                    need |= self._bit("node", node.index, node.frame)
            self.needs[node.index] = need

    def _brings_token(self, enter: FlatNode) -> bool:
        return not self._nodes[enter.inputs[0][0]].resting

    def _opening(self, frame: int) -> int:
        """Return what is needed until a frame is open: one of the tokens that enter it."""
        found = None
        for node in self.members[frame]:
            if node.kind is Kind.ENTER and self._brings_token(node):
                need = self.needs[node.inputs[0][0]]
                found = need if found is None else found & need
        return found or 0

    def _at_loop(self, node: FlatNode) -> int:
        first = self._class[node.index]
        around = self._around.setdefault(first, self.needs[node.inputs[0][0]])
        return around | self._bit("class", first, node.frame)

    def _where_branches_meet(self, node: FlatNode) -> int:
        first, second = [self.needs[index] for index, _ in node.inputs]
        return first if first == second else first & second | self._bit("node", node.index, node.frame)

    def _leaving(self, node: FlatNode, need: int) -> int:
        """Return what is needed for a result of a loop."""
        parent = self._parents[node.frame]
        around = need & ~self._inside[node.frame]
        if not self.whole[node.frame]:
            return around | self._bit("node", node.index, parent)
        if self.whole[parent] or not self.any_heavy:
            return around
        return around | self._bit("loop", node.frame, parent)

    def _bit(self, what: str, number: int, frame: int) -> int:
        """Return the bit of an arrival, which is in ``frame``."""
        bit = self._bits.setdefault((what, number), 1 << len(self._bits))
        self._inside[frame] |= bit
        return bit

    # -- what was assumed ---------------------------------------------------------------------------------

    def _retract(self) -> bool:
        """Take back what does not hold; True if there was anything."""
        retracted = [self._retract_in(frame) for frame in range(len(self._parents) - 1, 0, -1)]
        return any(retracted)

    def _retract_in(self, frame: int) -> bool:
        needs, together = self.needs, defaultdict(list)
        merges = [node for node in self.members[frame] if is_loop_merge(node)]
        for node in merges:
            enter, back = needs[node.inputs[0][0]], needs[node.inputs[-1][0]]
            together[self._class[node.index], enter, back].append(node)
        retracted = False
        for (old, enter, back), members in together.items():
            first, around = members[0].index, enter & back & ~self._inside[frame] & self._around[old]
            retracted |= first != old or around != self._around[old]
            for node in members:
                self._class[node.index] = first
            self._around[first] = around
        if self.whole[frame] and not self._is_whole(frame, merges):
            self.whole[frame], retracted = False, True
        return retracted

    def _is_whole(self, frame: int, merges: list[FlatNode]) -> bool:
        """Return whether everything in a frame waits for the variables that come together, and nothing else."""
        if any(self._class[node.index] != self._class[merges[0].index] or len(node.inputs) != 2 for node in merges):
            return False
        need = self.needs[merges[0].index]
        for node in self.members[frame]:
            if node.kind is Kind.KERNEL and node.index not in self._light:
                return False
            if node.kind not in (Kind.ENTER, Kind.CONST, Kind.EXIT) and self.needs[node.index] != need:
                return False
        return all(self.whole[k] for k, parent in enumerate(self._parents) if parent == frame)


def is_loop_merge(node: FlatNode) -> bool:
    """Return whether a node is where the variables of a loop come by."""
    return node.kind is Kind.MERGE and node.inputs[-1][0] > node.index
