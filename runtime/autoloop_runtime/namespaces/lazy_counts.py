"""Counting, and which elements there are, over arrays that are computed later: Dask's own functions."""

from __future__ import annotations

from typing import Any

from ..ops.numpy_names.distinct_elements import AMONG, DISTINCT
from ..ops.numpy_names.histograms import BIN_COUNTS, BIN_OF
from .chunk_kernels import dask_array
from .foreign_rows import Call, computed


@computed(BIN_COUNTS, when="later")
def _bin_counts(call: Call, x: Any, *weights: Any, minlength: int) -> Any:
    if not all(map(call.namespace.holds, (x, *weights))) or (weights and weights[0].chunks != x.chunks):
        raise call.refused("beside weights that are NumPy's, or in other chunks")
    return dask_array().bincount(x, weights=weights[0] if weights else None, minlength=minlength)


@computed(BIN_OF, when="later")
def _bin_of(call: Call, x: Any, bins: Any, right: bool) -> Any:
    if call.namespace.holds(bins):
        raise call.refused("where the ends of the bins are not computed yet")
    return dask_array().digitize(x, bins, right=right)


@computed(AMONG, when="later")
def _among(call: Call, x: Any, among: Any, assume_unique: bool, invert: bool, kind: Any) -> Any:
    return dask_array().isin(x, among, assume_unique=assume_unique, invert=invert)


@computed(DISTINCT, when="later")
def _distinct(call: Call, x: Any, axis: Any, parts: tuple[bool, bool, bool], equal_nan: bool, in_order: bool) -> Any:
    if axis is not None or not (equal_nan and in_order):
        raise call.refused("with axis=, equal_nan= or sorted=")
    made = dask_array().unique(x, *parts)
    return made if any(parts) else (made,)
