"""The picture of a flat dataflow graph: Enter, Merge, LoopCond, Switch, NextIteration, Exit."""

from __future__ import annotations

import linecache
from collections.abc import Sequence

from autoloop_runtime.analysis.needed import Needed
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.locations import Location
from autoloop_runtime.dataflow.flat_graph import FlatNode, FrameInfo, Kind, Lowered, Port
from autoloop_runtime.dataflow.lowering import lower
from autoloop_runtime.ir.graph import Graph, Node
from autoloop_runtime.ir.tensor import Tensor

from .labels import PortTypes, place_text, value_text
from .picture import Box, Cluster, Edge, EdgeStyle, Picture

_STYLES = {
    Kind.KERNEL: "kernel", Kind.FEED: "feed", Kind.IDENTITY: "identity", Kind.ENTER: "enter", Kind.MERGE: "merge",
    Kind.LOOP_COND: "loop_cond", Kind.SWITCH: "switch", Kind.NEXT_ITERATION: "next", Kind.EXIT: "exit",
}  # fmt: skip
#: the nodes after which an edge tells its type; the others hand on what they get
_TELLS_TYPE = (Kind.KERNEL, Kind.FEED, Kind.EXIT)


def dataflow_picture(
    graph: Graph,
    fetches: Sequence[Tensor],
    feeds: Sequence[Tensor] = (),
    *,
    title: str = "",
    note: str = "",
    keep_variables: bool = True,
) -> Picture:
    """Return the picture of ``lower(graph, fetches, feeds)``.

    Parameters
    ----------
    graph, fetches, feeds
        As for ``lower``.
    title, note : str
        The heading, and a line below it.
    keep_variables : bool
        Draw loop variables that never change with a Merge, Switch, NextIteration and Exit of their own, as
        the books do; the graph that runs takes them in as loop invariants.
    """
    lowered = lower(graph, fetches, feeds, keep_variables=keep_variables)
    return lowered_picture(lowered, fetches, feeds, title, note)


def lowered_picture(
    lowered: Lowered, fetches: Sequence[Tensor], feeds: Sequence[Tensor], title: str = "", note: str = ""
) -> Picture:
    """Return the picture of what ``lower`` has made."""
    variables = _variables(lowered, Needed(fetches, feeds))
    return _Drawer(lowered, variables, PortTypes(lowered, tuple(feeds))).picture(title, note)


@dataclass(frozen=True, slots=True)
class _Variables:
    """By node index: the user's name of the loop variable that a node serves, and those that serve effects."""

    names: dict[int, str]
    tokens: frozenset[int]


def _variables(lowered: Lowered, needed: Needed) -> _Variables:
    names: dict[int, str] = {}
    tokens: set[int] = set()
    by_source: dict[tuple[Node | None, int, Kind], list[FlatNode]] = {}
    for node in lowered.nodes:
        if not node.constant:
            by_source.setdefault((node.source, node.frame, node.kind), []).append(node)
    for frame in lowered.frames[1:]:
        loop = frame.source
        assert loop is not None
        merges = by_source.get((loop, frame.index, Kind.MERGE), [])
        variables = _moving(loop, sorted(needed.variables[loop]), len(merges))
        for kind in (Kind.ENTER, Kind.MERGE, Kind.SWITCH, Kind.NEXT_ITERATION):
            for node, k in zip(by_source.get((loop, frame.index, kind), []), variables):
                names[node.index] = loop.attrs["names"][k]
                if k == loop.attrs.get("token"):
                    tokens.add(node.index)
    for node in lowered.nodes:
        if node.kind is Kind.EXIT:
            names[node.index] = names.get(node.inputs[0][0], "")
    return _Variables(names, frozenset(tokens))


def _moving(loop: Node, variables: list[int], count: int) -> list[int]:
    """Return the variables that got a Merge: all, or those that the body changes; lowering keeps their order."""
    body, token = loop.attrs["body"], loop.attrs.get("token")
    changed = [k for k in variables if k == token or body.outputs[k] is not body.inputs[k]]
    return next((v for v in (variables, changed, variables[:1]) if len(v) == count), [])


def source_text(location: Location) -> str:
    """Return ``file.py:12  while i < n:`` of the innermost line."""
    if not location:
        return ""
    text = linecache.getline(location[-1].filename, location[-1].lineno).strip()
    return f"{place_text(location)}  {text}" if text else place_text(location)


class _Drawer:
    def __init__(self, lowered: Lowered, variables: _Variables, types: PortTypes) -> None:
        self.lowered = lowered
        self.variables = variables
        self.types = types
        self.boxes: list[Box] = []
        self.edges: list[Edge] = []
        self._told: set[Port] = set()
        used = {port for node in lowered.nodes for port in (*node.inputs, *node.controls)} | set(lowered.fetches)
        self._unused = {n.index for n in lowered.nodes if n.kind is Kind.EXIT and (n.index, 0) not in used}
        self._tokens = self._token_ports()

    def picture(self, title: str, note: str) -> Picture:
        for node in self.lowered.nodes:
            if node.kind is not Kind.CONST:
                self.boxes.append(self._box(node))
        for node in self.lowered.nodes:
            self._inputs(node)
        self._results()
        clusters = tuple([self._cluster(f) for f in self.lowered.frames])
        return Picture(title, note, tuple(self.boxes), tuple(self.edges), clusters)

    def _token_ports(self) -> set[Port]:
        """Return the ports that order effects and have no value of their own."""
        found: set[Port] = set()
        for node in self.lowered.nodes:
            if node.kind is Kind.KERNEL and node.op is not None and node.op.effect:
                found.add((node.index, node.outputs - 1))
            # what hands on a token hands on nothing else; a loop's token comes from its first Enter
            carries = node.index in self.variables.tokens or any(port in found for port in node.inputs)
            if carries and node.kind not in (Kind.KERNEL, Kind.LOOP_COND):
                found.update((node.index, i) for i in range(node.outputs))
        return found

    def _cluster(self, frame: FrameInfo) -> Cluster:
        if frame.source is None:
            return Cluster(0, -1)
        location = frame.source.location
        return Cluster(frame.index, frame.parent, f"frame {frame.name}", source_text(location), location)

    def _cluster_of_constants(self, node: FlatNode) -> int:
        """Return where the constants of a node are drawn: beside it, but before an Enter still outside."""
        return self.lowered.frames[node.frame].parent if node.kind is Kind.ENTER else node.frame

    def _box(self, node: FlatNode) -> Box:
        style, label = _STYLES[node.kind], node.kind.value
        note = self.variables.names.get(node.index, "")
        if node.kind is Kind.KERNEL:
            assert node.op is not None
            variable = getattr(node.attrs.get("variable"), "name", "").partition(":")[0]
            label, note = node.op.name, variable or _own_name(node.name, node.op.name)
        elif node.kind is Kind.FEED:
            label = node.name
        elif node.constant:
            style, note = "invariant", self._name_of(node.inputs[0])
        elif node.kind is Kind.IDENTITY:
            label = "id"
        elif node.index in self._unused:
            style = "unused"
        elif node.kind is Kind.SWITCH and node.name.rpartition("/")[2].startswith("pivot"):
            note = "pivot"
        location = node.source.location if node.source is not None else ()
        tip = "\n".join(filter(None, [node.name, self.types.text((node.index, 0)), source_text(location)]))
        return Box(node.name, style, label, note, node.frame, tip, location)

    def _name_of(self, port: Port) -> str:
        """Return what a value is called: an argument, a loop variable, or the operation that makes it."""
        node = self.lowered.nodes[port[0]]
        if node.kind is Kind.FEED:
            return node.name
        if node.constant:
            return self._name_of(node.inputs[0])
        if node.kind is Kind.CONST:
            return value_text(node.value)
        return self.variables.names.get(node.index, "") or (node.op.name if node.op is not None else "")

    def _inputs(self, node: FlatNode) -> None:
        inputs = list(node.inputs)
        if node.op is not None and node.op.effect and self.lowered.nodes[inputs[-1][0]].kind is Kind.CONST:
            inputs.pop()  # the first effect of all waits for nothing
        count = len(inputs) + len(node.controls)
        inside = self._cluster_of_constants(node)
        looped = node.kind is Kind.MERGE and self._comes_back(node.inputs[-1])
        for i, port in enumerate(inputs):
            head = (0, 1) if looped else (i, count)
            self._edge(port, node.name, inside, head, back=looped and self._comes_back(port))
        for i, port in enumerate(node.controls, len(inputs)):
            self._edge(port, node.name, inside, (i, count), control=True)

    def _edge(
        self, port: Port, target: str, cluster: int, head: Port, back: bool = False, control: bool = False
    ) -> None:
        source = self.lowered.nodes[port[0]]
        if source.kind is Kind.CONST:
            # every use has its own small box, so that constants pull no long lines through the picture
            name = f"{source.name}@{target}:{head[0]}"
            tip = f"{source.name}\n{self.types.text(port)}"
            self.boxes.append(Box(name, "const", value_text(source.value), "", cluster, tip))
            self.edges.append(Edge(name, target, head=head))
            return
        style: EdgeStyle = "data"
        if back:
            style = "back"
        elif control or port in self._tokens:
            style = "control"
        tail = (port[1], source.outputs)
        self.edges.append(Edge(source.name, target, style, self._label(source, port, style), tail, head))

    def _comes_back(self, port: Port) -> bool:
        return self.lowered.nodes[port[0]].kind is Kind.NEXT_ITERATION

    def _label(self, source: FlatNode, port: Port, style: EdgeStyle) -> str:
        if source.kind is Kind.SWITCH:
            return "FT"[port[1]]
        if source.kind not in _TELLS_TYPE or port in self._told or style == "control":
            return ""
        self._told.add(port)
        return self.types.text(port)

    def _results(self) -> None:
        effects = [port in self._tokens for port in self.lowered.fetches]
        for number, port in enumerate(self.lowered.fetches):
            name = "effects" if effects[number] else f"result {number}" if effects.count(False) > 1 else "result"
            self.boxes.append(Box(f"{name}!", "result", name, tip=self.types.text(port)))
            self._edge(port, f"{name}!", 0, (0, 1))


def _own_name(name: str, op: str) -> str:
    """Return the last part of a node's name if somebody chose it: not ``add_3`` for an add."""
    last = name.rpartition("/")[2]
    stem, _, number = last.rpartition("_")
    usual = stem if number.isdigit() else last
    return "" if usual.lower() == op.lower() else last
