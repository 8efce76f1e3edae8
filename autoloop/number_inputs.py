"""What of the arguments keeps changing: Python numbers are inputs of one trace then, where each value had one of its
own, of extents of arrays see ``extent_inputs``, and of calls that are all of other kinds ``new_kinds``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.forks import undivided

from .concrete import CalledPlain
from .keys import Number, call_key, class_key, leaf_key
from .plain_python import Spent

if TYPE_CHECKING:
    from .extent_inputs import ExtentInputs
    from .new_kinds import NewKinds

#: how many values of a number are traced before it is taken for one that keeps changing
MOST_VALUES = 5
#: what traces weigh together before it is looked at whether they pay
_FEW = 8
#: of so many kinds of calls it is noted which numbers are inputs
_MOST_TAKEN = 64
#: the weight of an attempt that the function itself has stopped
_OF_STOPPED = 2


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
#: takes the structure and leaves of a call, what finds and what makes a trace, and gives a trace and its leaves
Look = Callable[[Any, list[Any], Found, Make], tuple[Any, list[Any]]]


class ChangingInputs:
    """What is known of the arguments of one function that keep changing; guarded by the lock of its traces.

    Parameters
    ----------
    function : callable
        The undecorated one.
    executor, name : str
    told : set of str
        What the function has warned of.
    """

    def __init__(self, function: Callable[..., Any], executor: str, name: str, told: set[str]) -> None:
        self._numbers = NumberInputs()
        self.spent = Spent()
        #: there once the traces weigh much
        self._kinds: NewKinds | None = None
        self._about = None if executor == "native" else (function, name, told)
        #: there once a second trace was made
        self._extents: ExtentInputs | None = None
        self._has_trace = False
        #: structures and types of calls in which numbers were inputs -> which; only added to, by any thread
        self._taken: dict[Any, tuple[bool, ...]] = {}

    def taken(self, structure: Any, leaves: list[Any]) -> list[Any]:
        """Return the leaves of a call with ``Number`` where the latest like it had that, of which there may be a trace
        that is known already; the same list if there are none."""
        places = self._taken.get((structure, tuple(map(type, leaves)))) if self._taken else None
        if places is None:
            return leaves
        try:
            return [Number(one) if its else one for one, its in zip(leaves, places)]
        except OverflowError:
            return leaves

    def take(self, structure: Any, given: list[Any], leaves: list[Any]) -> None:
        """Note which numbers were inputs of a call, of its leaves as they were given and as the trace takes them."""
        places = tuple([type(one) is Number and type(its) is not Number for one, its in zip(leaves, given)])
        if any(places) and len(self._taken) < _MOST_TAKEN:
            self._taken[structure, tuple(map(type, given))] = places

    def look(self, needs_graph: bool, may_be_plain: bool, receiver: tuple[Any, ...]) -> Look:
        """Return what finds the trace of a call that keeps changing: in which way is known of the function; of a method
        with its instance."""
        return self.of_numbers if needs_graph else partial(self.of_call, receiver) if may_be_plain else self.of_any

    def of_any(self, structure: Any, leaves: list[Any], found: Found, make: Make) -> tuple[Any, list[Any]]:
        """Return the trace that takes numbers or extents which keep changing as they come, if there are such, and its
        leaves."""
        trace, inputs = self.of_numbers(structure, leaves, found, make)
        if trace is not None or self._extents is None:
            return trace, inputs
        return self._extents.of_extents(structure, leaves, found, make)

    def of_call(
        self, receiver: tuple[Any, ...], structure: Any, leaves: list[Any], found: Found, make: Make
    ) -> tuple[Any, list[Any]]:  # fmt: skip
        """Do as ``of_any`` for a call that may be one of plain Python.

        Raises
        ------
        Waits
            If it is to be one, see ``new_kinds``.
        """
        if self.spent.weight <= _FEW or self._about is None:
            return self.of_any(structure, leaves, found, make)
        if self._kinds is None:
            with undivided():
                from .new_kinds import NewKinds

            self._kinds = NewKinds(*self._about)
        leave_first = partial(self._kinds.leave_first, self.spent, (*receiver, *leaves))

        def made(inputs: list[Any], structure: Any, key: Any, *more: Any) -> Any:
            leave_first(class_key(key) or key)
            return make(inputs, structure, key, *more)

        trace, inputs = self.of_any(structure, leaves, found, made)
        if trace is None:
            key = call_key(structure, leaves)
            leave_first(class_key(key) or key)
        return trace, inputs

    def of_numbers(self, structure: Any, leaves: list[Any], found: Found, make: Make) -> tuple[Any, list[Any]]:
        """Return the trace that takes numbers which keep changing as inputs, if there are such, and its leaves."""
        inputs = self._numbers.inputs(structure, leaves)
        if inputs is None:
            return None, leaves
        key = call_key(structure, inputs)
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

    @contextmanager
    def weighed(self) -> Iterator[Callable[[Any, tuple[Any, ...], tuple[Any, ...]], None]]:
        """Note what an attempt to trace weighs: the function that is given here is to be given what was made, the
        instance of a method, and the arguments."""
        begun = time.perf_counter()

        def weigh(made: Any, receiver: tuple[Any, ...], call: tuple[Any, ...]) -> None:
            self.spent.add(made, time.perf_counter() - begun)
            if self._about is not None:
                self.spent.note_types(made, receiver, call)

        try:
            yield weigh
        except CalledPlain:
            self.spent.weight += _OF_STOPPED
            raise
        finally:
            Spent.total += time.perf_counter() - begun
