"""Timelines of runs: which kernel ran when, on which thread, in which iteration, and what that adds up to by line."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import Any

from autoloop_runtime.base import profiler as _profiler
from autoloop_runtime.base.doors import listing as _listing

from .line_summary import ExecutorSummary as ExecutorSummary
from .line_summary import LineSummary as LineSummary
from .line_summary import LoopSummary as LoopSummary
from .line_summary import Summary as Summary
from .summarize import Seen as _Seen
from .summarize import summarize as _summarize
from .timeline_data import timeline as _timeline

__all__ = ["ExecutorSummary", "LineSummary", "LoopSummary", "Summary", "Trace", "trace"]
__dir__ = _listing(globals())


class Trace(_profiler.Recorder):
    """What ``trace`` gives: all that was recorded inside its block.

    Examples
    --------
    >>> with al.profiler.trace() as trace:
    ...     _ = al.function(lambda x: x + 1)(al.constant(1))
    >>> type(trace.summary()).__name__
    'Summary'
    """

    def summary(self) -> Summary:
        """Return what was spent on each line: time, count, how much ran at once, what was in the way.

        Examples
        --------
        >>> import autoloop as al
        >>> with al.profiler.trace() as trace:
        ...     pass
        >>> print(trace.summary())
        no run was traced: a trace sees the runs that its own thread starts in its block
        """
        return _summarize(_Seen(self))

    def timeline(self, file: str | None = None) -> dict[str, Any] | None:
        """Return what the report page draws, see ``timeline_data``; None if nothing was recorded.

        Parameters
        ----------
        file : str, optional
            The file that the page shows.
        """
        seen = _Seen(self)
        return _timeline(seen, _summarize(seen), file)

    def as_document(self) -> dict[str, Any]:
        """Return what is written to a file: Chrome's format, and what the report page draws."""
        return {**super().as_document(), "autoloop": self.timeline()}


def trace(path: str | os.PathLike[str] | None = None) -> AbstractContextManager[Trace]:
    """Record the runs that this thread starts inside the block and write them to ``path``, for https://ui.perfetto.dev.

    Parameters
    ----------
    path : path, optional
        A JSON file to write when the block ends, also when it ends with an exception.

    Returns
    -------
    context manager
        Gives the ``Trace``, whose ``summary()`` tells what was spent on each line.

    Examples
    --------
    >>> print(al.trace([[1, 2], [3, 4]]))
    Tensor(5, shape=(), dtype=int32)
    """
    return _profiler.trace(path, Trace)
