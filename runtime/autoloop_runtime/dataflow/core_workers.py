"""What workers do in a run whose tokens are moved in native memory: the part of ``workers`` that is machine code.

A worker holds the lock, a word of ``m``, but while it is in a kernel, or looks for work. It comes back to Python when
there is something that only that can do. See ``token_core`` for what these functions keep to.
"""

from __future__ import annotations

from .core_events import EVENTS, V_BEGIN, V_END, W_TOLD, note, note_end, note_time
from .core_kernels import BUFFERS, GOT, NOTHING, begin, begin_another, end, select
from .core_words import Memory, acquire, call_step, clock, pause, peek, release
from .token_core import (
    ADDRESSES,
    AREA,
    AREAS,
    CALLED_PUT,
    CALLED_TAKEN,
    CLASSES,
    DONE,
    FAILED,
    GONE,
    HEAVIES,
    IS_HEAVY,
    IS_LIGHT,
    LIMIT,
    LOOKING,
    NOT_DONE,
    OPENINGS,
    OVER,
    PRESENT,
    PUT,
    R_DONE,
    READY,
    ROOT,
    RUNNING,
    S_CODE,
    S_KIND,
    SLICE,
    SPIN,
    STOPPED,
    TAKEN,
    UNTIL,
    UNUSED,
    USES,
    W_BEGUN,
    W_BUSY,
    W_CALLS,
    W_COUNT,
    W_GIVEN,
    W_MADE,
    W_ME,
    W_RECORD,
    W_RECORDS,
    W_SCRATCH,
    W_STEP,
    W_WAKE,
    WAITING,
    WORKERS,
    drop,
    iteration_at,
    settle,
)  # fmt: skip

#: what a worker comes back with: the run is over or to end; nothing is ready; the time is up; buffers are missing;
#: somebody is to be called; nothing is ready and nothing runs, and yet the loop has not ended; kernels are to be called
ENDED, IDLE, TIME, CALLS, STUCK, KERNELS = 0, 1, 2, 4, 5, 6
#: added to that by who leaves: the caller is to be woken; another worker may have its words by the time that is read
WOKEN = 8
#: added to that by who goes to others though there is something to do: another worker is to be called in its place, as
#: those that stay may be in kernels for long, or in a loop that ends only if what is left here is done
AGAIN = 16
#: light kernels at most with which a worker comes back
MOST = 8


def work(m: Memory, w: int) -> int:
    """Run kernels until there is something that only Python can do; returns what that is."""
    m[w + W_WAKE] = 0
    m[w + W_CALLS] = 0
    m[w + W_BEGUN] = clock()
    done = 0
    acquire(m)
    end_called(m, w)
    while True:
        if m[STOPPED] or m[OVER]:
            return leave_told(m, w, ENDED)
        if wants_others(m, w):
            release(m)
            return CALLS
        got = begin(m, w)
        if got == BUFFERS:
            release(m)
            return BUFFERS
        if got == NOTHING:
            if m[RUNNING] == 0 and m[READY] == 0:
                return leave_told(m, w, STUCK)
            if look(m) == 0:
                return leave_told(m, w, IDLE)
        else:
            failed = 1
            if m[m[w + W_STEP] + S_CODE] == 0:
                gather(m, w)
            elif m[EVENTS]:
                failed = finish_seen(m, w)
            else:
                failed = finish(m, w)
            if failed:
                release(m)
                return KERNELS
            done += 1
            heavy = m[m[w + W_STEP] + S_KIND] == IS_HEAVY
            if (heavy or m[UNTIL] or (done & 15) == 0) and m[OVER] == 0 and is_time(m, w):
                release(m)
                return TIME


def is_time(m: Memory, w: int) -> int:
    """Return whether a worker has worked for so long that it is to come back. If the run is to end, which nobody may
    have come back for to tell, it begins nothing more."""
    now = clock()
    if m[UNTIL] and now > m[UNTIL]:
        m[STOPPED] = 1
    return now - m[w + W_BEGUN] > m[SLICE]


def finish(m: Memory, w: int) -> int:
    """Call the kernel that a worker has begun; the lock is held before and after. Returns 0 if it has done it."""
    release(m)
    failed = call_step(m, m[m[w + W_STEP] + S_CODE], m[w + W_GIVEN], m[w + W_MADE], m[w + W_SCRATCH])
    acquire(m)
    if failed == 0:
        end(m, w, 0)
        m[w + W_COUNT] = 0
    return failed


def finish_seen(m: Memory, w: int) -> int:
    """Do what ``finish`` does in a run that is traced, and note it."""
    note(m, w)
    release(m)
    note_time(m, w, V_BEGIN)
    failed = call_step(m, m[m[w + W_STEP] + S_CODE], m[w + W_GIVEN], m[w + W_MADE], m[w + W_SCRATCH])
    note_time(m, w, V_END)
    waited = acquire(m)
    if failed == 0:
        note_end(m, w, waited)
        if m[w + W_TOLD] >= m[EVENTS]:
            m[w + W_BEGUN] = 0  # it has worked long enough
        end(m, w, 0)
        m[w + W_COUNT] = 0
    return failed


def gather(m: Memory, w: int) -> None:
    """Let a worker that has begun a light kernel which only Python can call have more of them, if nothing else is
    light and ready."""
    if m[EVENTS]:
        note(m, w)
    got = GOT
    while got == GOT and m[w + W_COUNT] < MOST and m[m[w + W_STEP] + S_KIND] == IS_LIGHT:
        got = NOTHING
        if m[PUT] == m[TAKEN] and m[CALLED_PUT] > m[CALLED_TAKEN]:
            got = begin_another(m, w)


def end_called(m: Memory, w: int) -> None:
    """End the kernels of a worker that Python has called; others stay where they are, as the run is to end then."""
    number = 0
    left = 0
    while number < m[w + W_COUNT]:
        record = m[w + W_RECORDS] + m[w + W_RECORD] * number
        if m[record + R_DONE] == DONE:
            m[record + R_DONE] = GONE
            select(m, w, record)
            end(m, w, 1)
        elif m[record + R_DONE] == NOT_DONE:
            left = 1
        number += 1
    if left == 0:
        m[w + W_COUNT] = 0


def wants_others(m: Memory, w: int) -> int:
    """Return whether more is ready than this worker can do, and there is anybody to be called; then note whom."""
    left = m[HEAVIES] - m[LOOKING]
    if m[PUT] == m[TAKEN] and m[CALLED_PUT] == m[CALLED_TAKEN]:
        left -= 1
    if left <= 0:
        return 0
    wake(m, w)
    left -= m[w + W_WAKE]
    if left > m[OPENINGS]:
        left = m[OPENINGS]
    m[OPENINGS] -= left
    m[w + W_CALLS] = left
    return m[w + W_WAKE] + left


def wake(m: Memory, w: int) -> None:
    """Note that the caller is to be woken, if it is blocked."""
    if m[WAITING]:
        m[WAITING] = 0
        m[w + W_WAKE] = 1


def look(m: Memory) -> int:
    """Look for a while whether anything becomes ready, without the lock, which is held before and after."""
    m[LOOKING] += 1
    release(m)
    until = clock() + m[SPIN]
    found = 0
    while found == 0 and clock() < until:
        rounds = 0
        while found == 0 and rounds < 32:
            found = peek(m, READY) + peek(m, OVER) + peek(m, STOPPED)
            pause()
            rounds += 1
    acquire(m)
    m[LOOKING] -= 1
    return m[READY] + m[OVER] + m[STOPPED]


def leave_told(m: Memory, w: int, why: int) -> int:
    """Leave once Python has taken what this worker has noted: then another one may have its words."""
    if m[w + W_ME] and m[w + W_TOLD]:
        release(m)
        return TIME
    return leave(m, w, why)


def leave(m: Memory, w: int, why: int) -> int:
    """Leave the run, or let the caller wait for others if there are any; the lock is held, and given up."""
    if m[w + W_ME]:
        m[w + W_BUSY] = 0
        m[PRESENT] -= 1
        if m[READY] and m[OVER] == 0 and m[STOPPED] == 0:
            why += AGAIN
        else:
            m[OPENINGS] += 1
        if m[WAITING] and (m[PRESENT] == 0 or m[OVER] or m[STOPPED] or m[READY]):
            m[WAITING] = 0
            why += WOKEN
    elif why == IDLE:
        why = TIME
        if m[PRESENT]:
            m[WAITING] = 1
            why = IDLE
    release(m)
    return why


# -- what Python asks for -------------------------------------------------------------------------------------

#: work; join as a worker; leave though there may be something to do; begin; take in a buffer; end the run; and, as the
#: caller, wait for those who are in it, of whom it tells how many
WORK, JOIN, LEAVE, START, ADD, STOP, DRAIN = 0, 1, 2, 3, 4, 5, 6


def core(m: Memory, w: int, what: int, number: int, address: int) -> int:
    """Do what Python asks for."""
    if what == WORK:
        return work(m, w)
    acquire(m)
    found = 0
    if what == LEAVE:
        end_called(m, w)
        return leave(m, w, IDLE)
    if what == JOIN:
        found = join(m)
    elif what == STOP:
        m[STOPPED] = 1
    elif what == DRAIN:
        m[STOPPED] = 1
        m[WAITING] = 0
        found = m[PRESENT]
        if found:
            m[WAITING] = 1
    elif what == START:
        settle(m, w, iteration_at(m, m[ROOT], 0))
    else:
        found = add(m, number, address)
    release(m)
    return found


def join(m: Memory) -> int:
    """Return where what a worker has is, who joins; 0 if the run is over."""
    if m[STOPPED] or m[OVER]:
        return 0
    w = m[AREAS] + m[AREA]
    last = w + m[AREA] * (m[WORKERS] - 1)
    while w < last:
        if m[w + W_BUSY] == 0:
            m[w + W_BUSY] = 1
            m[PRESENT] += 1
            return w
        w += m[AREA]
    return 0


def add(m: Memory, size_class: int, address: int) -> int:
    """Take in a buffer that is free; returns its number, or 0 if there are too many."""
    buffer = m[UNUSED]
    if buffer >= m[LIMIT]:
        m[FAILED] = 1
        m[STOPPED] = 1
        return 0
    m[UNUSED] += 1
    m[m[ADDRESSES] + buffer] = address
    m[m[CLASSES] + buffer] = size_class
    m[m[USES] + buffer] = 1
    drop(m, buffer)
    return buffer
