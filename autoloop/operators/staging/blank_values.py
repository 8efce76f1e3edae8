"""Values that stand where a branch or loop has none, and that nobody reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.ir.composite import composite_of
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.tensor import Tensor


def blank(leaf: Any) -> Any:
    """Return a value of the type of ``leaf`` that nobody reads."""
    composite = composite_of(leaf)
    if composite is not None:
        unread = composite.unread(leaf)
        return unread if unread is not None else nest.map_structure(blank, leaf, expand_composites=True)
    if (number := number_type(leaf)) is not None:
        return number()
    # a part of an array may be one of indices that only a branch has: what it holds is not asked
    known = leaf if isinstance(leaf, Tensor) else convert_to_tensor(leaf)
    return blank_tensor(known.dtype, known.shape)


def blank_tensor(dtype: Any, shape: Any) -> Tensor:
    """Return zeros that fit a partly known shape."""
    dims = () if shape.rank is None else tuple(dim or 0 for dim in shape.as_list())
    return Tensor(np.zeros(dims, dtype)[()])
