"""A run as a machine whose moves are the beginnings and ends of kernels: the real ``State``, every order of them.

Of threads only this matters to ``State``: how many kernels may be in the middle at once, for each has read its inputs
and not yet given its output. So a move is "somebody begins a kernel that is ready" or "a kernel ends".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from api import MISSING, FirstFailure, FlatNode, Frame, Item, Iteration, Lowered, Plan, State
from explorer import Explored, explore

#: the iterations that a kernel stands in, innermost first, each the number and that of its loop; and its node
Name = tuple[Any, ...]


@dataclass
class Position:
    """A state of a run; never changed, ``moved`` copies it.

    ``busy``: kernels in the middle, and what they have read. ``done``: the names of those that have ended.
    """

    tokens: State
    ready: list[Item]
    busy: list[tuple[Item, list[Any]]]
    done: frozenset[Name]
    failure: FirstFailure | None = None


class Model:
    """All runs of a graph.

    Parameters
    ----------
    lowered : Lowered
    feeds : list
    workers : int
        How many kernels can be in the middle at once.
    state : type of State
        What is to be explored.
    """

    def __init__(self, lowered: Lowered, feeds: list[Any], workers: int = 1, state: type[State] = State) -> None:
        self.plan, self.feeds, self.workers, self.state = Plan(lowered), feeds, workers, state
        self.numbers = {plan: k for k, plan in enumerate(self.plan.frames)}

    def explored(self) -> Explored[Position]:
        return explore(
            self.start(), self.moves, self.check, self.check_end, lambda p: (p.done, self.names(p)), self.look
        )

    def start(self) -> Position:
        tokens, ready = self.state(self.plan), []
        tokens.start(list(self.feeds), ready, None)
        return Position(tokens, ready, [], frozenset())

    # -- moves --------------------------------------------------------------------------------------------

    def moves(self, at: Position) -> Iterator[tuple[str, Position]]:
        if len(at.busy) < self.workers:
            for k in range(len(at.ready)):
                yield self.begin(at, k)
        for k in range(len(at.busy)):
            yield self.end(at, k)

    def begin(self, at: Position, k: int) -> tuple[str, Position]:
        """A kernel that is ready reads its inputs, as in ``kernels.call``."""
        after = copied(at)
        it, step = item = after.ready.pop(k)
        after.busy.append((item, it.values[step.first : step.last]))
        return f"begin {self.told(item)}", after

    def end(self, at: Position, k: int) -> tuple[str, Position]:
        """A kernel that was begun has given its output, or failed, as in ``SharedRun.work``."""
        after = copied(at)
        item, args = after.busy.pop(k)
        it, step = item
        told = self.told(item)
        after.done |= {self.name(item)}
        try:
            out = step.call(*args)
        except ArithmeticError as error:
            failure = FirstFailure(error, it, step)
            after.failure = failure if after.failure is None else after.failure.earlier(failure)
        else:
            if step.blank:
                it.values[step.first : step.last] = step.blank
            after.tokens.complete(it, step, out, after.ready, None)
        if after.failure is not None:
            ready = _Ready(after.ready)
            after.failure.keep(ready)
            after.ready = list(ready)
        return f"end {told}", after

    # -- what must hold -----------------------------------------------------------------------------------

    def check(self, at: Position) -> None:
        """Assert what holds in every state."""
        under_way = [*at.ready, *[item for item, _ in at.busy]]
        names = [self.name(item) for item in under_way]
        assert len(set(names)) == len(names), "a token was doubled: a kernel is ready twice"
        assert not at.done & set(names), "a token was doubled: a kernel that has run is ready again"
        if at.failure is None:
            there = {id(it) for it in at.tokens.iterations()}
            assert all(id(it) in there for it, _ in under_way), "a kernel is ready in an iteration that is over"
            self._check_counts(at, under_way)
            assert not (at.tokens.finished and under_way), "finished too early"

    def check_end(self, at: Position) -> None:
        """Assert what holds when nothing is ready any more."""
        if at.failure is None:
            assert at.tokens.finished, "a token was lost: the run cannot go on"
            assert list(at.tokens.iterations()) == [at.tokens.root], "a frame is left"
            assert not any(value is MISSING for value in at.tokens.results), "a result was lost"

    def _check_counts(self, at: Position, under_way: list[Item]) -> None:
        for it in at.tokens.iterations():
            frame = it.frame
            mine = sum(other is it for other, _ in under_way)
            assert it.outstanding >= mine + len(it.children), "less is outstanding than is under way"
            if it.index:
                assert it.outstanding == mine + len(it.children), "more is outstanding than is under way"
            if it is frame.oldest and it.frame.parent is not None:
                assert it.outstanding, "an iteration that is over was kept"
                chain = [it]
                while chain[-1].next is not None:
                    chain.append(chain[-1].next)
                assert chain[-1] is frame.newest and len(chain) == frame.live
                assert [one.index for one in chain] == list(range(it.index, it.index + len(chain)))
                assert frame.live <= frame.plan.window, "more iterations than the window"
                assert not frame.waiting or frame.live == frame.plan.window, "a token waits for no reason"
            for step in frame.plan.steps:
                if step.blank and self.name((it, step)) in at.done:
                    held = it.values[step.first : step.last]
                    assert all(value is None for value in held), "a value is kept after its last use"

    def order(self, name: Name) -> Name:
        """What is less for a kernel that plain Python would come to earlier."""
        path, node = name
        found = [node]
        for index, loop in zip(path[:-2:2], path[1:-2:2]):
            found += [index, min([step.flat.index for step in self.plan.frames[loop].steps])]
        return tuple(found[::-1])

    # -- names --------------------------------------------------------------------------------------------

    def path(self, it: Iteration) -> Name:
        found: list[Any] = []
        here: Iteration | None = it
        while here is not None:
            frame = here.frame
            found += (here.index, self.numbers[frame.plan])
            here = frame.parent
        return tuple(found)

    def node(self, name: Name) -> FlatNode:
        return self.plan.nodes[name[1]]

    def name(self, item: Item) -> Name:
        return (self.path(item[0]), item[1].flat.index)

    def names(self, at: Position) -> frozenset[Name]:
        """The kernels that are in the middle."""
        return frozenset([self.name(item) for item, _ in at.busy])

    def told(self, item: Item) -> str:
        return f"{item[1].flat.name}{list(self.path(item[0])[-4::-2])}"

    def look(self, at: Position) -> Hashable:
        """What tells states apart by all there is in them, but for the order in which it came there."""
        iterations = frozenset([
            (self.path(it), it.outstanding, it.frame.live, tuple(it.values), tuple(it.frame.template),
             frozenset([(id(edges), value) for edges, value in it.frame.waiting]), len(it.frame.waiting))
            for it in at.tokens.iterations()
        ])  # fmt: skip
        ready = frozenset(map(self.name, at.ready))
        read = frozenset([(self.name(item), tuple(args)) for item, args in at.busy])
        failed = None if at.failure is None else str(at.failure.error)
        return hash((iterations, ready, read, tuple(at.tokens.results), at.tokens.finished, failed))


class _Ready(list[Item]):
    """What ``FirstFailure.keep`` takes for a deque."""


def copied(at: Position) -> Position:
    """A copy that shares the plan and the values with ``at`` and nothing that changes."""
    tokens = at.tokens
    made: dict[int, Any] = {}
    after = object.__new__(type(tokens))
    vars(after).update(vars(tokens), results=tokens.results.copy(), root=_frame(tokens.root.frame, None, made).oldest)
    return Position(
        after,
        [(made[id(it)], step) for it, step in at.ready],
        [((made[id(it)], step), args) for (it, step), args in at.busy],
        at.done,
        at.failure,
    )


def _frame(frame: Frame, parent: Iteration | None, made: dict[int, Any]) -> Frame:
    """A copy of a frame and all in it; ``made`` gets its iterations."""
    after = _shallow(frame)
    after.parent, after.template, after.waiting = parent, frame.template.copy(), frame.waiting.copy()
    before: Iteration | None = frame.oldest
    last = None
    while before is not None:
        it = made[id(before)] = _shallow(before)
        it.frame, it.values = after, before.values.copy()
        it.children = {plan: _frame(child, it, made) for plan, child in before.children.items()}
        if last is None:
            after.oldest = it
        else:
            last.next = it
        after.newest = last = it
        before = before.next
    return after


def _shallow(value: Any) -> Any:
    made = object.__new__(type(value))
    for name in type(value).__slots__:
        setattr(made, name, getattr(value, name))
    return made
