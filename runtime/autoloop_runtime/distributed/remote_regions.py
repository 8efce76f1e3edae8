"""Which parts of a graph may be worth another machine: a pure pass that makes one node of each.

A *unit* is a node that takes long by itself, loops and branches with all that is inside them included. Units that
follow each other with nothing beside them are one region: what is between them need not come back. Cheap nodes whose
arrays lie where a region leaves them, or that only one region reads, belong to that region, so that cheap work goes to
the data. Other cheap nodes that wait for the same regions are a *light* region, which goes to its data where that is
large. Nothing in a region waits for what the region did not wait for before, so independent chains stay apart.

A loop is one unit, or it is *opened*: where its iterations hold several units that need not wait for each other, or
do something besides computing. Then the regions are found in its body, and the loop runs here.

What is done with a region is decided when it is to run, see ``remote_driver``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..analysis.cost import estimate, expected_trips, sized
from ..analysis.induction import trip_count
from ..analysis.inside import nodes_inside
from ..analysis.observable import has_effect
from ..analysis.sizes import LARGE, bytes_of
from ..analysis.uses import Readers, readers
from ..base.dataclass import dataclass, field
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.op import Op
from ..ir.prices import Products
from ..ir.stages import Stage, come_to
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE
from ..passes.regions import in_order
from ..passes.rewrite import Copy, detached, gathered

REMOTE = "RemoteRegion"
#: nanoseconds of a node that may be worth sending; and of what nobody knows before it has run
UNIT = 1e6
UNKNOWN = 10e6
#: what units of a loop's body take at least, on average, for the loop to be opened, and how much faster it must get
OPENED, GAIN = 4e6, 1.3
#: seconds that it takes at most to make a region ready for its first run
READY = 0.05
#: iterations that are played to see what waits for what
_PLAYED = 4


class Region:
    """What a node that stands for a region calls: it computes it here.

    Attributes
    ----------
    graph : Graph
        What it computes.
    program : callable
        Computes it, and can be sent if ``program.content`` is not None.
    seconds : float or None
        How long it takes, as far as that is known.
    sizes : list of int or None
        Bytes of each of its results, as far as shapes tell.
    is_learnt : bool
        Whether it was measured how long it takes.
    is_unknown : bool
        Whether nothing was known of that before.
    """

    __slots__ = ("_has_run", "graph", "is_learnt", "is_unknown", "program", "seconds", "sizes")

    def __init__(self, graph: Graph, program: Any, nanoseconds: float | None) -> None:
        self.graph, self.program = graph, program
        self.seconds = None if nanoseconds is None else nanoseconds * 1e-9
        self.sizes = [bytes_of(t) for t in graph.outputs]
        self.is_unknown = nanoseconds is None
        self.is_learnt = self._has_run = False

    def __call__(self, *values: Any) -> Any:
        """Compute it here."""
        return self.program(*values)

    def learn(self, seconds: float) -> None:
        """Note how long it has taken. What the first run does besides, to make ready and compile, counts only where
        nothing else is known and it cannot be much; of those that follow the least counts."""
        is_first, self._has_run = not self._has_run, True
        if is_first and (self.seconds is not None or seconds < READY):
            return
        self.seconds = min(self.seconds, seconds) if self.is_learnt and self.seconds is not None else seconds
        self.is_learnt = True

    def took_at_most(self, seconds: float) -> None:
        """Note how long it has taken elsewhere, with all that it has waited for: what shapes tell may be too much."""
        if not self.is_learnt and self.seconds is not None:
            self.seconds = min(self.seconds, seconds)

    def culprit(self, error: BaseException) -> tuple[Node, list[tuple[Node, int]]] | None:
        """Return which of its nodes raised an error that came from elsewhere; None if that is not told."""
        name = getattr(error, "__autoloop_node__", None)
        found = next((node for node in nodes_inside(self.graph) if node.name == name), None)
        return None if found is None else (found, [])


def with_remote_regions(graph: Graph, pack: Callable[[Graph], Any]) -> Graph | None:
    """Return ``graph`` with a node for each region; None if there is nothing in it that may be worth sending.

    Parameters
    ----------
    graph : Graph
        After the passes.
    pack : callable
        Gives the program of a region's graph, see ``Region``.
    """
    finder = _Finder(pack)
    if not finder.holds_units(graph):
        return None
    made = detached(finder.graph(graph, None))
    come_to(made, Stage.OPTIMISED)
    return made if finder.count else None


@dataclass(eq=False)
class _Group:
    """Nodes that will be one, in order; ``needs``: the sources that it waits for, ``bit``: itself as one."""

    needs: int
    bit: int
    units: list[Node] = field(default_factory=list)


class _Finder:
    """Finds regions and copies graphs with them."""

    def __init__(self, pack: Callable[[Graph], Any]) -> None:
        self._pack = pack
        self.count = 0
        self._work: dict[Node, float | None] = {}
        self._opened: dict[Node, bool] = {}
        self._pure: dict[Node, bool] = {}

    # -- what nodes are ---------------------------------------------------------------------------------------

    def work(self, node: Node) -> float | None:
        """Return nanoseconds that a node takes with all that is inside it; None if only a run tells."""
        if node not in self._work:
            self._work[node] = self._found_work(node)
        return self._work[node]

    def _found_work(self, node: Node) -> float | None:
        if not node.subgraphs:
            is_told = all(t.shape.num_elements() is not None for t in sized(node))
            return estimate(node) if is_told or not isinstance(node.op.traits.price, Products) else None
        inside = [self._sum(sub.nodes) for sub in node.subgraphs]
        known = [one for one in inside if one is not None]
        if node.op is not WHILE:
            return max(known) if len(known) == len(inside) else None
        whole = sum(known) * expected_trips(node)
        if len(known) == len(inside) and (trip_count(node) is not None or whole > UNIT):
            return whole
        return None

    def _sum(self, nodes: Iterable[Node]) -> float | None:
        found = [self.work(node) for node in nodes]
        return None if None in found else sum(one or 0.0 for one in found)

    def is_pure(self, node: Node) -> bool:
        """Return whether a node may run elsewhere: it only computes numbers from numbers."""
        if node not in self._pure:
            plain = not (node.control_inputs or node.declared or node.op in (PARAMETER, CONST))
            plain = plain and not any(t.dtype.kind == "O" for t in (*node.inputs, *node.outputs))
            self._pure[node] = plain and bool(node.outputs) and not has_effect(node)
        return self._pure[node]

    def is_unit(self, node: Node) -> bool:
        """Return whether a node may be worth sending by itself."""
        if not self.is_pure(node) or self.is_opened(node):
            return False
        work = self.work(node)
        return work > UNIT if work is not None else True

    def is_opened(self, node: Node) -> bool:
        """Return whether the regions of a loop or branch are found inside it."""
        if node not in self._opened:
            self._opened[node] = bool(node.subgraphs) and self._is_to_open(node)
        return self._opened[node]

    def _is_to_open(self, node: Node) -> bool:
        if not any(map(self.holds_units, node.subgraphs)):
            return False
        if not self.is_pure(node):
            return True
        if node.op is not WHILE:
            return False
        units = [n for sub in node.subgraphs for n in sub.nodes if self.is_unit(n) or self.is_opened(n)]
        times = [self._time(unit) for unit in units]
        if any(map(self.is_opened, units)):
            return True
        return len(times) > 0 and sum(times) / len(times) > OPENED and self._gain(node, sum(times)) > GAIN

    def _time(self, node: Node) -> float:
        work = self.work(node)
        return UNKNOWN if work is None else work

    def _gain(self, loop: Node, each: float) -> float:
        """Return how many units of a loop run at a time, at best, if an iteration takes ``each`` one by one."""
        n, held = loop.attrs["n_vars"], [0.0] * len(loop.inputs)
        ends = 0.0
        for _ in range(_PLAYED):
            decided = self._play(loop.attrs["cond"], held, 0.0)[0]
            results = self._play(loop.attrs["body"], held, decided)
            ends = max([ends, *self._ends])
            held[:n] = results
        return each * _PLAYED / max(ends, 1.0)

    def _play(self, graph: Graph, arrivals: Sequence[float], start: float) -> list[float]:
        """Return when the outputs are there if any number of units can run at once."""
        at: dict[Tensor, float] = dict(zip(graph.inputs, arrivals))
        self._ends = [start]
        for node in graph.nodes:
            ready = max([start, *[at.get(t, start) for t in (*node.inputs, *node.control_inputs)]])
            if self.is_unit(node):
                ready += self._time(node)
                self._ends.append(ready)
            for t in node.outputs:
                at.setdefault(t, ready)
        return [at[t] for t in graph.outputs]

    def holds_units(self, graph: Graph) -> bool:
        """Return whether there is something worth sending in a graph, at any depth."""
        return any(self.is_unit(n) or self.is_opened(n) for n in graph.nodes)

    # -- copying ----------------------------------------------------------------------------------------------

    def graph(self, graph: Graph, parent: Graph | None, around: Node | None = None) -> Graph:
        """Return a graph with its regions, and those of loops that are opened; it is part of the node ``around``."""
        copy = Copy(graph, Copy.keep, parent)
        reading = readers(graph)
        groups = _Grouping(self, graph, reading, self._arriving(graph, around)).groups
        units = in_order(graph, groups)
        for nodes in units:
            first = nodes[0]
            if first in groups:
                self._region(copy, nodes, reading, bool(groups[first].units))
            elif self.is_opened(first):
                subs = {k: self.graph(v, copy.graph, first) for k, v in first.attrs.items() if isinstance(v, Graph)}
                copy.keep(first, None, {**first.attrs, **subs})
            elif not (_is_small_constant(first.outputs[:1]) and groups.keys() >= reading.nodes(first.outputs[0])):
                copy.keep(first)  # regions have copies of small constants
        return copy.finish()

    def _arriving(self, graph: Graph, around: Node | None) -> Mapping[Tensor, bool]:
        """Return the inputs of a graph that have values of their own each time, and whether these may come late: for
        they wait for something that takes long, of the iteration before."""
        if around is None:
            return {}
        if around.op is not WHILE:
            return dict.fromkeys(graph.inputs, True)
        n, body = around.attrs["n_vars"], around.attrs["body"]
        late: set[int] = set()
        while True:
            found = {t for k, t in enumerate(body.inputs) if k in late}
            for node in body.nodes:
                own = node.op not in (PARAMETER, CONST) and (self.is_unit(node) or not self.is_pure(node))
                if own or self.is_opened(node) or not found.isdisjoint((*node.inputs, *node.control_inputs)):
                    found.update(node.outputs)
            after = late | {k for k, t in enumerate(body.outputs[:n]) if t in found}
            if after == late:
                return {t: k in late for k, t in enumerate(graph.inputs[:n])}
            late = after

    def _region(self, copy: Copy, nodes: list[Node], reading: Readers, is_heavy: bool) -> None:
        """Put one node in place of several."""
        members = set(nodes)
        feeds = list(dict.fromkeys(
            t for node in nodes for t in node.inputs if t.op not in members and not _is_small_constant([t])
        ))  # fmt: skip
        fetches = [t for node in nodes for t in node.outputs if not members.issuperset(reading.nodes(t))]
        if not fetches:
            return
        self.count += 1
        inner = gathered(copy.source, nodes, feeds, fetches)
        inner.prefix = nodes[0].name
        work = self._sum(nodes)
        region = Region(inner, self._pack(inner), work)
        specs = [(t.dtype, t.shape) for t in fetches]
        inferred = specs[0] if len(specs) == 1 else specs
        price = UNKNOWN if work is None else work
        op = Op(
            REMOTE, lambda *_: inferred, region, traits=OPAQUE.but(price=lambda *_: price), culprit=region.culprit,
            stands_for=inner, several=len(specs) != 1, doc="a part that may run on another machine",
        )  # fmt: skip
        unit = next((node for node in nodes if self.is_unit(node)), nodes[-1])
        made = Node(copy.graph, op, tuple([copy.stands(t) for t in feeds]), {}, specs, unit.name, unit.location)
        copy.graph.nodes.append(made)
        copy.of.update(zip(fetches, made.outputs))


class _Grouping:
    """Which nodes of one graph are a region together.

    Attributes
    ----------
    groups : dict
        Node -> its group.
    """

    def __init__(self, finder: _Finder, graph: Graph, reading: Readers, arriving: Mapping[Tensor, bool]) -> None:
        self._finder, self._reading, self._arriving = finder, reading, arriving
        #: the sources where cheap work goes: arrays that may lie elsewhere; and those that are there from the beginning
        self._drawing = self._resting = 0
        self.groups: dict[Node, _Group] = {}
        self._masks: dict[Tensor, int] = {}
        self._of_bit: dict[int, _Group] = {}
        self._light: dict[int, _Group] = {}
        self._bits = 0
        self._nearest(graph)
        for node in graph.nodes:
            own = self._source(node)
            self._masks.update((t, own) for t in node.outputs)
        self._absorb(graph)

    def _bit(self) -> int:
        self._bits += 1
        return 1 << self._bits

    def _source(self, node: Node) -> int:
        """Return the sources that what a node gives waits for; the node is put into its group, if it is in one."""
        finder = self._finder
        if node.op is PARAMETER:
            return self._of_input(node.outputs[0])
        if node.op is CONST:
            return 0
        before = 0
        for tensor in (*node.inputs, *node.control_inputs):
            before |= self._masks.get(tensor, 0)
        is_unit = finder.is_unit(node)
        if not is_unit and not before & self._drawing and finder.is_pure(node) and not finder.is_opened(node):
            return before
        if finder.is_opened(node) or not finder.is_pure(node):
            return before | self._drawn()
        group = self._follows(node, before) if is_unit else self._at(before)
        if group is None:
            group = _Group(before, self._drawn())
            self._of_bit[group.bit] = group
            if not is_unit:
                self._light[before] = group
        self.groups[node] = group
        if is_unit:
            group.units.append(node)
        return before | group.needs | group.bit

    def _of_input(self, tensor: Tensor) -> int:
        if not self._reading.nodes(tensor) or not self._arriving:
            return 0
        size = bytes_of(tensor)
        is_large = tensor.shape.rank != 0 and tensor.dtype.kind != "O" and (size is None or size >= LARGE)
        late = self._arriving.get(tensor)
        if not is_large:
            return self._bit() if late else 0
        bit = self._drawn()
        if late is None:
            self._resting |= bit
        return bit

    def _drawn(self) -> int:
        bit = self._bit()
        self._drawing |= bit
        return bit

    def _at(self, before: int) -> _Group | None:
        """Return the region that a cheap node can be a part of, for all that it waits for is there."""
        for bit in _bits_of(before):
            group = self._of_bit.get(bit)
            if group is not None and not before & ~(group.needs | bit | self._resting):
                return group
        return self._light.get(before)

    def _follows(self, node: Node, before: int) -> _Group | None:
        """Return the region of the unit that this one follows with nothing beside it."""
        group = self._at(before)
        if group is None or not group.units:
            return None
        last = group.units[-1]
        alone = self._before.get(node) == {last} and self._after.get(last) == {node}
        return group if alone else None

    def _nearest(self, graph: Graph) -> None:
        """Find which units, and nodes that stay here, come next after each other, with cheap ones between."""
        near: dict[Tensor, frozenset[Node]] = {}
        self._before: dict[Node, set[Node]] = {}
        self._after: dict[Node, set[Node]] = {}
        for node in graph.nodes:
            found = frozenset().union(*[near.get(t, frozenset()) for t in (*node.inputs, *node.control_inputs)])
            if node.op in (PARAMETER, CONST):
                continue
            if self._finder.is_unit(node) or not self._finder.is_pure(node) or self._finder.is_opened(node):
                self._before[node] = set(found)
                for one in found:
                    self._after.setdefault(one, set()).add(node)
                found = frozenset([node])
            near.update((t, found) for t in node.outputs)

    def _absorb(self, graph: Graph) -> None:
        """Move cheap nodes that only one region reads into that one, if they wait for none, or do not make less of what
        one gives."""
        for node in reversed(graph.nodes):
            own = self.groups.get(node)
            if (own is not None and own.units) or not self._finder.is_pure(node) or self._finder.is_opened(node):
                continue
            around = {None if n is None else self.groups.get(n) for t in node.outputs for n in self._reading.nodes(t)}
            if len(around) != 1:
                continue
            (group,) = around
            if group is None or group is own:
                continue
            if own is None and not self._masks[node.outputs[0]] & ~(group.needs | self._resting):
                self.groups[node] = group
            elif own is not None and group.units and _keeps_size(node):
                self.groups[node] = group  # what it gives would be as much to move as what it gets


def _bits_of(mask: int) -> list[int]:
    """Return the bits of a set, the newest first."""
    found = []
    while mask:
        bit = 1 << (mask.bit_length() - 1)
        mask ^= bit
        found.append(bit)
    return found


def _keeps_size(node: Node) -> bool:
    """Return whether a node gives at least as much as the largest thing that it gets."""
    given, got = ([bytes_of(t) or LARGE for t in those] for those in (node.outputs, node.inputs))
    return sum(given) >= max(got, default=0)


def _is_small_constant(outputs: Sequence[Tensor]) -> bool:
    return any(t.op.op is CONST and (bytes_of(t) or 0) < LARGE for t in outputs)
