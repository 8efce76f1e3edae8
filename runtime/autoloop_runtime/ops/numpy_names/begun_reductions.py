"""Rows of NumPy's reductions that begin from a value that is given: it comes before the elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.tensor import Tensor
from .. import reducing, reductions
from ..broadcasting import broadcast_like
from ..elementwise import conjugated
from ..logic import equal
from ..operands import as_dtype, cast
from ..reducing import restore
from .library_rows import library


def _slope_of_sum(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, first = inputs
    g = restore(g, x, attrs)
    return [broadcast_like(g, x), as_dtype(reducing.sum(g), first.dtype)]


def _slope_of_product(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    x, first = inputs
    made = reductions.prod(x, attrs["axis"], attrs["keepdims"])
    slope: Any = reductions.PROD.vjp
    (of_elements,) = slope(g * conjugated(first), [made], [x], attrs)
    return [of_elements, as_dtype(reducing.sum(g * conjugated(made)), first.dtype)]


def _from(ufunc: Any, **options: Any) -> Any:
    return lambda x, first, axis, keepdims: ufunc.reduce(x, axis=axis, keepdims=keepdims, initial=first, **options)


def _in_its_dtype(ufunc: Any) -> Any:
    return lambda x, first, axis, keepdims: _from(ufunc, dtype=x.dtype)(x, first, axis, keepdims)


SUM_FROM = library("sum_from", _in_its_dtype(np.add), "reduced", _slope_of_sum)
PRODUCT_FROM = library("prod_from", _in_its_dtype(np.multiply), "reduced", _slope_of_product)


def _share(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    """Return the gradients of a largest element, and of the one that it began with: equal ones share."""
    x, first = inputs
    g, y = restore(g, x, attrs), restore(outputs[0], x, attrs)
    hits, at_first = cast(equal(x, y), g.dtype), cast(equal(first, y), g.dtype)
    share = g / (reducing.sum(hits, attrs["axis"], keepdims=True) + at_first)
    return [broadcast_like(hits * share, x), as_dtype(reducing.sum(at_first * share), first.dtype)]


MAX_FROM = library("max_from", _from(np.maximum), "reduced", _share)
MIN_FROM = library("min_from", _from(np.minimum), "reduced", _share)
