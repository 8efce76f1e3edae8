"""Light kernels that are ready early, and wanted late, by one batch only: they become a part of that.

To move their values as tokens takes longer than to compute them. So the batch does, which waits for them anyhow; what
is held meanwhile is small.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from .bundles import is_small
from .flat_graph import Kind, Lowered

#: nanoseconds of kernels that are as well done late: of one token that is moved
SHORT = 2_000.0


def joined_late(
    lowered: Lowered, groups: Sequence[list[int]], times: Sequence[float], around: Callable[[int], Hashable]
) -> list[list[int]]:  # fmt: skip
    """Return ``groups``, with those in one of which all is wanted by the other.

    Parameters
    ----------
    lowered : Lowered
        With whole loops.
    groups : sequence of list of int
        The nodes of each batch, of one and more.
    times : sequence of float
        How long each node takes.
    around : callable
        Tells the branches around a node that are no part of a batch.
    """
    of = {k: number for number, group in enumerate(groups) for k in group}
    left, wanted = dict(enumerate(groups)), _users(lowered, of)
    for number in sorted(left, key=lambda k: left[k][-1], reverse=True):  # those who want a group come before it
        members = left[number]
        into = {of.get(k, -1) for k in wanted.get(number, ())}
        if len(into) != 1 or -1 in into or not _may_wait(lowered, members, times):
            continue
        [user] = into
        if _stand_together(lowered, [*members, *left[user]], around):
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


def _may_wait(lowered: Lowered, members: Sequence[int], times: Sequence[float]) -> bool:
    """Return whether kernels take next to no time, and nothing large is held until they run."""
    own, nodes = set(members), lowered.nodes
    if sum([times[k] for k in members]) > SHORT or not all(nodes[k].kind is Kind.KERNEL for k in members):
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
