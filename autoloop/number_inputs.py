"""Python numbers among the arguments that keep changing: inputs of one trace, where each value had one of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .keys import Number, leaf_key

#: how many values of a number are traced before it is taken for one that keeps changing
MOST_VALUES = 5


class NumberInputs:
    """What is known of the numbers among the arguments of one function; guarded by the lock of its traces."""

    def __init__(self) -> None:
        #: the calls but for their numbers -> what the numbers were in each trace
        self._traced: dict[Any, list[tuple[Any, ...]]] = {}
        #: of which it was found that a trace needs their values
        self._fixed: set[Any] = set()

    def inputs(self, structure: Any, leaves: Sequence[Any]) -> list[Any] | None:
        """Return the leaves of a call with ``Number`` for those that keep changing; None if there are none."""
        places = [k for k, leaf in enumerate(leaves) if type(leaf) in (int, float)]
        kind = self._kind(structure, leaves)
        earlier = self._traced.get(kind, [])
        if not places or kind in self._fixed or len(earlier) < MOST_VALUES:
            return None
        now = self._numbers(leaves)
        changing = [k for k, *values in zip(places, now, *earlier) if len(set(values)) >= MOST_VALUES]
        if not changing:
            return None
        return [Number(leaf) if k in changing else leaf for k, leaf in enumerate(leaves)]

    def traced(self, structure: Any, leaves: Sequence[Any]) -> None:
        """Note a trace that was made for the values of its numbers."""
        if any(type(leaf) in (int, float) for leaf in leaves):
            self._traced.setdefault(self._kind(structure, leaves), []).append(self._numbers(leaves))

    def fix(self, structure: Any, leaves: Sequence[Any]) -> None:
        """Note that the function cannot be traced without the values of these numbers."""
        self._fixed.add(self._kind(structure, leaves))

    @staticmethod
    def _kind(structure: Any, leaves: Sequence[Any]) -> Any:
        return structure, tuple([type(x) if type(x) in (int, float) else leaf_key(x) for x in leaves])

    @staticmethod
    def _numbers(leaves: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([leaf_key(x) for x in leaves if type(x) in (int, float)])
