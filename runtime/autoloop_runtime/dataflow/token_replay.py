"""One run of a graph, token by token, for people who want to see how a loop is run.

It is the scheduler's own ``State`` that moves the tokens. The graph is given a *mark* behind each port that tokens
leave by, but for those of kernels: a kernel that hands on what it gets, so that ``State`` says when a token passes, and
in which iteration. Dead tokens, which ``State`` does not send, are told by the rule of the books: what has a dead input
is dead.

Time is the number of events: on this clock a kernel that is worth another thread takes ``SLOW`` events, any other none,
and there is a thread for each. So the order is the same at each run.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from ..base.dataclass import dataclass, replace
from ..base.fp_warnings import restore, setting, silence
from ..ir.checks import CHECK_PROMISE
from ..ir.graph import eager
from ..ir.run_state import EAGER, RunState
from .dead_tokens import Consumers, DeadTokens
from .execution_plan import FramePlan, Plan, Step
from .flat_graph import FlatNode, Kind, Lowered, Port, renamed
from .frames import Frame, Item, Iteration, State
from .kernels import call, explained
from .one_thread import results_of

#: how many events a kernel takes that is worth another thread
SLOW = 40

What = Literal["open", "begin", "end", "close", "fire", "start", "done", "dead", "wait", "result", "fail"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens in a run.

    Attributes
    ----------
    what : str
        ``"open"``, ``"close"``: a frame; ``"begin"``, ``"end"``: an iteration. ``"fire"``: a node has taken its inputs
        and given its outputs; of a slow kernel there are ``"start"`` and ``"done"`` instead, and ``"fail"`` of one that
        raised.
        ``"dead"``: a node has got dead inputs. ``"wait"``: a token is at a NextIteration and the window is full.
        ``"result"``: a fetched value is there.
    node : int
        The node; of ``"result"`` the number of the fetch; of frames and iterations the frame's.
    at : int
        The iteration that its inputs are of, by its number in ``TokenReplay.iterations``; the iteration concerned.
    to : int
        The iteration that its outputs are of.
    port : int
        The output of a Switch that the value has left by; the input of a Merge that it has come by.
    given, made : tuple of str
        The values that it has got and given, in short.
    """

    what: What
    node: int
    at: int
    to: int
    port: int = 0
    given: tuple[str, ...] = ()
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """An iteration of a frame that was opened.

    Attributes
    ----------
    frame : int
        The frame of the graph.
    parent : int
        The iteration that the frame was opened from; -1 of the outermost.
    index : int
        Its number in the frame.
    """

    frame: int
    parent: int
    index: int


class Enough(BaseException):
    """So many events are recorded as were wanted; nobody but who has begun the run catches it."""


class TokenReplay:
    """Runs of a graph of which the first events are recorded.

    Parameters
    ----------
    lowered : Lowered
    tell : callable
        Gives a value in a few words.
    most : int
        How many events are recorded.
    seconds : float
        For how long.

    Attributes
    ----------
    events : list of Event
        Of the last run.
    iterations : list of Turn
        Those that it has begun, the outermost one first.
    is_cut : bool
        There were more events.
    """

    def __init__(
        self, lowered: Lowered, tell: Callable[[Any], str], most: int = 2000, seconds: float = 1e9
    ) -> None:  # fmt: skip
        self.lowered, self.tell, self.consumers = lowered, tell, Consumers(lowered)
        marked, self.marks = _with_marks(lowered)
        self._plan = Plan(marked)
        self._most, self._seconds = most, seconds
        self._end = 0.0
        self.events: list[Event] = []
        self.iterations: list[Turn] = []
        self.is_cut = False

    def run(self, values: Sequence[Any], state: RunState = EAGER) -> list[Any]:
        """Compute the fetches for the values of the feeds, and record how.

        Raises
        ------
        Enough
            If there are more events than are recorded; the run ends there.
        BaseException
            What a kernel raised; see ``Executable.run``.
        """
        self.events, self.iterations, self.is_cut = [], [], False
        self._end = time.monotonic() + self._seconds
        tokens, before = State(self._plan), setting()
        try:
            silence()
            with eager():
                _Run(self, tokens, state).to_the_end(list(values))
            return results_of(tokens)
        finally:
            restore(before)
            tokens.close()

    def note(self, event: Event) -> None:
        """Record an event; ``Enough`` if there are too many."""
        if len(self.events) >= self._most or time.monotonic() > self._end:
            self.is_cut = True
            raise Enough
        self.events.append(event)


class _Run:
    """A run that is recorded."""

    def __init__(self, replay: TokenReplay, tokens: State, state: RunState) -> None:
        self._replay, self._tokens, self._state = replay, tokens, state
        self._nodes, self._to = replay.lowered.nodes, replay.consumers
        self._dead = DeadTokens(replay.lowered, self._to)
        #: what is next, in this order
        self._todo: deque[Callable[[], None]] = deque()
        #: slow kernels under way: when they end, in which order they began, and they
        self._busy: list[tuple[int, int, Item]] = []
        self._begun = 0
        #: the iterations that are there -> their numbers
        self._live: dict[Iteration, int] = {}
        #: those that there were, by frame and place there
        self._turns: dict[tuple[Frame, int], int] = {}
        #: by node and iteration: the input that a Merge's value has come by, the iteration that an Exit's has
        self._ways: dict[tuple[int, int], int] = {}
        #: by frame and Enter: the values that all iterations share
        self._shared: dict[tuple[Frame, int], Any] = {}

    def to_the_end(self, values: list[Any]) -> None:
        """Run until nothing is ready."""
        fast: list[Item] = []
        slow: list[Item] = []
        self._number(self._tokens.root, -1)
        self._tokens.start(values, fast, slow)
        fast.sort(key=self._place)
        self._queue(fast, slow)
        while self._todo or self._busy:
            if self._busy and (not self._todo or self._busy[0][0] <= len(self._replay.events)):
                self._done(*heapq.heappop(self._busy)[2])
            else:
                self._todo.popleft()()

    def _note(self, *event: Any, **more: Any) -> None:
        self._replay.note(Event(*event, **more))

    def _tell(self, values: Iterable[Any]) -> tuple[str, ...]:
        return tuple([self._replay.tell(value) for value in values])

    # -- what is ready ------------------------------------------------------------------------------------

    def _queue(self, fast: Sequence[Item], slow: Sequence[Item]) -> None:
        for it, step in fast:
            port = self._replay.marks.get(step.flat.index)
            self._todo.append(partial(self._compute, it, step) if port is None else partial(self._pass, it, step, port))
        for it, step in slow:
            self._todo.append(partial(self._start, it, step))

    def _place(self, item: Item) -> int:
        """Return the place of a node in the graph."""
        index = item[1].flat.index
        return self._replay.marks.get(index, (index, 0))[0]

    def _pass(self, it: Iteration, step: Step, port: Port) -> None:
        """Let a token out of a node that is no kernel."""
        node, value, to = self._nodes[port[0]], it.values[step.first], self._live[it]
        it.values[step.first] = None
        way = port[1] if node.kind is Kind.SWITCH else 0
        at = to
        if node.kind is Kind.ENTER:
            assert it.frame.parent is not None
            at = self._live[it.frame.parent]
        elif node.kind is Kind.NEXT_ITERATION:
            at = self._turns[it.frame, it.index - 1]
        elif node.kind is Kind.EXIT:
            at = self._ways.pop((node.index, to))
        elif node.kind is Kind.MERGE:
            way = self._ways.pop((node.index, to))
        self._note("fire", node.index, at, to, way, made=self._tell([value]))
        if node.kind is Kind.SWITCH:
            for dead in self._dead.leave((node.index, 1 - way), at):
                self._note("dead", dead.index, at, at)
        self._move(it, step, value, [(port, value)])

    def _compute(self, it: Iteration, step: Step) -> None:
        """Run a kernel that takes no time."""
        at = self._live[it]
        given = self._tell(it.values[step.first : step.last])
        out, ports = self._called(it, step)
        self._note("fire", step.flat.index, at, at, given=given, made=self._made(step, ports))
        self._move(it, step, out, ports)

    def _start(self, it: Iteration, step: Step) -> None:
        """Begin a slow kernel."""
        at = self._live[it]
        self._note("start", step.flat.index, at, at, given=self._tell(it.values[step.first : step.last]))
        heapq.heappush(self._busy, (len(self._replay.events) + SLOW, self._begun, (it, step)))
        self._begun += 1

    def _done(self, it: Iteration, step: Step) -> None:
        at = self._live[it]
        out, ports = self._called(it, step)
        self._note("done", step.flat.index, at, at, made=self._made(step, ports))
        self._move(it, step, out, ports)

    def _made(self, step: Step, ports: Sequence[tuple[Port, Any]]) -> tuple[str, ...]:
        """Return what a kernel has given, without what stands for an effect."""
        effect = step.flat.op is not None and step.flat.op.effect
        return self._tell([value for _, value in ports[: len(ports) - effect]])

    def _called(self, it: Iteration, step: Step) -> tuple[Any, list[tuple[Port, Any]]]:
        """Run a kernel; return what it has given, and that by port."""
        index = step.flat.index
        try:
            out = call(it, step, self._state, None)
        except Exception as error:
            self._note("fail", index, self._live[it], self._live[it], made=(f"{type(error).__name__}: {error}",))
            raise explained(error, it, step)  # noqa: B904
        if step.blank:
            it.values[step.first : step.last] = step.blank
        values = [out] if step.outs is None else out
        return out, [((index, k), value) for k, value in enumerate(values)]

    # -- what follows -------------------------------------------------------------------------------------

    def _move(self, it: Iteration, step: Step, out: Any, ports: Sequence[tuple[Port, Any]]) -> None:
        """Let ``State`` move what a kernel or a mark has given, and note what has come of it."""
        fast: list[Item] = []
        slow: list[Item] = []
        at = self._live[it]
        for port, _ in ports:
            self._note_ways(it, at, port)
        inside = dict(it.children)
        self._tokens.complete(it, step, out, fast, slow)
        fast.sort(key=self._place)
        self._wait(at, ports, {self._replay.marks.get(one.flat.index) for _, one in fast})
        there = list(self._tokens.iterations())
        begun = [one for one in there if one not in self._live]
        ended = [one for one in self._live if one not in set(there)]
        late = set(begun) if ended else set()
        self._queue([one for one in fast if ended and one[0] not in late], ())
        self._share(inside, at, ports)
        self._end(ended, there)
        for one in begun:
            self._begin(one)
        self._share({plan: frame for plan, frame in it.children.items() if plan not in inside}, at, ports)
        self._queue([one for one in fast if not ended or one[0] in late], slow)
        for port, value in ports:
            for number in self._to.fetches.get(port, ()):
                self._todo.append(partial(self._note, "result", number, at, at, made=self._tell([value])))

    def _note_ways(self, it: Iteration, at: int, port: Port) -> None:
        for node, position in self._to.of.get(port, ()):
            if node.kind is Kind.MERGE:
                self._ways[node.index, at] = position
            elif node.kind is Kind.EXIT:
                assert it.frame.parent is not None
                self._ways[node.index, self._live[it.frame.parent]] = at

    def _wait(self, at: int, ports: Iterable[tuple[Port, Any]], passing: set[Port | None]) -> None:
        """Note the tokens that are at a NextIteration and have not passed."""
        for port, value in ports:
            for node, _ in self._to.of.get(port, ()):
                if node.kind is Kind.NEXT_ITERATION and (node.index, 0) not in passing:
                    self._todo.append(partial(self._note, "wait", node.index, at, at, made=self._tell([value])))

    def _number(self, it: Iteration, parent: int) -> int:
        number = self._live[it] = self._turns[it.frame, it.index] = len(self._replay.iterations)
        self._replay.iterations.append(Turn(it.frame.plan.number, parent, it.index))
        return number

    def _begin(self, it: Iteration) -> None:
        """Note an iteration that has begun, and the frame if it is the first."""
        frame, outer = it.frame, it.frame.parent
        assert outer is not None
        parent = self._live[outer]
        number = self._number(it, parent)
        what = "begin" if it.index else "open"
        self._todo.append(partial(self._note, what, frame.plan.number, parent, number))
        if it.index:
            return
        for node in self._nodes:
            if node.constant and node.frame == frame.plan.number and self._nodes[node.inputs[0][0]].constant:
                source = (outer.frame, node.inputs[0][0])
                if source in self._shared:
                    self._shared_in(frame, node, parent, self._shared[source])

    def _end(self, ended: Sequence[Iteration], there: Sequence[Iteration]) -> None:
        left = {one.frame for one in there}
        for k, it in enumerate(ended):
            frame, number = it.frame, self._live.pop(it)
            parent = self._replay.iterations[number].parent
            self._todo.append(partial(self._note, "end", frame.plan.number, number, number))
            if frame not in left and all(one.frame is not frame for one in ended[k + 1 :]):
                self._todo.append(partial(self._note, "close", frame.plan.number, number, parent))

    def _share(self, frames: Mapping[FramePlan, Frame], at: int, ports: Iterable[tuple[Port, Any]]) -> None:
        """Note the values that a token has brought for all iterations of loops inside."""
        for port, value in ports:
            for node, _ in self._to.of.get(port, ()):
                for plan, frame in frames.items():
                    if node.kind is Kind.ENTER and node.constant and plan.number == node.frame:
                        self._shared_in(frame, node, at, value)

    def _shared_in(self, frame: Frame, node: FlatNode, at: int, value: Any) -> None:
        self._shared[frame, node.index] = value
        to = self._turns[frame, 0]
        self._todo.append(partial(self._note, "fire", node.index, at, to, made=self._tell([value])))
        for it in [one for one in self._live if one.frame is frame]:
            self._share(it.children, self._live[it], [((node.index, 0), value)])


def _with_marks(lowered: Lowered) -> tuple[Lowered, dict[int, Port]]:
    """Return a graph with a mark behind each port that tokens leave by, and by mark the port."""
    nodes, marks = list(lowered.nodes), {}
    behind: dict[Port, Port] = {}
    for node in lowered.nodes:
        if node.kind is Kind.KERNEL or node.resting:
            continue
        frame = lowered.frames[node.frame].parent if node.kind is Kind.EXIT else node.frame
        for k in range(node.outputs):
            mark = FlatNode(
                len(nodes), Kind.KERNEL, f"{node.name}:{k}", ((node.index, k),), (), frame, None, CHECK_PROMISE, {}, 1,
                False, _handed_on,
            )  # fmt: skip
            marks[mark.index], behind[node.index, k] = (node.index, k), (mark.index, 0)
            nodes.append(mark)
    count = len(lowered.nodes)
    nodes = [renamed(node, behind) if node.index < count else node for node in nodes]
    fetches = tuple([behind.get(port, port) for port in lowered.fetches])
    return replace(lowered, nodes=tuple(nodes), fetches=fetches), marks


def _handed_on(value: Any) -> Any:
    return value
