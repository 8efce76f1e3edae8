"""Calls of machine code that a trace records: when each began and ended. Nothing in it is timed by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..base.config import get_num_threads
from ..base.profiler import active
from ..ir.graph import Graph

T = TypeVar("T")
NAME = "machine code"


def recorded(graph: Graph, call: Callable[[], T]) -> T:
    """Return what a call of the machine code of ``graph`` gives, and let the trace around it know."""
    recorder = active()
    assert recorder is not None
    run = recorder.begin("native", graph, get_num_threads())
    try:
        return call()
    finally:
        recorder.record(NAME, "", run.begin, (), run, graph)
        run.ended()
