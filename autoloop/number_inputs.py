"""What of the arguments keeps changing: Python numbers are inputs of one trace then, where each value had one of its
own, of extents of arrays see ``extent_inputs``, and of calls that are all of other kinds ``new_kinds``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.forks import undivided

from .concrete import CalledPlain
from .keys import Number, call_key, class_key, leaf_key
from .plain_python import PlainPython, Spent

if TYPE_CHECKING:
    from .extent_inputs import ExtentInputs
    from .new_kinds import NewKinds

#: how many values of a number are traced before it is taken for one that keeps changing
MOST_VALUES = 2
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
        #: of these, what graphs were made of
        self._graphs: set[Any] = set()
        #: calls but for their numbers -> which leaves have to be constants: a trace needs their values
        self._fixed: dict[Any, set[int]] = {}

    def changing(self, structure: Any, leaves: Sequence[Any]) -> list[int]:
        """Return which leaves of a call are numbers that keep changing, floats first.

        The third value of one starts it. A float is an input beside others with its second: a few ints in turn may be
        modes, of which each has its own best code.
        """
        places = [k for k, leaf in enumerate(leaves) if type(leaf) in (int, float)]
        if not places:
            return []
        kind = self._kind(structure, leaves)
        earlier, fixed = self._traced.get(kind, ()), self._fixed.get(kind, ())
        if len(earlier) < MOST_VALUES:
            return []
        counts = [(k, len(set(values))) for k, *values in zip(places, self._numbers(leaves), *earlier)]
        often = [k for k, count in counts if count > MOST_VALUES and k not in fixed and _fits(leaves[k])]
        if not often:
            return []
        floats = [k for k, count in counts if count > 1 and type(leaves[k]) is float and k not in fixed]
        return floats + [k for k in often if type(leaves[k]) is int]

    def traced(self, structure: Any, leaves: Sequence[Any], trace: Any) -> None:
        """Note a trace that was made for, or with, these values of its numbers."""
        if any(type(leaf) in (int, float) for leaf in leaves):
            kind = self._kind(structure, leaves)
            self._traced.setdefault(kind, []).append(self._numbers(leaves))
            if not isinstance(trace, PlainPython):
                self._graphs.add(kind)

    def needs_values(self, structure: Any, leaves: Sequence[Any], trace: Any) -> bool:
        """Return whether plain Python has to stand in for a trace with inputs, where there are graphs of such calls."""
        return isinstance(trace, PlainPython) and self._kind(structure, leaves) in self._graphs

    def fix(self, structure: Any, leaves: Sequence[Any], places: Iterable[int]) -> None:
        """Note that the function cannot be traced without the values of these numbers."""
        self._fixed.setdefault(self._kind(structure, leaves), set()).update(places)

    @staticmethod
    def _kind(structure: Any, leaves: Sequence[Any]) -> Any:
        return structure, tuple([type(x) if type(x) in (int, float) else leaf_key(x) for x in leaves])

    @staticmethod
    def _numbers(leaves: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([leaf_key(x) for x in leaves if type(x) in (int, float)])


def _fits(number: float) -> bool:
    """Return whether a number can be an input: a longer int is a constant of its calls."""
    return type(number) is float or -(2**63) <= number < 2**63


def _attempts(changing: list[int], leaves: Sequence[Any]) -> list[list[int]]:
    """Return which numbers are tried as inputs of one trace, in turn: all, the floats, each alone."""
    floats = [k for k in changing if type(leaves[k]) is float]
    made = [changing, floats, *([k] for k in changing)]
    return [one for place, one in enumerate(made) if one and one not in made[:place]]


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
        changing = self._numbers.changing(structure, leaves)
        for places in _attempts(changing, leaves):
            inputs = [Number(leaf) if k in places else leaf for k, leaf in enumerate(leaves)]
            key = call_key(structure, inputs)
            if (known := found(key, inputs)) is not None:
                return known, inputs
            try:
                trace = make(inputs, structure, key)
            except (TypeError, ValueError, NotImplementedError, RecursionError):  # it asks for what only values tell
                continue
            if self._numbers.needs_values(structure, leaves, trace):
                continue
            self._numbers.traced(structure, leaves, trace)
            if len(places) < len(changing):
                self._numbers.fix(structure, leaves, set(changing) - set(places))
            return trace, inputs
        if changing:
            self._numbers.fix(structure, leaves, changing)
        return None, leaves

    def traced(self, structure: Any, leaves: Sequence[Any], trace: Any) -> None:
        """Note a trace that was made for these values and extents."""
        self._numbers.traced(structure, leaves, trace)
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
