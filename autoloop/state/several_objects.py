"""Objects that a trace takes for several: at each call they have to be.

Two lists that are only added to, two dicts that hold the same, two arrays that a test compares by ``is``: when they
become one between two calls, all that is guarded of them may stand as it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .noted import Guard, Reached
from .places import Place


def guards_of_several(reached: Reached, written: Sequence[Place], arrays: Sequence[Place]) -> list[Guard]:
    """Return the guards of objects that have to be several.

    Parameters
    ----------
    reached : Reached
    written : sequence of Place
        The places of containers and objects that the trace changes.
    arrays : sequence of Place
        The places of arrays that are inputs, each another one.
    """
    asked = reached.names.identities
    paths = {place.path for place in written}
    kinds: dict[type[Any], list[Place]] = {}
    for place, value in reached.holders:
        if not isinstance(value, type):
            kinds.setdefault(type(value), []).append(place)
    groups = [places for places in kinds.values() if asked or not paths.isdisjoint(place.path for place in places)]
    if asked:
        groups.append([*arrays])
    return [Guard("apart", first, others) for first, *others in filter(None, groups) if others]
