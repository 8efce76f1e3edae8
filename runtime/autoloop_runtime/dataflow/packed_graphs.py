"""Packed bundles in the graphs of pieces: values are taken out of arrays, and put side by side."""

from __future__ import annotations

from collections.abc import Sequence

from .. import ops
from ..base.shapes import TensorShape
from ..ir.graph import Graph
from ..ir.tensor import Tensor
from .packed_bundles import Layout


def parameters_of(graph: Graph, layout: Layout) -> list[Tensor]:
    """Return the inputs of ``graph`` that a bundle is, which are added to it."""
    forms = zip(layout.dtypes, layout.lengths)
    return [graph.parameter(dtype, TensorShape((length,)), "bundle") for dtype, length in forms]


def value_in(graph: Graph, layout: Layout, arrays: Sequence[Tensor], k: int) -> Tensor:
    """Return a value of a bundle."""
    (which, start, size), shape = layout.places[k], layout.forms[k][1]
    with graph.as_default():
        if not shape:
            return ops.getitem(arrays[which], start)
        part = ops.getitem(arrays[which], slice(start, start + size))
        return part if len(shape) == 1 else ops.reshape(part, shape)


def arrays_of(graph: Graph, layout: Layout, values: Sequence[Tensor]) -> list[Tensor]:
    """Return the arrays of a bundle."""
    made = []
    with graph.as_default():
        for number in range(len(layout.dtypes)):
            those = [value for value, (which, _, _) in zip(values, layout.places) if which == number]
            if all(value.shape.rank == 0 for value in those):
                made.append(ops.stack(those, 0))
            else:
                made.append(ops.concat([ops.reshape(value, (-1,)) for value in those], 0))
    return made
