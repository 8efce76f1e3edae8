"""What a run whose tokens are moved in native memory tells of each kernel in machine code, if somebody traces it.

Each worker notes its own, in words behind all others, which runs that nobody traces do not have: for these it is one
look at a word for each kernel. It comes back when there is no more room, and before it leaves the run, so that nothing
is lost; Python then takes what is there (``seen_cores``). See ``token_core`` for what the functions keep to.
"""

from __future__ import annotations

from .core_words import Memory, byte, clock
from .token_core import (
    CLASSES,
    COUNTED,
    DEEP,
    F_LATERS,
    F_PARENT,
    HEAVIES,
    HEAVY,
    INDEX,
    IS_HEAVY,
    ITEM,
    READY,
    S_DECIDES,
    S_KIND,
    S_MADE,
    UNUSED,
    USES,
    W_IT,
    W_MADE,
    W_ME,
    W_STEP,
    WITHIN,
)

#: after how many kernels a worker comes back once it looks at the time, 0 if nobody traces the run; the bytes of a
#: large buffer, by class
EVENTS, SIZES = 60, 61
#: of a worker: where it notes them, and how many it has noted
W_EVENTS, W_TOLD = 20, 21
#: one: the step, the number of its iteration, when it began and ended, in nanoseconds; how many kernels were ready when
#: it began, and how many heavy ones; ``HELD`` and so on; bytes of large buffers that hold something at its end; for how
#: long its worker then waited for the lock; the numbers of the iterations around its own, innermost first
V_STEP, V_INDEX, V_BEGIN, V_END, V_READY, V_HEAVY, V_WHAT, V_LIVE, V_WAITED = 0, 1, 2, 3, 4, 5, 6, 7, 8
V_AROUND = 9
EVENT = V_AROUND + DEEP - 1
#: the window was full, and the next iteration waited; another worker had made it ready; of a turn: the loop has ended
HELD, STOLEN, LAST = 1, 2, 4


def note(m: Memory, w: int) -> None:
    """Note what is known of a kernel that a worker has just begun; the lock is held since."""
    event = m[w + W_EVENTS] + EVENT * m[w + W_TOLD]
    m[event + V_STEP] = m[w + W_STEP]
    m[event + V_INDEX] = m[m[w + W_IT] + INDEX]
    m[event + V_READY] = m[READY]
    m[event + V_HEAVY] = m[HEAVIES]
    m[event + V_WHAT] = 0
    frame = m[m[w + W_IT] + WITHIN]
    if m[frame + F_LATERS]:
        m[event + V_WHAT] += HELD
    # it has just been the last one in the row of those
    if m[m[w + W_STEP] + S_KIND] == IS_HEAVY and m[m[HEAVY] + ITEM * m[HEAVIES] + 3] != m[w + W_ME]:
        m[event + V_WHAT] += STOLEN
    event += V_AROUND
    while m[frame + F_PARENT]:
        m[event] = m[m[frame + F_PARENT] + INDEX]
        event += 1
        frame = m[m[frame + F_PARENT] + WITHIN]


def note_time(m: Memory, w: int, which: int) -> None:
    """Note when it begins, or has ended."""
    m[m[w + W_EVENTS] + EVENT * m[w + W_TOLD] + which] = clock()


def note_end(m: Memory, w: int, waited: int) -> None:
    """Note all else of a kernel that has done it, before what it has given is delivered; the lock is held."""
    event = m[w + W_EVENTS] + EVENT * m[w + W_TOLD]
    m[event + V_WAITED] = 0
    if waited:
        m[event + V_WAITED] = clock() - m[event + V_END]
    step = m[w + W_STEP]
    if m[step + S_DECIDES] and byte(m[m[w + W_MADE] + m[step + S_MADE] - 1]) == 0:
        m[event + V_WHAT] += LAST
    m[event + V_LIVE] = live(m)
    m[w + W_TOLD] += 1


def live(m: Memory) -> int:
    """Return the bytes of large buffers that hold something."""
    found = 0
    buffer = m[COUNTED]
    while buffer < m[UNUSED]:
        if m[m[USES] + buffer]:
            found += m[m[SIZES] + m[m[CLASSES] + buffer]]
        buffer += 1
    return found
