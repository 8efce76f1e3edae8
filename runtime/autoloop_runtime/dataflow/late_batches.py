"""Light kernels that are ready early, and wanted late, by one batch only: they become a part of that.

To move their values as tokens takes longer than to compute them. So the batch does, which waits for them anyhow; what
is held meanwhile is small. Numbers that are read from an array, too, if all else that the batch waits for is what it
has made itself in the iteration before: that is there by then, so the array is not held for longer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import partial

from .bundles import is_small
from .dependence import Dependence, is_loop_merge
from .flat_graph import FlatNode, Kind, Lowered, Port, reached

#: nanoseconds of kernels that are as well done late: of one token that is moved
SHORT = 2_000.0
#: of kernels that are there at one time with those that want them, and how many these may be together
LONG, MOST = 50_000.0, 500


def joined_late(
    lowered: Lowered, found: Dependence, groups: Sequence[list[int]], times: Sequence[float],
    around: Callable[[int], Hashable],
) -> list[list[int]]:  # fmt: skip
    """Return ``groups``, with those in one of which all is wanted by the other.

    Parameters
    ----------
    lowered : Lowered
        With whole loops.
    found : Dependence
    groups : sequence of list of int
        The nodes of each batch, of one and more.
    times : sequence of float
        How long each node takes.
    around : callable
        Tells the branches around a node that are no part of a batch.
    """
    of = {k: number for number, group in enumerate(groups) for k in group}
    left, wanted = dict(enumerate(groups)), _users(lowered, of)
    for may_wait in (partial(_may_wait, lowered), _Iterations(lowered, found).wait_anyhow):
        for number in sorted(left, key=lambda k: left[k][-1], reverse=True):  # those who want a group come before it
            members = left[number]
            into = {of.get(k, -1) for k in wanted.get(number, ())}
            if len(into) != 1 or -1 in into or not all(lowered.nodes[k].kind is Kind.KERNEL for k in members):
                continue
            [user] = into
            if _stand_together(lowered, [*members, *left[user]], around) and may_wait(members, left[user], times):
                left[user] = sorted([*left[user], *members])
                of.update(dict.fromkeys(members, user))
                del left[number]
    return sorted(left.values())


def _users(lowered: Lowered, of: Mapping[int, int]) -> dict[int, set[int]]:
    """Return the nodes outside of each group that want what it makes, -1 for those who fetch it."""
    wanted: dict[int, set[int]] = {}
    for node in lowered.nodes:
        for index, _ in node.inputs + node.controls:
            if index in of and of[index] != of.get(node.index, -1):
                wanted.setdefault(of[index], set()).add(node.index)
    for index, _ in lowered.fetches:
        if index in of:
            wanted.setdefault(of[index], set()).add(-1)
    return wanted


def _may_wait(lowered: Lowered, members: Sequence[int], users: Sequence[int], times: Sequence[float]) -> bool:
    """Return whether kernels take next to no time, and nothing large is held until they run."""
    own, nodes = set(members), lowered.nodes
    if sum([times[k] for k in members]) > SHORT:
        return False
    given = {port for k in members for port in nodes[k].inputs if port[0] not in own}
    return all(nodes[port[0]].resting or is_small(lowered, port) for port in given)


def _stand_together(lowered: Lowered, members: Sequence[int], around: Callable[[int], Hashable]) -> bool:
    """Return whether nodes stand in the same branches of one frame, and have no condition of a loop among them."""
    first = members[0]
    frame, outer = lowered.nodes[first].frame, around(first)
    return all(
        lowered.nodes[k].frame == frame and lowered.nodes[k].kind is not Kind.LOOP_COND and around(k) == outer
        for k in members
    )


class _Iterations:
    """Tells what is there when the variables of an iteration come."""

    def __init__(self, lowered: Lowered, found: Dependence) -> None:
        self._nodes, self._found = lowered.nodes, found

    def wait_anyhow(self, members: Sequence[int], users: Sequence[int], times: Sequence[float]) -> bool:
        """Return whether ``users`` wait for ``members`` and, besides, for nothing but variables that they make."""
        together = {*members, *users}
        if len(together) > MOST or sum([times[k] for k in together]) > LONG:
            return False
        given = self._given(members, together)
        merges = [merge for merge in map(self._variable, given) if merge is not None]
        if not merges or len(merges) < len(given):
            return False
        needs, starts = [self._needed(those) for those in (given, [self._start(one) for one in merges])]
        own = list[FlatNode]()
        for port in self._given(users, together):
            if not self._found.needs[port[0]] & ~needs:
                continue
            merge = self._variable(port)
            if merge is None or self._next(merge) not in together or self._needed([self._start(merge)]) & ~starts:
                return False
            if self._needed([port]) & ~(needs | self._needed([(merge.index, 0)])):
                return False
            own.append(merge)
        return bool(own) and all(self._comes_back(merge) for merge in merges)

    def _given(self, members: Sequence[int], together: Collection[int]) -> list[Port]:
        """Return what nodes need from elsewhere."""
        ports = [port for k in members for port in self._nodes[k].inputs + self._nodes[k].controls]
        return [port for port in dict.fromkeys(ports) if port[0] not in together and not self._nodes[port[0]].resting]

    def _variable(self, port: Port) -> FlatNode | None:
        """Return the Merge of the variable of a loop that is given here; None if it is none."""
        node = self._nodes[port[0]]
        while node.kind is Kind.SWITCH:
            node = self._nodes[node.inputs[0][0]]
        return node if is_loop_merge(node) and len(node.inputs) == 2 else None

    def _start(self, merge: FlatNode) -> Port:
        return merge.inputs[0]

    def _next(self, merge: FlatNode) -> int:
        return self._nodes[merge.inputs[1][0]].inputs[0][0]

    def _needed(self, ports: Sequence[Port]) -> int:
        needs = 0
        for index, _ in ports:
            needs |= self._found.needs[index]
        return needs

    def _comes_back(self, merge: FlatNode) -> bool:
        """Return whether a variable is made of itself: then no iteration has it before the one before has."""
        before = reached([self._next(merge)], lambda k: [index for index, _ in self._nodes[k].inputs])
        return merge.index in before
