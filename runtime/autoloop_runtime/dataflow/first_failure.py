"""Which failure of a run is told: the first in program order, whichever the scheduler comes upon first.

A kernel that fails does not end the run at once. What stands before it in the program goes on, for it may fail, too,
or do something; what stands behind it is not begun any more. So the failure that is left is the one that plain Python
would have come upon, under any number of threads. Nodes are lowered in program order: their numbers tell. A batch
has kernels from several places: it is begun if its first one stands before the failure, and what it does behind that
goes unseen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Sequence
from typing import Any

from ..base.dataclass import Protocol
from ..ir.run_state import RunState
from .execution_plan import MISSING, Edges, Step
from .flat_graph import FlatNode, Kind
from .frames import Item, Iteration, Ready, State
from .kernels import Watch, call, explained, place_of


class Parts(Protocol):
    """``BatchParts``."""

    def go_on(self, failure: FirstFailure, light: Ready, heavy: Ready | None) -> tuple[bool, FirstFailure]: ...


class FirstFailure:
    """The failure of the kernel that stands first, of those known so far.

    Parameters
    ----------
    error : Exception
        What it has raised.
    it : Iteration
    step : Step
    flat : FlatNode, optional
        The node, of a batch that is done in part.
    """

    def __init__(self, error: Exception, it: Iteration, step: Step, flat: FlatNode | None = None) -> None:
        self.error, self._it, self._step = error, it, step
        found = place_of(error, step.flat) if flat is None and step.flat.kind is Kind.BATCH else None
        self._flat = flat if found is None else found[0]
        self._order = place_in_program(it, step, None if self._flat is None else self._flat.index)

    def delivered(self, tokens: State, light: Any, heavy: Any) -> FirstFailure:
        """Deliver what a batch has computed before it: what stands before it, too, may wait for that."""
        step, it = self._step, self._it
        if step.flat.kind is Kind.BATCH:
            it.outstanding += 1  # it does not end with a kernel that has failed
            tokens.deliver(it, made_in_part(it, step, *step.flat.value.made(self.error)), light, heavy)
        return self

    def comes_behind(self, item: Item, index: int | None = None) -> bool:
        """Return whether a kernel stands before it in the program; of a batch, the one with that index, or the
        first."""
        return place_in_program(*item, index) < self._order

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
        return explained(self.error, self._it, self._step, self._flat)


def made_in_part(
    it: Iteration, step: Step, values: Sequence[Any], goes_on: Any, gone: Container[int] = ()
) -> list[tuple[Iteration, Edges, Any]]:  # fmt: skip
    """Return the tokens of a batch that are complete, when it has made only some of its values, and let those who wait
    for a part of the others find that in their slots.

    Parameters
    ----------
    it : Iteration
    step : Step
    values : sequence
        Of its outputs, ``MISSING`` for what there is not.
    goes_on : bool or MISSING
        The condition of a loop, of which it is a turn.
    gone : container of int
        Tokens that have been delivered before.
    """
    assert step.outs is not None
    tokens = []
    for k, (edges, (token, part)) in enumerate(zip(step.outs, step.flat.value.doors.partly(values, goes_on))):
        if token is not MISSING and k not in gone:
            tokens.append((it, edges, token))
        elif part is not None:
            for slot, _, _ in edges.plain:
                it.values[slot] = part
    return tokens


def place_in_program(it: Iteration, step: Step, index: int | None = None) -> tuple[int, ...]:
    """Return what is less for a kernel that stands, or runs, earlier in the program; of a batch, for the one with that
    index, or the first."""
    found = [step.flat.index if index is None else index]
    here = it
    while here.frame.parent is not None:
        found += [here.index, here.frame.plan.place]
        here = here.frame.parent
    return tuple(reversed(found))


def first_failure(
    failure: FirstFailure, tokens: State, parts: Parts, ready: deque[Item], state: RunState, watch: Watch | None
) -> FirstFailure:
    """Return the first failure of a run on one thread, when all is done that stands before it.

    Parameters
    ----------
    failure : FirstFailure
        The first that the scheduler has come upon.
    tokens : State
    parts : BatchParts
    ready : deque
        The kernels that were ready then.
    state : RunState
    watch : Watch or None

    Raises
    ------
    TimeoutError
    """
    failure.delivered(tokens, ready, None)
    while True:
        failure.keep(ready)
        if not ready:
            moved, failure = parts.go_on(failure, ready, None)
            if not moved:
                return failure
            continue
        it, step = ready.popleft()
        try:
            out = call(it, step, state, watch)
        except Exception as error:
            failure = failure.earlier(FirstFailure(error, it, step).delivered(tokens, ready, None))
            continue
        if step.blank:
            it.values[step.first : step.last] = step.blank
        tokens.complete(it, step, out, ready, None)
        del out
        if watch is not None and watch.expired():
            raise watch.timed_out(tokens)
