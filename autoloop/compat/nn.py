"""``tf.nn`` of 1.x: activations, losses and the small parts of networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.doors import listing
from autoloop_runtime.base.dtypes import float32, int32
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.argument_types import ArrayLike, DTypeLike
from autoloop_runtime.ir.convert import convert_to_tensor, is_number
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.session import get_default_graph

from .building import building, missing, one_of, refuse
from .clipping import clip_by_norm
from .logit_losses import *
from .seeds import random_uniform

__all__ = [
    "batch_normalization", "bias_add", "dropout", "elu", "embedding_lookup", "in_top_k", "l2_loss", "l2_normalize",
    "leaky_relu", "log_softmax", "moments", "relu", "relu6", "relu_layer", "selu", "sigmoid",
    "sigmoid_cross_entropy_with_logits", "softmax", "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2", "softplus", "softsign", "sparse_softmax_cross_entropy_with_logits",
    "tanh", "top_k", "weighted_cross_entropy_with_logits", "xw_plus_b", "zero_fraction",
]  # fmt: skip
__dir__ = listing(globals())

if not TYPE_CHECKING:  # who would take every name for one that is there

    def __getattr__(name: str) -> Any:
        missing("v1.nn", name, {
            "conv2d": "there are no convolutions", "rnn_cell": "write the step of the cell in a while_loop",
            "dynamic_rnn": "write the step of the cell in a while_loop",
        })  # fmt: skip


# -- activations ------------------------------------------------------------------------------------------


@building
def relu(features: ArrayLike, name: str | None = None) -> Tensor:
    """Return the features where they are positive, and 0 elsewhere."""
    return ops.relu(features, name=name)


@building
def relu6(features: ArrayLike, name: str | None = None) -> Tensor:
    """Return the features, but not less than 0 and no more than 6."""
    x = convert_to_tensor(features)
    low, high = convert_to_tensor(0, x.dtype), convert_to_tensor(6, x.dtype)
    # the derivative is 0 at both ends
    inside = ops.logical_and(x > low, x < high)
    return ops.where(inside, x, ops.where(x > low, high, low), name=name)


@building
def elu(features: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``exp(x) - 1`` of what is negative, and the rest as it is."""
    x = convert_to_tensor(features)
    return ops.where(x < 0, ops.expm1(ops.minimum(x, 0)), x, name=name)


@building
def selu(features: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``elu`` with the two factors that keep the mean at 0 and the variance at 1."""
    x = convert_to_tensor(features)
    scale, alpha = 1.0507009873554804934193349852946, 1.7580993408473768599402175208123
    return ops.where(x < 0, ops.expm1(ops.minimum(x, 0)) * alpha, x * scale, name=name)


@building
def leaky_relu(features: ArrayLike, alpha: ArrayLike = 0.2, name: str | None = None) -> Tensor:
    """Return ``alpha * x`` of what is negative, and the rest as it is; of integers float32."""
    x = convert_to_tensor(features)
    if x.dtype.kind in "iu":
        x = ops.cast(x, float32)
    return ops.where(x > 0, x, x * alpha, name=name)


@building
def softplus(features: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``log(exp(x) + 1)``."""
    return ops.softplus(features, name=name)


@building
def softsign(features: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``x / (abs(x) + 1)``."""
    x = convert_to_tensor(features)
    return ops.divide(x, ops.abs(x) + 1, name=name)


@building
def sigmoid(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``1 / (1 + exp(-x))``."""
    return ops.sigmoid(x, name=name)


@building
def tanh(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return the hyperbolic tangent."""
    return ops.tanh(x, name=name)


@building
def softmax(logits: ArrayLike, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """Return ``exp(x)`` by their sum along an axis, the last by default."""
    along = one_of("softmax", axis=axis, dim=dim)
    return ops.softmax(logits, -1 if along is None else along, name=name)


@building
def log_softmax(logits: ArrayLike, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Tensor:
    """Return the logarithm of ``softmax``."""
    along = one_of("log_softmax", axis=axis, dim=dim)
    return ops.log_softmax(logits, -1 if along is None else along, name=name)


# -- layers -----------------------------------------------------------------------------------------------


@building
def dropout(
    x: ArrayLike, keep_prob: Any = None, noise_shape: Any = None, seed: int | None = None, name: str | None = None,
    rate: Any = None,
) -> Tensor:  # fmt: skip
    """Return the elements that stay, by the probability that they do, and 0 for the others.

    Parameters
    ----------
    keep_prob, rate : scalar
        The probability that an element stays, or that it does not: one of them.
    noise_shape : shape-like, optional
        Along axes of extent 1 here all elements stay, or none.
    seed : int, optional

    Raises
    ------
    ValueError
        If none or both are given, one is no probability, or the elements are no floats.
    """
    given = convert_to_tensor(x)
    if keep_prob is not None and rate is not None and not (is_number(keep_prob) and rate == 1 - keep_prob):
        raise ValueError("dropout: cannot specify both 'keep_prob' and 'rate' [AL906]")
    if keep_prob is None and rate is None:
        raise ValueError("You must provide a rate to dropout. [AL906]")
    chance = rate if rate is not None else 1 - keep_prob
    if not dtypes.is_floating(given.dtype):
        raise ValueError(
            f"x has to be a floating point tensor since it's going to be scaled. Got a {given.dtype} tensor instead. "
            f"[AL906]"
        )
    if is_number(chance):
        if not 0 <= chance < 1:
            raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {chance} [AL906]")
        if chance == 0:
            return ops.identity(given, name=name)
    with get_default_graph().name_scope(name or "dropout"):
        lost = convert_to_tensor(chance, given.dtype if is_number(chance) else None)
        if lost.dtype != given.dtype:
            raise ValueError(f"rate has dtype {lost.dtype}, x has {given.dtype} [AL906]")
        known = given.shape
        extents: Any = _noise(noise_shape, known, given)
        stays = random_uniform(extents, seed=seed, dtype=given.dtype) >= lost
        made = ops.where(stays, given * (1 / (1 - lost)), ops.zeros_like(given))
        return ops.ensure_shape(made, known)


def _noise(noise_shape: Any, known: TensorShape, x: Tensor) -> Any:
    if noise_shape is None:
        return known.as_list() if known.is_fully_defined() else ops.shape(x)
    if isinstance(noise_shape, (list, tuple)) and None in noise_shape and len(noise_shape) == known.rank:
        return [mine if one is None else one for one, mine in zip(noise_shape, known)]
    return noise_shape


@building
def embedding_lookup(
    params: Any, ids: ArrayLike, partition_strategy: str = "mod", name: str | None = None,
    validate_indices: bool = True, max_norm: float | None = None,
) -> Tensor:  # fmt: skip
    """Return the rows ``ids`` of a table, which may be a list of parts.

    Parameters
    ----------
    params : tensor-like or list of them
    ids : integers
    partition_strategy : "mod" or "div"
        Of a list: whether row ``i`` is in part ``i % n``, or the parts follow each other.
    max_norm : float, optional
        Rows are scaled down to this length.

    Raises
    ------
    ValueError
        If there are no parts, or the strategy is another.
    """
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if not parts:
        raise ValueError(f"Argument `params` should not be empty. Received: params={params} [AL906]")
    places, tables = convert_to_tensor(ids), [convert_to_tensor(part) for part in parts]
    table, number = tables[0], len(tables)
    if number > 1:
        if partition_strategy not in ("mod", "div"):
            raise ValueError(
                f"Unrecognized partition strategy {partition_strategy!r}: Must be one of 'mod' or 'div'. [AL906]"
            )
        table = ops.concat(tables, 0)
        if partition_strategy == "mod":
            sizes = ops.stack([ops.shape(part, places.dtype)[0] for part in tables])
            starts = ops.cumsum(sizes, 0) - sizes
            places = places // number + ops.gather(starts, places % number)
    found = ops.gather(table, places, 0, None if max_norm is not None else name)
    if max_norm is None:
        return found
    rank, inner = table.shape.rank, places.shape.rank
    if rank is None or inner is None:
        raise ValueError("embedding_lookup: max_norm needs tables and ids of known rank [AL906]")
    made: Tensor = clip_by_norm(found, max_norm, list(range(inner, inner + rank - 1)), name)
    return made


@building
def bias_add(value: ArrayLike, bias: ArrayLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """Return the value with a vector added along its last axis, or the second ("NC...").

    Raises
    ------
    ValueError
        If the bias is no vector of that extent, or the format is another.
    """
    x, vector = convert_to_tensor(value), convert_to_tensor(bias)
    if data_format is not None and data_format not in ("N...C", "NHWC", "NDHWC", "NC", "NC...", "NCHW", "NCDHW"):
        raise ValueError(
            f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format} [AL906]"
        )
    if vector.shape.rank not in (1, None):
        raise ValueError(f"bias_add: the bias has shape {vector.shape}, it must be a vector [AL906]")
    rank = x.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(f"bias_add: the value must have rank 2 or more, got shape {x.shape} [AL906]")
    second = data_format is not None and data_format.startswith("NC") and data_format != "NC"
    axis = 1 if second else -1
    if rank is not None and not TensorShape([x.shape[axis]]).is_compatible_with(vector.shape):
        raise ValueError(
            f"bias_add: a bias of shape {vector.shape} does not fit axis {axis} of shape {x.shape} [AL906]"
        )
    if second:
        if rank is None:
            raise ValueError("bias_add: 'NC...' needs a value of known rank [AL906]")
        vector = ops.reshape(vector, [-1] + [1] * (rank - 2))
    return ops.add(x, vector, name=name)


@building
def xw_plus_b(x: ArrayLike, weights: ArrayLike, biases: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``matmul(x, weights) + biases``."""
    return ops.add(ops.matmul(convert_to_tensor(x), convert_to_tensor(weights)), convert_to_tensor(biases), name=name)


@building
def relu_layer(x: ArrayLike, weights: ArrayLike, biases: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``relu(matmul(x, weights) + biases)``."""
    return ops.relu(xw_plus_b(x, weights, biases), name=name)


# -- statistics -------------------------------------------------------------------------------------------


@building
def l2_normalize(
    x: ArrayLike, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """Return vectors along axes divided by their lengths, or by the root of ``epsilon`` if that is more."""
    along = one_of("l2_normalize", axis=axis, dim=dim)
    given = convert_to_tensor(x)
    total = ops.sum(ops.square(given), tuple(along) if isinstance(along, list) else along, True)
    return ops.multiply(given, ops.rsqrt(ops.maximum(total, epsilon)), name=name)


@building
def moments(
    x: ArrayLike, axes: Any, shift: Any = None, name: str | None = None, keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the mean and the variance over axes; those of float16 are computed in float32."""
    keeps = bool(one_of("moments", keepdims=keepdims, keep_dims=keep_dims))
    along = tuple(axes) if isinstance(axes, (list, np.ndarray)) else axes
    with get_default_graph().name_scope(name or "moments"):
        given = convert_to_tensor(x)
        wide = ops.cast(given, float32) if given.dtype == dtypes.float16 else given
        mean = ops.mean(wide, along, True)
        variance = ops.mean(ops.square(wide - ops.stop_gradient(mean)), along, True)
        both = [v if keeps else ops.squeeze(v, _all_axes(along, wide)) for v in (mean, variance)]
        first, second = (ops.cast(v, given.dtype) if v.dtype != given.dtype else v for v in both)
        return first, second


def _all_axes(axes: Any, x: Tensor) -> Any:
    if axes is not None:
        return axes
    if x.shape.rank is None:
        raise ValueError("moments of a tensor of unknown rank need axes [AL906]")
    return tuple(range(x.shape.rank))


@building
def batch_normalization(
    x: ArrayLike, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float, name: str | None = None
) -> Tensor:
    """Return ``scale * (x - mean) / sqrt(variance + variance_epsilon) + offset``; the outer two may be None."""
    given = convert_to_tensor(x)
    factor = ops.rsqrt(convert_to_tensor(variance) + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    shift = -convert_to_tensor(mean) * factor
    return ops.add(given * factor, shift if offset is None else offset + shift, name=name)


@building
def zero_fraction(value: ArrayLike, name: str | None = None) -> Tensor:
    """Return which part of the elements is zero, float32."""
    x = convert_to_tensor(value)
    return ops.mean(ops.cast(ops.equal(x, 0), float32), name=name)


# -- losses -----------------------------------------------------------------------------------------------


# -- the greatest -----------------------------------------------------------------------------------------


class TopK(NamedTuple):
    """The greatest elements of each row, and where they stand."""

    values: Tensor
    indices: Tensor


@building
def top_k(
    input: ArrayLike, k: Any = 1, sorted: bool = True, index_type: DTypeLike = int32, name: str | None = None
) -> TopK:
    """Return the ``k`` greatest elements of each row, the greatest first, and where they stand."""
    values, indices = ops.top_k(input, k, sorted, name)
    return TopK(values, ops.cast(indices, index_type) if indices.dtype != dtypes.as_dtype(index_type) else indices)


@building
def in_top_k(predictions: ArrayLike, targets: ArrayLike, k: Any, name: str | None = None) -> Tensor:
    """Return for each row whether fewer than ``k`` predictions are greater than that of the target class."""
    odds, which = convert_to_tensor(predictions), convert_to_tensor(targets)
    refuse("in_top_k", predictions=None if odds.shape.rank in (2, None) else odds.shape)
    classes = ops.shape(odds, which.dtype)[1]
    valid = ops.logical_and(which >= 0, which < classes)
    safe = ops.where(valid, which, ops.zeros_like(which))
    own = ops.take_along_axis(odds, ops.expand_dims(safe, 1), 1)
    better = ops.sum(ops.cast(odds > own, int32), 1)
    finite = ops.isfinite(ops.squeeze(own, 1))
    return ops.logical_and(ops.logical_and(valid, finite), better < ops.cast(k, int32), name=name)
