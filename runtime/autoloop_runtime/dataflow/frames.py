"""Frames, iterations and tokens: the state of a run, without threads.

``State.deliver`` takes what a kernel gave and moves the tokens as far as they go without another kernel:
through Switch, Merge, NextIteration, Enter and Exit, into new iterations and out of finished frames. Kernels
whose inputs are then complete are put on the lists that the caller gave. The caller decides who runs them,
and, if there are several threads, holds the run's lock around every method of this file.

Deadness. In the model of the books a Switch sends a *dead* token down the side that is not taken; it kills every
node on its way to the Merge where the branches meet, or to the Exit of a loop that never ran. Since every
node inside a branch has an input that comes from the branch's Switch (lowering sees to that), "has a dead
input" is the same as "gets no token", and nothing needs to be sent: an untaken branch, with the loops in it,
costs nothing. No other node could be waiting for it: the Merge takes the side that is taken, and a frame
or iteration ends when nothing of it is *outstanding*, not when each of its nodes has been visited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..analysis.weight import ELEMENTS, Weight
from ..base.dataclass import Protocol
from ..ir.graph import Node
from .execution_plan import CONTROL, ENTER, EXIT, FETCH, INHERIT, MISSING, NEXT, Edges, FramePlan, Plan, Step
from .flat_graph import Port

#: a kernel to run: its iteration and its step
Item = tuple["Iteration", Step]
HEAVY = Weight.HEAVY


class Ready(Protocol):
    """Where ready kernels are put."""

    def append(self, item: Item, /) -> None: ...


class Frame:
    """One execution of a loop, for one iteration of the frame around it.

    Attributes
    ----------
    parent : Iteration or None
        The iteration it was entered from; ``None`` for the outermost frame.
    template : list
        What a new iteration starts with: the plan's template and the invariants that have come.
    oldest, newest : Iteration
        The ends of the chain of live iterations; they follow each other through ``Iteration.next``.
    live : int
        The number of live iterations, at most ``plan.window``.
    waiting : list of (Edges, value)
        Tokens for the iteration after ``newest``, kept while the window is full.
    """

    __slots__ = ("live", "newest", "oldest", "parent", "plan", "template", "waiting", "window")

    def __init__(self, plan: FramePlan, parent: Iteration | None) -> None:
        self.plan = plan
        self.parent = parent
        self.window = plan.window
        self.template = plan.template.copy()
        self.waiting: list[tuple[Edges, Any]] = []
        self.live = 0
        self.oldest: Iteration
        self.newest: Iteration


class Iteration:
    """One iteration of a frame.

    Attributes
    ----------
    values : list
        Input slots and counts of missing inputs, see ``plan``.
    outstanding : int
        What is under way in it: kernels ready or running, open child frames, and in iteration 0 the tokens that
        have not entered yet. At 0, and when it is the oldest, nothing can happen in it any more.
    next : Iteration or None
        The iteration after it, once begun.
    children : dict of FramePlan to Frame
        The frames opened from it that have not ended.
    """

    __slots__ = ("children", "frame", "index", "next", "outstanding", "values")

    def __init__(self, frame: Frame, index: int) -> None:
        self.frame = frame
        self.index = index
        self.values = frame.template.copy()
        self.outstanding = 0
        self.next: Iteration | None = None
        self.children: dict[FramePlan, Frame] = {}


class State:
    """Everything that changes during one run.

    Parameters
    ----------
    plan : Plan
    light, heavy : list-like
        Where ready kernels go at the start; ``complete`` gets them per call.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.results: list[Any] = plan.fetched.copy()
        self.finished = False
        frame = Frame(plan.root, None)
        self.root = frame.oldest = frame.newest = Iteration(frame, 0)
        frame.live = 1

    def start(self, feeds: list[Any], light: Ready, heavy: Ready | None) -> None:
        """Send off the fed values and the steps that wait for nothing."""
        root = self.root
        root.outstanding = 1 + len(feeds)
        for edges, value in zip(self.plan.feeds, feeds):
            self.deliver(root, [(root, edges, value)], light, heavy)
        stack: list[tuple[Iteration, Edges, Any]] = []
        for step in self.plan.starters:
            self._arrived(root, step, stack, light, heavy)
        self.deliver(root, stack, light, heavy)

    def close(self) -> None:
        """Let go of everything at once, wherever the run has ended (a frame and its iterations refer to each other)."""
        left = [self.root] if self.finished else list(self.iterations())
        for it in left:
            it.values = []
            it.children.clear()
            it.next = None
        for frame in {it.frame for it in left}:
            frame.waiting = []
            del frame.oldest, frame.newest

    # -- the hot path -------------------------------------------------------------------------------------

    def complete(self, it: Iteration, step: Step, out: Any, light: Ready, heavy: Ready | None) -> None:
        """Deliver ``out``, which the kernel of ``step`` gave in iteration ``it``; what is ``MISSING`` is dead.

        Parameters
        ----------
        light, heavy : list-like
            Where the kernels that became ready go; with ``heavy=None`` all go to ``light``.
        """
        if step.outs is None:
            self.deliver(it, [(it, step.edges, out)], light, heavy)
        else:
            made = [(it, e, value) for e, value in zip(step.outs, out, strict=True) if value is not MISSING]
            self.deliver(it, made, light, heavy)

    def deliver(
        self, it: Iteration, stack: list[tuple[Iteration, Edges, Any]], light: Ready, heavy: Ready | None
    ) -> None:
        """Deliver the tokens on ``stack`` and all that follows; then ``it`` has one thing less outstanding.

        Long, because it is the inner loop of everything: a call per token would double its cost.
        """
        settle = [it]  # iterations to count down once every token is where it belongs
        while True:
            while stack:
                it, edges, value = stack.pop()
                values = it.values
                for slot, count, step in edges.plain:
                    values[slot] = value
                    missing = values[count] - 1
                    if missing:
                        values[count] = missing
                    elif step.call is None:
                        first = step.first
                        token = values[first]
                        values[first] = None
                        otherwise = step.otherwise
                        if otherwise is None or values[first + 1]:
                            stack.append((it, step.edges, token))
                        else:
                            stack.append((it, otherwise, token))
                    else:
                        it.outstanding += 1
                        ready = heavy if heavy is not None and step.weight and _is_heavy(step, values) else light
                        ready.append((it, step))
                for what, arg in edges.rest:
                    if what == NEXT:
                        following = it.next
                        if following is None:
                            frame = it.frame
                            if frame.live >= frame.window:
                                frame.waiting.append((arg, value))
                                continue
                            following = _begin(frame)
                        stack.append((following, arg, value))
                    elif what == EXIT:
                        parent = it.frame.parent
                        assert parent is not None
                        stack.append((parent, arg, value))
                    elif what == FETCH:
                        self.results[arg] = value
                    elif what == CONTROL:
                        count, step = arg
                        values[count] -= 1
                        if not values[count]:
                            self._arrived(it, step, stack, light, heavy)
                    else:
                        self._enter(it, what, arg, value, stack, settle)
            it = settle.pop()
            it.outstanding -= 1
            if not it.outstanding and it.frame.oldest is it:
                self._retire(it, stack, settle)
            if not settle and not stack:
                return

    def _arrived(
        self, it: Iteration, step: Step, stack: list[tuple[Iteration, Edges, Any]], light: Ready, heavy: Ready | None
    ) -> None:
        """Go on with ``step``, all inputs of which have come, the last one not through a slot."""
        values = it.values
        if step.call is None:
            taken = step.otherwise is None or values[step.first + 1]
            edges = step.edges if taken else step.otherwise
            assert edges is not None
            token, values[step.first] = values[step.first], None
            stack.append((it, edges, token))
        else:
            it.outstanding += 1
            if heavy is not None and step.weight and _is_heavy(step, values):
                heavy.append((it, step))
            else:
                light.append((it, step))

    # -- frames -------------------------------------------------------------------------------------------

    def _enter(
        self, it: Iteration, what: int, arg: Any, value: Any,
        stack: list[tuple[Iteration, Edges, Any]], settle: list[Iteration],
    ) -> None:  # fmt: skip
        """Let a token of ``it`` enter a child frame."""
        if what == INHERIT:
            slot, plan, edges, invariant = arg
            it.values[slot] = value
            frame = it.children.get(plan)
            if frame is None:
                return  # whoever opens the frame will find the value in the slot; perhaps nobody does
        else:
            assert what == ENTER
            plan, edges, invariant = arg
            frame = it.children.get(plan)
            if frame is None:
                frame = self._open(it, plan, stack)
        _inject(frame, edges, value, invariant, stack)
        settle.append(frame.oldest)

    def _open(self, it: Iteration, plan: FramePlan, stack: list[tuple[Iteration, Edges, Any]]) -> Frame:
        frame = Frame(plan, it)
        it.children[plan] = frame
        it.outstanding += 1
        entering = plan.entering
        tokens = plan.initial.copy()
        for slot, edges, invariant in plan.inherits:
            value = it.values[slot]
            if value is not MISSING:
                entering -= 1
                if invariant:
                    _fill(frame.template, edges, value)
                else:
                    tokens.append((edges, value))
        first = Iteration(frame, 0)
        frame.oldest = frame.newest = first
        frame.live = 1
        first.outstanding = entering
        stack.extend([(first, edges, value) for edges, value in tokens])
        return frame

    def _retire(self, it: Iteration, stack: list[tuple[Iteration, Edges, Any]], settle: list[Iteration]) -> None:
        """Drop ``it``, the oldest iteration, and those after it that are done as well."""
        frame = it.frame
        while True:
            frame.live -= 1
            if frame.waiting:
                following = _begin(frame)
                following.outstanding = 1  # until the tokens below have been delivered
                settle.append(following)
                stack.extend([(following, edges, value) for edges, value in frame.waiting])
                frame.waiting = []
            oldest = it.next
            if oldest is None:
                break
            frame.oldest = it = oldest
            if it.outstanding:
                return
        parent = frame.parent
        if parent is None:
            self.finished = True
        else:
            frame.plan.trips = it.index
            del frame.oldest, frame.newest  # they refer to each other
            del parent.children[frame.plan]
            settle.append(parent)

    # -- looking ------------------------------------------------------------------------------------------

    def iterations(self) -> Iterator[Iteration]:
        """Yield the live iterations of all frames, outer ones and older ones first."""
        todo = [self.root]
        for it in todo:  # grows as it is walked
            yield it
            for frame in it.children.values():
                following: Iteration | None = frame.oldest
                while following is not None:
                    todo.append(following)
                    following = following.next

    def describe_waiting(self, limit: int = 8) -> str:
        """Return which nodes have some of their inputs and wait for others, for the message of a run that does not end.

        Where none does, between two nodes of a chain: which iterations are under way.
        """
        lines = []
        for it in self.iterations():
            for step in it.frame.plan.steps:
                some = it.values[step.count] < it.frame.template[step.count]
                slots = it.values[step.first : step.first + step.width]
                wanted = [
                    _port_name(self.plan, port) for port, value in zip(step.flat.inputs, slots) if value is MISSING
                ]
                if some and wanted:
                    lines.append(f"  {step.flat.name!r}{_where(it)} waits for {', '.join(wanted)}")
            if it.frame.waiting and it is it.frame.newest:
                lines.append(f"  {it.frame.plan.name!r} waits for iteration {it.frame.oldest.index} to end")
        if not lines:
            lines = [
                f"  {it.frame.plan.name!r} is in iteration {it.index}" for it in self.iterations() if it.frame.parent
            ]
        more = [f"  and {len(lines) - limit} more"] if len(lines) > limit else []
        return "\n".join(lines[:limit] + more) or "  nothing is waiting"


def loops_around(it: Iteration) -> list[tuple[Node, int]]:
    """Return the While nodes and iteration numbers that ``it`` stands in, innermost first."""
    found: list[tuple[Node, int]] = []
    here: Iteration | None = it
    while here is not None:
        source = here.frame.plan.source
        if source is not None:
            found.append((source, here.index))
        here = here.frame.parent
    return found


def _is_heavy(step: Step, values: list[Any]) -> bool:
    """Return whether the kernel, whose inputs are there, is worth another thread."""
    if step.weight == HEAVY:
        return True
    return any(_is_large(getattr(value, "size", 0)) for value in values[step.first : step.last])


def _is_large(size: Any) -> bool:
    """Return whether so many elements are many; what other libraries call so may be no number."""
    return isinstance(size, (int, float)) and size > ELEMENTS


def _begin(frame: Frame) -> Iteration:
    """Return the iteration after the newest."""
    newest = frame.newest
    following = Iteration(frame, newest.index + 1)
    newest.next = frame.newest = following
    frame.live += 1
    return following


def _inject(frame: Frame, edges: Edges, value: Any, invariant: bool, stack: list[tuple[Iteration, Edges, Any]]) -> None:
    """Put a value into iteration 0, or into all iterations there are and will be."""
    it: Iteration | None = frame.oldest
    if not invariant:
        assert it is not None and it.index == 0
        stack.append((it, edges, value))
        return
    while it is not None:
        stack.append((it, edges, value))
        it = it.next
    _fill(frame.template, edges, value)


def _fill(template: list[Any], edges: Edges, value: Any) -> None:
    """Note an invariant in a template, as if it had arrived."""
    for slot, count, _ in edges.plain:
        template[slot] = value
        template[count] -= 1
    for what, arg in edges.rest:
        if what == INHERIT:
            template[arg[0]] = value
        elif what == CONTROL:
            template[arg[0]] -= 1


def _port_name(plan: Plan, port: Port) -> str:
    return f"'{plan.nodes[port[0]].name}:{port[1]}'"


def _where(it: Iteration) -> str:
    parts = [f"iteration {index} of {node.name!r}" for node, index in loops_around(it)]
    return f" ({', '.join(parts)})" if parts else ""
