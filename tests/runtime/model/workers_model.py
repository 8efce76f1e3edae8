"""How the threads of ``SharedRun`` and ``Pool`` wait for each other, as a machine: a move is what one of them does
under one lock, and bears the name of the method that does it.

What the kernels compute is left out: there are tasks, which need others. What ``frames_model`` leaves out is here: who
is called, who blocks, who is woken, and how everybody gets out after a failure, Ctrl-C or the end of the time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from explorer import Explored, explore


@dataclass(frozen=True)
class Tasks:
    """What there is to do. ``needs``: for each task, in the order of the program, those before it; ``heavy``,
    ``failing``: which are that; ``broken``: at whose end the scheduler itself fails; ``large``: which of the heavy ones
    make arrays that there is no room for, so that they begin in order and only when none of them is running;
    ``endless``: loops that are run as one, and go on until they are told that nobody waits for them."""

    needs: tuple[frozenset[int], ...]
    heavy: frozenset[int]
    failing: frozenset[int] = frozenset()
    broken: frozenset[int] = frozenset()
    large: frozenset[int] = frozenset()
    endless: frozenset[int] = frozenset()


@dataclass(frozen=True, order=True)
class Thread:
    """Where a thread is: the method it will call next, the light tasks that it has, and the one that it is at.

    ``told``: that nobody waits for the loop that it is in, which was noted down.
    """

    at: str
    light: tuple[int, ...] = ()
    item: int = -1
    wanted: int = 0
    noted: bool = False
    told: bool = False


@dataclass(frozen=True)
class Run:
    """The fields of ``SharedRun`` and ``Pool``, and the threads. ``wake``: it has been released."""

    caller: Thread
    workers: tuple[Thread, ...]
    openings: int
    heavy: tuple[int, ...] = ()
    done: frozenset[int] = frozenset()
    begun: frozenset[int] = frozenset()
    present: int = 0
    waiting: bool = False
    wake: bool = False
    stopped: bool = False
    failure: int = -1
    error: str = ""
    calls: int = 0
    filling: int = 0
    idle: int = 0
    notified: int = 0
    interrupts: int = 0


class Rules:
    """What must hold."""

    def __init__(self, tasks: Tasks, most: int) -> None:
        self.tasks, self.most = tasks, most

    def finished(self, run: Run) -> bool:
        return len(run.done) == len(self.tasks.needs)

    INSIDE = ("take", "note", "kernel", "call_workers", "complete", "failed", "broken", "come_back", "leave")

    def check(self, run: Run) -> None:
        """Assert what holds in every state."""
        inside = [w for w in run.workers if w.at in self.INSIDE]
        assert run.present == len(inside), "a worker that is in the run was not counted, or one that is not"
        assert run.caller.at != "over" or not inside, "the run is over and somebody works on it"
        promised = run.calls + sum(w.wanted for w in (*run.workers, run.caller)) + sum(
            w.at == "assist" for w in run.workers
        )  # fmt: skip
        promised -= sum(w.at == "leave" for w in run.workers)  # it is about to give its place to whom it has called
        assert run.openings <= self.most
        if not run.stopped and not run.interrupts and run.error != "Ctrl-C":
            assert run.openings + promised + run.present == self.most, "a place for a worker was lost or doubled"
        assert not (run.wake and run.waiting), "wake was released for one who has not waited"
        assert run.idle == sum(w.at == "idle" for w in run.workers)

    def check_end(self, run: Run) -> None:
        """Assert what holds when nobody can go on."""
        assert run.caller.at == "over", f"the caller waits for ever in {run.caller.at!r}"
        assert all(w.at == "idle" for w in run.workers), "a worker is stuck"
        assert not run.calls and not run.waiting
        if run.error:
            return
        wanted = len(self.tasks.needs)
        if run.failure >= 0:
            assert run.failure == min(self.tasks.failing), "another failure stands before it"
            wanted = run.failure
        assert set(range(wanted)) <= run.done, "something was not done"


class Loops(Rules):
    """What ``RunningLoops`` does."""

    def _begins(self, item: int) -> str:
        return "note" if item in self.tasks.endless else "kernel"

    def note(self, run: Run, me: Thread, member: bool) -> Any:
        """The beginning of ``RunningLoops.call``."""
        return run, replace(me, at="kernel", noted=True, told=self._is_unwanted(run, me.item))

    def _is_unwanted(self, run: Run, item: int) -> bool:
        """``_is_unwanted``."""
        return run.stopped or (0 <= run.failure < item)

    def _end_loops(self, run: Run) -> Run:
        """``RunningLoops.end``."""

        def told(thread: Thread) -> Thread:
            return replace(thread, told=thread.told or (thread.noted and self._is_unwanted(run, thread.item)))

        return replace(run, caller=told(run.caller), workers=tuple(map(told, run.workers)))


class Machine(Loops):
    """One run, with as many workers as there may be in the pool.

    Parameters
    ----------
    tasks : Tasks
    most : int
        How many threads help.
    timed : bool
        The run has a time limit, which may be over at any moment.
    interrupts : int
        How often Ctrl-C may come.
    others : bool
        Other runs call for workers, too: the turn of one may be over at any moment.
    """

    def __init__(
        self, tasks: Tasks, most: int = 2, timed: bool = False, interrupts: int = 0, others: bool = False
    ) -> None:
        super().__init__(tasks, most)
        self.timed, self.interrupts, self.others = timed, interrupts, others

    def explored(self) -> Explored[Run]:
        start = Run(Thread("run_start"), (), self.most, interrupts=self.interrupts)
        return explore(start, self.moves, self.check, self.check_end, self.key)

    def key(self, run: Run) -> Hashable:
        """Workers are all alike."""
        return replace(run, workers=tuple(sorted(run.workers)))

    def moves(self, run: Run) -> Iterator[tuple[str, Run]]:
        """What can happen next."""
        yield from self._of(run, run.caller, -1)
        for k, thread in enumerate(run.workers):
            if thread not in run.workers[:k]:
                yield from self._of(run, thread, k)
        if run.interrupts and run.caller.at != "over":
            into = Thread("interrupted") if run.caller.at == "kernel" else Thread("drain")
            yield "Ctrl-C", replace(run, caller=into, interrupts=run.interrupts - 1, error=run.error or "Ctrl-C")

    def _of(self, run: Run, thread: Thread, k: int) -> Iterator[tuple[str, Run]]:
        who = "caller" if k < 0 else "worker"
        made: Any = getattr(self, thread.at)(run, thread, k >= 0)
        for after, mine in [made] if isinstance(made, tuple) else made:
            if k < 0:
                after = replace(after, caller=mine)
            else:
                workers = after.workers[:k] + (mine,) + after.workers[k + 1 :]
                after = replace(after, workers=workers)
            yield f"{thread.at} by the {who}", after

    # -- the caller: SharedRun.run, _sleep, _drain --------------------------------------------------------

    def run_start(self, run: Run, me: Thread, member: bool) -> Any:
        return self._deliver(run, replace(me, at="take"))

    def look(self, run: Run, me: Thread, member: bool) -> Any:
        """What ``run`` does when its thread has found nothing."""
        if run.stopped or self.finished(run) or not (self.startable(run) or run.present):
            return run, Thread("drain")
        if self.startable(run):
            return run, Thread("take")
        return replace(run, waiting=True), Thread("sleep")

    def sleep(self, run: Run, me: Thread, member: bool) -> Any:
        if run.wake:
            yield replace(run, wake=False), Thread("take")
        elif self.timed:
            yield run, Thread("sleep_over")

    def sleep_over(self, run: Run, me: Thread, member: bool) -> Any:
        """``acquire`` of ``_sleep`` has ended without ``wake``."""
        if run.waiting:
            return self._fail(replace(run, waiting=False), "late"), Thread("drain")
        return run, Thread("sleep_on")

    def sleep_on(self, run: Run, me: Thread, member: bool) -> Any:
        if run.wake:
            yield replace(run, wake=False), Thread("take")

    def drain(self, run: Run, me: Thread, member: bool) -> Any:
        return self._end_loops(replace(run, stopped=True, heavy=())), Thread("forget")

    def forget(self, run: Run, me: Thread, member: bool) -> Any:
        return replace(run, calls=0), Thread("drain_look")

    def drain_look(self, run: Run, me: Thread, member: bool) -> Any:
        run = replace(run, waiting=False, wake=False)
        return (replace(run, waiting=True), Thread("drain_sleep")) if run.present else (run, Thread("over"))

    def drain_sleep(self, run: Run, me: Thread, member: bool) -> Any:
        if run.wake:
            yield replace(run, wake=False), Thread("drain_look")

    def interrupted(self, run: Run, me: Thread, member: bool) -> Any:
        """What ``work`` does with Ctrl-C in a kernel."""
        return self._fail(run, "Ctrl-C"), Thread("look")

    def over(self, run: Run, me: Thread, member: bool) -> Any:
        return []

    # -- everybody: SharedRun.work ------------------------------------------------------------------------

    def take(self, run: Run, me: Thread, member: bool) -> Any:
        """``_take``, with which ``work`` begins."""
        if run.failure >= 0:  # FirstFailure.keep
            me = replace(me, light=tuple([t for t in me.light if t < run.failure]))
            run = replace(run, heavy=tuple([t for t in run.heavy if t < run.failure]))
        item = -1
        if not run.stopped:
            if me.light:
                item, me = me.light[0], replace(me, light=me.light[1:])
            elif self.startable(run):
                for one in self.next_heavy(run):
                    rest = replace(run, heavy=tuple([t for t in run.heavy if t != one]))
                    yield self._taken(rest, me, one)
                return
        if item < 0:
            yield self._leave(run, member), Thread("next" if member else "look")
        else:
            yield self._taken(run, me, item)

    def _taken(self, run: Run, me: Thread, item: int) -> Any:
        """The end of ``_take``."""
        run = replace(run, begun=run.begun | {item})
        if item in self.tasks.large:
            run = replace(run, filling=run.filling + 1)
        left = self.startable(run)
        if left and run.waiting:
            run, left = self._wake(run), left - 1
        wanted = min(left, run.openings)
        run = replace(run, openings=run.openings - wanted)
        return run, replace(me, at="call_workers" if wanted else self._begins(item), item=item, wanted=wanted)

    def next_heavy(self, run: Run) -> list[int]:
        """``ByPath.take``, ``Bulk.take``: any of those that take no room, whichever is preferred; else the first in the
        program."""
        return [t for t in run.heavy if t not in self.tasks.large] or [min(run.heavy)]

    def startable(self, run: Run) -> int:
        """``_startable``."""
        others = len([t for t in run.heavy if t not in self.tasks.large])
        return others if run.filling else len(run.heavy)

    def _ends(self, run: Run, item: int) -> Run:
        """``Bulk.ends``."""
        return replace(run, filling=run.filling - 1) if item in self.tasks.large else run

    def kernel(self, run: Run, me: Thread, member: bool) -> Any:
        """It ends, or fails; no lock is held."""
        if me.item in self.tasks.endless:
            if me.told:
                yield run, replace(me, at="failed", noted=False, told=False)
        elif me.item in self.tasks.failing:
            yield run, replace(me, at="failed")
        else:
            yield run, replace(me, at="broken" if member and me.item in self.tasks.broken else "complete")

    def complete(self, run: Run, me: Thread, member: bool) -> Any:
        run = self._ends(run, me.item)
        if not run.stopped:
            run, me = self._deliver(replace(run, done=run.done | {me.item}), me)
        yield from self.take(run, me, member)
        if member and self.others and not run.stopped and run.failure < 0:
            over = replace(run, heavy=run.heavy + me.light)
            if self.startable(over):
                yield self._wake(over), Thread("come_back")

    def come_back(self, run: Run, me: Thread, member: bool) -> Any:
        """The end of ``work`` after ``_hand_over``: ``call_workers`` for a place that is still its own."""
        run, _ = self.call_workers(run, replace(me, wanted=1), member)
        return run, Thread("leave")

    def leave(self, run: Run, me: Thread, member: bool) -> Any:
        return self._leave(replace(run, openings=run.openings - 1), member), Thread("next")

    def failed(self, run: Run, me: Thread, member: bool) -> Any:
        run = self._ends(run, me.item)
        first = me.item if run.failure < 0 else min(run.failure, me.item)
        return self.take(self._end_loops(replace(run, failure=first)), me, member)

    def _leave(self, run: Run, member: bool) -> Run:
        if not member:
            return run
        run = replace(run, present=run.present - 1, openings=run.openings + 1)
        return self._wake(run) if not run.present or self.finished(run) else run

    def _wake(self, run: Run) -> Run:
        """``_wake_caller``."""
        if not run.waiting:
            return run
        assert not run.wake, "the caller was woken twice"
        return replace(run, waiting=False, wake=True)

    def _fail(self, run: Run, error: str) -> Run:
        return run if run.stopped else self._end_loops(replace(run, stopped=True, error=run.error or error))

    def _deliver(self, run: Run, me: Thread) -> tuple[Run, Thread]:
        """``State.complete``: what is ready now, and was not before."""
        known = run.begun | {*run.heavy, *run.caller.light, *me.light, *[t for w in run.workers for t in w.light]}
        ready = [t for t, needs in enumerate(self.tasks.needs) if needs <= run.done and t not in known]
        light = tuple([t for t in ready if t not in self.tasks.heavy])
        heavy = tuple([t for t in ready if t in self.tasks.heavy])
        return replace(run, heavy=run.heavy + heavy), replace(me, light=me.light + light)

    # -- the pool: Pool.call, _next, SharedRun.assist -----------------------------------------------------

    def call_workers(self, run: Run, me: Thread, member: bool) -> Any:
        """``Pool.call``: ask, notify who is idle, start who is missing."""
        calls = run.calls + me.wanted
        missing = max(0, min(calls - run.idle, self.most - len(run.workers)))
        run = replace(
            run, calls=calls, notified=min(run.idle, run.notified + me.wanted),
            workers=run.workers + (Thread("next"),) * missing,
        )  # fmt: skip
        return run, replace(me, at=self._begins(me.item), wanted=0)

    def next(self, run: Run, me: Thread, member: bool) -> Any:
        if run.calls:
            return replace(run, calls=run.calls - 1), Thread("assist")
        return replace(run, idle=run.idle + 1), Thread("idle")

    def idle(self, run: Run, me: Thread, member: bool) -> Any:
        if run.notified:
            yield replace(run, idle=run.idle - 1, notified=run.notified - 1), Thread("next")

    def assist(self, run: Run, me: Thread, member: bool) -> Any:
        if run.stopped:
            return run, Thread("next")
        return replace(run, present=run.present + 1), Thread("take")

    def broken(self, run: Run, me: Thread, member: bool) -> Any:
        """The end of ``assist`` after an error that is no kernel's."""
        return self._leave(self._fail(run, "broken"), member), Thread("next")
