"""Making one node of cheap nodes that are always ready together: the scheduler pays per node.

What a value waits for is a set of *sources*, kept as the bits of an int: heavy nodes, loops, and whatever else may
take long. Cheap nodes that wait for the same sources are ready at the same time, so one region may compute them all:
nothing in it waits for a source that it did not wait for before, and a counter still runs ahead of a heavy chain. No
path leads out of such a set of nodes and back into it, since what lies outside would add a source. A cheap node that
only one region reads is computed there. A whole loop or branch becomes part of a region if all of it is cheap and
each of its results waits for all of its inputs.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..analysis.aliasing import gives_view
from ..analysis.cost import HEAVY, estimate, sized
from ..analysis.inside import loops_inside
from ..analysis.observable import only_computes
from ..analysis.sizes import is_large
from ..analysis.uses import Readers, readers
from ..base.dataclass import dataclass, field
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.op import Op, Taking
from ..ir.stages import Stage, come_to
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE
from .rewrite import Copy, detached, gathered

#: nanoseconds of a region, and what a node of it may cost at most; loops count as nothing, they are not cheap to run
LIMIT = HEAVY
CHEAP = HEAVY / 4
#: what the weight of a region with a loop is taken from: nobody knows how long it runs
ENDLESS = 1e9
REGION = "Region"

#: what makes the kernel of a region from its graph, and tells which of its nodes raised an error
Compile = Callable[[Graph], tuple[Taking, Callable[[BaseException], Any]]]


def form_regions(graph: Graph, compile_region: Compile) -> Graph:
    """Return ``graph`` with its cheap nodes gathered into regions.

    Parameters
    ----------
    graph : Graph
        With inputs and outputs.
    compile_region : callable
        Gives the kernel of a region (which takes its inputs and gives its outputs, a bare value if there is one) with
        the inputs that it writes to, and a function that finds the node of the region that raised an error.
    """
    waits = _Waits()
    waits.graph(graph, [0] * len(graph.inputs))
    made = detached(_Former(waits, compile_region, bool(graph.donated)).graph(graph, None))
    come_to(made, Stage.OPTIMISED)
    return made


def _is_cheap(node: Node) -> bool:
    """Return true for a simple node that is known to take little time."""
    if not only_computes(node):
        return False
    return all(t.shape.num_elements() is not None for t in sized(node)) and estimate(node) <= CHEAP


class _Waits:
    """What every tensor of a graph, and of the graphs inside it, waits for.

    Attributes
    ----------
    masks : dict
        Tensor -> its sources.
    whole : dict
        Structured node -> whether it may be part of a region.
    """

    def __init__(self) -> None:
        self.masks: dict[Tensor, int] = {}
        self.whole: dict[Node, bool] = {}
        #: what each source stands for: a node, or a source in a loop as its last turn left it
        self._bits: dict[Any, int] = {}
        #: by number of source, the loops around it
        self._around: list[tuple[Node, ...]] = []
        self._loops: tuple[Node, ...] = ()
        self._cheap: dict[Node, bool] = {}

    def cheap(self, node: Node) -> bool:
        """Return whether ``node``, with all that is inside it, is cheap."""
        known = self._cheap.get(node)
        if known is None:
            if node.subgraphs:
                known = not (node.control_inputs or node.declared) and all(
                    n.op in (PARAMETER, CONST) or self.cheap(n) for sub in node.subgraphs for n in sub.nodes
                )
            else:
                known = _is_cheap(node)
            self._cheap[node] = known
        return known

    def graph(self, graph: Graph, inputs: Iterable[int]) -> list[int]:
        """Find the masks of ``graph``, whose inputs have the given ones; gives those of its outputs."""
        masks = self.masks
        masks.update(zip(graph.inputs, inputs))
        for node in graph.nodes:
            if node.op in (PARAMETER, CONST):
                masks.setdefault(node.outputs[0], 0)
                continue
            before = 0
            for tensor in (*node.inputs, *node.control_inputs):
                before |= masks[tensor]
            if node.subgraphs:
                results = self._while(node) if node.op is WHILE else self._cond(node)
                self.whole[node] = self.cheap(node) and all(set(r) == {before} for r in results)
                own = 0 if self.whole[node] and not _loops(node) else self._bit(node)
                masks.update((t, own | _union(r)) for t, r in zip(node.outputs, results))
                continue
            own = 0 if self.cheap(node) else self._bit(node)
            masks.update((t, before | own) for t in node.outputs)
        return [masks[t] for t in graph.outputs]

    def _bit(self, source: Any, around: tuple[Node, ...] | None = None) -> int:
        bit = self._bits.get(source)
        if bit is None:
            bit = self._bits[source] = 1 << len(self._bits)
            self._around.append(self._loops if around is None else around)
        return bit

    def _while(self, node: Node) -> list[tuple[int, ...]]:
        """Return per loop variable what it waits for: all turns of the loop are taken together."""
        cond, body, n = node.attrs["cond"], node.attrs["body"], node.attrs["n_vars"]
        held = [self.masks[t] for t in node.inputs]
        outside, self._loops = self._loops, (*self._loops, node)
        while True:
            (asked, *_), results = self.graph(cond, held), self.graph(body, held)
            after = [a | self._older(b | asked, node) for a, b in zip(held, results)]
            if after == held[:n]:
                self._loops = outside
                return [(mask,) for mask in after]
            held[:n] = after

    def _older(self, mask: int, loop: Node) -> int:
        """Return the sources ``mask`` as the next turn of ``loop`` sees them:
        those inside it are those of an earlier turn."""
        older = 0
        while mask:
            bit = mask & -mask
            mask ^= bit
            around = self._around[bit.bit_length() - 1]
            older |= self._bit((loop, bit), around[: around.index(loop)]) if loop in around else bit
        return older

    def _cond(self, node: Node) -> list[tuple[int, ...]]:
        """Return per result what it waits for on the one and on the other side."""
        asked, *held = [self.masks[t] for t in node.inputs]
        sides = [self.graph(node.attrs[key], held) for key in ("then", "else")]
        return [(asked | a, asked | b) for a, b in zip(*sides)]


def _union(masks: Iterable[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union


def _loops(node: Node) -> bool:
    """Return whether ``node`` is a loop, or there is one in it."""
    return node.op is WHILE or bool(loops_inside(*node.subgraphs))


@dataclass(eq=False)
class _Group:
    """Nodes that will be one: in order, and what they cost together."""

    nodes: list[Node] = field(default_factory=list)
    cost: float = 0.0


class _Former:
    """Copies graphs with groups made into nodes."""

    def __init__(self, waits: _Waits, compile_region: Compile, writes: bool) -> None:
        self.waits = waits
        self.compile = compile_region
        #: arrays are written to where they lie, when all that look at them have done so: who has a part is to be seen
        self.writes = writes

    def graph(self, graph: Graph, parent: Graph | None) -> Graph:
        """Return ``graph``, and the graphs inside it, with regions."""
        copy = Copy(graph, Copy.keep, parent)
        reading = readers(graph)
        groups = self._groups(graph, reading)
        units = in_order(graph, groups)
        regions = [unit for unit in units if len(unit) > 1 or (unit[0].subgraphs and unit[0] in groups)]
        members = {node for unit in regions for node in unit}
        serial = 0
        for unit in units:
            first = unit[0]
            if first in members:
                serial += 1
                self._region(copy, unit, reading, serial)
            elif first.op is not CONST or not members.issuperset(reading.nodes(first.outputs[0])):
                self._keep(copy, first)  # regions have copies of the constants that they read
        return copy.finish()

    def _keep(self, copy: Copy, node: Node) -> None:
        subs = {key: self.graph(sub, copy.graph) for key, sub in node.attrs.items() if isinstance(sub, Graph)}
        copy.keep(node, None, {**node.attrs, **subs} if subs else node.attrs)

    def _groups(self, graph: Graph, reading: Readers) -> dict[Node, _Group]:
        """Return the group of each node of ``graph`` that is in one."""
        groups: dict[Node, _Group] = {}
        open_groups: dict[int, _Group] = {}
        for node in graph.nodes:
            if node.op in (PARAMETER, CONST) or not node.outputs or not self._joins(node):
                continue
            key, cost = self.waits.masks[node.outputs[0]], _cost(node)
            group = open_groups.get(key)
            if group is None or group.cost + cost > LIMIT:
                group = open_groups[key] = _Group()
            _add(groups, node, group, cost)
        self._absorb(graph, groups, reading)
        return groups

    def _joins(self, node: Node) -> bool:
        if self.writes and gives_view(node) and any(map(is_large, node.outputs)):
            return False
        return self.waits.whole[node] if node.subgraphs else self.waits.cheap(node)

    def _absorb(self, graph: Graph, groups: dict[Node, _Group], reading: Readers) -> None:
        """Move nodes that only one other group reads into that group."""
        for node in reversed(graph.nodes):
            group = groups.get(node)
            around = {None if n is None else groups.get(n, n) for t in node.outputs for n in reading.nodes(t)}
            if group is not None and not _loops(node) and len(around) == 1:
                (reader,) = around
                if isinstance(reader, _Group) and reader is not group and reader.cost + _cost(node) <= LIMIT:
                    group.nodes.remove(node)
                    group.cost -= _cost(node)
                    _add(groups, node, reader, _cost(node))

    def _region(self, copy: Copy, nodes: list[Node], reading: Readers, serial: int) -> None:
        """Put one node in place of ``nodes``."""
        graph, members = copy.source, set(nodes)
        feeds = list(dict.fromkeys(
            t for node in nodes for t in node.inputs if t.op not in members and t.op.op is not CONST
        ))  # fmt: skip
        fetches = [t for node in nodes for t in node.outputs if not members.issuperset(reading.nodes(t))]
        if not fetches:
            return
        inner = gathered(graph, nodes, feeds, fetches)
        inner.prefix = f"{graph.prefix}/region_{serial}" if graph.prefix else f"region_{serial}"
        cost = ENDLESS if any(_loops(node) for node in nodes) else sum(map(_cost, nodes))
        taking, culprit = self.compile(inner)
        specs = [(t.dtype, t.shape) for t in fetches]
        inferred = specs[0] if len(specs) == 1 else specs
        op = Op(
            REGION,
            lambda *_: inferred,
            taking.kernel if not taking.inputs else partial(_with_copies, taking),
            taking=taking if taking.inputs else None,
            traits=OPAQUE.but(price=lambda *_: cost),
            culprit=culprit,
            stands_for=inner,
            several=len(specs) != 1,
            doc=_summary(nodes),
        )
        made = Node(copy.graph, op, tuple([copy.stands(t) for t in feeds]), {}, specs, inner.prefix, nodes[-1].location)
        copy.graph.nodes.append(made)
        copy.of.update(zip(fetches, made.outputs))


def _with_copies(taking: Taking, *args: Any) -> Any:
    """Return what a kernel gives that must not write to what it is given."""
    return taking.kernel(*[np.array(arg) if k in taking.inputs else arg for k, arg in enumerate(args)])


def _cost(node: Node) -> float:
    return sum(map(_cost, [n for sub in node.subgraphs for n in sub.nodes])) if node.subgraphs else estimate(node)


def _add(groups: dict[Node, _Group], node: Node, group: _Group, cost: float) -> None:
    groups[node] = group
    group.nodes.append(node)
    group.cost += cost


def _summary(nodes: list[Node]) -> str:
    names = [node.op.name for node in nodes]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def in_order(graph: Graph, groups: Mapping[Node, Any]) -> list[list[Node]]:
    """Return the groups, and each other node alone, so that everything comes after what it reads."""
    place = {node: i for i, node in enumerate(graph.nodes)}
    units: dict[Any, list[Node]] = {}
    for node in graph.nodes:
        units.setdefault(groups.get(node, node), []).append(node)
    unit_of = {node: key for key, nodes in units.items() for node in nodes}
    missing: dict[Any, int] = {}
    followers: dict[Any, list[Any]] = {}
    for key, nodes in units.items():
        sources = {unit_of[t.op] for n in nodes for t in (*n.inputs, *n.control_inputs)} - {key}
        missing[key] = len(sources)
        for source in sources:
            followers.setdefault(source, []).append(key)
    ready = [(place[nodes[0]], key) for key, nodes in units.items() if not missing[key]]
    heapq.heapify(ready)
    order = []
    while ready:
        _, key = heapq.heappop(ready)
        order.append(units[key])
        for follower in followers.get(key, ()):
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, (place[units[follower][0]], follower))
    assert len(order) == len(units), "a path leads out of a region and back"
    return order
