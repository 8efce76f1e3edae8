"""Values put one after another where a mask is true, and from the first one again when they are at an end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.apply import apply
from ..ir.op import Taking, ruled_in
from ..ir.prices import Price
from ..ir.tensor import Tensor
from ..ir.traits import UPDATING, Fails
from .array import ravel
from .define import primitive
from .indexing import index_add
from .operands import as_dtype
from .running_sums import cumsum
from .selection import where
from .shape_queries import size


def _place_in_place(x: Any, values: Any, mask: Any) -> Any:
    np.place(x, mask, values.copy() if np.may_share_memory(x, values) else values)
    return x


def _place_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    _, values, mask = inputs
    number = cumsum(as_dtype(ravel(mask), np.dtype(np.int64))) - 1
    taken = ravel(where(mask, g, 0))
    return [where(mask, 0, g), index_add([size(values)], number % size(values), taken, values.shape), None]


#: of an array, a vector of one or more values, and a mask of the array's shape
PLACE = primitive(
    "place",
    lambda x, values, mask: (x.dtype, x.shape),
    lambda x, values, mask: _place_in_place(np.array(x), values, mask),
    _place_vjp,
    traits=UPDATING.but(fails=Fails.NEVER, price=Price.FUNCTION),
    taking=Taking(_place_in_place, (0,), is_update=True),
)


def placed(x: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Return ``x`` with what ``np.place`` puts there."""
    return apply(PLACE, [x, values, mask])


ruled_in("indexing_rules", PLACE)
