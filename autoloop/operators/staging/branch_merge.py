"""What a variable is after a staged branch, whose two sides leave two values of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.array_storage import Choice, Storage, kept
from autoloop_runtime.ir.basic_indices import tensors_in
from autoloop_runtime.ir.composite import composite_of
from autoloop_runtime.ir.convert import convert_to_tensor, to_array
from autoloop_runtime.ir.graph import Graph, is_around
from autoloop_runtime.ir.number_operators import CARRIERS, beside, number_type, widest
from autoloop_runtime.ir.structured import StructureError
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.text_operators import is_text, text
from autoloop_runtime.ir.tracers import (
    ArrayTracer,
    Kind,
    NumberTracer,
    TextTracer,
    is_read_only,
    join,
    kind_of,
    marked,
    own_kind,
)
from autoloop_runtime.ops.operands import is_tensor

from ...left_to_python import leaving, refuse_unknown
from .blank_values import blank
from .containers_of_blocks import advice_on_keys, leave_containers, leave_markers, leave_objects_apart
from .instances import apart, as_objects, assembled, leave_objects, of_sides
from .linked_arrays import arrays_left, link
from .list_lengths import lengths_differ, with_growing
from .loop_leaves import is_no_other
from .mixed_numbers import MixedNumber, codes_of, components, mixed
from .numbers_or_arrays import are_apart, is_number_beside_array, is_untold, note, notes_of
from .raising import FALLEN, RETURN, RETURN_VALUE, is_return_value, refusal
from .staged_blocks import telling
from .staged_values import as_maybe, cast_where_made, certain, kind_of_either, note_variable
from .standins import is_optional, opened
from .told_arrays import is_array
from .twins import Twins
from .undefined import MaybeUnset, Undefined, maybe, spoken, when_set

if TYPE_CHECKING:
    from autoloop_runtime.control.while_loop import BranchValues


class Grown(Exception):
    """A list has different lengths at the ends of the two sides; holds the variable's name and both values."""

    def __init__(self, name: str, *sides: Any) -> None:
        super().__init__(f"{spoken(name)!r} is, or holds, a list whose length depends on a tensor condition")
        self.name, self.sides = name, sides

    def longer(self, value: Any) -> Any:
        """Return the value that the variable must start with, so that its lists may grow."""
        for side in self.sides:
            if side is not NEVER:
                value = with_growing(self.name, value, side)
        return value


NEVER = object()  # the value of a branch that always raises
#: arrays that a side leaves, by id, and what they hold at its end, or why nobody can tell
Ends: TypeAlias = "dict[int, tuple[ArrayTracer, Tensor | str]]"


def is_made_in(graph: Graph, leaf: Any) -> bool:
    """Return whether a value is a tensor that a side has made."""
    return isinstance(leaf, Tensor) and leaf.node is not None and leaf.node.graph is graph


class Merge:
    """One variable of a branch: what of it the conditional must give, and its value made of the outputs."""

    def __init__(
        self,
        name: str,
        a: Any,
        b: Any,
        what: str,
        number: Kind,
        graphs: Sequence[Graph],
        ends: Sequence[Ends],
    ) -> None:
        self.name, self.what, self.number, self.graphs = name, what, number, graphs
        is_result = what in (RETURN, FALLEN) and name == RETURN_VALUE  # the others are what the sides change outside
        self.optional = (not is_result and _is_optional(a, b)) or is_optional(a) or is_optional(b)
        if self.optional and not {Undefined, MaybeUnset}.isdisjoint((type(a), type(b))):
            raise TypeError(
                f"{spoken(name)!r} is None at one end of a branch on a tensor, has a value at another, and none at all "
                f"at a third: give it a value before the branch [AL021]"
            )
        if is_result:
            # A value that no `return` has given is asked for where no `return` was reached: never.
            a, b = (NEVER if type(one) is Undefined else one for one in (a, b))
        self.is_set = _set_flags(a, b) if not self.optional else tuple(map(_is_there, (a, b)))
        a, b = (apart(opened(one).value) if type(one) is MaybeUnset or is_optional(one) else one for one in (a, b))
        self.absent = [one is NEVER or type(one) is Undefined or (self.optional and one is None) for one in (a, b)]
        self.is_raised = not is_result and any(one is NEVER for one in (a, b))
        self.pairs: list[BranchValues | None] = []
        self.fixed: list[Any] = []
        self.kinds: list[Kind] = []
        #: what the two sides leave, of which an array may be another handle
        self.handles: list[tuple[Any, Any]] = []
        #: which arrays these are, where runs tell that
        self.codes: list[list[Tensor] | None] = []
        #: the arrays that are chosen, and what they are chosen from
        self.made: list[tuple[Storage, tuple[Any, Any]]] = []
        self._ends = ends
        self._is_returned = is_result or is_return_value(name)
        #: whether it is a number of Python's on one side and an array with axes on the other
        self.numbers: list[bool] = []
        #: whether it may be one, and nothing tells
        self.untold: list[bool] = []
        self.structure: Any = None
        self.counts: list[int] = []
        if all(self.absent):
            return
        if not any(self.absent) and lengths_differ(a, b):
            raise Grown(name, *map(as_objects, (a, b)))
        a, b, self._objects = of_sides(a, b, self.absent, lambda k, leaf: is_made_in(graphs[k], leaf))
        present = b if self.absent[0] else a
        leaves, self.structure = nest.flatten_with_structure(present)
        others = leaves
        if not any(self.absent):
            leave_containers(spoken(name), a, b)
            leave_objects(spoken(name), a, b)
            others, structure = nest.flatten_with_structure(b)
            if structure != self.structure:
                self._refuse_structures(a, b)
        for one, other in zip(leaves, others, strict=True):
            self._leaf(one, other)

    def _refuse_structures(self, a: Any, b: Any) -> None:
        message = (
            f"{self.what.format(spoken(self.name))} must have the same nested structure, they have "
            f"{nest.describe(a)} and {nest.describe(b)}"
            f"{'' if self._is_returned else advice_on_keys(self.name, a, b)} [AL110]"
        )
        raise refusal(self.what, StructureError(message))

    def _leaf(self, one: Any, other: Any) -> None:
        kind = own_kind(one)
        self.kinds.append(kind if any(self.absent) or kind is own_kind(other) else kind_of((one, other)))
        self.handles.append((one, other))
        self.numbers.append(False)
        self.untold.append(False)
        if not any(self.absent) and _same(one, other, self._leave_one_tensor(one, other)):
            self.pairs.append(None)
            self.fixed.append(one)
            return
        self.fixed.append(None)
        leave_markers(spoken(self.name), one, other)
        if not any(self.absent) and (is_no_other(one) or is_no_other(other)):
            self._refuse_values(one, other)
        if any(self.absent):
            if is_no_other(one) or not _is_numeric(one) or _is_outer_array(one) or (self.is_raised and _is_outer(one)):
                self.pairs.append(None)
                self.fixed[-1] = one  # only ever read where it is set, and there it has this value
                return
            unread = blank(one)
            one, other = (unread, one) if self.absent[0] else (one, unread)
        elif is_text(one) and is_text(other):
            self.kinds[-1] = TextTracer
            self.handles[-1] = one, other = TextTracer(text(one)), TextTracer(text(other))
        elif is_text(one) or is_text(other) or not (_is_numeric(one) and _is_numeric(other)) or are_apart(one, other):
            self._refuse_values(one, other)
        one, other = self._certain(0, one), self._certain(1, other)
        one, other = self._at_end(0, one), self._at_end(1, other)
        self.numbers[-1] = self.number is NumberTracer and is_number_beside_array(one, other)
        self.untold[-1] = self.numbers[-1] and (is_untold(one) or is_untold(other))
        self.numbers[-1] &= not self.untold[-1]
        sides = notes_of(one, other) if self.numbers[-1] else ()
        one, other = self._of_one_type(one, other)
        if sides:
            one, other = (one, *sides[0]), (other, *sides[1])
        with undivided():
            from autoloop_runtime.control.while_loop import BranchValues

        self.pairs.append(BranchValues(one, other, self.what.format(spoken(self.name))))
        self.codes += [None] * (len(self.pairs) - len(self.codes))
        if (told := telling()) and issubclass(self.kinds[-1], ArrayTracer):
            there = [None if away else one for away, one in zip(self.absent, self.handles[-1], strict=True)]
            self.codes[-1] = told.of_both(there, self.graphs)

    def _of_one_type(self, one: Any, other: Any) -> tuple[Any, Any]:
        """Return what both sides leave as values of one type: numbers of several, unless a tensor decides."""
        if self.number is not NumberTracer:
            one, other = (part.leaving() if isinstance(part, MixedNumber) else part for part in (one, other))
        elif isinstance(one, MixedNumber) or codes_of(one) != codes_of(other):
            both = [part for part in (mixed(one, other), mixed(other, one)) if part is not None]
            if len(both) == 2:
                for part, graph in zip(both, self.graphs, strict=True):
                    with graph.as_default():
                        components(part)
                return both[0], both[1]
        if self.number is NumberTracer and self.kinds[-1] is ArrayTracer and not any(self.absent):
            self.kinds[-1] = kind_of_either(spoken(self.name), one, other)
        try:
            return _alike(one, other), _alike(other, one)
        except OverflowError as error:
            refuse_unknown(f"{spoken(self.name)!r} is a number that the other path's dtype does not hold", str(error))

    def _certain(self, side: int, value: Any) -> Any:
        with self.graphs[side].as_default():
            return certain(value)

    def _leave_one_tensor(self, one: Any, other: Any) -> bool:
        """Return whether both sides leave one tensor; a view that a side has made can be looked at only in there."""
        if not isinstance(one, Tensor) or type(one) is not type(other):
            return False
        ends = [None if _is_outer_array(v) else self._held(side, v) for side, v in enumerate((one, other))]
        plain, other_plain = (v.plain if end is None else end for v, end in zip((one, other), ends, strict=True))
        return plain is other_plain

    def _at_end(self, side: int, value: Any) -> Any:
        """Return what a side leaves; of an array what it held then, for the block's writes are undone."""
        tensor = self._held(side, value)
        return value if tensor is None else marked(own_kind(value), tensor)

    def _held(self, side: int, value: Any) -> Tensor | None:
        _, held = self._ends[side].get(id(value), (None, None))
        return None if isinstance(held, str) else held

    def _lose(self, made: Storage, handles: Sequence[Any]) -> None:
        """Lose what is chosen from arrays of which, at the end of a side, nobody could tell what they held."""
        for ends, handle in zip(self._ends, handles, strict=True):
            for array in arrays_left(handle):
                _, held = ends.get(id(array), (None, None))
                if isinstance(held, str):
                    made.lose(held)

    def _refuse_values(self, one: Any, other: Any) -> None:
        leave_objects_apart(spoken(self.name), one, other)
        said = f" differ under a tensor condition and are no tensors: {one!r} and {other!r}"
        if one is None or other is None:
            side = "main" if one is None else "else"
            said = (
                f": it is None at the end of the {side} branch and has a value at the end of the other; give it a "
                f"value of the same type in both"
            )
        raise refusal(self.what, TypeError(f"{self.what.format(spoken(self.name))}{said} [AL111]"))

    @leaving
    def tensors(self, side: int) -> list[Tensor]:
        """Return what one side gives, made in the current graph; for side 0 first."""
        made: list[Tensor] = []
        self.codes += [None] * (len(self.pairs) - len(self.codes))
        for pair, codes in zip(self.pairs, self.codes, strict=True):
            tensors = [] if pair is None else pair.tensors(side)
            if side == 0:
                self.counts.append(len(tensors))
            made += tensors if codes is None else [*tensors, codes[side]]
        if self.is_set is not None:
            made.append(convert_to_tensor(self.is_set[side]))
        return made

    def value(self, outputs: list[Tensor], made_objects: Twins) -> Any:
        """Take this variable's outputs off the list and return its value; a Python number is a ``number``."""
        leaves = []
        columns = (self.pairs, self.fixed, self.counts, self.kinds, self.handles, self.numbers, self.untold)
        columns = (*columns, self.codes)  # type: ignore[assignment]
        for pair, fixed, count, kind, handles, may_be_number, is_untold_of, codes in zip(*columns, strict=True):
            mine, outputs[:count] = outputs[:count], []
            code = None if codes is None else outputs.pop(0)
            made = fixed if pair is None else pair.pack(mine)
            if may_be_number:
                made, is_number, number_then = made
                note(made, is_number, number_then, spoken(self.name))
            if is_untold_of:
                note(made, None, None, spoken(self.name))
            if pair is not None:
                made = as_maybe(marked(join(kind, self.number), made))
                note_variable(made, *handles)
            if pair is not None and isinstance(made, ArrayTracer):
                made.storage.choice = Choice(self.graphs[0], lambda both=handles: both)  # type: ignore[misc]
                if all(map(is_read_only, handles)):
                    made.freeze(True)
                self._lose(made.storage, handles)
                if code is not None and (told := telling()):
                    told.choose(made.storage, code)
                if not self._is_returned:
                    link(made.storage, handles)
                    self.made.append((made.storage, handles))
            leaves.append(made)
        is_set = outputs.pop(0) if self.is_set is not None else None
        if all(self.absent):
            return Undefined(self.name)
        objects: list[tuple[Any, Any]] = []
        value = assembled(nest.unflatten(self.structure, leaves), objects)
        made_objects += [(new, self._objects[id(old)]) for new, old in objects]
        if is_set is None:
            return value
        return maybe(self.name, value, is_set, self.optional)


def _is_optional(a: Any, b: Any) -> bool:
    """Return whether one of two values is None and the other a value."""
    if a is NEVER or b is NEVER or Undefined in (type(a), type(b)):
        return False
    a, b = when_set(a), when_set(b)
    return (a is None) != (b is None)


def _is_there(value: Any) -> Any:
    if is_optional(value):
        return opened(value).is_set
    return value is not None and value is not NEVER


def _set_flags(a: Any, b: Any) -> tuple[Any, Any] | None:
    """Return whether the variable is set on each side, or None if it surely is wherever it is read."""
    unset = [type(one) in (Undefined, MaybeUnset) for one in (a, b)]
    if not any(unset) or all(type(one) is Undefined or one is NEVER for one in (a, b)):
        return None
    flags = [
        opened(one).is_set if type(one) is MaybeUnset else type(one) is not Undefined and one is not NEVER
        for one in (a, b)
    ]
    return flags[0], flags[1]


def _same(one: Any, other: Any, alike: bool) -> bool:
    """Return whether both sides leave the very same value, so that nothing needs to be chosen."""
    if one is other or (alike and not is_array(one)):
        return not isinstance(one, Tensor) or one.node is None or is_around(one.node.graph)
    if type(one) is type(other) is set:
        return one == other
    return type(one) is type(other) and isinstance(one, bool | int | float | complex | str | bytes) and one == other


def _is_outer(value: Any) -> bool:
    """Return whether a number or tensor is one from outside of the side that leaves it."""
    is_of = isinstance(value, Tensor) and (value.node is None or is_around(value.node.graph))
    return is_of or isinstance(value, bool | int | float | complex)


def _is_outer_array(value: Any) -> bool:
    """Return whether an array was there before, and is no part of one that only this side can name."""
    storage = kept(value)
    if storage is None or not is_around(storage.graph):
        return False
    view = value.view_of  # asked of arrays only: what stands for another value may make something to tell it
    while view is not None:
        if any(one.node is not None and not is_around(one.node.graph) for one in tensors_in(view.index)):
            return False
        view = view.parent.view_of
    return True


def _alike(one: Any, other: Any) -> Any:
    """Return ``one`` in the dtype that it and ``other``, of which one is chosen, have together, if it is a number.

    An int beside a float becomes one; a number beside an array or tensor takes its dtype, if that holds such numbers.
    """
    mine, theirs = number_type(one), number_type(other)
    if mine is None:
        return one
    if theirs is not None:
        dtype = CARRIERS[mine if bool in (mine, theirs) else widest(mine, theirs)]
    elif composite_of(other) is not None:
        return one
    elif (dtype := other.dtype) != beside(dtype, one):
        dtype = CARRIERS[mine]
    if isinstance(one, Tensor):
        return one.plain if one.dtype == dtype else cast_where_made(one, dtype)
    return to_array(one, dtype)


def _is_numeric(leaf: Any) -> bool:
    if isinstance(leaf, np.ndarray | np.generic | bool | int | float | complex):
        return True
    return is_tensor(leaf) or composite_of(leaf) is not None
