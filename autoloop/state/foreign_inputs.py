"""Arrays of another library that a trace finds outside its arguments, and what it may not do to any: plain Python does
that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.dtypes import is_own
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.namespaces import NamespaceRefusal, namespace_of

from ..given_arrays import ForeignArray, namespace_among
from ..keys import is_input
from ..operators.mutation.outside_world import leave
from ..tracing import theirs_of

if TYPE_CHECKING:
    from autoloop_runtime.ir.graph import Graph

    from .noted import Reached
    from .places import Place
    from .retrials import Request


def found_array(value: Any) -> ForeignArray | None:
    """Return an array of another library as a trace takes it; None of all else, and of one that none can take."""
    try:
        namespace = namespace_of(value)
        spec = None if namespace is None else namespace.spec(value)
    except NamespaceRefusal:
        return None
    if namespace is None or spec is None or not is_own(spec[0]) or None in spec[1]:
        return None
    return ForeignArray(value, namespace, spec[0], tuple([n or 0 for n in spec[1]]))


def key_of(value: Any) -> Any:
    """Return what of such an array a trace depends on; None of all else."""
    found = found_array(value)
    return None if found is None else found.key


def note_foreign(reached: Reached, place: Place, value: Any) -> bool:
    """Note an array of another library that stands at a place; return whether it is one."""
    if (found := found_array(value)) is None:
        return False
    reached.guard("type", place, type(value))
    reached.of_others.append((place, found))
    reached.note_stranger(place, value)
    return True


def let_be_theirs(graph: Graph, request: Request, found: Sequence[Any], places: Sequence[Place]) -> None:
    """Let a graph be one that runs over arrays of the library of what is found; leave to plain Python those of two
    libraries, and an executor that needs NumPy's."""
    known = namespace_among([*request.leaves, *found])
    assert known is not None
    for leaf, place in zip(found, places):
        if type(leaf) is not ForeignArray:
            continue
        other = leaf.namespace
        if request.executor in ("native", "sequential"):
            leave(f"{place.name!r} is an array of {other.name}", "")
        if (known.name, known.device) != (other.name, other.device):
            leave(f"{place.name!r}, an array of {other.name}, is used beside one of {known.name}", "")
    if graph.theirs is None:
        graph.theirs = theirs_of(known, request.needs_graph or request.executor != "auto")


@dataclass(frozen=True, eq=False)
class SameForeign:
    """Which arguments are which arrays of another library that are found besides.

    Attributes
    ----------
    arguments, places : sequence of int
        Which inputs, and which of what is found.
    same : frozenset of (int, int)
        Those that are one.
    """

    arguments: Sequence[int]
    places: Sequence[int]
    same: frozenset[tuple[int, int]]

    def holds(self, values: Sequence[Any], found: Sequence[Any]) -> bool:
        """Return whether they are so in a call."""
        return all(
            (values[one] is found[other]) == ((one, other) in self.same)
            for one in self.arguments
            for other in self.places
        )


def joined_foreign(arguments: Sequence[Any], found: Sequence[Any]) -> tuple[list[Any], SameForeign | None, list[int]]:
    """Return what is found with those that are arrays before them told so, what has to be seen of that at a call, and
    which is the same as which of what is found, itself if it is the first."""
    made, same, first = list(found), set[tuple[int, int]](), list(range(len(found)))
    inputs = [k for k, leaf in enumerate(arguments) if type(leaf) is ForeignArray]
    numbers = {k: sum(map(is_input, arguments[:k])) for k in inputs}
    known = {id(arguments[k].value): k for k in reversed(inputs)}
    places = [k for k, leaf in enumerate(found) if type(leaf) is ForeignArray]
    for k in places:
        leaf = found[k]
        same.update((numbers[one], k) for one in inputs if arguments[one].value is leaf.value)
        again = known.setdefault(id(leaf.value), len(arguments) + k)
        if again != len(arguments) + k:
            made[k] = ForeignArray(leaf.value, leaf.namespace, leaf.dtype, leaf.shape, again)
            first[k] = again - len(arguments) if again >= len(arguments) else k
    told = SameForeign(list(numbers.values()), places, frozenset(same)) if inputs and places else None
    return made, told, first


def leave_foreign(leaves: Sequence[Any], symbolic: Sequence[Any]) -> None:
    """Leave a function to Python that writes to an array of another library, or asks how one lies in memory.

    Parameters
    ----------
    leaves : sequence
        The arguments, flat, as the trace takes them.
    symbolic : sequence
        What stands for them in the trace.
    """
    for leaf, one in zip(leaves, symbolic):
        storage = kept(one) if type(leaf) is ForeignArray else None
        if storage is not None and (storage.version or storage.is_lying_asked):
            what = "is written to" if storage.version else "is asked how it lies in memory"
            leave(f"an argument that is an array of {leaf.namespace.name} {what}", "")
