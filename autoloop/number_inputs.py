"""What of the arguments keeps changing: Python numbers are inputs of one trace then, where each value had one of its
own, and of extents of arrays see ``extent_inputs``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.forks import undivided

from .keys import Number, leaf_key

if TYPE_CHECKING:
    from .extent_inputs import ExtentInputs

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


#: what finds a trace by its key and leaves, and what makes one: of leaves, their structure and the key
Found = Callable[[Any, list[Any]], Any]
Make = Callable[..., Any]


class ChangingInputs:
    """What is known of the arguments of one function that keep changing; guarded by the lock of its traces."""

    def __init__(self) -> None:
        self._numbers = NumberInputs()
        #: there once a second trace was made
        self._extents: ExtentInputs | None = None
        self._has_trace = False

    def of_any(self, structure: Any, leaves: list[Any], found: Found, make: Make) -> tuple[Any, list[Any]]:
        """Return the trace that takes numbers or extents which keep changing as they come, if there are such, and its
        leaves."""
        trace, inputs = self.of_numbers(structure, leaves, found, make)
        if trace is not None or self._extents is None:
            return trace, inputs
        return self._extents.of_extents(structure, leaves, found, make)

    def of_numbers(self, structure: Any, leaves: list[Any], found: Found, make: Make) -> tuple[Any, list[Any]]:
        """Return the trace that takes numbers which keep changing as inputs, if there are such, and its leaves."""
        inputs = self._numbers.inputs(structure, leaves)
        if inputs is None:
            return None, leaves
        key = (structure, tuple([leaf_key(leaf) for leaf in inputs]))
        try:
            return found(key, inputs) or make(inputs, structure, key), inputs
        except (TypeError, ValueError, NotImplementedError, RecursionError):  # it asks for what only their values tell
            self._numbers.fix(structure, leaves)
            return None, leaves

    def traced(self, structure: Any, leaves: Sequence[Any], trace: Any) -> None:
        """Note a trace that was made for these values and extents."""
        self._numbers.traced(structure, leaves)
        if self._extents is None and self._has_trace:
            with undivided():
                from .extent_inputs import ExtentInputs

            self._extents = ExtentInputs()
        self._has_trace = True
        if self._extents is not None:
            self._extents.traced(structure, leaves, trace)
