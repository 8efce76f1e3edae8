"""Choosing by a condition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.shapes import TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor
from ..ir.op import ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import ELEMENTS, NO_GRADIENT, NO_TEMPLATE, OPAQUE
from .broadcasting import broadcast_static, unbroadcast
from .define import primitive, public
from .operands import as_dtype, operands

__all__ = ["argwhere", "where"]


def _argwhere_kernel(x: Any) -> Any:
    if x.ndim != 1:
        return np.argwhere(x)
    return x.nonzero()[0][:, np.newaxis]  # what NumPy's does for any number of axes takes several times as long


ARGWHERE = primitive(
    "argwhere", lambda x: (dtypes.int64, TensorShape([None, x.shape.rank])),
    _argwhere_kernel, NO_GRADIENT, traits=OPAQUE,
)  # fmt: skip


@public(numpy=np.argwhere)
def argwhere(condition: ArrayLike, name: str | None = None) -> Tensor:
    """Return the indices of the true (or not zero) elements, one per row, int64.

    Parameters
    ----------
    condition : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.argwhere([[0, 1], [1, 0]]))
    Tensor([[0 1]
     [1 0]], shape=(2, 2), dtype=int64)
    """
    return apply(ARGWHERE, [convert_to_tensor(condition)], None, name)


def _where_kernel(condition: Any, x: Any, y: Any) -> Any:
    out: Any = np.where(condition, x, y)
    return out[()]


def _chosen_into(condition: Any, x: Any, y: Any, out: Any) -> Any:
    """Put what ``np.where`` gives into ``out``, which may be one of the others."""
    if out is x:
        np.copyto(out, y, where=~condition)
    elif np.may_share_memory(out, x) or np.may_share_memory(out, condition):
        np.copyto(out, np.where(condition, x, y))
    else:
        if out is not y:
            np.copyto(out, y)
        np.copyto(out, x, where=condition)
    return out


def _where_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    condition, x, y = inputs
    parts = (where(condition, g, 0), x), (where(condition, 0, g), y)
    return [None, *[unbroadcast(part, one, outputs[0]) for part, one in parts]]


WHERE = primitive(
    "where",
    lambda condition, x, y: (x.dtype, broadcast_static("where", condition, x, y)),
    _where_kernel,
    _where_vjp,
    code="np.where({0}, {1}, {2})[()]",
    into="{by}({0}, {1}, {2}, {out})",
    into_by=_chosen_into,
    scalar={"biufc": "{1} if {0} else {2}"},
    idempotent=True,
    strict=True,
    traits=ELEMENTS,
    llvm=NO_TEMPLATE,
)


@public()
def where(
    condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None, name: str | None = None
) -> Tensor:
    """Return elements of ``x`` where ``condition`` is true, of ``y`` elsewhere; all three broadcast.

    Parameters
    ----------
    condition : tensor-like
        Numbers count as true where they are not zero.
    x, y : tensor-like
        Both: libraries that give neither mean NumPy's tuple of indices, or TensorFlow's matrix.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.where([True, False], [1, 2], [10, 20]))
    Tensor([ 1 20], shape=(2,), dtype=int32)
    """
    if x is None or y is None:
        raise TypeError(
            "where: give both x and y; of a condition alone write nonzero(condition), a tuple of vectors as NumPy's "
            "where gives, or argwhere(condition), a matrix as TensorFlow's [AL210]"
        )
    condition = as_dtype(convert_to_tensor(condition), dtypes.bool_)
    return apply(WHERE, [condition, *operands("where", x, y)], None, name)


ruled_in("pointwise", WHERE)
ruled_in("selecting_rules", ARGWHERE)
