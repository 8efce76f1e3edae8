"""Broadcasting, and its transpose: gradients summed to the shape of what was broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.shapes import Dim, TensorShape, broadcast_shapes
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, DimsLike
from ..ir.convert import convert_to_tensor
from ..ir.op import call, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE, VIEWING, Fails, Memory
from .array import squeeze
from .define import primitive, public
from .extents import extents
from .shape_queries import shape, shape_of

__all__ = ["broadcast_to"]


def broadcast_static(name: str, *tensors: Tensor) -> TensorShape:
    """Return the static shape of broadcasting the operands of ``name``; ``ValueError`` names it and the shapes."""
    try:
        return broadcast_shapes(*[t.shape for t in tensors])
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _broadcast_to_infer(x: Tensor, *dims: Tensor, known: Any) -> Any:
    if known is None or x.shape.rank is None:
        return x.dtype, TensorShape(known)
    have: tuple[Dim, ...] = (1,) * (len(known) - len(x.shape)) + x.shape.known
    if len(have) != len(known) or any(h not in (1, None, k) and k is not None for h, k in zip(have, known)):
        raise ValueError(f"broadcast_to: a tensor of shape {x.shape} does not broadcast to {list(known)} [AL206]")
    out = [h if k is None and h not in (1, None) else k for h, k in zip(have, known)]
    return x.dtype, TensorShape(out)


def _broadcast_to_kernel(x: Any, dims: Any = None, *, known: Any) -> Any:
    return np.broadcast_to(x, known if dims is None else dims.tolist())[()]


BROADCAST_TO = primitive(
    "broadcast_to", _broadcast_to_infer, _broadcast_to_kernel,
    lambda g, outputs, inputs, attrs: [unbroadcast(g, inputs[0]), *[None] * (len(inputs) - 1)],
    extents=("known", 1), traits=VIEWING,
)  # fmt: skip


@public(numpy=np.broadcast_to)
def broadcast_to(x: ArrayLike, shape: DimsLike, name: str | None = None) -> Tensor:
    """Return ``x`` broadcast to a shape.

    Parameters
    ----------
    x : tensor-like
    shape : ints, tensor, or a list that mixes them
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.broadcast_to([1, 2], (2, 2)))
    Tensor([[1 2]
     [1 2]], shape=(2, 2), dtype=int32)
    """
    dims = extents(shape, "broadcast_to")
    return apply(BROADCAST_TO, [convert_to_tensor(x), *dims.inputs], {"known": dims.known}, name)


def broadcast_like(g: Tensor, x: Tensor) -> Tensor:
    """Return ``g`` broadcast to the shape of ``x``."""
    if x.shape.is_fully_defined() and g.shape == x.shape:
        return g
    return broadcast_to(g, shape_of(x))


def unbroadcast(g: Tensor, x: Tensor, like: Tensor | None = None) -> Tensor:
    """Return the gradient of a value that was broadcast from ``x``: ``g`` summed to the shape of ``x``.

    ``like`` is what ``x`` was broadcast for, if there is a tensor of that shape where ``x`` is.
    """
    have, want = g.shape, x.shape
    if have.is_fully_defined() and have == want:
        return g
    if have.rank is None or want.rank is None:
        return _sum_to(g, x)
    extra = len(have) - len(want)
    axes = list(range(extra))
    names = whole = None
    if like is not None and None in want.known and like.shape.rank == have.rank:
        names, whole = call("names_of", x), call("names_of", like)
    for axis, (h, w) in enumerate(zip(have.known[extra:], want.known)):
        if w == 1 and h != 1:
            axes.append(extra + axis)
        elif w is None and h != 1 and (not names or not whole or names[axis] != whole[extra + axis]):
            return _sum_to(g, x)
    if not axes:
        return g
    kept: Tensor = call("sum", g, axis=tuple(axes), keepdims=True)
    if extra:
        kept = squeeze(kept, axis=tuple(range(extra)))
    return kept


def _sum_to(g: Tensor, x: Tensor) -> Tensor:
    return apply(SUM_TO, [g, shape(x)], {"static": x.shape})


def _sum_to_kernel(g: Any, shape: Any, static: TensorShape) -> Any:
    shape = tuple(shape.tolist())
    if g.shape == shape:
        return g
    extra = g.ndim - len(shape)
    axes = (*range(extra), *(extra + i for i, d in enumerate(shape) if d == 1 and g.shape[extra + i] != 1))
    return np.add.reduce(g, axis=axes, keepdims=True).reshape(shape)[()]


SUM_TO = primitive(
    "sum_to",
    lambda g, shape, static: (g.dtype, static),
    _sum_to_kernel,
    lambda g, outputs, inputs, attrs: (broadcast_like(g, inputs[0]), None),
    extents=("static", 1),
    traits=OPAQUE.but(memory=Memory.VIEW, fails=Fails.UNKNOWN_SHAPES),
)


ruled_in("filling_rules", BROADCAST_TO)
ruled_in("scatter", SUM_TO)
