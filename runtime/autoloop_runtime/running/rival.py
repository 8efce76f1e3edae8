"""Plain Python as a rival: of calls that take long in a graph, some are made of the undecorated function.

Where each step of a loop does little, or with what Python has of its own, as lists that are pushed to and popped from,
the interpreter is faster than a graph without machine code. The two run in turns, and the faster one stays: nobody can
tell which it was, for both do the same, once. They are tried again when calls come to take much longer.

A call of plain Python cannot be given up for machine code once that is there, as one of the graph can. So a call with
larger numbers than were tried, which may be how often a loop runs, is the graph's until they are known to take as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

#: calls of each kind after which a trial ends, of machine code as well
TRIALS = 3
#: what takes at most this much of the time is faster, whatever the noise
PLAIN = 0.8
#: a call that takes so many times as long as calls of the last trial is another kind of call
GROWN = 2.0
#: so many of these are wanted for another trial, and twice as many for the one after it
MOST_GROWN = 3

#: seconds of a call in which it pays to ask which is faster, which takes some microseconds
LEAST = 3e-4
#: who takes at most this much of the other's time is faster, though other data may have been in the calls
SURELY = 0.4


class Rival:
    """What is known of calls with one set of shapes.

    It may lose what two threads note at the same time: then they are tried again, or a call later.

    Attributes
    ----------
    graph, plain : list of float
        Seconds of calls that were tried, all of them in the graph without machine code, or of the undecorated function.
    """

    __slots__ = ("_grown", "_most", "_now", "_spans", "_spent", "_trials", "graph", "plain")

    def __init__(self) -> None:
        self.graph: list[float] = []
        self.plain: list[float] = []
        #: seconds in plain Python; above which a call is none of those that were tried; how many of these there were
        self._spent, self._most, self._grown = 0.0, inf, 0
        self._trials = 0
        #: the numbers of the call that is made, and the spans of those that take no longer than what was tried
        self._now: list[float] = []
        self._spans: list[tuple[float, float]] = []

    def is_faster(self) -> bool | None:
        """Return whether plain Python is faster; None as long as that is open."""
        if not self.graph or not self.plain:
            return None
        graph, plain = min(self.graph), min(self.plain)
        if plain <= SURELY * graph:
            return True
        if graph <= SURELY * plain or min(len(self.graph), len(self.plain)) >= TRIALS:
            return plain <= PLAIN * graph
        return None

    def is_turn(self, values: Sequence[Any] = ()) -> bool:
        """Return whether plain Python is to run the next call, with these inputs."""
        self._now = [abs(float(one)) for one in values if isinstance(one, np.number) and one.dtype.kind in "iuf"]
        is_faster = self.is_faster()
        if not self._is_known():
            return False
        if is_faster is None:
            return len(self.plain) < len(self.graph)
        return is_faster and not self._is_to_be_confirmed()

    def _is_known(self) -> bool:
        """Return whether the numbers of the call are like those of calls that were tried."""
        spans = self._spans
        return len(spans) == len(self._now) and all(
            least / GROWN <= one <= most * GROWN for one, (least, most) in zip(self._now, spans)
        )

    def _know(self) -> None:
        spans = self._spans or [(one, one) for one in self._now]
        self._spans = [(min(a, one), max(b, one)) for (a, b), one in zip(spans, self._now)]

    def _is_to_be_confirmed(self) -> bool:
        """Return whether the graph has another try: its first call may have had more to do, and has paid for itself."""
        return len(self.graph) == 1 and self._spent >= self.graph[0]

    def ran_graph(self, seconds: float) -> None:
        """Note what a call took in the graph."""
        if not self.graph or seconds <= GROWN * max(self.graph):
            self._know()
        if self.is_faster() is None or len(self.graph) == 1:
            if self.graph or seconds >= LEAST:
                self._try(self.graph, seconds)
        else:
            self._passed(seconds)

    def ran_plain(self, seconds: float) -> None:
        """Note what a call took of the undecorated function."""
        self._spent += seconds
        if self.is_faster() is None:
            self._try(self.plain, seconds)
        else:
            self._passed(seconds)

    def _try(self, ran: list[float], seconds: float) -> None:
        ran.append(seconds)
        if (is_faster := self.is_faster()) is not None:
            self._most = GROWN * max(self.plain if is_faster else self.graph)

    def _passed(self, seconds: float) -> None:
        """Note a call of what is faster; after several that took much longer there is another trial."""
        self._grown += seconds > self._most
        if self._grown >= MOST_GROWN << min(self._trials, 30):
            self.graph, self.plain, self._grown, self._spent = [], [], 0, 0.0
            self._trials += 1
