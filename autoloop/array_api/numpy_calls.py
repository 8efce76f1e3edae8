"""How functions that mean what NumPy's mean are made of these: NumPy hands them to the operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor


def computed(theirs: Callable[..., Any], *operands: ArrayLike, **arguments: Any) -> Tensor:
    """Return the tensor that NumPy's function gives for tensors."""
    return convert_to_tensor(theirs(*map(convert_to_tensor, operands), **arguments))


def computed_parts(theirs: Callable[..., Any], *operands: ArrayLike, **arguments: Any) -> list[Tensor]:
    """Return the tensors that NumPy's function of several results gives for tensors."""
    return [convert_to_tensor(part) for part in theirs(*map(convert_to_tensor, operands), **arguments)]
