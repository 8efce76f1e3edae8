"""What was there before a function was traced: whose hidden state a trace must not change.

An iterator that the function makes begins anew at each call; one that it finds goes on. The first may be advanced while
the function is traced, the second only by the calls themselves. A generator of random numbers that it makes gives its
numbers at once, too. In a loop or branch, which is traced once, it cannot: then the trace is made again, and each run
makes the generator, and asks that in every iteration.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn, TypeVar

from autoloop_runtime.base.callbacks import module_of
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.locations import capture, users_line
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.tracers import DecidedNumber, number_of

from ...left_to_python import WORLD, LeftToPython, is_followed, refuse_unknown
from ..staging.staged_blocks import in_staged_block
from .heap_snapshot import is_random, random_state, reached_from

_Made = TypeVar("_Made")

#: what holds other iterators by references that the collector knows
_LAZY_MODULES = ("builtins", "itertools")
_DEEPEST = 8


class World:
    """What a trace began with.

    Parameters
    ----------
    roots : sequence
        The function that is traced, and its arguments.
    leaves : sequence
        What these hold for the graph now: the function may leave other tensors in them.
    """

    def __init__(self, roots: Sequence[Any], leaves: Sequence[Any]) -> None:
        self._roots = roots
        #: made when somebody asks, as few do: what the function itself has left in its reach since counts too, and
        #: then plain Python is as right
        self._known: dict[int, tuple[Any, str]] | None = None
        self._takes_tensors = number_of(leaves) is DecidedNumber

    def takes_tensors(self) -> bool:
        """Return whether an argument is, or holds, a tensor: what the run decides comes back as tensors then."""
        return self._takes_tensors

    def name_of(self, value: Any) -> str | None:
        """Return what leads to an object that the function finds; None for one that it made itself."""
        if self._known is None:
            self._known = reached_from(self._roots)
        found = self._known.get(id(value))
        return None if found is None else found[1]

    def holds(self, values: Sequence[Any]) -> str | None:
        """Return the name of one of some values that the function finds now, in a block that works on copies, too."""
        reached = reached_from(self._roots)
        return next((reached[id(one)][1] for one in values if id(one) in reached), None)

    @staticmethod
    def reached(roots: Sequence[Any]) -> Collection[int]:
        """Return the objects, by id, that can be got at from some."""
        return reached_from(roots)

    def in_force(self) -> Setting[None]:
        """Return a context manager in which this is the world of the trace."""
        return Setting(None, (WORLD, self))


def found_outside(value: Any) -> str | None:
    """Return the name of what the traced function has not made itself, "" if it has none; None otherwise."""
    world: World | None = WORLD.get()
    return None if world is None or current_graph() is None else world.name_of(value)


def is_made_anew(value: Any) -> bool:
    """Return whether it is a generator of random numbers, or an iterator, that each call of the traced function makes
    itself, and that advances nothing from outside."""
    if hasattr(type(value), "__next__"):
        return moving(value) is None
    return is_random(value) and found_outside(value) is None


def moving(value: Any, depth: int = 0) -> tuple[Any, str] | None:
    """Return the iterator from outside, and its name, that is advanced when ``value`` is run over; None if none is."""
    if depth > _DEEPEST:
        return None
    if type(value) is tuple and depth:  # the parts of a zip
        return next((found for one in value if (found := moving(one, depth + 1)) is not None), None)
    if not hasattr(type(value), "__next__"):
        return None
    if (name := found_outside(value)) is not None:
        return value, name
    if isinstance(value, types.GeneratorType):
        inner: Sequence[Any] = [] if value.gi_frame is None else [*value.gi_frame.f_locals.values()]
    else:
        inner = gc.get_referents(value) if module_of(type(value)) in _LAZY_MODULES else []
    return next((found for one in inner if (found := moving(one, depth + 1)) is not None), None)


def stays(value: Any) -> Any:
    """Return what is to be run over, if nothing outside changes by that.

    Raises
    ------
    LeftToPython
        If an iterator from outside would be advanced.
    TypeError
        If it would be in a loop or branch of the graph, and plain Python cannot run the function.
    """
    if hasattr(type(value), "__next__") and is_followed() and (found := moving(value)) is not None:
        one, name = found
        leave(
            f"the {type(one).__name__}{f' {name!r}' if name else ''} is advanced",
            "it would not be advanced in every iteration; put its values in a tensor, and loop over that",
        )
    return value


def leave(what: str, otherwise: str) -> NoReturn:
    """Let plain Python run the function that is traced.

    Parameters
    ----------
    what : str
        What it is about to do.
    otherwise : str
        What would be wrong in a loop or branch of the graph, and what to do instead.

    Raises
    ------
    LeftToPython
    TypeError
        In a loop or branch, if plain Python cannot.
    """
    graph = current_graph()
    if in_staged_block() or (graph is not None and graph is not graph.root):
        refuse_unknown(f"{what} in a loop or branch on tensors, which is traced once", otherwise)
    raise LeftToPython(what, users_line(capture()))


@dataclass(eq=False)
class ByRuns:
    """Whether runs make the generators of a trace; shared by the attempts of that.

    Attributes
    ----------
    are_made : bool
        Whether they do.
    are_wanted : bool
        Whether a loop or branch has asked one that the trace has made.
    """

    are_made: bool = False
    are_wanted: bool = False


class MadeGenerators:
    """The generators that the function of a graph makes; a record of it.

    Attributes
    ----------
    asked_now : list
        Those that give their numbers while tracing.
    for_runs : list of tuple
        Those that runs make: the trace's own, where it stands, what makes another.
    by_runs : ByRuns
    """

    def __init__(self) -> None:
        self.asked_now: list[Any] = []
        self.for_runs: list[tuple[Any, Any, Callable[[], Any]]] = []
        self.by_runs = ByRuns()

    def copy(self) -> MadeGenerators:
        """Return the same, for an attempt that may be given up."""
        made = MadeGenerators()
        made.asked_now, made.for_runs, made.by_runs = list(self.asked_now), list(self.for_runs), self.by_runs
        return made

    def note_for_runs(self, generator: Any, make: Callable[[], Any]) -> None:
        """Note one that runs make."""
        self.for_runs.append((generator, random_state(generator), make))

    def gives_now(self, generator: Any) -> bool:
        """Return whether a generator is one that is asked while tracing."""
        return any(generator is one for one in self.asked_now)

    def are_moved(self) -> bool:
        """Return whether somebody has asked the trace's own in place of those of the runs."""
        return any(random_state(one) != state for one, state, _ in self.for_runs)


def made_in(graph: Graph) -> MadeGenerators:
    """Return the generators that the function of a graph makes."""
    return graph.root.record(MadeGenerators)


def want_of_runs(generator: Any) -> None:
    """Note that a loop or branch asks a generator."""
    graph = current_graph()
    if graph is not None and (made := made_in(graph)).gives_now(generator):
        made.by_runs.are_wanted = True


def by_runs_where_wanted(trace: Callable[[ByRuns], _Made]) -> _Made:
    """Return what ``trace`` makes; where a loop or branch asks a generator that the function makes, once more, for runs
    that make it."""
    by_runs = ByRuns()
    try:
        return trace(by_runs)
    except (Exception, LeftToPython) as error:
        if not by_runs.are_wanted:
            raise
        first = error
    try:
        return trace(ByRuns(are_made=True))
    except (Exception, LeftToPython):
        raise first from None
    finally:
        del first
