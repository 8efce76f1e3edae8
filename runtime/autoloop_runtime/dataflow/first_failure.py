"""Which failure of a run is told: the first in program order, whichever the scheduler comes upon first.

A kernel that fails does not end the run at once. What stands before it in the program goes on, for it may fail, too,
or do something; what stands behind it is not begun any more. So the failure that is left is the one that plain Python
would have come upon, under any number of threads. Nodes are lowered in program order: their numbers tell.
"""

from __future__ import annotations

from collections import deque

from ..ir.run_state import RunState
from .execution_plan import Step
from .frames import Item, Iteration, State
from .kernels import Watch, call, explained


class FirstFailure:
    """The failure of the kernel that stands first, of those known so far.

    Parameters
    ----------
    error : Exception
        What it has raised.
    it : Iteration
    step : Step
    """

    def __init__(self, error: Exception, it: Iteration, step: Step) -> None:
        self.error, self._it, self._step = error, it, step
        self._order = place_in_program(it, step)

    def comes_behind(self, item: Item) -> bool:
        """Return whether a kernel stands before it in the program."""
        return place_in_program(*item) < self._order

    def keep(self, ready: deque[Item]) -> None:
        """Leave of the kernels that are ready those that stand before it."""
        kept = [item for item in ready if self.comes_behind(item)]
        ready.clear()
        ready.extend(kept)

    def earlier(self, other: FirstFailure) -> FirstFailure:
        """Return the one of two that stands first."""
        return other if other._order < self._order else self

    def explained(self) -> BaseException:
        """Return it, told in terms of the user's program."""
        return explained(self.error, self._it, self._step)


def place_in_program(it: Iteration, step: Step) -> tuple[int, ...]:
    """Return what is less for a kernel that stands, or runs, earlier in the program."""
    found = [step.flat.index]
    here = it
    while here.frame.parent is not None:
        found += [here.index, here.frame.plan.place]
        here = here.frame.parent
    return tuple(reversed(found))


def first_failure(
    failure: FirstFailure, tokens: State, ready: deque[Item], state: RunState, watch: Watch | None
) -> FirstFailure:
    """Return the first failure of a run on one thread, when all is done that stands before it.

    Parameters
    ----------
    failure : FirstFailure
        The first that the scheduler has come upon.
    tokens : State
    ready : deque
        The kernels that were ready then.
    state : RunState
    watch : Watch or None

    Raises
    ------
    TimeoutError
    """
    while True:
        failure.keep(ready)
        if not ready:
            return failure
        it, step = ready.popleft()
        try:
            out = call(it, step, state, watch)
        except Exception as error:
            failure = failure.earlier(FirstFailure(error, it, step))
            continue
        if step.blank:
            it.values[step.first : step.last] = step.blank
        tokens.complete(it, step, out, ready, None)
        del out
        if watch is not None and watch.expired():
            raise watch.timed_out(tokens)
