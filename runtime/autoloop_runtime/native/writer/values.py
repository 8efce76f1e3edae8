"""What the value of a tensor is while machine code is being written.

A scalar is a register. An array is memory, or something that is computed element by element wherever it is needed:
element-wise operations are not carried out when they are met, but become one loop together with what uses them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from ...base.dataclass import dataclass, replace
from ...ir.op import Op
from ...ir.tensor import Tensor
from ..ir.elements import LType
from ..ir.moving import is_moving
from .steps import packed

Shape: TypeAlias = tuple[int, ...]
#: shape and strides, in elements
Lying: TypeAlias = tuple[Shape, Shape]


@dataclass(frozen=True, eq=False)
class Buffer:
    """A piece of memory.

    Attributes
    ----------
    pointer : str
        Its address.
    size : int
        In bytes.
    offset : int or None
        Its place in the scratch memory, ``None`` if it is elsewhere.
    within : tuple of Buffer
        Other buffers, one of which this may be: which one is only known at run time.
    lying : Lying or None
        How the only array that is all of it lies, if not in C order without gaps: an argument's memory may have others'
        between its elements.
    """

    pointer: str
    size: int
    offset: int | None = None
    within: tuple[Buffer, ...] = ()
    lying: Lying | None = None

    def suits(self, shape: Shape, is_any: bool) -> bool:
        """Return whether an array of this shape may be all of it, in C order or, if all are right, in *any* order."""
        return self.lying is None or (is_any and self.lying[0] == shape)

    def strides_of(self, shape: Shape) -> Shape:
        """Return the strides of an array of this shape that is all of it."""
        return dense(shape) if self.lying is None else self.lying[1]

    def all(self) -> Iterator[Buffer]:
        """Yield this and all that it may be, each once: there may be more ways to one than can be gone."""
        seen, pending = {self}, [self]
        while pending:
            one = pending.pop()
            yield one
            new = [other for other in dict.fromkeys(one.within) if other not in seen]
            seen.update(new)
            pending += new


@dataclass(frozen=True)
class Scalar:
    """A value in a register, or a literal."""

    text: str
    t: LType
    shape: Shape = ()


@dataclass(frozen=True, eq=False)
class Array:
    """Elements in memory.

    Attributes
    ----------
    pointer : str
        The address of the first element.
    strides : tuple of int
        In elements.
    buffer : Buffer
        Where they are.
    owned : bool
        May be overwritten once nobody needs them.
    """

    pointer: str
    t: LType
    shape: Shape
    strides: Shape
    buffer: Buffer
    owned: bool = False


@dataclass(frozen=True, eq=False)
class Splat:
    """An array of one value."""

    text: str
    t: LType
    shape: Shape


@dataclass(frozen=True, eq=False)
class Count:
    """The array ``start + n * step``, where ``n`` counts along the axes with these strides."""

    start: str
    step: str
    t: LType
    shape: Shape
    strides: Shape


@dataclass(frozen=True, eq=False)
class Expr:
    """An element-wise operation that has not been carried out.

    Attributes
    ----------
    op : Op
        The primitive.
    args : tuple of Value
        They broadcast to ``shape``.
    t : LType
        Of the result.
    depth : int
        How many operations are on top of each other.
    """

    op: Op
    args: tuple[Value, ...]
    t: LType
    shape: Shape
    depth: int = 1


@dataclass(eq=False)
class Pending:
    """An array that will be stored with the next loops; ``array`` is where, once it is."""

    tensor: Tensor
    expr: Value
    t: LType
    shape: Shape
    array: Array | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    """A TensorArray: its elements one after another, and a byte for each that says whether it was written.

    ``read`` is a byte for each that was read, where elements may be read once only.
    """

    items: Array
    written: Array
    read: Array | None


@dataclass(frozen=True)
class Nothing:
    """An empty table of gradients, without memory."""

    shape: Shape = ()


@dataclass(frozen=True, eq=False)
class Grown:
    """A TensorArray that grows: the address of the stack it is, and how many of its elements this version has."""

    stack: str
    length: str
    shape: Shape = ()


@dataclass(frozen=True, eq=False)
class Owned:
    """A collection outside the scratch memory that is changed in place by whoever holds it alone.

    Attributes
    ----------
    pointer : str
        Its address; null if it is empty.
    buffer : Buffer
        Stands for it where it is asked who holds it.
    owned : bool
        May be changed once nobody else needs it.
    """

    pointer: str
    buffer: Buffer
    owned: bool = False
    shape: Shape = ()


Value: TypeAlias = Grown | Nothing | Owned | Scalar | Array | Splat | Count | Expr | Pending | Rows


def registers(value: Value) -> list[tuple[str, str]]:
    """Return the LLVM type and the text of each register that a value consists of."""
    if isinstance(value, Scalar):
        return [(value.t.name, value.text)]
    if isinstance(value, Owned):
        return [("ptr", value.pointer)]
    return [("ptr", value.stack), ("i64", value.length)] if isinstance(value, Grown) else []


def with_registers(value: Value, texts: list[str]) -> Value:
    """Return ``value`` in other registers."""
    if isinstance(value, Owned):
        return Owned(texts[0], Buffer(texts[0], 0), True)
    return Grown(texts[0], texts[1]) if isinstance(value, Grown) else Scalar(texts[0], value.t)  # type: ignore[union-attr]


def dense(shape: Shape) -> Shape:
    """Return the strides of elements without gaps, the last axis fastest."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step = packed(step, extent)
    return tuple(reversed(strides))


def size_of(shape: Shape) -> int:
    """Return the number of elements."""
    total = 1
    for extent in shape:
        total *= extent
    return total


def is_dense(array: Array) -> bool:
    """Return whether the elements are without gaps, in order."""
    return all(s == d or n == 1 for s, d, n in zip(array.strides, dense(array.shape), array.shape)) or 0 in array.shape


def fills(array: Array) -> bool:
    """Return whether the array is its whole buffer, in the buffer's order."""
    if array.pointer != array.buffer.pointer or _bytes(array) != array.buffer.size:
        return False
    return is_dense(array) if array.buffer.lying is None else (array.shape, array.strides) == array.buffer.lying


def turned(array: Array) -> Array | None:
    """Return an array that is its whole buffer, but for the order of its axes, as one that lies so in it; None of any
    other."""
    buffer, shape = array.buffer, array.shape
    if array.pointer != buffer.pointer or _bytes(array) != buffer.size or is_moving(shape) or 0 in shape:
        return None
    mine = sorted([(s, n) for s, n in zip(array.strides, shape) if n != 1], reverse=True)
    if buffer.lying is None:
        all_of_it = [s for s, _ in mine] == [*dense(tuple([n for _, n in mine]))]
    else:
        all_of_it = mine == sorted([(s, n) for n, s in zip(*buffer.lying) if n != 1], reverse=True)
    lying = shape, array.strides
    return replace(array, buffer=Buffer(array.pointer, buffer.size, None, (buffer,), lying)) if all_of_it else None


def _bytes(array: Array) -> int:
    return size_of(array.shape) * array.t.size


def resolve(value: Value) -> Value:
    """Return ``value``, or the array it was stored as."""
    return value.array if isinstance(value, Pending) and value.array is not None else value


def depth_of(value: Value) -> int:
    """Return how many operations on top of each other ``value`` stands for that have not been carried out."""
    value = resolve(value)
    if isinstance(value, Pending):
        return depth_of(value.expr)
    return value.depth if isinstance(value, Expr) else 0


def leaves(value: Value, seen: set[int] | None = None) -> Iterator[Value]:
    """Yield what an array is computed from: arrays, counts, splats, scalars; each once."""
    seen = set() if seen is None else seen
    value = resolve(value)
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, Expr):
        for arg in value.args:
            yield from leaves(arg, seen)
    elif isinstance(value, Pending):
        yield from leaves(value.expr, seen)
    elif isinstance(value, Rows):
        yield from (a for a in (value.items, value.written, value.read) if a is not None)
    else:
        yield value


def with_leaves(value: Value, instead: Mapping[int, Value]) -> Value:
    """Return ``value`` with others in the place of the leaves with these ids; what several read stays one."""
    known: dict[int, Value] = dict(instead)

    def changed(one: Value) -> Value:
        one = resolve(one)
        if id(one) not in known:
            made = one
            if isinstance(one, Expr):
                args = tuple([changed(arg) for arg in one.args])
                if any(new is not resolve(old) for new, old in zip(args, one.args)):
                    made = replace(one, args=args)
            elif isinstance(one, Pending) and (of := changed(one.expr)) is not resolve(one.expr):
                made = of
            known[id(one)] = made
        return known[id(one)]

    return changed(value)


def buffers(value: Value) -> Iterator[Buffer]:
    """Yield the memory that an array is computed from, and what stands for a collection."""
    for leaf in leaves(value):
        if isinstance(leaf, (Array, Owned)):
            yield from leaf.buffer.all()


def parts_of(value: Value) -> list[Array]:
    """Return the arrays in memory that a value consists of."""
    if isinstance(value, Rows):
        return [a for a in (value.items, value.written, value.read) if a is not None]
    return [value] if isinstance(value, Array) else []


def with_parts(value: Value, parts: Sequence[Array]) -> Value:
    """Return ``value`` with other arrays in the place of its own."""
    if isinstance(value, Rows):
        return Rows(parts[0], parts[1], parts[2] if value.read is not None else None)
    return parts[0] if isinstance(value, Array) else value


def borrowed(value: Value) -> Value:
    """Return ``value``, not to be written to."""
    if isinstance(value, Owned):
        return replace(value, owned=False)
    return with_parts(value, [replace(a, owned=False) for a in parts_of(value)])
