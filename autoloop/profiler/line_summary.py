"""What a traced run spent on each line: time, count, how much ran at once, the longest chain, what was in the way."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autoloop_runtime.base.locations import Line
from autoloop_runtime.ir.op import ShownInNotebooks

from ..text_tables import aligned

#: so many lines are printed; those that took longest
MOST_LINES = 40
#: how times are found, by executor; of machine code that depends on the calls
HOW = {
    "dataflow": "each kernel timed by itself; what a loop or a batch does as one otherwise runs kernel by kernel",
    "sequential": "each line of generated Python timed, which makes short ones some µs longer; what one does for "
    "several lines is shared out by estimated costs",
}  # fmt: skip
#: of the scheduler, where tokens of loops were moved in native memory
JOINED = (
    "loops moved in native memory, as without a trace: each kernel or batch timed there; a batch is shared out by "
    "estimated costs"
)


@dataclass(frozen=True)
class LineSummary:
    """What a trace has seen of one line of the user's program.

    Attributes
    ----------
    line : Line or None
        Where it stands; None for what belongs to no line.
    seconds : float
        Time in its kernels, of all threads together.
    share : float
        The part of the time in all kernels.
    count : int
        How often it ran, which is how often that of its kernels did that ran most often; 0 if nobody counted. In a loop
        that was unrolled each iteration has kernels of its own, and all of them together count as one.
    kernels : int
        How many kernels that were.
    parallelism : float
        How many kernels, of any line, ran at once on average while one of this line did.
    critical : float
        Seconds of it in the longest chain of kernels that waited for each other.
    limited_by : str
        Why no more ran at once.
    executor : str
        What ran it.

    Examples
    --------
    >>> with al.profiler.trace() as trace:
    ...     _ = al.function(lambda x: x + 1)(al.constant(1))
    >>> all(line.share <= 1 for line in trace.summary().lines)
    True
    """

    line: Line | None
    seconds: float
    share: float
    count: int
    kernels: int
    parallelism: float
    critical: float
    limited_by: str
    executor: str

    @property
    def place(self) -> str:
        """The file and line."""
        return "(no line)" if self.line is None else f"{os.path.basename(self.line.filename)}:{self.line.lineno}"

    @property
    def source(self) -> str:
        """That line."""
        return "" if self.line is None else linecache.getline(self.line.filename, self.line.lineno).strip()


@dataclass(frozen=True)
class LoopSummary:
    """What a trace has seen of a loop.

    Attributes
    ----------
    name : str
        Its node in the graph.
    line : Line or None
    window : int
        ``parallel_iterations``; 1 where one follows the other in any case.
    iterations : int
        How many there were, of all executions of the loop together.
    live : float
        How many iterations of one execution were there at once, on average.
    held : float
        The part of its kernels at whose beginning the window was full and the next iteration waited.

    Examples
    --------
    >>> with al.profiler.trace() as trace:
    ...     _ = al.function(lambda x: x + 1)(al.constant(1))
    >>> trace.summary().loops  # there is none
    ()
    """

    name: str
    line: Line | None
    window: int
    iterations: int
    live: float
    held: float


@dataclass(frozen=True)
class ExecutorSummary:
    """What a trace has seen of all runs by one executor.

    Attributes
    ----------
    executor : str
    how : str
        How the times were found.
    runs, threads : int
        How many runs there were, and how many threads might work on one.
    seconds : float
        From beginning to end, of all runs together.
    kernels : int
    busy : float
        Seconds in which at least one kernel ran.
    parallelism : float
        How many kernels ran at once in that time, on average.
    critical : float
        Seconds of the longest chains of kernels that waited for each other, one for each run: no number of threads
        takes less.

    Examples
    --------
    >>> with al.profiler.trace() as trace:
    ...     _ = al.function(lambda x: x + 1)(al.constant(1))
    >>> all(executor.runs == 1 for executor in trace.summary().executors)
    True
    """

    executor: str
    how: str
    runs: int
    threads: int
    seconds: float
    kernels: int
    busy: float
    parallelism: float
    critical: float

    def __str__(self) -> str:
        runs = f"{self.runs} run{'s' * (self.runs != 1)}"
        threads = f"{self.threads} thread{'s' * (self.threads != 1)}"
        return (
            f"{self.executor}: {runs} on {threads} in {time_text(self.seconds)}; in kernels "
            f"{percent(self.busy, self.seconds)} of it, {self.parallelism:.3g} at once; longest chain "
            f"{time_text(self.critical)} ({percent(self.critical, self.seconds)})"
        )


@dataclass(frozen=True)
class Summary(ShownInNotebooks):
    """What ``Trace.summary`` gives; print it for a table.

    Attributes
    ----------
    lines : tuple of LineSummary
        By file and line.
    loops : tuple of LoopSummary
    executors : tuple of ExecutorSummary

    Examples
    --------
    >>> with al.profiler.trace() as trace:
    ...     _ = al.function(lambda x: x + 1)(al.constant(1))
    >>> summary = trace.summary()
    >>> [type(each).__name__ for each in summary.executors]
    ['ExecutorSummary']
    """

    lines: tuple[LineSummary, ...]
    loops: tuple[LoopSummary, ...]
    executors: tuple[ExecutorSummary, ...]

    def __str__(self) -> str:
        if not self.executors:
            return "no run was traced: a trace sees the runs that its own thread starts in its block"
        parts = [str(one) for one in self.executors] + ["", *aligned([HEADS, *self.rows()])]
        if len(self.lines) > MOST_LINES:
            parts.append(f"… and {len(self.lines) - MOST_LINES} lines that took less time")
        if self.loops:
            parts += ["", *aligned([LOOP_HEADS, *self.loop_rows()])]
        return "\n".join([*parts, "", *[f"{one.executor}: {one.how}" for one in self.executors]])

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the table, see ``HEADS``: of the lines that took longest, in the program's order."""
        shown = sorted(self.lines, key=lambda one: -one.seconds)[:MOST_LINES]
        for one in self.lines:
            if one in shown:
                count = f"{one.count:,}" if one.count else "?"
                cells = time_text(one.seconds), f"{100 * one.share:.0f} %", count, f"{one.parallelism:.3g}"
                yield one.place, one.source, *cells, time_text(one.critical), one.limited_by

    def loop_rows(self) -> Iterator[tuple[str, ...]]:
        """Yield the texts of the rows of the table of loops, see ``LOOP_HEADS``."""
        for one in self.loops:
            place = "(no line)" if one.line is None else f"{os.path.basename(one.line.filename)}:{one.line.lineno}"
            held = f"{100 * one.held:.0f} %"
            yield one.name, place, f"{one.iterations:,}", f"{one.live:.3g}", str(one.window), held

    def as_dict(self) -> dict[str, Any]:
        """Return the same as dicts, lists, texts and numbers, for ``json``."""
        lines = [{**vars(one), **place_of(one.line), "source": one.source} for one in self.lines]
        loops = [{**vars(one), **place_of(one.line)} for one in self.loops]
        return {"executors": [{**vars(one)} for one in self.executors], "lines": lines, "loops": loops}


#: of the two tables
HEADS = ("line", "source", "time", "share", "count", "at once", "in the longest chain", "limited by")
LOOP_HEADS = ("loop", "line", "iterations", "live at once", "parallel_iterations", "window full")


def place_of(line: Line | None) -> dict[str, Any]:
    """Return the file and number of a line, for ``json``."""
    return {"file": None if line is None else line.filename, "line": None if line is None else line.lineno}


def by_line(lines: Sequence[Line | None]) -> list[Line | None]:
    """Return lines in the program's order; what belongs to none comes last."""
    return sorted(lines, key=lambda line: ("\uffff", 0, "") if line is None else (line.filename, line.lineno, ""))


def percent(part: float, whole: float) -> str:
    """Return a share as a text."""
    return f"{100 * part / max(whole, 1e-12):.0f} %"


def time_text(seconds: float) -> str:
    """Return a time as a text."""
    if not seconds:
        return "0"
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
