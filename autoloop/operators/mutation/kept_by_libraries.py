"""What installed libraries keep while a function is traced: a value of the run has to be no part of that.

Their code runs as it is, with what stands for the values of the run, and what it does with those nobody follows: it may
put them in a list, a global, an attribute, a default, whatever way it came by them: a call, an operator, a property. So
what it may get at is noted before a trace and compared after it, as the user's world is. The walk begins at the
functions, objects and modules of installed packages that the user's code names, and goes wherever their names lead.

Where a value of the run was left there, or a list has another length, or a number another value, plain Python makes
the call: all that is put back before. What else has changed stays, for a library that fills a table of its own, or
makes something when it is first needed, does so once in plain Python, too.

To find out by its code what a library may keep would be to follow it, and to count who refers to a value, or to search
all objects for who does, tells no more than the walk, nothing of what has to be put back, and takes as long as all that
the process holds. The walk takes some hundredths of a millisecond for a small function, and ends after so many objects,
the nearest first.
"""

from __future__ import annotations

import itertools
import re
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from autoloop_runtime.base.callbacks import code_of
from autoloop_runtime.base.locations import Line, users_line
from autoloop_runtime.ir.tensor import Tensor

from ...conversion.callables import is_converted
from ...left_to_python import LeftToPython
from ..staging.standins import StandIn
from .held_in_libraries import Held, inside
from .walked_libraries import walked

#: so many objects are looked at for a value of the run, of what has changed in one place
_MOST_LOOKED_AT = 20_000
_OF_NUMBERS = re.compile(r"count\(-?\d+(, -?\d+)?\)")
_NUMBERS = (int, float, complex)
#: the code of functions of which a call was once left to Python, for what a library does besides; adding is
#: atomic
_ONCE: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


class Libraries:
    """What installed libraries hold when a trace begins.

    Parameters
    ----------
    roots : sequence of (str, object)
        What of them the function reaches, see ``installed_packages``.
    is_traced : bool
        Whether the function is: counters are lent to a trace.
    """

    def __init__(self, roots: Sequence[tuple[str, Any]], is_traced: bool = True) -> None:
        self._held = walked(roots)
        self._left: tuple[str, Line | None] | None = None
        #: where a list or a number has changed, and what lets it be as at the end of the trace
        self._moved: list[tuple[str, Callable[[], None]]] = []
        self._lent = list(_lent(self._held)) if is_traced else []

    def put_back(self) -> None:
        """Let libraries hold no value of the run, and have done nothing that plain Python does again."""
        for one, key, counter, lent in self._lent:
            if one.now().get(key) is lent:
                one.set(key, counter)
                if _count(lent) != _count(counter):
                    self._moved.append((one.called(key), partial(one.set, key, lent)))
        for one in self._held:
            now = one.now()
            if (changed := one.changed(now)) is None:
                continue
            kept = next(((name, found) for name, new, _ in changed if (found := _value_of_run(new)) is not None), None)
            if kept is not None:
                self._left = self._left or (kept[0], _line_of(kept[1]))
            elif (name := _moved(one, now, changed)) is not None:
                self._moved.append((name, partial(one.hold, now, one.before)))
            else:
                continue
            one.hold(one.before, now)

    def changed(self) -> Iterator[tuple[Held, Any]]:
        """Yield the places that hold something else now, and what that is."""
        for one in self._held:
            now = one.now()
            if one.changed(now) is not None:
                yield one, now

    def symbolic(self) -> str | None:
        """Return the name of a place that holds a value of the run now; None if there is none."""
        for one, now in self.changed():
            for name, new, _ in one.changed(now) or ():
                if _value_of_run(new) is not None:
                    return name
        return None

    def leave(self, function: Any, needs_graph: bool) -> None:
        """Let plain Python run a function of which a trace has left something in a library, which is put back by now.

        Raises
        ------
        LeftToPython
            Where it is a value of the run for all such calls. Where it is another change for this one, for a library
            may need it once; for all if the next trace leaves one, too. In what *needs a graph* such stay.
        """
        if self._left is not None:
            name, line = self._left
            raise LeftToPython(f"{name!r}, of an installed library, keeps a value of the run", line, is_shown=True)
        if not self._moved:
            return
        if needs_graph:
            for _, move in self._moved:
                move()
            return
        code = code_of(function)
        is_once = code is not None and code not in _ONCE
        if code is not None:
            _ONCE.add(code)
        raise LeftToPython(f"{self._moved[0][0]!r}, of an installed library, changes", is_once=is_once)


def _lent(held: Sequence[Held]) -> Iterator[tuple[Held, Any, Any, Any]]:
    """Let copies stand in the places of counters, ``itertools.count()``, which nobody can put back; yield where, and
    both. One may stand there by its method: ``itertools.count().__next__``."""
    copies: dict[int, Any] = {}
    for one in held:
        for key, value in one.before.items() if isinstance(one.before, dict) else ():
            is_method = type(value) is types.MethodWrapperType and value.__name__ == "__next__"
            counter = value.__self__ if is_method else value
            if type(counter) is itertools.count and _OF_NUMBERS.fullmatch(repr(counter)):
                numbers = map(int, re.findall(r"-?\d+", repr(counter)))
                copy = copies.setdefault(id(counter), itertools.count(*numbers))
                lent = copy.__next__ if is_method else copy
                one.set(key, lent)
                yield one, key, value, lent


def _count(value: Any) -> str:
    """Return where a counter, which may stand there by its method, is."""
    return repr(value.__self__ if type(value) is types.MethodWrapperType else value)


def _value_of_run(value: Any) -> Any:
    """Return what is, or stands for, a value of the run in something that a library holds; None if nothing is."""
    todo, seen = deque([value]), set[int]()
    while todo and len(seen) < _MOST_LOOKED_AT:
        one = todo.popleft()
        kind = type(one)
        if issubclass(kind, Tensor | StandIn):
            if not issubclass(kind, Tensor) or one.is_symbolic:
                return one
        elif id(one) not in seen:
            seen.add(id(one))
            if kind is types.FunctionType and is_converted(one.__code__):
                return one
            todo += inside(one)
    return None


def _line_of(kept: Any) -> Line | None:
    """Return the user's line that has made a value of the run."""
    node = kept.node if isinstance(kept, Tensor) else None
    return users_line(node.location) if node is not None and node.location else None


def _moved(held: Held, now: Any, changed: Sequence[tuple[str, Any, Any]]) -> str | None:
    """Return the name of what is a list of another length, or a number in place of another; None if nothing is."""
    if held.has_grown(now):
        return held.name
    numbers = [name for name, new, old in changed if type(new) in _NUMBERS and type(old) in _NUMBERS and new != old]
    return next(iter(numbers), None)
