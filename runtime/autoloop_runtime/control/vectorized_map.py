"""``vectorized_map``: a map over rows as one computation on whole arrays, where that is the same.

The function is traced for one row. If each operation that depends on the row works element by element, reduces axes of
the row, or multiplies it by a matrix that all rows share, the operations are built again for all rows at once, whose
axis stays in front. Otherwise the rows are computed one by one, as by ``map_fn``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from .. import ops
from ..analysis.needed import needed_nodes
from ..analysis.observable import only_computes
from ..base import nest
from ..base.callbacks import calls_back
from ..ir.apply import apply, apply_several
from ..ir.composite import composite_of
from ..ir.convert import as_constant, convert_to_tensor
from ..ir.graph import CONST, PARAMETER, Graph, Node, current_graph
from ..ir.structured import subgraph
from ..ir.tensor import Tensor
from ..ir.traits import Batching
from .kept_kinds import keeps_kinds
from .map_scan import check_callable, in_graph, length_of, map_fn, rows_of
from .structure_types import T1, R


@overload
def vectorized_map(
    fn: Callable[[T1], R], elems: T1, fallback_to_while_loop: bool = True, name: str | None = None
) -> R: ...
@overload
def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, name: str | None = None
) -> Any: ...
@calls_back("fn")
@keeps_kinds
def vectorized_map(
    fn: Callable[[Any], Any], elems: Any, fallback_to_while_loop: bool = True, name: str | None = None
) -> Any:
    """Return ``fn`` of every row of ``elems``, stacked: computed for all rows at once where ``fn`` allows it.

    Parameters
    ----------
    fn : callable
        Takes one row (in the structure of ``elems``). Traced once, and again if the rows are computed one by one.
    elems : structure of tensors
        With the same first dimension.
    fallback_to_while_loop : bool
        Compute the rows one by one if they cannot be computed at once; otherwise that is an error.
    name : str, optional

    Returns
    -------
    structure of Tensor
        The values of ``map_fn(fn, elems)``, but for the rounding of sums and products.

    Raises
    ------
    TypeError
        If ``fn`` is not callable.
    ValueError
        If ``elems`` is empty, has a scalar, or first dimensions that differ; if the rows cannot be computed at once and
        ``fallback_to_while_loop`` is False.

    Examples
    --------
    >>> print(al.vectorized_map(lambda row: al.sum(row), al.constant([[1, 2], [3, 4]])))
    Tensor([3 7], shape=(2,), dtype=int32)
    """
    check_callable(fn)

    def build() -> Any:
        rows, structure = rows_of(elems)
        count = length_of(rows)
        graph = current_graph()
        assert graph is not None
        tensors = [r for r in rows if isinstance(r, Tensor)]
        obstacle = "elems of unknown rank" if len(tensors) == len(rows) else "a SparseTensor"
        if len(tensors) == len(rows) and all(r.shape.rank is not None for r in tensors):
            row = subgraph(graph, "row", [(r.dtype, r.shape[1:], "row") for r in tensors])
            with row.as_default():
                leaves, form = nest.flatten_with_structure(fn(nest.unflatten(structure, row.inputs)))
                plain = [leaf for leaf in leaves if composite_of(leaf) is None]
                outputs = [row.capture(convert_to_tensor(leaf)) for leaf in plain]
            composite = len(outputs) < len(leaves)
            obstacle = "a value that is no tensor" if composite else _obstacle(row, outputs, len(rows))
            if not obstacle:
                return nest.unflatten(form, _at_once(row, outputs, tensors, count))
        if not fallback_to_while_loop:
            raise ValueError(
                f"vectorized_map: {obstacle} stands in the way of computing all rows at once; use map_fn [AL115]"
            )
        return map_fn(fn, elems, name=name)

    return in_graph(build, elems)


def _obstacle(row: Graph, outputs: Sequence[Tensor], count: int) -> str:
    """Return what cannot be computed for all rows at once, in words; empty if everything can."""
    if row.token is not None:
        return "an effect"
    varying = set(row.inputs[:count])  # what is captured comes after
    needed = needed_nodes(outputs)
    for node in [n for n in row.nodes if n in needed]:
        if node.op in (PARAMETER, CONST):
            continue
        varies = not varying.isdisjoint(node.inputs)
        plain = only_computes(node) and not node.declared
        if not plain or (varies and not _has_rule(node, varying)):
            where = f" at {node.location[-1]}" if node.location else ""
            return f"operation {node.op.name!r}{where}"
        if varies:
            varying.update(node.outputs)
    return ""


def _has_rule(node: Node, varying: set[Tensor]) -> bool:
    ranks = [t.shape.rank for t in (*node.inputs, *node.outputs)]
    if None in ranks:
        return False
    batching = node.op.traits.batching
    if batching is Batching.FIRST_FACTOR:
        return node.inputs[1] not in varying and ranks[1] == 2
    return batching is Batching.ELEMENTS or (batching is Batching.AXES and ranks[0] != 0)


def _at_once(row: Graph, outputs: Sequence[Tensor], rows: Sequence[Tensor], count: Any) -> list[Tensor]:
    """Return ``outputs`` for all ``rows``, built into the current graph."""
    graph = row.parent
    assert graph is not None
    values = {inner: graph.capture(outer) for outer, inner in row.captures.items()}
    # constants that stand for a concrete tensor go on standing for it: gradients know them by that
    values.update((inner, graph.capture(concrete)) for concrete, inner in row.constants.items())
    values.update(zip(row.inputs, rows))
    varying = set(row.inputs[: len(rows)])
    needed = needed_nodes(outputs)
    for node in [n for n in row.nodes if n in needed]:
        if node.op is PARAMETER or node.outputs[0] in values:
            continue
        if node.op is CONST:
            values[node.outputs[0]] = as_constant(node.attrs["value"])
            continue
        inputs, attrs = [values[t] for t in node.inputs], node.attrs
        if not varying.isdisjoint(node.inputs):
            inputs, attrs = _raised(node, inputs, varying)
            varying.update(node.outputs)
        made = apply_several(node.op, inputs, attrs) if node.op.several else (apply(node.op, inputs, attrs),)
        values.update(zip(node.outputs, made))
    return [values[t] if t in varying else _repeated(values[t], count) for t in outputs]


def _raised(node: Node, inputs: list[Tensor], varying: set[Tensor]) -> tuple[list[Tensor], Mapping[str, Any]]:
    """Return inputs and attributes of ``node`` for all rows: there is an axis more in front of what varies."""
    if node.op.traits.batching is Batching.AXES:
        rank = node.inputs[0].shape.rank or 0
        axes = range(rank) if node.attrs["axis"] is None else node.attrs["axis"]
        return inputs, {**node.attrs, "axis": tuple([a % rank + 1 for a in axes])}
    if (
        node.op.traits.batching is Batching.ELEMENTS
    ):  # shapes are lined up from the right: the rows' axis must stay the first
        rank = node.outputs[0].shape.rank or 0
        missing = [rank - (t.shape.rank or 0) if t in varying else 0 for t in node.inputs]
        inputs = [ops.expand_dims(v, tuple(range(1, 1 + m))) if m else v for v, m in zip(inputs, missing)]
    return inputs, node.attrs


def _repeated(value: Tensor, count: Any) -> Tensor:
    """Return ``value``, which is the same for every row, as often as there are rows."""
    if isinstance(count, int) and value.shape.is_fully_defined():
        shape: Any = (count, *value.shape.as_tuple())
    else:
        shape = ops.concat([ops.reshape(count, [1]), ops.shape(value)], 0)
    made: Tensor = ops.broadcast_to(value, shape)
    return made
