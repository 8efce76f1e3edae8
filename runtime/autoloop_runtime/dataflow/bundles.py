"""Bundles: values that always travel together are one token, a tuple.

So are variables of a loop that come together, are made by one batch and wanted by the same batches; and what one batch
makes for one other. Each of them would have a Merge, a Switch and a NextIteration of its own, or at least a place to
be put. Only values that take little memory travel so: a bundle is let go of as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.sizes import may_hold_memory
from ..base.dataclass import dataclass
from ..ir.tensor import Tensor
from .dependence import Dependence, is_loop_merge
from .flat_graph import FlatNode, Kind, Lowered, Port


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a loop, by the nodes that its token goes through.

    Attributes
    ----------
    switch : FlatNode or None
        None if it goes straight into a turn.
    exit : FlatNode or None
    """

    enter: FlatNode
    merge: FlatNode
    switch: FlatNode | None
    following: FlatNode
    exit: FlatNode | None

    @property
    def inside(self) -> Port:
        """The value that batches are given."""
        return (self.merge.index, 0) if self.switch is None else (self.switch.index, 1)

    @property
    def made(self) -> Port:
        """The value that it has next."""
        return self.following.inputs[0]


@dataclass(frozen=True, slots=True)
class Bundle:
    """Variables that travel together.

    Attributes
    ----------
    variables : list of Variable
    maker : int
        The batch that makes them.
    users : frozenset of int
        The batches that they go to.
    starts : Sequence of Port
        What they start as, and what it is waited for if that is at rest; without constants.
    """

    variables: Sequence[Variable]
    maker: int
    users: frozenset[int]
    starts: Sequence[Port]


class Travellers:
    """Finds what travels together.

    Parameters
    ----------
    lowered : Lowered
    found : Dependence
    where : sequence of int
        The number of the batch that each node is in, or -1.
    """

    def __init__(self, lowered: Lowered, found: Dependence, where: Sequence[int]) -> None:
        self._lowered, self._nodes, self._found, self._where = lowered, lowered.nodes, found, where
        #: who wants what others have made
        self.wanted: dict[Port, list[int]] = {}
        for place, node in enumerate(self._nodes):
            for port in node.inputs + node.controls:
                if where[place] < 0 or where[port[0]] != where[place]:
                    self.wanted.setdefault(port, []).append(place)
        self._fetched = set(lowered.fetches)

    def bundles(self) -> list[Bundle]:
        """Return the bundles of variables."""
        together: dict[tuple[int, int, int, int, bool, int], list[tuple[Variable, frozenset[int]]]] = {}
        numbers: dict[frozenset[int], int] = {}
        for frame, members in enumerate(self._found.members):
            for node in members if frame else ():
                variable = self._variable(node) if self._is_small_variable(node) else None
                if variable is None:
                    continue
                users = self._users(variable.inside)
                maker = self._where[variable.made[0]]
                key = (
                    frame, self._found.class_of(node.index), self._found.needs[variable.enter.index], maker,
                    variable.switch is None, numbers.setdefault(users, len(numbers)),
                )  # fmt: skip
                if maker >= 0 and users and -1 not in users:
                    together.setdefault(key, []).append((variable, users))
        made = []
        for key, those in together.items():
            starts = self._starts([variable for variable, _ in those]) if len(those) > 1 else None
            if starts is not None:
                made.append(Bundle([variable for variable, _ in those], key[3], those[0][1], starts))
        return made

    def _starts(self, variables: Sequence[Variable]) -> list[Port] | None:
        """Return what variables start as, and what it is waited for if that is at rest; None if that is not known."""
        first = variables[0].enter
        ports = [one.enter.inputs[0] for one in variables]
        ports = [port for port in dict.fromkeys(ports) if self._nodes[port[0]].kind is not Kind.CONST]
        if not ports or not all(self._nodes[index].resting for index, _ in ports):
            return ports
        for node in self._found.members[first.frame]:
            opens = node.kind is Kind.ENTER and not self._nodes[node.inputs[0][0]].resting
            if opens and self._found.needs[node.index] == self._found.needs[first.index]:
                return [*ports, node.inputs[0]]
        return None

    def between(self, ports: Sequence[Port]) -> Iterator[list[Port]]:
        """Yield those of the values that one batch gives that go to one other batch only, by that."""
        together: dict[int, list[Port]] = {}
        for port in ports:
            users = self._users(port)
            if len(users) == 1 and -1 not in users and is_small(self._lowered, port):
                together.setdefault(min(users), []).append(port)
        for those in together.values():
            if len(those) > 1:
                yield those

    def _users(self, port: Port) -> frozenset[int]:
        """Return the batches that want a value; -1 if anyone else does."""
        users = frozenset([self._where[place] for place in self.wanted.get(port, ())])
        return users | {-1} if port in self._fetched else users

    def _is_small_variable(self, node: FlatNode) -> bool:
        return is_loop_merge(node) and len(node.inputs) == 2 and is_small(self._lowered, (node.index, 0))

    def _variable(self, merge: FlatNode) -> Variable | None:
        """Return a variable of which every user is known; None if anyone else wants it."""
        enter, following = [self._nodes[index] for index, _ in merge.inputs]
        users = self.wanted.get((merge.index, 0), [])
        if enter.kind is not Kind.ENTER or enter.constant or following.kind is not Kind.NEXT_ITERATION:
            return None
        if all(self._where[place] >= 0 for place in users):
            return Variable(enter, merge, None, following, None)
        switch = self._nodes[users[0]]
        if len(users) > 1 or switch.kind is not Kind.SWITCH:
            return None
        leaving = [self._nodes[place] for place in self.wanted.get((switch.index, 0), ())]
        if len(leaving) > 1 or any(node.kind is not Kind.EXIT for node in leaving):
            return None
        return Variable(enter, merge, switch, following, leaving[0] if leaving else None)


def is_small(lowered: Lowered, port: Port) -> bool:
    """Return whether a value is known to take little memory."""
    tensor = tensor_at(lowered, port)
    return tensor is not None and not may_hold_memory(tensor)


def tensor_at(lowered: Lowered, port: Port) -> Tensor | None:
    """Return what is known of a value; None if that is nothing."""
    node = lowered.nodes[port[0]]
    while node.kind in (Kind.SWITCH, Kind.IDENTITY, Kind.LOOP_COND):
        port = node.inputs[0]
        node = lowered.nodes[port[0]]
    source = node.source
    if node.kind is Kind.KERNEL and source is not None and source.op is node.op and port[1] < len(source.outputs):
        return source.outputs[port[1]]
    if not is_loop_merge(node):
        return None
    loop = lowered.frames[node.frame]
    found = [k for k, there in loop.values.items() if there == port]
    if not found or loop.source is None:
        return None
    tensor: Tensor = loop.source.attrs["body"].inputs[found[0]]
    return tensor
