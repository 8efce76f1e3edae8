"""Calling one kernel: time limit, timeline, and the user's lines when it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..base import profiler
from ..base.dataclass import Protocol
from ..ir.failures import annotate, annotate_further, is_annotated
from ..ir.graph import Node
from ..ir.run_state import RunState
from .execution_plan import Step
from .flat_graph import FlatNode, Kind
from .frames import Iteration, State, loops_around
from .sole_holders import in_place


class Seen(Protocol):
    """``seen_runs.Seen``: what is seen of a run that is traced."""

    recorder: profiler.Recorder
    run: profiler.TracedRun

    def ready(self, count: int) -> None: ...
    def call(self, it: Iteration, step: Step, kernel: Callable[..., Any], *args: Any, **named: Any) -> Any: ...
    def within(self, loops: Iterable[tuple[Node, int]]) -> Seen: ...
    def core(self, tables: Any, threads: int) -> Any: ...
    def ended(self) -> str: ...


class Watch:
    """What a run does beside computing: keep to a time limit, record a timeline. Most runs have none.

    Attributes
    ----------
    deadline : float or None
        In ``time.monotonic()``.
    recorder : Recorder or None
        Of the trace around it.
    seen : Seen or None
        What is noted for that.
    """

    __slots__ = ("deadline", "recorder", "seen", "timeout")

    def __init__(self, timeout: float | None, recorder: profiler.Recorder | None) -> None:
        self.timeout = timeout
        self.deadline = None if timeout is None else time.monotonic() + _seconds(timeout)
        self.recorder = recorder
        self.seen: Seen | None = None

    @staticmethod
    def needed(timeout: float | None) -> Watch | None:
        """Return a watch, if there is anything to watch."""
        recorder = profiler.active()
        return None if timeout is None and recorder is None else Watch(timeout, recorder)

    def look(self, tokens: State, ready: int) -> None:
        """Do what there is to do after each kernel of a run on one thread.

        Raises
        ------
        TimeoutError
        """
        if self.seen is not None:
            self.seen.ready(ready)
        if self.expired():
            raise self.timed_out(tokens)

    def expired(self) -> bool:
        """Return whether the time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def unwanted(self) -> Any:
        """Return what tells a loop that nobody waits for it any more, by being true; others may add to it."""
        return [] if self.deadline is None else Until(self.expired, self.deadline)

    def timed_out(self, tokens: State, over: TimeIsOver | None = None) -> Exception:
        """Return the error that stops the run; ``over``: a loop that has told so."""
        where = tokens.describe_waiting() if over is None else over.where
        return TimeoutError(f"the run took longer than {self.timeout} s:\n{where} [AL603]")


class Unwanted(Exception):
    """Raised by a loop that nobody waits for any more."""


class Arguments(list[Any]):
    """The arguments of a loop that is one step; it ends when ``unwanted`` is true, and may have so many ``threads``.

    ``watch``: that of the run; ``it``: the iteration that the loop is called in. ``seen``: what is noted of it, if the
    run is traced.
    """

    __slots__ = ("seen", "threads", "unwanted")

    def __init__(
        self, values: Iterable[Any], threads: int = 1, watch: Watch | None = None, it: Iteration | None = None
    ) -> None:  # fmt: skip
        super().__init__(values)
        self.unwanted: Any = [] if watch is None else watch.unwanted()
        self.threads = threads
        self.seen: Seen | None = None
        if watch is not None and watch.seen is not None and it is not None:
            self.seen = watch.seen.within(loops_around(it))


class Until(list[bool]):
    """Is true when there is anything in it, and when what is around it is over; ``deadline``: when that will be, in
    ``time.monotonic()``, if it is known."""

    def __init__(self, is_over: Callable[[], bool], deadline: float | None = None) -> None:
        super().__init__()
        self._is_over, self.deadline = is_over, deadline

    def __bool__(self) -> bool:
        return len(self) > 0 or self._is_over()


class TimeIsOver(BaseException):
    """Raised where a loop that is one step has found that the time of its run is over; nobody outside sees it."""

    def __init__(self, it: Iteration, step: Step, reached: Sequence[str]) -> None:
        source = step.flat.source
        around = [in_iteration(loop.name, number) for loop, number in reversed(loops_around(it))]
        inside = reached or [f"  {step.flat.name if source is None else source.name!r} was running"]
        self.where = "\n".join([*around, *inside])


def in_iteration(name: str, number: int) -> str:
    """Return the line that tells how far a loop is, as ``State.describe_waiting`` has it."""
    return f"  {name!r} is in iteration {number}"


def _seconds(timeout: Any) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout is a number of seconds or None, got {timeout!r} [AL603]")
    if not timeout > 0:
        raise ValueError(f"timeout must be positive, got {timeout} [AL603]")
    return float(timeout)


def call(
    it: Iteration, step: Step, state: RunState, watch: Watch | None, run: Any = None, threads: int = 1
) -> Any:  # fmt: skip
    """Run the kernel of ``step`` in ``it``, in a shared ``run`` or alone; ``threads``: those of a loop that is alone.

    The arguments are read without a lock: a slot is written once, before the step became ready, and the caller
    learned of that under the lock; other threads write other slots of the same list.
    """
    assert step.call is not None
    kernel = step.call
    kind = step.flat.kind
    if kind is Kind.WHOLE:
        return _whole(it, step, state, watch, run, threads)  # nobody else holds what it is given
    args = it.values[step.first : step.last]
    if kind is Kind.BATCH:
        it.values[step.first : step.last] = step.blank
        if watch is not None and watch.seen is not None:
            return watch.seen.call(it, step, kernel, args)
        return kernel(args)  # it is emptied
    if step.offered or step.takes:
        it.values[step.first : step.last] = [None] * len(args)
        kernel, args = in_place(kernel, step.over, step.offered, step.takes, args)
    seen = None if watch is None else watch.seen
    if seen is None:
        return kernel(*args, state=state) if step.stateful else kernel(*args)
    if step.stateful:
        return seen.call(it, step, kernel, *args, state=state)
    return seen.call(it, step, kernel, *args)


def _whole(it: Iteration, step: Step, state: RunState, watch: Watch | None, run: Any, threads: int) -> Any:
    """Run a loop that is one step."""
    try:
        if run is not None:
            return run.loops.call((it, step), state, run)
        args = Arguments(it.values[step.first : step.last], threads, watch, it)  # it is emptied
        it.values[step.first : step.last] = step.blank
        assert step.call is not None
        return step.call(state, args)
    except Unwanted as error:
        if watch is not None and watch.deadline is not None and watch.expired():
            raise TimeIsOver(it, step, step.flat.value.reached(error)) from None
        raise


def place_of(error: BaseException, flat: FlatNode) -> tuple[FlatNode, list[tuple[Node, int]]] | None:
    """Return which kernel raised ``error``, of a node that stands for several, and the loops around it in there."""
    found: tuple[FlatNode, list[tuple[Node, int]]] | None = None
    if flat.kind in (Kind.WHOLE, Kind.BATCH):
        found = flat.value.place(error)
    return found


def explained(error: Exception, it: Iteration, step: Step, node: FlatNode | None = None) -> BaseException:
    """Return what the kernel of ``step``, or that of ``node`` of a batch, raised in ``it``, told in terms of the user's
    program."""
    flat, loops = node or step.flat, loops_around(it)
    place = place_of(error, flat)
    if place is not None:
        flat, loops = place[0], [*place[1], *loops]
    assert flat.source is not None
    if flat.kind is Kind.WHOLE and is_annotated(error):
        return annotate_further(error, loops)
    found = flat.op.culprit(error) if flat.op is not None and flat.op.culprit is not None else None
    raised, inside = found or (flat.source, [])
    return annotate(error, raised, [*inside, *loops])
