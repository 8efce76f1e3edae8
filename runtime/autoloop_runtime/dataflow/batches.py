"""Light kernels that become ready together, put together into one step: a *batch*.

``dependence`` tells which kernels wait for the same arrivals. Those of them that stand in the same branches of the same
frame are run one after the other, in program order, by one function (``batch_step``); a branch in which nothing has a
time of its own is part of it, as an ``if``. So nothing waits for anything but light kernels that it did not wait for
before. What has an effect is no part of a batch.

A batch must not wait for what waits for it: between two kernels of one set of arrivals there may be a node that is not
put together with them, with the same set (a Merge, say, or a whole loop). The *level* of a node is how often that is so
on the way to it, and a batch is of one level.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ..analysis.cost import ARRAY_CALL
from ..analysis.ownership import Ownership
from .dependence import DEEP, LONG, Dependence, is_loop_merge
from .flat_graph import FlatNode, Kind, Lowered, Port, nanoseconds
from .independent_parts import independent_parts
from .joined_batches import JoinedBatches
from .late_batches import joined_late
from .loop_items import Guard, common_guard
from .loop_turns import joined_turns
from .packed_bundles import MachinePart
from .stacked_chains import with_stacks

#: kernels of one batch
MOST = 500
#: nanoseconds of parts that are handed out without the interpreter, and how many of them there are, about
NATIVE_LEAST, NATIVE_PARTS = 10_000.0, 128
#: values that a kernel by itself is given by batches, from which on it is one
COLLECTED = 32
#: nanoseconds of one
LONGEST = 2_000_000.0
#: nanoseconds of an operation in machine code, at least
LEAST = 5.0
#: what members of a batch have in common: frame, arrivals, branches, level
Key = tuple[int, int, Guard, int]
Machine = Mapping[tuple[int, ...], MachinePart]


def with_batches(
    lowered: Lowered, found: Dependence, light: Collection[int], owned: Ownership,
    machine: Machine | None = MappingProxyType({}), is_native: bool = False,
) -> Lowered:  # fmt: skip
    """Return ``lowered`` with one node in place of each batch; itself if there is none.

    Parameters
    ----------
    lowered : Lowered
        With whole loops.
    found : Dependence
        What nodes need, without.
    light : collection of int
        The kernels that cost little and do nothing but compute.
    owned : Ownership
    machine : mapping
        What does a batch of such members otherwise, see ``Batch``; None as long as that is not known, when every batch
        may be in it.
    is_native : bool
        They are handed out without the interpreter, so that they may be small.
    """
    grouping = Grouping(lowered, found, light, machine, is_native)
    groups = joined_turns(lowered, found, list(grouping.groups()), grouping.times)
    groups = joined_late(lowered, found, groups, grouping.times, grouping.around)
    if machine is not None and not is_native:
        groups, machine = with_stacks(lowered, groups, owned, machine)
    groups = [group for group in groups if len(group) > 1 or _collects(lowered, group[0], groups)]
    return JoinedBatches(lowered, found, groups, grouping.times, owned, machine or {}).lowered() if groups else lowered


def _collects(lowered: Lowered, index: int, groups: Sequence[Sequence[int]]) -> bool:
    """Return whether a kernel by itself is given so much by batches that it is worth while to bundle that."""
    node = lowered.nodes[index]
    if node.kind is not Kind.KERNEL or len(node.inputs) < COLLECTED:
        return False
    inside = {k for group in groups if len(group) > 1 for k in group}
    return sum([port[0] in inside for port in node.inputs]) >= COLLECTED


class Grouping:
    """Finds what is put together.

    Parameters
    ----------
    lowered, found, light, machine, is_native
        See ``with_batches``.

    Attributes
    ----------
    times : list of float
        How long each node takes in one.
    """

    def __init__(
        self, lowered: Lowered, found: Dependence, light: Collection[int], machine: Machine | None,
        is_native: bool = False,
    ) -> None:  # fmt: skip
        self._nodes = lowered.nodes
        #: of parts beside each other: how long one takes at least, and how many there are, see ``independent_parts``
        self._least, self._many = (NATIVE_LEAST, NATIVE_PARTS) if is_native else (LONG, 0)
        self.times = list(map(nanoseconds, lowered.nodes))
        if machine is None or machine:  # most batches are
            self.times = [max(time - ARRAY_CALL, LEAST) if time else 0.0 for time in self.times]
        self._light = light
        self._any_heavy = found.any_heavy
        self._needs = list(found.needs)
        has_branches = False
        for node in lowered.nodes:
            if node.kind is Kind.WHOLE:
                self._needs[node.index] = found.after(node.value.frame)
            has_branches |= node.kind is Kind.SWITCH
        #: what each node, and what it gives, stands under
        self._guards: list[Guard] = [()] * len(lowered.nodes)
        #: predicate -> the nodes of branches on it, with those at which they begin and end
        self._branches: dict[Port, list[int]] = {}
        #: predicates of branches that loops stand in: who takes their tokens must not be given any if not taken
        self._entered = set[Port]()
        #: predicates of branches that are not written as an ``if``
        self._open = set[Port]()
        if has_branches:
            self._walk_guards(len(lowered.frames))
            self._find_branches()

    def groups(self) -> Iterator[list[int]]:
        """Yield the nodes of each batch, in program order."""
        keys = self._keys()
        for last in (False, False, True):
            torn = [p for p, nodes in self._branches.items() if len({keys[k] for k in nodes}) > 1]
            if not torn:
                break
            self._leave_open(list(self._branches) if last else torn)
            keys = self._keys()
        members: dict[Key, list[int]] = {}
        for k, key in enumerate(keys):
            if key[0] >= 0:
                members.setdefault(key, []).append(k)
        for together in members.values():
            for part in self._apart(together):
                yield from self._cut(part)

    def _apart(self, members: list[int]) -> Iterable[list[int]]:
        """Return parts of a batch that can run beside each other, each of which is worth another thread."""
        if sum([self.times[k] for k in members]) < 2 * self._least:
            return [members]
        together = _Groups(members)
        for nodes in self._branches.values():
            for k in nodes:
                together.join(k, nodes[0])
        own = set(members)
        before = {
            k: [there for there, _ in self._nodes[k].inputs + self._nodes[k].controls if there in own] for k in members
        }
        groups = together.ordered(before) if self._branches else {k: [k] for k in members}
        of = {k: last for last, group in groups.items() for k in group}
        times = {last: sum([self.times[k] for k in group]) for last, group in groups.items()}
        waits = {
            last: list(dict.fromkeys([of[there] for k in group for there in before[k] if of[there] != last]))
            for last, group in groups.items()
        }
        parts = independent_parts(list(groups), times, waits, self._least, MOST, self._many)
        return [sorted([k for last in part for k in groups[last]]) for part in parts]

    def _keys(self) -> list[Key]:
        """Return what each node has in common with others; of one that is in no batch the frame is -1."""
        keys: list[Key] = []
        #: predicate -> the level of all that is written as an ``if`` on it
        levels: dict[Port, int] = {}
        for place, node in enumerate(self._nodes):
            need, guard = self._needs[place], self.around(place)
            frame = node.frame if self._is_member(node) else -1
            top = self._top(place, node, len(guard)) if self._branches and frame >= 0 else None
            level = 0
            if top is not None:
                if top not in levels:
                    those = [self._nodes[one] for one in self._branches[top]]
                    before = [k for one in those for k, _ in one.inputs + one.controls if k < place]
                    levels[top] = self._level(before, keys, (frame, need, guard))
                level = levels[top]
            before = [k for k, _ in node.inputs + node.controls if k < place]  # others come back to a loop
            keys.append((frame, need, guard, max(level, self._level(before, keys, (frame, need, guard)))))
        return keys

    def _level(self, before: Iterable[int], keys: Sequence[Key], own: tuple[int, int, Guard]) -> int:
        """Return the level of a node that comes after others."""
        frame, need, guard = own
        level, nodes = 0, self._nodes
        for index in before:
            key = keys[index]
            if key[1] == need and nodes[index].kind not in _THERE and not nodes[index].constant:
                level = max(level, key[3] + (frame < 0 or key[0] != frame or key[2] != guard))
        return level

    def _top(self, place: int, node: FlatNode, outside: int) -> Port | None:
        """Return the predicate of the outermost ``if`` that a member is a part of."""
        guard = self._guards[place]
        return guard[outside][0] if len(guard) > outside else next(iter(self._ending(node)), None)

    def _cut(self, members: list[int]) -> Iterator[list[int]]:
        """Yield parts of a batch that are not too long, none of which has only a part of a branch."""
        start, last, time = 0, None, 0.0
        most = -(-len(members) // -(-len(members) // MOST))  # the last is not to be a short one
        # heavy kernels that it has made ready have waited for its end, and who ends a run waits for it
        long = LONG if self._any_heavy else LONGEST
        for k, index in enumerate(members):
            node = self._nodes[index]
            inside = self._guards[index] != self.around(index)
            free = not inside and node.kind in (Kind.KERNEL, Kind.IDENTITY)
            if (k - start >= most or time >= long) and free and last in (Kind.KERNEL, Kind.IDENTITY, Kind.MERGE):
                yield members[start:k]
                start, time = k, 0.0
            last = None if inside else node.kind
            time += self.times[index]
        yield members[start:]

    # -- branches -----------------------------------------------------------------------------------------

    def _walk_guards(self, frames: int) -> None:
        entering: list[Guard] = [()] * frames
        for place, node in enumerate(self._nodes):
            guards = [self._under(port) for port in (*node.inputs, *node.controls) if port[0] < place]
            guard: Guard = max(guards, key=len, default=())
            if node.kind is Kind.ENTER:
                entering[node.frame] = max(entering[node.frame], guard, key=len)
                self._entered.update([predicate for predicate, _ in guard])
                guard = ()
            elif node.kind is Kind.EXIT:
                guard = entering[node.frame]
            elif node.kind is Kind.MERGE:
                guard = () if is_loop_merge(node) else common_guard(guards[0], guards[1])
            self._guards[place] = guard

    def _under(self, port: Port) -> Guard:
        """Return what those stand under who use ``port``."""
        node, guard = self._nodes[port[0]], self._guards[port[0]]
        own = (node.inputs[1], port[1]) if node.kind is Kind.SWITCH else None
        return guard if own is None or own in guard else (*guard, own)

    def _find_branches(self) -> None:
        """Find the branches; those are open in which anything has a time of its own, or is no part of a batch."""
        opened = list(self._entered)
        for place, node in enumerate(self._nodes):
            guard, need = self._guards[place], self._needs[place]
            for predicate in dict.fromkeys([*[one for one, _ in guard], *self._ending(node)]):
                those = self._branches.setdefault(predicate, [])
                those.append(place)
                if self._needs[those[0]] != need or len(guard) > DEEP or not self._may_be_member(node):
                    opened.append(predicate)
        self._leave_open(opened)

    def _leave_open(self, predicates: Iterable[Port]) -> None:
        """Note that branches are not written as an ``if``; those around them are not then, either."""
        todo = [one for one in dict.fromkeys(predicates) if one not in self._open]
        self._open.update(todo)
        places = dict[int, dict[Port, int]]()
        for predicate in todo:  # grows as it is walked
            for k in self._branches.pop(predicate):
                guard = self._guards[k]
                if k not in places:
                    places[k] = {one: place for place, (one, _) in enumerate(guard)}
                for place in range(places[k].get(predicate, len(guard)) - 1, -1, -1):
                    above = guard[place][0]
                    if above in self._open:  # and those around it are, or will be, too
                        break
                    self._open.add(above)
                    todo.append(above)

    def _ending(self, node: FlatNode) -> list[Port]:
        """Return the predicates of branches that begin or end at a node."""
        if node.kind is Kind.SWITCH:
            return [node.inputs[1]]
        if node.kind is Kind.MERGE and not is_loop_merge(node):
            shared = len(self._guards[node.index])
            return [one for arm in node.inputs for one, _ in self._under(arm)[shared:]]
        return []

    def around(self, place: int) -> Guard:
        """Return the branches around a node that are not written as an ``if``."""
        guard = self._guards[place]
        for k, (predicate, _) in enumerate(guard):
            if predicate not in self._open:
                return guard[:k]
        return guard

    # -- members ------------------------------------------------------------------------------------------

    def _may_be_member(self, node: FlatNode) -> bool:
        """Return whether a node can be a part of a batch, if its branch is."""
        kind = node.kind
        if kind is Kind.KERNEL:
            return node.index in self._light and not (node.op.effect or node.op.stateful)  # type: ignore[union-attr]
        if kind is Kind.SWITCH:
            return self._nodes[node.inputs[1][0]].kind is not Kind.LOOP_COND
        return kind is Kind.IDENTITY or (kind is Kind.MERGE and not is_loop_merge(node))

    def _is_member(self, node: FlatNode) -> bool:
        if node.kind is Kind.KERNEL:
            return self._may_be_member(node)
        return self._may_be_member(node) and not any(one in self._open for one in self._ending(node))


#: nodes that nobody waits for
_THERE = (Kind.CONST, Kind.FEED)


class _Groups:
    """Sets of nodes that are joined step by step."""

    def __init__(self, members: Iterable[int]) -> None:
        self._of = {k: k for k in members}

    def join(self, one: int, other: int) -> bool:
        """Put the sets of two nodes together, unless one of them is no member; returns whether they were two."""
        if one not in self._of or other not in self._of:
            return False
        one, other = self._last(one), self._last(other)
        self._of[min(one, other)] = max(one, other)
        return one != other

    def _last(self, one: int) -> int:
        while self._of[one] != one:
            self._of[one] = one = self._of[self._of[one]]
        return one

    def ordered(self, before: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
        """Return the sets by their last nodes, in an order in which they can be run: those are joined that wait for
        each other.

        Parameters
        ----------
        before : mapping
            What each node waits for.
        """
        joined = True
        while joined:
            joined = False
            for k, waits in before.items():
                for there in waits:
                    if self._last(there) > self._last(k):
                        joined |= self.join(k, there)
        made: dict[int, list[int]] = {}
        for one in self._of:
            made.setdefault(self._last(one), []).append(one)
        return dict(sorted(made.items()))
