"""One control-flow graph per function, and what is live, unset or set at each of its points.

Names are bits of Python integers, so a whole set of variables moves through the graph in one operation.
The graph is built once from the lowered tree and solved once; the rewriting only asks questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import gast
from autoloop_runtime.base.dataclass import dataclass, field

from .nodes import Node, method_name
from .scopes import Effects, effects_of

Point = int


@dataclass
class _Step:
    """One point of the graph: a simple statement, a test, or an empty mark."""

    reads: int = 0
    writes: int = 0
    kills: int = 0
    deletes: int = 0
    next: list[Point] = field(default_factory=list)
    on_error: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Flow:
    """The solved graph of one function.

    Attributes
    ----------
    bits : dict
        The bit of each tracked variable.
    before, after : dict
        Statement (by id) to the points where it begins and ends.
    blocks : dict
        ``(statement id, field)`` to the point where that block begins.
    heads : dict
        Loop (by id) to the point where its test is asked or its next element taken.
    errors : dict
        Loop or branch (by id) to the points where an exception that leaves it may be caught.
    live, unset, ever_set : tuple of int
        Per point: names whose value may still be read, names that may have no value, names that may.
    effects : dict
        Statement, test, target or iterable (by id) to what it does.
    """

    bits: dict[str, int]
    before: dict[int, Point]
    after: dict[int, Point]
    blocks: dict[tuple[int, str], Point]
    heads: dict[int, Point]
    errors: dict[int, tuple[Point, ...]]
    live: tuple[int, ...]
    unset: tuple[int, ...]
    ever_set: tuple[int, ...]
    effects: dict[int, Effects]

    def live_at(self, point: Point, names: Iterable[str]) -> frozenset[str]:
        """Return those of some names whose value may still be read after a point."""
        return self._among(names, self.live[point])

    def unset_at(self, point: Point, names: Iterable[str]) -> frozenset[str]:
        """Return those of some names that may be without a value at a point."""
        return self._among(names, self.unset[point])

    def set_at(self, point: Point, names: Iterable[str]) -> frozenset[str]:
        """Return those of some names that may have a value at a point."""
        return self._among(names, self.ever_set[point])

    def _among(self, names: Iterable[str], bits: int) -> frozenset[str]:
        return frozenset(name for name in names if bits & self.bits.get(name, 0))

    def effects_of(self, node: Node) -> Effects:
        """Return what a node does; what the graph was built from is not looked through again."""
        known = self.effects.get(id(node))
        return effects_of(node) if known is None else known


def analyse(
    body: Sequence[Node],
    names: Sequence[str],
    params: Iterable[str],
    until: dict[int, tuple[str, ...]],
    swallows: Callable[[Node], bool],
) -> Flow:
    """Build and solve the control-flow graph of one function.

    Parameters
    ----------
    body : list of node
        The lowered statements.
    names : sequence of str
        The variables to track.
    params : iterable of str
        Those that have a value on entry.
    until : dict
        Loop (by id) to the flags its end depends on.
    swallows : callable
        Whether a ``with`` statement may swallow exceptions.
    """
    builder = _Builder(names, until, swallows)
    start = builder.point()
    ends = builder.block(body, [start])
    builder.link(ends, builder.exit)
    set_on_entry = builder.mask(params)
    order = _reverse_postorder(builder.steps)
    return Flow(
        bits=builder.bits,
        before=builder.before,
        after=builder.after,
        blocks=builder.blocks,
        heads=builder.heads,
        errors=builder.errors,
        live=_solve_live(builder.steps),
        unset=_solve_forward(builder.steps, order, builder.everything & ~set_on_entry, _unset_after),
        ever_set=_solve_forward(builder.steps, order, set_on_entry, _set_after),
        effects=builder.effects,
    )


class _Builder:
    """Builds the graph: each method takes the points control comes from and returns where it goes on."""

    def __init__(
        self, names: Sequence[str], until: dict[int, tuple[str, ...]], swallows: Callable[[Node], bool]
    ) -> None:
        self.bits = {name: 1 << index for index, name in enumerate(names)}
        self.everything = (1 << len(names)) - 1
        self.until = until
        self.swallows = swallows
        self.steps: list[_Step] = []
        self.before: dict[int, Point] = {}
        self.after: dict[int, Point] = {}
        self.blocks: dict[tuple[int, str], Point] = {}
        self.heads: dict[int, Point] = {}
        self.errors: dict[int, tuple[Point, ...]] = {}
        self.effects: dict[int, Effects] = {}
        self.handlers: tuple[Point, ...] = ()
        self.loops: list[tuple[Point, Point]] = []  # (where continue goes, where break goes)
        self.finals: list[tuple[Point, int]] = []  # (a finally block, how many loops are around it)
        self.exit = self.point()

    def point(self, effects: Effects | None = None) -> Point:
        step = _Step(on_error=self.handlers)
        if effects is not None:
            step.reads = self.everything if effects.reads_frame else self.mask(effects.reads)
            step.writes = self.mask(effects.writes)
            step.kills = self.mask(effects.kills)
            step.deletes = self.mask(effects.deletes)
        self.steps.append(step)
        return len(self.steps) - 1

    def mask(self, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            mask |= self.bits.get(name, 0)
        return mask

    def of(self, node: Node) -> Effects:
        """Return what a node does, and file it for those who ask later."""
        effects = self.effects[id(node)] = effects_of(node)
        return effects

    def link(self, sources: Iterable[Point], target: Point) -> None:
        for source in sources:
            self.steps[source].next.append(target)

    def step(self, sources: Iterable[Point], effects: Effects | None = None) -> Point:
        point = self.point(effects)
        self.link(sources, point)
        return point

    def block(self, statements: Sequence[Node], sources: list[Point]) -> list[Point]:
        for statement in statements:
            begin = self.step(sources)
            self.before[id(statement)] = begin
            method = getattr(self, method_name(statement.__class__), self._simple)
            end = self.step(method(statement, [begin]))
            self.after[id(statement)] = end
            sources = [end]
        return sources

    def _branch(self, owner: Node, name: str, statements: Sequence[Node], source: Point) -> list[Point]:
        begin = self.step([source])
        self.blocks[id(owner), name] = begin
        return self.block(statements, [begin])

    def _simple(self, statement: Node, sources: list[Point]) -> list[Point]:
        return [self.step(sources, self.of(statement))]

    def _return(self, statement: Node, sources: list[Point]) -> list[Point]:
        self._jump(self.step(sources, self.of(statement)), self.exit, 0)
        return []

    def _raise(self, statement: Node, sources: list[Point]) -> list[Point]:
        self.step(sources, self.of(statement))
        return []

    def _break(self, statement: Node, sources: list[Point]) -> list[Point]:
        self._jump(sources[0], self.loops[-1][1], len(self.loops))
        return []

    def _continue(self, statement: Node, sources: list[Point]) -> list[Point]:
        self._jump(sources[0], self.loops[-1][0], len(self.loops))
        return []

    def _jump(self, source: Point, target: Point, loops: int) -> None:
        """Go to ``target``, through the ``finally`` blocks on the way."""
        for final, depth in reversed(self.finals):
            if depth < loops:
                break
            self.link([source], final)
            source = self.after[final]
        self.link([source], target)

    def _if(self, statement: Node, sources: list[Point]) -> list[Point]:
        self.errors[id(statement)] = self.handlers
        test = self.step(sources, self.of(statement.test))
        ends = self._branch(statement, "body", statement.body, test)
        return ends + self._branch(statement, "orelse", statement.orelse, test)

    def _while(self, statement: Node, sources: list[Point]) -> list[Point]:
        return self._loop(statement, sources, None)

    def _for(self, statement: Node, sources: list[Point]) -> list[Point]:
        sources = [self.step(sources, self.of(statement.iter))]
        return self._loop(statement, sources, self.of(statement.target))

    def _loop(self, statement: Node, sources: list[Point], target: Effects | None) -> list[Point]:
        self.errors[id(statement)] = self.handlers
        flags = Effects(reads=set(self.until.get(id(statement), ())))
        head = self.step(sources, flags)
        self.heads[id(statement)] = head
        test = head if target is not None else self.step([head], self.of(statement.test))
        leave = self.point()
        self.loops.append((head, leave))
        taken = test if target is None else self.step([test], target)
        self.link(self._branch(statement, "body", statement.body, taken), head)
        self.loops.pop()
        if target is None and isinstance(statement.test, gast.Constant) and statement.test.value:
            # `while True` ends by its flags only; they are asked at the head.
            ended = [head] if flags.reads else []
        else:
            ended = [test, head] if flags.reads else [test]
        ends = [end for one in ended for end in self._branch(statement, "orelse", statement.orelse, one)]
        self.link(ends, leave)
        return [leave]

    def _with(self, statement: Node, sources: list[Point]) -> list[Point]:
        enter = self.step(sources, effects_of(*statement.items))
        if not self.swallows(statement):
            return self._branch(statement, "body", statement.body, enter)
        caught = self.point()
        outer = self.handlers
        self.handlers = (caught, *outer)
        ends = self._branch(statement, "body", statement.body, enter)
        self.handlers = outer
        return [*ends, caught]

    def _try(self, statement: Node, sources: list[Point]) -> list[Point]:
        outer = self.handlers
        final = self._final(statement) if statement.finalbody else None
        with_final = (final, *outer) if final is not None else outer
        dispatch = self.point()
        if final is not None:
            self.finals.append((final, len(self.loops)))
        self.handlers = (dispatch, *with_final) if statement.handlers else with_final
        ends = self._branch(statement, "body", statement.body, sources[0])
        self.handlers = with_final
        ends = self.block(statement.orelse, ends)
        for handler in statement.handlers:
            handled = self._handler(handler, dispatch)
            if isinstance(statement, gast.TryStar):
                self.link(handled, dispatch)  # the next one may take the rest of the group
            ends += handled
        self.handlers = outer
        if final is None:
            return ends
        self.finals.pop()
        self.link(ends, final)
        return [self.after[final]]

    _trystar = _try

    def _final(self, statement: Node) -> Point:
        """Build a ``finally`` block; the point after it is filed under its own number."""
        begin = self.point()
        ends = self.block(statement.finalbody, [begin])
        # Its end also leads out again, with the exception or jump that brought control here.
        self.after[begin] = self.step(ends)
        self.link([self.after[begin]], self.exit)
        return begin

    def _handler(self, handler: Node, dispatch: Point) -> list[Point]:
        effects = effects_of(handler.type) if handler.type is not None else Effects()
        if handler.name is not None:
            effects.writes.add(handler.name.id)
            effects.kills.add(handler.name.id)
        begin = self.step([dispatch], effects)
        ends = self._branch(handler, "body", handler.body, begin)
        if handler.name is None:
            return ends
        name = handler.name.id
        return [self.step(ends, Effects(writes={name}, deletes={name}))]

    def _match(self, statement: Node, sources: list[Point]) -> list[Point]:
        source = self.step(sources, effects_of(statement.subject))
        ends: list[Point] = []
        for case in statement.cases:
            effects = effects_of(case.pattern)
            effects.kills.clear()
            matched = self.step([source], effects)
            bound = effects_of(case.pattern)
            inside = self.step([matched], Effects(writes=bound.writes, kills=bound.writes))
            if case.guard is not None:
                inside = self.step([inside], effects_of(case.guard))
            ends += self._branch(case, "body", case.body, inside)
            wildcard = isinstance(case.pattern, gast.MatchAs) and case.pattern.pattern is None
            if wildcard and case.guard is None:
                return ends
            source = self.step([source, matched, inside])
        return [*ends, source]


def _solve_live(steps: Sequence[_Step]) -> tuple[int, ...]:
    """Solve backwards: a name is live if some path reads it before setting it."""
    live = [0] * len(steps)
    changed = True
    while changed:
        changed = False
        for point in range(len(steps) - 1, -1, -1):
            step = steps[point]
            after = 0
            for target in step.next:
                after |= live[target]
            value = step.reads | after & ~step.kills
            for target in step.on_error:
                value |= live[target]
            if value != live[point]:
                live[point] = value
                changed = True
    return tuple(live)


def _unset_after(step: _Step, value: int) -> int:
    return value & ~step.kills | step.deletes


def _set_after(step: _Step, value: int) -> int:
    return (value | step.writes) & ~(step.deletes & ~step.kills)


def _solve_forward(
    steps: Sequence[_Step], order: Sequence[Point], on_entry: int, transfer: Callable[[_Step, int], int]
) -> tuple[int, ...]:
    """Solve forwards: union over the paths that lead to a point."""
    values = [0] * len(steps)
    values[order[0]] = on_entry
    waiting = [True] * len(steps)
    changed = True
    while changed:
        changed = False
        for point in order:
            if not waiting[point]:
                continue
            waiting[point] = False
            step, before = steps[point], values[point]
            after = transfer(step, before)
            for target in step.next:
                if after & ~values[target]:
                    values[target] |= after
                    waiting[target] = changed = True
            # An exception may come before or after the statement has taken effect.
            for target in step.on_error:
                if (after | before) & ~values[target]:
                    values[target] |= after | before
                    waiting[target] = changed = True
    return tuple(values)


def _reverse_postorder(steps: Sequence[_Step]) -> list[Point]:
    """Return the points that can be reached, each before those it leads to but for the ways back of loops."""
    start = 1  # point 0 is the exit
    seen = {start}
    done: list[Point] = []
    path = [(start, iter((*steps[start].next, *steps[start].on_error)))]
    while path:
        point, targets = path[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                path.append((target, iter((*steps[target].next, *steps[target].on_error))))
                break
        else:
            done.append(point)
            path.pop()
    return done[::-1]
