"""The nodes that stand for batches, and for bundles, in place of those that they are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..analysis.ownership import Ownership
from ..base.dataclass import replace
from .batch_doors import ALWAYS, ENDS, GOES_ON, Doors
from .batch_step import Batch
from .bundles import Bundle, Travellers, Variable
from .dependence import Dependence
from .flat_graph import GONE, FlatNode, Kind, Lowered, Port, renamed
from .loop_turns import condition_of, side_of
from .packed_bundles import MachinePart


class JoinedBatches:
    """Puts batches together.

    Parameters
    ----------
    lowered : Lowered
    found : Dependence
    groups : sequence of sequence of int
        The nodes of each batch.
    times : sequence of float
        How long each node takes.
    owned : Ownership
    machine : mapping
        See ``batches.with_batches``.
    """

    def __init__(
        self, lowered: Lowered, found: Dependence, groups: Sequence[Sequence[int]], times: Sequence[float],
        owned: Ownership, machine: Mapping[tuple[int, ...], MachinePart],
    ) -> None:  # fmt: skip
        self._lowered, self._nodes, self._owned, self._machine = lowered, lowered.nodes, owned, machine
        self._groups, self._times = groups, times
        self._where = [-1] * len(lowered.nodes)
        for k, group in enumerate(groups):
            for index in group:
                self._where[index] = k
        self._conditions = [condition_of(lowered.nodes, group) for group in groups]
        self._made = [node if here < 0 else GONE for node, here in zip(lowered.nodes, self._where)]
        #: what each batch is given: the port of a token, or None if that is the value's own, and its values
        self._given: list[list[tuple[Port | None, list[Port]]]] = [[] for _ in groups]
        #: what each batch gives: its values, by token
        self._gives: list[list[list[Port]]] = [[] for _ in groups]
        #: whose place a value's token has
        self._tokens: dict[Port, Port] = {}
        self._travellers = Travellers(lowered, found, self._where)
        #: nodes to be made when all tokens are known: their inputs are values
        self._later: list[FlatNode] = []

    def lowered(self) -> Lowered:
        """Return the graph."""
        inputs, outputs = self._values()
        bundles = self._travellers.bundles()
        self._bundle_variables(bundles, inputs, outputs)
        self._bundle_exits(outputs)
        self._bundle_between(inputs, outputs)
        for k, ports in enumerate(outputs):
            for port in sorted(ports):
                self._gives[k].append([port])
                self._tokens[port] = self._groups[k][0], len(self._gives[k]) - 1
        for k in range(len(self._groups)):
            self._add_batch(k, sorted(inputs[k]))
        return self._finished()

    def _values(self) -> tuple[list[dict[Port, None]], list[dict[Port, None]]]:
        """Return what each batch needs from elsewhere, and what others want of it."""
        inputs, outputs = [[dict[Port, None]() for _ in self._groups] for _ in range(2)]
        for port, users in self._travellers.wanted.items():
            if self._where[port[0]] >= 0:
                outputs[self._where[port[0]]][port] = None
            for place in users:
                if self._where[place] >= 0 and self._nodes[port[0]].kind is not Kind.CONST:
                    inputs[self._where[place]][port] = None
        for port in self._lowered.fetches:
            if self._where[port[0]] >= 0:
                outputs[self._where[port[0]]][port] = None
        return inputs, outputs

    # -- bundles ------------------------------------------------------------------------------------------

    def _bundle_variables(
        self, bundles: Sequence[Bundle], inputs: list[dict[Port, None]], outputs: list[dict[Port, None]]
    ) -> None:  # fmt: skip
        left = {port: len(users) for port, users in self._travellers.wanted.items()}
        for bundle in bundles:
            those = bundle.variables
            first, made = those[0], [one.made for one in those]
            for user in sorted(bundle.users):
                self._given[user].append((self._joined(those), [one.inside for one in those]))
                for one in those:
                    inputs[user].pop(one.inside, None)
            self._gives[bundle.maker].append(made)
            token = self._groups[bundle.maker][0], len(self._gives[bundle.maker]) - 1
            self._replace(those[-1].following, token)
            for one in those:
                left[one.made] -= 1
                if not left[one.made] and one.made not in self._lowered.fetches:
                    outputs[bundle.maker].pop(one.made, None)
            self._add_packing(those, bundle.starts)
            if first.switch is not None and any(one.exit is not None for one in those):
                self._add_exit(those, [(one.switch.index, 0) for one in those if one.switch is not None])
        for bundle in bundles:
            for one in bundle.variables:
                for node in (one.enter, one.merge, one.switch, one.following):
                    if node is not None and self._made[node.index] is node:
                        self._made[node.index] = GONE

    def _replace(self, node: FlatNode, *inputs: Port) -> None:
        """Let a node take these tokens."""
        self._made[node.index] = replace(node, inputs=inputs)

    def _joined(self, those: Sequence[Variable]) -> Port:
        """Make the Merge and Switch of a bundle; returns the token that batches are given."""
        first, last = those[0], those[-1].following
        self._made[first.merge.index] = replace(first.merge, inputs=((first.enter.index, 0), (last.index, 0)))
        if first.switch is None:
            return first.merge.index, 0
        self._later.append(replace(first.switch, inputs=((first.merge.index, 0), first.switch.inputs[1])))
        return first.switch.index, 1

    def _add_packing(self, those: Sequence[Variable], given: Sequence[Port]) -> None:
        """Make what puts the values together that variables start as."""
        enter, second = those[0].enter, those[1].enter
        sources = [one.enter.inputs[0] for one in those]
        self._replace(enter, (second.index, 0))
        if not given:
            value = tuple([self._nodes[index].value for index, _ in sources])
            self._made[second.index] = self._new(second, Kind.CONST, enter, (), 1, value)
            return
        doors = Doors([1] * len(given), [len(sources)])
        packing = Batch(self._lowered, (), given, sources, self._owned, (), 0, None, doors)
        self._later.append(self._new(second, Kind.BATCH, enter, given, 1, packing))

    def _new(
        self, place: FlatNode, kind: Kind, door: FlatNode, inputs: Sequence[Port], outputs: int, value: Any
    ) -> FlatNode:  # fmt: skip
        """Return a node in the place of another, outside of the loop that ``door`` leads into or out of."""
        frame = self._lowered.frames[door.frame].parent
        return FlatNode(
            place.index, kind, place.name, tuple(inputs), (), frame, door.source, None, {}, outputs, False, value
        )  # fmt: skip

    def _bundle_exits(self, outputs: list[dict[Port, None]]) -> None:
        """Let what leaves a loop by a turn travel together."""
        for k, condition in enumerate(self._conditions):
            leaving = [port for port in outputs[k] if side_of(self._nodes, condition, port) == ENDS]
            if len(leaving) < 2:
                continue
            exits = [self._nodes[self._travellers.wanted[port][0]] for port in leaving]
            self._gives[k].append(leaving)
            self._replace(exits[0], (self._groups[k][0], len(self._gives[k]) - 1))
            self._add_unpacking(exits[1].index, exits[0], leaving, leaving, exits)
            for port in leaving:
                del outputs[k][port]
            for node in exits[2:]:
                self._made[node.index] = GONE

    def _add_exit(self, those: Sequence[Variable], ports: list[Port]) -> None:
        """Let a bundle leave its loop."""
        assert those[0].switch is not None and those[1].switch is not None
        exits = [one.exit for one in those if one.exit is not None]
        for node in exits[1:]:
            self._made[node.index] = GONE
        self._replace(exits[0], (those[0].switch.index, 0))
        wanted = [port for port, one in zip(ports, those) if one.exit is not None]
        self._add_unpacking(those[1].switch.index, exits[0], ports, wanted, exits)

    def _add_unpacking(
        self, place: int, leaving: FlatNode, ports: list[Port], wanted: list[Port], exits: Sequence[FlatNode]
    ) -> None:  # fmt: skip
        """Make what takes a bundle apart that has left a loop."""
        doors = Doors([len(ports)], [1] * len(wanted))
        value = Batch(self._lowered, (), ports, wanted, self._owned, (), 0, None, doors)
        made = self._new(self._nodes[place], Kind.BATCH, leaving, [(leaving.index, 0)], len(wanted), value)
        self._made[place] = made
        self._tokens.update({(node.index, 0): (place, k) for k, node in enumerate(exits)})

    def _bundle_between(self, inputs: list[dict[Port, None]], outputs: list[dict[Port, None]]) -> None:
        """Let what one batch makes for one other travel together."""
        for k, ports in enumerate(outputs):
            condition = self._conditions[k]
            for side in (ALWAYS, GOES_ON):
                those = [port for port in sorted(ports) if side_of(self._nodes, condition, port) == side]
                for together in self._travellers.between(those):
                    user = self._where[self._travellers.wanted[together[0]][0]]
                    self._gives[k].append(together)
                    token = self._groups[k][0], len(self._gives[k]) - 1
                    self._given[user].append((token, together))
                    for port in together:
                        del ports[port]
                        del inputs[user][port]

    # -- nodes --------------------------------------------------------------------------------------------

    def _add_batch(self, k: int, singles: Sequence[Port]) -> None:
        group, condition = self._groups[k], self._conditions[k]
        given = [*self._given[k], *[(None, [port]) for port in singles]]
        inputs = [port for _, ports in given for port in ports]
        outputs = [port for ports in self._gives[k] for port in ports]
        sides = [min([side_of(self._nodes, condition, port) for port in ports]) for ports in self._gives[k]]
        doors = Doors([len(ports) for _, ports in given], list(map(len, self._gives[k])), sides, condition)
        first = self._nodes[group[0]]
        each = [self._times[index] for index in group if self._nodes[index].kind is Kind.KERNEL]
        value = Batch(
            self._lowered, group, inputs, outputs, self._owned, each, k, self._machine.get(tuple(group)), doors
        )
        ports = [self._tokens.get(ports[0], ports[0]) if port is None else port for port, ports in given]
        self._made[group[0]] = FlatNode(
            group[0], Kind.BATCH, first.name, tuple(ports), (), first.frame, first.source, None, {},
            len(self._gives[k]), False, value,
        )  # fmt: skip

    def _finished(self) -> Lowered:
        tokens: Mapping[Port, Port] = self._tokens
        for k, node in enumerate(self._made):
            if node is self._nodes[k]:
                self._made[k] = renamed(node, tokens)
        for node in self._later:
            self._made[node.index] = renamed(node, tokens)
        fetches = tuple([tokens.get(port, port) for port in self._lowered.fetches])
        return replace(self._lowered, nodes=tuple(self._made), fetches=fetches)
