"""Graphs of public functions of arrays that are computed later, or lie on another device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..base.forks import undivided
from ..collections.versioned_array import ArrayValue
from ..dataflow.execution_plan import kernel_of
from ..dataflow.flat_graph import FlatNode, Kind, Port
from ..dataflow.lowering import lower
from ..ir.apply import apply, apply_several
from ..ir.array_kinds import LATER, is_elsewhere
from ..ir.convert import to_array
from ..ir.graph import Graph
from ..ir.op import Op
from ..ir.tensor import Tensor
from ..namespaces import Namespace, in_namespace, namespace_of
from ..namespaces.foreign_arrays import ForeignArray
from .lazy_inputs import later_of

_SIMPLE = (Kind.KERNEL, Kind.CONST, Kind.FEED, Kind.IDENTITY)


def walked(graph: Graph, namespace: Namespace, given: Sequence[Any]) -> list[Any] | None:
    """Return what a graph gives, one node after the other: to plan it takes longer than to run it.

    None if it has loops or branches, or does more than compute.

    Raises
    ------
    NamespaceRefusal
        If the library has no function for an op; told at the user's line.
    """
    lowered = in_namespace(lower(graph, graph.outputs, graph.inputs), namespace, range(len(given)))
    if not all(map(_is_simple, lowered.nodes)):
        return None
    values: dict[Port, Any] = {(index, 0): value for index, value in zip(lowered.feeds, given, strict=True)}
    todo = [index for index, _ in lowered.fetches]
    while todo:
        node = lowered.nodes[todo[-1]]
        lacking = [port[0] for port in node.inputs if port not in values]
        if lacking:
            todo += lacking
            continue
        todo.pop()
        if (node.index, 0) not in values:
            made = _made(node, [values[port] for port in node.inputs])
            values.update(((node.index, k), one) for k, one in enumerate(made))
    return [values[port] for port in lowered.fetches]


def _is_simple(node: FlatNode) -> bool:
    return node.kind in _SIMPLE and not (node.op is not None and (node.op.effect or node.op.stateful))


def _made(node: FlatNode, inputs: Sequence[Any]) -> Sequence[Any]:
    if node.kind is Kind.CONST:
        return (node.value,)
    kernel = kernel_of(node)
    if kernel is None:
        return inputs
    made = kernel(*inputs)
    return made if node.op is not None and node.op.several else (made,)


# -- tensors of what is elsewhere -----------------------------------------------------------------------------


def of_values(op: Op, inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Return what an op gives of tensors whose values are fetched."""
    fetched = [Tensor(t.value) if type(t) in LATER else t for t in inputs]
    made: Any = (apply_several if op.several else apply)(op, fetched, attrs)
    return made if isinstance(made, tuple) else () if made is None else (made,)


def kept_elsewhere(value: Any) -> Tensor:
    """Return a tensor of an array that is elsewhere, which stays there; of one whose library nobody knows one of its
    elements."""
    namespace = namespace_of(value)
    if namespace is None:
        return Tensor(to_array(value))
    mine = value.copy() if hasattr(value, "copy") else value  # what names an array may change in place
    return later_of(mine, namespace)


def fetched(value: Any) -> Any:
    """Return the elements of an array that is elsewhere, or the value of a TensorArray that has such as one of NumPy's
    arrays.

    Raises
    ------
    LostCluster
        If they are on a cluster that is gone.
    """
    try:
        return _fetched(value)
    except BaseException as error:
        with undivided():
            from ..distributed.lost_clusters import lost_of_call
        told = lost_of_call(error, "what a tensor is made of")
        if told is error:
            raise
    try:
        raise told
    finally:
        del told  # its traceback has this frame


def _fetched(value: Any) -> Any:
    if not isinstance(value, ForeignArray):
        return to_array(value)
    elements = value.elements()
    array = ArrayValue.empty(value.spec, value.size)
    return array.write_all(list(elements), [to_array(one) if is_elsewhere(one) else one for one in elements.values()])
