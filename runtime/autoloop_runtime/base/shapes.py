"""Static shapes: what is known of an array's extents before it exists.

A dimension is an ``int`` or ``None`` (not known yet); a shape of unknown rank has no dimensions at all.
Two questions are asked of shapes everywhere: may these two describe the same array (*compatible*), and does
one promise at least as much as the other (*subsumed*). Shape invariants of loops are built on both.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, TypeGuard

from .stand_ins import UnknownExtent

Dim: TypeAlias = int | None
Dims: TypeAlias = tuple[Dim, ...]


def _as_dim(value: Any) -> Dim:
    if value is None:
        return None
    if isinstance(value, bool):
        raise TypeError(f"a dimension is an int or None, not {value!r} [AL205]")
    try:
        dim = operator.index(value)
    except TypeError:
        raise TypeError(f"a dimension is an int or None, not {value!r} [AL205]") from None
    if dim < 0:
        raise ValueError(f"a dimension cannot be negative: {dim} (write None for one that is not known) [AL205]")
    return dim


class TensorShape(tuple[Dim, ...]):
    """A possibly partial shape: the tuple of its dimensions, to whoever expects one.

    Parameters
    ----------
    dims : iterable of int or None, int, TensorShape, or None
        The dimensions; ``None`` alone means that not even the rank is known, an int ``n`` means ``[n]``.

    Notes
    -----
    Equal to a tuple or list with the same dimensions. Semantics follow ``shape_invariants`` in the
    reference: ``[11, None]`` is more general than ``[11, 17]`` and incompatible with ``[12, 17]``.
    A shape of unknown rank is an empty tuple that refuses to be read as one.

    Examples
    --------
    >>> shape = al.TensorShape([None, 2])
    >>> shape.is_compatible_with((3, 2)), shape.rank
    (True, 2)
    """

    __slots__ = ()

    def __new__(cls, dims: ShapeLike = None) -> TensorShape:
        if type(dims) is tuple or type(dims) is list:
            checked = [d if d is None or (type(d) is int and d >= 0) else _as_dim(d) for d in dims]
            return tuple.__new__(TensorShape, checked)
        if dims is None:
            return UNKNOWN
        if isinstance(dims, TensorShape):
            return dims
        if isinstance(dims, Iterable):
            return tuple.__new__(TensorShape, [_as_dim(d) for d in dims])
        return tuple.__new__(TensorShape, (_as_dim(dims),))

    @property
    def dims(self) -> list[Dim] | None:
        """The dimensions as a list, ``None`` when the rank is unknown."""
        return list(self)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, ``None`` when unknown."""
        return len(self)

    @property
    def ndims(self) -> int | None:
        """Same as ``rank``."""
        return self.rank

    @property
    def known(self) -> Dims:
        """The dimensions as a tuple; only for a shape whose rank is known (``ValueError`` otherwise)."""
        entries: Dims = _entries(self, _ALL)
        return entries

    def is_fully_defined(self) -> bool:
        """Return whether every dimension is a number."""
        return not _has(self, None)

    def num_elements(self) -> int | None:
        """Return the product of the dimensions, ``None`` if any is unknown."""
        total = 1
        for d in self:
            if d is None:
                return None
            total *= d
        return total

    def as_list(self) -> list[Dim]:
        """Return the dimensions as a list (``ValueError`` for unknown rank)."""
        return list(self.known)

    def as_tuple(self) -> tuple[int, ...]:
        """Return the dimensions of a fully defined shape (``ValueError`` otherwise)."""
        if _has(self, None):
            raise UnknownExtent(f"shape {self} is not fully defined")
        entries: tuple[int, ...] = _entries(self, _ALL)
        return entries

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """Return whether some array could have both shapes."""
        b = TensorShape(other)
        if b is UNKNOWN:
            return True
        return len(self) == len(b) and all(x is None or y is None or x == y for x, y in zip(self, b))

    def is_subsumed_by(self, general: ShapeLike) -> bool:
        """Return whether every array of this shape also fits ``general``: ``[11, 17]`` in ``[11, None]``."""
        b = TensorShape(general)
        if b is UNKNOWN:
            return True
        return len(self) == len(b) and all(y is None or x == y for x, y in zip(self, b))

    def matches(self, shape: tuple[int, ...]) -> bool:
        """Return whether an array of the concrete ``shape`` fits."""
        if _same(self, shape):
            return True
        return len(self) == len(shape) and all(d is None or d == s for d, s in zip(self, shape))

    def merge_with(self, other: ShapeLike) -> TensorShape:
        """Return what is known when both hold (``ValueError`` if they are incompatible)."""
        other = TensorShape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"shapes {self} and {other} are not compatible [AL206]")
        if other is UNKNOWN:
            return self
        return TensorShape([x if y is None else y for x, y in zip(self, other)])

    def most_general(self, other: ShapeLike) -> TensorShape:
        """Return the most specific shape that covers both: dimensions that differ become unknown."""
        b = TensorShape(other)
        if b is UNKNOWN or len(self) != len(b):
            return UNKNOWN
        return TensorShape([x if x == y else None for x, y in zip(self, b)])

    def concatenate(self, other: ShapeLike) -> TensorShape:
        """Return these dimensions followed by those of ``other``."""
        b = TensorShape(other)
        return UNKNOWN if b is UNKNOWN else TensorShape([*self, *b])

    def __add__(self, other: ShapeLike) -> Any:
        if _is_no_shape(other):
            return self.known + other
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike) -> Any:
        if _is_no_shape(other):
            return other + self.known
        return TensorShape(other).concatenate(self)

    def __getitem__(self, index: Any) -> Any:
        found = _entries(self, index)
        return TensorShape(found) if isinstance(index, slice) else found

    def __bool__(self) -> bool:
        """Return whether the rank is known."""
        return True

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list):
            other = tuple(other)
        return False if other is None else _same(self, other)

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    __hash__ = tuple.__hash__

    def __str__(self) -> str:
        inside = ", ".join(str(d) for d in self)
        return f"({inside},)" if len(self) == 1 else f"({inside})"

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"

    def __reduce__(self) -> Any:
        return TensorShape, (self.dims,)


_ALL = slice(None)
_entries: Any = tuple.__getitem__
_has: Any = tuple.__contains__
_same: Any = tuple.__eq__


def _is_no_shape(value: Any) -> TypeGuard[tuple[int, ...]]:
    """Return whether a tuple has what no shape has, but what one is asked for with: ``x.shape[:-1] + (-1, 2)``."""
    return type(value) is tuple and any(type(d) is int and d < 0 for d in value)


class _UnknownRank(TensorShape):
    """The shape of which nothing is known; there is one."""

    __slots__ = ()

    @property
    def dims(self) -> list[Dim] | None:
        return None

    @property
    def rank(self) -> int | None:
        return None

    @property
    def known(self) -> Dims:
        raise UnknownExtent("the rank of this shape is not known")

    def is_fully_defined(self) -> bool:
        return False

    def num_elements(self) -> int | None:
        return None

    def as_tuple(self) -> tuple[int, ...]:
        raise UnknownExtent(f"shape {self} is not fully defined")

    def is_compatible_with(self, other: ShapeLike) -> bool:
        TensorShape(other)  # which refuses what is no shape
        return True

    def is_subsumed_by(self, general: ShapeLike) -> bool:
        return TensorShape(general) is UNKNOWN

    def matches(self, shape: tuple[int, ...]) -> bool:
        return True

    def merge_with(self, other: ShapeLike) -> TensorShape:
        return TensorShape(other)

    def most_general(self, other: ShapeLike) -> TensorShape:
        return self

    def concatenate(self, other: ShapeLike) -> TensorShape:
        return self

    def __len__(self) -> int:
        return len(self.known)

    def __iter__(self) -> Iterator[Dim]:
        return iter(self.known)

    def __getitem__(self, index: Any) -> Any:
        return self if isinstance(index, slice) else self.known[index]

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other is self or other is None

    def __hash__(self) -> int:
        return hash(None)

    def __str__(self) -> str:
        return "<unknown>"

    def __repr__(self) -> str:
        return "TensorShape(None)"


UNKNOWN: TensorShape = tuple.__new__(_UnknownRank)
SCALAR = TensorShape(())

#: what a static shape may be made of
ShapeLike: TypeAlias = TensorShape | Iterable[Any] | int | None


def broadcast_shapes(*shapes: TensorShape) -> TensorShape:
    """Return the static shape of NumPy broadcasting.

    Raises
    ------
    ValueError
        If two known dimensions differ and neither is 1.
    """
    first, last = shapes[0], shapes[-1]
    if any(s is UNKNOWN for s in shapes):
        return UNKNOWN
    if len(shapes) == 2 and (_same(last, first) or _same(last, ())):
        return first
    if all(_same(s, first) for s in shapes):
        return first
    rank = max(len(s) for s in shapes)
    out: list[Dim] = []
    for axis in range(-rank, 0):
        column = [s.known[axis] for s in shapes if len(s) >= -axis]
        sizes = {d for d in column if d is not None and d != 1}
        if len(sizes) > 1:
            raise ValueError(f"shapes {' and '.join(str(s) for s in shapes)} cannot be broadcast together [AL206]")
        if sizes:
            out.append(sizes.pop())
        else:
            out.append(None if None in column else 1)
    return TensorShape(out)
