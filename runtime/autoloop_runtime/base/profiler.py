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
from typing import Any, TypeVar

from .forks import undivided

#: (name, op, thread, start ns, end ns, loops around as (name, iteration) from the innermost, run, what it is of:
#: a ``FlatNode`` of the scheduler's, a ``Place`` of generated Python, the graph of machine code; whether the window of
#: its loop was full)
Slice = tuple[str, str, int, int, int, tuple[tuple[str, int], ...], "TracedRun | None", Any, bool]


class TracedRun:
    """A run of a graph that a trace has recorded.

    Attributes
    ----------
    executor : str
        What ran it.
    graph : Any
        What was run: the ``Lowered`` graph of the scheduler, the graph of others.
    threads : int
        How many threads might work on it.
    begin, end : int
        When (``perf_counter_ns``); ``end`` is 0 until then.
    is_joined : bool
        Of the scheduler: it has gone as runs do that nobody traces, with several kernels in one step.
    """

    __slots__ = ("begin", "end", "executor", "graph", "is_joined", "threads")

    def __init__(self, executor: str, graph: Any, threads: int) -> None:
        self.executor, self.graph, self.threads = executor, graph, threads
        self.begin, self.end, self.is_joined = time.perf_counter_ns(), 0, False

    def ended(self) -> None:
        """Note that it is over."""
        self.end = time.perf_counter_ns()


class Recorder:
    """What a trace has recorded.

    ``slices``, ``runs``, ``samples``, ``added`` and ``threads`` are appended to by several threads: one ``append`` or
    item assignment at a time, which needs no lock; they are read when the trace has ended.
    """

    def __init__(self) -> None:
        self.start = time.perf_counter_ns()
        self.slices: list[Slice] = []
        self.runs: list[TracedRun] = []
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

    def begin(self, executor: str, graph: Any, threads: int) -> TracedRun:
        """Note that a run begins."""
        run = TracedRun(executor, graph, threads)
        self.runs.append(run)
        return run

    def record(
        self, name: str, op: str, start: int, loops: Sequence[tuple[Any, int]], run: TracedRun | None = None,
        of: Any = None, held: bool = False,
    ) -> None:  # fmt: skip
        """Note that a kernel that began at ``start`` (``perf_counter_ns``) has ended; see ``Slice`` for the others."""
        end = time.perf_counter_ns()
        around = tuple([(loop.name, iteration) for loop, iteration in loops])
        self.slices.append((name, op, self.thread(), start, end, around, run, of, held))

    def add_slices(self, slices: Sequence[Slice]) -> None:
        """Note kernels that have been timed by others; their threads have called ``thread``."""
        self.slices.extend(slices)

    def coming(self, count: int) -> None:
        """Take note that so many have been timed that are added when their loop is over; it may be ended by this."""

    def thread(self) -> int:
        """Return the identity of the calling thread, which has a row from then on."""
        thread = get_ident()
        if thread not in self.threads:
            with undivided():
                import threading

            self.threads[thread] = threading.current_thread().name
        return thread

    def as_events(self) -> list[dict[str, Any]]:
        """Return the trace in Chrome's event format; times are microseconds since the trace began."""
        rows = {ident: row for row, ident in enumerate(self.threads)}
        pid = os.getpid()
        events: list[dict[str, Any]] = [
            {"ph": "M", "pid": pid, "tid": row, "name": "thread_name", "args": {"name": self.threads[ident]}}
            for ident, row in rows.items()
        ]
        for name, op, thread, start, end, around, *_ in self.slices:
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

    def as_document(self) -> dict[str, Any]:
        """Return what is written to a file."""
        return {"traceEvents": self.as_events(), "displayTimeUnit": "ms"}


_recorder: ContextVar[Recorder | None] = ContextVar("autoloop_profiler", default=None)


#: what tells how far the loops of a run are (``odometers.Board``), for those that are shown, by the thread that began
#: each; while there is none nobody looks for it. Changed by single operations
boards: dict[int, Any] = {}
#: ``active()``: the recorder of the innermost trace around the caller, or None
active: Callable[[], Recorder | None] = _recorder.get


_R = TypeVar("_R", bound=Recorder)


@contextmanager
def trace(path: str | os.PathLike[str] | None = None, kind: type[_R] = Recorder) -> Iterator[_R]:  # type: ignore[assignment]
    """Record the runs started inside the block and write them to ``path``.

    Parameters
    ----------
    path : path, optional
        A JSON file to write when the block ends, also when it ends with an exception. Without it the
        recorder's ``as_events()`` has the same.
    kind : type
        Of the recorder.

    Examples
    --------
    >>> with trace() as recorder:
    ...     pass
    >>> recorder.as_events()
    []
    """
    recorder = kind()
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)
        if path is not None:
            import json

            with open(path, "w", encoding="utf-8") as file:
                json.dump(recorder.as_document(), file)
