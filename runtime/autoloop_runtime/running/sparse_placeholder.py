"""The sparse values of a 1.x graph that must be fed: apart from sessions, most of which know none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.shapes import ShapeLike, TensorShape
from ..collections.sparse import SparseTensor
from .session import get_default_graph, placeholder


def sparse_placeholder(dtype: Any, shape: ShapeLike = None, name: str | None = None) -> SparseTensor:
    """Return a SparseTensor of the default graph that must be fed: with a SparseTensor or with its three parts (1.x).

    Parameters
    ----------
    dtype : dtype-like
        Of the entries.
    shape : shape-like
        Of the whole tensor. Its rank is what is known while the graph is built; the rest is fed.
    name : str, optional
    """
    known = TensorShape(shape)
    graph = get_default_graph()
    with graph.name_scope(name or "SparsePlaceholder"):
        return SparseTensor.of(
            placeholder(np.int64, [None, known.rank], "indices"), placeholder(dtype, [None], "values"),
            placeholder(np.int64, [known.rank], "dense_shape"),
        )  # fmt: skip
