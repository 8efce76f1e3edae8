"""The tables of a loop for ``token_core``: those of ``execution_plan``, as words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.weight import Weight
from ..base.aligned_memory import LINE
from . import token_core as tc
from .core_calls import UNKNOWN, CalledStep
from .core_workers import MOST
from .execution_plan import CONTROL, EXIT, MISSING, NEXT, Edges, Plan, Step
from .flat_graph import FlatNode, Kind, Port
from .loops_alone import enters
from .step_forms import StepCode
from .token_forms import TokenForm

#: nanoseconds for which a worker looks for work before it leaves, and works before it comes back
SPIN, SLICE = 20_000, 500_000
#: what does as ``core_workers.core``, given the address of the words
Enter = Callable[[int, int, int, int, int], int]
#: buffers of each that a kernel gives, at first; of small ones, as a counter may be ahead of what it counts, one more
#: for so many iterations at most
AT_FIRST, AHEAD = 2, 10
#: bytes of small ones
SMALL = 4 * LINE


class Untold(Exception):
    """A loop cannot be told: something is not known of a value, or it has loops in it."""


class Words:
    """Words that tables are made of."""

    def __init__(self) -> None:
        self._words = [0] * tc.HEAD

    def _set(self, **values: int) -> None:
        for name, value in values.items():
            self._words[getattr(tc, name)] = value

    def _room(self, words: int) -> int:
        """Return where there is room for so many words more."""
        place = len(self._words)
        self._words += [0] * words
        return place

    def _put(self, place: int, values: Sequence[int]) -> None:
        self._words[place : place + len(values)] = values

    def _add_areas(self, workers: int, record: int, parts: Sequence[int]) -> None:
        """Make room for what each worker has."""
        size = -(-sum([tc.WORKER, *parts]) // 8) * 8
        self._room(-len(self._words) % 8)
        areas = self._room(size * workers)
        self._set(AREAS=areas, AREA=size, WORKERS=workers, OPENINGS=workers - 1)
        for k in range(workers):
            at = areas + size * k
            place = at + tc.WORKER
            for word, part in zip((tc.W_GIVEN, tc.W_RECORDS, tc.W_STACK), parts):
                self._words[at + word] = place
                place += part
            self._words[at + tc.W_ME], self._words[at + tc.W_RECORD] = k, record


class Buffers(Words):
    """Buffers: those that are known before, and how many others there may be."""

    def __init__(self) -> None:
        super().__init__()
        #: addresses by buffer: there is none of number 0
        self._addresses = [0]
        self.objects: list[Any] = [UNKNOWN]
        self.keep: list[Any] = []
        self._classes: dict[int, int] = {}
        self._wanted: list[int] = []
        #: where the memory of buffers is that are there at first, and how much that is
        self._offsets: list[int] = []
        self._memory = 0

    def _kept(self, memory: Any, value: Any = UNKNOWN) -> int:
        self.keep.append(memory)
        self._addresses.append(address_of(memory))
        self.objects.append(value)
        return len(self._addresses) - 1

    def _class(self, size: int) -> int:
        """Return the class of a buffer, of which one more is wanted; of none that has memory if ``size`` is 0."""
        size = whole_lines(size)
        number = self._classes.setdefault(size, len(self._classes))
        if number == len(self._wanted):
            self._wanted.append(0)
        self._wanted[number] += AT_FIRST + (size <= SMALL) * min(self._words[tc.WINDOW], AHEAD)
        return number

    def _add_buffers(self, held: int) -> None:
        """Make room for buffers of which so many are held at most; as many may be free as are added."""
        known = len(self._addresses)
        limit = known + held + 2 * sum(self._wanted)
        names = ("ADDRESSES", "USES", "CLASSES", "FOLLOWING")
        self._set(COUNTED=known, UNUSED=known, LIMIT=limit, **{name: self._room(limit) for name in names})
        self._set(FREE=self._room(len(self._classes)))
        self._put(self._words[tc.ADDRESSES], self._addresses)
        self._add_first(known)

    def _add_first(self, buffer: int) -> None:
        """Let those be free that there are at first, of which a run has only to say where their memory is."""
        words = self._words
        for number, (size, count) in enumerate(zip(self._classes, self._wanted)):
            for _ in range(count):
                words[words[tc.CLASSES] + buffer] = number
                words[words[tc.FOLLOWING] + buffer] = words[words[tc.FREE] + number]
                words[words[tc.FREE] + number] = buffer
                self._offsets.append(self._memory)
                self._memory += size
                buffer += 1
        words[tc.UNUSED] = buffer


class LoopTables(Buffers):
    """The words with which a run of a loop begins, and what is to be added.

    Parameters
    ----------
    plan : Plan
    frame : int
        That of the loop.
    codes : mapping of int to StepCode
        By node; kernels that have none are called by Python.
    forms : mapping of Port to TokenForm
        Of what is carried by tokens of the loop.
    order : callable
        Tells what is left behind a step, and for each iteration, in nanoseconds.
    workers : int
        How many there may be at once.

    Attributes
    ----------
    plan : Plan
    words : array
    steps : list of int
        Where they are told.
    objects : list
        What Python has for buffers, as far as it is known before.
    called : dict of int to CalledStep
        The kernels as Python calls them, by where they are told.
    forms : dict of Step to list of TokenForm or None
        Of what each step is given; None of what only Python sees.
    later : dict of int to (Edges, TokenForm or None)
        Where tokens go in the next iteration, and what they are, by where that is told.
    entering : list of TokenForm or None
        Of the values that a run is given, whose addresses are those of buffers 1, 2, ...
    leaving : list of TokenForm or None
        Of its results.
    sizes : list of (int, int)
        The bytes of a buffer, by class, and how many there are at first; no bytes where Python has the memory.
    offsets : array
        Where the memory of each of those is, behind each other.
    memory : int
        Bytes of all of them.
    scratch : int
        Bytes that each worker has for kernels.
    keep : list
        What the words have addresses of.
    """

    def __init__(
        self, plan: Plan, frame: int, codes: Mapping[int, StepCode], forms: Mapping[Port, TokenForm],
        order: Callable[[Step], tuple[float, float]], workers: int,
    ) -> None:  # fmt: skip
        self.frame = frame
        self.plan, self._codes, self._forms, self._order = plan, codes, forms, order
        self._own = plan.frames[frame]
        #: Python calls some of the kernels
        self.is_shared = any(step.call is not None and step.flat.index not in codes for step in self._own.steps)
        members = [node for node in plan.nodes if node.frame == frame and node.kind is not Kind.GONE]
        exits = [node for node in members if node.kind is Kind.EXIT]
        self._exits = {id(plan.edges_of((node.index, 0))): k for k, node in enumerate(exits)}
        super().__init__()
        self._steps: dict[Step, int] = {}
        self._edges: dict[int, int] = {}
        self._todo: list[Edges] = []
        self.called: dict[int, CalledStep] = {}
        self.forms: dict[Step, list[TokenForm | None]] = {}
        self.entering: list[TokenForm | None] = []
        self.leaving: list[TokenForm | None] = []
        self._template = [0] * tc.VALUES
        self._set(SPIN=SPIN, SLICE=SLICE, WINDOW=self._own.window)
        self.leaving = [forms.get((node.index, 0)) for node in exits]
        self._tell(enters(members), workers)
        following = [(node.index, 0) for node in members if node.kind is Kind.NEXT_ITERATION]
        edges = [(plan.edges_of(port), forms.get(port)) for port in following]
        self.later = {self._edges[id(one)]: (one, form) for one, form in edges if id(one) in self._edges}
        self.scratch = whole_lines(max([code.scratch for code in codes.values()], default=0))
        self.sizes, self.memory = list(zip(self._classes, self._wanted)), self._memory
        self.offsets: Any = np.array(self._offsets, np.int64)
        self.words: Any = np.array(self._words, np.int64)
        self.steps = list(self._steps.values())

    def _tell(self, starts: Sequence[list[FlatNode]], workers: int) -> None:
        self._addresses += [0] * len(starts)  # of what a run is given
        self.objects += [UNKNOWN] * len(starts)
        for step in self._own.steps:
            self._steps[step] = self._room(tc.STEP)
        self._template += self._cells()
        tokens = self._enter(starts)
        for step in self._own.steps:
            self._tell_step(step)
        while self._todo:
            self._tell_edges(self._todo.pop())
        window, heavy = self._own.window, sum(map(_is_heavy, self._own.steps))
        light = 1 << (window * len(self._own.steps)).bit_length()
        cells = -(-len(self._template) // 8) * 8
        self._set(CELLS=cells, TEMPLATE=self._room(cells), RING=self._room(cells * window))
        self._put(self._words[tc.TEMPLATE], self._template)
        self._put(self._words[tc.RING], self._template)
        self._words[self._words[tc.RING] + tc.OUTSTANDING] = 1
        self._set(LIGHT=self._room(tc.ITEM * light), MASK=light - 1, CALLED=self._room(tc.ITEM * light))
        self._set(HEAVY=self._room(tc.ITEM * (window * heavy + 1)))
        self._set(LATER=self._room(2 * len(self._edges)), RESULTS=self._room(len(self.leaving)))
        # each is in a slot of an iteration, or on its way, or leaves the loop, or is what a worker has
        slots = window * sum([step.width for step in self._own.steps]) + len(self._edges) + len(self.leaving)
        self._most_made = max([len(one.outputs) + 1 for one in self.called.values()], default=0)
        self._add_buffers(slots + workers * MOST * self._most_made)
        self._add_workers(workers, tokens)

    # -- values -------------------------------------------------------------------------------------------

    def _cells(self) -> list[int]:
        """Return the template: counts, and the buffers of constants, 0 where there is none."""
        template = self._own.template
        cells = [0] * len(template)
        for step in self._own.steps:
            cells[step.count] = template[step.count]
            for k in range(step.width):
                value = template[step.first + k]
                if value is not MISSING:
                    cells[step.first + k] = self._constant(value, self._given(step)[k])
        return cells

    def _given(self, step: Step) -> list[TokenForm | None]:
        """Return the forms of what a step is given."""
        found = self.forms.get(step)
        if found is None:
            code, ports = self._codes.get(step.flat.index), step.flat.inputs
            of = [None] * len(ports) if code is None else code.inputs  # it says of constants what they are
            found = self.forms[step] = [form or self._forms.get(port) for port, form in zip(ports, of, strict=True)]
        return found

    def _constant(self, value: Any, form: TokenForm | None) -> int:
        """Return the buffer of a constant."""
        memory = aligned(1 if form is None else form.bytes)
        if form is not None and not form.write(value, address_of(memory)):
            raise Untold
        return self._kept(memory, value)

    def _enter(self, starts: Sequence[list[FlatNode]]) -> list[tuple[int, int]]:
        """Let what a run is given enter; returns the tokens of variables: where they go, and their buffers."""
        tokens = list[tuple[int, int]]()
        for k, those in enumerate(starts):
            form: TokenForm | None = None
            for node in those:
                form = self._forms.get((node.index, 0), form)
                edges = self.plan.edges_of((node.index, 0))
                if not node.constant:
                    tokens.append((self._place_of(edges), k + 1))
                    continue
                for slot, count, _ in edges.plain:
                    self._template[tc.VALUES + slot] = k + 1
                    self._template[tc.VALUES + count] -= 1
                for what, arg in edges.rest:
                    if what != CONTROL:
                        raise Untold
                    self._template[tc.VALUES + arg[0]] -= 1
            self.entering.append(form)
        return tokens

    # -- steps --------------------------------------------------------------------------------------------

    def _tell_step(self, step: Step) -> None:
        at = self._steps[step]
        found = {tc.S_FIRST: step.first, tc.S_WIDTH: step.width, tc.S_COUNT: step.count, tc.S_OTHERWISE: -1}
        if step.call is None:
            found[tc.S_EDGES] = self._place_of(step.edges)
            if step.otherwise is not None:
                if self._given(step)[1] is None:
                    raise Untold
                found[tc.S_OTHERWISE] = self._place_of(step.otherwise)
        else:
            code = self._codes.get(step.flat.index)
            outs = [(step.flat.index, k) for k in range(len(step.outs or (0,)))]
            forms = list(map(self._forms.get, outs)) if code is None else list(code.outputs)
            called = self.called[at] = CalledStep(step, self._given(step), forms, code is not None)
            left, rate = self._order(step)
            found |= {
                tc.S_KIND: tc.IS_HEAVY if _is_heavy(step) else tc.IS_LIGHT,
                tc.S_LEFT: round(left), tc.S_RATE: round(rate),
                tc.S_OUTS: self._outs(step, called, code), tc.S_MADE: len(forms),
            }  # fmt: skip
            if code is not None:
                found |= self._code(code)
        for place, value in found.items():
            self._words[at + place] = value

    def _code(self, code: StepCode) -> dict[int, int]:
        constants = [self._kept(one) for one in code.constants]
        place = self._room(len(constants))
        self._put(place, constants)
        self.keep.append(code.keep)
        return {
            tc.S_CODE: code.address, tc.S_CONSTANTS: place, tc.S_KNOWN: len(constants),
            tc.S_MADE: len(code.outputs) + code.decides, tc.S_DECIDES: int(code.decides),
        }  # fmt: skip

    def _outs(self, step: Step, called: CalledStep, code: StepCode | None) -> int:
        """Return where it is told what a kernel gives."""
        decides = code is not None and code.decides
        at, outs = self._room(tc.OUT * (len(called.outputs) + decides)), step.outs or (step.edges,)
        sides = [tc.ALWAYS] * len(outs) if code is None else code.sides
        for k, (edges, form, side) in enumerate(zip(outs, called.outputs, sides, strict=True)):
            size = 0 if form is None or called.keeps[k] else max(form.bytes, 1)
            self._put(at + tc.OUT * k, [self._place_of(edges), self._class(size), side])
        if decides:
            self._words[at + tc.OUT * len(outs) + tc.O_CLASS] = self._class(1)
        return at

    def _place_of(self, edges: Edges) -> int:
        place = self._edges.get(id(edges))
        if place is None:
            place = self._edges[id(edges)] = self._room(tc.EDGE)
            self._todo.append(edges)
        return place

    def _tell_edges(self, edges: Edges) -> None:
        plain = [number for slot, count, step in edges.plain for number in (slot, count, self._steps[step])]
        rest = list[int]()
        for what, arg in edges.rest:
            if what == NEXT:
                rest += [tc.NEXT, self._place_of(arg), 0]
            elif what == EXIT:
                rest += [tc.EXIT, self._exits[id(arg)], 0]
            elif what == CONTROL:
                rest += [tc.CONTROL, arg[0], self._steps[arg[1]]]
            else:
                raise Untold
        here = self._edges[id(edges)]
        first = self._room(len(plain) + len(rest))
        self._put(first, [*plain, *rest])
        self._put(here, [first, len(plain) // 3, first + len(plain), len(rest) // 3])

    # -- what changes -------------------------------------------------------------------------------------

    def _add_workers(self, workers: int, tokens: Sequence[tuple[int, int]]) -> None:
        constants = max([len(code.constants) for code in self._codes.values()], default=0)
        most = max([step.width for step in self._own.steps], default=0) + constants
        record, records = tc.R_BUFFERS + 2 * self._most_made, MOST if self.is_shared else 1
        depth = 4 * len(self._edges) + 64
        if self.is_shared:  # what Python has called is not called again: nothing may ever be too much
            depth = max(depth, self._own.window * len(self._edges))
        self._set(DEPTH=depth)
        self._add_areas(workers, record, (most, record * records, 3 * depth))
        ring, areas = self._words[tc.RING], self._words[tc.AREAS]
        stack = self._words[areas + tc.W_STACK]
        self._put(stack, [number for edges, buffer in tokens for number in (ring, edges, buffer)])
        self._words[areas + tc.W_HELD] = len(tokens)


def _is_heavy(step: Step) -> bool:
    """Return whether a step may be worth another thread."""
    return step.weight is not Weight.LIGHT or step.flat.kind is Kind.WHOLE


def whole_lines(size: int) -> int:
    """Return the bytes of the lines of the cache in which so many are."""
    return -(-size // LINE) * LINE


def aligned(size: int) -> Any:
    """Return memory at the beginning of a line of the cache."""
    block = np.empty(size + LINE, np.uint8)
    start = -block.ctypes.data % LINE
    return block[start : start + size]


def address_of(memory: Any) -> int:
    """Return where an array is."""
    found: int = memory.__array_interface__["data"][0]
    return found
