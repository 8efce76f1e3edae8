"""Loops over arrays of Dask for the tests of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autoloop as al
import numpy as np
import pytest
from api import Lowered, Op, dask_engine, foreign_rows, in_namespace, lower, namespace_of
from flow import probe
from graphs import traced

da = pytest.importorskip("dask.array")
F8, I8 = np.dtype("float64"), np.dtype("int64")


def program(build: Callable[..., Any], *inputs: tuple[str, Any, Any]) -> Lowered:
    """The flat graph of ``build``, whose parameters are ``(name, dtype, shape)``."""
    graph = traced(build, *inputs)
    return in_namespace(lower(graph, graph.outputs, graph.inputs), namespace_of(da.zeros(1)))


def run(lowered: Lowered, feeds: list[Any], client: Any = None, **options: Any) -> list[Any]:
    """The results, collections computed."""
    return computed(dask_engine.run(lowered, feeds, client=client, **options), client)


def computed(values: list[Any], client: Any = None) -> list[Any]:
    """What they are, collections computed."""
    get = None if client is None else client.get
    return [value.compute(scheduler=get) if hasattr(value, "dask") else value for value in values]


def power(a: Any, x: Any, tolerance: float = 1e-6, most: int = 50, **options: Any) -> Any:
    """Power iteration until little changes."""

    def cond(i: Any, x: Any, d: Any) -> Any:
        return al.logical_and(i < most, d > tolerance)

    def body(i: Any, x: Any, d: Any) -> Any:
        y = al.matmul(a, x)
        y = y / al.sqrt(al.sum(y * y))
        return i + 1, y, al.sum(al.abs(y - x))

    return al.while_loop(cond, body, [al.constant(0), x, al.constant(np.float64(1.0))], **options)


def counted(x: Any, trips: int, step: Callable[..., Any] = lambda i, x: x * 0.5 + 1, **options: Any) -> Any:
    """So many steps, whose number is known here."""
    return al.while_loop(lambda i, x: i < trips, lambda i, x: (i + 1, step(i, x)), [al.constant(0), x], **options)


def on_chunks(f: Callable[..., Any], *args: Any) -> Op:
    """A primitive that gives what ``f`` gives for each chunk, with these arguments."""

    def kernel(x: Any) -> Any:
        return x.map_blocks(f, *args, meta=x._meta)

    op = probe(kernel, f.__name__)
    foreign_rows.computed(op, when="later")(lambda _, x: kernel(x))
    return op
