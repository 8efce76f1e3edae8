"""Generators of random numbers that a trace takes by reference: each run asks those that its own call finds.

So it does with those that it makes in place of the traced function. A trace that looks at a generator in another way
than by drawing from it (its bit generator, its text), or keeps it, is one for that generator alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from autoloop_runtime.base.random_streams import Stand
from autoloop_runtime.ir.graph import Graph

from ..operators.constructs.asked_generators import LentGenerators, Slot
from ..operators.mutation.heap_snapshot import random_state
from ..operators.mutation.outside_world import MadeGenerators, leave
from .held_instances import attributes_of, holds_any
from .noted import Guard, Reached
from .places import Place

#: ``retrials._Attempt``, which stands above
_Made = TypeVar("_Made", bound=Any)
#: what code asks a generator for that is no draw
_LOOKED_AT = frozenset(("bit_generator", "_bit_generator"))


class Lending:
    """The generators that are lent to the runs of one trace.

    One run at a time has them: who finds them taken looks for another trace. The list with one element that says so is
    changed by calls that are one step to all threads, with an interpreter's lock and without.

    Parameters
    ----------
    places : sequence of Place
        Where each call finds them.
    generators : sequence
        Those of the trace.

    Attributes
    ----------
    slots : list of Slot
        What stands for them in the trace.
    guards : list of Guard
        What has to hold for others to take the places of these.
    """

    def __init__(self, places: Sequence[Place], generators: Sequence[Any]) -> None:
        self.places, self._generators = list(places), list(generators)
        self.guards = [Guard("type", *pair) for pair in zip(places, map(type, generators), strict=True)]
        if len(places) > 1:
            self.guards.append(Guard("apart", places[0], tuple(places[1:])))
        self.slots = [Slot() for _ in generators]
        #: the slots of those that a run makes, and what makes them
        self._made: list[tuple[Slot, Callable[[], Any]]] = []
        self._free = [True]

    def let_make(self, slot: Slot, make: Callable[[], Any]) -> None:
        """Let each run have one that ``make`` gives."""
        self._made.append((slot, make))

    def is_kept(self, graph: Graph, used: Sequence[Any]) -> bool:
        """Return whether a trace holds one of the generators, a copy, its text or its identity."""
        generators, self._generators = self._generators, []
        if graph.record(LentGenerators).are_copied:
            return True
        graph.records.pop(LentGenerators)
        return holds_any(generators, [*used, *attributes_of(graph)])

    def take(self, generators: Sequence[Any]) -> bool:
        """Let the present run ask these; return False if another run goes on."""
        try:
            self._free.pop()
        except IndexError:
            return False
        for slot, one in zip(self.slots, generators, strict=True):
            slot.fill(one)
        for slot, make in self._made:
            slot.fill(make())
        return True

    @property
    def is_free(self) -> bool:
        """Whether no run has them now."""
        return bool(self._free)

    def give_back(self) -> None:
        """Let go of the generators of a run that is over."""
        for slot in [*self.slots, *[slot for slot, _ in self._made]]:
            slot.clear()
        self._free.append(True)


class Standing:
    """Where generators stand before a trace, which asks copies of them: who moves one draws from it while tracing."""

    def __init__(self, generators: Sequence[tuple[Place, Any]]) -> None:
        self._before = [(place, one, random_state(one), Stand(one)) for place, one in generators]

    def moved(self) -> list[str]:
        """Return the names of those that stand elsewhere now."""
        return [place.name for place, one, state, _ in self._before if random_state(one) != state]

    def put_back(self) -> None:
        """Let all stand where they stood."""
        for _, one, state, put_back in self._before:
            if random_state(one) != state:
                put_back()


def lending(guards: list[Guard], reached: Reached, graph: Graph, may_lend: bool) -> Lending | None:
    """Return what lends generators to the runs of a trace, or None: they are among what is guarded then.

    Parameters
    ----------
    guards : list of Guard
        What has to hold for the trace to fit.
    reached : Reached
    graph : Graph
        Of the trace.
    may_lend : bool
        Whether they may be lent. They are not where names in the code in reach tell that it asks generators for more
        than draws.
    """
    found, names = [one for one in reached.generators if one[0].kind != "global"], reached.names
    if not found:  # global names are looked up by each run
        return None
    if not may_lend or names.computed or names.read & _LOOKED_AT:
        guards += [Guard("is", place, value) for place, value in found]
        return None
    places, generators = zip(*found, strict=True)
    made = Lending(places, generators)
    graph.record(LentGenerators).slots = {id(one): slot for one, slot in zip(generators, made.slots, strict=True)}
    return made


def making(lending: Lending | None, graph: Graph) -> Lending | None:
    """Return what lends generators to the runs of a trace, with those that each run makes for itself.

    Raises
    ------
    LeftToPython
        If code that is not converted has asked one of the trace's own in their place.
    """
    made = graph.record(MadeGenerators)
    if made.are_moved():
        leave("code that is not converted draws from a generator which the function makes", "")
    lending = lending or Lending((), ())
    for generator, _, make in made.for_runs:
        lending.let_make(graph.record(LentGenerators).slots[id(generator)], make)
    return lending


def with_lent(made: _Made, again: Callable[[bool], _Made]) -> _Made:
    """Return a trace that is lent its generators of random numbers, or if it keeps them one for these alone, made by
    ``again(False)``.

    Raises
    ------
    LeftToPython
        If it keeps one that runs make.
    """
    graph, used = made.concrete.graph, [*made.changes.writes, made.result, *made.concrete.values]
    if _keeps_made(graph, used):
        leave("a generator of random numbers that the function makes is kept", "")
    if made.lending.is_kept(graph, used):
        return again(False)
    made.guards.extend(made.lending.guards)
    return made


def _keeps_made(graph: Graph, used: Sequence[Any]) -> bool:
    """Return whether a trace holds one of the generators that runs make, or a copy."""
    made = graph.records.pop(MadeGenerators, None)
    if made is None or not made.for_runs:
        return False
    generators = [one for one, _, _ in made.for_runs]
    made.for_runs.clear()
    return graph.record(LentGenerators).are_copied or holds_any(generators, [*used, *attributes_of(graph)])
