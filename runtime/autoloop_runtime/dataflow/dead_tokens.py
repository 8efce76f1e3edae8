"""Dead tokens, by the rule of the books: of a node with a dead input all outputs are dead, up to a Merge one input of
which lives, and to the NextIteration and Exit of the loop in an iteration of which they are.

``frames.State`` sends none, see there; this tells who would have got one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from .flat_graph import FlatNode, Kind, Lowered, Port


class Consumers:
    """Who takes what leaves each port of a graph.

    Attributes
    ----------
    of : dict of Port to list of (FlatNode, int)
        The nodes, and which of their inputs it is; -1 if it only says when they run.
    fetches : dict of Port to list of int
        The numbers of the fetches.
    tokens : list of int
        By node: how many of its inputs tokens come by.
    """

    def __init__(self, lowered: Lowered) -> None:
        self.of: dict[Port, list[tuple[FlatNode, int]]] = defaultdict(list)
        self.fetches: dict[Port, list[int]] = defaultdict(list)
        self.tokens: list[int] = []
        for node in lowered.nodes:
            for position, port in enumerate(node.inputs):
                self.of[port].append((node, position))
            for port in node.controls:
                self.of[port].append((node, -1))
            moving = [p for p in (*node.inputs, *node.controls) if not lowered.nodes[p[0]].resting]
            self.tokens.append(len(moving))
        for number, port in enumerate(lowered.fetches):
            self.fetches[port].append(number)


class DeadTokens:
    """The dead tokens of a run.

    Parameters
    ----------
    lowered : Lowered
    consumers : Consumers
    """

    def __init__(self, lowered: Lowered, consumers: Consumers) -> None:
        self._nodes, self._to = lowered.nodes, consumers
        #: by iteration and node: how many dead inputs have come
        self._came: Counter[tuple[int, int]] = Counter()
        #: by iteration and frame inside of it: how many of its Enters are dead
        self._dead_enters: Counter[tuple[int, int]] = Counter()
        self._enters = Counter(
            [node.frame for node in lowered.nodes if node.kind is Kind.ENTER and consumers.tokens[node.index]]
        )
        self._exits: dict[int, list[FlatNode]] = defaultdict(list)
        for node in lowered.nodes:
            if node.kind is Kind.EXIT:
                self._exits[node.frame].append(node)

    def leave(self, port: Port, at: int) -> Iterator[FlatNode]:
        """Yield the nodes that are dead in iteration ``at`` once a dead token has left by ``port``, in turn."""
        frame = self._nodes[port[0]].frame
        ports = [port]
        for one in ports:  # grows as it is walked
            for node, _ in self._to.of.get(one, ()):
                self._came[at, node.index] += 1
                if self._came[at, node.index] < self._to.tokens[node.index]:
                    continue
                yield node
                if node.kind is Kind.ENTER:
                    for left in self._left(node.frame, at):
                        yield left
                        ports.append((left.index, 0))
                elif node.frame != frame or node.kind not in (Kind.NEXT_ITERATION, Kind.EXIT):
                    ports += [(node.index, k) for k in range(node.outputs)]

    def _left(self, frame: int, at: int) -> list[FlatNode]:
        """Return the Exits of a loop that a dead Enter kills: it is not run if all its Enters are dead."""
        self._dead_enters[at, frame] += 1
        return self._exits[frame] if self._dead_enters[at, frame] == self._enters[frame] else []
