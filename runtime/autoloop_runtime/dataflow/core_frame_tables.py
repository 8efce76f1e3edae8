"""Loops in a loop as words for ``token_core``: their templates, their frames, and where tokens go in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.dataclass import Protocol
from . import token_core as tc
from .core_memory import Buffers, address_of, aligned
from .execution_plan import CONTROL, ENTER, EXIT, INHERIT, MISSING, NEXT, Edges, FramePlan, Plan, Step
from .flat_graph import FlatNode, Kind, Port
from .step_forms import StepCode
from .token_forms import TokenForm

#: words of a run at most, which are copied when it begins: loops in loops in loops may have many iterations
MANY = 1 << 18
#: where loops are in loops in loops: iterations at once of those inside, at most, as there are many of them anyway
NARROW = 4


class Untold(Exception):
    """A loop cannot be told: something is not known of a value, or there may be too many iterations."""


class Order(Protocol):
    """``CriticalPaths``."""

    def behind(self, step: Step) -> tuple[float, float]: ...
    def around(self, frame: int) -> tuple[float, float, float]: ...


class FrameTables(Buffers):
    """What is told of a loop, and of those in it; see ``LoopTables``."""

    def __init__(
        self, plan: Plan, frame: int, codes: Mapping[int, StepCode], forms: Mapping[Port, TokenForm], order: Order
    ) -> None:  # fmt: skip
        super().__init__()
        self.frame, self._own = frame, plan.frames[frame]
        #: how many iterations of the outermost loop there may be at once
        self.window = self._own.window
        self.plan, self._codes, self._forms, self._order = plan, codes, forms, order
        found: dict[FramePlan, list[FlatNode]] = {}
        for node in plan.nodes:
            if node.kind is not Kind.GONE and _is_inside(plan, node.frame, frame):
                found.setdefault(plan.frames[node.frame], []).append(node)
        #: the nodes of each, those around others before them
        self._members = dict(sorted(found.items(), key=lambda one: one[0].number))
        self.inside: dict[FramePlan, list[FramePlan]] = {one: [] for one in self._members}
        for one in self._members:
            if one is not self._own:
                self.inside[plan.frames[plan.parents[one.number]]].append(one)
        depth = max([_depth(plan, one.number, frame) for one in self._members], default=1)
        if depth > tc.DEEP:
            raise Untold
        most = {one: NARROW if depth > 2 and one is not self._own else one.window for one in self._members}
        #: how many iterations there may be at once in one frame of each
        self._windows = {one: min(one.window, most[one]) for one in self._members}
        #: how many frames of each there may be at one time
        self._live: dict[FramePlan, int] = dict.fromkeys(self._members, 0)
        self.forms: dict[Step, list[TokenForm | None]] = {}
        self.inherited = {own: self._inherited(own) for own in self._members}
        self._templates: dict[FramePlan, list[int]] = {}
        self._loops: dict[FramePlan, int] = {}
        self._steps: dict[Step, int] = {}
        self._edges: dict[int, int] = {}
        self._exits: dict[int, int] = {}
        self._todo: list[Edges] = []

    def _all_steps(self) -> list[Step]:
        return [step for own in self._members for step in own.steps]

    def _iterations(self, own: FramePlan) -> int:
        """Return how many iterations of a loop, in all its frames, there may be at one time."""
        return self._live[own] * self._windows[own]

    def _ports(self, own: FramePlan) -> int:
        """Return how many tokens there may be in one iteration of a loop, at most."""
        inside = [node for one in self.inside[own] for node in self._members[one] if node.kind is Kind.EXIT]
        return len(inside) + sum([max(2, node.outputs) for node in self._members[own]])

    # -- values -------------------------------------------------------------------------------------------

    def _cells(self, own: FramePlan) -> list[int]:
        """Return the template: counts, and the buffers of constants, 0 where there is none."""
        template = own.template
        cells = [0] * len(template)
        for step in own.steps:
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

    # -- loops --------------------------------------------------------------------------------------------

    def _inherited(self, own: FramePlan) -> list[tuple[int, TokenForm | None]]:
        """Return the slots of what loops in a loop want, too."""
        found = dict[int, TokenForm | None]()
        for node in self._members[own]:
            if node.constant:
                rest = self.plan.edges_of((node.index, 0)).rest
                found.update([(arg[0], self._forms.get((node.index, 0))) for what, arg in rest if what == INHERIT])
        return list(found.items())

    def _tell_loop(self, own: FramePlan) -> None:
        at, entering = self._loops[own], [node for node in self._members[own] if node.kind is Kind.ENTER]
        behind, rate, trips = self._order.around(own.number)
        kept, tokens, inherits = dict[int, None](), list[int](), list[int]()
        if own is not self._own:
            for node in entering:
                edges, source = self.plan.edges_of((node.index, 0)), self.plan.nodes[node.inputs[0][0]]
                if source.kind is Kind.CONST:
                    tokens += [self._place_of(edges), self._constant(source.value, self._forms.get((node.index, 0)))]
                if node.constant:
                    kept.update(dict.fromkeys([slot for slot, _, _ in edges.plain]))
            kept.update(dict.fromkeys([slot for slot, _ in self.inherited[own]]))
            for slot, edges, is_same in own.inherits:
                inherits += [slot, self._place_of(edges), int(is_same)]
        found = {
            tc.L_WINDOW: self._windows[own], tc.L_CELLS: len(self._templates[own]), tc.L_ENTERING: own.entering,
            tc.L_PLACE: own.place, tc.L_TRIPS: round(trips),
        }  # fmt: skip
        if own is not self._own:
            found |= {tc.L_BEHIND: round(behind), tc.L_RATE: round(rate)}
        for place, those in (
            (tc.L_TOKENS, tokens), (tc.L_INHERITS, inherits), (tc.L_KEPT, list(kept)),
        ):  # fmt: skip
            first = self._room(len(those))
            self._put(first, those)
            found |= {place: first, place + 1: first + len(those)}
        found[tc.L_START] = self._room(len(self._templates[own]))
        self._put(found[tc.L_START], self._templates[own])
        for place, value in found.items():
            self._words[at + place] = value

    def _open(self, own: FramePlan, parent: int) -> int:
        """Make room for a frame, and for those in it; returns where it is. The outermost is open."""
        inside, template = self.inside[own], self._templates[own]
        self._live[own] += 1
        stride = -(-(len(inside) + len(template)) // 8) * 8
        nexts = sum([node.kind is Kind.NEXT_ITERATION for node in self._members[own]])
        at, copy, later = self._room(tc.FRAME), self._room(len(template)), self._room(2 * nexts)
        ring = self._room(stride * self._windows[own]) + len(inside)
        if len(self._words) > MANY:
            raise Untold
        found = {
            tc.F_LOOP: self._loops[own], tc.F_PARENT: parent, tc.F_RING: ring, tc.F_STRIDE: stride,
            tc.F_TEMPLATE: copy, tc.F_LATER: later, tc.F_WINDOW: self._windows[own], tc.F_CELLS: len(template),
        }  # fmt: skip
        for place, value in found.items():
            self._words[at + place] = value
        for k in range(self._windows[own]):
            it = ring + stride * k
            self._words[it + tc.WITHIN] = at
            for number, one in enumerate(inside):
                self._words[it - 1 - number] = self._open(one, it)
        if not parent:
            self._set(ROOT=at)
            self._words[at + tc.F_IS_OPEN] = 1
            self._put(copy, template)
            self._put(ring + tc.VALUES, template[tc.VALUES :])
            self._words[ring + tc.OUTSTANDING] = 1
        return at

    # -- where tokens go ----------------------------------------------------------------------------------

    def _place_of(self, edges: Edges) -> int:
        place = self._edges.get(id(edges))
        if place is None:
            place = self._edges[id(edges)] = self._room(tc.EDGE)
            self._todo.append(edges)
        return place

    def _tell_edges(self, edges: Edges) -> None:
        plain = [number for slot, count, step in edges.plain for number in (slot, count, self._steps[step])]
        rest = [number for what, arg in edges.rest for number in self._crossing(what, arg)]
        here = self._edges[id(edges)]
        first = self._room(len(plain) + len(rest))
        self._put(first, [*plain, *rest])
        self._put(here, [first, len(plain) // 3, first + len(plain), len(rest) // tc.REST])

    def _crossing(self, what: int, arg: Any) -> list[int]:
        """Return where a token goes on that does not wait for a step."""
        if what == NEXT:
            return [tc.NEXT, self._place_of(arg), 0, 0, 0]
        if what == EXIT:
            number = self._exits.get(id(arg))
            return [tc.LEAVE, self._place_of(arg), 0, 0, 0] if number is None else [tc.EXIT, number, 0, 0, 0]
        if what == CONTROL:
            return [tc.CONTROL, arg[0], self._steps[arg[1]], 0, 0]
        if what == ENTER:
            child, edges, is_same = arg
            return [tc.ENTER, self._number(child), self._place_of(edges), int(is_same), 0]
        if what == INHERIT:
            slot, child, edges, is_same = arg
            return [tc.INHERIT, self._number(child), self._place_of(edges), int(is_same), slot]
        raise Untold

    def _number(self, child: FramePlan) -> int:
        return self.inside[self.plan.frames[self.plan.parents[child.number]]].index(child)


def _depth(plan: Plan, frame: int, outer: int) -> int:
    """Return how many frames there are from one to another that it is in, both included."""
    return 1 if frame == outer else 1 + _depth(plan, plan.parents[frame], outer)


def _is_inside(plan: Plan, frame: int, outer: int) -> bool:
    """Return whether a frame is another, or in it."""
    while frame > outer:
        frame = plan.parents[frame]
    return frame == outer
