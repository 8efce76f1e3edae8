"""What a piece of a flat graph does, as a graph of its own: an ``if`` is a Cond of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..base.shapes import TensorShape
from ..ir.graph import CONST, Graph, Node
from ..ir.prices import Price
from ..ir.structured import finish_cond
from ..ir.tensor import Tensor
from .flat_graph import FlatNode, Kind, Lowered, Port
from .packed_bundles import Bundles, Form, Layout
from .packed_graphs import arrays_of, parameters_of, value_in

#: what is asked by an ``if`` or a loop
BOOLEAN: Form = np.dtype(bool), ()


@dataclass(frozen=True)
class Choice:
    """An ``if`` in a piece.

    Attributes
    ----------
    predicate : Port
    then, otherwise : sequence of FlatNode or Choice
    values : sequence of (Port, Port, Port)
        What it gives: the value, and what that is if the predicate is true, and if it is false.
    """

    predicate: Port
    then: Sequence[Member]
    otherwise: Sequence[Member]
    values: Sequence[tuple[Port, Port, Port]]


Member = FlatNode | Choice


class Told:
    """What is told of a piece.

    Parameters
    ----------
    lowered : Lowered
    known : int
        Bytes of a constant that stands in it, at most.
    given : sequence of (ports, Layout)
        Bundles that it is given packed.
    """

    def __init__(self, lowered: Lowered, known: int, given: Bundles = ()) -> None:
        self.given = given
        #: where values are that come in bundles
        self.packed = {port: (t, k) for t, (ports, _) in enumerate(given) for k, port in enumerate(ports)}
        self.flats, self._known = lowered.nodes, known
        self.members: list[Member] = []
        #: those in the place of which other pieces of its kind may have others
        self.numbers: list[Any] = []
        #: the dtype and shape of each input, and of what is made
        self.forms: dict[Port, Form] = {}

    def root(self, port: Port) -> Port:
        """Return the constant that a port brings and that stands in the piece; itself if it brings none."""
        here = self.flats[port[0]]
        while here.kind is Kind.ENTER and here.constant:
            here = self.flats[here.inputs[0][0]]
        return (here.index, 0) if self.is_known(here) else port

    def is_known(self, flat: FlatNode) -> bool:
        """Return whether a node is a constant that stands in the piece."""
        return flat.kind is Kind.CONST and getattr(flat.value, "nbytes", self._known + 1) <= self._known

    def is_packed(self, root: Port, form: Form) -> bool:
        """Return whether a value comes in a bundle, as what it is used as."""
        t, k = self.packed.get(root, (-1, -1))
        return t >= 0 and self.given[t][1].forms[k] == form


class PieceGraph:
    """The graph of a piece.

    Parameters
    ----------
    told : Told
    places : sequence of int
        See ``Piece.graph``.

    Attributes
    ----------
    graph : Graph
    """

    def __init__(self, told: Told, places: Sequence[int]) -> None:
        self._told = told
        self.graph = graph = Graph(ordered=any(isinstance(one, Choice) for one in told.members))
        dtypes = dict(zip(places, [number.dtype for number in told.numbers]))
        self._scalars = [
            graph.parameter(dtypes[k], TensorShape(()), f"n{k}") for k in range(max(places, default=-1) + 1)
        ]
        self._bundles = [parameters_of(graph, layout) for _, layout in told.given]
        self._of: dict[Port, Tensor] = {}
        self._numbers: Iterator[int] = iter(places)
        self._add(graph, told.members)

    def give(self, outputs: Sequence[Port], packed: Sequence[tuple[Layout, list[Port]]]) -> Graph:
        """Return the graph with these outputs, and those bundles behind them."""
        graph, of = self.graph, self._of
        graph.outputs = [of[port] for port in outputs]
        for layout, ports in packed:
            graph.outputs += arrays_of(graph, layout, [of[port] for port in ports])
        return graph

    def _add(self, here: Graph, members: Sequence[Member]) -> None:
        for flat in members:
            if isinstance(flat, Choice):
                self._choose(here, flat)
                continue
            node = flat.source
            assert node is not None
            inputs = tuple([self._value(here, port, form_of(t), node) for port, t in zip(flat.inputs, node.inputs)])
            specs = [(t.dtype, t.shape) for t in node.outputs]
            made = Node(here, node.op, inputs, node.attrs, specs, node.name, node.location)
            here.nodes.append(made)
            self._of[flat.index, 0] = made.outputs[0]

    def _choose(self, here: Graph, choice: Choice) -> None:
        predicate, forms = self._value(here, choice.predicate, BOOLEAN), self._told.forms
        then, otherwise = Graph("then", here), Graph("else", here)
        self._add(then, choice.then)
        self._add(otherwise, choice.otherwise)
        ones, others = list[Tensor](), list[Tensor]()
        for port, one, other in choice.values:
            ones.append(self._value(then, one, forms[port]))
            others.append(self._value(otherwise, other, forms[port]))
        made = finish_cond(here, "branch", predicate, then, ones, otherwise, others)
        self._of.update(zip([port for port, _, _ in choice.values], made))

    def _value(self, here: Graph, port: Port, form: Form, node: Node | None = None) -> Tensor:
        """Return a value as it is seen from ``here``: what comes from outside is in the outermost graph."""
        told, graph, of, (dtype, axes) = self._told, self.graph, self._of, form
        root, shape = told.root(port), TensorShape(axes)
        flat = told.flats[root[0]]
        is_known = told.is_known(flat)
        number = next(self._numbers) if is_known and may_be_input(node, form) else -1
        if number >= 0:
            return here.capture(self._scalars[number])
        if root not in of and is_known:
            made = Node(graph, CONST, (), {"value": flat.value}, [(dtype, shape)], flat.name, ())
            graph.nodes.append(made)
            of[root] = made.outputs[0]
        elif root not in of and told.is_packed(root, form):
            t, k = told.packed[root]
            of[root] = value_in(graph, told.given[t][1], self._bundles[t], k)
        elif root not in of:
            of[root] = graph.parameter(dtype, shape, f"x{len(of)}")
        return here.capture(of[root])


def may_be_input(node: Node | None, form: Form) -> bool:
    """Return whether an operation takes no longer for a number that only a call tells.

    That is so of arithmetic, and not of functions, of which some are simple for some numbers (``x ** 2``), nor of a
    division of integers.
    """
    if node is None or form[1]:
        return False
    traits, kind = node.op.traits, form[0].kind
    if not traits.elementwise or traits.price is not Price.ARITHMETIC:
        return False
    if kind in "fc":
        return True
    code = [text for kinds, text in (node.op.llvm or {}).items() if kind in kinds]
    return kind in "iu" and bool(code) and "@" not in code[0].replace("@llvm.", "")


def form_of(tensor: Tensor) -> Form:
    """Return the dtype and shape of a tensor."""
    return tensor.dtype, tensor.shape.as_tuple()
