"""Gradients of tensors of one graph, built into that graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import ops
from ..base import nest
from ..base.forks import undivided
from ..collections.variables import Variable
from ..ir.convert import convert_to_tensor
from ..ir.graph import Graph, Node
from ..ir.stages import Stage, come_to
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ops.remat_marks import REGION
from . import cond_vjp as branches
from . import regions_again
from . import while_vjp as loops
from .activity import Key, Marks, reached
from .enclosing import enclosing, links, within
from .row_gradients import row_parts, slices
from .walk import STRUCTURED, Adjoints, Walk

# the walk descends into loops and branches, whose rules walk in turn
STRUCTURED.update({WHILE: loops.backward, COND: branches.backward, REGION: regions_again.backward})


def build(
    graph: Graph, ys: Sequence[Tensor], seeds: Sequence[Tensor], xs: Sequence[Key],
    stops: frozenset[Tensor] = frozenset(), spans: Mapping[Graph, Sequence[Node]] | None = None, *,
    sparse: bool = False,
) -> list[Any]:  # fmt: skip
    """Return the gradients of ``ys`` with regard to ``xs``.

    Parameters
    ----------
    graph : Graph
        The current default graph is this one or a graph inside it. The gradient goes through it and those around it.
    ys : sequence of Tensor
        Of any of these graphs.
    seeds : sequence of Tensor
        The gradient of each of ``ys``.
    xs : sequence of Tensor or Variable
        Tensors of any of these graphs, concrete tensors that became constants there, or variables read there.
    stops : frozenset of Tensor
        Tensors that count as constants.
    spans : mapping, optional
        The graphs, and of each the nodes, to go through; by default all.
    sparse : bool
        A gradient that is only some rows may be ``IndexedSlices``.

    Returns
    -------
    list of Tensor, IndexedSlices or None
        ``None`` where no differentiable path leads from ``ys`` to an element of ``xs``.
    """
    spans = {g: [n.now for n in nodes] for g, nodes in (spans or {g: g.nodes for g in enclosing(graph)}).items()}
    marks = Marks(reversed(list(spans)), xs)
    found = _found(spans, marks, stops)
    if graph.root.theirs is not None and graph.root.theirs.namespace.is_lazy:
        spans = _by_chunks(spans, marks, found)
        found = _found(spans, marks, stops)
    walk = Walk(graph, found, marks, Adjoints())
    for y, seed in zip(ys, seeds):
        walk.add(y, seed)
    for g, nodes in spans.items():
        walk.run(nodes, stops)
        for there, here in links(g):
            for part in walk.adjoints.parts(here):
                walk.add(there, part)
    results = [_result(walk.adjoints, x, sparse) for x in xs]
    graph.root.strict = False  # what the rules of gradients make and do not need is nothing the user wrote
    for g in spans:
        come_to(g, Stage.DIFFERENTIATED)
    return results


def _found(
    spans: Mapping[Graph, Sequence[Node]], marks: Marks, stops: frozenset[Tensor]
) -> set[Tensor]:  # fmt: skip
    """Return the tensors that depend on the sources."""
    found = {x for x in marks.sources if isinstance(x, Tensor)}
    for g in reversed(list(spans)):
        starts = [x for x in found if x.graph is g]
        starts += [here for there, here in links(g) if there in found]
        if starts or marks.inside(g):
            found |= reached(spans[g], starts, marks, stops)
    return found


def _by_chunks(
    spans: Mapping[Graph, Sequence[Node]], marks: Marks, found: set[Tensor]
) -> Mapping[Graph, Sequence[Node]]:  # fmt: skip
    """Return the spans with loops through rows of arrays that are computed later as operations."""
    with undivided():
        from .mapped_vjp import by_chunks

    others = {g: {*g.nodes}.difference(nodes) for g, nodes in spans.items()}
    by_chunks(spans, marks, found)
    return {g: [node for node in g.nodes if node not in others[g]] for g in spans}


def _result(adjoints: Adjoints, x: Key, sparse: bool) -> Any:
    nodes = row_parts(adjoints.parts(x)) if sparse else None
    return adjoints.total(x) if nodes is None else slices(nodes, x)


def source_in(graph: Graph, x: Any) -> Key:
    """Return what a derivative with regard to ``x`` is taken of in ``graph`` and those around it."""
    if isinstance(x, Variable):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"a gradient is taken with regard to tensors and variables, not {type(x).__name__} [AL404]")
    return tensor_in(graph, x)


def tensor_in(graph: Graph, tensor: Tensor) -> Tensor:
    """Return ``tensor`` (or its copy), which ``graph`` or one around it must have (``ValueError`` else); or a value."""
    known = within(enclosing(graph), tensor)
    return graph.capture(tensor) if known is None else known  # capture says what is wrong with a foreign tensor


def seeds_of(ys: Any, given: Any) -> list[Any]:
    """Return what was given as gradients of ``ys``, one per tensor; ``None`` stands for ones.

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
        raise ValueError(f"the gradients given do not have the structure of the tensors: {error} [AL404]") from None


def seed(y: Tensor, g: Any) -> Tensor:
    """Return the gradient that ``y`` starts with: ``g``, or ones."""
    made: Tensor
    if g is None:
        made = ops.ones_like(y)
        return made
    made = convert_to_tensor(g) if isinstance(g, (Tensor, Variable)) else convert_to_tensor(g, y.dtype)
    if made.dtype != y.dtype:
        raise TypeError(
            f"the gradient given for tensor {y.name!r} has dtype {made.dtype}, the tensor has {y.dtype} [AL404]"
        )
    if not made.shape.is_compatible_with(y.shape):
        raise ValueError(
            f"the gradient given for tensor {y.name!r} has shape {made.shape}, the tensor has {y.shape} [AL404]"
        )
    return made
