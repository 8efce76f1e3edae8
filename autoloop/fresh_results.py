"""Results that a function makes anew at each call though no graph computes them: arrays, sets, objects of the user's.

While it is traced the function makes them once. Whoever gets one may change it, and the next call must not show that.
"""

from __future__ import annotations

import collections
import dis
import enum
import types
from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base import nest

from .given_arrays import whole_of
from .operators.mutation.heap_snapshot import is_random, reached_from
from .operators.mutation.outside_world import leave
from .operators.mutation.parts_of_objects import MOST_OBJECTS, has_identity, is_users_object, is_wrapper
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
        made = [leaf for leaf in leaves if _is_callable(leaf)]
        if self.places or made:
            self._outside = {key: value for key, (value, _) in reached_from(roots).items()}
            is_known = len(self._outside) < MOST_OBJECTS
            self.places = [place for place in self.places if is_known and self._is_made_here(leaves[place])]
        for place in self.places:
            self._check(leaves[place])
        for leaf in made:
            if id(leaf) not in self._outside and self._holds_what_changes(leaf):
                leave(f"a {type(leaf).__name__} is a result, with variables or objects that each call makes anew", "")

    def _is_made_here(self, leaf: Any) -> bool:
        owner = whole_of(leaf) if isinstance(leaf, np.ndarray) else leaf
        return id(leaf) not in self._outside and id(owner) not in self._outside

    def _check(self, leaf: Any) -> None:
        """Leave the function to plain Python where a result cannot be made again: a generator, a lock, a file."""
        can_be_copied = not has_identity(leaf) or _is_users(leaf) or is_random(leaf)
        if can_be_copied:
            try:
                _copied(leaf, dict(self._outside))
            except Exception:
                can_be_copied = False
        if not can_be_copied:
            leave(f"a {type(leaf).__name__} is a result, which each call makes anew", "")

    def _holds_what_changes(self, leaf: Any) -> bool:
        """Return whether a function, or what is around one, holds what was made with it and may change."""
        held = [one for key, (one, _) in reached_from([leaf]).items() if one is not leaf and key not in self._outside]
        return any(map(_may_change, held)) or any(map(_sets_variables, [leaf, *held]))

    def put_into(self, leaves: list[Any]) -> None:
        """Replace these results by new ones; what is one object in several is one object in the new ones."""
        seen = dict(self._outside)
        for place in self.places:
            leaf = self._leaves[place]
            leaves[place] = copied(leaf, seen) if type(leaf) is np.ndarray else _copied(leaf, seen)


def _copied(leaf: Any, seen: dict[int, Any]) -> Any:
    """Return a deep copy; a class of tuples, which may take other arguments than elements, is not called for it."""
    import copy

    tuples = [one for one in inside([leaf]) if isinstance(one, tuple) and type(one) is not tuple]
    for one in reversed(tuples):  # what is inside comes first
        if id(one) not in seen:
            attributes = copy.deepcopy(getattr(one, "__dict__", {}), seen)
            seen[id(one)] = nest.tuple_of(type(one), [copy.deepcopy(part, seen) for part in one], attributes)
    return copy.deepcopy(leaf, seen)


def _is_callable(leaf: Any) -> bool:
    """Return whether a result is a function, or what is around one, of which each call may make another."""
    return is_wrapper(leaf) or isinstance(leaf, types.FunctionType)


def _sets_variables(value: Any) -> bool:
    """Return whether a function sets variables of the function around it."""
    codes = [value.__code__] if isinstance(value, types.FunctionType) and value.__closure__ else []
    for code in codes:  # grows as it is walked
        codes += [one for one in code.co_consts if isinstance(one, types.CodeType) and one.co_freevars]
        if any(step.opname == "STORE_DEREF" and step.argval in code.co_freevars for step in dis.get_instructions(code)):
            return True
    return False


def _may_change(leaf: Any) -> bool:
    if isinstance(leaf, (np.ndarray, *_CONTAINERS)) or is_random(leaf):
        return True
    return has_identity(leaf) or (_is_users(leaf) and hasattr(leaf, "__dict__"))


def _is_users(leaf: Any) -> bool:
    return is_users_object(leaf) and not isinstance(leaf, type | enum.Enum)
