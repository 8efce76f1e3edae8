"""What variables begin with: functions of a shape, as 1.x has them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.dtypes import float32
from autoloop_runtime.ir.argument_types import ArrayLike, DTypeLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor

from .building import building
from .seeds import random_normal, random_uniform, truncated_normal

__all__ = [
    "constant_initializer", "glorot_normal_initializer", "glorot_uniform_initializer", "ones_initializer",
    "random_normal_initializer", "random_uniform_initializer", "truncated_normal_initializer",
    "variance_scaling_initializer", "zeros_initializer",
]  # fmt: skip

#: the deviation of a normal distribution that is cut off at two deviations
_CUT = 0.87962566103423978


class Initializer:
    """Gives the first value of a variable, by its shape and dtype."""

    dtype: Any

    def __call__(self, shape: Any, dtype: DTypeLike | None = None, partition_info: Any = None) -> Tensor:
        """Return the value, of ``dtype`` or that of the initializer."""
        return building(self._made)(shape, self.dtype if dtype is None else dtypes.as_dtype(dtype))

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Return the arguments it was made of."""
        return {**vars(self), "dtype": str(self.dtype)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Initializer:
        """Return one, made of what ``get_config`` gave."""
        return cls(**config)


def _any(dtype: Any) -> Any:
    return dtypes.as_dtype(dtype)


def _floating(dtype: Any) -> Any:
    wanted = dtypes.as_dtype(dtype)
    if not dtypes.is_floating(wanted):
        raise ValueError(f"Expected floating point type, got {wanted}. [AL904]")
    return wanted


class zeros_initializer(Initializer):
    """Zeros."""

    def __init__(self, dtype: DTypeLike = float32) -> None:
        self.dtype = _any(dtype)

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return ops.zeros(shape, dtype)


class ones_initializer(Initializer):
    """Ones."""

    def __init__(self, dtype: DTypeLike = float32) -> None:
        self.dtype = _any(dtype)

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return ops.ones(shape, dtype)


class constant_initializer(Initializer):
    """The values given: one for all, or as many as there are elements, in the order of rows.

    Raises
    ------
    TypeError
        If they are neither numbers nor lists or arrays of numbers.
    """

    def __init__(self, value: ArrayLike = 0, dtype: DTypeLike = float32, verify_shape: bool = False) -> None:
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value={value} of type: {type(value).__name__}. Expected Python "
                            f"scalar, list or tuple of values, or numpy.ndarray. [AL904]")  # fmt: skip
        self.value, self.verify_shape, self.dtype = value, verify_shape, _any(dtype)

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        values = np.asarray(self.value).astype(dtype)
        extents = tuple(shape)
        if self.verify_shape and values.shape != extents:
            raise TypeError(f"Expected Tensor's shape: {extents}, got {values.shape}. [AL904]")
        size = math.prod(extents)
        if values.size == 1:
            return convert_to_tensor(np.full(extents, values.reshape(-1)[0]))
        if 0 < values.size < size:  # the last one as often as it takes, as ``constant`` of 1.x does
            flat = values.reshape(-1)
            values = np.concatenate([flat, np.full(size - flat.size, flat[-1])])
        if values.size != size:
            raise TypeError(
                f"constant_initializer: {values.size} values do not make a variable of shape {extents} [AL904]"
            )
        return convert_to_tensor(values.reshape(extents))


class random_normal_initializer(Initializer):
    """Normally distributed numbers."""

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: DTypeLike = float32
    ) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, _floating(dtype)

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return random_normal(shape, self.mean, self.stddev, dtype, self.seed)


class truncated_normal_initializer(Initializer):
    """Normally distributed numbers, no more than two deviations from the mean."""

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: int | None = None, dtype: DTypeLike = float32
    ) -> None:
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, _floating(dtype)

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


class random_uniform_initializer(Initializer):
    """Numbers from ``minval`` to below ``maxval``."""

    def __init__(
        self, minval: float = 0.0, maxval: float | None = None, seed: int | None = None, dtype: DTypeLike = float32
    ) -> None:
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, _any(dtype)

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        return random_uniform(shape, self.minval, self.maxval, dtype, self.seed)


class variance_scaling_initializer(Initializer):
    """Random numbers whose variance is ``scale`` by the number of inputs (``fan_in``), of outputs, or of both halved.

    Raises
    ------
    ValueError
        If ``scale`` is not positive, or the mode or the distribution is none of these.
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
        seed: int | None = None, dtype: DTypeLike = float32,
    ) -> None:  # fmt: skip
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale} [AL904]")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(
                f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode} [AL904]"
            )
        kind = distribution.lower()
        if kind not in {"normal", "uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError(
                "Argument `distribution` should be one of ('normal', 'uniform', 'truncated_normal', "
                f"'untruncated_normal'). Received: {distribution} [AL904]"
            )
        self.scale, self.mode, self.distribution = scale, mode, kind
        self.seed, self.dtype = seed, _floating(dtype)

    def _made(self, shape: Any, dtype: Any) -> Tensor:
        inputs, outputs = _fans(tuple(shape))
        fan = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}[self.mode]
        scale = self.scale / max(1.0, fan)
        if self.distribution in ("normal", "truncated_normal"):
            return truncated_normal(shape, 0.0, math.sqrt(scale) / _CUT, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        limit = math.sqrt(3.0 * scale)
        return random_uniform(shape, -limit, limit, dtype, self.seed)


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    """Return how many inputs and outputs a layer with such weights has."""
    if len(shape) < 2:
        return (1.0, 1.0) if not shape else (float(shape[0]), float(shape[0]))
    field = math.prod(shape[:-2])
    return float(shape[-2] * field), float(shape[-1] * field)


class glorot_uniform_initializer(variance_scaling_initializer):
    """Numbers from -l to below l, where l is the root of 6 by the number of inputs and outputs."""

    def __init__(self, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(1.0, "fan_avg", "uniform", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": str(self.dtype)}


class glorot_normal_initializer(variance_scaling_initializer):
    """Normally distributed numbers, cut off, whose variance is 2 by the number of inputs and outputs."""

    def __init__(self, seed: int | None = None, dtype: DTypeLike = float32) -> None:
        super().__init__(1.0, "fan_avg", "truncated_normal", seed, dtype)

    def get_config(self) -> dict[str, Any]:
        return {"seed": self.seed, "dtype": str(self.dtype)}


def default_of(dtype: Any) -> Initializer:
    """Return what a variable of this dtype begins with where nothing is said.

    Raises
    ------
    ValueError
        If it is a variable of strings.
    """
    if dtypes.is_floating(dtype):
        return glorot_uniform_initializer()
    if dtype == dtypes.bool_ or dtypes.is_integer(dtype) or np.dtype(dtype).kind == "c":
        return zeros_initializer(dtype)
    raise ValueError(f"An initializer for a variable of dtype {dtype} is required [AL904]")
