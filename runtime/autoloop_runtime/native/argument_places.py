"""Where the code of a graph finds its inputs, and the memory of its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..base.dataclass import dataclass
from .ir.elements import TYPES
from .ir.moving import Given, is_unsteady
from .typing.facts import Shape
from .writer.context import Context
from .writer.values import Array, Buffer, Scalar, Value, dense, size_of

if TYPE_CHECKING:
    from ..collections.array_buffer import ArraySpec


@dataclass(frozen=True)
class Port:
    """An input or an output: dtype and shape; ``grows``: an output with as many rows of that shape as it turns out.

    Those are the elements of a TensorArray if ``spec`` says what was declared of it.
    Of an output whose extents the run decides the memory is for as many elements as there can be.
    ``strides``, in elements, are those of an input that is not in C order.
    """

    dtype: Any
    shape: Shape
    grows: bool = False
    spec: ArraySpec | None = None
    strides: Shape | None = None

    @property
    def is_array(self) -> bool:
        """True if its memory is given by the caller."""
        return self.shape != () and not self.grows

    @property
    def words(self) -> int:
        """How many words of the memory it takes as an output: a scalar its own, what grows its stack and its length, an
        array each extent that the run decides."""
        return 2 if self.grows else len(self.moving) if self.is_array else TYPES[self.dtype].words

    @property
    def moving(self) -> tuple[int, ...]:
        """The axes whose extents the run decides, and are none of the inputs'."""
        return tuple([axis for axis, n in enumerate(self.shape) if is_unsteady((n,))])

    @property
    def most(self) -> Shape:
        """The shape that it has at most."""
        return tuple(map(int, self.shape))

    @property
    def arguments(self) -> int:
        """How many words of the arguments it takes as an input: an array that of its address."""
        return 1 if self.is_array else TYPES[self.dtype].words


def input_value(ctx: Context, data: Callable[[str], str], position: int, port: Port, owned: bool) -> Value:
    """Return the value of an input, found in the arguments; ``data``: reads an address, ``owned``: it may be written
    to."""
    writer, t, shape = ctx.writer, ctx.element_type(port.dtype), port.shape
    slot = writer.let(f"getelementptr i64, ptr %args, i64 {position}")
    if shape == ():
        raw = writer.let(f"load {t.memory}, ptr {slot}, align {t.align}")
        return Scalar(writer.let(f"trunc i8 {raw} to i1") if t.kind == "b" else raw, t)
    pointer = data(slot)
    strides = port.strides or dense(shape)
    lying = None if port.strides is None else (shape, port.strides)
    buffer = Buffer(pointer, size_of(shape) * t.size, lying=lying)
    return Array(pointer, t, shape, strides, buffer, owned)


def given_extents(ctx: Context, inputs: Sequence[Port], made: int) -> dict[Given, tuple[int, int]]:
    """Read the extents of the inputs that are not known beforehand, behind the arguments and ``made`` outputs; gives
    where they are found."""
    found: dict[Given, tuple[int, int]] = {}
    for k, port in enumerate(inputs):
        for axis, n in enumerate(port.shape):
            if isinstance(n, Given):
                found.setdefault(n, (k, axis))
    start = made + sum(port.arguments for port in inputs)
    known = ctx.module.metadata("!{i64 2, i64 1099511627776}")
    for position, n in enumerate(found):
        slot = ctx.writer.let(f"getelementptr i64, ptr %args, i64 {start + position}")
        ctx.given[n] = ctx.writer.let(f"load i64, ptr {slot}, align 8, !range {known}")
    return found


def data_at(ctx: Context, offset: int | None, slot: str) -> str:
    """Return the address of an array's data; ``offset``: where in an object that is, if there are objects."""
    writer = ctx.writer
    pointer = writer.let(f"load ptr, ptr {slot}")
    if offset is not None:
        pointer = writer.let(f"load ptr, ptr {writer.let(f'getelementptr i8, ptr {pointer}, i64 {offset}')}")
    return pointer


def output_places(
    ctx: Context, data: Callable[[str], str], inputs: Sequence[Value], position: int, outputs: Sequence[Port],
    placed: Mapping[int, int],
) -> list[Array | None]:  # fmt: skip
    """Return the memory of each output that is an array; from ``position`` on the arguments are theirs."""
    places: list[Array | None] = []
    for j, port in enumerate(outputs):
        if not port.is_array:
            places.append(None)
            continue
        if j in placed:
            given = inputs[placed[j]]
            assert isinstance(given, Array)
            places.append(given)
            continue
        t, shape = ctx.element_type(port.dtype), port.shape
        pointer = data(ctx.writer.let(f"getelementptr i64, ptr %args, i64 {position}"))
        buffer = Buffer(pointer, size_of(shape) * t.size)
        places.append(Array(pointer, t, shape, dense(shape), buffer, owned=True))
        position += 1
    return places
