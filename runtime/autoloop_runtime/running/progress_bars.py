"""Bars that show how far loops are: tqdm's, of the extra ``progress``, in notebooks as a widget."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Mapping
from typing import Any

from ..base.dataclass import replace
from ..base.forks import undivided
from ..base.locations import Line
from ..base.odometers import Reading


class MissingProgress(ImportError):
    """What shows how far loops are is not installed."""


def check_extra() -> None:
    """Raise ``MissingProgress`` if there is nothing to show it with."""
    if importlib.util.find_spec("tqdm") is None:
        raise MissingProgress(
            "progress=True, or config.show_progress(), shows loops with tqdm, which is not installed: "
            "pip install 'autoloop[progress]'"
        )


class Bars:
    """The bars of one run, one for each loop that is seen.

    Parameters
    ----------
    totals : mapping
        The lines of the loops that there are, and how many iterations they have at most, by name.
    begun : float
        When the run began (``perf_counter``).
    """

    def __init__(self, totals: Mapping[str, tuple[Line | None, int | None]], begun: float) -> None:
        #: when it was looked last, or the run began: what is seen first has begun since then
        self._totals, self._before = totals, begun
        self._open: dict[str, Any] = {}
        self._closed: set[str] = set()
        self._fails = False

    def show(self, readings: Mapping[str, Reading]) -> None:
        """Show how far the loops are."""
        if self._fails:
            return
        try:
            for name, one in readings.items():
                if name not in self._closed:
                    self._show(name, self._as_written(one))
            self._before = time.perf_counter()
        except Exception:  # there is nothing to write to any more: that is no matter of the run's
            self._fails = True

    def _show(self, name: str, one: Reading) -> None:
        bar = self._open.get(name)
        if bar is None:
            bar = self._open[name] = self._made(one)
        if one.inner is not None:
            bar.set_postfix({one.inner[0].rpartition("/")[2]: one.inner[1]}, refresh=False)
        bar.update(one.count - bar.n)
        if one.over:
            self._closed.add(name)
            bar.close()

    def _made(self, one: Reading) -> Any:
        with undivided():
            from tqdm.auto import tqdm

        class Bar(tqdm):  # type: ignore[misc]
            monitor_interval = 0  # no thread of tqdm's that outlives the run

        where = f" ({os.path.basename(one.line.filename)}:{one.line.lineno})" if one.line is not None else ""
        bar = Bar(
            total=self._totals.get(one.name, (None, None))[1],
            desc=f"{one.name}{where}",
            mininterval=0,
            miniters=0,
            dynamic_ncols=True,
        )
        bar.start_t -= time.perf_counter() - self._before
        bar.last_print_t = bar.start_t
        return bar

    def _as_written(self, one: Reading) -> Reading:
        """Return how far the user's loop is of which ``one`` tells: machine code does some in blocks of rows."""
        if one.name in self._totals or not one.trips:
            return one
        for name, (line, total) in self._totals.items():
            if line == one.line and total is not None:
                return replace(one, name=name, count=total * one.count // one.trips)
        return one

    def close(self) -> None:
        """Leave them as they are."""
        for bar in self._open.values():
            try:
                bar.close()
            except Exception:
                self._fails = True
