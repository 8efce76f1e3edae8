"""Where another library gives an operation of two dtypes another one than NumPy does.

A graph has NumPy's dtypes: operands are cast before they meet. That is right where the library's own rules give the
same: PyTorch's ``int / int`` is float32, NumPy's float64. So where an array is cast on the line of the operation that
takes it, the library is asked what it makes of the array as it was, of one element. What the user casts is as it is
said.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from ..analysis.inside import graphs_inside
from ..base.dtypes import DType
from ..ir.failures import annotate
from ..ir.graph import Graph, Node
from ..ir.op import Op
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ops.contractions import EINSUM
from ..ops.elementwise import ufunc_of
from ..ops.joining import CONCAT, STACK
from ..ops.linalg import DOT, MATMUL
from ..ops.operands import CAST
from ..ops.powers import POW, POW_IN_LOOP
from ..ops.reducing import SUM
from ..ops.reductions import MEAN, PROD
from ..ops.running_sums import CUMPROD, CUMSUM
from ..ops.selection import WHERE
from .array_namespace import Namespace
from .foreign_rows import standard_name
from .refused_calls import other_dtype

#: of one array: the library's function that does it in the dtype it likes
_ALONE: Mapping[Op, str] = {
    SUM: "sum", PROD: "prod", MEAN: "mean", CUMSUM: "cumulative_sum", CUMPROD: "cumulative_prod",
}  # fmt: skip
#: of several, which are brought to one dtype
_TOGETHER = frozenset((CONCAT, STACK, WHERE, EINSUM))


def check_promotions(
    graph: Graph, namespace: Namespace, is_theirs: Callable[[Tensor], bool], said: Collection[Tensor] = ()
) -> None:  # fmt: skip
    """Raise unless the library brings operands to the dtypes that NumPy brings them to.

    Parameters
    ----------
    graph : Graph
        As it was traced: passes leave out what does nothing to the value, and move casts to other lines.
    namespace : Namespace
    is_theirs : callable
        Tells of a tensor whether it may be an array of the library.
    said : collection of Tensor
        What the user has cast.

    Raises
    ------
    NamespaceRefusal
        Told at the user's line.
    """
    if namespace.is_lazy:
        return  # the rules are NumPy's
    known: dict[Any, DType | None] = {}
    for one in graphs_inside(graph):
        for node in one.nodes:
            operands = [(k, t) for k, t in enumerate(node.operands) if t not in said]
            cast = {k: x for k, t in operands if (x := _as_it_was(t, node, is_theirs)) is not None}
            if cast and (made := _made(node, cast, namespace, is_theirs, known)) is not None:
                raise annotate(other_dtype(node.op.name, namespace.name, *made), node)


def _as_it_was(tensor: Tensor, node: Node, is_theirs: Callable[[Tensor], bool]) -> Tensor | None:
    """Return what an operand was cast of for ``node``, if that is an array of the library; else None."""
    made = tensor.node
    if made is None or made.op is not CAST or made.location != node.location or not is_theirs(made.inputs[0]):
        return None
    return made.inputs[0]


def _made(
    node: Node, cast: Mapping[int, Tensor], namespace: Namespace, is_theirs: Callable[[Tensor], bool],
    known: dict[Any, DType | None],
) -> tuple[object, object] | None:  # fmt: skip
    """Return what dtype the library gives and what NumPy does, if those differ."""
    first = next(iter(cast))
    wanted = node.operands[first].dtype
    if node.op in (WHILE, COND):  # a variable whose dtype changes in the loop
        return cast[first].dtype, wanted
    probes = []
    if (probe := _probe(node.op, namespace)) is not None:
        probes.append((probe, node.results[0].dtype))
    if node.op in _TOGETHER or (probes and node.results[0].dtype != wanted):  # what is compared is of one dtype, too
        probes.append((operator.add, wanted))
    for probe, numpys in probes:
        operands = [cast.get(k, t) for k, t in enumerate(node.operands)]
        operands = operands[1:] if node.op is WHERE else operands
        key = (probe, tuple([(t.dtype, _rank(t), is_theirs(t)) for t in operands]), wanted)
        if key not in known:
            known[key] = _tried(probe, [_one(t, wanted, namespace, is_theirs) for t in operands], namespace)
        made = known[key]
        if made is None:  # which is float64 to NumPy
            return "an error", numpys
        if made != numpys:
            return made, numpys
    return None


def _probe(op: Op, namespace: Namespace) -> Any:
    """Return what the user may have written for an op; None if its operands are not brought to one dtype."""
    if op in _ALONE:
        return namespace.function(_ALONE[op])
    if op in (MATMUL, DOT):
        return operator.matmul
    if op in (POW, POW_IN_LOOP):
        return operator.pow
    ufunc = ufunc_of(op.kernel) if op.traits.elementwise else None
    if ufunc is None:
        return None
    return op.kernel if not isinstance(op.kernel, np.ufunc) else namespace.function(standard_name(ufunc))


def _rank(tensor: Tensor) -> int:
    rank = tensor.shape.rank
    return 1 if rank is None else rank


def _one(tensor: Tensor, wanted: DType, namespace: Namespace, is_theirs: Callable[[Tensor], bool]) -> Any:
    """Return one element of what an operand is: of the library, or a number beside it."""
    made = np.ones((1,) * _rank(tensor), tensor.dtype)
    if is_theirs(tensor) or made.ndim:
        return namespace.asarray(made)
    # a number of Python's would not have changed the dtype of an array of its own kind
    return made.item() if tensor.dtype == wanted else made[()]


def _tried(probe: Any, operands: list[Any], namespace: Namespace) -> DType | None:
    """Return the dtype of what the library gives, None if it raises."""
    try:
        made = _sum(operands) if probe is operator.add else probe(*operands)
        return namespace.spec(made)[0]
    except Exception:  # whatever it says of dtypes that it does not bring together
        return None


def _sum(operands: list[Any]) -> Any:
    total = operands[0]
    for one in operands[1:]:
        total = total + one
    return total
