"""Index expressions: what stands in brackets, split into static form and tensor inputs.

``x[2, i, ..., None, a:b, mask]`` becomes an ``Index`` (static, hashable, part of the node's attributes) with
``Input`` holes for the parts that are tensors. NumPy's rules hold throughout.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..base.shapes import UNKNOWN, Dim, TensorShape, broadcast_shapes
from ..base.stand_ins import noted
from ..ir.convert import convert_to_tensor
from ..ir.tensor import Tensor
from .extents import known_int
from .operands import as_dtype, is_tensor, weak_type


@dataclass(frozen=True)
class Input:
    """The place of the ``position``-th tensor input of the index."""

    position: int


@dataclass(frozen=True)
class Slice:
    """A hashable ``slice`` whose parts are ints, ``None`` or ``Input``."""

    start: Any
    stop: Any
    step: Any


class Index:
    """An index expression.

    Attributes
    ----------
    entries : tuple
        Each an int, ``None`` (a new axis), ``Ellipsis``, ``Slice`` or ``Input``.
    """

    __slots__ = ("_only_input", "_static", "entries")

    def __init__(self, entries: Sequence[Any]) -> None:
        self.entries = tuple(entries)
        #: the finished index, when no part of it is an input
        self._static: Any = None
        if not any(_holes(e) for e in self.entries):
            made = tuple([_fill(e, ()) for e in self.entries])
            self._static = made[0] if len(made) == 1 else made
        self._only_input = self.entries == (Input(0),)

    def resolve(self, values: Sequence[Any]) -> Any:
        """Return the index for NumPy, with ``values`` for the inputs."""
        if self._only_input:
            return values[0]
        if self._static is not None:
            return self._static
        return tuple([_fill(e, values) for e in self.entries])

    def source(self, names: Sequence[str]) -> str:
        """Return the index as Python source, for generated code; ``names`` are those of the inputs."""
        parts = [_source(e, names) for e in self.entries]
        return ", ".join(parts) if parts else "()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and _key(self) == _key(other)

    def __hash__(self) -> int:
        return hash(self.entries)

    def __repr__(self) -> str:
        return f"Index[{self.source([f'input{i}' for i in range(20)])}]"


def _key(index: Index) -> Any:
    return tuple([(type(e), e) for e in index.entries])


def _holes(entry: Any) -> bool:
    if isinstance(entry, Slice):
        return any(isinstance(p, Input) for p in (entry.start, entry.stop, entry.step))
    return isinstance(entry, Input)


def _fill(entry: Any, values: Sequence[Any]) -> Any:
    if isinstance(entry, Input):
        return values[entry.position]
    if isinstance(entry, Slice):
        return slice(_fill(entry.start, values), _fill(entry.stop, values), _fill(entry.step, values))
    return entry


def _source(entry: Any, names: Sequence[str]) -> str:
    if isinstance(entry, Input):
        return names[entry.position]
    if isinstance(entry, Slice):
        start, stop, step = ["" if p is None else _source(p, names) for p in (entry.start, entry.stop, entry.step)]
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    return "..." if entry is Ellipsis else repr(entry)


def parse(index: Any) -> tuple[Index, list[Tensor]]:
    """Split what a user wrote in brackets.

    Raises
    ------
    TypeError
        For a slice with ends that are no integers.
    ValueError
        For a slice with a step of 0.
    IndexError
        For what cannot be an index, and for more than one ellipsis.
    """
    inputs: list[Tensor] = []

    def hole(tensor: Tensor) -> Any:
        if tensor.dtype.kind in "iu" and tensor.shape.rank == 0:
            known = known_int(tensor)
            if known is not None and not tensor.is_feedable:
                return known
        inputs.append(tensor)
        return Input(len(inputs) - 1)

    def bound(value: Any) -> Any:
        if value is None:
            return None
        if is_tensor(value):
            tensor = convert_to_tensor(value)
            if weak_type(value) is bool:  # which is an int to Python
                tensor = as_dtype(tensor, np.dtype(np.int64))
            if tensor.dtype.kind not in "iu" or tensor.shape.rank not in (0, None):
                is_array = tensor.shape.rank or getattr(value, "is_scalar", True) is False
                words = _SCALARS if is_array else _ENDS
                raise TypeError(f"{words}, not what has dtype {tensor.dtype} and shape {tensor.shape} [AL206]")
            return hole(tensor)
        try:
            return operator.index(value)
        except TypeError:
            words = _SCALARS if isinstance(value, np.ndarray) else _ENDS
            raise TypeError(f"{words}, not be {value!r}") from None

    entries: list[Any] = []
    for item in index if isinstance(index, tuple) else (index,):
        if item is None or item is Ellipsis:
            entries.append(item)
        elif isinstance(item, slice):
            entries.append(Slice(bound(item.start), bound(item.stop), bound(item.step)))
            if entries[-1].step == 0:
                raise ValueError("slice step cannot be zero")
        elif isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            entries.append(int(item))
        else:
            entries.append(place if isinstance(place := _advanced(item), int) else hole(place))
    if entries.count(Ellipsis) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    return Index(entries), inputs


def _advanced(item: Any) -> Tensor | int:
    if isinstance(item, list) and not item:
        return convert_to_tensor(np.zeros(0, np.int64))
    try:
        tensor = convert_to_tensor(item)
    except TypeError:
        if isinstance(item, (bool, float, complex)) or not hasattr(type(item), "__index__"):
            raise noted(IndexError(_ONLY), f"the index is {item!r}") from None
        place = type(item).__index__(item)
        return convert_to_tensor(place) if is_tensor(place) else operator.index(place)
    if tensor.dtype.kind not in "biu":
        is_array = isinstance(item, (Tensor, np.ndarray))
        words = (
            "arrays used as indices must be of integer (or boolean) type" if is_array and tensor.shape.rank else _ONLY
        )
        raise noted(IndexError(words), f"the index is {f'of dtype {tensor.dtype}' if is_array else repr(item)}")
    return tensor


#: what NumPy says
_ONLY = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid \
indices"
_SCALARS = "only integer scalar arrays can be converted to a scalar index"
_ENDS = "slice indices must be integers or None or have an __index__ method"


# -- the static shape of a result ----------------------------------------------------------------------------


def result_shape(shape: TensorShape, index: Index, inputs: Sequence[Tensor], is_checked: bool = True) -> TensorShape:
    """Return the static shape of ``x[index]`` for ``x`` of ``shape``; not looked for are the places of an index with
    arrays unless ``is_checked``.

    Raises
    ------
    IndexError
        If an index that is known is out of range, or there are too many.
    """
    if shape.rank is None or any(t.shape.rank is None for t in inputs):
        return UNKNOWN
    entries = spelled_out(index.entries, shape, inputs)
    out: list[Dim] = []
    advanced: list[TensorShape] = []
    place: int | None = None  # where the dimensions of the advanced part go
    scattered = False  # advanced entries that are not neighbours: their dimensions go first
    last = -2
    arrays = [inputs[e.position] for e in entries if isinstance(e, Input)]
    has_arrays = any(array.shape.rank or array.dtype.kind == "b" for array in arrays)
    axis = 0
    for position, entry in enumerate(entries):
        if entry is None:
            out.append(1)
            continue
        if isinstance(entry, Slice):
            out.append(slice_extent(shape.known[axis], entry, inputs))
            axis += 1
            continue
        if isinstance(entry, Input) and inputs[entry.position].dtype.kind == "b":
            mask = inputs[entry.position]
            _check_mask(mask, shape, axis)
            axis += len(mask.shape)
            value = mask.constant_value()
            advanced.append(TensorShape([None if value is None else int(np.count_nonzero(value))]))
        else:
            if isinstance(entry, Input):
                advanced.append(inputs[entry.position].shape)
                if is_checked or not has_arrays:
                    _check_known(inputs[entry.position], shape.known[axis], axis)
            elif is_checked or not has_arrays:
                _check_range(entry, shape.known[axis], axis)
            axis += 1
        if has_arrays:
            if place is None:
                place = len(out)
            elif last != position - 1:
                scattered = True
            last = position
    if not has_arrays:
        return TensorShape(out)
    try:
        middle = broadcast_shapes(*advanced).known
    except ValueError as error:
        raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together: {error}") from None
    at = 0 if scattered else place or 0
    return TensorShape([*out[:at], *middle, *out[at:]])


def spelled_out(entries: tuple[Any, ...], shape: TensorShape, inputs: Sequence[Tensor]) -> list[Any]:
    used = 0
    for e in entries:
        if isinstance(e, Input) and inputs[e.position].dtype.kind == "b":
            used += len(inputs[e.position].shape)
        elif e is not None and e is not Ellipsis:
            used += 1
    missing = len(shape) - used
    if missing < 0:
        said = f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed"
        raise noted(IndexError(said), f"its shape is {shape}")
    full = [Slice(None, None, None)] * missing
    if Ellipsis in entries:
        at = entries.index(Ellipsis)
        return [*entries[:at], *full, *entries[at + 1 :]]
    return [*entries, *full]


def _check_mask(mask: Tensor, shape: TensorShape, axis: int) -> None:
    for place, extent in enumerate(mask.shape.known, axis):
        there = shape.known[place]
        if extent and there is not None and extent != there:  # one of no elements goes with all, NumPy says
            raise IndexError(
                f"boolean index did not match indexed array along axis {place}; size of axis is {there} but size of "
                f"corresponding boolean axis is {extent}"
            )


def _check_range(index: int, extent: Dim, axis: int) -> None:
    if extent is not None and not -extent <= index < extent:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")


def _check_known(index: Tensor, extent: Dim, axis: int) -> None:
    value = index.constant_value() if extent is not None else None
    if value is not None and value.size:
        _check_range(int(value.min()), extent, axis)
        _check_range(int(value.max()), extent, axis)


def slice_extent(extent: Dim, entry: Slice, inputs: Sequence[Tensor]) -> Dim:
    """Return how many elements a slice takes of an axis, if that can be known."""
    if entry == Slice(None, None, None):
        return extent
    parts = []
    for part in (entry.start, entry.stop, entry.step):
        known = known_int(inputs[part.position]) if isinstance(part, Input) else part
        if isinstance(part, Input) and known is None:
            return None
        parts.append(known)
    if parts[2] == 0:
        raise ValueError("slice step cannot be zero")
    if extent is None:
        # x[:3] may be shorter than 3, but x[0:0] is empty whatever x is
        return 0 if parts[1] == 0 and parts[0] in (None, 0) and (parts[2] or 1) > 0 else None
    return len(range(*slice(*parts).indices(extent)))
