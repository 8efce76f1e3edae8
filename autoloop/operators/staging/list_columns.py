"""What the elements of a growing list are made of: a TensorArray for each leaf, and what these are to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.shapes import SCALAR, TensorShape
from autoloop_runtime.ir.convert import as_constant, convert_to_tensor, to_array
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.number_operators import beside, carried, number_type
from autoloop_runtime.ir.plain_values import plain_array, plain_number
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, NumberTracer, join, kind_of, marked

from ...left_to_python import refuse_unknown
from .copied_elements import note_taken
from .instances import Row, of_rows
from .joined_elements import Join
from .mixed_numbers import MixedNumber, all_handed_out, handed_out
from .several_types import Several, checked_column, checked_rows, of_column, widened, wider
from .staged_blocks import deciding
from .standins import Rows
from .twins import watch_copied

if TYPE_CHECKING:
    from autoloop_runtime.collections.tensor_array import TensorArray

_L = TypeVar("_L", bound="ListColumns")


class ListColumns(Rows):
    """Elements that have one structure.

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
    several : dict of int to Several
        Which leaves are numbers of several types; ``arrays`` ends with one more for each, of what they are.
    """

    __slots__ = ("arrays", "kinds", "known", "lists", "name", "read_only", "several", "structure")

    def __init__(
        self,
        name: str,
        arrays: Sequence[TensorArray],
        structure: Any,
        kinds: Sequence[Kind],
        lists: frozenset[int] = frozenset(),
        several: Mapping[int, Several] | None = None,
    ) -> None:
        self.name = name
        self.arrays = list(arrays)
        self.structure = structure
        self.kinds = list(kinds)
        self.lists = lists
        self.several = dict(several or {})
        #: the arrays that the list of a run is given; of a list that the trace leaves
        self.known: tuple[Join, ...] = ()
        #: which leaves of its elements are arrays that nobody may write to; of such a list
        self.read_only: frozenset[int] = frozenset()

    def alike(self: _L) -> _L:
        """Return a list of its own with the same elements, which stands for this one."""
        return type(self)(self.name, self.arrays, self.structure, self.kinds, self.lists, self.several)

    @property
    def holds_arrays(self) -> bool:
        """Whether its elements are, or hold, arrays of the user's."""
        return any(
            issubclass(kind, ArrayTracer) and array.element_shape.rank != 0
            for kind, array in zip(self.kinds, self.arrays, strict=False)
        )

    @property
    def holds_containers(self) -> bool:
        """Whether its elements are, or hold, lists, dicts or objects."""
        return bool(self.lists) or _holds_containers(nest.unflatten(self.structure, self.kinds))

    def list_of(self, rows: Tensor, kind: Kind) -> Any:
        """Return the list that stands as rows in this one."""
        raise NotImplementedError

    def become(self, other: ListColumns) -> None:
        """Hold what another list holds."""
        self.arrays, self.kinds, self.lists, self.several = other.arrays, other.kinds, other.lists, other.several

    @property
    def __autoloop_kind__(self) -> Kind:
        return join(*self.kinds)

    @property
    def dtype(self) -> tuple[Any, ...]:
        """The dtypes of the parts of an element."""
        return tuple(array.dtype for array in self.arrays[: len(self.kinds)])

    @property
    def length(self) -> Any:
        """The number of elements, a tensor."""
        return self.arrays[0].size()

    def parts_of(self, leaves: Sequence[Any]) -> list[Tensor]:
        """Return what the arrays hold of an element."""
        for array, leaf in zip(self.arrays, leaves, strict=False):
            self._check(array, leaf)
        pairs = {place: several.parts(leaves[place], self.name) for place, several in sorted(self.several.items())}
        parts = [
            pairs[place][0] if place in pairs else as_element(leaf, self.arrays[place].dtype)
            for place, leaf in enumerate(leaves)
        ]
        return [*parts, *[tag for _, tag in pairs.values()]]

    def admit(self, leaves: Sequence[Any], is_empty: bool = False) -> None:
        """Let numbers be of the types that they are in another element, too."""
        for place, leaf in enumerate(leaves):
            mine = self.like(place)
            if mine is not None and (several := wider(mine, leaf)) is not None:
                self._widen(place, mine, several, is_empty)

    def like(self, place: int) -> MixedNumber | None:
        """Return what stands for the numbers that are a leaf of an element; None if it is none, or a tensor."""
        if place in self.several:
            return self.several[place].like()
        return None if place in self.lists else of_column(self.kinds[place], self.arrays[place])

    def _tags(self) -> dict[int, TensorArray]:
        return dict(zip(sorted(self.several), self.arrays[len(self.kinds) :], strict=True))

    def _widen(self, place: int, mine: MixedNumber, several: Several, is_empty: bool) -> None:
        tags = self._tags()
        made = empty_arrays((dtype, SCALAR) for dtype in (several.carrier, np.dtype(np.int64)))
        if not is_empty:
            known = tags[place].stack() if place in tags else None
            columns = widened(several, mine, self.arrays[place].stack(), known)
            made = [one.unstack(column) for one, column in zip(made, columns, strict=True)]
        self.arrays[place], tags[place] = made
        self.several[place], self.kinds[place] = several, several.kind
        self.arrays[len(self.kinds) :] = [tags[one] for one in sorted(tags)]

    def with_types_of(self: _L, other: ListColumns) -> _L:
        """Return this list, or one like it whose numbers may also be what those of another list are."""
        if self.structure != other.structure or self.several == other.several:
            return self
        made = self.alike()
        made.admit([other.like(place) for place in range(len(other.kinds))])
        return made if made.several != self.several else self

    def _check(self, array: TensorArray, leaf: Any) -> None:
        shape = convert_to_tensor(leaf).shape
        if deciding().tried and array.element_shape.is_fully_defined() and not shape.is_fully_defined():
            raise TypeError(f"the elements of {self.name!r} may have shapes of their own [AL019]")
        if not shape.is_compatible_with(array.element_shape):
            raise ValueError(
                f"the elements of the list {self.name!r} must have one shape in a loop on tensors: it holds "
                f"elements of shape {array.element_shape}, appended was one of shape {shape} [AL019]"
            )

    def stack(self) -> Any:
        """Return the elements as the rows of an array or tensor, or of a structure of these."""
        made = [marked(join(kind, ArrayTracer), self._column(place)) for place, kind in enumerate(self.kinds)]
        return nest.unflatten(self.structure, made)

    def _column(self, place: int) -> Tensor:
        """Return one leaf of all elements as NumPy makes an array of them."""
        values = self.arrays[place].stack()
        if place in self.several:
            return self.several[place].column(values, self._tags()[place].stack())
        if self.like(place) is not None:
            return checked_column(values)
        is_tensor = self.kinds[place] is Tensor
        return values if is_tensor or values.shape.rank == 1 or place in self.lists else checked_rows(values)

    def packed(self, parts: Sequence[Any]) -> Any:
        """Return an element of what the arrays hold of it."""
        tags = dict(zip(sorted(self.several), parts[len(self.kinds) :], strict=True))
        made = []
        for place, (kind, leaf) in enumerate(zip(self.kinds, parts, strict=False)):
            if place in tags:
                made.append(self.several[place].number(leaf, tags[place]))
            else:
                made.append(self.list_of(leaf, kind) if place in self.lists else marked(kind, leaf))
        element = self.whole(made)
        note_taken(self.name, element)
        return element

    def _plain_values(self, length: int) -> list[Any] | None:
        """Return the elements where they are arrays, numbers, or structures of these, and nobody records; None where
        they are others."""
        if self.lists or current_graph() is not None:
            return None
        columns = []
        for place in range(len(self.kinds)):
            if (column := self._plain_column(place, length)) is None:
                return None
            columns.append(column)
        if self.structure == nest.LEAF:
            return columns[0]
        rows, places = zip(*columns, strict=True), tuple(range(len(columns)))
        like = nest.unflatten(self.structure, places)
        if type(like) in (tuple, list) and tuple(like) == places:
            return list(rows) if type(like) is tuple else list(map(list, rows))
        return [self.whole(row) for row in rows]

    def _plain_column(self, place: int, length: int) -> list[Any] | None:
        """Return what the caller gets of one leaf of all elements of a run; None if it is no number or array."""
        make, array = _PLAIN.get(self.kinds[place]), self.arrays[place]
        if make is None or array.dtype.kind not in "biufc":
            return None
        if (values := array.column()) is not None and len(values) >= length:
            values = values[:length]
            if place in self.several:
                tags = self._tags()[place].column()
                return None if tags is None else all_handed_out(values, tags[:length])
            return values.tolist() if self.kinds[place] is NumberTracer else list(values)
        every = array.values() if array.dtype.kind in "biufc" else None
        if make is None or every is None or len(every) < length:
            return None
        if place not in self.several:
            return list(map(make, _numpys(every[:length]) if self.kinds[place] is NumberTracer else every[:length]))
        tags = self._tags()[place].values()
        return None if tags is None else list(map(handed_out, every[:length], tags[:length]))

    def whole(self, leaves: Sequence[Any]) -> Any:
        """Return an element of its leaves, with its objects made, which must not change, for the list does not change
        with them."""
        made: list[Any] = []
        element = of_rows(nest.unflatten(self.structure, leaves), made)
        watch_copied(made)
        return element

    def _only_column(self) -> int:
        """Return the place of what the elements are, which must not be structures."""
        if len(self.kinds) != 1:
            what = f"the elements of the list {self.name!r} are structures, not tensors"
            refuse_unknown(what, "append each of their parts to a list of its own")
        return 0

    def numbers(self) -> Tensor:
        """Return the elements as a tensor, in a dtype that holds all of them."""
        return self.arrays[self._only_column()].stack()

    def __autoloop_tensor__(self) -> Tensor:
        inner = _inner_shape(self) if len(self.kinds) > 1 else None
        if inner is None:
            return self._column(self._only_column())
        columns = ops.stack([self._column(place) for place in range(len(self.kinds))], axis=1)
        return columns if len(inner) == 1 else ops.reshape(columns, (-1, *inner, *self.arrays[0].element_shape))

    def parts(self) -> tuple[list[Any], Callable[..., Any]]:
        """Return tensors, and what makes of their values the list of a run."""
        several, structure, kinds, lists = dict(self.several), self.structure, list(self.kinds), self.lists

        def element(*row: Any) -> Any:
            found = {place: handed_out(row[place], tag) for place, tag in zip(sorted(several), row[len(kinds) :])}
            for place, (kind, one) in enumerate(zip(kinds, row)):
                if place not in found:
                    is_number = issubclass(kind, NumberTracer) and hasattr(one, "tolist")
                    found[place] = one.tolist() if is_number else list(one) if place in lists else one
            return of_rows(nest.unflatten(structure, [found[place] for place in range(len(kinds))]), [])

        columns = [array.stack() for array in self.arrays]
        arrays = [
            column if place < len(kinds) and kinds[place] is Tensor else ArrayTracer(column)
            for place, column in enumerate(columns)
        ]
        return arrays, lambda *rows: list(map(element, *rows))


#: kinds of elements -> what the caller gets of one
_PLAIN: Mapping[Kind, Callable[[Any], Any]] = {ArrayTracer: plain_array, NumberTracer: plain_number}


def _numpys(values: Sequence[Any]) -> Sequence[Any]:
    """Return the numbers of a list as NumPy's: those that another library computes later, or has, all at once."""
    other = next((one for one in values if not isinstance(one, np.ndarray | np.generic)), None)
    if other is None:
        return values
    with undivided():  # which few programs need
        from autoloop_runtime.namespaces import namespace_of
    if (namespace := namespace_of(other)) is None:
        return values
    return list(np.asarray(namespace.xp.stack(list(map(namespace.of, values)))))


def _holds_containers(element: Any) -> bool:
    if isinstance(element, tuple):
        return any(map(_holds_containers, element))
    return isinstance(element, list | dict | set | Row)


def _inner_shape(values: ListColumns) -> tuple[int, ...] | None:
    """Return the shape of the array that NumPy makes of an element which holds lists and tuples; None if that is none,
    or one whose dtype takes more to tell."""
    shapes = [one.element_shape for one in values.arrays]
    if values.lists or values.several or Tensor in values.kinds or not all(one.is_fully_defined() for one in shapes):
        return None
    if len({(one.dtype, *one.element_shape.as_list()) for one in values.arrays}) > 1:
        return None
    return _shape_of(nest.unflatten(values.structure, range(len(values.kinds))))


def _shape_of(element: Any) -> tuple[int, ...] | None:
    """Return how the leaves of lists and tuples in one another lie; None of uneven ones, and of what is neither."""
    if type(element) is int:
        return ()
    if type(element) not in (list, tuple):
        return None
    inner = {_shape_of(one) for one in element}
    shape = inner.pop() if len(inner) == 1 else None
    return None if shape is None else (len(element), *shape)


def empty_arrays(elements: Iterable[tuple[Any, TensorShape]]) -> list[TensorArray]:
    """Return an empty array for each dtype and shape of an element."""
    with undivided():
        from autoloop_runtime.collections.tensor_array import TensorArray

    return [TensorArray.collecting(dtype, 0, True, shape) for dtype, shape in elements]


def as_element(leaf: Any, dtype: Any = None) -> Tensor:
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
