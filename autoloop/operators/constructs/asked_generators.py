"""Whom a draw asks when it runs: the generator that the trace has seen, or the one that stands where it stood.

A global name is looked up by each run. What arguments, attributes and closures hold is *lent* to a run: a ``Slot``
stands for it in the trace, and has the methods of the generator of the present call. It belongs to one run at a time.
"""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.random_streams import Stand
from autoloop_runtime.ir.graph import Graph

from ..staging.container_contents import ObjectsOfTrace

#: the globals and the name by which a generator is reached
_Holder: TypeAlias = tuple[dict[str, Any], str]


class Slot:
    """What stands in a trace for the generator that each call has at one place.

    Attributes
    ----------
    methods : namespace
        Those that the trace asks, of the generator of the present run; written by who has the trace for itself.
    """

    __slots__ = ("_names", "methods")

    def __init__(self) -> None:
        self.methods = types.SimpleNamespace()
        self._names: set[str] = set()

    def use(self, name: str) -> None:
        """Note that the trace asks for a method."""
        self._names.add(name)

    def fill(self, generator: Any) -> None:
        """Let the runs ask a generator."""
        vars(self.methods).update([(name, getattr(generator, name)) for name in self._names])

    def clear(self) -> None:
        """Let go of it."""
        vars(self.methods).clear()


class LentGenerators:
    """The slots of a trace, by the id of the generator that each stands for, and whether it has copied generators; a
    record of a graph."""

    def __init__(self, slots: dict[int, Slot] | None = None) -> None:
        self.slots: dict[int, Slot] = {} if slots is None else slots
        self.are_copied = False

    def copy(self) -> LentGenerators:
        """Return the same slots, for an attempt that may be given up."""
        made = LentGenerators(dict(self.slots))
        made.are_copied = self.are_copied
        return made


@dataclass(frozen=True, eq=False)
class Asked:
    """How a run finds a method of a generator.

    Attributes
    ----------
    found : callable
        Gives it.
    text : str
        The expression for it, with the name ``asked``,
    word : object
        which stands for this.
    """

    found: Callable[[], Any]
    text: str
    word: Any

    def name(self, draw: Any, method: Any, given: Sequence[Any]) -> None:
        """Let what asks a generator for its ``method`` have the name of that, say what with, and where it stands."""
        found = self.found
        draw.__name__, draw.given = method.__name__, given
        draw.noted = lambda: Stand(found().__self__)


def asked_for(method: Any, graph: Graph, frame: types.FrameType) -> Asked:
    """Return how the runs of a graph find what converted code, in ``frame``, calls."""
    generator = method.__self__
    slot = graph.record(LentGenerators).slots.get(id(generator))
    if slot is not None:
        name, methods = method.__name__, slot.methods
        slot.use(name)
        return Asked(lambda: getattr(methods, name), f"asked.{name}", methods)
    holder = _global_name(generator, frame)
    if holder is None:
        return Asked(lambda: method, "asked", method)
    found = _followed(method, holder)
    return Asked(found, "asked()", found)


def hidden_generators() -> list[Any]:
    """Return the generators behind the functions of ``random`` and ``np.random``."""
    hidden: list[Any] = [random.random.__self__]  # type: ignore[attr-defined]
    if "numpy.random" in sys.modules:
        hidden.append(np.random.rand.__self__)  # type: ignore[attr-defined]
    return hidden


def is_found(generator: Any, graph: Graph) -> bool:
    """Return whether each run finds a generator: it was in the function's reach before the trace, or stands for one."""
    knows = graph.record(ObjectsOfTrace).is_of_world
    if knows is None or id(generator) in graph.record(LentGenerators).slots or knows(generator):
        return True
    return any(generator is one for one in hidden_generators())


def _global_name(generator: Any, frame: types.FrameType) -> _Holder | None:
    """Return the globals and the name by which converted code reaches a generator; None if by another way."""
    if any(value is generator for value in frame.f_locals.values()):
        return None
    namespace = frame.f_globals
    return next(((namespace, name) for name in frame.f_code.co_names if namespace.get(name) is generator), None)


def _followed(method: Any, holder: _Holder) -> Callable[[], Any]:
    """Return what gives the method of the generator that the global name stands for when the run asks."""
    namespace, name = holder
    generator = method.__self__

    def found() -> Any:
        now = namespace.get(name)
        return method if now is generator else getattr(now, method.__name__)

    return found
