"""How often a line ran, of which the graph may have the first turns of a loop before the loop."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.graph import Node

#: loops of the graph around operations, outermost first
Around = tuple[Node, ...]


def how_often(ran: Mapping[Around, tuple[int, int]], turns: Mapping[Node, int]) -> int:
    """Return how often a line ran.

    Parameters
    ----------
    ran : mapping
        The loops around operations of the line -> how often one of these ran that did most often, and how often those
        of one kind did together.
    turns : mapping
        Loops -> how many turns were written out before them, in all executions together.
    """
    return _within((), ran, turns)


def _within(around: Around, ran: Mapping[Around, tuple[int, int]], turns: Mapping[Node, int]) -> int:
    depth = len(around)
    inner = {other[depth]: None for other in ran if len(other) > depth and other[:depth] == around}
    often = [_within((*around, loop), ran, turns) for loop in inner]
    most, of_one_kind = ran.get(around, (0, 0))
    written = sum([turns[loop] for loop in inner])
    # what is here is of those turns, unless it is more: hoisted, or another operation of the loop's own line
    return sum(often) + min(of_one_kind, written) if written else max([most, *often])
