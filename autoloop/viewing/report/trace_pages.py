"""The report page of a trace: its timeline, beside the source of the file that took most of the time."""

from __future__ import annotations

import json
import linecache
import os
from pathlib import Path
from typing import Any

from ...profiler import Trace
from .seen_stages import Source, source_data

#: so many lines before the first line that ran, and after the last, are shown
_AROUND = 12


def trace_data(trace: Trace | str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a page shows of a trace, or of the file that one was written to.

    Raises
    ------
    ValueError
        If the file is none that ``profiler.trace`` has written, or no run was recorded.
    """
    title = "trace"
    if isinstance(trace, Trace):
        timeline = trace.timeline()
    else:
        title, timeline = os.path.basename(trace), _read(trace)
    if timeline is None:
        raise ValueError("no run was recorded in the trace [AL704]")
    source = _source(timeline)
    stale = _is_other(timeline, source)
    note = "its source has changed since" if stale else ""
    return {"title": title, "note": note, "source": None if stale else source_data(source), "stages": [],
            "timeline": timeline, "replay": None, "memory": None}  # fmt: skip


def _read(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    wrong = f"{os.fspath(path)!r} is no file that autoloop.profiler.trace has written"
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        timeline: dict[str, Any] | None = found["autoloop"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(wrong) from None
    return timeline


def _source(timeline: dict[str, Any]) -> Source:
    """Return the part of the first file that ran; an empty source where it cannot be read."""
    ran = [one["line"] for one in timeline["summary"]["lines"] if one["file"] == 0]
    if not ran:
        return Source("", 0, "")
    file = timeline["files"][0]
    lines = linecache.getlines(file)
    first, last = max(1, min(ran) - _AROUND), max(ran) + _AROUND
    text = "".join(lines[first - 1 : last])
    return Source(file, first if text else 0, text)


def _is_other(timeline: dict[str, Any], source: Source) -> bool:
    """Return whether a line does not say any more what it said when it ran."""
    texts = source.text.splitlines()
    for one in timeline["summary"]["lines"]:
        if one["file"] == 0 and source.first:
            at = one["line"] - source.first
            if at >= len(texts) or texts[at].strip() != one["source"]:
                return True
    return False
