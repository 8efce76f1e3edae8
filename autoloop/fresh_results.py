"""Results that a function makes anew at each call though no graph computes them: arrays, sets, objects of the user's.

While it is traced the function makes them once. Whoever gets one may change it, and the next call must not show that.
"""

from __future__ import annotations

import collections
import copy
import enum
from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest

from .given_arrays import whole_of
from .operators.mutation.heap_snapshot import is_random, reached_from
from .operators.mutation.parts_of_objects import MOST_OBJECTS, is_users_object
from .operators.mutation.rebinding import inside
from .returned_views import copied

_CONTAINERS = (set, bytearray, dict, list, collections.deque)


class FreshResults:
    """Which results of a trace are to be made anew.

    Parameters
    ----------
    leaves : sequence
        The results, flat.
    roots : sequence
        The function and its arguments: what can be got at from these is handed back as it is.
    """

    def __init__(self, leaves: Sequence[Any], roots: Sequence[Any]) -> None:
        self._leaves = leaves
        self._outside: dict[int, Any] = {}
        #: the places of those results
        self.places = [place for place, leaf in enumerate(leaves) if _may_change(leaf)]
        if self.places:
            self._outside = {key: value for key, (value, _) in reached_from(roots).items()}
            is_known = len(self._outside) < MOST_OBJECTS
            self.places = [place for place in self.places if is_known and self._is_made_here(leaves[place])]

    def _is_made_here(self, leaf: Any) -> bool:
        owner = whole_of(leaf) if isinstance(leaf, np.ndarray) else leaf
        if id(leaf) in self._outside or id(owner) in self._outside:
            return False
        try:
            _copied(leaf, dict(self._outside))
        except Exception:  # a lock, a file: nothing that can be made again
            return False
        return True

    def put_into(self, leaves: list[Any]) -> None:
        """Replace these results by new ones; what is one object in several is one object in the new ones."""
        seen = dict(self._outside)
        for place in self.places:
            leaf = self._leaves[place]
            leaves[place] = copied(leaf, seen) if type(leaf) is np.ndarray else _copied(leaf, seen)


def _copied(leaf: Any, seen: dict[int, Any]) -> Any:
    """Return a deep copy; a class of tuples, which may take other arguments than elements, is not called for it."""
    tuples = [one for one in inside([leaf]) if isinstance(one, tuple) and type(one) is not tuple]
    for one in reversed(tuples):  # what is inside comes first
        if id(one) not in seen:
            attributes = copy.deepcopy(getattr(one, "__dict__", {}), seen)
            seen[id(one)] = nest.tuple_of(type(one), [copy.deepcopy(part, seen) for part in one], attributes)
    return copy.deepcopy(leaf, seen)


def _may_change(leaf: Any) -> bool:
    if isinstance(leaf, (np.ndarray, *_CONTAINERS)) or is_random(leaf):
        return True
    return is_users_object(leaf) and not isinstance(leaf, type | enum.Enum) and hasattr(leaf, "__dict__")
