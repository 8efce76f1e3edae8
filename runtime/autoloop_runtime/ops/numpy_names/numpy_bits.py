"""NumPy's packing of booleans into bytes, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT
from ..array import ravel
from .counterparts import as_operand, counterpart, known
from .library_rows import library
from .numpy_reductions import numpy_axis


def _bytes(x: Tensor, axis: int, bitorder: str) -> Any:
    return [None if d is None else -(-d // 8) if k == axis else d for k, d in enumerate(x.shape.known)]


def _bits(x: Tensor, axis: int, count: int | None, bitorder: str) -> Any:
    return [_count(d, count) if k == axis else d for k, d in enumerate(x.shape.known)]


def _count(extent: int | None, count: int | None) -> int | None:
    if count is not None and count >= 0:
        return count
    return None if extent is None else extent * 8 + (count or 0)


_pack = library("packbits", np.packbits, _bytes, NO_GRADIENT)
_unpack = library("unpackbits", np.unpackbits, _bits, NO_GRADIENT)


def _along(theirs: Any, a: Any, axis: Any) -> tuple[Tensor, int]:
    x = as_operand(a)
    if known(theirs, axis=axis) is None:
        return ravel(x), 0
    return x, numpy_axis(theirs, axis, x)


@counterpart(np.packbits)
def packbits(a: Any, /, axis: Any = None, bitorder: Any = "big") -> Tensor:
    """Return ``np.packbits``."""
    x, place = _along(np.packbits, a, axis)
    made: Tensor = _pack(x, axis=place, bitorder=bitorder)
    return made


@counterpart(np.unpackbits)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> Tensor:
    """Return ``np.unpackbits``."""
    x, place = _along(np.unpackbits, a, axis)
    made: Tensor = _unpack(x, axis=place, count=known(np.unpackbits, count=count), bitorder=bitorder)
    return made
