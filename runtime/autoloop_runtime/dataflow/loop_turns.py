"""Turns: the condition of a loop, and what waits for nothing but the variables that the condition needs, as one step.

Beside what takes long a loop has its counter, and often more variables that are ready with it: they run ahead. Their
batches of the condition and of the body become one, with the Switches between them. It gives the condition to the other
variables; what the body has made if the loop goes on; what leaves it if it ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .batch_doors import ALWAYS, ENDS, GOES_ON
from .bundles import is_small
from .dependence import Dependence, is_loop_merge
from .flat_graph import FlatNode, Kind, Lowered, Port

#: nanoseconds of a turn: who waits for the condition has to wait for all of it
MOST = 20_000.0


def joined_turns(
    lowered: Lowered, found: Dependence, groups: Sequence[Sequence[int]], times: Sequence[float]
) -> list[list[int]]:  # fmt: skip
    """Return ``groups``, with those that make a turn in one.

    Parameters
    ----------
    lowered : Lowered
        With whole loops.
    found : Dependence
    groups : sequence of sequence of int
        The nodes of each batch, of one and more.
    times : sequence of float
        How long each node takes.
    """
    of = {k: number for number, group in enumerate(groups) for k in group}
    left, made = dict(enumerate(groups)), list[Sequence[int]]()
    for node in lowered.nodes if len(lowered.frames) > 1 else ():
        if node.kind is Kind.LOOP_COND and node.inputs[0][0] in of:
            members, those = _Turn(lowered, found, node, groups, of, times).joined()
            if len(those) > 1:
                made.append(members)
                for number in those:
                    del left[number]
    return sorted([*map(list, left.values()), *map(list, made)])


def condition_of(nodes: Sequence[FlatNode], members: Sequence[int]) -> Port | None:
    """Return the condition of the loop that a batch is the turn of; None if it is none."""
    return next(((k, 0) for k in members if nodes[k].kind is Kind.LOOP_COND), None)


def side_of(nodes: Sequence[FlatNode], condition: Port | None, port: Port) -> int:
    """Return when a turn gives ``port``."""
    if condition is None or port[0] <= condition[0]:
        return ALWAYS
    node = nodes[port[0]]
    return ENDS if node.kind is Kind.SWITCH and node.inputs[1] == condition and port[1] == 0 else GOES_ON


class _Turn:
    """Looks for the turn of one loop."""

    def __init__(
        self, lowered: Lowered, found: Dependence, condition: FlatNode, groups: Sequence[Sequence[int]],
        of: Mapping[int, int], times: Sequence[float],
    ) -> None:  # fmt: skip
        self._lowered, self._nodes = lowered, lowered.nodes
        self._groups, self._of, self._times = groups, of, times
        self._needs, self._need = found.needs, found.needs[condition.index]
        self._condition = condition
        self._body = [node for node in found.members[condition.frame] if node.index > condition.index]
        self._switches = {n.index for n in self._body if n.kind is Kind.SWITCH and n.inputs[1][0] == condition.index}
        self._inside = {condition.index}

    def joined(self) -> tuple[list[int], list[int]]:
        """Return its nodes, and the batches that it is made of, the first of which has the condition."""
        those, time = list[int](), 0.0
        for number in dict.fromkeys([self._of.get(k, -1) for k in (self._condition.inputs[0][0], *self._places())]):
            members = self._groups[number] if number >= 0 else ()
            took = sum([self._times[k] for k in members])
            if members and time + took <= MOST and self._may_join(members):
                those.append(number)
                self._inside.update(members, self._entered_by(members))
                time += took
            elif not those:
                return [], []
        self._inside.update([k for k in self._switches if self._passes(k) and self._is_small(k)])
        return sorted(self._inside), those

    def _places(self) -> list[int]:
        return [node.index for node in self._body]

    def _may_join(self, members: Sequence[int]) -> bool:
        """Return whether a batch waits for nothing but what the condition waits for, and the condition."""
        own, frame = self._inside.union(members), self._condition.frame
        for k in members:
            node = self._nodes[k]
            if node.frame != frame or self._needs[k] != self._need:
                return False
            for port in node.inputs + node.controls:
                if port[0] not in own and not self._is_there(port) and not self._passes(port[0]):
                    return False
        return True

    def _is_there(self, port: Port) -> bool:
        source = self._nodes[port[0]]
        return source.resting or (is_loop_merge(source) and source.frame == self._condition.frame)

    def _entered_by(self, members: Sequence[int]) -> list[int]:
        """Return the Switches that lead to a batch."""
        return [p for k in members for p, _ in self._nodes[k].inputs + self._nodes[k].controls if p in self._switches]

    def _passes(self, index: int) -> bool:
        """Return whether a node is a Switch that has its token when the condition is there."""
        source = self._nodes[index].inputs[0] if index in self._switches else (-1, 0)
        if source[0] in self._inside:
            return True
        return source[0] >= 0 and self._is_there(source) and self._needs[source[0]] | self._need == self._need

    def _is_small(self, switch: int) -> bool:
        return is_small(self._lowered, self._nodes[switch].inputs[0])
