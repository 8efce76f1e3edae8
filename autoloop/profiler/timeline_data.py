"""The timeline of a trace as the report page draws it: rows, slices, arrows, curves, the summary; of bounded size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from autoloop_runtime.base.locations import Line
from autoloop_runtime.base.machine_calls import MachineCall
from autoloop_runtime.base.trace_curves import LIVE, READY

from .line_summary import Summary
from .seen_kernels import Kernel
from .summarize import Seen, live_parts

#: so many kernels are drawn, and points of each curve
MOST_SLICES, MOST_POINTS = 20_000, 800
#: of slices
COLUMNS = ("start", "time", "row", "node", "iteration", "after", "critical")
#: what a curve is of a loop
LIVE_ITERATIONS = "live iterations"


def timeline(seen: Seen, summary: Summary, file: str | None = None) -> dict[str, Any] | None:
    """Return the timeline as lists, dicts, texts and numbers; None if nothing was recorded.

    Parameters
    ----------
    file : str, optional
        The file that the page shows, which comes first among ``files``; default the one that took most time.

    Returns
    -------
    dict
        ``files``; ``rows``, the names of threads; ``nodes``, what slices are of: ``[name, op, file, line, loops]`` with
        numbers of files (-1: none) and names of loops, innermost first; ``slices``, with a column each for ``start``
        (nanoseconds after the one before), ``time``, ``row``, ``node``, ``iteration`` (a number of ``iterations``,
        lists of numbers, innermost first), ``after`` (how many slices before it that one is which it waited for, if
        that is of another iteration; else 0) and ``critical`` (1 in the longest chain); ``curves``, ``{name, points:
        [[ns, value], ...]}``; ``total``, how many kernels there were, of which the first ``len(slices["start"])`` are
        there; ``span``, nanoseconds; ``summary``.
    """
    if not seen.kernels:
        return None
    shown = seen.kernels[:MOST_SLICES]
    begin, end = min([one.start for one in shown]), max([one.end for one in shown])
    files = _files(summary, file)
    nodes, slices, iterations = _slices(seen, shown, files)
    return {
        "files": list(files), "rows": list(seen.recorder.threads.values()), "nodes": nodes, "slices": slices,
        "iterations": iterations, "curves": list(_curves(seen, begin, end)), "total": len(seen.kernels),
        "span": end - begin, "summary": _without_paths(summary, files),
    }  # fmt: skip


def _files(summary: Summary, file: str | None) -> dict[str, int]:
    times: dict[str, float] = defaultdict(float)
    for one in summary.lines:
        if one.line is not None:
            times[one.line.filename] += one.seconds
    names = sorted(times, key=lambda name: -times[name])
    return {name: k for k, name in enumerate(dict.fromkeys([file, *names] if file is not None else names))}


def _place(line: Line | None, files: dict[str, int]) -> tuple[int, int | None]:
    return (-1, None) if line is None else (files[line.filename], line.lineno)


def _slices(
    seen: Seen, shown: Sequence[Kernel], files: dict[str, int]
) -> tuple[list[list[Any]], dict[str, list[int]], list[list[int]]]:
    """Return what slices are of, their columns, and the iterations that they are in."""
    rows = {thread: row for row, thread in enumerate(seen.recorder.threads)}
    nodes: dict[tuple[Any, ...], int] = {}
    where: dict[tuple[int, ...], int] = {}
    columns: dict[str, list[int]] = {name: [] for name in COLUMNS}
    now = min([one.start for one in shown])
    for k, one in enumerate(shown):
        main = None if isinstance(one.of, MachineCall) else max(one.shares, key=lambda share: share[1])[0]
        loops = tuple([name for name, _ in one.loops])
        node = (one.name, one.op, *_place(main, files), loops)
        columns["start"].append(one.start - now)
        columns["time"].append(one.end - one.start)
        columns["row"].append(rows[one.thread])
        columns["node"].append(nodes.setdefault(node, len(nodes)))
        columns["iteration"].append(where.setdefault(one.iterations, len(where)))
        columns["after"].append(k - seen.before[k] if _crosses(seen, k) else 0)
        columns["critical"].append(int(k in seen.chain))
        now = one.start
    return [list(node) for node in nodes], columns, [list(one) for one in where]


def _crosses(seen: Seen, k: int) -> bool:
    """Return whether what a kernel waited for was made in another iteration of its loop."""
    if seen.before[k] < 0:
        return False
    one, before = seen.kernels[k], seen.kernels[seen.before[k]]
    return one.of.frame == before.of.frame and one.iterations != before.iterations


def _curves(seen: Seen, begin: int, end: int) -> Iterator[dict[str, Any]]:
    for (name, _), of in seen.loops.items():
        frames: dict[Any, list[tuple[int, int, int]]] = defaultdict(list)
        for (run, where), (first, last) in of.spans.items():
            frames[run, where[1:]].append((where[0], first, last))
        changes = [(t, d) for f in frames.values() for part in live_parts(f) for t, d in zip(part, (1, -1))]
        yield _curve(f"{LIVE_ITERATIONS} of {name}", _sums(changes), begin, end)
    for name in (READY, LIVE):
        points = [(at - seen.recorder.start, value) for curve, at, value in seen.recorder.samples if curve == name]
        if points:
            yield _curve(name, points, begin, end)


def _sums(changes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, float]]:
    total = 0
    for at, change in sorted(changes):
        total += change
        yield at, total


def _curve(name: str, points: Iterable[tuple[int, float]], begin: int, end: int) -> dict[str, Any]:
    """Return the steps of a curve: of many that are close together the last one, and the highest before it."""
    each = max(1, -(-(end - begin) // (MOST_POINTS // 2)))
    buckets: dict[int, list[tuple[int, float]]] = {}
    for at, value in sorted(points, key=lambda one: one[0]):
        if at <= end:
            bucket = buckets.setdefault(max(at - begin, 0) // each, [])
            if len(bucket) == 2 and value >= bucket[0][1]:
                bucket[:] = [(at, value)]
            elif len(bucket) == 2:
                bucket[1] = at, value
            else:
                bucket.append((at, value))
    kept = [[max(at - begin, 0), value] for bucket in buckets.values() for at, value in bucket]
    return {"name": name, "points": [one for k, one in enumerate(kept) if not k or one[1] != kept[k - 1][1]]}


def _without_paths(summary: Summary, files: dict[str, int]) -> dict[str, Any]:
    """Return a summary with numbers of files."""
    made = summary.as_dict()
    for one in (*made["lines"], *made["loops"]):
        one["file"] = files.get(one["file"], -1)
    return made
