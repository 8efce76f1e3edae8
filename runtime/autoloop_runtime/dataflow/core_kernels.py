"""Kernels of a run whose tokens are moved in native memory: which is next, what it is given, and what it has given.

A worker (``core_workers``) begins a kernel (``begin``), calls it, and ends it (``end``). Kernels that have no code are
Python's: a worker comes back with several of the light ones, and goes on when they have been called (``core_calls``);
of values that only those see a buffer is but a number. Light kernels go first, the oldest first, those of machine code
before the others; of heavy ones that behind which most is left, but a worker stays with what it has made unless there
is much more behind another one, as in ``ready_kernels``. See ``token_core`` for what these functions keep to.
"""

from __future__ import annotations

from .core_words import Memory, byte
from .token_core import (
    ADDRESSES,
    ALWAYS,
    CALLED,
    CALLED_PUT,
    CALLED_TAKEN,
    FOLLOWING,
    FREE,
    HEAVIES,
    HEAVY,
    IS_LIGHT,
    ITEM,
    LIGHT,
    MASK,
    NOT_DONE,
    O_CLASS,
    O_EDGES,
    O_SIDE,
    OUT,
    PUT,
    R_BUFFERS,
    R_DONE,
    R_IT,
    R_STEP,
    READY,
    RUNNING,
    S_CODE,
    S_CONSTANTS,
    S_DECIDES,
    S_FIRST,
    S_KIND,
    S_KNOWN,
    S_MADE,
    S_OUTS,
    S_WIDTH,
    TAKEN,
    USES,
    VALUES,
    W_BUFFERS,
    W_CLASS,
    W_COUNT,
    W_GIVEN,
    W_IT,
    W_MADE,
    W_ME,
    W_RECORD,
    W_RECORDS,
    W_STEP,
    drop,
    push,
    settle,
)  # fmt: skip

#: what ``begin`` tells; ``BUFFERS``: buffers are missing
GOT, NOTHING, BUFFERS = 6, 7, 3


def take(m: Memory, w: int) -> int:
    """Return the place of the kernel that is next for a worker, among those that are ready; 0 if there is none."""
    if m[PUT] > m[TAKEN]:
        place = m[LIGHT] + ITEM * (m[TAKEN] & m[MASK])
        m[TAKEN] += 1
        return place
    if m[CALLED_PUT] > m[CALLED_TAKEN]:
        place = m[CALLED] + ITEM * (m[CALLED_TAKEN] & m[MASK])
        m[CALLED_TAKEN] += 1
        return place
    if m[HEAVIES] == 0:
        return 0
    best = 0
    own = 0
    place = m[HEAVY]
    last = place + ITEM * m[HEAVIES]
    while place < last:
        if best == 0 or m[place + 2] >= m[best + 2]:
            best = place
        if m[place + 3] == m[w + W_ME] and (own == 0 or m[place + 2] >= m[own + 2]):
            own = place
        place += ITEM
    if own and m[best + 2] - (m[best + 2] >> 4) <= m[own + 2]:
        best = own
    # the last one takes its place, and it that of the last one, where it is found by whoever asked
    m[HEAVIES] -= 1
    last = m[HEAVY] + ITEM * m[HEAVIES]
    place = 0
    while place < ITEM:
        kept = m[best + place]
        m[best + place] = m[last + place]
        m[last + place] = kept
        place += 1
    return last


def begin(m: Memory, w: int) -> int:
    """Take a kernel that is ready, and what it is called with; returns ``GOT``, ``NOTHING`` or ``BUFFERS``."""
    m[w + W_COUNT] = 0
    return begin_another(m, w)


def begin_another(m: Memory, w: int) -> int:
    """Take one more."""
    record = m[w + W_RECORDS] + m[w + W_RECORD] * m[w + W_COUNT]
    select(m, w, record)
    place = take(m, w)
    if place == 0:
        return NOTHING
    it = m[place]
    step = m[place + 1]
    m[w + W_IT] = it
    m[w + W_STEP] = step
    m[record + R_IT] = it
    m[record + R_STEP] = step
    m[record + R_DONE] = NOT_DONE
    number = 0
    while number < m[step + S_MADE]:
        size_class = m[m[step + S_OUTS] + OUT * number + O_CLASS]
        free = m[FREE] + size_class
        buffer = m[free]
        if buffer == 0:
            m[w + W_CLASS] = size_class
            put_back(m, w, number)
            return BUFFERS
        m[free] = m[m[FOLLOWING] + buffer]
        m[m[USES] + buffer] = 1
        m[m[w + W_BUFFERS] + number] = buffer
        m[m[w + W_MADE] + number] = m[m[ADDRESSES] + buffer]
        number += 1
    m[READY] -= 1
    m[RUNNING] += 1
    m[w + W_COUNT] += 1
    slot = it + VALUES + m[step + S_FIRST]
    given = m[w + W_GIVEN]
    last = given + m[step + S_WIDTH]
    while given < last:
        m[given] = m[m[ADDRESSES] + m[slot]]
        given += 1
        slot += 1
    constant = m[step + S_CONSTANTS]
    last = given + m[step + S_KNOWN]
    while given < last:
        m[given] = m[m[ADDRESSES] + m[constant]]
        given += 1
        constant += 1
    return GOT


def select(m: Memory, w: int, record: int) -> None:
    """Let a worker go on with the kernel of a record."""
    m[w + W_IT] = m[record + R_IT]
    m[w + W_STEP] = m[record + R_STEP]
    m[w + W_BUFFERS] = record + R_BUFFERS
    m[w + W_MADE] = record + R_BUFFERS + ((m[w + W_RECORD] - R_BUFFERS) >> 1)


def put_back(m: Memory, w: int, made: int) -> None:
    """Let a kernel be ready again that was to be begun, and give back so many buffers."""
    while made:
        made -= 1
        drop(m, m[m[w + W_BUFFERS] + made])
    if m[m[w + W_STEP] + S_KIND] != IS_LIGHT:
        m[HEAVIES] += 1
    elif m[m[w + W_STEP] + S_CODE]:
        m[TAKEN] -= 1
    else:
        m[CALLED_TAKEN] -= 1


def end(m: Memory, w: int, by_python: int) -> None:
    """Deliver what the kernel of a worker has given; ``by_python``: what of it there is tell the addresses."""
    it = m[w + W_IT]
    step = m[w + W_STEP]
    m[RUNNING] -= 1
    slot = it + VALUES + m[step + S_FIRST]
    made = m[step + S_MADE]
    side = ALWAYS
    if m[step + S_DECIDES]:
        made -= 1
        if by_python == 0:
            side = byte(m[m[w + W_MADE] + made])
        drop(m, m[m[w + W_BUFFERS] + made])
    number = 0
    while number < made:
        out = m[step + S_OUTS] + OUT * number
        is_given = m[m[w + W_MADE] + number]
        if by_python == 0 and m[out + O_SIDE] != ALWAYS and m[out + O_SIDE] != side:
            is_given = 0
        if is_given:
            push(m, w, it, m[out + O_EDGES], m[m[w + W_BUFFERS] + number])
        drop(m, m[m[w + W_BUFFERS] + number])
        number += 1
    number = 0
    while number < m[step + S_WIDTH]:
        drop(m, m[slot + number])
        m[slot + number] = 0
        number += 1
    settle(m, w, it)
