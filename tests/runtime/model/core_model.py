"""A run whose tokens are moved in native memory as a machine: the real functions of ``token_core``, in every order.

A state is what is in memory, and what objects Python has, which are put back before each move. A kernel in machine
code is called when it begins, and again when it ends: what it is given must be there that long, and what it gives is
its own. Those that Python calls are called when they end, several at once.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from api import (
    NO_OBJECT,
    CoreRun,
    CriticalPaths,
    Kind,
    LoopTables,
    Lowered,
    Plan,
    StepCode,
    TokenForm,
    alone,
    enters,
    forms_of_tokens,
)
from api import core_kernels as ck
from api import core_workers as cw
from api import token_core as tc
from explorer import Explored, explore

STEP = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)
FRAME = 1
RINGS = ((tc.LIGHT, tc.TAKEN, tc.PUT), (tc.CALLED, tc.CALLED_TAKEN, tc.CALLED_PUT))


def form_of(tensor: Any) -> TokenForm:
    return TokenForm(((tensor.dtype, tensor.shape.as_tuple()),))


def code_of(step: Any) -> StepCode:
    """NumPy's kernel as code of a step."""
    given, gives = [[form_of(t) for t in those] for those in (step.flat.source.inputs, step.flat.source.outputs)]

    def called(read: int, written: int, scratch: int) -> int:
        args = [
            form.read(ctypes.c_uint64.from_address(read + 8 * k).value)
            for k, form in enumerate(given)
        ]  # fmt: skip
        return not gives[0].write(step.call(*args), ctypes.c_uint64.from_address(written).value)

    kept = STEP(called)
    address = ctypes.cast(kept, ctypes.c_void_p).value or 0
    return StepCode(address, tuple(given), tuple(gives), (tc.ALWAYS,), False, (), 0, kept)


def machine_alone(_: str) -> bool:
    """All kernels have code."""
    return False


def tables_of(lowered: Lowered, workers: int, is_called: Callable[[str], bool] = machine_alone) -> LoopTables:
    """The tables of a loop that is all of a graph, with those in it, and with such code but for ops with names that
    Python is to call."""
    members = [node for node in lowered.nodes if node.frame]
    plan = Plan(alone(lowered, members))
    steps = [step for step in plan.steps.values() if step.call is not None]
    codes = {step.flat.index: code_of(step) for step in steps if not is_called(step.flat.op.name)}
    return LoopTables(plan, FRAME, codes, forms_of_tokens(members, codes), CriticalPaths.of(plan), workers)


def given(lowered: Lowered, feeds: list[Any]) -> list[Any]:
    """What the loop of a graph is given."""
    known = dict(zip(lowered.feeds, feeds))
    starts = enters([node for node in lowered.nodes if node.frame == FRAME])
    nodes = [lowered.nodes[those[0].inputs[0][0]] for those in starts]
    return [node.value if node.kind is Kind.CONST else known[node.index] for node in nodes]


@dataclass
class Position:
    """A state of a run: the words, and what is in each block of memory; what objects there are; which workers are at
    what, and what is done.

    A kernel is told by its step and iteration.
    """

    words: Any
    blocks: list[tuple[Any, Any]]
    objects: list[Any]
    busy: dict[int, tuple[tuple[int, ...], ...]]
    done: frozenset[tuple[int, ...]]


class Live:
    """The frames and iterations there are in a run, by looking at its words, ``m``."""

    def __init__(self, m: Any, tables: LoopTables) -> None:
        self.m, self.tables = m, tables
        self._loops = {place: own for own, place in tables._loops.items()}

    def frames(self) -> list[int]:
        """The frames that are open."""
        m, found = self.m, [] if self.m[tc.OVER] else [int(self.m[tc.ROOT])]
        for f in found:  # grows as it is walked
            inside = len(self.tables.inside[self.loop(f)])
            below = [int(m[it - 1 - k]) for it in self.live_in(f) for k in range(inside)]
            found += [child for child in below if m[child + tc.F_IS_OPEN]]
        return found

    def loop(self, f: int) -> Any:
        """What a frame is one of."""
        return self._loops[int(self.m[f + tc.F_LOOP])]

    def live_in(self, f: int) -> list[int]:
        m = self.m
        numbers = range(m[f + tc.F_OLDEST], m[f + tc.F_NEWEST] + 1)
        return [int(m[f + tc.F_RING] + m[f + tc.F_STRIDE] * (k % m[f + tc.F_WINDOW])) for k in numbers]

    def slots(self, f: int, values: int) -> list[int]:
        """What is in the slots of an iteration, or of the template of a frame."""
        m, found, own = self.m, [], self.loop(f)
        for step in own.steps:
            found += [int(m[values + step.first + k]) for k in range(step.width)]
        return found + [int(m[values + slot]) for slot, _ in self.tables.inherited[own]]

    def waiting(self, f: int) -> list[tuple[int, int]]:
        """The tokens that wait for the next iteration of a frame: where they go, and what they are."""
        m = self.m
        places = [m[f + tc.F_LATER] + 2 * k for k in range(m[f + tc.F_LATERS])]
        return [(int(m[place]), int(m[place + 1])) for place in places]

    def path(self, it: int) -> tuple[int, ...]:
        """The numbers of an iteration, and of those around it."""
        m, found = self.m, []
        while it:
            found.append(int(m[it + tc.INDEX]))
            it = int(m[m[it + tc.WITHIN] + tc.F_PARENT])
        return tuple(found)


class CoreModel:
    """All runs of the loop of a graph; each of ``workers`` can be in a kernel."""

    def __init__(
        self, lowered: Lowered, feeds: list[Any], workers: int = 1, is_called: Callable[[str], bool] = machine_alone
    ) -> None:
        self.tables, self.args, self.workers = tables_of(lowered, workers, is_called), given(lowered, feeds), workers
        self.run = CoreRun(self.tables, self.enter, workers)
        self.m = self.run._m
        self.live = Live(self.m, self.tables)

    def enter(self, _: int, w: int, what: int, number: int, address: int) -> int:
        return cw.core(self.m, w, what, number, address)

    def explored(self) -> Explored[Position]:
        key = lambda p: (p.done, frozenset(p.busy.values()))
        return explore(self.start(), self.moves, self.check, self.check_end, key, self.look)

    def start(self) -> Position:
        assert self.run._take_in(self.args)
        self.run._core(self.area(0), cw.START)
        return self.position({}, frozenset())

    def area(self, worker: int) -> int:
        return int(self.m[tc.AREAS] + worker * self.m[tc.AREA])

    def position(self, busy: dict[int, tuple[tuple[int, ...], ...]], done: frozenset[tuple[int, ...]]) -> Position:
        blocks = [(block, block.copy()) for block in self.run._blocks]
        return Position(self.m.copy(), blocks, self.run.values.objects.copy(), busy, done)

    def put_back(self, at: Position) -> None:
        self.m[:] = at.words
        self.run._blocks = [block for block, _ in at.blocks]
        self.run.values.objects[:] = at.objects
        for block, content in at.blocks:
            block[:] = content

    # -- moves --------------------------------------------------------------------------------------------

    def moves(self, at: Position) -> Iterator[tuple[str, Position]]:
        free = [k for k in range(self.workers) if k not in at.busy]
        self.put_back(at)
        for k in range(self.ready() if free else 0):
            yield self.begin(at, free[0], k)
        for worker in at.busy:
            yield self.end(at, worker)

    def ready(self) -> int:
        """How many kernels can be the next: light ones if there are any."""
        m = self.m
        return int(m[tc.PUT] - m[tc.TAKEN] or m[tc.CALLED_PUT] - m[tc.CALLED_TAKEN] or m[tc.HEAVIES])

    def choose(self, k: int) -> None:
        """Let one of those be the next."""
        m = self.m
        for ring, taken, put in RINGS:
            if m[put] > m[taken]:
                first, other = [m[ring] + tc.ITEM * ((m[taken] + j) & m[tc.MASK]) for j in (0, k)]
                places = np.arange(tc.ITEM)
                m[first + places], m[other + places] = m[other + places], m[first + places].copy()
                break
        else:
            m[m[tc.HEAVY] + tc.ITEM * k + 2] = 1 << 60

    def begin(self, at: Position, worker: int, k: int) -> tuple[str, Position]:
        self.put_back(at)
        names = self.begun(worker, k)
        return f"begin {names}", self.position({**at.busy, worker: names}, at.done)

    def begun(self, worker: int, k: int) -> tuple[tuple[int, ...], ...]:
        """Let a worker begin a kernel, and those that it is given with that; which those are."""
        m, w = self.m, self.area(worker)
        self.choose(k)
        while (got := ck.begin(m, w)) == ck.BUFFERS:
            self.run._add(w, int(m[w + tc.W_CLASS]), 1)
        assert got == ck.GOT
        if m[m[w + tc.W_STEP] + tc.S_CODE]:
            self.clean(w)
            self.call(w)
        else:
            cw.gather(m, w)
            self.clean(w)
        return tuple([self.name(record) for record in self.records(w)])

    def clean(self, w: int) -> None:
        """Let what kernels give be written to what is as if it were new: of a boolean only one byte is."""
        m = self.m
        for buffer in self.buffers(w):
            if self.tables.sizes[m[m[tc.CLASSES] + buffer]][0]:
                ctypes.memset(int(m[m[tc.ADDRESSES] + buffer]), 0, 64)

    def buffers(self, w: int) -> list[int]:
        """The buffers of what a worker's kernels give."""
        m, found = self.m, []
        for record in self.records(w):
            found += [int(m[record + tc.R_BUFFERS + k]) for k in range(m[m[record + tc.R_STEP] + tc.S_MADE])]
        return found

    def end(self, at: Position, worker: int) -> tuple[str, Position]:
        self.put_back(at)
        self.ended(worker)
        left = {k: name for k, name in at.busy.items() if k != worker}
        return f"end {at.busy[worker]}", self.position(left, at.done.union(at.busy[worker]))

    def ended(self, worker: int) -> None:
        """Let a worker end what it has begun."""
        w = self.area(worker)
        if self.m[self.m[w + tc.W_STEP] + tc.S_CODE]:
            made = self.made(w)
            self.call(w)
            assert self.made(w) == made, "what a kernel is given, or what it gives, was written to by others"
            ck.end(self.m, w, 0)
            self.m[w + tc.W_COUNT] = 0
        else:
            self.run._call_kernels(w)
            assert not (self.run.failures or self.run.otherwise)
            cw.end_called(self.m, w)

    def records(self, w: int) -> list[int]:
        """The kernels that a worker has begun."""
        m = self.m
        return [int(m[w + tc.W_RECORDS] + m[w + tc.W_RECORD] * k) for k in range(m[w + tc.W_COUNT])]

    def call(self, w: int) -> None:
        m = self.m
        step = m[w + tc.W_STEP]
        assert not cw.call_step(m, m[step + tc.S_CODE], m[w + tc.W_GIVEN], m[w + tc.W_MADE], m[w + tc.W_SCRATCH])

    def made(self, w: int) -> bytes:
        return ctypes.string_at(int(self.m[self.m[w + tc.W_MADE]]), 64)

    def name(self, record: int) -> tuple[int, ...]:
        return int(self.m[record + tc.R_STEP]), *self.live.path(int(self.m[record + tc.R_IT]))

    # -- what must hold -----------------------------------------------------------------------------------

    def check(self, at: Position) -> None:
        """Assert what holds in every state."""
        self.put_back(at)
        m = self.m
        assert not m[tc.FAILED]
        for f in self.live.frames():
            assert m[f + tc.F_NEWEST] - m[f + tc.F_OLDEST] < m[f + tc.F_WINDOW], "more iterations than the window"
        assert m[tc.READY] == sum([m[put] - m[taken] for _, taken, put in RINGS]) + m[tc.HEAVIES]
        running = [name for names in at.busy.values() for name in names]
        assert m[tc.RUNNING] == len(running)
        assert not set(running) & at.done, "a token was doubled: a kernel that has run runs again"
        assert len(set(running)) == len(running), "a token was doubled: a kernel runs twice"
        assert not (m[tc.OVER] and (at.busy or m[tc.READY])), "over too early"
        assert self.counted() == self.held(at), "uses are not counted right"
        free = self.free()
        assert len(set(free)) == len(free)
        assert set(free) == {b for b in range(m[tc.COUNTED], m[tc.UNUSED])}.difference(self.counted())

    def check_end(self, at: Position) -> None:
        """Assert what holds when nothing is ready any more."""
        self.put_back(at)
        m = self.m
        assert m[tc.OVER], "a token was lost: the run cannot go on"
        results = [int(m[m[tc.RESULTS] + k]) for k in range(len(self.tables.leaving))]
        assert all(results), "a result was lost"
        assert set(self.counted()) == {b for b in results if b >= m[tc.COUNTED]}, "a value was kept after its last use"

    def results(self, at: Position) -> tuple[Any, ...] | None:
        self.put_back(at)
        return self.run._results()

    def held(self, at: Position) -> Counter[int]:
        """How often each counted buffer is held, by looking at all that can hold one."""
        m = self.m
        found = [int(m[m[tc.RESULTS] + k]) for k in range(len(self.tables.leaving))]
        for f in self.live.frames():
            found += self.live.slots(f, m[f + tc.F_TEMPLATE] + tc.VALUES)
            found += [b for it in self.live.live_in(f) for b in self.live.slots(f, it + tc.VALUES)]
            found += [b for _, b in self.live.waiting(f)]
        for worker in at.busy:
            found += self.buffers(self.area(worker))
        return Counter([b for b in found if b >= m[tc.COUNTED]])

    def counted(self) -> Counter[int]:
        m = self.m
        uses = {b: int(m[m[tc.USES] + b]) for b in range(m[tc.COUNTED], m[tc.UNUSED])}
        return Counter({b: count for b, count in uses.items() if count})

    def free(self) -> list[int]:
        m, found = self.m, []
        for k in range(len(self.tables.sizes)):
            buffer = int(m[m[tc.FREE] + k])
            while buffer:
                found.append(buffer)
                buffer = int(m[m[tc.FOLLOWING] + buffer])
        return found

    def look(self, at: Position) -> Hashable:
        """What tells states apart but for which buffers values are in."""
        self.put_back(at)
        m = self.m
        objects = self.run.values.objects

        def value(b: int) -> Hashable:
            if b and objects[b] is not NO_OBJECT:
                return repr(objects[b])
            return ctypes.string_at(int(m[m[tc.ADDRESSES] + b]), 8) if b else b""

        iterations = frozenset([
            (int(m[f + tc.F_LOOP]), self.live.path(it), int(m[it + tc.OUTSTANDING]),
             tuple(map(value, self.live.slots(f, it + tc.VALUES))),
             tuple([int(m[it + tc.VALUES + step.count]) for step in self.live.loop(f).steps]))
            for f in self.live.frames() for it in self.live.live_in(f)
        ])  # fmt: skip
        frames = frozenset([
            (int(m[f + tc.F_LOOP]), self.live.path(int(m[f + tc.F_PARENT])),
             tuple(map(value, self.live.slots(f, m[f + tc.F_TEMPLATE] + tc.VALUES))),
             frozenset([(edges, value(b)) for edges, b in self.live.waiting(f)]))
            for f in self.live.frames()
        ])  # fmt: skip
        ready = [
            m[ring] + tc.ITEM * (k & m[tc.MASK]) for ring, taken, put in RINGS for k in range(m[taken], m[put])
        ]  # fmt: skip
        ready += [m[tc.HEAVY] + tc.ITEM * k for k in range(m[tc.HEAVIES])]
        items = frozenset([(int(m[place + 1]), *self.live.path(int(m[place]))) for place in ready])
        return iterations, frames, items, int(m[tc.OVER])
