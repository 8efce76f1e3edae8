"""Variables that are None or have a value, as only the run can tell.

``best = None`` before a staged loop that sets ``best`` makes it a :class:`MaybeNone`: a value, and whether it is
there. Converted code asks ``is_(best, None)``; where that has been answered the value is used as it is, elsewhere
its use is checked at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.base.dataclass import dataclass, field
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.stand_ins import called
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.composite import Composite, register
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, Tracer

from ...given_arrays import TakenForTwo
from ...left_to_python import leave_unknown
from .container_contents import has_objects
from .copied_elements import leave_asked
from .maybe_same import are_maybe_same
from .mixed_numbers import MixedNumber
from .moved_lists import Moved
from .raising import Raising, raise_unless
from .staged_values import answer, stands_for
from .standins import Either, MaybeRecord, NoneOrNot
from .twins import pairs_of

Ids = frozenset[int]
_NOTHING: Ids = frozenset()
# Flags (by id) of the values that are surely there in the branch being traced, per thread and task.
_KNOWN: ContextVar[Ids] = ContextVar("autoloop_known_values", default=_NOTHING)


class _NoneOrValue(MaybeRecord):
    """What a :class:`MaybeNone` knows."""

    __slots__ = ()

    def needed(self) -> Any:
        """Return the value; at run time it is an error if it is None."""
        if id(self.is_set) not in _KNOWN.get():
            message = f"{self.name!r} is None where its value is needed; ask `{self.name} is None` before [AL021]"
            raise_unless(self.is_set, Raising(TypeError, lambda: TypeError(message)))
        return self.value

    def decision(self) -> Any:
        """Return whether it is there and true."""
        return answer(ops.logical_and(self.is_set, ops.cast(self.value, bool)), self.value)

    def described(self) -> str:
        """Return what messages call it."""
        return f"{self.name!r}, of which only the run tells whether it is None"

    def parts(self) -> tuple[list[Any], Callable[..., Any]]:
        """Return tensors, and what makes of their values the value of a run, or None."""
        leaves, structure = nest.flatten_with_structure(self.value)
        return [self.is_set, *leaves], lambda is_set, *values: nest.unflatten(structure, values) if is_set else None


@called("value (of which only the run knows whether it is None)")
class MaybeNone(NoneOrNot):
    """The value of a variable that may be None when the graph runs."""

    __slots__ = ()

    def __init__(self, name: str, value: Any, is_set: Any) -> None:
        object.__setattr__(self, "__record__", _NoneOrValue(name, value, is_set))

    def __repr__(self) -> str:
        return f"<{self.__record__.name}: None or {self.__record__.value!r}>"

    def __eq__(self, other: Any) -> Any:
        if other is None:
            return is_(self, None)
        value, is_set = self.__record__.value, self.__record__.is_set
        if not (_is_pythons(value) and _is_pythons(other)):
            return super().__eq__(other)
        same = value == other  # of a number or text None is another
        return same is not False and answer(is_set if same is True else ops.logical_and(is_set, same), value)

    def __ne__(self, other: Any) -> Any:
        if other is not None and not (_is_pythons(self.__record__.value) and _is_pythons(other)):
            return super().__ne__(other)
        same = self == other
        return not same if isinstance(same, bool) else negated(same, answer(ops.logical_not(same), same))

    __hash__ = NoneOrNot.__hash__


def _is_pythons(value: Any) -> bool:
    """Return whether a value is a number or text of Python's, which gives a bool where it is compared."""
    return isinstance(value, NumberTracer) or type(value) in (bool, int, float, complex, str)


def is_(one: Any, other: Any) -> Any:
    """Return ``one is other``, where only the run may know: of what may be None, and of bools."""
    if type(one) is MaybeNone:
        record = one.__record__
        if other is None:
            if id(record.is_set) in _KNOWN.get():
                return False
            return _stating(answer(ops.logical_not(record.is_set)), (_NOTHING, frozenset((id(record.is_set),))))
        if one is other:
            return True
        if type(other) is MaybeNone:
            record.refuse_leaving("`is` would compare")
        same = is_(record.value, other)
        return answer(ops.logical_and(record.is_set, same)) if same is not False else False
    if type(other) is MaybeNone:
        return is_(other, one)
    if isinstance(one, MixedNumber) and _kind_of_bool(other) is not None:
        one.refuse_leaving("`is` would compare")
    for value in (one, other):
        if isinstance(value, Either):
            value.refuse_leaving("`is` would compare")
    if one is not other and _kind_of_bool(one) is _kind_of_bool(other) is not None:
        return answer(ops.equal(one, other), one, other)
    if one is other or _is_one(one, other):
        return True
    _note_apart(one, other)
    return False


def _note_apart(one: Any, other: Any) -> None:
    """Note that two arrays are no one array, which calls that are given one as both have to look at; of two numbers, or
    arrays without axes, of which the graph has the values, plain Python has to tell."""
    graph = current_graph()
    if graph is None or not (isinstance(one, ArrayTracer) and isinstance(other, ArrayTracer)):
        return
    if one.shape.rank and other.shape.rank:
        graph.root.record(TakenForTwo).pairs.append((one, other))
    elif {one.op, other.op} <= {given.op for given in graph.root.inputs}:
        what = "whether two numbers that are given, or arrays without axes, are one object is asked"
        leave_unknown(what)
        raise TypeError(f"{what}: compare their values [AL022]")


def is_not(one: Any, other: Any) -> Any:
    """Return ``one is not other``, where only the run may know."""
    same = is_(one, other)
    return not same if isinstance(same, bool) else negated(same, answer(ops.logical_not(same), same))


def _is_one(one: Any, other: Any) -> bool:
    """Return whether two objects are one list; of two that may be one, as only the run knows, plain Python has to tell.

    Raises
    ------
    LeftToPython
    TypeError
    """
    one, other = _grown(one), _grown(other)
    if one is other:
        return True
    if any(pair.holds(one, other) for pair in pairs_of()) or are_maybe_same(one, other) or _may_be_array(one, other):
        kind = stands_for(one) if isinstance(one, Tracer) else type(one)
        what = f"whether this {kind.__name__} is that one is asked, which only a loop or branch on tensors decides"
        leave_unknown(what)
        raise TypeError(f"{what}: compare their values [AL022]")
    leave_asked(one, other)
    return False


def _may_be_array(one: Any, other: Any) -> bool:
    if not any((storage := kept(array)) is not None and storage.choice is not None for array in (one, other)):
        return False
    with undivided():  # which few functions need
        from .array_choices import may_be_one
    return may_be_one(one, other)


def _grown(value: Any) -> Any:
    """Return the list that grows which a list of Python's has become."""
    if type(value) is list and len(value) == 1 and isinstance(value[0], Moved):
        if value[0].grown is None:
            value[0].refuse()
        return value[0].grown if value[0].holder is value else value
    return value


def _kind_of_bool(value: Any) -> type | None:
    """Return of which type a bool is to the user, of which there are two objects; None of anything else."""
    kind = stands_for(value) if isinstance(value, Tracer) else type(value)
    return kind if kind in (bool, np.bool_) else None


# -- what a test tells ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Facts:
    """What the tests in a graph tell, by their identity; they live as long as the graph, which one thread traces."""

    of: dict[int, tuple[Tensor, tuple[Ids, Ids]]] = field(default_factory=dict)

    def copy(self) -> _Facts:
        return _Facts(dict(self.of))


def _facts(tensor: Tensor) -> dict[int, tuple[Tensor, tuple[Ids, Ids]]]:
    assert tensor.node is not None
    return tensor.node.graph.record(_Facts).of


def _stating(test: Tensor, facts: tuple[Ids, Ids]) -> Tensor:
    """Note which values are there if a test is true, and which if it is false."""
    if test.node is not None and any(facts):
        _facts(test)[id(test.plain)] = (test.plain, facts)
    return test


def told_by(test: Any) -> tuple[Ids, Ids]:
    """Return the flags of the values that are there if a test is true, and if it is false."""
    if isinstance(test, Tensor) and test.node is not None:
        return _facts(test).get(id(test.plain), (None, (_NOTHING, _NOTHING)))[1]
    return _NOTHING, _NOTHING


def negated(test: Any, result: Any) -> Any:
    """Return ``result``, the negation of a test, with what it tells."""
    return _stating(result, told_by(test)[::-1]) if isinstance(result, Tensor) else result


def joined(tests: Sequence[tuple[Ids, Ids]], result: Any, *, is_and: bool) -> Any:
    """Return ``result``, which two tests make up by ``and`` or ``or``, with what it tells."""
    side = 0 if is_and else 1
    both = frozenset[int]().union(*(one[side] for one in tests))
    return _stating(result, (both, _NOTHING) if is_and else (_NOTHING, both)) if isinstance(result, Tensor) else result


def knowing(flags: Ids) -> Setting[None]:
    """Mark, for the time of a trace, values as being there."""
    return Setting(None, (_KNOWN, _KNOWN.get() | flags))


# -- as the result of a function ------------------------------------------------------------------------------


class _AsComposite(Composite[MaybeNone]):
    """The value's tensors, and whether it is there; of a result of a run that is known."""

    def components(self, value: MaybeNone) -> Sequence[Any]:
        record = value.__record__
        if has_objects(record.value):
            raise TypeError(
                f"{record.name!r} is an object or None, as only the run knows: give back its attributes [AL021]"
            )
        return [*nest.flatten(record.value, True), record.is_set]

    def spec(self, value: MaybeNone) -> Hashable:
        return value.__record__.name, nest.structure_of(value.__record__.value, True)

    def from_components(self, spec: Any, components: Sequence[Any]) -> Any:
        name, structure = spec
        *values, is_set = components
        value = nest.unflatten(structure, values)
        if isinstance(is_set, Tensor) and is_set.node is None:
            return value if bool(is_set) else None
        return MaybeNone(name, value, is_set)


register(MaybeNone, _AsComposite())
