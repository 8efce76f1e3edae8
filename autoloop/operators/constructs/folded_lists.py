"""``sum``, ``max`` and ``min`` of growing lists whose elements are of several types: one element after the other."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from autoloop_runtime import ops

from ..staging.growing_list import GrowingList
from ..staging.raising import Raising, raise_unless
from .for_statement import for_stmt
from .if_statement import if_exp
from .iterables import as_staged


def folded(values: GrowingList, start: Any, step: Callable[[Any, Any], Any]) -> Any:
    """Return what the elements of a list make one after the other, which are of several types."""
    items = as_staged(values)
    assert items is not None
    return for_stmt(items, lambda one, result: (step(result, one),), (start,), ("result",))[0]


def extreme_of_several(plain: Any, values: GrowingList, **default: Any) -> Any:
    """Return ``max`` or ``min`` of such a list."""
    if default:
        raise TypeError(
            f"{plain.__name__}(..., default=...) of {values.described()}, needs numbers of one type: float(x) [AL019]"
        )
    error = Raising(ValueError, lambda: plain([]))
    raise_unless(ops.greater(values.length, 0), error)
    exceeds = operator.gt if plain is max else operator.lt
    return folded(values, values[0], lambda found, one: if_exp(exceeds(one, found), lambda: one, lambda: found))
