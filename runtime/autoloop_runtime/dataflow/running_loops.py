"""Loops that are run as one on one of several threads: each asks in each iteration whether it is still wanted.

Somebody may interrupt the run, or a kernel fail that stands before the loop: the run then ends when all threads are out
of their kernels, and a loop may go on for long.
"""

from __future__ import annotations

from _thread import get_ident
from typing import Any

from ..base.dataclass import Protocol
from ..ir.run_state import RunState
from .first_failure import FirstFailure
from .frames import Item
from .kernels import Arguments, Watch


class Ending(Protocol):
    """What tells whether a run goes on; ``lock`` guards that. It has ``most`` threads beside the caller's, and may have
    a limit to its time."""

    lock: Any
    most: int
    stopped: bool
    failure: FirstFailure | None

    @property
    def watch(self) -> Watch | None: ...


class RunningLoops:
    """The loops that the threads of a run are in."""

    def __init__(self) -> None:
        #: by thread; guarded by the run's lock: a loop is noted down, and asks whether the run goes on, in one, so that
        #: whoever ends the run either finds it here or has told it
        self._inside: dict[int, tuple[Item, Arguments]] = {}

    def call(self, item: Item, state: RunState, run: Ending) -> Any:
        """Run a loop, whose inputs are used up."""
        it, step = item
        args = Arguments(it.values[step.first : step.last], run.most + 1, run.watch, it)
        it.values[step.first : step.last] = step.blank
        me = get_ident()
        with run.lock:
            self._inside[me] = item, args  # graphs that a function runs which the loop calls are other runs
            if _is_unwanted(item, run):  # since before it was noted down
                args.unwanted.append(True)
        try:
            assert step.call is not None
            return step.call(state, args)
        finally:
            with run.lock:
                self._inside.pop(me, None)

    def end(self, run: Ending) -> None:
        """End those that are not wanted any more. The run's lock is held."""
        for item, args in list(self._inside.values()):
            if _is_unwanted(item, run):
                args.unwanted.append(True)


def _is_unwanted(item: Item, run: Ending) -> bool:
    failure = run.failure
    return run.stopped or (failure is not None and not failure.comes_behind(item))
