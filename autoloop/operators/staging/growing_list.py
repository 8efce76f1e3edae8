"""Lists that grow in a staged loop or branch.

When a list has another length after a staged block than before, it is turned into a :class:`GrowingList`: the
same methods over a TensorArray. Appending costs constant time; ``pop`` copies.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.composite import Composite, register
from autoloop_runtime.ir.convert import as_constant, convert_to_tensor, to_array
from autoloop_runtime.ir.number_operators import beside, carried, number_type
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, NumberTracer, join, kind_of, marked

from .standins import StandIn

if TYPE_CHECKING:
    from autoloop_runtime.collections.tensor_array import TensorArray


class GrowingList(StandIn):
    """A list whose length is known only when the graph runs.

    Parameters
    ----------
    name : str
        The user's variable, for messages.
    arrays : sequence of TensorArray
        One per leaf of an element.
    structure : object
        The structure of an element.
    kinds : sequence of Kind
        What each leaf of an element is to the user; of a list in it, what its elements are.
    lists : frozenset of int
        Which leaves of an element are the rows of a list in it.
    """

    def __init__(
        self,
        name: str,
        arrays: Sequence[TensorArray],
        structure: Any,
        kinds: Sequence[Kind],
        lists: frozenset[int] = frozenset(),
    ) -> None:
        self.name = name
        self.arrays = list(arrays)
        self.structure = structure
        self.kinds = list(kinds)
        self.lists = lists

    def copy(self) -> GrowingList:
        """Return a list of its own with the same elements."""
        return GrowingList(self.name, self.arrays, self.structure, self.kinds, self.lists)

    @property
    def __autoloop_kind__(self) -> Kind:
        return join(*self.kinds)

    @property
    def dtype(self) -> tuple[Any, ...]:
        """The dtypes of the parts of an element."""
        return tuple(array.dtype for array in self.arrays)

    @property
    def length(self) -> Any:
        """The number of elements, a tensor."""
        return self.arrays[0].size()

    def empty(self) -> GrowingList:
        """Return a list of the same kind without elements."""
        arrays = _empty_arrays((one.dtype, one.element_shape) for one in self.arrays)
        return GrowingList(self.name, arrays, self.structure, self.kinds, self.lists)

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        inner = {place: leaf for place, leaf in enumerate(nest.flatten(value)) if _is_list_of_rows(leaf)}
        leaves, structure = nest.flatten_with_structure(_as_rows(value))
        if structure != self.structure:
            raise TypeError(
                f"the elements of the list {self.name!r} must have the same structure in a loop on tensors: "
                f"appended was {nest.describe(value)}"
            )
        index = self.length
        for position, (array, leaf) in enumerate(zip(self.arrays, leaves, strict=True)):
            self._check(array, leaf)
            kind = kind_of((inner.get(position, leaf),))
            is_new = position in inner and position not in self.lists
            self.kinds[position] = kind if is_new else join(self.kinds[position], kind)
            self.arrays[position] = array.write(index, _element(leaf, array.dtype))
            if (storage := kept(leaf)) is not None and leaf.shape.rank != 0:
                storage.copied = storage.copied or f"the list {self.name!r}"
        self.lists |= inner.keys()

    def _check(self, array: TensorArray, leaf: Any) -> None:
        shape = convert_to_tensor(leaf).shape
        if not shape.is_compatible_with(array.element_shape):
            raise ValueError(
                f"the elements of the list {self.name!r} must have one shape in a loop on tensors: it holds "
                f"elements of shape {array.element_shape}, appended was one of shape {shape}"
            )

    def extend(self, values: Any) -> None:
        """Append each of some values."""
        if not isinstance(values, GrowingList):
            for value in values:
                self.append(value)
            return
        if values.structure != self.structure:
            raise TypeError(
                f"the list {self.name!r} cannot be extended by {values.name!r}, whose elements have another structure"
            )
        self.kinds = [join(*kinds) for kinds in zip(self.kinds, values.kinds, strict=True)]
        rows = [(array.stack(), more.stack()) for array, more in zip(self.arrays, values.arrays, strict=True)]
        self._set_rows(ops.concat(pair) for pair in rows)

    def __add__(self, values: Any) -> GrowingList:
        longer = self.copy()
        longer.extend(values)
        return longer

    def __iadd__(self, values: Any) -> GrowingList:
        self.extend(values)
        return self

    def pop(self, index: int = -1) -> Any:
        """Take the last element off."""
        place = self._place(index)
        value = self[place]
        rest = ops.range(ops.subtract(self.length, 1))
        if not (isinstance(index, int) and index == -1):
            rest = ops.add(rest, ops.cast(ops.greater_equal(rest, place), rest.dtype))
        self._set_rows(array.gather(rest) for array in self.arrays)
        return value

    def insert(self, index: Any, value: Any) -> None:
        """Add an element before the one at an index; as in Python, one beyond the ends means the ends."""
        place = ops.maximum(ops.minimum(self._place(index), self.length), 0)
        self.append(value)
        every = ops.range(self.length)
        last = ops.subtract(self.length, 1)
        moved = ops.subtract(every, ops.cast(ops.greater(every, place), every.dtype))
        order = ops.where(ops.equal(every, place), last, moved)
        self._set_rows(array.gather(order) for array in self.arrays)

    def reverse(self) -> None:
        """Put the elements in the opposite order."""
        self._set_rows(ops.flip(array.stack(), 0) for array in self.arrays)

    def clear(self) -> None:
        """Take all elements off."""
        self.arrays = self.empty().arrays

    def _place(self, index: Any) -> Any:
        """Return an index as counted from the front."""
        if isinstance(index, int):
            return ops.add(self.length, index) if index < 0 else convert_to_tensor(index)
        return ops.where(ops.less(index, 0), ops.add(index, self.length), index)

    def _set_rows(self, rows: Iterable[Any]) -> None:
        empty = self.empty().arrays
        self.arrays = [array.unstack(one) for array, one in zip(empty, list(rows), strict=True)]

    def __setitem__(self, index: Any, value: Any) -> None:
        leaves = nest.flatten(_as_rows(value))
        empty = self.empty().arrays
        for position, (array, leaf) in enumerate(zip(self.arrays, leaves, strict=True)):
            self.arrays[position] = empty[position].unstack(ops.set_item(array.stack(), index, leaf))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(list, name):
            raise TypeError(
                f"the list {self.name!r} grows in a loop on tensors, where `{name}` does not work: append, extend, "
                f"insert, pop, reverse, clear, len, out[i], out[i] = x and `for` do"
            )
        raise AttributeError(f"'list' object has no attribute {name!r}", name=name, obj=self)

    def stack(self) -> Any:
        """Return the elements as the rows of an array or tensor, or of a structure of these."""
        return self._packed([array.stack() for array in self.arrays], ArrayTracer)

    def _packed(self, leaves: Sequence[Any], least: Kind = NumberTracer) -> Any:
        is_whole = least is ArrayTracer  # all elements at once
        made = [
            _list_of(leaf, kind, self.name) if place in self.lists and not is_whole else marked(join(kind, least), leaf)
            for place, (kind, leaf) in enumerate(zip(self.kinds, leaves, strict=True))
        ]
        return nest.unflatten(self.structure, made)

    def __autoloop_tensor__(self) -> Tensor:
        if len(self.arrays) != 1:
            raise TypeError(f"the elements of the list {self.name!r} are structures, not tensors")
        return convert_to_tensor(self.arrays[0].stack())

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*map(_as_rows, args), **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(_as_rows, args), **kwargs)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            part = self.copy()
            part._set_rows(ops.getitem(array.stack(), index) for array in self.arrays)
            return part
        if not isinstance(index, int) or index < 0:
            index = self._place(index)
        element = self._packed([array.read(index) for array in self.arrays])
        for storage in map(kept, nest.flatten(element)):
            if storage is not None and storage.tensor.shape.rank != 0:
                storage.copied = f"the list {self.name!r}"
        return element

    def decision(self) -> Any:
        """Return whether it has elements."""
        return marked(NumberTracer, ops.greater(self.length, 0))

    def __len__(self) -> int:
        raise TypeError(f"the length of the list {self.name!r} is a tensor: call len(...) in converted code")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(
            f"the list {self.name!r} grows in a loop on tensors: run over it with a `for` statement, extend it with "
            f"`+=`, or use autoloop.stack({self.name})"
        )

    def described(self) -> str:
        """Return what messages call it."""
        return f"the list {self.name!r}, whose length only the run tells"

    def values(self) -> list[Any]:
        """Return the list of a run that is over."""
        return [self._packed([array.read(index) for array in self.arrays]) for index in range(int(self.length))]

    def parts(self) -> tuple[list[Any], Callable[..., Any]]:
        """Return tensors, and what makes of their values the list of a run."""
        return [one.stack() for one in self.arrays], lambda *rows: [
            nest.unflatten(self.structure, row) for row in zip(*rows, strict=True)
        ]

    def __repr__(self) -> str:
        return f"<list {self.name!r} of tensors, of unknown length>"


def growing(name: str, elements: Sequence[Any], example: Any) -> GrowingList:
    """Return a growing list that starts with ``elements``; ``example`` is a growing list, or the like of one."""
    made = example.empty() if isinstance(example, GrowingList) else _like(name, example)
    made.name = name
    made.extend(elements)
    return made


def _like(name: str, element: Any) -> GrowingList:
    leaves, structure = nest.flatten_with_structure(element)
    tensors = [leaf if isinstance(leaf, _Spec) else _element(leaf) for leaf in leaves]
    kinds = [leaf.kind if isinstance(leaf, _Spec) else kind_of((leaf,)) for leaf in leaves]
    lists = frozenset(place for place, leaf in enumerate(leaves) if isinstance(leaf, _Spec) and leaf.is_list)
    return GrowingList(name, _empty_arrays((one.dtype, one.shape) for one in tensors), structure, kinds, lists)


def _empty_arrays(elements: Iterable[tuple[Any, TensorShape]]) -> list[TensorArray]:
    """Return an empty array for each dtype and shape of an element."""
    with undivided():
        from autoloop_runtime.collections.tensor_array import TensorArray

    return [TensorArray.collecting(dtype, 0, True, shape) for dtype, shape in elements]


def _element(leaf: Any, dtype: Any = None) -> Tensor:
    """Return an element, a number as what carries it, or in the dtype of the list's other elements."""
    number = number_type(leaf)
    if number is None:
        tensor = convert_to_tensor(leaf)
        fits = dtype is not None and kind_of((leaf,)) is Tensor and np.can_cast(tensor.dtype, dtype, "safe")
        return ops.cast(tensor, dtype) if fits else tensor
    if dtype is None or beside(dtype, leaf) != dtype:
        return carried(leaf)
    if isinstance(leaf, Tensor):
        return ops.cast(leaf, dtype)
    return as_constant(to_array(leaf, dtype))


def example_of(*lists: Any) -> Any:
    """Return a growing list, or the element that best tells what the elements are: a tensor before a number."""
    for one in lists:
        if isinstance(one, GrowingList):
            return one
    elements = [nest.map_structure(_spec, element) for one in lists for element in reversed(one)]
    kinds = Tensor | _Spec | np.ndarray
    tensors = [one for one in elements if any(isinstance(leaf, kinds) for leaf in nest.flatten(one))]
    return (tensors or elements)[0]


@dataclass(frozen=True)
class _Spec:
    """What an element is, without its value."""

    dtype: Any
    shape: TensorShape
    kind: Kind
    is_list: bool = False


def _spec(leaf: Any) -> Any:
    """Return what tells of an element that is itself a growing list, or a view that may be one of a loop's body."""
    if isinstance(leaf, ArrayTracer) and leaf.view_of is not None:
        return _Spec(leaf.dtype, leaf.shape, ArrayTracer)
    if not isinstance(leaf, GrowingList):
        return leaf
    (array,) = leaf.arrays[:1]
    is_list = _is_list_of_rows(leaf)
    kind = leaf.__autoloop_kind__ if is_list else ArrayTracer
    return _Spec(array.dtype, TensorShape([None]).concatenate(array.element_shape), kind, is_list)


def _as_rows(element: Any) -> Any:
    """Return an element with growing lists in it as tensors: they are then rows, all of one length."""
    leaves, structure = nest.flatten_with_structure(element)
    if not any(isinstance(leaf, GrowingList) for leaf in leaves):
        return element
    rows = [leaf.__autoloop_tensor__() if isinstance(leaf, GrowingList) else leaf for leaf in leaves]
    return nest.unflatten(structure, rows)


def _is_list_of_rows(leaf: Any) -> bool:
    """Return whether a leaf of an element is a growing list of the user's numbers or arrays."""
    return isinstance(leaf, GrowingList) and leaf.__autoloop_kind__ is not Tensor


def _list_of(rows: Tensor, kind: Kind, name: str) -> Any:
    """Return the list that stands as rows in another one."""
    if rows.node is None:
        return [marked(kind, Tensor(row)) for row in rows.value]
    (empty,) = _empty_arrays([(rows.dtype, rows.shape[1:])])
    return GrowingList(name, [empty.unstack(rows)], nest.LEAF, [kind])


def has_grown(one: Any, other: Any) -> bool:
    """Return whether two values of a variable are lists of different, or of unknown, lengths."""
    kinds = (list, GrowingList)
    if type(one) not in kinds or type(other) not in kinds:
        return False
    if type(one) is list and type(other) is list:
        return len(one) != len(other)
    return type(one) is not type(other)


def lengths_differ(one: Any, other: Any) -> bool:
    """Return whether two values of a variable are, or hold at the same places, lists of different lengths."""
    if has_grown(one, other):
        return True
    if type(one) is not type(other) or type(one) not in (dict, list, tuple) or len(one) != len(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and any(lengths_differ(one[key], other[key]) for key in one)
    return any(map(lengths_differ, one, other))


def with_growing(name: str, before: Any, after: Any) -> Any:
    """Return ``before`` with a growing list for each list in it that is longer or shorter in ``after``.

    ``before`` itself is returned if there is none.
    """
    if isinstance(before, GrowingList):
        return before
    if has_grown(before, after):
        return growing(name, before, example_of(after, before))
    if type(before) is not type(after) or type(before) not in (dict, list, tuple) or len(before) != len(after):
        return before
    keys = list(before) if type(before) is dict else range(len(before))
    if type(before) is dict and before.keys() != after.keys():
        return before
    parts = [with_growing(f"{name}[{key!r}]", before[key], after[key]) for key in keys]
    if all(part is before[key] for part, key in zip(parts, keys, strict=True)):
        return before
    return dict(zip(keys, parts, strict=True)) if type(before) is dict else type(before)(parts)


def as_growing(name: str, value: Any, like: Any) -> Any:
    """Return a plain list as a growing one if ``like``, the variable's other value, is one."""
    return growing(name, value, like) if type(value) is list and isinstance(like, GrowingList) else value


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
        return [array.flow for array in value.arrays]

    def spec(self, value: GrowingList) -> Hashable:
        return value.name, value.structure, tuple(map(_Template, value.arrays, value.kinds)), value.lists

    def unread(self, value: GrowingList) -> GrowingList:
        return value.empty()

    def from_components(self, spec: Any, components: Sequence[Any]) -> Any:
        name, structure, templates, lists = spec
        if not all(isinstance(flow, Tensor) for flow in components):
            return list(components)
        arrays = [template.array(flow) for template, flow in zip(templates, components, strict=True)]
        made = GrowingList(name, arrays, structure, [template.kind for template in templates], lists)
        return made if any(flow.node is not None for flow in components) else made.values()

    def either(self, value: GrowingList, other: GrowingList, free: bool = True, other_free: bool = True) -> GrowingList:
        kinds = [join(*pair) for pair in zip(value.kinds, other.kinds, strict=True)]
        return (
            value
            if kinds == value.kinds
            else GrowingList(value.name, value.arrays, value.structure, kinds, value.lists)
        )


register(GrowingList, _AsComposite())
