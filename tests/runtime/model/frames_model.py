"""A run as a machine whose moves are the beginnings and ends of kernels: the real ``State``, every order of them.

Of threads only this matters to ``State``: how many kernels may be in the middle at once, for each has read its inputs
and not yet given its output. So a move is "somebody begins a kernel that is ready" or "a kernel ends". A kernel may be
many: a batch, the turn of a loop, a loop as one; and what travels may be a bundle, packed or not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from api import (
    EAGER,
    MISSING,
    Arguments,
    BatchParts,
    FirstFailure,
    FlatNode,
    Frame,
    Item,
    Iteration,
    Kind,
    Lowered,
    Plan,
    State,
    Unwanted,
    packed_bundles,
)
from explorer import Explored, explore

#: nodes of a plan that stand for several
JOINED = (Kind.BATCH, Kind.WHOLE)
#: how often a loop that nobody waits for asks, at most, until it is told
ASKED = 3
#: the iterations that a kernel stands in, innermost first, each the number and that of its loop; and its node
Name = tuple[Any, ...]


@dataclass
class Position:
    """A state of a run; never changed, ``copied`` makes another.

    ``busy``: kernels in the middle, and what they have read. ``done``: the names of those that have ended, and
    ``given_up`` of those loops among them that nobody waited for any more. ``parts``: batches that are done in part
    after a failure, and ``rounds``, how often it was gone on with those.
    """

    tokens: State
    ready: list[Item]
    busy: list[tuple[Item, list[Any]]]
    done: frozenset[Name]
    parts: BatchParts
    failure: FirstFailure | None = None
    given_up: frozenset[Name] = frozenset()
    rounds: int = 0


class Told:
    """What a loop that is run as one asks whether it is wanted: it is, ``times`` more times."""

    def __init__(self, times: int) -> None:
        self._left = times

    def __bool__(self) -> bool:
        self._left -= 1
        return self._left < 0


class Model:
    """All runs of a graph.

    Parameters
    ----------
    lowered : Lowered or Plan
        Of the former each kernel is a step.
    feeds : list
    workers : int
        How many kernels can be in the middle at once.
    state : type of State
        What is to be explored.
    """

    def __init__(
        self, lowered: Lowered | Plan, feeds: list[Any], workers: int = 1, state: type[State] = State
    ) -> None:  # fmt: skip
        self.plan = lowered if isinstance(lowered, Plan) else Plan(lowered)
        self.feeds, self.workers, self.state = feeds, workers, state
        self.numbers = {plan: k for k, plan in enumerate(self.plan.frames)}

    def explored(self) -> Explored[Position]:
        return explore(self.start(), self.moves, self.check, self.check_end, self.key, self.look)

    def key(self, at: Position) -> Hashable:
        return at.done, self.names(at), at.given_up, at.rounds

    def start(self) -> Position:
        tokens, ready = self.state(self.plan), []
        tokens.start(list(self.feeds), ready, None)
        return Position(tokens, ready, [], frozenset(), BatchParts(tokens))

    # -- moves --------------------------------------------------------------------------------------------

    def moves(self, at: Position) -> Iterator[tuple[str, Position]]:
        if len(at.busy) < self.workers:
            for k in range(len(at.ready)):
                yield self.begin(at, k)
        for k, (item, _) in enumerate(at.busy):
            yield self.end(at, k)
            if item[1].flat.kind is Kind.WHOLE and at.failure is not None and not at.failure.comes_behind(item):
                for times in range(ASKED):
                    yield self.end(at, k, Told(times))
        if at.failure is not None and not (at.ready or at.busy):
            yield from self.go_on(at)

    def begin(self, at: Position, k: int) -> tuple[str, Position]:
        """A kernel that is ready reads its inputs, as in ``kernels.call``."""
        after = copied(at)
        it, step = item = after.ready.pop(k)
        after.busy.append((item, it.values[step.first : step.last]))
        if step.flat.kind in JOINED:
            it.values[step.first : step.last] = step.blank
        return f"begin {self.told(item)}", after

    def end(self, at: Position, k: int, told: Told | None = None) -> tuple[str, Position]:
        """A kernel that was begun has given its output, or failed, as in ``SharedRun.work``; ``told``: what a loop is
        told that nobody waits for."""
        after = copied(at)
        item, args = after.busy.pop(k)
        it, step = item
        name = self.name(item)
        after.done |= {name}
        try:
            out = called(item, args, told)
        except (ArithmeticError, LookupError, Unwanted) as error:
            failure = FirstFailure(error, it, step).delivered(after.tokens, after.ready, None)
            after.failure = failure if after.failure is None else after.failure.earlier(failure)
            after.given_up |= {name} if isinstance(error, Unwanted) else set()
        else:
            if step.blank:
                it.values[step.first : step.last] = step.blank
            after.tokens.complete(it, step, out, after.ready, None)
        self._keep(after)
        return f"{'end' if told is None else 'give up'} {self.told(item)}", after

    def go_on(self, at: Position) -> Iterator[tuple[str, Position]]:
        """What the thread does that has called a run, when nothing is ready after a failure."""
        after = copied(at)
        assert after.failure is not None
        moved, after.failure = after.parts.go_on(after.failure, after.ready, None)
        after.rounds += 1
        self._keep(after)
        if moved:
            yield "go on", after

    def _keep(self, after: Position) -> None:
        if after.failure is not None:
            ready = _Ready(after.ready)
            after.failure.keep(ready)
            after.ready = list(ready)

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
        self._check_closed(at)

    def check_end(self, at: Position) -> None:
        """Assert what holds when nothing is ready any more."""
        if at.failure is None:
            assert at.tokens.finished, "a token was lost: the run cannot go on"
            assert list(at.tokens.iterations()) == [at.tokens.root], "a frame is left"
            assert not any(value is MISSING for value in at.tokens.results), "a result was lost"

    def _check_closed(self, at: Position) -> None:
        """Assert that a run that is given up here holds nothing any more."""
        tokens = copied(at).tokens
        iterations = list(tokens.iterations())
        frames = {it.frame for it in iterations}
        tokens.close()
        assert not any(it.values or it.children or it.next for it in iterations), "a run that is over holds values"
        assert not any(frame.waiting or hasattr(frame, "oldest") for frame in frames), "a run that is over holds tokens"

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
            (self.path(it), it.outstanding, it.frame.live, seen(it.values), seen(it.frame.template),
             frozenset([(id(edges), *seen([value])) for edges, value in it.frame.waiting]), len(it.frame.waiting))
            for it in at.tokens.iterations()
        ])  # fmt: skip
        ready = frozenset(map(self.name, at.ready))
        read = frozenset([(self.name(item), seen(args)) for item, args in at.busy])
        failed = None if at.failure is None else str(at.failure.error)
        return hash((iterations, ready, read, seen(at.tokens.results), at.tokens.finished, failed))


def called(item: Item, args: list[Any], told: Told | None = None) -> Any:
    """What the kernel of a step gives, which is called as ``kernels.call`` does."""
    _, step = item
    assert step.call is not None
    if step.flat.kind is Kind.BATCH:
        return step.call(args.copy())
    if step.flat.kind is not Kind.WHOLE:
        return step.call(*args)
    given = Arguments(args)
    if told is not None:
        given.unwanted = told  # type: ignore[assignment]
    return step.call(EAGER, given)


def seen(values: Iterable[Any]) -> tuple[Hashable, ...]:
    """Values, so that they can be compared, however they travel."""
    found: list[Hashable] = []
    for value in values:
        value = packed_bundles.unpacked(value)
        if type(value) is tuple:
            found.append(seen(value))
        else:
            found.append((value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value)
    return tuple(found)


class _Ready(list[Item]):
    """What ``FirstFailure.keep`` takes for a deque."""


def copied(at: Position) -> Position:
    """A copy that shares the plan and the values with ``at`` and nothing that changes."""
    tokens = at.tokens
    made: dict[int, Any] = {}
    after = object.__new__(type(tokens))
    vars(after).update(vars(tokens), results=tokens.results.copy(), root=_frame(tokens.root.frame, None, made).oldest)
    parts = BatchParts(after)
    for (it, step), (known, done, gone) in at.parts._known.items():
        if id(it) in made:
            parts._known[made[id(it)], step] = known.copy(), done.copy(), gone.copy()
    return replace(
        at,
        tokens=after,
        ready=[(made[id(it)], step) for it, step in at.ready],
        busy=[((made[id(it)], step), args) for (it, step), args in at.busy],
        parts=parts,
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
