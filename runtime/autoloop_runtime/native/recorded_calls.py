"""Calls of machine code that a trace records: when each began and ended.

Of code that is made to be watched also how often each line ran, and where it was when it was looked at.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.cost import estimate
from ..analysis.first_turns_counted import Around, how_often
from ..base.dataclass import dataclass
from ..base.forks import Kind
from ..base.locations import Line, users_line
from ..base.machine_calls import MachineCall
from ..base.profiler import active
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.run_state import RunState
from ..ir.structured import WHILE
from .typing.facts import Shape
from .typing.refusal import NativeRefusal
from .writer.marks import MARKS, Marks

NAME = "machine code"
_KIND = Kind("recorded_calls", "who waits for a call's end is the thread that calls, which is not in a child")
#: seconds between two looks, and how many say where the time went
_PAUSE, _ENOUGH = 0.0005, 20
#: makes machine code of a graph for such shapes
Make = Callable[..., Callable[[Sequence[Any], RunState], list[Any]]]


@dataclass(frozen=True)
class Watched:
    """Machine code that says where it is.

    Attributes
    ----------
    run : callable
    free : list of Marks
        Where it says that; empty while a call goes on, beside which others are not watched. Taking it and giving it
        back is atomic.
    """

    run: Callable[[Sequence[Any], RunState], list[Any]]
    free: list[Marks]


#: of a graph, by the shapes of its inputs; None where there is no such code
Known = dict[tuple[Shape, ...], Watched | None]


def recorded(
    graph: Graph, values: Sequence[Any], state: RunState, known: Known, make: Make, call: Callable[[], list[Any]]
) -> list[Any]:
    """Return what a call of the machine code of ``graph`` gives, and let the trace around it know.

    Parameters
    ----------
    known : dict
        The watched code that was made before.
    make : callable
        Makes machine code.
    call : callable
        Makes the call as it is made without a trace.
    """
    recorder = active()
    assert recorder is not None
    shapes = tuple([np.shape(value) for value in values])
    if shapes not in known:
        known[shapes] = _watched(graph, shapes, make)
    watched = known[shapes]
    marks, seen = None if watched is None else _taken(watched.free), Counter[int]()
    run = recorder.begin("native", graph, 1)
    try:
        if watched is not None and marks is not None:
            try:
                return _looked_at(watched, marks, values, state, seen)
            except NativeRefusal:  # it has changed nothing
                watched.free.append(marks)
                marks = None
        return call()
    finally:
        of = None if marks is None else _told(marks, seen)
        recorder.record(NAME, "", run.begin, (), run, of)
        run.ended()
        if watched is not None and marks is not None:
            watched.free.append(marks)


def _taken(free: list[Marks]) -> Marks | None:
    try:
        return free.pop()
    except IndexError:
        return None


def _watched(graph: Graph, shapes: Sequence[Shape], make: Make) -> Watched | None:
    marks = Marks()
    token = MARKS.set(marks)
    try:
        return Watched(make(graph, shapes, among_others=True), [marks])
    except NativeRefusal:  # other code serves the call
        return None
    finally:
        MARKS.reset(token)


def _looked_at(watched: Watched, marks: Marks, values: Sequence[Any], state: RunState, seen: Counter[int]) -> list[Any]:
    """Return what the code gives; ``seen`` gets how often it was at which line."""
    words, over = marks.words, _KIND.event()
    words[:] = 0

    def look() -> None:
        while not over.wait(_PAUSE):
            seen[int(words[0])] += 1

    looking = _KIND.thread(look, name="autoloop-looking")
    looking.start()
    try:
        return watched.run(values, state)
    finally:
        over.set()
        looking.join()


def _told(marks: Marks, seen: Counter[int]) -> MachineCall:
    often = {graph: int(marks.words[word]) for graph, word in marks.blocks.items()}
    costs: dict[Line | None, float] = defaultdict(float)
    for graph, ran in often.items():
        for node in graph.nodes:
            if ran and node.op not in (CONST, PARAMETER):
                costs[users_line(node.location)] += ran * (0.0 if node.subgraphs else estimate(node))
    counts = _counts(often)
    samples = sum(seen.values())
    if samples >= _ENOUGH:
        times = {marks.lines[k]: n / samples for k, n in seen.items()}
        return MachineCall({**dict.fromkeys(counts, 0.0), **times}, counts, samples)
    total = sum(costs.values()) or 1.0
    return MachineCall({line: cost / total for line, cost in costs.items()}, counts, 0)


def _counts(often: Mapping[Graph, int]) -> dict[Line | None, int]:
    """Return how often each line ran, given how often graphs did."""
    ran: dict[Line | None, dict[Around, tuple[int, int]]] = defaultdict(dict)
    turns: dict[Node, int] = {}
    around: dict[Graph, Around] = {}
    for graph, times in often.items():  # those around others come first
        loops = around.setdefault(graph, ())
        for node in graph.nodes:
            if node.op is WHILE:
                turns[node] = node.attrs["begun"] * times
            around.update(dict.fromkeys(node.subgraphs, (*loops, node) if node.op is WHILE else loops))
        nodes = [node for node in graph.nodes if times and node.op not in (CONST, PARAMETER, WHILE)]
        for (line, _), number in Counter([(users_line(node.location), node.op) for node in nodes]).items():
            most, kinds = ran[line].get(loops, (0, 0))
            ran[line][loops] = max(most, times), max(kinds, number * times)
    return {line: how_often(of, turns) for line, of in ran.items()}
