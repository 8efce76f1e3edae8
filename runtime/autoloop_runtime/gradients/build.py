"""Gradients of tensors of one graph, built into that graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import nest
from ..graph import Graph, Node
from ..registry import call
from ..structured import COND, WHILE
from ..tensor import Tensor
from ..values import convert_to_tensor
from ..variables import Variable
from . import branches, loops
from .reach import Key, Marks, reached
from .rows import row_parts, slices
from .walk import STRUCTURED, Adjoints, Walk

# the walk descends into loops and branches, whose rules walk in turn
STRUCTURED.update({WHILE: loops.backward, COND: branches.backward})


def build(
    graph: Graph, ys: Sequence[Tensor], seeds: Sequence[Tensor], xs: Sequence[Key],
    stops: frozenset[Tensor] = frozenset(), nodes: Sequence[Node] | None = None, *, sparse: bool = False,
) -> list[Any]:  # fmt: skip
    """The gradients of ``ys`` with regard to ``xs``.

    Parameters
    ----------
    graph : Graph
        The graph of ``ys``; the current default graph is this one or its backward counterpart.
    ys : sequence of Tensor
    seeds : sequence of Tensor
        The gradient of each of ``ys``.
    xs : sequence of Tensor or Variable
        Tensors of ``graph``, concrete tensors that became constants of it, or variables read in it.
    stops : frozenset of Tensor
        Tensors that count as constants.
    nodes : sequence of Node, optional
        The nodes to go through, by default all.
    sparse : bool
        A gradient that is only some rows may be ``IndexedSlices``.

    Returns
    -------
    list of Tensor, IndexedSlices or None
        ``None`` where no differentiable path leads from ``ys`` to an element of ``xs``.
    """
    marks = Marks(graph, xs)
    tensors = [x for x in xs if isinstance(x, Tensor) and x.graph is graph]
    path = graph.nodes if nodes is None else nodes
    found = reached(path, tensors, marks, stops)
    walk = Walk(graph, found, marks, Adjoints())
    for y, seed in zip(ys, seeds):
        walk.add(y, seed)
    walk.run(path, stops)
    return [_result(walk.adjoints, x, sparse) for x in xs]


def _result(adjoints: Adjoints, x: Key, sparse: bool) -> Any:
    nodes = row_parts(adjoints.parts(x)) if sparse else None
    return adjoints.total(x) if nodes is None else slices(nodes, x)


def source_in(graph: Graph, x: Any) -> Key:
    """What a derivative with regard to ``x`` is taken of in ``graph``."""
    if isinstance(x, Variable):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"a gradient is taken with regard to tensors and variables, not {type(x).__name__}")
    if x.graph is None:
        return x
    inner = graph.capture(x)
    return x if inner.op.op.name == "Const" else inner


def seeds_of(ys: Any, given: Any) -> list[Any]:
    """What was given as gradients of ``ys``, one per tensor; ``None`` stands for ones.

    Raises
    ------
    ValueError
        If they do not correspond.
    """
    structure = nest.structure_of(ys, expand_composites=True)
    if given is None:
        return [None] * structure.num_leaves
    if structure.is_leaf() and isinstance(given, (list, tuple)) and len(given) == 1:
        return list(given)  # 1.x: always a list
    try:
        return list(structure.flatten_up_to(given))
    except ValueError as error:
        raise ValueError(f"the gradients given do not have the structure of the tensors: {error}") from None


def seed(y: Tensor, g: Any) -> Tensor:
    """The gradient that ``y`` starts with: ``g``, or ones."""
    made: Tensor
    if g is None:
        made = call("ones_like", y)
        return made
    made = convert_to_tensor(g) if isinstance(g, (Tensor, Variable)) else convert_to_tensor(g, y.dtype)
    if made.dtype != y.dtype:
        raise TypeError(f"the gradient given for tensor {y.name!r} has dtype {made.dtype}, the tensor has {y.dtype}")
    if not made.shape.is_compatible_with(y.shape):
        raise ValueError(f"the gradient given for tensor {y.name!r} has shape {made.shape}, the tensor has {y.shape}")
    return made
