"""Timelines: which kernel ran when, on which thread, in which iteration.

``with profiler.trace("trace.json"):`` records every run started inside it and writes a file for
https://ui.perfetto.dev or chrome://tracing: one row per thread, one slice per node, and curves of how busy threads are,
how many kernels wait, and so on (``trace_curves``).
"""

from __future__ import annotations

import os
import time
from _thread import get_ident
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .forks import undivided

#: (name, op, thread, start ns, end ns, loops around as (name, iteration) from the innermost)
Slice = tuple[str, str, int, int, int, tuple[tuple[str, int], ...]]


class Recorder:
    """What a trace has recorded.

    ``slices``, ``samples``, ``added`` and ``threads`` are appended to by several threads: one ``append`` or item
    assignment at a time, which needs no lock; they are read when the trace has ended.
    """

    def __init__(self) -> None:
        self.start = time.perf_counter_ns()
        self.slices: list[Slice] = []
        self.threads: dict[int, str] = {}
        #: (curve, ns, value)
        self.samples: list[tuple[str, int, float]] = []
        #: (curve, ns, what is added)
        self.added: list[tuple[str, int, float]] = []
        #: what those who record have in common
        self.shared: dict[str, Any] = {}

    def sample(self, curve: str, value: float) -> None:
        """Note what a curve has come to."""
        self.samples.append((curve, time.perf_counter_ns(), value))

    def add(self, curve: str, value: float) -> None:
        """Note what is added to a curve."""
        self.added.append((curve, time.perf_counter_ns(), value))

    def record(self, name: str, op: str, start: int, loops: Sequence[tuple[Any, int]]) -> None:
        """Note that a kernel that began at ``start`` (``perf_counter_ns``) has ended."""
        end = time.perf_counter_ns()
        thread = get_ident()
        if thread not in self.threads:
            with undivided():
                import threading

            self.threads[thread] = threading.current_thread().name
        around = tuple([(loop.name, iteration) for loop, iteration in loops])
        self.slices.append((name, op, thread, start, end, around))

    def as_events(self) -> list[dict[str, Any]]:
        """Return the trace in Chrome's event format; times are microseconds since the trace began."""
        rows = {ident: row for row, ident in enumerate(self.threads)}
        pid = os.getpid()
        events: list[dict[str, Any]] = [
            {"ph": "M", "pid": pid, "tid": row, "name": "thread_name", "args": {"name": self.threads[ident]}}
            for ident, row in rows.items()
        ]
        for name, op, thread, start, end, around in self.slices:
            args: dict[str, Any] = {"node": name, "op": op}
            if around:
                args["frame"] = around[0][0]
                args["iteration"] = around[0][1]
                args["loops"] = ", ".join(f"{loop}:{iteration}" for loop, iteration in around)
            events.append({
                "ph": "X", "pid": pid, "tid": rows[thread], "name": name, "cat": op,
                "ts": (start - self.start) / 1000, "dur": (end - start) / 1000, "args": args,
            })  # fmt: skip
        if events:
            with undivided():
                from .trace_curves import curves

            events += [{"ph": "C", "pid": pid, "tid": 0, **event} for event in curves(self)]
        return events


_recorder: ContextVar[Recorder | None] = ContextVar("autoloop_profiler", default=None)


#: ``active()``: the recorder of the innermost trace around the caller, or None
active: Callable[[], Recorder | None] = _recorder.get


@contextmanager
def trace(path: str | os.PathLike[str] | None = None) -> Iterator[Recorder]:
    """Record the runs started inside the block and write them to ``path``.

    Parameters
    ----------
    path : path, optional
        A JSON file to write when the block ends, also when it ends with an exception. Without it the
        recorder's ``as_events()`` has the same.

    Examples
    --------
    >>> with trace() as recorder:
    ...     pass
    >>> recorder.as_events()
    []
    """
    recorder = Recorder()
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)
        if path is not None:
            import json

            with open(path, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": recorder.as_events(), "displayTimeUnit": "ms"}, file)
