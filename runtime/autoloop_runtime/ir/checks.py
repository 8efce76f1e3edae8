"""Internal ops that make sure at run time of what could not be proved when the graph was built."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dtypes import DType
from ..base.shapes import TensorShape
from .op import Op


def _promised(value: Any, tensor: str, shape: TensorShape) -> Any:
    if not shape.matches(value.shape):
        raise ValueError(
            f"set_shape promised shape {shape} for tensor {tensor!r}, but its value has shape "
            f"{TensorShape(value.shape)} [AL116]"
        )
    return value


def _invariant(value: Any, variable: str, loop: str, shape: TensorShape, entry: bool) -> Any:
    if not shape.matches(value.shape):
        actual = TensorShape(value.shape)
        when = "on entry to the loop" if entry else "after the iteration"
        raise ValueError(
            f"variable {variable!r} of the loop {loop!r} has shape {actual} {when}, which does not fit its shape "
            f"invariant {shape}; give a more general one with shape_invariants=, for {variable!r} "
            f"{shape.most_general(actual)!r} [AL105]"
        )
    return value


def _predicate(value: Any, what: str) -> Any:
    if value.dtype.kind != "b":
        raise TypeError(f"{what} must be boolean, not {value.dtype} [AL108]")
    if value.shape != ():
        raise ValueError(
            f"{what} must be a scalar, but its value has shape {TensorShape(value.shape)}; "
            f"reduce it with autoloop.any or autoloop.all [AL108]"
        )
    return np.bool_(value)


def _passed(x: Any, **_: Any) -> tuple[DType, TensorShape]:
    return x.dtype, x.shape


CHECK_PROMISE = Op("CheckShape", _passed, _promised, doc="a shape declared by set_shape")
CHECK_INVARIANT = Op("CheckInvariant", _passed, _invariant, doc="the shape invariant of a loop variable")
CHECK_PREDICATE = Op("CheckPredicate", _passed, _predicate, doc="a condition is a boolean scalar")
