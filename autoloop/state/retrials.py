"""Tracing in a world: arrays and numbers there are inputs where the trace allows it, and constants where it does not.

The first trace guards the numbers. Those that it changes are inputs of the next, so that a counter makes no trace at
each call. A trace that asks for what only the values of arrays tell is made again with these as constants.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.analysis.failure import graph_can_fail
from autoloop_runtime.analysis.inside import loops_inside, nodes_inside
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass, field
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.records import call_records
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_spec import TensorSpec
from autoloop_runtime.ir.tracers import DecidedNumber, own_kind

from .. import state
from ..concrete import CalledPlain, ConcreteFunction
from ..errors import is_of_tracing
from ..keys import is_input
from ..left_to_python import LeftToPython
from ..operators.constructs.door import result_of
from ..operators.mutation.outside_world import ByRuns, by_runs_where_wanted, leave, made_in
from ..operators.mutation.rebinding import LookedAt
from ..operators.mutation.slots import SetGlobals
from ..operators.staging.container_contents import CopiesOfTrace, ObjectsOfTrace
from ..operators.staging.raising import leaves_behind
from ..parameters import Parameters
from ..tracing import attempted, finished, placeholders, tell_doubtful, traced
from .closures_of_libraries import left_in_libraries
from .noted import Guard, Reached, note_guards
from .overlaps import Related
from .places import RECEIVER, Place, spoken
from .reached import leave_hidden, reached_from
from .stateful import TRACING, Variant
from .unchanging import PLAIN
from .unread_guards import guards_of_several, guards_of_unread
from .world import Changes, World, WorldInputs

if TYPE_CHECKING:
    from .guards import Input
    from .lent_generators import Lending

#: a number of which so many values were traced is an input
MOST_VALUES = 5
#: so many nodes and guards of a trace weigh as much as a small trace
_FOR_ONE = 128
#: so often numbers that a trace changes become inputs of the next
_MOST_ROUNDS = 4


@dataclass(frozen=True, eq=False)
class Request:
    """What is to be traced.

    Attributes
    ----------
    name, executor : str
    function, target : callable
        The user's, and what is called in its place.
    parameters : Parameters
    call : tuple
        The arguments.
    leaves : list
        The arguments, flat, as the trace takes them.
    structure : object
    specs : list or None
        What an ``input_signature`` says of the leaves.
    same : sequence of int
        Which leaf each of them is the same array as.
    receiver : callable or None
        Gives the instance of a method.
    settings : dict
        Attributes of the graph.
    exactly : bool
        Whether arrays of the world have to lie in memory as they do now.
    needs_graph : bool
        Whether the undecorated function would not do the same.
    raised : set of int
        By id, the exceptions of attempts that plain Python raises as well, whatever it is that runs the call.
    """

    name: str
    executor: str
    function: Callable[..., Any]
    target: Callable[..., Any]
    parameters: Parameters
    call: tuple[Any, ...]
    leaves: list[Any]
    structure: Any
    specs: Sequence[Any] | None
    same: Sequence[int]
    receiver: Callable[[], Any] | None
    settings: dict[str, Any]
    exactly: bool
    needs_graph: bool
    raised: set[int] = field(default_factory=set)

    def is_pythons(self, error: BaseException) -> bool:
        """Return whether plain Python surely raises an exception of the trace, and would be called."""
        is_pythons = state.is_plains(error) and not self.needs_graph
        if is_pythons and self.is_of_arrays:
            self.raised.add(id(error))
        return is_pythons

    def walk(self) -> Reached:
        """Return what the function reaches."""
        receiver = None if self.receiver is None else (RECEIVER, self.receiver())
        arguments = [name for name, _ in self.parameters.named(self.call)]
        return reached_from(self.function, self.call, receiver, arguments=arguments)

    @property
    def is_of_arrays(self) -> bool:
        """Whether plain Python gives values of the kinds that a trace gives: of tensors it would make others."""
        return self.specs is None and bool(self.settings["strict"])


@dataclass(frozen=True, eq=False)
class _Attempt:
    """A trace, what it reads, and what it has changed."""

    concrete: ConcreteFunction
    reached: Reached
    guards: list[Guard]
    inputs: list[Input]
    same: list[Related | state.SameForeign]
    changes: Changes
    result: Any
    numbers: dict[Any, Any]
    lending: Lending | None

    @property
    def is_stateless(self) -> bool:
        is_bare = not (self.guards or self.inputs or self.changes.writes or self.result or self.lending)
        return is_bare and not leaves_behind(self.concrete.graph)


def trace(request: Request, own: Sequence[Variant], others: Sequence[Variant]) -> ConcreteFunction | Variant:
    """Return a trace; a ``Variant`` if it depends on the world, or changes it.

    Parameters
    ----------
    request : Request
    own, others : sequence of Variant
        The traces for the same kind of arguments, and those that were made for other instances.
    """
    with TRACING:
        if own:
            state.check_ends(own, request.walk)
        numbers = _changing([*own, *others])
        try:
            made = _first(request, numbers)
        except CalledPlain:
            raise
        except Exception as error:
            _leave_strange(error, request)
            raise
        for _ in range(_MOST_ROUNDS):
            more = frozenset(made.changes.numbers) - numbers
            if not more:
                break
            numbers |= more
            try:
                made = _attempt(request, True, numbers)
            except CalledPlain:
                raise
            except (Exception, LeftToPython) as error:
                if not _may_know_more(error):
                    raise
                break
        # after an exception what a run would have written is as before
        leaves_none = not (made.changes.writes and graph_can_fail(made.concrete.graph))
        made.concrete.is_alike = _is_alike(request, made.concrete)
        made.concrete.may_be_plain = leaves_none and _may_be_plain(request, made.concrete)
        made.concrete.weight = _weight(made)
        return made.concrete if made.is_stateless else _variant(request, made)


def _is_alike(request: Request, made: ConcreteFunction) -> bool:
    """Return whether the undecorated function does the same: of tensors and variables it makes others."""
    is_users = request.target is not request.function and not request.needs_graph
    if not is_users or made.has_tensors or any(type(one) is TensorSpec for one in request.specs or ()):
        return False
    own = Tensor if made.graph.strict else object  # what stands for values of several types is made of NumPy's then
    values = [one for one in nest.flatten(made.structured_outputs) if isinstance(one, own)]
    if any(own_kind(one) in (Tensor, DecidedNumber) for one in values):
        return False
    return not any("variable" in node.attrs for node in nodes_inside(made.graph))


def _may_be_plain(request: Request, made: ConcreteFunction) -> bool:
    """Return whether calls may be of the undecorated function: it calls each time what a trace calls once."""
    may_choose = request.executor == "auto" and made.is_alike and bool(loops_inside(made.graph))
    return may_choose and all(one.each for one in call_records(made.graph))


def _weight(made: _Attempt) -> int:
    """Return how much a trace has taken: one with loops, which Python is slow at, is worth whatever it takes."""
    graph = made.concrete.graph
    if loops_inside(graph):
        return 1
    return 1 + (sum(1 for _ in nodes_inside(graph)) + len(made.guards)) // _FOR_ONE


def _changing(variants: Sequence[Variant]) -> frozenset[Any]:
    """Return the numbers of which many values were traced."""
    values: dict[Any, set[str]] = {}
    for variant in variants:
        for path, value in variant.numbers.items():
            values.setdefault(path, set()).add(repr(value))
    return frozenset(path for path, every in values.items() if len(every) >= MOST_VALUES)


def _first(request: Request, numbers: frozenset[Any]) -> _Attempt:
    """Return a trace with arrays, and these numbers, as inputs; where that is refused with less."""
    attempts = [(True, numbers), *([(True, frozenset[Any]())] if numbers else []), (False, frozenset[Any]())]
    left: LeftToPython | None = None
    first: Exception | None = None
    for by_reference, inputs in attempts:
        try:
            return _attempt(request, by_reference, inputs)
        except (Exception, LeftToPython) as error:
            why = error.__cause__ if isinstance(error, CalledPlain) else error
            if by_reference and why is not None and _may_know_more(why) and _has_inputs(request):
                left = left or (why if isinstance(why, LeftToPython) else None)
                first = first or (error if isinstance(error, TypeError) else None)
                continue
            if left is not None and why is not None and is_of_tracing(why):
                raise left from None
            if first is not None and isinstance(error, TypeError) and is_of_tracing(error):
                raise first from None  # of two refusals: where more is known another line may be in the way
            raise
    raise AssertionError  # the last one has returned or raised


def _may_know_more(error: BaseException) -> bool:
    """Return whether a trace that takes more values as known may do what this one could not."""
    if isinstance(error, LeftToPython):
        return error.of_values and not error.is_shown
    return is_of_tracing(error)


def _has_inputs(request: Request) -> bool:
    reached = request.walk()
    return bool(reached.arrays or reached.numbers or reached.of_others)


def _attempt(request: Request, by_reference: bool, numbers: frozenset[Any]) -> _Attempt:
    is_wanted = request.needs_graph or request.executor == "native"
    return attempted(lambda: _trace_once(request, by_reference, numbers), request.leaves, request.function, is_wanted)


def _note_shared(places: Sequence[Place], symbolic: Sequence[Any], related: Sequence[Any]) -> None:
    """Let the arrays of the world that share memory with arguments know that."""
    for one in related:
        if isinstance(one, Related) and (storage := kept(symbolic[one.place])) is not None:
            storage.shared = spoken(places[one.place].name)


def _trace_once(request: Request, by_reference: bool, numbers: frozenset[Any]) -> _Attempt:
    def trace_lent(by_runs: ByRuns) -> _Attempt:
        again = functools.partial(_traced, request, by_reference, numbers, by_runs)
        made = again(True)
        return made if made.lending is None else state.with_lent(made, again)

    return by_runs_where_wanted(trace_lent)


def _traced(request: Request, by_reference: bool, numbers: frozenset[Any], by_runs: ByRuns, lend: bool) -> _Attempt:
    world = World(request.walk(), request.call, request.receiver)
    found = WorldInputs(world, by_reference, numbers)
    placed = len(found.places)
    relations, related = found.related(request.leaves, request.same)
    graph = Graph(ordered=True)
    lending = state.lending(found.guards, world.reached, graph, lend) if world.reached.generators else None
    graph.record(LookedAt).names, made_in(graph).by_runs = world.reached.names, by_runs
    found.tell(graph, request)
    names = [*request.parameters.leaf_names(request.call), *[place.name for place in found.places]]
    with graph.as_default():
        symbolic = placeholders(graph, [*request.leaves, *found.leaves], names, request.specs, relations.earlier)
        relations.make_parts(symbolic)
        _note_shared(found.places, symbolic[len(request.leaves) :], related)
        given = world.joined(nest.unflatten(request.structure, symbolic[: len(request.leaves)]))
        args, kwargs = request.parameters.split(given)
        receiver = () if request.receiver is None else (request.receiver(),)
        try:
            leave_hidden(world.reached)
            if found.leaves:
                state.let_others_wait(graph, symbolic[len(request.leaves) :], found.leaves)
            world.enter(list(zip(found.places[:placed], symbolic[len(request.leaves) :])), given)
            objects = graph.record(ObjectsOfTrace)
            objects.is_of_world = world.knows
            value = traced(request.target, (*receiver, *args), kwargs, symbolic[: len(request.leaves)])
            lending = state.making(lending, graph) if made_in(graph).for_runs else lending
            if objects.pairs:
                _leave_differing(request.leaves)
            _leave_unread_globals(graph, world)
            _leave_written(found.guards, request, receiver, world, symbolic, [*request.leaves, *found.leaves])
            if world.is_untouched() and isinstance(value, () if CopiesOfTrace in graph.records else (Tensor, *PLAIN)):
                changes, result = Changes([], [], [], [], set()), None
            else:
                changes, result = state.changes_of(world, value)
            value = None if result is not None else result_of(value)
            tell_doubtful((value, changes.outputs), request.leaves)
            found.guards += guards_of_unread(world)
            found.guards += guards_of_several(world.reached, changes.owners, relations.several)
        except Exception as error:
            try:  # who asks what is left may find that the trace has to begin anew
                end = state.ended_by(error, request, world, graph, symbolic)
            finally:
                graph.record(SetGlobals).put_back()
                _put_back(world, found.guards, request, receiver)
            end()
            raise
        except BaseException:
            graph.record(SetGlobals).put_back()
            _put_back(world, found.guards, request, receiver)
            raise
    world.put_back()
    world.leave_kept(request.function, request.needs_graph or request.executor == "native")
    graph.records = {key: one for key, one in graph.records.items() if key not in (ObjectsOfTrace, CopiesOfTrace)}
    inputs = [state.input_at(place, leaf, request.exactly) for place, leaf in zip(found.places, found.leaves)]
    if changes.writes or result is not None:
        value = (value, *changes.outputs)
    roots, arguments = (request.target, *receiver, *args, *kwargs.values()), sum(map(is_input, request.leaves))
    concrete = finished(request.name, graph, symbolic, value, request.executor, roots, arguments)
    return _Attempt(concrete, world.reached, found.guards, inputs, related, changes, result, found.numbers, lending)


def _leave_unread_globals(graph: Graph, world: World) -> None:
    """Let plain Python run what leaves something else under a global name that no code in reach reads or sets."""
    if (name := graph.record(SetGlobals).changed(world.reached.variables)) is not None:
        leave(f"{name!r} is set in a loop or branch by code that is not in reach", "")


def _leave_differing(leaves: Sequence[Any]) -> None:
    with undivided():  # which few functions need
        from ..operators.staging.twins import leave_differing
    leave_differing(leaves)


def _leave_strange(error: BaseException | None, request: Request) -> None:
    """Leave a function to Python that there is no graph for, and that finds dates, texts or objects in an array."""
    while error is not None and not is_of_tracing(error):
        error = error.__cause__  # NumPy raises others of ours
    for guard in request.walk().guards if error is not None else ():
        if guard.kind == "contents":
            leave(f"the array {guard.place.name!r} of dtype {guard.known.dtype} is used with what only a run knows", "")


def _leave_written(
    guards: Sequence[Guard], request: Request, receiver: tuple[Any, ...], world: World, symbolic: Sequence[Any],
    leaves: Sequence[Any],
) -> None:  # fmt: skip
    """Leave a function to Python that has written to a constant of its trace, or a part of one, or drawn numbers."""
    world.leave_drawn()
    if world.reached.of_others or "theirs" in request.settings:
        state.leave_foreign(leaves, symbolic)
    written = _put_back_constants(guards, request, receiver)
    for said in (*left_in_libraries(world.reached), *[f"{name!r} is written to" for name in written]):
        leave(said, "")
    _leave_written_parts(guards, request, world.reached, symbolic)


def _leave_written_parts(guards: Sequence[Guard], request: Request, reached: Reached, symbolic: Sequence[Any]) -> None:
    """Leave a function to Python that has written to an argument which shares memory with a constant of its trace."""
    storages = [kept(one) for one in symbolic[: len(request.leaves)]]
    written = [leaf for leaf, one in zip(request.leaves, storages) if one is not None and one.version]
    constants = {id(guard.place) for guard in guards if _is_constant(guard)} if written else ()
    for place, array in reached.arrays if constants else ():
        if id(place) in constants and any(np.may_share_memory(array, one) for one in written):
            leave(f"{place.name!r} shares memory with an argument that is written to", "")


def _is_constant(guard: Guard) -> bool:
    """Return whether an array of the world is a constant of the trace."""
    return guard.kind in ("contents", "is") and isinstance(guard.known, np.ndarray)


def _put_back(world: World, guards: Sequence[Guard], request: Request, receiver: tuple[Any, ...]) -> None:
    """Let the world be as it was before a trace that is given up."""
    world.put_back()
    left_in_libraries(world.reached)
    _put_back_constants(guards, request, receiver)


def _put_back_constants(guards: Sequence[Guard], request: Request, receiver: tuple[Any, ...]) -> list[str]:
    """Let the arrays that are constants of a trace hold what they held; return the names of those written to."""
    written = []
    for one in guards:
        if one.kind == "contents":
            array = one.place.find(request.call, lambda: receiver[0])
            if isinstance(array, np.ndarray) and not state.same_contents(array, one.known):
                if array.shape == one.known.shape:
                    np.copyto(array, one.known)
                written.append(one.place.name)
    return written


def _variant(request: Request, made: _Attempt) -> Variant:
    writes = made.changes.writes
    places = [(one.place.name, "guarded") for one in made.guards if one.kind in ("equal", "is", "elements", "keys")]
    places += [(one.place.name, "read by reference" if one.kind != "number" else "read") for one in made.inputs]
    lent_at = made.lending.places if made.lending is not None else []
    places += [(one.name, "read by reference") for one in lent_at]
    places += [(name, "written") for name in made.changes.names]
    owners = [*made.changes.owners, *lent_at]
    is_shared, of_functions = state.sharing(request, made.reached, made.concrete, [*writes, made.result])
    guards = [*made.guards, *of_functions]
    read = state.reader(guards, made.inputs, owners)
    has_tensors = any(one.kind == "tensor" for one in made.inputs)
    made.concrete.places = tuple(dict.fromkeys(places))
    note_guards(made.concrete.graph, made.guards)
    return Variant(
        made.concrete,
        read,
        state.reader(guards, made.inputs, owners, True) if has_tensors else read,
        writes,
        made.result,
        bool(writes) or made.result is not None,
        made.same,
        [one.place for one in made.guards if _is_constant(one)] if made.concrete.written else [],
        made.numbers,
        any(_is_of_call(place) for place in _every_place(made)),
        bool(made.inputs),
        None if request.needs_graph else state.put_back(made.concrete, bool(writes)),
        is_shared,
        state.lengths_of(made.guards),
        made.changes.numbers,
        made.lending,
    )


def _every_place(made: _Attempt) -> list[Place]:
    return [*[one.place for one in made.guards], *[one.place for one in made.inputs], *made.changes.owners]


def _is_of_call(place: Place) -> bool:
    while place.parent is not None:
        place = place.parent
    return place.kind == "call"
