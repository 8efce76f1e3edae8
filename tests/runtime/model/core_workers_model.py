"""How the threads of a run whose tokens are moved in native memory wait for each other: the real functions, in every
order.

A move is what one thread does while it has the lock, or in Python; it lies in a kernel, looks for work, sleeps, or has
come back and has not done yet what it came back for, in between. ``work`` is left where it would call a kernel or look
for one, and entered again after that: it has nothing of its own but how long it has worked, and that may be over at any
time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from api import Lowered, core_runs
from api import core_kernels as ck
from api import core_workers as cw
from api import token_core as tc
from core_model import CoreModel, Position, machine_alone
from explorer import Explored, explore


class Away(Exception):
    """A worker lies in a kernel, or looks for one."""


@dataclass(frozen=True, order=True)
class Thread:
    """Where a thread is, its words, what it has come back with, and the kernels that it is at."""

    at: str
    w: int = 0
    why: int = -1
    kernels: tuple[tuple[int, ...], ...] = ()


#: who has the words that no thread has
NOBODY = Thread("nobody")


@dataclass
class State:
    """All that there is.

    ``threads``: the caller, and the pool; ``woken``: whether ``wake`` has been released; ``calls`` of workers;
    ``late``: the time is over; ``interrupts``: how often Ctrl-C may come; ``begun``: of each worker's words, the
    kernels that are there, and how far they are; ``seen``: what ``CoreModel.look`` gives, if that is known.
    """

    tokens: Position
    threads: tuple[Thread, ...]
    woken: bool = False
    calls: int = 0
    late: bool = False
    interrupts: int = 0
    begun: tuple[tuple[Any, ...], ...] = ()
    seen: Hashable = None


#: what may move tokens
MOVING = ("works", "finds", "ends", "ends_late", "comes_back")


class Wake:
    """The lock ``wake`` as far as it is released."""

    woken = False

    def release(self) -> None:
        if self.woken:
            raise RuntimeError
        self.woken = True


def away(*_: Any) -> int:
    raise Away


class Waiting:
    """All runs of the loop of a graph.

    Parameters
    ----------
    members : int
        Threads of the pool.
    timed : bool
        The time of a run may be over at any moment.
    interrupts : int
        How often Ctrl-C may come.
    others : bool
        Other runs call for workers.
    """

    def __init__(
        self, lowered: Lowered, feeds: list[Any], members: int, is_called: Callable[[str], bool] = machine_alone,
        timed: bool = False, interrupts: int = 0, others: bool = False,
    ) -> None:  # fmt: skip
        self.model = CoreModel(lowered, feeds, members + 1, is_called)
        self.run, self.m, self.members = self.model.run, self.model.m, members
        self.timed, self.interrupts, self.others = timed, interrupts, others
        self.calls, self.wake = 0, Wake()
        self.run._wake = self.wake  # type: ignore[assignment]
        self.m[tc.SLICE] = 1 << 62

    def explored(self) -> Explored[State]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cw, "look", away)
            patch.setattr(cw, "finish", away)
            patch.setattr(cw, "clock", lambda: 0)
            patch.setattr(core_runs, "call_workers", self.call)
            patch.setattr(core_runs, "forget_work", self.forget)
            start = self.model.start()
            threads = (Thread("work", self.model.area(0)), *[Thread("idle")] * self.members)
            first = State(start, threads, interrupts=self.interrupts, begun=((),) * (self.members + 1))
            return explore(first, self.moves, self.check, self.check_end, self.key, self.look)

    def call(self, _: Any, count: int) -> None:
        self.calls += count

    def forget(self, _: Any) -> None:
        self.calls = 0

    # -- moves --------------------------------------------------------------------------------------------

    def moves(self, state: State) -> Iterator[tuple[str, State]]:
        for k, thread in enumerate(state.threads):
            if k and thread in state.threads[1:k]:
                continue  # the pool's are all alike
            for name in self.choices(state, k, thread):
                yield f"{name} {k}", self.moved(state, k, name)
        if self.timed and not state.late and state.threads[0].at != "over":
            yield "late", replace(state, late=True)

    def choices(self, state: State, k: int, thread: Thread) -> Iterator[str]:
        """What a thread can do next."""
        if thread.at in ("sleep", "drain_sleep"):
            if state.woken:
                yield "wakes"
        elif thread.at == "idle":
            if state.calls:
                yield "joins"
        elif thread.at == "look":
            self.model.put_back(state.tokens)
            yield from ["finds"] if self.m[tc.READY] + self.m[tc.OVER] + self.m[tc.STOPPED] else ["gives_up"]
        elif thread.at == "kernel":
            yield from ["ends", "ends_late"] if state.late else ["ends", "comes_back"]
        elif thread.at == "back" and k and self.others and self.stays(thread):
            yield from ["heeds", "goes"]
        elif thread.at != "over":
            yield {"back": "heeds", "work": "works", "drain": "drains"}[thread.at]
        if not k and state.interrupts and thread.at in ("sleep", "back", "drain", "drain_sleep"):
            yield "interrupted"

    def stays(self, thread: Thread) -> bool:
        return thread.why & ~core_runs._TOLD not in (cw.ENDED, cw.IDLE, cw.STUCK)

    def moved(self, state: State, k: int, name: str) -> State:
        self.model.put_back(state.tokens)
        self.calls, self.wake.woken = state.calls, state.woken
        self.run._unwanted = [True] if state.late else []
        thread, done, is_over = state.threads[k], state.tokens.done, state.late or self.m[tc.STOPPED]
        does = thread.at == "back" and thread.why == cw.KERNELS and name != "interrupted"
        if thread.at == "kernel" or does:
            done = done.union(self.begun(thread))
        after = getattr(self, name)(k, thread)
        if does:
            left = {self.model.name(r) for r in self.model.records(thread.w) if not self.m[r + tc.R_DONE]}
            assert not is_over or left == set(thread.kernels), "Python has called a kernel of a run that has ended"
            done = done - left
        threads = (*state.threads[:k], after, *state.threads[k + 1 :])
        interrupts = state.interrupts - (name == "interrupted")
        tokens = self.model.position({}, frozenset(done))
        areas = [self.model.area(k) for k in range(self.members + 1)]
        begun = [
            tuple([(self.model.name(r), int(self.m[r + tc.R_DONE])) for r in self.model.records(w)]) for w in areas
        ]
        seen = None if name in MOVING or does else state.seen
        return State(tokens, threads, self.wake.woken, self.calls, state.late, interrupts, tuple(begun), seen)

    def begun(self, thread: Thread) -> tuple[tuple[int, ...], ...]:
        return tuple([self.model.name(record) for record in self.model.records(thread.w)])

    def works(self, _: int, thread: Thread) -> Thread:
        """``core``, from taking the lock to giving it back."""
        m, w = self.m, thread.w
        try:
            why = cw.work(m, w)
        except Away:
            if m[w + tc.W_COUNT]:
                self.model.clean(w)
                return Thread("kernel", w, kernels=self.begun(thread))
            m[tc.LOOKING] += 1
            return Thread("look", w)
        if why == cw.KERNELS:
            self.model.clean(w)
        return self.back(w, why, self.begun(thread) if why == cw.KERNELS else ())

    def back(self, w: int, why: int, kernels: tuple[tuple[int, ...], ...] = ()) -> Thread:
        """A thread that has come back; one of the pool that has left has no words any more."""
        has_left = w != self.model.area(0) and why & ~core_runs._TOLD in (cw.ENDED, cw.IDLE, cw.STUCK)
        return Thread("back", 0 if has_left else w, why, kernels)

    def finds(self, k: int, thread: Thread) -> Thread:
        self.m[tc.LOOKING] -= 1
        return self.works(k, thread)

    def gives_up(self, _: int, thread: Thread) -> Thread:
        self.m[tc.LOOKING] -= 1
        return self.back(thread.w, cw.leave_told(self.m, thread.w, cw.IDLE))

    def end(self, w: int) -> None:
        self.model.call(w)
        ck.end(self.m, w, 0)
        self.m[w + tc.W_COUNT] = 0

    def ends(self, k: int, thread: Thread) -> Thread:
        self.end(thread.w)
        return self.works(k, thread)

    def ends_late(self, k: int, thread: Thread) -> Thread:
        """It has looked at the clock."""
        self.end(thread.w)
        self.m[tc.STOPPED] = self.m[tc.STOPPED] or self.m[tc.OVER] == 0
        return self.works(k, thread)

    def comes_back(self, k: int, thread: Thread) -> Thread:
        """It has worked for long enough."""
        self.end(thread.w)
        return self.works(k, thread) if self.m[tc.OVER] else Thread("back", thread.w, cw.TIME)

    def heeds(self, k: int, thread: Thread) -> Thread:
        """``_heed``, and what follows in ``_work`` or ``_assist``."""
        why = self.run._heed(thread.w, thread.why)
        if k:
            return Thread("work", thread.w) if self.stays(thread) else Thread("idle")
        if why == cw.IDLE:
            return Thread("sleep", thread.w)
        return Thread("drain" if why in (cw.ENDED, cw.STUCK) else "work", thread.w)

    def goes(self, _: int, thread: Thread) -> Thread:
        """It is wanted elsewhere."""
        self.run._heed(thread.w, thread.why)
        return self.back(thread.w, self.run._core(thread.w, cw.LEAVE) | cw.IDLE)

    def joins(self, _: int, thread: Thread) -> Thread:
        self.calls -= 1
        w = self.run._from_outside(cw.JOIN)
        return Thread("work", w) if w else Thread("idle")

    def wakes(self, _: int, thread: Thread) -> Thread:
        self.wake.woken = False
        return Thread("work" if thread.at == "sleep" else "drain", thread.w)

    def drains(self, _: int, thread: Thread) -> Thread:
        if self.run._core(thread.w, cw.DRAIN):
            return Thread("drain_sleep", thread.w)
        self.forget(None)
        return Thread("over", thread.w)

    def interrupted(self, _: int, thread: Thread) -> Thread:
        if thread.at in ("sleep", "back"):
            self.run._end(thread.w)
        return Thread("drain", thread.w)

    # -- what must hold -----------------------------------------------------------------------------------

    def check(self, state: State) -> None:
        self.model.put_back(state.tokens)
        m, threads = self.m, state.threads
        inside = [one for one in threads[1:] if one.at in ("work", "kernel", "look") or self.is_in(one)]
        assert m[tc.PRESENT] == len(inside), "a worker that is in the run was not counted, or one that is not"
        assert len({one.w for one in (*inside, threads[0])}) == len(inside) + 1, "two workers have the same words"
        assert m[tc.LOOKING] == sum(one.at == "look" for one in threads)
        assert threads[0].at != "over" or not inside, "the run is over and somebody works on it"
        running = [name for one in threads for name in one.kernels if one.at == "kernel" or one.why == cw.KERNELS]
        assert not set(running) & state.tokens.done and len(set(running)) == len(running), "a kernel runs twice"
        assert not m[tc.FAILED]
        if not (m[tc.STOPPED] or m[tc.OVER]):
            free = m[tc.OPENINGS] + m[tc.PRESENT] + state.calls
            assert free <= self.members, "a place for a worker was doubled"

    def is_in(self, thread: Thread) -> bool:
        return thread.at == "back" and self.stays(thread)

    def check_end(self, state: State) -> None:
        self.model.put_back(state.tokens)
        assert state.threads[0].at == "over", f"the caller waits for ever in {state.threads[0].at!r}"
        assert all(one.at == "idle" for one in state.threads[1:]), "a worker is stuck"
        if not (state.late or state.interrupts < self.interrupts):
            assert self.m[tc.OVER], "the run has ended before its end"
            assert all(int(self.m[self.m[tc.RESULTS] + k]) for k in range(len(self.model.tables.leaving)))

    def key(self, state: State) -> Hashable:
        """What tells states apart. The words of one worker of the pool are as good as those of another."""
        m, threads = state.tokens.words, state.threads
        shared = [tc.OVER, tc.STOPPED, tc.PRESENT, tc.OPENINGS, tc.WAITING, tc.RUNNING, tc.READY, tc.LOOKING]
        held = {thread.w: thread for thread in threads if thread.w}
        own = []
        for k, begun in enumerate(state.begun):
            w = int(m[tc.AREAS] + k * m[tc.AREA])
            thread = held.get(w, NOBODY)
            calls = (int(m[w + tc.W_WAKE]), int(m[w + tc.W_CALLS])) if thread.why == cw.CALLS else ()
            own.append((replace(thread, w=0), begun, int(m[w + tc.W_BUSY]), calls))
        outside = sorted([thread for thread in threads[1:] if not thread.w])
        words = tuple([int(m[word]) for word in shared])
        rest = state.woken, state.calls, state.late, state.interrupts
        return state.tokens.done, own[0], tuple(sorted(own[1:])), tuple(outside), words, rest

    def look(self, state: State) -> Hashable:
        if state.seen is None:
            state.seen = self.model.look(state.tokens)
        return state.seen
