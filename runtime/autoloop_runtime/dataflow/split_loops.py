"""A loop of several recurrences that do not need each other as a loop for each, beside the others (loop distribution).

By hand one would give each of them a thread, which goes through all of it without asking anybody. As one loop they
share a counter, so that each iteration moves tokens for all. What the condition needs, a counter mostly, and what else
several of them need is made in each of the loops, if it takes little; variables that take little have a loop of their
own, which is over at once.

Nobody sees a difference where nothing in the loop does more than compute, and nothing fails. How far the recurrences
may be apart ``parallel_iterations`` says otherwise; of each there is one iteration at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from ..analysis.failure import can_fail
from ..analysis.observable import is_pure
from ..analysis.ownership import Ownership
from ..analysis.positions_within import can_fail_in
from ..analysis.weight import is_bulky
from ..base.dataclass import replace
from ..base.forks import undivided
from ..ir.graph import CONST, PARAMETER
from ..ir.prices import Price
from .dependence import is_loop_merge
from .flat_graph import FlatNode, FrameInfo, Kind, Lowered, Port, reached
from .overlap import overlapping

if TYPE_CHECKING:
    from .pipeline_stages import Stage

#: loops that would become more than so many are left as they are
MOST = 64
#: and those that would have so many times the nodes together
COPIED = 4
#: nodes of a loop that is looked at
LONG = 2000


def with_split_loops(
    lowered: Lowered, heavy: Collection[int], owned: Ownership
) -> tuple[Lowered, list[int], dict[int, list[Stage]]] | None:  # fmt: skip
    """Return ``lowered`` with a loop for each recurrence of a loop that do not need each other; None if there is no
    such loop.

    Parameters
    ----------
    lowered : Lowered
    heavy : collection of int
        Kernels that are worth another thread.
    owned : Ownership

    Returns
    -------
    Lowered, list of int, dict of int to list of Stage
        The graph; of each of its nodes, which it was; the frames that are such loops, and what they fall into if
        kernels of one can run beside each other.
    """
    frames = [frame.index for frame in lowered.frames if _may_be_split(lowered, frame, heavy, owned)]
    parts = {k: found for k in frames if (found := _in_stages(lowered, k, heavy)) is not None}
    if not parts:
        return None
    made, origins = with_parts(lowered, parts)
    inside = [frame.index for frame in made.frames if frame.index >= len(lowered.frames) or frame.index in parts]
    long = {k for k, origin in enumerate(origins) if origin in heavy}
    members = {k: [node.index for node in made.nodes if node.frame == k] for k in inside}
    return made, origins, {k: _stages(made, k, members[k], long) or [] for k in inside}


def _stages(lowered: Lowered, frame: int, own: Collection[int], heavy: Collection[int]) -> list[Stage] | None:
    """Return what some nodes of a loop fall into of which kernels can run beside each other: nothing if none can, None
    if it falls into nothing."""
    long = {k for k in own if k in heavy}
    if len(long) < 2 or not overlapping(lowered, long):
        return []
    with undivided():
        from .pipeline_stages import stages_of

    return stages_of(lowered, frame, own, heavy)


def _may_be_split(lowered: Lowered, frame: FrameInfo, heavy: Collection[int], owned: Ownership) -> bool:
    """Return whether nobody sees when what of a loop runs."""
    if frame.source is None or frame.parallel_iterations < 2:
        return False
    if any(other.parent == frame.index for other in lowered.frames):
        return False
    members = [node for node in lowered.nodes if node.frame == frame.index]
    if sum([node.index in heavy for node in members]) < 2 or len(members) > LONG:
        return False
    kernels = [node for node in members if node.kind is Kind.KERNEL]
    if any(is_bulky(node.source) for node in kernels if node.source is not None and node.index in heavy):
        return False  # they make arrays one after the other, so as to need no more memory than in order
    return all(_only_gives(node, frame) and not _writes(node, owned) for node in kernels)


def _only_gives(flat: FlatNode, frame: FrameInfo) -> bool:
    """Return whether a kernel computes a value, whatever it is given."""
    node = flat.source
    if node is None or node.op is not flat.op or node.op.traits.price is Price.FOREIGN or not is_pure(node):
        return False
    inner = node.op.stands_for
    if inner is None:
        return not can_fail_in(node, frame.source)
    inside = [one for one in inner.nodes if one.op not in (PARAMETER, CONST)]
    return all(is_pure(one) and one.op.traits.price is not Price.FOREIGN and not can_fail(one) for one in inside)


def _writes(flat: FlatNode, owned: Ownership) -> bool:
    """Return whether a kernel writes to what it is given, which others may read in an order that is given otherwise."""
    assert flat.op is not None
    return flat.op.taking is not None or flat.source in owned.in_place or flat.source in owned.parts


class _Needs:
    """What each node of a loop needs inside it, also in iterations before."""

    def __init__(self, nodes: Sequence[FlatNode], frame: int) -> None:
        self._nodes, self._frame = nodes, frame

    def of(self, roots: Iterable[int]) -> set[int]:
        """Return some nodes, and all that they need."""
        return reached(self._inside(roots), lambda k: self._inside(self._before(self._nodes[k])))

    def behind(self, roots: Iterable[int]) -> set[int]:
        """Return some nodes, and all that need them."""
        users = defaultdict[int, list[int]](list)
        for node in self._nodes:
            if node.frame == self._frame:
                for index in self._before(node):
                    users[index].append(node.index)
        return reached(self._inside(roots), users.__getitem__)

    def _inside(self, nodes: Iterable[int]) -> list[int]:
        return [k for k in nodes if self._nodes[k].frame == self._frame]

    @staticmethod
    def _before(node: FlatNode) -> list[int]:
        return [] if node.kind is Kind.ENTER else [index for index, _ in (*node.inputs, *node.controls)]


def _in_stages(lowered: Lowered, frame: int, heavy: Collection[int]) -> list[set[int]] | None:
    """Return what ``_parts`` does, unless that is one that has no stages, or several of which one has none though
    kernels of it can run beside each other."""
    parts = _parts(lowered, frame, heavy)
    if parts is None:
        return None
    stages = [_stages(lowered, frame, own, heavy) for own in parts]
    is_split = any(stages) or sum([not own.isdisjoint(heavy) for own in parts]) > 1
    return parts if is_split and None not in stages else None


def _parts(lowered: Lowered, frame: int, heavy: Collection[int]) -> list[set[int]] | None:
    """Return the nodes of each loop that takes the place of one; None if it is better left as it is."""
    nodes = lowered.nodes
    members, needs = [node for node in nodes if node.frame == frame], _Needs(nodes, frame)
    condition = needs.of([node.index for node in members if node.kind is Kind.LOOP_COND])
    if condition & set(heavy):
        return [{node.index for node in members}]
    light = {node.index for node in members} - needs.behind(heavy)
    exits = {node.index: needs.of([node.index]) for node in members if node.kind is Kind.EXIT}
    apart: list[set[int]] = []
    for own in [*[needs.of([node.index]) for node in members if is_loop_merge(node)], *exits.values()]:
        if own & set(heavy):  # what is light may be made in several loops
            met = [one for one in apart if (one & own) - light]
            apart = [*[one for one in apart if one not in met], own.union(*met)]
    if not 1 <= len(apart) <= MOST or sum(map(len, apart)) > COPIED * len(members):
        return None
    left = [own for own in exits.values() if not own & set(heavy)]
    parts = sorted([*([condition.union(*left)] if left else []), *[condition | one for one in apart]], key=min)
    return parts


def _gates(lowered: Lowered, frame: int, loop: Collection[int]) -> dict[int, tuple[Port, ...]]:
    """Return what the variables of a loop are to wait for besides what they start as, by their Enter: for all that the
    loop is given, so that it is ready at one time, and is run as one; and for a token, which tells whether, and how
    often, it is to run, as what is at rest does not."""
    nodes = lowered.nodes
    own, every = _sources(nodes, loop), _sources(nodes, [node.index for node in nodes if node.frame == frame])
    is_begun = any(not nodes[k].resting for k, _ in own)
    if is_begun and all(nodes[k].kind is Kind.FEED for k, _ in own):
        return {}
    waits = own if is_begun else [*own, *[port for port in every if not nodes[port[0]].resting]]
    enters = [nodes[k] for k in loop if nodes[k].kind is Kind.ENTER and not nodes[k].constant]
    found = {node.index: tuple([p for p in waits if p[0] < node.index and p != node.inputs[0]]) for node in enters}
    return {k: ports for k, ports in found.items() if ports}


def _sources(nodes: Sequence[FlatNode], loop: Iterable[int]) -> list[Port]:
    """Return what enters a loop from outside, without constants."""
    sources = [nodes[k].inputs[0] for k in sorted(loop) if nodes[k].kind is Kind.ENTER]
    return [port for port in dict.fromkeys(sources) if nodes[port[0]].kind is not Kind.CONST]


def with_parts(lowered: Lowered, parts: Mapping[int, list[set[int]]]) -> tuple[Lowered, list[int]]:
    """Return the graph with loops split, each part of which waits for all that it is given, and of each of its nodes
    which it was; ``parts``: by frame, the nodes of each part."""
    frames, numbers = list(lowered.frames), dict[int, list[int]]()
    for k, loops in parts.items():
        numbers[k] = [k, *range(len(frames), len(frames) + len(loops) - 1)]
        frames += [replace(lowered.frames[k], index=index) for index in numbers[k][1:]]
    copies = [_copies(node, parts, numbers) for node in lowered.nodes]
    gates = {
        (index, number): ports
        for k, loops in parts.items() for number, loop in zip(numbers[k], loops)
        for index, ports in _gates(lowered, k, loop).items()
    }  # fmt: skip
    # node -> by the frame of a copy: where that is
    places: list[dict[int, int]] = []
    free, origins = count(), list[int]()
    for node, those in zip(lowered.nodes, copies):
        made = dict[int, int]()
        for frame in those:
            if (node.index, frame) in gates:
                next(free)  # what it waits by stands before it
                origins.append(node.index)
            made[frame] = next(free)
            origins.append(node.index)
        places.append(made)

    def port_in(port: Port, frame: int) -> Port:
        found = places[port[0]]
        return found[frame] if frame in found else next(iter(found.values())), port[1]

    nodes = list[FlatNode]()
    for node, those in zip(lowered.nodes, copies):
        for number, frame in enumerate(those):
            copied = replace(
                node, index=places[node.index][frame], frame=frame,
                name=f"{node.name}~{number}" if number else node.name,
                inputs=tuple([port_in(port, frame) for port in node.inputs]),
                controls=tuple([port_in(port, frame) for port in node.controls]),
            )  # fmt: skip
            if (node.index, frame) in gates:
                waits = tuple([port_in(port, frame) for port in gates[node.index, frame]])
                nodes.append(_gate(copied, waits, frames[frame].parent))
                copied = replace(copied, inputs=((nodes[-1].index, 0),))
            nodes.append(copied)
    for k, info in enumerate(frames):
        known = {
            i: port_in(port, k) for i, port in info.values.items()
            if k in places[port[0]] or lowered.nodes[port[0]].frame not in parts
        }  # fmt: skip
        frames[k] = replace(info, values=known)
    feeds = tuple([port_in((k, 0), 0)[0] for k in lowered.feeds])
    fetches = tuple([port_in(port, 0) for port in lowered.fetches])
    return Lowered(tuple(nodes), tuple(frames), feeds, fetches), origins


def _gate(enter: FlatNode, waits: tuple[Port, ...], frame: int) -> FlatNode:
    """Return what hands on to ``enter`` what it is given, once all is there that it ``waits`` for."""
    return FlatNode(
        enter.index - 1, Kind.IDENTITY, f"{enter.name}/gate", enter.inputs, waits, frame, None, None, {}, 1, False, None
    )  # fmt: skip


def _copies(node: FlatNode, parts: Mapping[int, list[set[int]]], numbers: Mapping[int, list[int]]) -> list[int]:
    """Return the frames of the copies of a node."""
    if node.frame not in parts:
        return [node.frame]
    found = [k for k, loop in zip(numbers[node.frame], parts[node.frame]) if node.index in loop]
    return found if found or node.kind is not Kind.CONST else [node.frame]
