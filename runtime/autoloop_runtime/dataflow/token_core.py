"""Tokens of one loop moved in native memory: what ``frames`` says, for loops of which some kernels are machine code.

Everything is in one array of 64-bit words, ``m``: the tables of the loop (``core_tables``), and what changes. A value
is a *buffer*, known by its number; buffers from ``m[COUNTED]`` on are counted, and go back to those that are free at
their last use. The functions keep to a small part of Python: they are run as they are by tests, and become machine code
(``native.core_code``) that workers run without the interpreter's lock. Names in capitals are words of ``m``, or
distances in a table.

A worker (``core_workers``) begins a kernel (``begin``), calls it, and ends it (``end``). What is in ``core_words`` does
what Python cannot say. Kernels that have no code are Python's: a worker comes back with several of the light ones, and
goes on when they have been called (``core_calls``); of values that only those see a buffer is but a number. Light
kernels go first, the oldest first, those of machine code before the others; of heavy ones that
behind which most is left, but a worker stays with what it has made unless there is much more behind another one, as in
``ready_kernels``.
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
#: the numbers of the iterations that are live, and how many there may be at once
OLDEST, NEWEST, WINDOW = 20, 21, 22
#: where the first iteration is, how many words each has, and what a new one starts with
RING, CELLS, TEMPLATE = 23, 24, 25
#: where tables are
STEPS, EDGES, OUTS = 26, 27, 28
#: kernels that are ready: light ones, in a ring, of which these have been taken and put; heavy ones
LIGHT, TAKEN, PUT, MASK, HEAVY, HEAVIES, ROOM = 29, 30, 31, 32, 33, 34, 35
#: tokens for the iteration after the newest
LATER, LATERS = 36, 37
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
HEAD = 64

#: an iteration: its number, what is under way in it, and then its values
INDEX, OUTSTANDING, VALUES = 0, 1, 2
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

#: where tokens go: to slots, a range of (slot, count, step), and on, a range of (what, number, step)
E_PLAIN, E_PLAINS, E_REST, E_RESTS = 0, 1, 2, 3
EDGE = 4
#: to the next iteration, out of the loop, only the arrival counts
NEXT, EXIT, CONTROL = 0, 1, 2

#: what a kernel gives: where that goes, its size class, when (``batch_doors``)
O_EDGES, O_CLASS, O_SIDE = 0, 1, 2
OUT = 3
ALWAYS = 2

#: what ``begin`` tells; ``BUFFERS``: buffers are missing
GOT, NOTHING, BUFFERS = 6, 7, 3


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
        m[place + 2] = m[step + S_LEFT] - m[step + S_RATE] * m[it + INDEX]
        m[place + 3] = m[w + W_ME]
    m[place] = it
    m[place + 1] = step


def begin_iteration(m: Memory) -> int:
    """Return the iteration after the newest, of which there was none."""
    m[NEWEST] += 1
    it = m[RING] + m[CELLS] * (m[NEWEST] % m[WINDOW])
    place = 0
    while place < m[CELLS]:
        m[it + place] = m[m[TEMPLATE] + place]
        place += 1
    m[it + INDEX] = m[NEWEST]
    return it


def following(m: Memory, it: int, edges: int, buffer: int) -> int:
    """Return the iteration after one; 0 if there is none yet, and the token waits for it."""
    index = m[it + INDEX] + 1
    if index <= m[NEWEST]:
        return m[RING] + m[CELLS] * (index % m[WINDOW])
    if m[NEWEST] - m[OLDEST] + 1 < m[WINDOW]:
        return begin_iteration(m)
    place = m[LATER] + 2 * m[LATERS]
    m[place] = edges
    m[place + 1] = buffer
    m[LATERS] += 1
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
        last = entry + 3 * m[edges + E_RESTS]
        while entry < last:
            go_on(m, w, it, entry, buffer)
            entry += 3
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
    else:
        count = it + VALUES + number
        m[count] -= 1
        if m[count] == 0:
            arrived(m, w, it, m[entry + 2])


def settle(m: Memory, w: int, it: int) -> None:
    """Deliver the tokens in hand; then ``it`` has one thing less outstanding, and iterations that are done end."""
    deliver(m, w)
    m[it + OUTSTANDING] -= 1
    while m[OLDEST] <= m[NEWEST]:
        it = m[RING] + m[CELLS] * (m[OLDEST] % m[WINDOW])
        if m[it + OUTSTANDING]:
            return
        m[OLDEST] += 1
        if m[LATERS]:
            after = begin_iteration(m)
            m[after + OUTSTANDING] += 1  # until the tokens have been delivered
            while m[LATERS]:
                m[LATERS] -= 1
                place = m[LATER] + 2 * m[LATERS]
                push(m, w, after, m[place], m[place + 1])
                drop(m, m[place + 1])
            deliver(m, w)
            m[after + OUTSTANDING] -= 1
    m[OVER] = 1


# -- kernels --------------------------------------------------------------------------------------------------


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
