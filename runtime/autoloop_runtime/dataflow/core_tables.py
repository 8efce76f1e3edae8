"""The tables of a loop, and of those in it, for ``token_core``: those of ``execution_plan``, as words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.weight import Weight
from . import token_core as tc
from .core_calls import UNKNOWN, CalledStep
from .core_frame_tables import MANY, FrameTables, Order, Untold
from .core_memory import whole_lines
from .core_workers import MOST
from .execution_plan import CONTROL, INHERIT, Plan, Step
from .flat_graph import FlatNode, Kind, Port
from .loops_alone import enters
from .step_forms import StepCode
from .token_forms import TokenForm

#: nanoseconds for which a worker looks for work before it leaves, and works before it comes back
SPIN, SLICE = 60_000, 500_000
#: what does as ``core_workers.core``, given the address of the words
Enter = Callable[[int, int, int, int, int], int]


class LoopTables(FrameTables):
    """The words with which a run of a loop begins, and what is to be added.

    Parameters
    ----------
    plan : Plan
    frame : int
        That of the loop; those in it are told, too.
    codes : mapping of int to StepCode
        By node; kernels that have none are called by Python.
    forms : mapping of Port to TokenForm
        Of what is carried by tokens of the loop.
    order : Order
        Tells how much is left behind a step, or a loop.
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
    inherited : dict of FramePlan to list of (int, TokenForm or None)
        The slots of what loops in it want, too, and that is the same in every iteration.
    inside : dict of FramePlan to list of FramePlan
        The loops in each loop.
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
        self, plan: Plan, frame: int, codes: Mapping[int, StepCode], forms: Mapping[Port, TokenForm], order: Order,
        workers: int,
    ) -> None:  # fmt: skip
        super().__init__(plan, frame, codes, forms, order)
        #: Python calls some of the kernels
        self.is_shared = any(step.call is not None and step.flat.index not in codes for step in self._all_steps())
        members = self._members[self._own]
        exits = [node for node in members if node.kind is Kind.EXIT]
        self._exits = {id(plan.edges_of((node.index, 0))): k for k, node in enumerate(exits)}
        self.called: dict[int, CalledStep] = {}
        self.entering: list[TokenForm | None] = []
        self._set(SPIN=SPIN, SLICE=SLICE)
        self.leaving = [forms.get((node.index, 0)) for node in exits]
        self._tell(enters(members), workers)
        following = [
            (node.index, 0) for those in self._members.values() for node in those if node.kind is Kind.NEXT_ITERATION
        ]
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
        self._loops = {own: self._room(tc.LOOP) for own in self._members}
        for step in self._all_steps():
            self._steps[step] = self._room(tc.STEP)
        self._templates = {own: [0] * tc.VALUES + self._cells(own) for own in self._members}
        tokens = self._enter(starts)
        for own in self._members:
            self._tell_loop(own)
            for step in own.steps:
                self._tell_step(step)
        while self._todo:
            self._tell_edges(self._todo.pop())
        first = self._words[self._open(self._own, 0) + tc.F_RING]
        heavy = self._most_ready(_is_heavy)
        light = 1 << self._most_ready(lambda step: step.call is not None and not _is_heavy(step)).bit_length()
        self._set(LIGHT=self._room(tc.ITEM * light), MASK=light - 1)
        self._set(CALLED=self._room(tc.ITEM * light) if self.is_shared else self._words[tc.LIGHT])
        self._set(HEAVY=self._room(tc.ITEM * (heavy + 1)), RESULTS=self._room(len(self.leaving)))
        # each is in a slot of an iteration, or on its way, or leaves the loop, or is what a worker has
        slots = len(self._edges) + len(self.leaving)
        for own, count in self._live.items():
            width = sum([step.width for step in own.steps]) + len(self.inherited[own])
            nexts = sum([node.kind is Kind.NEXT_ITERATION for node in self._members[own]])
            slots += count * ((self._windows[own] + 1) * width + nexts)
        self._most_made = max([len(one.outputs) + 1 for one in self.called.values()], default=0)
        self._add_buffers(slots + workers * MOST * self._most_made)
        self._add_workers(workers, first, tokens)
        if len(self._words) > MANY:
            raise Untold

    def _most_ready(self, is_one: Callable[[Step], bool]) -> int:
        """Return how many kernels of some steps may be ready at one time."""
        return sum([self._iterations(own) * sum(map(is_one, own.steps)) for own in self._members])

    # -- values -------------------------------------------------------------------------------------------

    def _enter(self, starts: Sequence[list[FlatNode]]) -> list[tuple[int, int]]:
        """Let what a run is given enter; returns the tokens of variables: where they go, and their buffers."""
        tokens, template = list[tuple[int, int]](), self._templates[self._own]
        for k, those in enumerate(starts):
            form: TokenForm | None = None
            for node in those:
                form = self._forms.get((node.index, 0), form)
                edges = self.plan.edges_of((node.index, 0))
                if not node.constant:
                    tokens.append((self._place_of(edges), k + 1))
                    continue
                for slot, count, _ in edges.plain:
                    template[tc.VALUES + slot] = k + 1
                    template[tc.VALUES + count] -= 1
                for what, arg in edges.rest:
                    if what == INHERIT:
                        template[tc.VALUES + arg[0]] = k + 1
                    elif what == CONTROL:
                        template[tc.VALUES + arg[0]] -= 1
                    else:
                        raise Untold
            self.entering.append(form)
        return tokens

    # -- steps --------------------------------------------------------------------------------------------

    def _tell_step(self, step: Step) -> None:
        at = self._steps[step]
        found = {tc.S_FIRST: step.first, tc.S_WIDTH: step.width, tc.S_COUNT: step.count, tc.S_OTHERWISE: -1}
        given = self._given(step)
        if step.call is None:
            found[tc.S_EDGES] = self._place_of(step.edges)
            if step.otherwise is not None:
                if given[1] is None:
                    raise Untold
                found[tc.S_OTHERWISE] = self._place_of(step.otherwise)
        else:
            code = self._codes.get(step.flat.index)
            outs = [(step.flat.index, k) for k in range(len(step.outs or (0,)))]
            forms = list(map(self._forms.get, outs)) if code is None else list(code.outputs)
            called = self.called[at] = CalledStep(step, given, forms, code is not None)
            left, rate = self._order.behind(step)
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
            self._put(at + tc.OUT * k, [self._place_of(edges), self._class(size, self._windows[step.frame]), side])
        if decides:
            self._words[at + tc.OUT * len(outs) + tc.O_CLASS] = self._class(1, self._windows[step.frame])
        return at

    # -- what changes -------------------------------------------------------------------------------------

    def _add_workers(self, workers: int, first: int, tokens: Sequence[tuple[int, int]]) -> None:
        constants = max([len(code.constants) for code in self._codes.values()], default=0)
        most = max([step.width for step in self._all_steps()], default=0) + constants
        record, records = tc.R_BUFFERS + 2 * self._most_made, MOST if self.is_shared else 1
        depth = 4 * len(self._edges) + 64
        if self.is_shared:  # what Python has called is not called again: nothing may ever be too much
            depth = max(depth, sum([self._iterations(own) * self._ports(own) for own in self._members]))
        self._set(DEPTH=depth)
        later = sum(
            [self._live[own] * (own.entering + len(own.inherits) + self._windows[own] + 2) for own in self._members]
        )
        self._add_areas(workers, record, (most, record * records, 3 * depth, later))
        areas = self._words[tc.AREAS]
        stack = self._words[areas + tc.W_STACK]
        self._put(stack, [number for edges, buffer in tokens for number in (first, edges, buffer)])
        self._words[areas + tc.W_HELD] = len(tokens)


def _is_heavy(step: Step) -> bool:
    """Return whether a step may be worth another thread."""
    return step.weight is not Weight.LIGHT or step.flat.kind is Kind.WHOLE
