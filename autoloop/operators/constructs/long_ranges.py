"""Which loops over Python ranges are written out, and from where they are loops of the graph: asked as they grow.

What is written out costs time for each node, to trace it and again to make code of it; short loops are, for Python
knows what they leave. The first iterations are written out of every loop: they settle the types of its variables, and
show what an iteration adds. In a triangle of loops each iteration adds more than the one before, and so will the next.
One iteration is enough where it shows that the loop is long, and leaves variables as it has found them: in loops inside
loops what is written out of each is multiplied.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from autoloop_runtime.analysis.inside import count_nodes
from autoloop_runtime.base.locations import capture, users_line
from autoloop_runtime.ir.graph import Graph

from ...left_to_python import SMALLER, LeftToPython, mean_all, python_can_run, weigh_trace
from ..staging.staged_blocks import Loops, deciding

#: after how many iterations it is asked whether the rest is a loop of the graph; the rest has so many at least
PEELED, LEAST = 3, 5
#: how many nodes the rest may be written out as; and one of which each iteration is a branch, since a tensor decides
#: when it ends; the same where loops of the graph are spared
MOST, _MOST_IN_BRANCHES = 100, 500
_MOST_SPARED = 5_000
#: the same of a loop that has fewer iterations left: short ones inside one another multiply
MOST_SHORT = 300
#: the same where the loop changes what Python may want to know later: ints, how far to count or how long to slice, and
#: lists, how long they are
_MOST_COUNTED = 1_000
#: of a loop that adds more nodes the user is told, and plain Python runs the function if it can; it does at once where
#: a loop that could not be one of the graph would add so many
MUCH, TOO_MUCH = 4_000, 8_000
_MEANT = "autoloop.set_loop_options(unroll=True) as the first statement of its body says that it is meant"
#: so often a loop that a graph passes again and again is tried
_TRIES = 2


class _Failed(Counter[CodeType | None]):
    """How often the loops of a graph could not be loops of it, by the code of their bodies."""

    def copy(self) -> _Failed:
        return _Failed(self)


class _Hasty(Counter[CodeType | None]):
    """The same of loops that were tried before it was time."""

    def copy(self) -> _Hasty:
        return _Hasty(self)


class _Told:
    """Whether it was said of the graph around all others that a loop makes it large."""

    __slots__ = ("is_said",)

    def __init__(self, is_said: bool = False) -> None:
        self.is_said = is_said

    def copy(self) -> _Told:
        return _Told(self.is_said)


class Growth:
    """What a loop that Python runs adds to a graph.

    Parameters
    ----------
    items : object
        What it runs over. If that is a range the rest of the loop may become one of the graph.
    body : callable
    graph : Graph
    unroll : bool, optional
        What the user wishes.
    count, nodes : int
        As below, where it is first looked at later.

    Attributes
    ----------
    count, nodes : int
        How many iterations there were, and how many nodes they have added.
    begun : int
        How many iterations there are before the loop of the graph.
    why_not : str
        Why the rest could not be a loop of the graph.
    """

    def __init__(
        self, items: Any, body: Callable[..., Any], graph: Graph, unroll: bool | None, count: int = 0, nodes: int = 0
    ) -> None:
        self.count, self.nodes, self._slope = count, nodes, 0
        self._latest = nodes // count if count else 0
        self.why_not = ""
        if unroll is None and graph.root.keeps_checkpoints:  # what is written out is kept as a whole or not at all
            unroll = False
        self._items, self._unroll = items, unroll
        self._is_range = isinstance(items, range)
        self._graph, self._size = graph, len(graph.nodes)
        self._code = getattr(body, "__code__", None)
        self._next, self.begun = max(count, 1), 0
        self._most = MOST
        self._loops: Loops = deciding()
        if unroll:
            mean_all()

    def step(self) -> None:
        """Note what an iteration has added."""
        new = self._graph.nodes[self._size :]
        added = len(new) + sum(count_nodes(sub) for node in new if node.op.graphs for sub in node.subgraphs)
        self._slope = max(added - self._latest, 0) if self.count else 0
        self.count += 1
        self._size += len(new)
        self._latest = added
        self.nodes += added
        weigh_trace()

    def rest(self, in_branches: bool = False) -> range | None:
        """Return what is left of a range, if that is to be a loop of the graph where it gives the same.

        With ``in_branches`` each iteration of the rest would be a branch.
        """
        if not self._is_range or self._unroll or self._loops.are_written_out:
            return None
        rest: range = self._items[self.count :]
        if not rest or (self.count < self._next and not in_branches):
            return None
        if self.count < PEELED and not in_branches:
            return rest if self._is_long_at_once() else None
        if self._unroll is None:
            most = _MOST_SPARED if self._loops.are_spared else self._most
            most = min(most, _MOST_IN_BRANCHES) if in_branches else most
            most = most if len(rest) >= LEAST else max(most, MOST_SHORT)
            if self._graph.record(_Failed)[self._code] >= _TRIES or self._left(rest) <= most:
                return None
        self._next = 2 * self.count
        return rest

    def _is_long_at_once(self) -> bool:
        """Return whether the iterations so far, which are few, show what more of them would."""
        if self._graph.record(_Hasty)[self._code]:
            return False
        if self._unroll is None:
            most = _MOST_SPARED if self._loops.are_spared else self._most
            rest = len(self._items) - PEELED
            if rest < LEAST:
                rest, most = len(self._items) - self.count, max(most, MOST_SHORT)
            if self._graph.record(_Failed)[self._code] >= _TRIES or rest * self._latest <= most:
                return False
        return True

    def _left(self, rest: range) -> int:
        """Return how many nodes the rest would add, if that goes on as it has begun."""
        return len(rest) * self._latest + self._slope * len(rest) * (len(rest) + 1) // 2

    def before(self, rest: range) -> Growth:
        """Return this, which has left so much of a range."""
        self.begun = len(self._items) - len(rest)
        return self

    def options(self) -> dict[str, Any]:
        """Return what the rest is told as a loop of the graph. No more bounds it than what of the loop is Python's."""
        return {"begun": self.begun, "maximum_iterations": None}

    @property
    def length(self) -> int:
        """How many iterations a range has."""
        return len(self._items)

    @property
    def expected(self) -> int:
        """About how many nodes the whole of a range would be."""
        return self.nodes + self._left(self._items[self.count :])

    def may_carry(self, before: Any, value: Any) -> bool:
        """Return whether a number or list that an iteration changes may be one that only the run knows."""
        kind = type(value)
        if kind is not type(before):
            return False
        is_long = self._unroll is False or self.expected > _MOST_COUNTED
        return kind in (float, complex) or (kind in (int, bool, list) and is_long)

    def changes_others(self) -> None:
        """Note that the loop changes attributes, or variables of another function, of which more may be asked later
        than of its own variables: only where it is very long that is for the run to tell."""
        self._most = _MOST_COUNTED

    @contextmanager
    def trying(self) -> Iterator[None]:
        """Mark the time in which the rest is built as a loop of the graph."""
        self._loops.tried += 1
        try:
            yield
        finally:
            self._loops.tried -= 1

    def staged(self) -> None:
        """Note that the rest has become a loop of the graph; nobody has asked for that if it was not wished."""
        self._loops.were_staged = self._loops.were_staged or self._unroll is None

    def failed(self, why: str) -> None:
        """Note that the rest could not be a loop of the graph."""
        self._size, self.why_not = len(self._graph.nodes), why
        if self._code is not None:
            self._graph.record(_Hasty if self.count < PEELED else _Failed)[self._code] += 1

    def tell(self) -> None:
        """Tell the user, once in a trace, of a loop that makes a graph large; let plain Python run it if that can.

        Raises
        ------
        LeftToPython
        """
        is_given_up = self._graph.record(_Failed)[self._code] >= _TRIES
        if self._unroll or not (self.nodes > MUCH or (is_given_up and self._is_range and self.expected > TOO_MUCH)):
            return
        length = f" of {len(self._items):,}" if hasattr(self._items, "__len__") else ""
        why = f", for {self.why_not}" if self.why_not else ""
        said = f"{self.nodes:,} nodes in the first {self.count:,}{length} iterations{why}"
        if not self._loops.are_wanted and python_can_run():
            what = f"a `for` loop would be written out, {said}; {_MEANT}"
            raise LeftToPython(what, users_line(capture()), is_shown=True, instead=f"{SMALLER}; {_MEANT}")
        if self.nodes <= MUCH or (told := self._graph.root.record(_Told)).is_said:
            return
        told.is_said = True
        lines = capture()
        warnings.warn_explicit(
            f"this `for` loop is written out, which takes time to trace and to make code of: {said}. A loop over an "
            f"array or autoloop.range(...) is one of the graph; {_MEANT}",
            UserWarning, lines[-1].filename if lines else __name__, lines[-1].lineno if lines else 0,
        )  # fmt: skip
