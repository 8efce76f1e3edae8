"""Values and gradients held within bounds, as in 1.x."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.collections.sparse import IndexedSlices
from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.session import get_default_graph

from .building import building

__all__ = [
    "clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm",
]  # fmt: skip


def _with(one: Any, values: Tensor) -> Any:
    """Return ``values`` in place of those of ``one``, which may be slices."""
    return IndexedSlices(values, one.indices, one.dense_shape) if isinstance(one, IndexedSlices) else values


@building
def clip_by_value(t: Any, clip_value_min: ArrayLike, clip_value_max: ArrayLike, name: str | None = None) -> Any:
    """Return the elements, but not less than the first bound, and then no more than the second.

    Raises
    ------
    ValueError
        If a bound has more axes than ``t``.
    """
    x = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t)
    low, high = (
        b if isinstance(b, Tensor) else convert_to_tensor(b, x.dtype) for b in (clip_value_min, clip_value_max)
    )
    made = ops.maximum(ops.minimum(x, high), low, name=name)
    if not made.shape.is_compatible_with(x.shape):
        raise ValueError(
            f"clip_by_value: bounds of shape {low.shape} and {high.shape} are larger than {x.shape} [AL905]"
        )
    return _with(t, made)


@building
def clip_by_norm(t: Any, clip_norm: ArrayLike, axes: Any = None, name: str | None = None) -> Any:
    """Return the tensor scaled so that its length, over all axes or those named, is no more than ``clip_norm``."""
    x = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t)
    with get_default_graph().name_scope(name or "clip_by_norm"):
        most = convert_to_tensor(clip_norm, None if isinstance(clip_norm, Tensor) else x.dtype)
        total = ops.sum(x * x, tuple(axes) if isinstance(axes, list) else axes, True)
        is_long = total > 0
        # the root of 0 has no derivative
        safe = ops.where(is_long, total, ops.ones_like(total))
        length = ops.where(is_long, ops.sqrt(safe), total)
        return _with(t, x * most / ops.maximum(length, most))


@building
def clip_by_average_norm(t: ArrayLike, clip_norm: ArrayLike, name: str | None = None) -> Tensor:
    """Return the tensor scaled so that its length by the number of elements is no more than ``clip_norm``."""
    x = convert_to_tensor(t)
    with get_default_graph().name_scope(name or "clip_by_average_norm"):
        count = ops.cast(ops.size(x), x.dtype)
        inverse = ops.rsqrt(ops.sum(x * x)) * count
        most = convert_to_tensor(clip_norm, None if isinstance(clip_norm, Tensor) else x.dtype)
        return x * most * ops.minimum(inverse, 1 / most)


@building
def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """Return the length of all tensors of a list together; None counts for nothing.

    Raises
    ------
    TypeError
        If it is no list.
    """
    if isinstance(t_list, (str, Tensor)) or not isinstance(t_list, Sequence):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}. [AL905]")
    parts = [convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t) for t in t_list if t is not None]
    with get_default_graph().name_scope(name or "global_norm"):
        halves = ops.stack([ops.sum(x * x) / 2 for x in parts])
        return ops.sqrt(ops.sum(halves) * convert_to_tensor(2.0, halves.dtype), name="global_norm")


@building
def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: ArrayLike, use_norm: Tensor | None = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """Return the tensors of a list, scaled so that their length together is at most ``clip_norm``, and that length.

    Where it is not finite all of them are NaN.

    Raises
    ------
    TypeError
        If it is no list.
    """
    length = global_norm(t_list) if use_norm is None else use_norm
    with get_default_graph().name_scope(name or "clip_by_global_norm"):
        most = convert_to_tensor(clip_norm, None if isinstance(clip_norm, Tensor) else length.dtype)
        scale = most * ops.minimum(1 / length, convert_to_tensor(1.0, length.dtype) / most)
        # NaN, if the length is not finite
        factor = scale + (length - length)
        made: list[Any] = []
        for t in t_list:
            if t is None:
                made.append(None)
                continue
            x = convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t)
            made.append(_with(t, x * ops.cast(factor, x.dtype)))
        return made, length
