"""A run whose tokens were moved in native memory as one whose tokens Python moves, from where it has ended.

So nothing is done again that has been done: kernels may have had effects. What was ready is ready, values are objects,
and what stands before a failure in the program goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from ..ir.run_state import RunState
from . import token_core as tc
from .batch_parts import BatchParts
from .core_calls import UNKNOWN
from .core_runs import CoreRun
from .execution_plan import MISSING, FramePlan, Plan
from .first_failure import FirstFailure, first_failure
from .frames import Frame, Item, Iteration, State
from .kernels import Watch, in_iteration
from .token_forms import TokenForm


def gone_on(
    run: CoreRun, state: RunState, watch: Watch, go_on: Callable[[State, deque[Item], RunState, Watch], list[Any]]
) -> list[Any]:  # fmt: skip
    """Return the results of a run that has been left.

    Parameters
    ----------
    run : CoreRun
        Nobody is in it any more. Its tables are of a plan of its loop alone.
    go_on : callable
        Runs what is ready and all that follows.
    """
    found = _Handover(run)
    tokens, ready = found.tokens, found.ready
    try:
        for record, out in run.otherwise:
            it, step = found.item(record)
            tokens.complete(it, step, out, ready, None)
        failures = [FirstFailure(error, *found.item(record)) for error, record in run.failures]
        if failures:
            first = failures[0]
            for one in failures[1:]:
                first = first.earlier(one)
            for one in failures:
                if one is not first:
                    one.delivered(tokens, ready, None)
            raise first_failure(first, tokens, BatchParts(tokens), ready, state, watch).explained()
        return go_on(tokens, ready, state, watch)
    finally:
        tokens.close()


def reached(run: CoreRun) -> list[str]:
    """Return the lines that tell in which iteration the loop of a run is, and those in that: in the oldest of each that
    is not over. Nobody is in the run any more."""
    words, found = run.values.words, list[str]()

    def tell(own: FramePlan, at: int) -> None:
        number = words[at + tc.F_OLDEST]
        it = words[at + tc.F_RING] + words[at + tc.F_STRIDE] * (number % words[at + tc.F_WINDOW])
        if own.source is not None:  # of what is no loop there is none
            found.append(in_iteration(own.source.name, number))
        for k, one in enumerate(run.tables.inside[own]):
            if words[words[it - 1 - k] + tc.F_IS_OPEN]:
                tell(one, words[it - 1 - k])
        found.extend([line for place, lines in run.ended if place == it for line in lines])

    tell(run.tables.plan.frames[run.tables.frame], words[tc.ROOT])
    return found


class _Handover:
    """Makes the tokens, and tells which kernels are ready."""

    def __init__(self, run: CoreRun) -> None:
        self._run, self._tables, self._words = run, run.tables, run.values.words
        plan = self._tables.plan
        self.tokens = State(plan)
        self._steps = {place: one.step for place, one in run.tables.called.items()}
        self._iterations: dict[int, Iteration] = {}
        self._open(plan)
        self.ready = deque([self._item(place) for place in self._ready()])

    def item(self, record: int) -> Item:
        """Return the kernel of a record."""
        return self._item(record + tc.R_IT)

    def _item(self, place: int) -> Item:
        return self._iterations[self._words[place]], self._steps[self._words[place + 1]]

    def _open(self, plan: Plan) -> None:
        """Open the loop, with what is live of it."""
        words, root = self._words, self.tokens.root
        root.outstanding = 1
        self._open_frame(plan.frames[self._tables.frame], root, words[tc.ROOT])
        for k, form in enumerate(self._tables.leaving):
            buffer = words[words[tc.RESULTS] + k]
            if buffer:
                self.tokens.results[k] = self._run.values.value(buffer, form)

    def _open_frame(self, own: FramePlan, parent: Iteration, at: int) -> None:
        """Open a frame in an iteration, and those in it."""
        words, inside = self._words, self._tables.inside[own]
        frame = parent.children[own] = Frame(own, parent)
        frame.window = words[at + tc.F_WINDOW]  # tokens wait for an iteration that no other may begin
        self._fill(frame.template, own, words[at + tc.F_TEMPLATE])
        before: Iteration | None = None
        for index in range(words[at + tc.F_OLDEST], words[at + tc.F_NEWEST] + 1):
            place = words[at + tc.F_RING] + words[at + tc.F_STRIDE] * (index % words[at + tc.F_WINDOW])
            it = self._iterations[place] = Iteration(frame, index)
            self._fill(it.values, own, place)
            it.outstanding = words[place + tc.OUTSTANDING]
            if before is None:
                frame.oldest = it
            else:
                before.next = it
            frame.newest = before = it
            frame.live += 1
            for number, one in enumerate(inside):
                child = words[place - 1 - number]
                if words[child + tc.F_IS_OPEN]:
                    self._open_frame(one, it, child)
        for k in range(words[at + tc.F_LATERS]):
            place = words[at + tc.F_LATER] + 2 * k
            edges, form = self._tables.later[words[place]]
            frame.waiting.append((edges, self._run.values.value(words[place + 1], form)))

    def _fill(self, values: list[Any], own: FramePlan, place: int) -> None:
        """Put in what has come; what has been used is nothing, as there."""
        words, cells = self._words, place + tc.VALUES
        for step in own.steps:
            count = values[step.count] = words[cells + step.count]
            for k, form in enumerate(self._tables.forms[step]):
                buffer = words[cells + step.first + k]
                values[step.first + k] = self._value(buffer, form) if buffer else MISSING if count else None
        for slot, form in self._tables.inherited[own]:
            buffer = words[cells + slot]
            values[slot] = self._value(buffer, form) if buffer else MISSING

    def _value(self, buffer: int, form: TokenForm | None) -> Any:
        value = self._run.values.value(buffer, form)
        return None if value is UNKNOWN else value  # only that it has come is wanted

    def _ready(self) -> Iterator[int]:
        """Yield where kernels are told that are ready, or were begun and have not been called."""
        words = self._words
        for k in range(words[tc.WORKERS]):
            w = words[tc.AREAS] + words[tc.AREA] * k
            for number in range(words[w + tc.W_COUNT]):
                record = words[w + tc.W_RECORDS] + words[w + tc.W_RECORD] * number
                if words[record + tc.R_DONE] == tc.NOT_DONE:
                    yield record + tc.R_IT
        for ring, taken, put in ((tc.LIGHT, tc.TAKEN, tc.PUT), (tc.CALLED, tc.CALLED_TAKEN, tc.CALLED_PUT)):
            for k in range(words[taken], words[put]):
                yield words[ring] + tc.ITEM * (k & words[tc.MASK])
        for k in range(words[tc.HEAVIES]):
            yield words[tc.HEAVY] + tc.ITEM * k
