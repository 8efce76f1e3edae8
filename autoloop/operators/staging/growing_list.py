"""Lists that grow in a staged loop or branch.

When a list has another length after a staged block than before, it is turned into a :class:`GrowingList`: the
same methods over a TensorArray. Appending, putting an element in the place of another one and taking the last one off
cost constant time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.stand_ins import called
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.composite import Composite, register
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import theirs_here
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, NumberTracer, join, marked, own_kind

from ...left_to_python import WORLD, is_followed, leave_unknown, refuse_unknown
from .array_elements import note_beginning, note_moved
from .container_contents import containers_in, has_objects, objects_in
from .copied_elements import note_begun, note_element, note_put, note_shared
from .instances import as_rows
from .joined_elements import Join
from .leaves_of_elements import checked_leaf
from .list_columns import ListColumns, empty_arrays
from .several_types import refuse_without
from .staged_values import refuse_variables
from .twins import watch_copied

if TYPE_CHECKING:
    from autoloop_runtime.collections.tensor_array import TensorArray


@called("list (of which only the run knows the length)")
class GrowingList(ListColumns):
    """A list whose length is known only when the graph runs, see ``ListColumns`` for what it is made of."""

    __slots__ = ()
    __stands_for__ = list

    def empty(self) -> GrowingList:
        """Return a list of the same kind without elements."""
        arrays = empty_arrays((one.dtype, one.element_shape) for one in self.arrays)
        return GrowingList(self.name, arrays, self.structure, self.kinds, self.lists, self.several)

    def copy(self) -> GrowingList:
        """Return another list with the same elements."""
        note_shared("", self)
        return self.alike()

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        note_put(self.name, value)
        self._append(value)

    def begin(self, values: Sequence[Any]) -> None:
        """Hold the elements of a list that grows from now on."""
        note_begun(self.name, values)
        note_beginning(self.name, len(values))
        for place, value in enumerate(values):
            self._append(value, place)

    def _append(self, value: Any, place: int | None = None) -> None:
        index, parts = self.length, self._taken(value, place)
        self.arrays = [array.write(index, part) for array, part in zip(self.arrays, parts, strict=True)]

    def _taken(self, value: Any, place: int | None = None) -> list[Tensor]:
        """Return what the arrays are to hold of an element that is put in, or stands at a place when it begins."""
        _leave_held(self.name, value)
        value = _as_plain(value)
        inner = {place: leaf for place, leaf in enumerate(nest.flatten(value)) if is_list_of_rows(leaf)}
        leaves, structure = nest.flatten_with_structure(_as_rows(value))
        if structure != self.structure:
            refuse_unknown(
                f"the elements of the list {self.name!r} must have the same structure in a loop on tensors",
                f"appended was {nest.describe(value)}",
            )
        leaves = [checked_leaf(self.name, leaf) for leaf in leaves]
        if any((array.dtype.kind == "U") is not _is_text(leaf) for array, leaf in zip(self.arrays, leaves)):
            refuse_unknown(
                f"the elements of the list {self.name!r} must have one type in a loop on tensors",
                "append texts to one, and numbers to another",
            )
        self.admit(leaves)
        parts = self.parts_of(leaves)
        _leave_dtypes(self, parts)
        for position, leaf in enumerate(leaves):
            kind = own_kind(inner.get(position, leaf))
            is_new = position in inner and position not in self.lists
            if position not in self.several:
                self.kinds[position] = kind if is_new else join(self.kinds[position], kind)
            note_element(self.name, leaf, place, position)
            if (storage := kept(leaf)) is not None and leaf.shape.rank != 0:
                storage.copied = storage.copied or f"the list {self.name!r}"
        self.lists |= inner.keys()
        return parts

    def extend(self, values: Any, is_shared: bool = True) -> None:
        """Append each of some values, of a list that others have or may change, or that nobody sees."""
        if not isinstance(values, GrowingList):
            for value in values:
                self.append(value)
            return
        if values.structure != self.structure:
            refuse_unknown(
                f"the list {self.name!r} cannot be extended by {values.name!r}, whose elements have another structure",
                "keep two lists",
            )
        if is_shared or values.holds_containers:
            note_shared(self.name, values)
        self._extend(values)

    def _extend(self, values: GrowingList) -> None:
        self.admit([values.like(place) for place in range(len(values.kinds))])
        values = values.with_types_of(self)
        self.kinds = [join(*kinds) for kinds in zip(self.kinds, values.kinds, strict=True)]
        _leave_dtypes(self, values.arrays)
        rows = [(array.stack(), more.stack()) for array, more in zip(self.arrays, values.arrays, strict=True)]
        self._set_rows(ops.concat(pair) for pair in rows)

    def __add__(self, values: Any) -> GrowingList:
        longer = self.alike()
        longer.extend(values)
        return longer

    def __iadd__(self, values: Any) -> GrowingList:
        self.extend(values)
        return self

    def pop(self, index: int = -1) -> Any:
        """Take an element off, the last one unless told."""
        value = self._element(self._place(index), "pop index out of range")
        self._remove(index, "pop index out of range")
        return value

    def _remove(self, index: Any, words: str) -> None:
        """Take an element off; ``words`` are those of the error if there is none."""
        note_moved()
        place, is_last = self._place(index), isinstance(index, int) and index == -1
        self.arrays = [array.without(place, is_last, words) for array in self.arrays]

    def insert(self, index: Any, value: Any) -> None:
        """Add an element before the one at an index; as in Python, one beyond the ends means the ends."""
        note_put(self.name, value)
        place, parts = self._bound(index), self._taken(value)
        note_moved()
        self.arrays = [array.inserted(place, part) for array, part in zip(self.arrays, parts, strict=True)]

    def reverse(self) -> None:
        """Put the elements in the opposite order."""
        self._set_rows(ops.flip(array.stack(), 0) for array in self.arrays)

    def clear(self) -> None:
        """Take all elements off."""
        note_moved()
        self.arrays = self.empty().arrays

    def _place(self, index: Any) -> Any:
        """Return an index as counted from the front."""
        if isinstance(index, int):
            return ops.add(self.length, index) if index < 0 else convert_to_tensor(index)
        return ops.where(ops.less(index, 0), ops.add(index, self.length), index)

    def _set_rows(self, rows: Iterable[Any]) -> None:
        note_moved()
        empty = self.empty().arrays
        self.arrays = [array.unstack(one) for array, one in zip(empty, list(rows), strict=True)]

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._set_part(index, value)
            return
        note_put(self.name, value)
        parts, place = self._taken(value), self._place(index)
        note_moved()
        self.arrays = [array.replaced(place, part) for array, part in zip(self.arrays, parts, strict=True)]

    def _set_part(self, part: slice, values: Any) -> None:
        """Put values, as many as there are, in the place of a part."""
        if part.step is not None and part.step != 1:
            self._refuse("out[i:j:k] = values")
        start = 0 if part.start is None else self._bound(part.start)
        stop = self.length if part.stop is None else ops.maximum(self._bound(part.stop), start)
        made, rest = self._part(slice(None, start)), self._part(slice(stop, None))
        made.extend(values)
        made._extend(rest)
        self.become(made)

    def _bound(self, index: Any) -> Any:
        """Return where a part begins or ends; as in Python, beyond the ends it is the ends."""
        return ops.maximum(ops.minimum(self._place(index), self.length), 0)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(list, name):
            self._refuse(name)
        raise AttributeError(f"'list' object has no attribute {name!r}", name=name, obj=self)

    def _refuse(self, name: str) -> NoReturn:
        refuse_unknown(
            f"the list {self.name!r} grows in a loop on tensors, where `{name}` does not work",
            "append, extend, insert, pop, reverse, clear, len, out[i], out[i] = x and `for` do",
        )

    def __mul__(self, times: Any) -> NoReturn:
        self._refuse("*")

    __rmul__ = __imul__ = __mul__

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            self._set_part(index, ())
        else:
            self._remove(index, "list assignment index out of range")

    def list_of(self, rows: Tensor, kind: Kind) -> Any:
        """Return the list that stands as rows in this one."""
        if rows.node is None:
            return [marked(kind, Tensor(row)) for row in rows.value]
        (empty,) = empty_arrays([(rows.dtype, rows.shape[1:])])
        return GrowingList(self.name, [empty.unstack(rows)], nest.LEAF, [kind])

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_arrays_for(function, args), **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_arrays_for(ufunc, args), **kwargs)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            note_shared("", self)
            return self._part(index)
        return self._element(self._place(index), "list index out of range")

    def _element(self, place: Any, words: str) -> Any:
        """Return an element; ``words`` are those of the error if there is none."""
        element = self.packed([array.listed(place, words) for array in self.arrays])
        for storage in map(kept, nest.flatten(element)):
            if storage is not None and storage.tensor.shape.rank != 0:
                storage.copied = f"the list {self.name!r}"
        return element

    def _part(self, index: slice) -> GrowingList:
        part = self.alike()
        part._set_rows(ops.getitem(array.stack(), index) for array in self.arrays)
        return part

    def decision(self) -> Any:
        """Return whether it has elements."""
        return marked(NumberTracer, ops.greater(self.length, 0))

    def __len__(self) -> int:  # noqa: PLE0303
        refuse_unknown(f"the length of the list {self.name!r} is a tensor", "call len(...) in converted code")

    def __iter__(self) -> Iterator[Any]:
        refuse_unknown(
            f"the list {self.name!r} grows in a loop on tensors",
            f"run over it with a `for` statement, extend it with `+=`, or use autoloop.stack({self.name})",
        )

    def described(self) -> str:
        """Return what messages call it."""
        return f"the list {self.name!r}, whose length only the run tells"

    def refuse_leaving(self, what: str) -> NoReturn:
        """Let plain Python run the function if it can; else raise the error that tells who would get this object."""
        refuse_unknown(f"{what} {self.described()}", self.advice)

    def values(self) -> list[Any]:
        """Return the list of a run that is over."""
        length = int(self.length)
        if (made := self._plain_values(length)) is None:
            made = [self.packed([array.read(index) for array in self.arrays]) for index in range(length)]
        if self.read_only:
            for element in made:
                _freeze(nest.flatten(element), self.read_only)
        for one in self.known:
            if len(made) > one.more_than:
                leaves, structure = nest.flatten_with_structure(made[one.place])
                leaves[one.column] = one.array
                made[one.place] = nest.unflatten(structure, leaves)
        return made

    def __repr__(self) -> str:
        return f"<list {self.name!r} of tensors, of unknown length>"


def _leave_dtypes(kept: GrowingList, parts: Iterable[Any]) -> None:
    """Let plain Python run a function whose list is given elements of another dtype: each has its own."""
    pairs = [(getattr(part, "dtype", None), array.dtype) for part, array in zip(parts, kept.arrays, strict=True)]
    if any(None is not one != other and not one.kind == other.kind == "U" for one, other in pairs):
        leave_unknown(f"the elements of the list {kept.name!r} are of several dtypes, which it keeps")


def _freeze(leaves: Sequence[Any], places: Iterable[int]) -> None:
    """Let nobody write to some leaves of an element of a run; tensors are read-only anyway."""
    for place in places:
        if type(leaves[place]) is np.ndarray:
            leaves[place].flags.writeable = False


def _is_text(leaf: Any) -> bool:
    return isinstance(leaf, str) or getattr(getattr(leaf, "dtype", None), "kind", "") == "U"


def _as_plain(element: Any) -> Any:
    """Return an element with the attributes of its objects, which must not change from now on."""
    refuse_variables(nest.flatten(element))
    if has_objects(element):
        watch_copied(objects_in(element))
    return as_rows(element)


def array_of(values: GrowingList) -> Any:
    """Return the elements as NumPy's functions take them."""
    return marked(join(values.__autoloop_kind__, ArrayTracer), values.__autoloop_tensor__())


def refuse_empty(values: GrowingList, function: Callable[..., Any]) -> None:
    """Let the run raise what ``function`` of NumPy's raises of no arrays, if there are none."""
    if values.__autoloop_kind__ is not Tensor:
        refuse_without(values.numbers(), function)


def _as_arrays(element: Any) -> Any:
    """Return an argument of a function of NumPy's with growing lists in it as arrays."""
    leaves, structure = nest.flatten_with_structure(element)
    if not any(isinstance(leaf, GrowingList) for leaf in leaves):
        return element
    rows = [array_of(leaf) if isinstance(leaf, GrowingList) else leaf for leaf in leaves]
    return nest.unflatten(structure, rows)


def _arrays_for(function: Any, args: Sequence[Any]) -> list[Any]:
    """Return the arguments of a function of NumPy's with arrays in place of growing lists: NumPy's, unless it asks the
    arrays in a list for a function of their library."""
    made, theirs = list(map(_as_arrays, args)), theirs_here()
    if theirs is None or theirs.are_asked(function, args):
        return made
    return [one if one is given else theirs.taken_over(np.asarray, (), one) for one, given in zip(made, args)]


def _as_rows(element: Any) -> Any:
    """Return an element with growing lists in it as tensors: they are then rows, all of one length."""
    leaves, structure = nest.flatten_with_structure(element)
    if not any(isinstance(leaf, GrowingList) for leaf in leaves):
        return element
    for leaf in leaves:
        if isinstance(leaf, GrowingList) and leaf.several:
            raise TypeError(
                f"{leaf.described()}, holds numbers of several types and is put into another list that grows: make "
                f"them numbers of one type, float(x) [AL019]"
            )
    rows = [leaf.numbers() if isinstance(leaf, GrowingList) else leaf for leaf in leaves]
    return nest.unflatten(structure, rows)


def is_list_of_rows(leaf: Any) -> bool:
    """Return whether a leaf of an element is a growing list of the user's numbers or arrays."""
    return isinstance(leaf, GrowingList) and leaf.__autoloop_kind__ is not Tensor


class _Template:
    """A TensorArray without its value; alike if the elements are."""

    def __init__(self, array: TensorArray, kind: Kind) -> None:
        self.type, self.dtype, self.element_shape, self.kind = type(array), array.dtype, array.element_shape, kind

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Template) and self.dtype == other.dtype and self.kind is other.kind

    def __hash__(self) -> int:
        return hash(self.dtype)

    def array(self, flow: Tensor) -> TensorArray:
        return self.type(self.dtype, dynamic_size=True, flow=flow, element_shape=self.element_shape)


class _AsComposite(Composite[GrowingList]):
    """The TensorArrays; a result of a run is the list that Python would have made."""

    def components(self, value: GrowingList) -> Sequence[Tensor]:
        return [*[array.flow for array in value.arrays], *[one.array for one in value.known]]

    def spec(self, value: GrowingList) -> Hashable:
        kinds = [*value.kinds, *[NumberTracer for _ in value.several]]
        several = tuple(sorted(value.several.items()))
        joined = tuple([(one.place, one.column, one.more_than) for one in value.known])
        templates = tuple(map(_Template, value.arrays, kinds))
        return value.name, value.structure, templates, value.lists, several, joined, value.read_only

    def unread(self, value: GrowingList) -> GrowingList:
        return value.empty()

    def from_components(self, spec: Any, components: Sequence[Any]) -> Any:
        name, structure, templates, lists, several, joined, read_only = spec
        components, others = components[: len(templates)], components[len(templates) :]
        if not all(isinstance(flow, Tensor) for flow in components):
            return [*components, *others]
        arrays = [template.array(flow) for template, flow in zip(templates, components, strict=True)]
        kinds = [template.kind for template in templates[: len(templates) - len(several)]]
        made = GrowingList(name, arrays, structure, kinds, lists, dict(several))
        made.read_only = read_only
        made.known = tuple(
            [Join(place, column, one, more) for (place, column, more), one in zip(joined, others, strict=True)]
        )
        return made if any(flow.node is not None for flow in components) else made.values()

    def either(self, value: GrowingList, other: GrowingList, free: bool = True, other_free: bool = True) -> GrowingList:
        kinds = [join(*pair) for pair in zip(value.kinds, other.kinds, strict=True)]
        return (
            value
            if kinds == value.kinds
            else GrowingList(value.name, value.arrays, value.structure, kinds, value.lists, value.several)
        )


register(GrowingList, _AsComposite())


def _leave_held(name: str, element: Any) -> None:
    """Let plain Python run the function if a list or dict that it has found is put into a list that grows.

    A graph has its elements only: what the list of a run would hold is a copy.

    Parameters
    ----------
    name : str
        What messages call the list.
    element : object
        What is put in.

    Raises
    ------
    LeftToPython
    TypeError
        If plain Python cannot.
    """
    if (inner := containers_in(element)) and is_followed() and (found := WORLD.get().holds(inner)) is not None:
        refuse_unknown(
            f"{found!r} is put into the list {name!r}, which grows in a loop or branch on tensors",
            "append a copy of it",
        )
