"""What is noted of the world that a function reaches."""

from __future__ import annotations

import types
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.ir.graph import Graph

from ..given_arrays import may_be_foreign
from .code_names import Names
from .places import Place


@dataclass(frozen=True, eq=False)
class Guard:
    """What has to hold at a place for a trace to fit.

    Attributes
    ----------
    kind : str
        A row of the table in ``guards``: ``equal``, ``is``, ``type``, ``length``, ``keys``, ``elements``, ``held`` (in
        a container of a user's class), ``contents`` (of an array); ``attributes`` (all there are), ``bare`` (none),
        ``missing`` and ``holds`` (attributes), ``unset`` (attribute of a class with slots), ``empty`` (a cell),
        ``absent`` (key);
        ``names`` (how many a class has, and the last), ``registered`` (what is, with abstract classes); ``same`` (as
        another place), ``memory`` (the same as of another place), ``part`` (of another place, and which), ``apart``
        (another object than at each of several places).
    place : Place
    known : object
        What it is compared with.
    """

    kind: str
    place: Place
    known: Any


#: values that are shown as they are; of others their types, by name: a trace keeps no object alive
_SHOWN = (bool, int, float, complex, str, bytes, type(None), np.generic)
#: so many guards of a trace are told of, in the order in which they are reached
MOST_TOLD = 4096
#: what is told of guards, by their kinds
_TOLD = frozenset({"equal", "is", "elements", "keys", "length"})


@dataclass(frozen=True)
class Guarded:
    """What has to stand at a place for a trace to fit, as ``explain`` tells it.

    Attributes
    ----------
    name : str
        The place.
    kind : str
        That of the guard.
    value : object
        A number, text or the like; the name of the type of others, and where that object is, by its id.
    """

    name: str
    kind: str
    value: Any

    @property
    def is_plain(self) -> bool:
        """Whether it is a number, a text or the like, which is compared by its value."""
        return self.kind == "equal" and isinstance(self.value, _SHOWN)


class GuardsOfTrace:
    """The guards of a trace, a record of its graph."""

    def __init__(self) -> None:
        #: name, kind and value of each
        self.told: tuple[tuple[str, str, Any], ...] = ()

    def copy(self) -> GuardsOfTrace:
        """Return the same."""
        return self


def note_guards(graph: Graph, guards: Sequence[Guard]) -> None:
    """Note with the graph of a trace what has to hold for it to fit."""
    told = (one for one in guards if one.kind in _TOLD)
    graph.record(GuardsOfTrace).told = tuple(map(_told, islice(told, MOST_TOLD)))


def guards_of(graph: Graph) -> tuple[Guarded, ...]:
    """Return what has to hold for a trace to fit, by its graph."""
    return tuple([Guarded(*one) for one in graph.record(GuardsOfTrace).told])


def _told(guard: Guard) -> tuple[str, str, Any]:
    known = guard.known
    if guard.kind == "length" or (guard.kind == "equal" and isinstance(known, _SHOWN)):
        return guard.place.name, guard.kind, known
    return guard.place.name, guard.kind, (type(known).__name__, id(known))


class Reached:
    """What a function reaches, besides its arguments.

    Attributes
    ----------
    guards : list of Guard
        Parents before what they hold.
    arrays, numbers : list of (Place, object)
        Arrays and tensors, and Python numbers and NumPy scalars, where another value can be put.
    of_others : list of (Place, ForeignArray)
        Arrays of other libraries.
    generators : list of (Place, object)
        Generators of random numbers, which each call may lend.
    holders : list of (Place, object)
        Containers, objects and classes, which may change.
    variables : dict
        ``(id of namespace, name)`` -> namespace and name, of the globals that code in reach uses.
    cells : list of (Place, cell)
        The variables of closures.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.guards: list[Guard] = []
        self.arrays: list[tuple[Place, Any]] = []
        self.numbers: list[tuple[Place, Any]] = []
        self.of_others: list[tuple[Place, Any]] = []
        self.generators: list[tuple[Place, Any]] = []
        self.holders: list[tuple[Place, Any]] = []
        self._held: set[int] = set()  # their ids
        self.variables: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
        self.cells: list[tuple[Place, types.CellType]] = []
        #: functions of which another one of the same code may stand there, and tuples whose elements are looked at one
        #: by one, by their paths: what such functions are given as defaults, or by a partial
        self.made_anew: list[tuple[Place, types.FunctionType]] = []
        self.one_by_one: set[tuple[Any, ...]] = set()
        #: whether something holds functions that are not looked at: code may ask if one of those is one of these
        self.hides_functions = False
        #: objects by id, which stay theirs, and where they stand
        self.seen: dict[int, tuple[Any, Place]] = {}
        #: those of them that are containers among the arguments: a trace has others in their places
        self.given: dict[int, tuple[Any, Place]] = {}
        #: the containers, by id, that are only added to, so that what they hold is not guarded
        self.added_to: set[int] = set()
        #: the places that code of a library reads, by names that are not looked at
        self.unnamed: set[tuple[Any, ...]] = set()
        #: modules that code names, by id, the packages that it stands in, and what was known when they were
        self.modules: dict[int, types.ModuleType] = {}
        #: by which names code calls modules, and of which names it is noted that modules have them not, by their ids
        self.called: dict[int, set[str]] = {}
        self.absent: dict[int, set[str | None]] = {}
        self.packages: set[str] = set()
        self.looked: Any = None
        #: what was known of names when a module was looked at, by its id; which modules not loaded are a library's
        self.walked: dict[int, tuple[Any, frozenset[str]]] = {}
        self.stored: frozenset[str] = frozenset()
        self.specs: dict[str, bool] = {}
        #: what cannot be read and written as places, in words
        self.hidden: list[str] = []
        #: functions of libraries and, by their ids, variables of these, what each holds, and what is in there
        self.closures: dict[int, tuple[types.CellType | None, Any, Any]] = {}
        #: classes of libraries that were looked at, by id
        self.libraries: dict[int, type] = {}
        #: objects of libraries, and what attributes each has: code may give them some
        self.strangers: list[tuple[Place, Any, dict[str, Any]]] = []
        #: functions, classes and objects of libraries that code has names for
        self.of_libraries: list[tuple[Place, Any]] = []

    def visit(self, place: Place, value: Any) -> None:
        """Look at a place later, when all before it were."""
        raise NotImplementedError

    def guard(self, kind: str, place: Place, known: Any) -> None:
        """Note what has to hold."""
        self.guards.append(Guard(kind, place, known))

    def hold(self, place: Place, value: Any) -> None:
        """Note an object that holds others."""
        self.holders.append((place, value))
        self._held.add(id(value))

    def is_held(self, value: Any) -> bool:
        """Return whether an object is noted as one that holds others; of large programs, each class asks often."""
        return id(value) in self._held

    def note_stranger(self, place: Place, value: Any) -> dict[str, Any]:
        """Return what attributes an object of a library has; note them where code may give it others."""
        if not may_be_foreign(type(value)):  # their libraries get real arrays, if any, and have counters and caches
            self.of_libraries.append((place, value))
        held: Any = getattr(value, "__dict__", None)
        if type(held) is not dict and not isinstance(value, type):
            return {}
        found: dict[str, Any] = dict(held) if isinstance(value, type) else held
        if self.names.settable():
            self.strangers.append((place, value, found.copy()))
        return found
