"""What a trace says of the scheduler: how busy threads were, what was ready, taken from others, waited for, alive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from .dataclass import Protocol

#: curves: heavy kernels that are ready, of a run on one thread all that are; bytes of large arrays of kernels
READY, LIVE = "ready kernels", "live bytes"
#: what is added up: kernels that another thread had made ready; microseconds that threads waited for the lock of a run
STEALS, LOCK_WAITS = "steals", "lock waits (µs)"
#: points of the curves of how busy threads are
POINTS = 200

#: where a part of a trace begins: numbers of slices, samples and additions before it, and the time
Mark = tuple[int, int, int, int]


class Recorder(Protocol):
    """``profiler.Recorder``."""

    start: int
    slices: list[Any]
    threads: dict[int, str]
    samples: list[tuple[str, int, float]]
    added: list[tuple[str, int, float]]


def curves(recorder: Recorder) -> Iterator[dict[str, Any]]:
    """Yield the points of all curves, as counters in Chrome's event format."""
    for name, at, value in recorder.samples:
        yield {"name": name, "ts": (at - recorder.start) / 1000, "args": {"value": value}}
    sums: dict[str, float] = defaultdict(float)
    for name, at, value in sorted(recorder.added, key=lambda one: one[1]):
        sums[name] += value
        yield {"name": name, "ts": (at - recorder.start) / 1000, "args": {"value": sums[name]}}
    yield from _utilisation(recorder)


def _utilisation(recorder: Recorder) -> Iterator[dict[str, Any]]:
    """Yield per cent of the time that each thread was in kernels, from point to point."""
    first = min([one[3] for one in recorder.slices], default=0)
    length = max([one[4] for one in recorder.slices], default=0) - first
    each = max(1, -(-length // POINTS))
    busy = {thread: [0] * (length // each + 1) for thread in recorder.threads}
    for thread, start, end in _in_kernels(recorder.slices):
        while start < end:
            point = (start - first) // each
            until = min(end, first + (point + 1) * each)
            busy[thread][point] += until - start
            start = until
    for point in range(length // each + 1):
        shares = {recorder.threads[thread]: round(100 * of[point] / each, 1) for thread, of in busy.items()}
        yield {"name": "busy (%)", "ts": (first + point * each - recorder.start) / 1000, "args": shares}


def _in_kernels(slices: list[Any]) -> Iterator[tuple[int, int, int]]:
    """Yield (thread, start, end): when threads were in kernels, a kernel that runs others counted once."""
    until: dict[int, int] = defaultdict(int)
    for _, _, thread, start, end, *_ in sorted(slices, key=lambda one: one[3]):
        begin = max(start, until[thread])
        if end > begin:
            until[thread] = end
            yield thread, begin, end


def marked(recorder: Recorder, now: int) -> Mark:
    """Return where a part of the trace begins."""
    return len(recorder.slices), len(recorder.samples), len(recorder.added), now


def summary(recorder: Recorder, mark: Mark, now: int) -> str:
    """Return one line of what was recorded since ``mark``, of whatever ran meanwhile."""
    slices, samples, added = recorder.slices[mark[0] :], recorder.samples[mark[1] :], recorder.added[mark[2] :]
    busy: dict[int, int] = defaultdict(int)
    for thread, start, end in _in_kernels(slices):
        busy[thread] += end - start
    most, total, times = defaultdict[str, float](float), defaultdict[str, float](float), defaultdict[str, int](int)
    for name, _, value in samples:
        most[name] = max(most[name], value)
    for name, _, value in added:
        total[name] += value
        times[name] += 1
    length = max(1, now - mark[3])
    shares = ", ".join(f"{recorder.threads[one]} {100 * time / length:.0f} %" for one, time in sorted(busy.items()))
    return (
        f"{len(slices):,} kernels in {_figure(length / 1e6)} ms; in kernels: {shares or 'nobody'}; "
        f"at most {most[READY]:.0f} more ready; {total[STEALS]:.0f} taken from another thread; "
        f"{times[LOCK_WAITS]} waits for a lock, {_figure(total[LOCK_WAITS] / 1e3)} ms; "
        f"at most {_figure(most[LIVE] / 1e6)} MB live"
    )


def _figure(number: float) -> str:
    return f"{number:.3g}" if number < 100 else f"{number:,.0f}"
