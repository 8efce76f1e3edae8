"""A timeline of generated code: one slice per line, found by watching the lines go by.

Python's own line tracing does it, so that code that is not being recorded pays nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ..base.profiler import Recorder, TracedRun
from ..ir.graph import Graph, Node
from .lines import Place, iterations


@contextmanager
def recorded(recorder: Recorder, graph: Graph, filename: str, places: Mapping[int, Place]) -> Iterator[None]:
    """Record every line of ``filename``, the code of ``graph``, that runs on this thread inside the block."""
    before = sys.gettrace()
    run = recorder.begin("sequential", graph, 1)

    def enter(frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        return _watch(recorder, run, places) if frame.f_code.co_filename == filename else None

    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)
        run.ended()


def _watch(recorder: Recorder, run: TracedRun, places: Mapping[int, Place]) -> Callable[..., Any]:
    """Return the tracer of one frame: a line is over when the next one begins, or the frame ends."""
    running: list[tuple[Place, list[tuple[Node, int]], int]] = []

    def line(frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        if running:
            place, loops, start = running.pop()
            node = place.spans[-1][2]
            recorder.record(node.name, node.op.name, start, loops, run, place)
        place_now = places.get(frame.f_lineno)
        if event == "line" and place_now is not None:
            running.append((place_now, iterations(place_now.loops, frame.f_locals), time.perf_counter_ns()))
        return line

    return line
