"""Graphs from functions, run as machine code and node by node."""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np
import pytest
from api import Graph, TensorShape, compile_graph, convert_to_tensor, native, set_outputs
from random_programs import interpret

pytest.importorskip("llvmlite")
os.environ.setdefault("AUTOLOOP_CACHE", "0")  # tests that are about the cache have a folder of their own
compile_native = native.compile_native


def graph_of(build, *examples, shapes=None):
    """The function graph of ``build`` for arguments like ``examples``; ``shapes`` overrides what is known of theirs."""
    graph = Graph(ordered=True)
    shapes = [np.shape(e) for e in examples] if shapes is None else shapes
    with graph.as_default():
        made = build(*[graph.parameter(np.asarray(e).dtype, TensorShape(s)) for e, s in zip(examples, shapes)])
        made = made if isinstance(made, (list, tuple)) else [made]
        set_outputs(graph, [convert_to_tensor(t) for t in made])
    return graph


def kernels(graph, values):
    """The outputs as the NumPy kernels give them, node by node."""
    return interpret(graph, list(values))


@lru_cache(maxsize=1)
def _ways(build, kinds, shapes):
    """Machine code and generated Python; a test runs a function with several values one after the other."""
    graph = graph_of(build, *[np.empty(shape, dtype) for dtype, shape in kinds], shapes=shapes)
    return compile_native(graph), compile_graph(graph)


def check(build, *values, rtol=1e-5, shapes=None):
    """Machine code and generated Python give the same; returns what they give."""
    kinds = tuple((np.asarray(v).dtype, np.shape(v)) for v in values)
    native_code, python_code = _ways(build, kinds, shapes if shapes is None else tuple(shapes))
    got, want = native_code(list(values)), python_code(list(values))
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert np.asarray(g).dtype == np.asarray(w).dtype and np.shape(g) == np.shape(w)
        if np.asarray(w).dtype.kind == "f":
            np.testing.assert_allclose(g, w, rtol=rtol if w.dtype != np.float64 else 1e-12, atol=1e-6 * rtol / 1e-5)
        else:
            np.testing.assert_array_equal(g, w)
    return got
