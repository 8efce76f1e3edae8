"""What became of the user's loops, and of calls that no graph holds, while a function was traced.

The operators that converted code calls decide for each loop, when it is reached, whether it becomes a loop of
the graph or runs now, in Python. They leave a record of the decision with the graph, which ``explain`` reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any, Literal

from ..base.dataclass import dataclass, replace
from ..base.locations import Line, capture
from .graph import Graph, current_graph


@dataclass(frozen=True)
class LoopRecord:
    """The decision about one loop of the user's source.

    Attributes
    ----------
    kind : {"while", "for"}
        The statement.
    converted : bool
        True for a loop of the graph, False for one that Python ran during the trace.
    line : Line or None
        Where the statement stands.
    reason : str
        Why, as the end of a sentence: "the condition is a tensor", "range(3) is a Python value".
    names : tuple of str
        The loop variables.
    count, nodes : int
        How many iterations it has, and how many nodes these are when they are written out, as far as known; the most
        of them where the loop is reached again.
    """

    kind: Literal["while", "for"]
    converted: bool
    line: Line | None
    reason: str
    names: tuple[str, ...] = ()
    count: int = 0
    nodes: int = 0


@dataclass(frozen=True)
class BranchRecord:
    """A branch of the user's source that was reached.

    Attributes
    ----------
    line : Line
        Where it stands.
    converted : bool
        True if the run decides it, False if that was known while tracing.
    sides : frozenset of bool
        How it was decided while tracing, each time that it was reached.
    """

    line: Line
    converted: bool
    sides: frozenset[bool] = frozenset()


class _Branches(dict[tuple[str, int, str], set[bool | None]]):
    """The branches reached while a root graph was traced, by where their code is, and how they were decided; None: by
    the run."""

    def copy(self) -> _Branches:
        return _Branches({place: set(sides) for place, sides in self.items()})


class _Loops(dict[LoopRecord, LoopRecord]):
    """The loops reached while a root graph was traced, by what does not change when they are reached again; a trace
    has one thread, so it needs no lock."""

    def copy(self) -> _Loops:
        return _Loops(self)


@dataclass(frozen=True)
class CallRecord:
    """A call that the graph cannot hold as what it computes.

    Attributes
    ----------
    name : str
        What is called.
    line : Line or None
        Where.
    each : bool
        True if every run makes it, False if only the trace has.
    """

    name: str
    line: Line | None
    each: bool


class _Calls(list[CallRecord]):
    """The calls that were reached while a root graph was traced."""

    def copy(self) -> _Calls:
        return _Calls(self)


def record_call(graph: Graph | None, record: CallRecord) -> None:
    """Keep ``record`` with the root of ``graph``, with the user's line if it has none; of several equal ones one."""
    if graph is None:
        return
    if record.line is None:
        location = capture()
        record = CallRecord(record.name, location[-1] if location else None, record.each)
    records = graph.root.record(_Calls)
    if record not in records:
        records.append(record)


def call_records(graph: Graph) -> tuple[CallRecord, ...]:
    """Return the recorded calls of a graph, in the order in which they were first reached."""
    return tuple(graph.root.record(_Calls))


def record_decision(
    kind: Literal["while", "for"], names: Sequence[str], converted: bool, reason: str, count: int = 0, nodes: int = 0
) -> None:
    """Note for ``explain`` what became of a loop; written out, it has so many iterations and nodes."""
    graph = current_graph()
    if graph is None:
        return
    location = capture()
    if location:
        record = LoopRecord(kind, converted, location[-1], reason, tuple(names), count, nodes)
        record_loop(graph, record)
        if graph.keeps_checkpoints and not converted:  # inside another loop of the graph it is a part of that
            graph.written_out = (*graph.written_out, record)


def record_loop(graph: Graph | None, record: LoopRecord) -> None:
    """Keep ``record`` with the root of ``graph``; a loop that is reached again is kept once.

    Without a graph (converted code that runs on plain values) there is nothing to explain later.
    """
    if graph is None:
        return
    records, key = graph.root.record(_Loops), replace(record, count=0, nodes=0)
    known = records.get(key)
    if known is None or record.nodes > known.nodes:
        records[key] = record


def record_branch(graph: Graph | None, code: CodeType, side: bool | None) -> None:
    """Keep with the root of ``graph`` which side a branch has taken, or None if the run decides; ``code`` is that of
    one of its sides, which begins at its line."""
    if graph is not None:
        place = code.co_filename, code.co_firstlineno, code.co_qualname
        graph.root.record(_Branches).setdefault(place, set()).add(side)


def branch_records(graph: Graph) -> tuple[BranchRecord, ...]:
    """Return the branches of a graph, in the order in which they were first reached."""
    lines: dict[Line, set[bool | None]] = {}
    for (filename, lineno, name), sides in graph.root.record(_Branches).items():
        lines.setdefault(Line(filename, lineno, name.partition(".<locals>.")[0]), set()).update(sides)
    return tuple([
        BranchRecord(line, None in sides, frozenset([side for side in sides if side is not None]))
        for line, sides in lines.items()
    ])  # fmt: skip


def decided(graph: Graph) -> tuple[_Loops, _Branches]:
    """Return what was recorded of the loops and branches of a graph by now."""
    return graph.root.record(_Loops).copy(), graph.root.record(_Branches).copy()


def forget_since(graph: Graph, known: tuple[_Loops, _Branches]) -> None:
    """Let the records of a graph be those that it had before what was tried and given up."""
    for before in known:
        records: dict[Any, Any] = graph.root.record(type(before))
        records.clear()
        records.update(before.copy())


def loop_records(graph: Graph) -> tuple[LoopRecord, ...]:
    """Return the records of a graph, in the order the loops were first reached."""
    return tuple(graph.root.record(_Loops).values())
