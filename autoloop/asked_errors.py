"""Calls that ask for floating-point errors, by ``np.errstate`` or ``np.seterr``.

Which operation has one, in which words NumPy tells it, and what comes after that, is plain Python's to do. But most
calls have none: where machine code can tell whether there were any, it runs the call, and only if there were, plain
Python does so from its beginning. What has been written to arrays is put back before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.analysis.inside import loops_inside
from autoloop_runtime.base.fp_warnings import is_asked, is_hunted
from autoloop_runtime.ir.run_state import EAGER, RunState
from autoloop_runtime.running.heeding import heeding, price_of
from autoloop_runtime.running.runner import Runner

from .hunted_runs import HuntedRuns

if TYPE_CHECKING:
    from .concrete import ConcreteFunction

#: so many bytes of arrays are copied before a run, whatever that takes
FEW_BYTES = 1 << 16
#: bytes that are copied in a second, at the least, and the part of plain Python's time that this may take
COPIED, SHARE = 1e9, 0.1
#: a trace whose runs had errors so many times, and more often than one in so many, is left to plain Python
MOST_ERRORS, OF_RUNS = 2, 8
#: so many times both are measured before the slower one is given up
TRIALS = 3


class Heeded:
    """What is known of the calls of a trace that ask for errors.

    What two threads note at the same time may be lost: then something is tried once more.

    Attributes
    ----------
    ran, errors : int
        How many runs had no errors, and how many had some.

    Parameters
    ----------
    trace : ConcreteFunction
    plain : callable
        Makes what is raised to let plain Python run a call, see ``CalledPlain``.
    """

    def __init__(self, trace: ConcreteFunction, plain: Callable[[Any], Exception]) -> None:
        self._trace, self._plain = trace, plain
        self._runner: Runner | None = None
        self._is_left = False
        self._hunted = HuntedRuns(trace)
        #: seconds that plain Python took in all, and its calls; those that the first runs took
        self._spent, self._calls = 0.0, 0
        self._runs: list[float] = []
        self.ran = self.errors = 0
        self._price = 0.0 if trace.runner.asked == "native" else price_of(trace.graph)
        if trace.runner.asked not in ("native", "auto"):
            self._is_left = True

    def ran_plain(self, seconds: float) -> None:
        """Note what plain Python took."""
        self._spent += seconds
        self._calls += 1

    def begin(self, values: Sequence[Any]) -> None:
        """Let plain Python run a call, unless a run is to do so.

        Raises
        ------
        CalledPlain
        """
        if not self._may_run():
            raise self._plain(self._watched(values))

    def _may_run(self) -> bool:
        if self._is_left or is_asked(self._trace.graph.errors_while_traced):
            return False
        if self._runner is None and self._spent >= self._price:
            self._make()
        return self._runner is not None

    def _make(self) -> None:
        try:
            with np.errstate(all="ignore"):  # what is computed for it is nobody's
                self._runner = heeding(self._trace.graph, self._trace.runner.graph.donated)
        except Exception:  # whatever machine code does not take
            pass
        self._is_left = self._runner is None

    def run(self, values: list[Any], state: RunState) -> list[Any]:
        """Return what a run gives that has had no errors; while nan and inf are hunted, what ``HuntedRuns`` does.

        Raises
        ------
        CalledPlain
            If it has, or has raised anything else; the arrays are as before then.
        """
        if is_hunted():
            return self._hunted.run(values, state)
        arrays = [array for k in self._trace.written if type(array := values[k]) is np.ndarray]
        if self._runner is None or not self._pays(arrays):
            raise self._plain(self._watched(values))
        copies = [array.copy() for array in arrays]
        begin = perf_counter()
        try:
            results = self._runner.run(values, state)
        except Exception:
            for array, copy in zip(arrays, copies):
                np.copyto(array, copy)
            self._had_errors()
            raise self._plain(self._watched(values)) from None
        self._ran(perf_counter() - begin)
        return results

    def _pays(self, arrays: Sequence[np.ndarray[Any, Any]]) -> bool:
        """Return whether to copy the arrays takes little of what plain Python would."""
        size = sum([array.nbytes for array in arrays])
        return size <= FEW_BYTES or size * self._calls < COPIED * SHARE * self._spent

    def _had_errors(self) -> None:
        self.errors += 1
        if self.errors > max(MOST_ERRORS, self.ran // OF_RUNS):
            self._is_left, self._runner = True, None

    def _ran(self, seconds: float) -> None:
        self.ran += 1
        if len(self._runs) < TRIALS and self._trace.runner.asked == "auto":
            self._runs.append(seconds)
            if len(self._runs) == TRIALS and self._calls and min(self._runs) > self._spent / self._calls:
                self._is_left, self._runner = True, None

    def _watched(self, values: Sequence[Any]) -> Callable[[], Any]:
        """Return what gives a context manager in which plain Python runs the call."""
        return partial(_watched, self, self._trace, list(values))


@contextmanager
def _watched(heeded: Heeded, trace: ConcreteFunction, values: list[Any]) -> Iterator[None]:
    begin = perf_counter()
    try:
        yield
    except FloatingPointError as error:
        if not trace.written and trace.runner.may_repeat and loops_inside(trace.graph):
            for note in _notes_of(lambda: trace.checked_runner.run(values, EAGER)):
                error.add_note(note)
        raise
    heeded.ran_plain(perf_counter() - begin)


def _notes_of(run: Callable[[], object]) -> list[str]:
    """Return in which iteration of which loop an error was raised, as the graph tells it, and nothing else."""
    raising: Any = {kind: how if how == "raise" else "ignore" for kind, how in np.geterr().items()}
    try:
        with np.errstate(**raising):
            run()
    except Exception as told:
        return getattr(told, "__notes__", []) if isinstance(told, FloatingPointError) else []
    return []
