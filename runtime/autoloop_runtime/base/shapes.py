"""Static shapes: what is known of an array's extents before it exists.

A dimension is an ``int`` or ``None`` (not known yet); a shape of unknown rank has no dimensions at all.
Two questions are asked of shapes everywhere: may these two describe the same array (*compatible*), and does
one promise at least as much as the other (*subsumed*). Shape invariants of loops are built on both.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

Dim: TypeAlias = int | None
Dims: TypeAlias = tuple[Dim, ...]


def _as_dim(value: Any) -> Dim:
    if value is None:
        return None
    if isinstance(value, bool):
        raise TypeError(f"a dimension is an int or None, not {value!r}")
    try:
        dim = operator.index(value)
    except TypeError:
        raise TypeError(f"a dimension is an int or None, not {value!r}") from None
    if dim < 0:
        raise ValueError(f"a dimension cannot be negative: {dim} (write None for one that is not known)")
    return dim


class TensorShape:
    """A possibly partial shape.

    Parameters
    ----------
    dims : iterable of int or None, int, TensorShape, or None
        The dimensions; ``None`` alone means that not even the rank is known, an int ``n`` means ``[n]``.

    Notes
    -----
    Equal to a tuple or list with the same dimensions. Semantics follow ``shape_invariants`` in the
    reference: ``[11, None]`` is more general than ``[11, 17]`` and incompatible with ``[12, 17]``.
    """

    __slots__ = ("_dims",)
    _dims: Dims | None

    def __init__(self, dims: ShapeLike = None) -> None:
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif type(dims) is tuple or type(dims) is list:
            self._dims = tuple([d if d is None or (type(d) is int and d >= 0) else _as_dim(d) for d in dims])
        elif isinstance(dims, Iterable):
            self._dims = tuple([_as_dim(d) for d in dims])
        else:
            self._dims = (_as_dim(dims),)

    @property
    def dims(self) -> list[Dim] | None:
        """The dimensions as a list, ``None`` when the rank is unknown."""
        return None if self._dims is None else list(self._dims)

    @property
    def rank(self) -> int | None:
        """The number of dimensions, ``None`` when unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        """Same as ``rank``."""
        return self.rank

    @property
    def known(self) -> Dims:
        """The dimensions as a tuple; only for a shape whose rank is known (``ValueError`` otherwise)."""
        if self._dims is None:
            raise ValueError("the rank of this shape is not known")
        return self._dims

    def is_fully_defined(self) -> bool:
        """Return whether every dimension is a number."""
        return self._dims is not None and None not in self._dims

    def num_elements(self) -> int | None:
        """Return the product of the dimensions, ``None`` if any is unknown."""
        if self._dims is None:
            return None
        total = 1
        for d in self._dims:
            if d is None:
                return None
            total *= d
        return total

    def as_list(self) -> list[Dim]:
        """Return the dimensions as a list (``ValueError`` for unknown rank)."""
        return list(self.known)

    def as_tuple(self) -> tuple[int, ...]:
        """Return the dimensions of a fully defined shape (``ValueError`` otherwise)."""
        if self._dims is None or None in self._dims:
            raise ValueError(f"shape {self} is not fully defined")
        return self._dims  # type: ignore[return-value]

    def is_compatible_with(self, other: ShapeLike) -> bool:
        """Return whether some array could have both shapes."""
        a, b = self._dims, TensorShape(other)._dims
        if a is None or b is None:
            return True
        return len(a) == len(b) and all(x is None or y is None or x == y for x, y in zip(a, b))

    def is_subsumed_by(self, general: ShapeLike) -> bool:
        """Return whether every array of this shape also fits ``general``: ``[11, 17]`` in ``[11, None]``."""
        a, b = self._dims, TensorShape(general)._dims
        if b is None:
            return True
        return a is not None and len(a) == len(b) and all(y is None or x == y for x, y in zip(a, b))

    def matches(self, shape: tuple[int, ...]) -> bool:
        """Return whether an array of the concrete ``shape`` fits."""
        dims = self._dims
        if dims is None or dims == shape:
            return True
        return len(dims) == len(shape) and all(d is None or d == s for d, s in zip(dims, shape))

    def merge_with(self, other: ShapeLike) -> TensorShape:
        """Return what is known when both hold (``ValueError`` if they are incompatible)."""
        other = TensorShape(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"shapes {self} and {other} are not compatible")
        if self._dims is None or other._dims is None:
            return self if other._dims is None else other
        return TensorShape([x if y is None else y for x, y in zip(self._dims, other._dims)])

    def most_general(self, other: ShapeLike) -> TensorShape:
        """Return the most specific shape that covers both: dimensions that differ become unknown."""
        a, b = self._dims, TensorShape(other)._dims
        if a is None or b is None or len(a) != len(b):
            return TensorShape(None)
        return TensorShape([x if x == y else None for x, y in zip(a, b)])

    def concatenate(self, other: ShapeLike) -> TensorShape:
        """Return these dimensions followed by those of ``other``."""
        b = TensorShape(other)._dims
        if self._dims is None or b is None:
            return TensorShape(None)
        return TensorShape(self._dims + b)

    def __add__(self, other: ShapeLike) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: ShapeLike) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __len__(self) -> int:
        return len(self.known)

    def __iter__(self) -> Iterator[Dim]:
        return iter(self.known)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return TensorShape(None if self._dims is None else self._dims[index])
        return self.known[index]

    def __bool__(self) -> bool:
        """Return whether the rank is known."""
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        if isinstance(other, (tuple, list)):
            return self._dims == tuple(other)
        if other is None:
            return self._dims is None
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        inside = ", ".join(str(d) for d in self._dims)
        return f"({inside},)" if len(self._dims) == 1 else f"({inside})"

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else list(self._dims)})"


#: what a static shape may be made of
ShapeLike: TypeAlias = TensorShape | Iterable[Any] | int | None


UNKNOWN = TensorShape(None)
SCALAR = TensorShape(())


def broadcast_shapes(*shapes: TensorShape) -> TensorShape:
    """Return the static shape of NumPy broadcasting.

    Raises
    ------
    ValueError
        If two known dimensions differ and neither is 1.
    """
    first, last = shapes[0], shapes[-1]
    if len(shapes) == 2 and first._dims is not None and (first._dims == last._dims or last._dims == ()):
        return first
    if all(s._dims is not None and s._dims == first._dims for s in shapes):
        return first
    if any(s.rank is None for s in shapes):
        return UNKNOWN
    rank = max(len(s) for s in shapes)
    out: list[Dim] = []
    for axis in range(-rank, 0):
        column = [s.known[axis] for s in shapes if len(s) >= -axis]
        sizes = {d for d in column if d is not None and d != 1}
        if len(sizes) > 1:
            raise ValueError(f"shapes {' and '.join(str(s) for s in shapes)} cannot be broadcast together")
        if sizes:
            out.append(sizes.pop())
        else:
            out.append(None if None in column else 1)
    return TensorShape(out)
