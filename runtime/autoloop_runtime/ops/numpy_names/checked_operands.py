"""Operands whose extents only the run knows, and checks: NumPy refuses them before it computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from .library_rows import LIBRARY, library


def _checked(x: Any, *others: Any, check: Callable[..., None]) -> Any:
    check(x, *others)
    return x


#: gives its first operand, after ``check(*arrays)`` has not raised
checked = library(
    "checked_operand", _checked, "same", lambda g, outputs, inputs, attrs: [g, *[None] * (len(inputs) - 1)],
    dtype=lambda x, *others, check: x.dtype, traits=LIBRARY.but(raises=Exception),
)  # fmt: skip


def long_enough(x: Tensor, axis: int, least: int, words: str) -> Any:
    """Return an operand that has at least so many places along an axis, or of which the run raises ``ValueError``."""

    def check(array: Any) -> None:
        if array.shape[axis] < least:
            raise ValueError(words)

    extent = x.shape.known[axis]
    if extent is not None and extent < least:
        raise ValueError(words)
    return checked(x, check=check) if extent is None else x


def _check_square(array: Any) -> None:
    if array.shape[-1] != array.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")


def surely_square(x: Tensor) -> Any:
    """Return square matrices, or of which the run raises ``LinAlgError``."""
    return checked(x, check=_check_square) if None in x.shape.known[-2:] else x


def not_empty(x: Tensor, error: Exception) -> Any:
    """Return an operand that has elements, or of which the run raises."""

    def check(array: Any) -> None:
        if not array.size:
            raise type(error)(*error.args)

    count = x.shape.num_elements()
    if count == 0:
        raise error
    return checked(x, check=check) if count is None else x


def equally_long(x: Tensor, y: Tensor, error: Exception) -> Any:
    """Return an operand that is as long as another, or of which the run raises."""

    def check(one: Any, other: Any) -> None:
        if len(one) != len(other):
            raise type(error)(*error.args)

    extents = x.shape.known[0], y.shape.known[0]
    if None not in extents and extents[0] != extents[1]:
        raise error
    return checked(x, y, check=check) if None in extents else x
