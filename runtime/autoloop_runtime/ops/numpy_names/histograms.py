"""Counting: which bin an element falls into, and how many (or what they weigh) fall into each."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base import dtypes
from ...base.shapes import TensorShape
from ...base.stand_ins import UnknownExtent, UnknownWhileTracing
from ...ir.apply import apply_several
from ...ir.op import numpys_alone
from ...ir.tensor import Tensor
from ...ir.traits import NO_GRADIENT, OPAQUE
from .. import (
    array,
    bounds,
    creation,
    filled,
    gathering,
    indexing,
    joining,
    logic,
    reducing,
    reductions,
    selection,
    shape_queries,
    sorting,
)
from ..define import primitive
from ..direct_calls import calls
from ..operands import as_dtype, is_tensor, weak_type
from .axes_of_numpy import rank_of
from .checked_operands import equally_long
from .counterparts import as_operand, cast_safely, counterpart, known
from .library_rows import LIBRARY, library
from .numpys_warnings import warn_as_numpy

_digitize = library("digitize", lambda x, bins, right: np.digitize(x, bins, right), "same", NO_GRADIENT,
                    dtype=lambda *_, **__: dtypes.int64, code_of=calls("np.digitize", "right"))  # fmt: skip

BIN_OF = _digitize.op


@counterpart(np.digitize)
def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    """Return ``np.digitize``."""
    return _digitize(x, bins, right=bool(right))


def _bincount_kernel(x: Any, *weights: Any, minlength: int) -> Any:
    return np.bincount(x, weights[0] if weights else None, minlength)


def _bincount_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [None, as_dtype(gathering.gather(g, inputs[0]), inputs[1].dtype)] if len(inputs) > 1 else [None]


def _bincount_code(node: Any) -> str:
    weights = "{1}" if len(node.inputs) > 1 else "None"
    return f"np.bincount({{0}}, {weights}, {operator.index(node.attrs['minlength'])})"


_bincount = library(
    "numpy_bincount", _bincount_kernel, lambda *_, **__: [None], _bincount_vjp,
    dtype=lambda x, *weights, minlength: dtypes.float64 if weights else dtypes.int64,
    code_of=_bincount_code,
)  # fmt: skip

BIN_COUNTS = _bincount.op


@counterpart(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    """Return ``np.bincount``."""
    places = as_operand(x)
    if rank_of(np.bincount, places) != 1:
        raise ValueError("object too deep for desired array" if len(places.shape) else "object of too small depth")
    if places.shape[0] != 0:
        places = cast_safely(x, np.int64)
    given = [] if weights is None else [cast_safely(weights, float)]
    return _bincount(places, *given, minlength=known(np.bincount, minlength=minlength))


def _edges_vjp(g: Any, x: Tensor) -> Any:
    """Return the gradient of evenly spaced edges between the least and the largest element."""
    flat = array.ravel(x)
    g = as_dtype(g, x.dtype)
    way = as_dtype(creation.range(shape_queries.size(g)), x.dtype) / as_dtype(shape_queries.size(g) - 1, x.dtype)
    form = shape_queries.shape(flat)
    least = indexing.index_add(
        form, array.expand_dims(reductions.argmin(flat), 0), [reducing.sum(g * (1 - way))], static=flat.shape
    )
    largest = indexing.index_add(
        form, array.expand_dims(reductions.argmax(flat), 0), [reducing.sum(g * way)], static=flat.shape
    )
    return array.reshape(least + largest, shape_queries.shape(x))


def _histogram_infer(a: Tensor, *given: Tensor, bins: Any, range: Any, ranged: Any, weighted: bool) -> Any:
    count = None if isinstance(bins, str) else bins
    if bins is None:
        first = given[0].shape.known[0] if given[0].shape.rank == 1 else None
        count, kind = None if first is None else first - 1, given[0].dtype
    else:
        span = list(range) if range is not None else []
        staged = [one.dtype if number is None else number(0) for one, number in zip(given, ranged)]
        kind = np.result_type(*span, *staged, a.dtype)
        kind = np.result_type(kind, np.float64) if kind.kind in "biu" else kind
    counts = dtypes.int64 if not weighted else given[-1].dtype
    return [(counts, TensorShape([count])), (kind, TensorShape([None if count is None else count + 1]))]


def _histogram_kernel(a: Any, *given: Any, bins: Any, range: Any, ranged: Any, weighted: bool) -> Any:
    weights = given[-1] if weighted else None
    if bins is None:
        bins = given[0]
    elif ranged:
        range = tuple([one if number is None else number(one) for one, number in zip(given, ranged)])
    return np.histogram(a, bins, range, weights=weights)


def _place(a: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
    """Return the bin of each element, and whether there is one: the last bin has its right edge."""
    last = as_dtype(shape_queries.size(edges), dtypes.int64) - 2
    found = selection.where(a == edges[-1], last, sorting.searchsorted(edges, a, "right") - 1)
    inside = logic.logical_and(a >= edges[0], a <= edges[-1])
    return bounds.maximum(bounds.minimum(found, last), 0), inside


def _histogram_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    a, *given = inputs
    made: list[Any] = [None] * len(inputs)
    if g[0] is not None and attrs["weighted"]:
        place, inside = _place(as_dtype(a, outputs[1].dtype), outputs[1])
        made[-1] = selection.where(inside, gathering.gather(as_dtype(g[0], given[-1].dtype), place), 0)
    if g[1] is not None and attrs["bins"] is None:
        made[1] = as_dtype(g[1], given[0].dtype)
    elif g[1] is not None and attrs["ranged"]:
        way = as_dtype(creation.range(shape_queries.size(g[1])), g[1].dtype) / as_dtype(
            shape_queries.size(g[1]) - 1, g[1].dtype
        )
        made[1] = as_dtype(reducing.sum(g[1] * (1 - way)), given[0].dtype)
        made[2] = as_dtype(reducing.sum(g[1] * way), given[1].dtype)
    elif g[1] is not None and attrs["range"] is None:
        made[0] = _edges_vjp(g[1], a)
    return made


_HISTOGRAM = primitive(
    "histogram", _histogram_infer, _histogram_kernel, _histogram_vjp, several=True, traits=LIBRARY
)  # fmt: skip


def _bins_of(theirs: Any, bins: Any) -> tuple[Any, list[Tensor]]:
    """Return the number of bins or the name of a rule, or None and the edges."""
    if isinstance(bins, str):
        return bins, []
    if bins is None:
        raise TypeError("`bins` must be an integer, a string, or an array")
    if _is_one(bins):
        return known(theirs, bins=bins), []
    edges = as_operand(bins)
    if edges.shape.rank != 1:
        raise ValueError("`bins` must be 1d, when an array")
    return None, [edges]


def _is_one(bins: Any) -> bool:
    return not isinstance(bins, (list, tuple)) and np.ndim(bins) == 0


def _range_of(given: Any) -> tuple[Any, list[Any]]:
    """Return ends that are numbers, or None and the ends, of which one is a tensor."""
    if given is None:
        return None, []
    first, last = given
    return (None, [first, last]) if is_tensor(first) or is_tensor(last) else ((first, last), [])


def _histogram(theirs: Any, a: Any, bins: Any, range: Any, weights: Any) -> Any:
    x = as_operand(a)
    count, edges = _bins_of(theirs, bins)
    if count is not None and not isinstance(count, str) and np.asarray(count).dtype.kind not in "iu":
        raise TypeError("`bins` must be an integer, a string, or an array")
    if count is not None and not isinstance(count, str) and count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    ends, staged = _range_of(range)
    if count is None:
        ends, staged = None, []
    given = []
    if weights is not None:
        given = [as_operand(weights)]
        if not given[0].shape.is_compatible_with(x.shape):
            raise ValueError("weights should have the same shape as a.")
        given = [array.ravel(given[0])]
    if x.dtype.kind == "b":
        warn_as_numpy(np.histogram, np.ones(1, bool), 1)
        x = as_dtype(x, np.dtype(np.uint8))
    # Python's numbers take the dtype of the array
    attrs = {"bins": count, "range": ends, "ranged": tuple(map(weak_type, staged)), "weighted": bool(given)}
    return apply_several(_HISTOGRAM, [array.ravel(x), *edges, *map(as_operand, staged), *given], attrs)


@counterpart(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Return ``np.histogram``."""
    counts, edges = _histogram(np.histogram, a, bins, range, weights)
    if density:
        widths = as_dtype(edges[1:] - edges[:-1], np.dtype(float))
        whole: Any = counts
        counts = as_dtype(counts, np.result_type(counts.dtype, np.float64)) / widths / np.sum(whole)
    return counts, edges


@counterpart(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """Return ``np.histogram_bin_edges``."""
    if as_operand(a).dtype.kind == "c":  # counting warns of what it leaves out, and nothing is counted here
        raise UnknownWhileTracing("numpy.histogram_bin_edges takes real numbers in a graph")
    return _histogram(np.histogram_bin_edges, a, bins, range, weights)[1]


def _many_infer(sample: Tensor, *given: Tensor, bins: Any, range: Any, weighted: bool) -> Any:
    edges = iter(given)
    extents, kinds = [], []
    for count, ends in zip(bins, range):
        if count is None:
            one = next(edges)
            extents.append(one.shape.known[0] if one.shape.rank == 1 else None)
            kinds.append(one.dtype)
        else:
            extents.append(count + 1)
            first, last = ends or np.zeros(2, sample.dtype)
            kinds.append(np.linspace(first, last, 2).dtype)
    counts = (dtypes.float64, TensorShape([None if e is None else e - 1 for e in extents]))
    return [counts, *[(kind, TensorShape([e])) for kind, e in zip(kinds, extents)]]


def _many_kernel(sample: Any, *given: Any, bins: Any, range: Any, weighted: bool) -> Any:
    edges = iter(given)
    filled = [next(edges) if count is None else count for count in bins]
    counts, found = np.histogramdd(sample, filled, range, weights=given[-1] if weighted else None)
    return (counts, *found)


def _many_vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    sample, *given = inputs
    made: list[Any] = [None] * len(inputs)
    columns = [sample[:, i] for i, _ in enumerate(attrs["bins"])]
    if g[0] is not None and attrs["weighted"]:
        found = [_place(as_dtype(x, edges.dtype), edges) for x, edges in zip(columns, outputs[1:])]
        picked = gathering.gather_nd(g[0], joining.stack([place for place, _ in found], -1))
        for _, inside in found:
            picked = selection.where(inside, picked, 0)
        made[-1] = as_dtype(picked, given[-1].dtype)
    moved, of_edges = [], iter(enumerate(inputs[1:], 1))
    for part, x, count, ends in zip(g[1:], columns, attrs["bins"], attrs["range"]):
        if count is None:
            place, edges = next(of_edges)
            made[place] = None if part is None else as_dtype(part, edges.dtype)
        moved.append(filled.zeros_like(x) if part is None or count is None or ends is not None else _edges_vjp(part, x))
    made[0] = joining.stack(moved, 1)
    return made


_HISTOGRAMDD = primitive("histogramdd", _many_infer, _many_kernel, _many_vjp, several=True, traits=OPAQUE)


def _histogramdd(theirs: Any, sample: Tensor, bins: Any, range: Any, density: Any, weights: Any) -> Any:
    count = sample.shape[1]
    if count is None:
        raise UnknownExtent(f"{theirs.__name__}: the number of columns must be known; declare it with set_shape")
    if _is_one(bins):
        bins = [bins] * count
    elif len(bins) != count:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is not None and len(range) != count:
        raise ValueError("range argument must have one entry per dimension")
    parts = [_bins_of(theirs, one) for one in bins]
    ends = [None] * count if range is None else [known(theirs, range=one) for one in range]
    attrs = {
        "bins": tuple([number for number, _ in parts]), "weighted": weights is not None,
        "range": tuple([None if one is None else tuple(one) for one in ends]),
    }  # fmt: skip
    given = [edges for _, found in parts for edges in found]
    given += [] if weights is None else [cast_safely(weights, float)]
    counts, *edges = apply_several(_HISTOGRAMDD, [sample, *given], attrs)
    if density:
        whole = reducing.sum(counts)
        for i, one in enumerate(edges):
            counts = counts / array.reshape(one[1:] - one[:-1], [-1 if j == i else 1 for j, _ in enumerate(edges)])
        counts = counts / whole
    return counts, edges


@counterpart(np.histogramdd)
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Return ``np.histogramdd``."""
    if weak_type(sample) is not None:
        raise UnknownWhileTracing("numpy.histogramdd takes arrays; what it says of a number NumPy alone knows")
    points = as_operand(sample)
    if isinstance(sample, (list, tuple)) or rank_of(np.histogramdd, points) != 2:
        points = array.transpose(points if len(points.shape) == 2 else array.reshape(points, [1, -1]))
    counts, edges = _histogramdd(np.histogramdd, points, bins, range, density, weights)
    return counts, edges


@counterpart(np.histogram2d)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Return ``np.histogram2d``."""
    first, second = as_operand(x), as_operand(y)
    first = equally_long(first, second, ValueError("x and y must have the same length."))
    count = len(bins) if isinstance(bins, (list, tuple)) else 1 if _is_one(bins) else bins.shape[0]
    if count not in (1, 2):  # edges for both
        bins = [bins, bins]
    sample = joining.stack([as_dtype(v, np.result_type(first.dtype, second.dtype)) for v in (first, second)], 1)
    counts, edges = _histogramdd(np.histogram2d, sample, bins, range, density, weights)
    return counts, edges[0], edges[1]


numpys_alone("it is a function of NumPy's alone", _HISTOGRAM, _HISTOGRAMDD)
