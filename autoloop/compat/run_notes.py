"""What is asked of a run of a session, and what is told of it, as in 1.x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autoloop_runtime.base import profiler

__all__ = [
    "RunMetadata", "RunOptions",
]  # fmt: skip


class RunOptions:
    """What is asked of a run.

    Parameters
    ----------
    trace_level : int
        ``FULL_TRACE`` (any but ``NO_TRACE``): note when each operation ran.
    timeout_in_ms : int
        After how long ``TimeoutError`` is raised; 0: never.
    inter_op_thread_pool, output_partition_graphs, report_tensor_allocations_upon_oom
        Accepted for compatibility.
    """

    NO_TRACE = 0
    SOFTWARE_TRACE = 1
    HARDWARE_TRACE = 2
    FULL_TRACE = 3

    def __init__(
        self, *, trace_level: int = NO_TRACE, timeout_in_ms: int = 0, inter_op_thread_pool: int = 0,
        output_partition_graphs: bool = False, report_tensor_allocations_upon_oom: bool = False,
    ) -> None:  # fmt: skip
        self.trace_level, self.timeout_in_ms = trace_level, timeout_in_ms
        self.inter_op_thread_pool, self.output_partition_graphs = inter_op_thread_pool, output_partition_graphs
        self.report_tensor_allocations_upon_oom = report_tensor_allocations_upon_oom


class NodeStats(NamedTuple):
    """When an operation ran, in microseconds: the beginning, and after it the end."""

    node_name: str
    all_start_micros: int
    op_start_rel_micros: int
    op_end_rel_micros: int
    all_end_rel_micros: int
    timeline_label: str
    thread_id: int


class DeviceStats(NamedTuple):
    """What ran on a device, of which there is one."""

    device: str
    node_stats: list[NodeStats]


class StepStats(NamedTuple):
    """What ran, by devices."""

    dev_stats: list[DeviceStats]


class RunMetadata:
    """What is told of a run.

    Attributes
    ----------
    step_stats : StepStats
        When each operation ran, if the options of the run ask for it.
    """

    def __init__(self) -> None:
        self.step_stats = StepStats([])
        self._events: list[dict[str, Any]] = []

    def note(self, options: Any, run: Callable[[], Any]) -> Any:
        """Return what ``run`` gives, noting what ``options`` ask for."""
        if not getattr(options, "trace_level", 0):
            return run()
        with profiler.trace(kind=profiler.Recorder) as recorder:
            try:
                return run()
            finally:
                rows = {ident: row for row, ident in enumerate(recorder.threads)}
                self._events = recorder.as_events()
                noted = []
                for name, op, thread, start, end, *_ in sorted(recorder.slices, key=lambda one: one[3]):
                    took = (end - start) // 1000
                    noted.append(NodeStats(name, start // 1000, 0, took, took, f"{name} = {op}", rows[thread]))
                self.step_stats = StepStats([DeviceStats("/device:CPU:0", noted)])

    def as_chrome_trace(self) -> dict[str, Any]:
        """Return what https://ui.perfetto.dev shows: to be written as JSON."""
        return {"traceEvents": self._events, "displayTimeUnit": "ms"}
