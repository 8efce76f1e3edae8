"""Losses of ``tf.nn`` of 1.x."""

from __future__ import annotations

from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor

from .building import after, building, one_of

__all__ = [
    "l2_loss", "sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2", "sparse_softmax_cross_entropy_with_logits",
    "weighted_cross_entropy_with_logits",
]  # fmt: skip


@building
def l2_loss(t: ArrayLike, name: str | None = None) -> Tensor:
    """Return half the sum of the squares."""
    x = convert_to_tensor(t)
    return ops.divide(ops.sum(x * x), 2, name=name)


def _both(name: str, labels: Any, logits: Any) -> None:
    if labels is None or logits is None:
        raise ValueError(
            f"Both `labels` and `logits` must be provided. Received: labels={labels} and logits={logits} [AL906]"
        )


@building
def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Tensor:
    """Return for each element the cross entropy of a probability and the logit of another.

    Raises
    ------
    ValueError
        If one is missing, or their shapes differ.
    """
    _both("sigmoid", labels, logits)
    x = convert_to_tensor(logits)
    z = convert_to_tensor(labels, None if hasattr(labels, "dtype") else x.dtype)
    if not x.shape.is_compatible_with(z.shape):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({x.shape} vs {z.shape}). [AL906]")
    is_up, nothing = x >= 0, ops.zeros_like(x)
    return ops.add(ops.where(is_up, x, nothing) - x * z, ops.log1p(ops.exp(ops.where(is_up, -x, x))), name=name)


@building
def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None, targets: Any = None
) -> Tensor:
    """Return the cross entropy of ``sigmoid``, where what is true counts ``pos_weight`` times."""
    z = one_of("weighted_cross_entropy_with_logits", labels=labels, targets=targets)
    _both("weighted", z, logits)
    x = convert_to_tensor(logits)
    y = convert_to_tensor(z, None if hasattr(z, "dtype") else x.dtype)
    if not x.shape.is_compatible_with(y.shape):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({x.shape} vs {y.shape}). [AL906]")
    weight = 1 + (pos_weight - 1) * y
    return ops.add((1 - y) * x, weight * (ops.log1p(ops.exp(-ops.abs(x))) + ops.relu(-x)), name=name)


@building
def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Tensor:
    """Return the cross entropies of probabilities and of logits along an axis, the last by default.

    Parameters
    ----------
    labels : tensor-like
        Probabilities whose sum is 1: no more is true of gradients else.

    Raises
    ------
    ValueError
        If one is missing.
    """
    _both("softmax", labels, logits)
    along = one_of("softmax_cross_entropy_with_logits", axis=axis, dim=dim)
    x = convert_to_tensor(logits)
    z = convert_to_tensor(labels, None if hasattr(labels, "dtype") else x.dtype)
    if z.dtype != x.dtype:
        z = ops.cast(z, x.dtype)
    last = -1 if along is None else along
    return ops.negative(ops.sum(z * ops.log_softmax(x, last), last), name=name)


@building
def softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, dim: int = -1, name: str | None = None, axis: int | None = None
) -> Tensor:
    """Return the same as ``softmax_cross_entropy_with_logits_v2``; no gradient goes to the labels."""
    _both("softmax", labels, logits)
    fixed = ops.stop_gradient(
        convert_to_tensor(labels, None if hasattr(labels, "dtype") else convert_to_tensor(logits).dtype)
    )
    return softmax_cross_entropy_with_logits_v2(fixed, logits, dim if axis is None else axis, name)


@building
def sparse_softmax_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Tensor:
    """Return the cross entropies of logits along the last axis, of which ``labels`` says which class is true.

    Raises
    ------
    ValueError
        If one is missing, or the shapes do not go together.
    AssertionError
        In a run, if a label is no class.
    """
    _both("sparse", labels, logits)
    x, which = convert_to_tensor(logits), convert_to_tensor(labels)
    if which.dtype.kind not in "iu":
        raise TypeError(f"sparse_softmax_cross_entropy_with_logits: labels must be integers, got {which.dtype} [AL906]")
    rank, inner = x.shape.rank, which.shape.rank
    if rank == 0:
        raise ValueError(f"`logits` cannot be a scalar. Received logits={logits} [AL906]")
    if rank is not None and inner is not None and inner != rank - 1:
        raise ValueError(
            f"`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape={which.shape} of rank "
            f"{inner} and logits.shape={x.shape} of rank {rank} [AL906]"
        )
    if rank is not None and not which.shape.is_compatible_with(x.shape[:-1]):
        raise ValueError(
            f"`labels.shape` must equal `logits.shape` except for the last dimension. Received: labels.shape="
            f"{which.shape} and logits.shape={x.shape} [AL906]"
        )
    count = ops.shape(x, which.dtype)[-1]
    valid = ops.all(ops.logical_and(which >= 0, which < count))
    with after(ops.Assert(valid, ["a label is outside of the classes:", which])):
        found = ops.take_along_axis(ops.log_softmax(x, -1), ops.expand_dims(which, -1), -1)
    return ops.negative(ops.squeeze(found, -1), name=name)
