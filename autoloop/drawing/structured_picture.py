"""The picture of a structured graph: loops and branches as areas that hold their sub-graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.graph import CONST, PARAMETER, Graph, Node
from autoloop_runtime.ir.structured import COND, WHILE
from autoloop_runtime.ir.tensor import Tensor

from .dataflow_picture import source_text
from .labels import type_text, value_text
from .picture import Box, Cluster, Edge, EdgeStyle, Picture, Port


def structured_picture(
    graph: Graph, fetches: Sequence[Tensor], *, title: str = "", note: str = "",
    code_of: Callable[[Node], str] = lambda _: "",
) -> Picture:  # fmt: skip
    """Return the picture of ``graph`` as it was traced, or as the passes left it.

    Parameters
    ----------
    graph : Graph
    fetches : sequence of Tensor
        Drawn as results.
    title, note : str
        The heading, and a line below it.
    code_of : callable
        Gives the code that a node runs, which is shown when the mouse rests on it; nothing where there is none.
    """
    drawer = _Drawer(code_of)
    drawer.graph(graph, 0)
    drawer.results(fetches)
    return Picture(title, note, tuple(drawer.boxes), tuple(drawer.edges), tuple(drawer.clusters))


@dataclass(frozen=True, slots=True)
class _Value:
    """What a tensor is drawn as: an output of a box, or the constant of ``node``."""

    box: str
    tail: Port = (0, 1)
    style: EdgeStyle = "data"
    node: Node | None = None


class _Drawer:
    def __init__(self, code_of: Callable[[Node], str]) -> None:
        self._code_of = code_of
        self.boxes: list[Box] = []
        self.edges: list[Edge] = []
        self.clusters: list[Cluster] = [Cluster(0, -1)]
        self._values: dict[Tensor, _Value] = {}
        self._told: set[tuple[str, Port]] = set()

    def graph(self, graph: Graph, cluster: int) -> None:
        """Draw the nodes of ``graph`` into ``cluster``."""
        for node in graph.nodes:
            if node.op is CONST:
                self._values[node.outputs[0]] = _Value(node.name, node=node)
            elif node.op is PARAMETER:
                if node.outputs[0] not in self._values:
                    self._box(node, "feed", node.name.rpartition("/")[2], cluster)
            elif node.op is WHILE:
                self._while(node, cluster)
            elif node.op is COND:
                self._cond(node, cluster)
            else:
                self._box(node, "kernel", node.op.name, cluster)
                self._inputs(node, cluster)

    def results(self, fetches: Sequence[Tensor]) -> None:
        """Draw an oval that each of ``fetches`` flows into."""
        values = [self._values.get(tensor) for tensor in fetches]
        effects = [value is not None and value.style == "control" for value in values]
        for number, tensor in enumerate(fetches):
            name = "effects" if effects[number] else f"result {number}" if effects.count(False) > 1 else "result"
            self.boxes.append(Box(f"{name}!", "result", name, tip=_type(tensor)))
            self._edge(tensor, f"{name}!", 0)

    # -- nodes --------------------------------------------------------------------------------------------

    def _box(self, node: Node, style: str, label: str, cluster: int) -> None:
        types = ", ".join(_type(t) for t in node.outputs)
        tip = "\n".join(filter(None, [node.name, types, source_text(node.location), self._code_of(node)]))
        note = node.op.doc if node.op.culprit is not None else ""  # an op that stands for several says for which
        self.boxes.append(Box(node.name, style, label, note, cluster, tip, node.location))
        count = len(node.outputs)
        for i, tensor in enumerate(node.outputs):
            token = node.op.effect and i == count - 1
            self._values[tensor] = _Value(node.name, (i, count), "control" if token else "data")

    def _inputs(self, node: Node, cluster: int) -> None:
        inputs = list(node.inputs)
        if node.op.effect and inputs[-1].op.op is CONST:
            inputs.pop()  # the first effect of all waits for nothing
        count = len(inputs) + len(node.control_inputs)
        for i, tensor in enumerate(inputs):
            self._edge(tensor, node.name, cluster, (i, count))
        for i, tensor in enumerate(node.control_inputs, len(inputs)):
            self._edge(tensor, node.name, cluster, (i, count), "control")

    def _edge(
        self, tensor: Tensor, target: str, cluster: int, head: Port = (0, 1), style: EdgeStyle | None = None
    ) -> None:
        value = self._values.get(tensor)
        if value is None or value.node is not None:
            name = f"{tensor.name}@{target}:{head[0]}"
            constant = value.node if value is not None else None
            text = _type(tensor) if constant is None else value_text(constant.attrs["value"])
            self.boxes.append(Box(name, "const", text, "", cluster, _type(tensor)))
            self.edges.append(Edge(name, target, style or "data", head=head))
            return
        label = ""
        if (value.box, value.tail) not in self._told and value.style == "data" and style is None:
            self._told.add((value.box, value.tail))
            label = _type(tensor)
        self.edges.append(Edge(value.box, target, style or value.style, label, value.tail, head))

    def _area(self, parent: int, title: str, of: Node | None = None) -> int:
        location = of.location if of is not None else ()
        self.clusters.append(Cluster(len(self.clusters), parent, title, source_text(location), location))
        return len(self.clusters) - 1

    def _while(self, node: Node, parent: int) -> None:
        attrs, name = node.attrs, node.name
        cond, body, count = attrs["cond"], attrs["body"], attrs["n_vars"]
        area = self._area(parent, f"loop {name}", node)
        variables = [f"{name}/{k}:{v}" for k, v in enumerate(attrs["names"])]
        for k, box in enumerate(variables):
            text = _type(cond.inputs[k])
            self.boxes.append(Box(box, "variable", attrs["names"][k], text, area, f"{name}\n{text}", node.location))
            self._edge(node.inputs[k], box, parent)
            style: EdgeStyle = "control" if k == attrs.get("token") else "data"
            for tensor in (cond.inputs[k], body.inputs[k], node.outputs[k]):
                self._values[tensor] = _Value(box, style=style)
            self._told.add((box, (0, 1)))  # the type stands in the box
        self._captures(node, (cond, body), count, parent)
        inside = self._area(area, "cond")
        self.graph(cond, inside)
        self.boxes.append(
            Box(f"{name}/go on", "loop_cond", "go on?", "", inside, f"the condition of {name}", node.location)
        )
        self._edge(cond.outputs[0], f"{name}/go on", inside)
        inside = self._area(area, "body")
        self.graph(body, inside)
        for k, box in enumerate(variables):
            value = self._values.get(body.outputs[k])
            if value is None or value.box != box:
                self._edge(body.outputs[k], box, inside, style="back")

    def _captures(self, node: Node, graphs: Sequence[Graph], first: int, parent: int) -> None:
        """Draw what the sub-graphs see of the outside as lines that cross their border."""
        skipped = len(node.inputs) - len(graphs[0].inputs)  # a Cond has its predicate before
        for position in range(first, len(graphs[0].inputs)):
            outer = node.inputs[position + skipped]
            value = self._values.get(outer)
            for graph in graphs:
                if value is not None:
                    self._values[graph.inputs[position]] = value

    def _cond(self, node: Node, parent: int) -> None:
        name = node.name
        area = self._area(parent, f"branch {name}", node)
        self.boxes.append(Box(f"{name}/if", "if", "if", "", area, f"the condition of {name}", node.location))
        self._edge(node.inputs[0], f"{name}/if", parent)
        branches = (node.attrs["then"], node.attrs["else"])
        self._captures(node, branches, 0, parent)
        areas = [self._area(area, title) for title in ("then", "else")]
        for graph, inside in zip(branches, areas):
            self.graph(graph, inside)
        for k, tensor in enumerate(node.outputs):
            box = f"{name}/value {k}"
            arms = [self._values.get(graph.outputs[k]) for graph in branches]
            token = any(arm is not None and arm.style == "control" for arm in arms)
            text = "effects" if token else _type(tensor)
            self.boxes.append(Box(box, "value", "value", text, area, f"output {k} of {name}", node.location))
            for side, (graph, inside) in enumerate(zip(branches, areas)):
                self._edge(graph.outputs[k], box, inside, (2 * side, 3), "control" if token else None)
            self.edges.append(Edge(f"{name}/if", box, "control", head=(1, 3)))
            self._values[tensor] = _Value(box, style="control" if token else "data")
            self._told.add((box, (0, 1)))


def _type(tensor: Tensor) -> str:
    return type_text(tensor.dtype, tensor.shape)
