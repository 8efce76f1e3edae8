"""Parts of a flat graph as graphs of their own: what a source of faster kernels is asked for.

A piece is one node, or a batch of light nodes that are run together. What it is called with are the values of ports;
constants stand in it. But pieces that differ in numbers only are of one kind: the numbers that are not the same in all
of them may be inputs, and be handed over at each call, so that one kernel does them all.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

from ..analysis.aliasing import is_fresh
from ..analysis.cost import estimate
from ..analysis.observable import is_pure
from ..analysis.ownership import overwritten
from ..analysis.sizes import bytes_of
from ..analysis.weight import is_bulky
from ..base.dataclass import Protocol, dataclass, replace
from ..ir.graph import Graph, Node
from ..ir.prices import Price
from .batch_code import BatchTree, by_token, made_by_kernels
from .batch_doors import ENDS
from .batch_step import Batch
from .bundles import tensor_at
from .execution_plan import kernel_of
from .flat_graph import FlatNode, Kind, Lowered, Port
from .loop_items import PART, Part
from .packed_bundles import Bundles, Form, Layout, layout_of
from .piece_graphs import BOOLEAN, Choice, Member, PieceGraph, Told, form_of, may_be_input

Kernel = Callable[..., Any]

#: bytes from which on a result rather takes over the memory of an argument
IN_PLACE = 1 << 22
#: bytes of a constant that stands in a piece: of one node, and of a batch, to which it cannot be given
KNOWN, KNOWN_TO_BATCH = 64, 1 << 16


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a flat graph.

    Attributes
    ----------
    key : tuple of int
        The node, or the nodes of the batch; see ``Part``.
    inputs : tuple of Port
    nodes : tuple of Node
        What it does.
    kind : Hashable
        Equal for pieces that do the same, with other numbers.
    numbers : tuple of scalar
        Those, by where they are used.
    plain : callable or None
        What does it now; None for a batch.
    graph_with : callable
        See ``graph``.
    parts : callable
        Gives the pieces of its nodes, where it is of many: for where there is no kernel for all of it.
    results, given, made
        See ``MachinePart``.
    """

    key: tuple[int, ...]
    inputs: tuple[Port, ...]
    nodes: tuple[Node, ...]
    kind: Hashable
    numbers: tuple[Any, ...]
    plain: Kernel | None
    graph_with: Callable[[Sequence[int]], Graph]
    parts: Callable[[], Sequence[Piece]] = tuple
    results: tuple[Port, ...] = ()
    given: Bundles = ()
    made: Bundles = ()

    def graph(self, places: Sequence[int] = ()) -> Graph:
        """Return it as a graph of exact shapes.

        Its inputs are numbers, where ``places`` tells of those which input they are, not -1, then the arrays of
        ``given``, and then the values of ``inputs``.
        """
        return self.graph_with(places or [-1] * len(self.numbers))

    @property
    def is_batch(self) -> bool:
        """Whether it is of a batch, or a part of a loop; one kernel is a batch if it is given bundles."""
        return len(self.key) > 1 or bool(self.given)

    @property
    def nanoseconds(self) -> float:
        """How long it takes, roughly."""
        return sum(map(estimate, self.nodes))


class _Numbered(Protocol):
    """What has numbers."""

    @property
    def numbers(self) -> tuple[Any, ...]: ...


def differing(pieces: Sequence[_Numbered]) -> tuple[list[int], list[list[Any]]]:
    """Return which numbers of pieces of one kind are not the same in all of them.

    Returns
    -------
    list of int
        For each place the number of an input, or -1.
    list of list
        For each piece the values of those inputs.
    """
    known: dict[tuple[tuple[str, bytes], ...], int] = {}
    places, first = list[int](), list[int]()
    for place, column in enumerate(zip(*[piece.numbers for piece in pieces])):
        told = tuple([(one.dtype.str, one.tobytes()) for one in column])  # 0.0 and -0.0 are two, nan is one
        if len(set(told)) == 1:
            places.append(-1)
            continue
        if told not in known:
            known[told] = len(first)
            first.append(place)
        places.append(known[told])
    return places, [[piece.numbers[place] for place in first] for piece in pieces]


def pieces_of(lowered: Lowered, joined: Sequence[FlatNode], loops: Iterable[Piece] = ()) -> Iterator[Piece]:
    """Yield parts of a graph for which other kernels may stand: ``loops``, batches among ``joined``, and nodes beside
    them.

    Each node gives arrays that are its own, of shapes that are known, and does more than go through memory. What writes
    to its inputs stays as it is, and so does what may be given the memory of one, unless it gains more by another
    kernel.
    """
    inside = set[int]()
    for loop in loops:
        inside.update(loop.key)
        yield _with_parts(loop, lowered, [lowered.nodes[k] for k in loop.key if k != PART])
    for one in joined:
        if one.kind is Kind.BATCH and (piece := _of_batch(lowered, one.value)) is not None:
            inside.update(piece.key)
            yield piece
    for flat in lowered.nodes:
        if flat.kind is Kind.KERNEL and flat.index not in inside and _is_replaceable(flat):
            yield _of_node(lowered, flat)


def _is_replaceable(flat: FlatNode) -> bool:
    node = flat.source
    if node is None or not only_gives(flat, node) or is_bulky(node) or not all(map(is_fresh, node.outputs)):
        return False
    size = bytes_of(node.outputs[0])
    return not overwritten(node) or (node.op.traits.price is Price.FUNCTION and size is not None and size < IN_PLACE)


def only_gives(flat: FlatNode, node: Node) -> bool:
    """Return whether a kernel only gives one array of a known shape."""
    if node.op is not flat.op or not is_pure(node) or node.op.several or node.op.taking is not None:
        return False
    return all(t.shape.is_fully_defined() for t in (*node.inputs, *node.outputs))


def _of_node(lowered: Lowered, flat: FlatNode) -> Piece:
    told = Maker(lowered, KNOWN)
    told.add(flat)
    kernel = kernel_of(flat)
    assert kernel is not None
    roots = [told.root(port) for port in flat.inputs]
    if roots != told.inputs:
        places = [told.inputs.index(root) if root in told.inputs else -1 for root in roots]
        kernel = _expanded(kernel, places, [lowered.nodes[root[0]].value for root in roots])
    return told.piece((flat.index,), [(flat.index, 0)], kernel)


def _expanded(kernel: Kernel, places: Sequence[int], known: Sequence[Any]) -> Kernel:
    """Return a kernel that is given each value once, and no constants."""

    def called(*values: Any) -> Any:
        return kernel(*[known[k] if place < 0 else values[place] for k, place in enumerate(places)])

    return called


def _of_batch(lowered: Lowered, batch: Batch) -> Piece | None:
    """Return the piece of a batch of kernels that only give arrays; None if there is anything else in it, or only one
    that is given no bundles.

    That of a turn of a loop does what the body does whatever the condition is: it only computes.
    """
    if len(batch.members) < 2 and not batch.doors.bundles:
        return None
    tree, doors = BatchTree(batch.lowered, batch.members, batch.outputs), batch.doors
    given, made = _packed_inputs(lowered, batch), _packed_outputs(lowered, batch, tree)
    told = Maker(lowered, KNOWN_TO_BATCH, given)
    for index in batch.members:
        flat = lowered.nodes[index]
        if doors.predicate is not None and only_leads(flat, doors.predicate):
            continue
        if flat.kind is not Kind.KERNEL or flat.source is None or not only_gives(flat, flat.source):
            return None
        is_turn = doors.predicate is not None
        told.add(replace(flat, inputs=tuple(map(tree.source, flat.inputs))) if is_turn else flat)
    outputs = made_by_kernels(tree, doors, by_token(doors.made, batch.outputs, made))
    if not (outputs or made) or not set(told.inputs) <= set(batch.inputs):
        return None  # a constant is too large to stand in it
    if not all(is_fresh(lowered.nodes[k].source.outputs[j]) for k, j in outputs):  # type: ignore[union-attr]
        return None
    piece = told.piece(tuple(batch.members), outputs, None, made, tree.source)
    return _with_parts(piece, lowered, [lowered.nodes[k] for k in batch.members])


def piece_of_part(lowered: Lowered, part: Part, source: Callable[[Port], Port]) -> Piece:
    """Return the piece of kernels of a loop that is run as one; ``source``: tells what has made a value."""
    told = Maker(lowered, KNOWN_TO_BATCH)
    for run in part.items:
        told.add(replace(run.flat, inputs=tuple(map(source, run.flat.inputs))))
    return told.piece(part.key, part.outputs, None, (), source)


def _packed_inputs(lowered: Lowered, batch: Batch) -> Bundles:
    """Return the bundles that a batch is given packed."""
    tokens = _tokens(batch.doors.given, batch.inputs)
    return [(ports, layout) for ports in tokens if (layout := _layout(lowered, ports)) is not None]


def _packed_outputs(lowered: Lowered, batch: Batch, tree: BatchTree) -> Bundles:
    """Return the bundles that a batch gives packed: those of what it makes, if they do not leave a loop by it."""
    found, doors = [], batch.doors
    for those, side in zip(_tokens(doors.made, batch.outputs), doors.sides):
        made = all(tree.source(port)[0] in tree.members for port in those)
        layout = _layout(lowered, those) if made and side != ENDS else None
        if layout is not None:
            found.append((those, layout))
    return found


def _tokens(counts: Sequence[int], ports: Sequence[Port]) -> Iterator[tuple[Port, ...]]:
    """Yield the values of each token."""
    place = 0
    for count in counts:
        yield tuple(ports[place : place + count])
        place += count


def _layout(lowered: Lowered, ports: Sequence[Port]) -> Layout | None:
    """Return how a bundle is packed; None if it is not."""
    tensors = [tensor_at(lowered, port) for port in ports] if len(ports) > 1 else [None]
    forms = [(t.dtype, t.shape.as_tuple()) for t in tensors if t is not None and t.shape.is_fully_defined()]
    return layout_of(tuple(forms)) if len(forms) == len(ports) else None


def only_leads(flat: FlatNode, condition: Port | None) -> bool:
    """Return whether a node of a turn only tells where a value goes."""
    if flat.kind is Kind.SWITCH:
        return flat.inputs[1] == condition
    return flat.kind in (Kind.LOOP_COND, Kind.IDENTITY)


def _with_parts(piece: Piece, lowered: Lowered, nodes: Sequence[FlatNode]) -> Piece:
    return replace(
        piece,
        parts=lambda: [_of_node(lowered, flat) for flat in nodes if flat.kind is Kind.KERNEL and _is_replaceable(flat)],
    )


class Maker(Told):
    """Tells what a piece does; see ``Told``."""

    def __init__(self, lowered: Lowered, known: int, given: Bundles = ()) -> None:
        super().__init__(lowered, known, given)
        #: what is said of each value where kinds are compared
        self._told: dict[Port, Hashable] = {}
        self._kinds: list[Hashable] = []
        self._nodes: list[Node] = []
        self.inputs: list[Port] = []
        #: what is made in branches that have ended
        self.hidden: set[Port] = set()

    def add(self, flat: FlatNode) -> None:
        """Add a kernel."""
        node = flat.source
        assert node is not None
        told = tuple([self._value(port, form_of(tensor), node) for port, tensor in zip(flat.inputs, node.inputs)])
        self.members.append(flat)
        self._nodes.append(node)
        self._kinds.append((node.op, tuple(sorted(node.attrs.items())), told, *map(form_of, node.outputs)))
        self._told[flat.index, 0] = len(self._kinds)
        self.forms[flat.index, 0] = form_of(node.outputs[0])

    def choose(
        self, predicate: Port, sides: Sequence[Callable[[], bool]], values: Sequence[tuple[Port, Port, Port]],
        form: Callable[[Port], Form | None],
    ) -> bool:  # fmt: skip
        """Add an ``if``; returns False if it cannot be told.

        Parameters
        ----------
        predicate : Port
        sides : pair of callable
            Adds what is done if the predicate is true, and if it is false, or returns False.
        values : sequence of (Port, Port, Port)
            See ``Choice``.
        form : callable
            Tells the dtype and shape of a value that is handed on.
        """
        around, known, inside = self.members, set(self.forms), list[list[Member]]()
        self._kinds.append(("if", self._value(predicate, BOOLEAN)))
        for add in sides:
            self.members = []
            if not add():
                return False
            inside.append(self.members)
            self._kinds.append("ends")
        self.members = around
        made = dict[Port, Form]()
        for k, (port, one, other) in enumerate(values):
            found = form(one)
            if found is None or found != form(other) or not self.hidden.isdisjoint((one, other)):
                return False
            self._kinds.append((self._value(one, found), self._value(other, found)))
            self._told[port] = "chosen", len(self._kinds), k
            made[port] = found
        self.hidden.update(self.forms.keys() - known - set(self.inputs))
        self.forms |= made
        self.members.append(Choice(predicate, inside[0], inside[1], values))
        return True

    def makes(self, port: Port) -> bool:
        """Return whether a kernel in it makes a value."""
        return port in self.forms and port not in self.inputs

    def _value(self, port: Port, form: Form, node: Node | None = None) -> Hashable:
        """Return what is said of an input of ``node``, or of what is asked or handed on by a branch."""
        root = self.root(port)
        flat = self.flats[root[0]]
        if self.is_known(flat):
            if not may_be_input(node, form):
                return form, flat.value.tobytes()
            self.numbers.append(flat.value[()])
            return form, "a number"
        if root not in self._told and self.is_packed(root, form):
            t, k = self.packed[root]
            self._told[root] = "packed", t, k, self.given[t][1].forms
        elif root not in self._told:
            self.inputs.append(root)
            self.forms[root] = form
            self._told[root] = (form, -len(self.inputs))
        return self._told[root]

    def piece(
        self, key: tuple[int, ...], outputs: Sequence[Port], plain: Kernel | None, made: Bundles = (),
        source: Callable[[Port], Port] | None = None,
    ) -> Piece:  # fmt: skip
        """Return it; ``made``: bundles that it gives, ``source``: tells what has made a value of those."""
        packed = [(one, [port if source is None else source(port) for port in ports]) for ports, one in made]
        kind: Hashable = (
            tuple(self._kinds), tuple([self._told[port] for port in outputs]),
            tuple([(one.forms, *[self._told[port] for port in ports]) for one, ports in packed]),
        )  # fmt: skip
        try:
            hash(kind)
        except TypeError:
            kind = key
        graph = functools.partial(self._graph, outputs, packed)
        return Piece(
            key, tuple(self.inputs), tuple(self._nodes), kind, tuple(self.numbers), plain, graph,
            results=tuple(outputs), given=self.given, made=made,
        )  # fmt: skip

    def _graph(
        self, outputs: Sequence[Port], packed: Sequence[tuple[Layout, list[Port]]], places: Sequence[int]
    ) -> Graph:  # fmt: skip
        """Return what ``Piece.graph`` does."""
        return PieceGraph(self, places).give(outputs, packed)
