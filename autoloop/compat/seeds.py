"""Random numbers of 1.x: of the seeds of the graph and of each operation, the same ones as TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.dtypes import float32, int32, int64
from autoloop_runtime.collections import seeded_draws
from autoloop_runtime.ir.apply import apply
from autoloop_runtime.ir.argument_types import ArrayLike, DimsLike, DTypeLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.session import get_default_graph

from .building import building, default_root

__all__ = [
    "get_seed", "multinomial", "random_normal", "random_shuffle", "random_uniform", "set_random_seed",
    "truncated_normal",
]  # fmt: skip

_DEFAULT_GRAPH_SEED = 87654321
_MOST = 2**31 - 1


def set_random_seed(seed: int) -> None:
    """Set the seed of the default graph: of the operations that are made from now on."""
    default_root().seed = seed


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """Return the two seeds that an operation made now would have; None if its numbers are others in each session."""
    root = default_root()
    if root.seed is not None:
        own = root.count_of_names() if op_seed is None else op_seed
        seeds = root.seed % _MOST, own % _MOST
    elif op_seed is None:
        return None, None
    else:
        seeds = _DEFAULT_GRAPH_SEED, op_seed % _MOST
    return (0, _MOST) if seeds == (0, 0) else seeds


def _seeds(op_seed: int | None) -> tuple[int, int] | None:
    first, second = get_seed(op_seed)
    return None if first is None or second is None else (first, second)


def _floating(dtype: Any, name: str) -> Any:
    wanted = dtypes.as_dtype(dtype)
    if wanted not in (dtypes.float16, dtypes.float32, dtypes.float64):
        raise ValueError(f"Invalid dtype {wanted} for {name}: float16, float32 or float64 [AL904]")
    return wanted


def _spread(
    way: str, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: int | None, name: str | None, default: str
) -> Tensor:
    wanted = _floating(dtype, default)
    with get_default_graph().name_scope(name or default):
        center, width = convert_to_tensor(mean, wanted), convert_to_tensor(stddev, wanted)
        return seeded_draws.drawn(way, shape, wanted, _seeds(seed), None) * width + center


@building
def random_normal(
    shape: DimsLike, mean: ArrayLike = 0.0, stddev: ArrayLike = 1.0, dtype: DTypeLike = float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return normally distributed numbers, others in each run."""
    return _spread("RandomStandardNormal", shape, mean, stddev, dtype, seed, name, "random_normal")


@building
def truncated_normal(
    shape: DimsLike, mean: ArrayLike = 0.0, stddev: ArrayLike = 1.0, dtype: DTypeLike = float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return normally distributed numbers, each drawn again until it is no more than two deviations from the mean."""
    return _spread("TruncatedNormal", shape, mean, stddev, dtype, seed, name, "truncated_normal")


@building
def random_uniform(
    shape: DimsLike, minval: ArrayLike = 0, maxval: ArrayLike | None = None, dtype: DTypeLike = float32,
    seed: int | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return numbers from ``minval`` to below ``maxval`` (of floats 1 by default), others in each run.

    Raises
    ------
    ValueError
        If no ``maxval`` is given for integers, or the dtype is another than float16, float32, float64, int32, int64.
    """
    wanted = dtypes.as_dtype(dtype)
    with get_default_graph().name_scope(name or "random_uniform"):
        if wanted in (int32, int64):
            if maxval is None:
                raise ValueError("Must specify maxval for integer dtype in random_uniform [AL904]")
            bounds = [convert_to_tensor(bound, wanted) for bound in (minval, maxval)]
            return seeded_draws.drawn("RandomUniformInt", shape, wanted, _seeds(seed), None, *bounds)
        low, high = (
            convert_to_tensor(v, _floating(wanted, "random_uniform")) for v in (minval, 1 if maxval is None else maxval)
        )
        return seeded_draws.drawn("RandomUniform", shape, wanted, _seeds(seed), None) * (high - low) + low


@building
def random_shuffle(value: ArrayLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return ``value`` with its rows in random order, another one in each run."""
    x = convert_to_tensor(value)
    attrs = {"draws": seeded_draws.Draws(_seeds(seed))}
    order = apply(seeded_draws.ORDER, [ops.shape(x, int64)[0]], attrs, name or "RandomShuffle")
    return ops.ensure_shape(ops.gather(x, order, 0), x.shape)


@building
def multinomial(
    logits: ArrayLike, num_samples: ArrayLike, seed: int | None = None, name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Tensor:  # fmt: skip
    """Return ``num_samples`` numbers of classes for each row of ``logits``, by their unnormalised log-probabilities.

    Raises
    ------
    ValueError
        If ``logits`` is no matrix.
    """
    odds, count = convert_to_tensor(logits), convert_to_tensor(num_samples)
    if odds.shape.rank not in (2, None):
        raise ValueError(f"multinomial: logits must have rank 2, got shape {odds.shape} [AL904]")
    attrs: dict[str, Any] = {"dtype": np.dtype(int64 if output_dtype is None else dtypes.as_dtype(output_dtype))}
    attrs["draws"] = seeded_draws.Draws(_seeds(seed))
    return apply(seeded_draws.CATEGORIES, [odds, count], attrs, name or "multinomial")
