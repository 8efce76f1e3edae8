"""What a trace has recorded, kernel by kernel: of which of the user's lines, for how long, in which iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from autoloop_runtime.analysis.cost import estimate
from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.locations import Line, users_line
from autoloop_runtime.base.machine_calls import MachineCall
from autoloop_runtime.base.profiler import Recorder, TracedRun
from autoloop_runtime.dataflow.flat_graph import FlatNode
from autoloop_runtime.ir.graph import CONST, PARAMETER, Graph, Node
from autoloop_runtime.python_code.lines import Place

#: a line of the user's program, None where there is none, and its share of a kernel
Shares = tuple[tuple[Line | None, float], ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel that ran.

    Attributes
    ----------
    name, op : str
    run : int
        Which run of the trace it belongs to, -1 if that is not known.
    thread : int
    start, end : int
        Nanoseconds since the trace began.
    parts : tuple of (int, int)
        When its thread was in it, and in no other kernel that it has called.
    shares : Shares
        The lines it computes; several where it stands for several operations, shared out by what these cost.
    loops : tuple of (str, int)
        The loops around it with their iterations, innermost first.
    of : Any
        What it is of, see ``profiler.Slice``.
    held : bool
        When it began, the window of its loop was full and the next iteration waited.
    time : int
        Nanoseconds in it, and in no other.
    iterations : tuple of int
        The iterations it is in, of the innermost loop first.
    """

    name: str
    op: str
    run: int
    thread: int
    start: int
    end: int
    parts: tuple[tuple[int, int], ...]
    shares: Shares
    loops: tuple[tuple[str, int], ...]
    of: Any
    held: bool
    time: int
    iterations: tuple[int, ...]


def seen_kernels(recorder: Recorder) -> list[Kernel]:
    """Return the kernels that a trace has recorded, by the time they began."""
    slices = sorted(recorder.slices, key=lambda one: (one[3], -one[4]))
    runs: dict[TracedRun | None, int] = {run: k for k, run in enumerate(recorder.runs)}
    lines = _Lines()
    made = []
    for one, parts in zip(slices, _own_parts(slices, recorder.start)):
        name, op, thread, start, end, loops, run, of, held = one
        made.append(
            Kernel(
                name, op, runs.get(run, -1), thread, start - recorder.start, end - recorder.start, parts,
                lines.of(of), loops, of, held, sum([b - a for a, b in parts]), tuple([i for _, i in loops]),
            )
        )  # fmt: skip
    return made


def _own_parts(slices: Sequence[Any], begin: int) -> list[tuple[tuple[int, int], ...]]:
    """Return for each slice when its thread was in it and in none that lies within it."""
    parts: list[list[tuple[int, int]]] = [[] for _ in slices]
    open_slices: dict[int, list[list[int]]] = {}  # by thread: which, its end, from when it is alone
    for k, (_, _, thread, start, end, *_) in enumerate(slices):
        stack = open_slices.setdefault(thread, [])
        _close(stack, parts, start)
        if stack and start > stack[-1][2]:
            parts[stack[-1][0]].append((stack[-1][2], start))
        stack.append([k, end, start])
    for stack in open_slices.values():
        _close(stack, parts, None)
    return [tuple([(a - begin, b - begin) for a, b in own]) for own in parts]


def _close(stack: list[list[int]], parts: list[list[tuple[int, int]]], now: int | None) -> None:
    """Take those off a stack of open slices that are over ``now``."""
    while stack and (now is None or stack[-1][1] <= now):
        which, end, since = stack.pop()
        if end > since:
            parts[which].append((since, end))
        if stack:
            stack[-1][2] = max(stack[-1][2], end)


class _Lines:
    """Finds the lines that kernels are of, of each thing once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Shares]] = {}

    def of(self, thing: Any) -> Shares:
        known = self._known.get(id(thing))
        if known is None:
            shares = tuple(thing.shares.items()) if isinstance(thing, MachineCall) else ()
            known = self._known[id(thing)] = thing, shares or _shares(list(_nodes_of(thing)))
        return known[1]


def _nodes_of(thing: Any) -> Iterator[Node]:
    if isinstance(thing, FlatNode):
        thing = thing.source
    if isinstance(thing, Place):
        for _, _, node in thing.spans:
            yield from _nodes_of(node)
    elif isinstance(thing, Node):
        inner = thing.op.stands_for
        yield from [thing] if inner is None else [n for n in nodes_inside(inner) if n.op not in (CONST, PARAMETER)]


def is_of(kernel: Kernel, graph: Graph) -> bool:
    """Return whether all that a kernel computes stands in ``graph``."""
    nodes = [kernel.of.source] if isinstance(kernel.of, FlatNode) else [node for _, _, node in kernel.of.spans]
    return all(node is not None and node.graph is graph for node in nodes)


def _shares(nodes: Sequence[Node]) -> Shares:
    """Return the lines of nodes that run as one, each with its share of what they cost together."""
    costs: dict[Line | None, float] = {}
    for node in nodes:
        line = users_line(node.location)
        costs[line] = costs.get(line, 0.0) + (1.0 if node.subgraphs else 1.0 + estimate(node))
    total = sum(costs.values())
    return tuple([(line, cost / total) for line, cost in costs.items()]) or ((None, 1.0),)
