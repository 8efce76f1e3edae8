"""Traces that depend on the world: those of one key of a call, each with what it needs to find there."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.forks import Kind
from autoloop_runtime.ir.tensor import Tensor

from .. import state
from ..concrete import CalledPlain, ConcreteFunction, alone, taken
from ..parameters import CalledAs
from ..written_arguments import OtherMemory, OverlappingArguments

if TYPE_CHECKING:
    from autoloop_runtime.ir.graph import Graph
    from autoloop_runtime.running.runner import Runner

    from .foreign_inputs import SameForeign
    from .guards import Reader
    from .lent_generators import Lending
    from .overlaps import Related
    from .places import Place
    from .world import Recipe, Write

_KIND = Kind("state.TRACING", "a trace that was being made is made again; what stood in places then is put back by it")
#: held while tracers stand in the places of a world; who finds one there waits for it
TRACING = _KIND.lock()
#: so many traces of one key are kept, the newest first
MOST_VARIANTS = 32
#: so often a call looks for a trace that fits what it finds
MOST_TRIES = 8
_NEVER_FITS = "what the function finds outside its arguments is not what it was traced with [AL013]"


class OtherWorld(Exception):
    """No trace fits what a call finds in the world."""


class Made:
    """What one run has given: the outputs, what was found at the places asked for, and what was made already."""

    __slots__ = ("known", "later", "outputs", "owners")

    def __init__(self, outputs: Sequence[Any], owners: Sequence[Any]) -> None:
        self.outputs, self.owners = outputs, owners
        self.known: dict[int, Any] = {}
        #: what asks new objects for their hashes: these may hold what asks, and need all their attributes first
        self.later: list[Callable[[], None]] = []

    def complete(self) -> None:
        """Do what was left for later."""
        for fill in self.later:  # grows as it is walked
            fill()
        self.later.clear()


@dataclass(frozen=True, eq=False)
class Variant:
    """One trace that depends on the world.

    Attributes
    ----------
    concrete : ConcreteFunction
        Gives the result and what is written.
    read : callable
        Tells whether it fits, and gives the inputs, see ``guards.reader``.
    recorded : callable
        The same, for those who record: it gives tensors, not their values.
    writes : sequence of callable
    result : callable or None
        Makes the result, where that holds objects of the world.
    is_pair : bool
        Whether the graph gives, besides the result, what is written.
    same : sequence of Related or SameForeign
        Which arrays of the world share memory with which arguments, or are these.
    apart : sequence of Place
        The arrays that are constants of it, where it writes to arguments: these share no memory with them.
    numbers : dict
        The numbers that it was traced for.
    needs_call : bool
        Whether it looks into the arguments.
    has_inputs : bool
        Whether the graph takes anything besides the arguments.
    written : sequence of int or None
        Which inputs a run may have written to when it raises, if plain Python is called then; None if it is not.
    is_shared : bool
        Whether it may be used for other instances.
    lengths : dict
        How long the containers are that it was traced for.
    changed : set of tuple
        The paths of numbers that it changes.
    lent : Lending or None
        The random generators that each call lends, if there are such: the last owners that its reader gives.
    """

    concrete: ConcreteFunction
    read: Reader
    recorded: Reader
    writes: Sequence[Write]
    result: Recipe | None
    is_pair: bool
    same: Sequence[Related | SameForeign]
    apart: Sequence[Place]
    numbers: dict[Any, Any]
    needs_call: bool
    has_inputs: bool
    written: Sequence[int] | None
    is_shared: bool
    lengths: dict[Any, int]
    changed: set[Any]
    lent: Lending | None = None

    def found(self, call: tuple[Any, ...], receiver: Any, values: Sequence[Any], read: Reader | None = None) -> Any:
        """Return what its reader gives; None if it does not fit."""
        found = (read or self.read)(call, receiver)
        if found is not None and not all(one.holds(values, found[0]) for one in self.same):
            return None
        if found is None or not self.apart:
            return found
        inputs = [*values, *found[0]]  # also what the call only reaches may be written to
        written = [inputs[k] for k in self.concrete.written if isinstance(inputs[k], np.ndarray)]
        for place in self.apart:
            constant = place.find(call, lambda: receiver)
            if any(np.may_share_memory(constant, one) for one in written):
                return None
        return found

    def takes(self, owners: Sequence[Any]) -> bool:
        """Return whether a run may begin that has found these; what it has taken, ``gives_back`` gives back."""
        return self.lent is None or self.lent.take(owners[len(owners) - len(self.lent.places) :])

    def gives_back(self) -> None:
        """Let another run have what this one has taken."""
        if self.lent is not None:
            self.lent.give_back()

    @property
    def is_free(self) -> bool:
        """Whether a run may begin now."""
        return self.lent is None or self.lent.is_free

    @property
    def is_replayed(self) -> bool:
        """Whether plain Python is called when a run raises."""
        return self.written is not None

    def finish(self, made: Any, owners: Sequence[Any], plain: Any = None) -> Any:
        """Write to the world what a run has given, or the same as other kinds, and return the result."""
        if not self.is_pair:
            return made
        result, *outputs = made
        given = Made(outputs, owners)
        if self.result is not None:
            result = self.result(given)
        if plain is not None and plain is not made:
            given.complete()
            given = Made(plain[1:], owners)
        for write in self.writes:
            write(given)
        given.complete()
        return result


class StatefulFunction(CalledAs):
    """The traces of one key of a call; called as a ``ConcreteFunction`` is.

    Parameters
    ----------
    name : str
    receiver : callable or None
        Gives the instance of a method.
    """

    def __init__(self, name: str, receiver: Callable[[], Any] | None) -> None:
        self.name = name
        self.receiver = receiver
        #: whether they are those of all calls whose objects are of the same classes: they look at these
        self.are_of_classes = False
        #: the newest first; replaced as a whole
        self.variants: tuple[Variant, ...] = ()

    def add(self, variant: Variant) -> None:
        """Take in a trace."""
        self.variants = (variant, *self.variants[: MOST_VARIANTS - 1])

    @property
    def is_alike(self) -> bool:
        """Whether the undecorated function does what each of the traces does."""
        return all(variant.concrete.is_alike for variant in self.variants)

    @property
    def needs_call(self) -> bool:
        """Whether a trace looks into the arguments."""
        return any(variant.needs_call for variant in self.variants)

    def first_for(self, call: tuple[Any, ...], has_defaults: bool) -> Variant | None:
        """Return the trace that is tried first, where it fits a call, and its reader says all of whether it does; a
        call may *have defaults* that a fast path does not fill in."""
        one = self.variants[0]
        if one.written or one.same or one.apart or (one.needs_call and has_defaults) or one.lent:
            return None
        return None if one.read(call, None if self.receiver is None else self.receiver()) is None else one

    def fits(self, call: tuple[Any, ...], values: Sequence[Any]) -> bool:
        """Return whether a trace fits what it would find now."""
        receiver = self.receiver() if self.receiver is not None else None
        return any(one.is_free and one.found(call, receiver, values) is not None for one in self.variants)

    def run(self, values: list[Any], arrays: Sequence[np.ndarray[Any, Any]] = (), call: tuple[Any, ...] = ()) -> Any:
        """Run on raw values and what is found in the world, and write to it."""
        receiver = self.receiver() if self.receiver is not None else None
        for variant in self.variants:
            asks = variant.same or variant.apart
            found = variant.found(call, receiver, values) if asks else variant.read(call, receiver)
            if found is None or not variant.takes(found[2]):
                continue
            try:
                if variant.has_inputs:
                    values, arrays = [*values, *found[0]], [*arrays, *found[1]]
                if variant.written is None:
                    made = variant.concrete.run(values, arrays)
                else:
                    made = state.replayed(
                        functools.partial(variant.concrete.run, values, arrays), values, variant.written
                    )
                return variant.finish(made, found[2]) if variant.is_pair else made
            finally:
                variant.gives_back()
        raise OtherWorld

    def run_recorded(self, leaves: Sequence[Any], call: tuple[Any, ...] = ()) -> tuple[Any, Any]:
        """Run on tensors and arrays while somebody records: the world gets values of its own kinds."""
        receiver = self.receiver() if self.receiver is not None else None
        for variant in self.variants:
            found = variant.found(call, receiver, leaves, variant.recorded)
            if found is None or not variant.takes(found[2]):
                continue
            try:
                made, plain = variant.concrete.run_recorded([*leaves, *found[0]])
                return variant.finish(made, found[2], plain), plain
            finally:
                variant.gives_back()
        raise OtherWorld

    # -- as the newest trace --------------------------------------------------------------------------------

    @property
    def alone(self) -> ConcreteFunction | StatefulFunction:
        """The newest trace where that can be called without the world; else this."""
        newest = self.variants[0]
        return self if newest.is_pair or newest.has_inputs or newest.lent else newest.concrete

    def __call__(self, *args: Any) -> Any:
        """Call with one value for each input that is an argument, and what the world holds now."""
        given = taken(self.newest, args)
        try:
            with alone():
                return self.run(given, [one for one in given if isinstance(one, np.ndarray)])
        except CalledPlain as plain:
            raise plain.__cause__ or plain from None
        except OtherWorld:
            raise TypeError(_NEVER_FITS) from None
        except OtherMemory as other:
            other.refuse(self.newest.name)

    @property
    def places(self) -> Sequence[tuple[str, str]]:
        """What the newest trace depends on besides its arguments, or changes, and how."""
        return self.newest.places

    @property
    def newest(self) -> ConcreteFunction:
        """The newest trace."""
        return self.variants[0].concrete

    @property
    def graph(self) -> Graph:
        """The structured graph of the newest trace."""
        return self.newest.graph

    @property
    def runner(self) -> Runner:
        """What runs the newest trace."""
        return self.newest.runner

    @runner.setter
    def runner(self, runner: Runner) -> None:
        self.newest.runner = runner

    @property
    def checked_runner(self) -> Runner:
        """What computes one operation at a time."""
        return self.newest.checked_runner

    @property
    def inputs(self) -> list[Tensor]:
        """The parameters of the graph: arguments, and what it finds in the world."""
        return self.newest.inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The result tensors of the graph, and what is written."""
        return self.newest.outputs

    @property
    def structured_outputs(self) -> Any:
        """What the Python function gave."""
        value = self.newest.structured_outputs
        return value[0] if self.variants[0].is_pair else value

    def __repr__(self) -> str:
        return repr(self.newest)


def with_variant(
    known: StatefulFunction | None, variant: Variant, name: str, receiver: Callable[[], Any] | None
) -> StatefulFunction:
    """Return the traces of a key, with one more."""
    made = known or StatefulFunction(name, receiver)
    made.add(variant)
    return made


def called_again(
    call: tuple[Any, ...], nested: Callable[..., Any], with_memory: Callable[..., Any], exactly: bool | None = None
) -> Any:
    """Run a call whose trace did not fit the memory of its arrays, or the world, which other threads may change.

    Raises
    ------
    CalledPlain
        If no trace ever fits.
    """
    for _ in range(MOST_TRIES):
        try:
            return nested(call) if exactly is None else with_memory(call, exactly)
        except OtherMemory as other:
            exactly = other.exactly
        except OtherWorld:
            pass
    try:
        return nested(call)
    except OtherWorld:
        raise CalledPlain from TypeError(_NEVER_FITS)


def run_or_refused(concrete: Any, run: Callable[[Any], Any], again: Callable[[], Any]) -> Any:
    """Run a trace that is made for how arrays lie in memory, made anew if those that are no arguments lie otherwise.

    Raises
    ------
    OverlappingArguments
        If they overlap as no trace can follow.
    """
    try:
        return run(concrete)
    except OtherMemory:
        concrete = again()
    try:
        return run(concrete)
    except OtherMemory as other:
        if other.refusal:
            raise OverlappingArguments(other.refusal) from None
        raise
