"""Tokens of a loop, and of those in it, moved in native memory: what ``frames`` says, in a small part of Python.

Everything is in one array of 64-bit words, ``m``: the tables of the loops (``core_tables``), and what changes. Each
iteration that may be live at one time has a place of its own, and behind it the frames of the loops in it have theirs:
so who is in a frame, and which iteration that belongs to, is known before. A value
is a *buffer*, known by its number; buffers from ``m[COUNTED]`` on are counted, and go back to those that are free at
their last use. The functions keep to a small part of Python: they are run as they are by tests, and become machine code
(``native.core_code``) that workers run without the interpreter's lock. Names in capitals are words of ``m``, or
distances in a table.

What is here moves them; ``core_kernels`` begins and ends what they are given to. What is in ``core_words`` does what
Python cannot say.
"""

from __future__ import annotations

from .core_words import Memory, byte

# -- words of ``m`` -------------------------------------------------------------------------------------------

LOCK = 0
#: how many kernels are ready; on a line of its own, as workers who have nothing to do look at it
READY = 8
#: the loop has ended; the run is to end; why: a kernel has not done it, or there is no room
OVER, STOPPED, FAILED = 9, 10, 11
#: workers in the run beside the caller; those that may still join; whether the caller is blocked
PRESENT, OPENINGS, WAITING = 16, 17, 18
#: kernels that are running
RUNNING = 19
#: the frame of the outermost loop
ROOT = 20
#: where tables are
STEPS, EDGES, OUTS = 26, 27, 28
#: kernels that are ready: light ones, in a ring, of which these have been taken and put; heavy ones
LIGHT, TAKEN, PUT, MASK, HEAVY, HEAVIES, ROOM = 29, 30, 31, 32, 33, 34, 35
#: by buffer: its address, how many uses it has, its size class, and the next one that is free; by class: the first
ADDRESSES, USES, CLASSES, FOLLOWING, FREE = 38, 39, 40, 41, 42
#: the first buffer that is counted, the next number that no buffer has, and how many there may be
COUNTED, UNUSED, LIMIT = 43, 44, 45
#: where what leaves the loop is put
RESULTS = 46
#: how long to look for work before it is given up, and to work before coming back, in nanoseconds
SPIN, SLICE = 47, 48
#: tokens that a worker can have in hand
DEPTH = 49
#: what workers have: where, how many words each, how many workers; of those how many look for work
AREAS, AREA, WORKERS, LOOKING = 50, 51, 52, 53
#: light kernels that Python has to call, in a ring as long as that of the others
CALLED, CALLED_TAKEN, CALLED_PUT = 54, 55, 56
#: when the run is to end, in nanoseconds as the core counts them; 0 if nobody says
UNTIL = 57
HEAD = 64

#: a loop: iterations that may be live at once, words of each, and what one starts with; how many tokens enter it, and
#: which do at once, a range of (where they go, buffer); which values of iterations around it do, a range of (slot,
#: where they go, is it the same in every iteration); slots in which there may be such; where it stands in the program;
#: what is left behind it, and for each iteration around it, and the number of its last iteration
L_WINDOW, L_CELLS, L_START, L_ENTERING, L_TOKENS, L_TOKENS_END, L_INHERITS, L_INHERITS_END = 0, 1, 2, 3, 4, 5, 6, 7
L_KEPT, L_KEPT_END, L_PLACE, L_BEHIND, L_RATE, L_TRIPS = 8, 9, 10, 11, 12, 13
LOOP = 16
#: a frame, an execution of a loop: that, and the iteration it belongs to, 0 for the outermost; whether there is one;
#: the numbers of the iterations that are live; the place of the first, and how far they are apart; what a new one
#: starts with; tokens for the iteration after the newest; and of its loop, how many may be live, and words of each
F_LOOP, F_PARENT, F_IS_OPEN, F_OLDEST, F_NEWEST, F_RING, F_STRIDE = 0, 1, 2, 3, 4, 5, 6
F_TEMPLATE, F_LATER, F_LATERS = 7, 8, 9
F_WINDOW, F_CELLS = 10, 11
FRAME = 16
#: an iteration: its number, what is under way in it, its frame, and then its values; before it, the frames in it
INDEX, OUTSTANDING, WITHIN, VALUES = 0, 1, 2, 3
#: loops in each other at most
DEEP = 4
#: a kernel that is ready: its iteration and step; of a heavy one also how much is left behind it, and who made it ready
ITEM = 4
#: what a worker has: its kernel, of several the last one; the class of which it found no buffer; whether to wake the
#: caller, and how many workers to call; who it is, 0 for the caller; tokens in hand
W_IT, W_STEP, W_CLASS, W_WAKE, W_CALLS, W_ME, W_HELD, W_BEGUN, W_BUSY = 0, 1, 2, 3, 4, 5, 6, 7, 8
#: where the addresses of what the kernel is given and gives are, and those buffers, and the tokens; the address of
#: memory that a kernel has for itself
W_GIVEN, W_MADE, W_BUFFERS, W_STACK, W_SCRATCH = 9, 10, 11, 12, 13
#: records of the kernels that it has begun: where, how many words each, how many
W_RECORDS, W_RECORD, W_COUNT = 14, 15, 16
#: iterations that have one thing less outstanding once the tokens in hand have been delivered
W_SETTLE, W_SETTLES = 17, 18
WORKER = 24

#: a record: the kernel, whether Python has called it, then the buffers that it gives and their addresses: 0 where
#: Python has no value
R_IT, R_STEP, R_DONE, R_BUFFERS = 0, 1, 2, 3
#: ``GONE``: what it has given has been delivered, or never will be
NOT_DONE, DONE, GONE = 0, 1, 2

#: a step: what it does (a Switch or Identity, a light kernel, a heavy one); its slots; its count of missing inputs
S_KIND, S_FIRST, S_WIDTH, S_COUNT = 0, 1, 2, 3
#: of a Switch or Identity where its token goes; -1 for what an Identity has not
S_EDGES, S_OTHERWISE = 4, 5
#: of a kernel: its code, 0 if only Python can call it; what it gives, and whether that is the condition of the loop at
#: last; the buffers of constants that its code is given behind its inputs
S_CODE, S_OUTS, S_MADE, S_DECIDES, S_CONSTANTS, S_KNOWN = 6, 7, 8, 9, 10, 11
#: what is left behind it, and for each iteration
S_LEFT, S_RATE = 12, 13
STEP = 16
PASSES, IS_LIGHT, IS_HEAVY = 0, 1, 2

#: where tokens go: to slots, a range of (slot, count, step), and on, a range of what, and up to four numbers
E_PLAIN, E_PLAINS, E_REST, E_RESTS = 0, 1, 2, 3
EDGE, REST = 4, 5
#: to the next iteration (where it goes there); out of the outermost loop (which result it is); only the arrival counts
#: (count, step); to the iteration around (where it goes there); into a loop (which one, where it goes there, is it the
#: same in every iteration); a value that is so, and that a loop wants, too, once there is one (the same, and the slot)
NEXT, EXIT, CONTROL, LEAVE, ENTER, INHERIT = 0, 1, 2, 3, 4, 5

#: what a kernel gives: where that goes, its size class, when (``batch_doors``)
O_EDGES, O_CLASS, O_SIDE = 0, 1, 2
OUT = 3
ALWAYS = 2


# -- buffers --------------------------------------------------------------------------------------------------


def use(m: Memory, buffer: int) -> None:
    """Note one use more."""
    if buffer >= m[COUNTED]:
        m[m[USES] + buffer] += 1


def drop(m: Memory, buffer: int) -> None:
    """Note one use less; at the last one it is free."""
    if buffer >= m[COUNTED]:
        m[m[USES] + buffer] -= 1
        if m[m[USES] + buffer] == 0:
            free = m[FREE] + m[m[CLASSES] + buffer]
            m[m[FOLLOWING] + buffer] = m[free]
            m[free] = buffer


# -- moving tokens --------------------------------------------------------------------------------------------


def push(m: Memory, w: int, it: int, edges: int, buffer: int) -> None:
    """Take a token in hand."""
    held = m[w + W_HELD]
    if held >= m[DEPTH]:
        m[FAILED] = 1
        m[STOPPED] = 1
        return
    place = m[w + W_STACK] + 3 * held
    m[place] = it
    m[place + 1] = edges
    m[place + 2] = buffer
    m[w + W_HELD] = held + 1
    use(m, buffer)


def arrived(m: Memory, w: int, it: int, step: int) -> None:
    """Go on with a step, all inputs of which have come."""
    slot = it + VALUES + m[step + S_FIRST]
    if m[step + S_KIND] == PASSES:
        token = m[slot]
        m[slot] = 0
        edges = m[step + S_EDGES]
        if m[step + S_OTHERWISE] >= 0:
            predicate = m[slot + 1]
            m[slot + 1] = 0
            if byte(m[m[ADDRESSES] + predicate]) == 0:
                edges = m[step + S_OTHERWISE]
            drop(m, predicate)
        push(m, w, it, edges, token)
        drop(m, token)
        return
    m[it + OUTSTANDING] += 1
    m[READY] += 1
    if m[step + S_KIND] == IS_LIGHT:
        if m[step + S_CODE]:
            place = m[LIGHT] + ITEM * (m[PUT] & m[MASK])
            m[PUT] += 1
        else:
            place = m[CALLED] + ITEM * (m[CALLED_PUT] & m[MASK])
            m[CALLED_PUT] += 1
    else:
        place = m[HEAVY] + ITEM * m[HEAVIES]
        m[HEAVIES] += 1
        m[place + 2] = left_behind(m, it, step)
        m[place + 3] = m[w + W_ME]
    m[place] = it
    m[place + 1] = step


def left_behind(m: Memory, it: int, step: int) -> int:
    """Return how much is left from the beginning of a kernel to the end of the run, as ``critical_path`` has it."""
    left = m[step + S_LEFT]
    rate = m[step + S_RATE]
    while it:
        f = m[it + WITHIN]
        trips = m[m[f + F_LOOP] + L_TRIPS]
        if trips < m[f + F_NEWEST]:
            trips = m[f + F_NEWEST]
        left += rate * (trips - m[it + INDEX]) + m[m[f + F_LOOP] + L_BEHIND]
        rate = m[m[f + F_LOOP] + L_RATE]
        it = m[f + F_PARENT]
    return left


def iteration_at(m: Memory, f: int, index: int) -> int:
    """Return a live iteration of a frame."""
    return m[f + F_RING] + m[f + F_STRIDE] * (index % m[f + F_WINDOW])


def begin_iteration(m: Memory, f: int) -> int:
    """Return the iteration after the newest, of which there was none."""
    m[f + F_NEWEST] += 1
    it = iteration_at(m, f, m[f + F_NEWEST])
    m[it + INDEX] = m[f + F_NEWEST]
    m[it + OUTSTANDING] = 0
    place = VALUES
    while place < m[f + F_CELLS]:
        m[it + place] = m[m[f + F_TEMPLATE] + place]
        place += 1
    place = m[m[f + F_LOOP] + L_KEPT]
    while place < m[m[f + F_LOOP] + L_KEPT_END]:
        use(m, m[it + VALUES + m[place]])
        place += 1
    return it


def let_go(m: Memory, f: int, values: int) -> None:
    """Let go of what is the same in every iteration of a frame, where nothing has used it: in one, or for new ones."""
    place = m[m[f + F_LOOP] + L_KEPT]
    while place < m[m[f + F_LOOP] + L_KEPT_END]:
        drop(m, m[values + m[place]])
        m[values + m[place]] = 0
        place += 1


def following(m: Memory, it: int, edges: int, buffer: int) -> int:
    """Return the iteration after one; 0 if there is none yet, and the token waits for it."""
    f = m[it + WITHIN]
    index = m[it + INDEX] + 1
    if index <= m[f + F_NEWEST]:
        return iteration_at(m, f, index)
    if m[f + F_NEWEST] - m[f + F_OLDEST] + 1 < m[f + F_WINDOW]:
        return begin_iteration(m, f)
    place = m[f + F_LATER] + 2 * m[f + F_LATERS]
    m[place] = edges
    m[place + 1] = buffer
    m[f + F_LATERS] += 1
    use(m, buffer)
    return 0


def deliver(m: Memory, w: int) -> None:
    """Deliver the tokens in hand and all that follows."""
    while m[w + W_HELD] > 0:
        m[w + W_HELD] -= 1
        place = m[w + W_STACK] + 3 * m[w + W_HELD]
        it = m[place]
        edges = m[place + 1]
        buffer = m[place + 2]
        entry = m[edges + E_PLAIN]
        last = entry + 3 * m[edges + E_PLAINS]
        while entry < last:
            m[it + VALUES + m[entry]] = buffer
            use(m, buffer)
            count = it + VALUES + m[entry + 1]
            m[count] -= 1
            if m[count] == 0:
                arrived(m, w, it, m[entry + 2])
            entry += 3
        entry = m[edges + E_REST]
        last = entry + REST * m[edges + E_RESTS]
        while entry < last:
            go_on(m, w, it, entry, buffer)
            entry += REST
        drop(m, buffer)


def go_on(m: Memory, w: int, it: int, entry: int, buffer: int) -> None:
    """Take a token where it does not wait for a step."""
    what = m[entry]
    number = m[entry + 1]
    if what == NEXT:
        after = following(m, it, number, buffer)
        if after:
            push(m, w, after, number, buffer)
    elif what == EXIT:
        m[m[RESULTS] + number] = buffer
        use(m, buffer)
    elif what == CONTROL:
        count = it + VALUES + number
        m[count] -= 1
        if m[count] == 0:
            arrived(m, w, it, m[entry + 2])
    elif what == LEAVE:
        push(m, w, m[m[it + WITHIN] + F_PARENT], number, buffer)
    else:
        enter(m, w, it, entry, buffer)


def settle_later(m: Memory, w: int, it: int) -> None:
    """Note that an iteration has one thing less outstanding once the tokens in hand have been delivered."""
    m[m[w + W_SETTLE] + m[w + W_SETTLES]] = it
    m[w + W_SETTLES] += 1


def settle(m: Memory, w: int, it: int) -> None:
    """Deliver the tokens in hand; then ``it`` has one thing less outstanding, and iterations that are done end."""
    settle_later(m, w, it)
    while m[w + W_SETTLES] > 0:
        deliver(m, w)
        m[w + W_SETTLES] -= 1
        it = m[m[w + W_SETTLE] + m[w + W_SETTLES]]
        m[it + OUTSTANDING] -= 1
        f = m[it + WITHIN]
        if m[it + OUTSTANDING] == 0 and m[it + INDEX] == m[f + F_OLDEST]:
            retire(m, w, f)


# -- frames ---------------------------------------------------------------------------------------------------


def enter(m: Memory, w: int, it: int, entry: int, buffer: int) -> None:
    """Let a token of an iteration enter a loop in it."""
    f = m[it - 1 - m[entry + 1]]
    if m[entry] == INHERIT:
        m[it + VALUES + m[entry + 4]] = buffer
        use(m, buffer)
        if m[f + F_IS_OPEN] == 0:
            return  # whoever opens the frame will find the value in the slot; perhaps nobody does
    elif m[f + F_IS_OPEN] == 0:
        open_frame(m, w, it, f)
    edges = m[entry + 2]
    oldest = iteration_at(m, f, m[f + F_OLDEST])
    if m[entry + 3] == 0:  # it is iteration 0
        push(m, w, oldest, edges, buffer)
    else:
        index = m[f + F_OLDEST]
        while index <= m[f + F_NEWEST]:
            push(m, w, iteration_at(m, f, index), edges, buffer)
            index += 1
        fill(m, f, edges, buffer)
    settle_later(m, w, oldest)


def open_frame(m: Memory, w: int, it: int, f: int) -> None:
    """Open the frame of a loop."""
    loop = m[f + F_LOOP]
    m[f + F_IS_OPEN] = 1
    m[f + F_OLDEST] = 0
    m[f + F_NEWEST] = -1
    m[it + OUTSTANDING] += 1
    place = VALUES
    while place < m[f + F_CELLS]:
        m[m[f + F_TEMPLATE] + place] = m[m[loop + L_START] + place]
        place += 1
    entering = m[loop + L_ENTERING]
    entry = m[loop + L_INHERITS]
    while entry < m[loop + L_INHERITS_END]:
        buffer = m[it + VALUES + m[entry]]
        if buffer:
            entering -= 1
            if m[entry + 2]:
                fill(m, f, m[entry + 1], buffer)
        entry += 3
    first = begin_iteration(m, f)
    m[first + OUTSTANDING] = entering
    entry = m[loop + L_TOKENS]
    while entry < m[loop + L_TOKENS_END]:
        push(m, w, first, m[entry], m[entry + 1])
        entry += 2
    entry = m[loop + L_INHERITS]
    while entry < m[loop + L_INHERITS_END]:
        buffer = m[it + VALUES + m[entry]]
        if buffer and m[entry + 2] == 0:
            push(m, w, first, m[entry + 1], buffer)
        entry += 3


def fill(m: Memory, f: int, edges: int, buffer: int) -> None:
    """Note what is the same in every iteration for new ones, as if it had arrived."""
    values = m[f + F_TEMPLATE] + VALUES
    entry = m[edges + E_PLAIN]
    last = entry + 3 * m[edges + E_PLAINS]
    while entry < last:
        m[values + m[entry]] = buffer
        use(m, buffer)
        m[values + m[entry + 1]] -= 1
        entry += 3
    entry = m[edges + E_REST]
    last = entry + REST * m[edges + E_RESTS]
    while entry < last:
        if m[entry] == INHERIT:
            m[values + m[entry + 4]] = buffer
            use(m, buffer)
        elif m[entry] == CONTROL:
            m[values + m[entry + 1]] -= 1
        entry += REST


def retire(m: Memory, w: int, f: int) -> None:
    """Drop the oldest iteration of a frame, and those after it that are done as well."""
    while m[f + F_OLDEST] <= m[f + F_NEWEST]:
        it = iteration_at(m, f, m[f + F_OLDEST])
        if m[it + OUTSTANDING]:
            return
        let_go(m, f, it + VALUES)
        m[f + F_OLDEST] += 1
        if m[f + F_LATERS]:
            after = begin_iteration(m, f)
            m[after + OUTSTANDING] = 1  # until the tokens have been delivered
            settle_later(m, w, after)
            while m[f + F_LATERS]:
                m[f + F_LATERS] -= 1
                place = m[f + F_LATER] + 2 * m[f + F_LATERS]
                push(m, w, after, m[place], m[place + 1])
                drop(m, m[place + 1])
    if m[f + F_PARENT] == 0:
        m[OVER] = 1
        return
    let_go(m, f, m[f + F_TEMPLATE] + VALUES)
    m[f + F_IS_OPEN] = 0
    settle_later(m, w, m[f + F_PARENT])
