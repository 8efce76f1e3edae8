"""What an iteration of a loop hands over to the next one, for those who anchor or save it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Protocol

from ..base.dataclass import dataclass
from ..dataflow.frames import Frame, Iteration, loops_around
from ..ir.graph import Node


@dataclass(frozen=True, slots=True, eq=False)
class HandedOver:
    """The loop variables at the end of one iteration.

    Attributes
    ----------
    loops : list of (Node, int)
        The While node and the number of the iteration that has ended, and those around it, innermost first.
    values : dict of int to Any
        By loop variable: a number or array of NumPy's, or a ``Later``: its ``collection`` is Dask's, and ``become``
        puts another collection of the same value in its place.
    """

    loops: list[tuple[Node, int]]
    values: dict[int, Any]


class OnIteration(Protocol):
    """Who is told of what is handed over; called by the thread of the run."""

    def wants(self, loops: list[tuple[Node, int]]) -> bool:
        """Return whether the values that this iteration hands over are to be computed, and told of when they are."""

    def computed(self, handed: HandedOver) -> None:
        """Be told of values that are computed: their parts are on the cluster, or here."""


class Collecting:
    """Collects the loop variables of iterations that somebody wants.

    Parameters
    ----------
    told : OnIteration
    variables : dict of int to int
        By number of a frame: how many loop variables it has.
    """

    def __init__(self, told: OnIteration, variables: dict[int, int]) -> None:
        self._told, self._variables = told, variables
        self._values: dict[tuple[Frame, int], dict[int, Any]] = defaultdict(dict)

    def note(self, it: Iteration, variable: int, value: Any) -> HandedOver | None:
        """Note the value of a loop variable; returns them all when it is the last one of a wanted iteration."""
        key, loops = (it.frame, it.index), loops_around(it)
        if key not in self._values and not self._told.wants(loops):
            return None  # asked again for each variable: nothing is kept of what nobody wants
        values = self._values[key]
        values[variable] = value
        if len(values) < self._variables[it.frame.plan.number]:
            return None
        return HandedOver(loops, self._values.pop(key))
