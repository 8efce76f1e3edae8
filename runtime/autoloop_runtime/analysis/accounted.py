"""How much a graph computes, reads and writes, and holds at once, as far as static shapes and trip counts tell.

What a node does is what its row states of its price. A loop of which the number of turns is not known counts as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base.dataclass import dataclass
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.prices import Price, Products, elements
from ..ir.structured import WHILE
from ..ir.tensor import Tensor
from .aliasing import gives_view
from .induction import trip_count


@dataclass(frozen=True)
class Accounted:
    """What one run of a graph takes.

    Attributes
    ----------
    flops : float
        Arithmetic on floating-point numbers: one for each element, two for each multiply-add of a product.
    transcendentals : float
        Elements of ``exp`` and its like.
    moved : float
        Bytes of what operations read and write.
    loops : tuple of (Node, int or None)
        The loops, with how often they turn, where that is known.
    uncounted : tuple of str
        The names of operations that do more than is counted here.
    """

    flops: float
    transcendentals: float
    moved: float
    loops: tuple[tuple[Node, int | None], ...]
    uncounted: tuple[str, ...]


def accounted(graph: Graph) -> Accounted:
    """Return what one run of ``graph`` takes; of a branch what its costlier side does."""
    flops = transcendentals = moved = 0.0
    loops: list[tuple[Node, int | None]] = []
    uncounted: list[str] = []
    for node in graph.nodes:
        if node.op.graphs:
            parts = [accounted(sub) for sub in node.subgraphs]
            trips = trip_count(node) if node.op is WHILE else None
            if node.op is WHILE:
                loops.append((node, trips))
                turns = 1 if trips is None else trips
                weights = [turns + (trips is not None), turns]  # the condition is asked once more
            else:
                first, second = (one.flops + one.transcendentals + one.moved for one in parts)
                weights = [int(first >= second), int(first < second)]
            for weight, part in zip(weights, parts):
                flops += weight * part.flops
                transcendentals += weight * part.transcendentals
                moved += weight * part.moved
                loops += part.loops
                uncounted += part.uncounted
            continue
        price = node.op.traits.price
        if isinstance(price, Products):
            flops += 2 * price.count(*node.operands, **node.attrs)
        elif price is Price.ARITHMETIC and _computes(node):
            flops += _largest(node)
        elif price is Price.FUNCTION:
            transcendentals += _largest(node)
        elif price is Price.FOREIGN or not isinstance(price, Price):
            uncounted.append(node.name)
        moved += _moved(node)
    return Accounted(flops, transcendentals, moved, tuple(loops), tuple(dict.fromkeys(uncounted)))


def _computes(node: Node) -> bool:
    """Return whether a node does arithmetic on floating-point numbers: element by element, or all to fewer."""
    if not any(t.dtype.kind in "fc" for t in node.results) or not any(t.dtype.kind in "fc" for t in node.operands):
        return False
    given, made = (sum(elements(t.shape) for t in _data(some)) for some in (node.operands, node.results))
    return node.op.traits.elementwise or made < given


def _data(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [t for t in tensors if t.dtype.kind != "O"]


def _largest(node: Node) -> int:
    return max([elements(t.shape) for t in _data((*node.operands, *node.results))], default=0)


def size_of(tensor: Tensor) -> int:
    """Return the bytes of a value, unknown extents taken for typical ones."""
    return 0 if tensor.dtype.kind == "O" else elements(tensor.shape) * tensor.dtype.itemsize


def _moved(node: Node) -> int:
    price = node.op.traits.price
    if price in (Price.NOTHING, Price.VIEW):
        return 0
    if price is Price.PART:
        return 2 * size_of(node.operands[1])
    if price is Price.PICK:
        return 2 * sum(map(size_of, node.results)) + sum(map(size_of, node.operands[1:]))
    return sum(map(size_of, (*node.operands, *node.results)))


def peak_memory(graph: Graph) -> int:
    """Return the bytes of what is held at once at most when nodes run one after the other: inputs and constants,
    results, what is between them; of a loop what one turn holds, and the variables."""
    return sum(map(size_of, graph.inputs)) + _held(graph)


def _held(graph: Graph, variables: Sequence[Tensor] = ()) -> int:
    """Return the same without the inputs; ``variables`` are those of them whose memory may be written to."""
    base, last = _lives(graph)
    held = most = 0
    alive = {t: size_of(t) for t in variables}
    for place, node in enumerate(graph.nodes):
        if node.op is PARAMETER:
            continue
        new = {t: size_of(t) for t in node.outputs if t not in base}
        for tensor in _given_up(node):
            first = base.get(tensor, tensor)
            if last.get(first) == place and alive.get(first, 0) <= sum(new.values()):
                held -= alive.pop(first, 0)
        held += sum(new.values())
        alive.update(new)
        most = max(most, held + _inside(node))
        for tensor in [t for t in alive if last.get(t, place) <= place]:
            held -= alive.pop(tensor)
    return most


def _lives(graph: Graph) -> tuple[dict[Tensor, Tensor], dict[Tensor, int]]:
    """Return of views whose memory they are, and which node is the last that needs a memory."""
    base: dict[Tensor, Tensor] = {}
    last: dict[Tensor, int] = {}
    end = len(graph.nodes)
    for place, node in enumerate(graph.nodes):
        for tensor in node.inputs:
            last[base.get(tensor, tensor)] = place
        if node.op is CONST:
            last[node.outputs[0]] = end
        elif gives_view(node):
            base.update(dict.fromkeys(node.outputs, base.get(node.inputs[0], node.inputs[0])))
    last.update({base.get(t, t): end for t in graph.outputs})
    last.update({node.outputs[0]: end for node in graph.nodes if node.op is CONST})
    return base, last


def _given_up(node: Node) -> Sequence[Tensor]:
    """Return the inputs whose memory a node may write its results to, if nobody reads them after it."""
    if node.op is WHILE:
        return node.inputs[: node.attrs["n_vars"]]
    if node.op.taking is not None:
        return node.operands[:1]
    if node.op.into is not None and node.op.traits.elementwise:
        size = size_of(node.outputs[0])
        return [t for t in node.operands if size_of(t) == size][:1]
    return ()


def _inside(node: Node) -> int:
    """Return what is held in the graphs inside a node."""
    if node.op is not WHILE:
        return max([_held(sub) for sub in node.subgraphs], default=0)
    cond, body = node.subgraphs
    return max(_held(cond), _held(body, body.inputs[: node.attrs["n_vars"]]))
