"""Loops over arrays of Dask for the tests of the engine, and kernels by NumPy's protocols for what they use."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import autoloop as al
import numpy as np
from api import Lowered, dask_engine, lower, replace
from graphs import traced

F8, I8 = np.dtype("float64"), np.dtype("int64")


def _reduced(f: Callable[..., Any], x: Any, axis: Any, keepdims: bool, **_: Any) -> Any:
    return f(x, axis=axis, keepdims=keepdims)


_KERNELS = {"sum": functools.partial(_reduced, np.sum), "max": functools.partial(_reduced, np.max)}


def protocol_kernels(lowered: Lowered) -> Lowered:
    """The graph with NumPy's functions for kernels that are not ones that Dask takes over."""
    nodes = [
        replace(n, value=functools.partial(_KERNELS[n.op.name], **n.attrs)) if n.op and n.op.name in _KERNELS else n
        for n in lowered.nodes
    ]
    return replace(lowered, nodes=tuple(nodes))


def program(build: Callable[..., Any], *inputs: tuple[str, Any, Any]) -> Lowered:
    """The flat graph of ``build``, whose parameters are ``(name, dtype, shape)``."""
    graph = traced(build, *inputs)
    return protocol_kernels(lower(graph, graph.outputs, graph.inputs))


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
