"""Which element assignments may write to the array itself: those of arrays that nobody else can see.

``set_item`` gives a new array, so ``v[i] = x`` in a loop costs a copy per iteration unless the old array can be
reused. It can when the loop *owns* it: the variable starts with a copy of its own, is then read only by
operations whose results are no views of it, and the assignment is the last thing that reads it. This module finds
such chains ``v -> set_item -> ... -> v``, also through branches and inner loops.
"""

from __future__ import annotations

from ..dataclass import dataclass, field
from ..graph import Graph, Node
from ..passes.safety import ELEMENTWISE
from ..tensor import Tensor
from .uses import places

#: operations whose result never shares memory with an input
_FRESH = ELEMENTWISE - {"identity", "stop_gradient", "real", "imag", "conj"} | {
    "matmul", "sum", "prod", "max", "min", "mean", "any", "all", "argmax", "argmin", "cumsum", "cumprod", "sort",
    "argsort", "shape", "size", "rank", "fill", "concat", "stack", "tile", "repeat", "pad", "gather", "softmax",
    "set_item",
}  # fmt: skip
_END = None


@dataclass
class Ownership:
    """What the emitter needs.

    Attributes
    ----------
    in_place : set of Node
        ``set_item`` nodes that may write to their first input.
    copied : set of (Node, int)
        While and loop variable that must start with a copy of its own.
    """

    in_place: set[Node] = field(default_factory=set)
    copied: set[tuple[Node, int]] = field(default_factory=set)


def find_owned(graph: Graph) -> Ownership:
    """The chains of ``graph`` and of the graphs inside it."""
    found = Ownership()
    if _mentions(graph, "set_item"):
        _search(graph, found, set())
    return found


def is_fresh(tensor: Tensor) -> bool:
    """True if the value is an array that only this tensor can see, as long as it is read once."""
    return tensor.op.op.name in _FRESH


def _mentions(graph: Graph, name: str) -> bool:
    pending = [graph]
    while pending:
        for node in pending.pop().nodes:
            if node.op.name == name:
                return True
            pending.extend(node.subgraphs)
    return False


def _search(graph: Graph, found: Ownership, entered: set[tuple[Node, int]]) -> None:
    """Find chains that start in ``graph``; ``entered``: loop variables that are owned on entry."""
    chains = _Chains(graph)
    for node in graph.nodes:
        if node.op.name == "While":
            for k in range(node.attrs["n_vars"]):
                marks = _through_loop(node, k) if (node, k) not in entered else None
                if marks is None or not marks.in_place:
                    continue
                found.in_place |= marks.in_place
                found.copied.add((node, k))
                entered |= marks.entered | {(node, k)}
                _follow(chains, node.outputs[k], found, entered)
        elif node.op.name == "set_item" and node not in found.in_place:
            _follow(chains, node.outputs[0], found, entered)
        for sub in node.subgraphs:
            _search(sub, found, entered)


def _follow(chains: _Chains, tensor: Tensor, found: Ownership, entered: set[tuple[Node, int]]) -> None:
    """Mark what comes after a value that is owned where it is made; the chain need not lead anywhere."""
    marks = _Marks()
    _walk(chains, tensor, marks)
    found.in_place |= marks.in_place
    entered |= marks.entered


@dataclass
class _Marks:
    in_place: set[Node] = field(default_factory=set)
    entered: set[tuple[Node, int]] = field(default_factory=set)


class _Chains:
    """Who reads what in one graph: ``(node, input)`` in order, ``(None, output)`` for the graph's outputs."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.readers: dict[Tensor, list[tuple[Node | None, int]]] = {}
        for node in graph.nodes:
            for i, tensor in enumerate(node.inputs):
                self.readers.setdefault(tensor, []).append((node, i))
            for tensor in node.control_inputs:
                self.readers.setdefault(tensor, []).append((node, -1))
        for j, tensor in enumerate(graph.outputs):
            self.readers.setdefault(tensor, []).append((_END, j))


def _walk(chains: _Chains, tensor: Tensor, marks: _Marks) -> int | None:
    """Follow the chain that starts with the owned ``tensor``; gives the output it ends in, if it ends in one."""
    while True:
        readers = chains.readers.get(tensor, [])
        if not readers:
            return None
        *before, (last, index) = readers
        if not all(n is not None and n is not last and _only_looks(n, i) for n, i in before):
            return None
        if last is None:
            return index
        following = _consume(last, index, marks)
        if following is None:
            return None
        tensor = following


def _consume(node: Node, index: int, marks: _Marks) -> Tensor | None:
    """The tensor that continues the chain after ``node`` read its last link as input ``index``."""
    if node.op.name == "set_item" and index == 0:
        if not node.inputs[0].shape.rank or node.declared:
            return None
        marks.in_place.add(node)
        return node.outputs[0]
    if node.op.name == "Cond" and index > 0:
        inner = _Marks()
        ends = []
        for sub in (node.attrs["then"], node.attrs["else"]):
            ends.append(_walk(_Chains(sub), sub.inputs[index - 1], inner))
        if ends[0] is None or ends[0] != ends[1] or ends[0] in node.declared:
            return None
        _merge(marks, inner)
        return node.outputs[ends[0]]
    if node.op.name == "While" and index < node.attrs["n_vars"] and len(places(node.inputs, node.inputs[index])) == 1:
        through = _through_loop(node, index)
        if through is None or index in node.declared:
            return None
        _merge(marks, through)
        marks.entered.add((node, index))
        return node.outputs[index]
    return None


def _merge(marks: _Marks, inner: _Marks) -> None:
    marks.in_place |= inner.in_place
    marks.entered |= inner.entered


def _through_loop(node: Node, k: int) -> _Marks | None:
    """The chain through variable ``k`` of a loop, if it leads from the body's parameter to its next value."""
    cond, body = node.attrs["cond"], node.attrs["body"]
    if not _looked_at(_Chains(cond), cond.inputs[k]):
        return None
    marks = _Marks()
    end = _walk(_Chains(body), body.inputs[k], marks)
    return marks if end == k else None


def _only_looks(node: Node, index: int) -> bool:
    """True if ``node`` keeps nothing of its input ``index``: no view, no reference."""
    name = node.op.name
    if name == "While":
        n = node.attrs["n_vars"]
        subs = (node.attrs["cond"], node.attrs["body"])
        return index >= n and all(_looked_at(_Chains(g), g.inputs[index]) for g in subs)
    if name == "Cond":
        subs = (node.attrs["then"], node.attrs["else"])
        return index > 0 and all(_looked_at(_Chains(g), g.inputs[index - 1]) for g in subs)
    if name == "getitem":
        return index > 0 or (node.inputs[0].shape.rank is not None and node.outputs[0].shape.rank == 0)
    if name == "set_item":
        return index != 0
    return name in _FRESH or index == -1


def _looked_at(chains: _Chains, tensor: Tensor) -> bool:
    return all(n is not None and _only_looks(n, i) for n, i in chains.readers.get(tensor, []))
