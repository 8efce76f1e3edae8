"""ndarray's attributes and methods that speak of memory: bytes, Python values, and what writes in place.

Values have them where they are there; of what a graph computes only what does not depend on where it will lie.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..base.stand_ins import UnknownWhileTracing, in_numpys_words
from .followers import refuse_leaving
from .op import call
from .python_protocols import INSTEAD

if TYPE_CHECKING:
    from ..base.dtypes import DType
    from ..base.shapes import TensorShape

#: the dtypes that carry Python's numbers
_OF_NUMBERS = {"b": "bool", "i": "int64", "u": "int64", "f": "float64", "c": "complex128"}


class Memory:
    """What lies where."""

    __slots__ = ()

    if TYPE_CHECKING:
        node: Any
        dtype: DType

        @property
        def name(self) -> str: ...
        @property
        def shape(self) -> TensorShape: ...
        @property
        def size(self) -> int: ...
        def numpy(self) -> Any: ...

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements (``ValueError`` unless the shape is fully defined)."""
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next along each axis: none are told but of one number.

        Who asks steps through memory (``as_strided``): that of ``numpy.asarray(t)``, a copy, which may lie otherwise.
        """
        if self.shape.rank == 0:
            return ()
        self._now("strides", "strides")
        raise AttributeError(
            "a tensor has no strides: what numpy.asarray(t) gives is a copy, which may lie in memory otherwise; take "
            "an array, x = t.numpy(), ask x.strides and go on with x [AL008]",
            name="strides",
            obj=self,
        )

    @property
    def flags(self) -> Any:
        """How the elements lie in memory; they cannot be written to."""
        return self._now("flags", "memory flags").flags

    @property
    def base(self) -> Any:
        """The object whose memory the value is in; an array of it cannot be written to."""
        made = self._now("base", "a base").base
        if isinstance(made, np.ndarray):
            made = made.view()
            made.flags.writeable = False
        return made

    @property
    def data(self) -> Any:
        """The elements as Python's buffer, not to be written to."""
        return self._now("data", "a buffer").data

    @property
    def ctypes(self) -> Any:
        """The elements for ``ctypes``."""
        return self._now("ctypes", "memory").ctypes

    def item(self, /, *args: Any) -> Any:
        """Return one element as a Python number: of ``x.item()`` the only one, of ``x.item(3)`` and ``x.item(1, 2)``
        that at a place."""
        if self.node is None:
            refuse_leaving(self, "a Python number (item)", INSTEAD)
            return self.numpy().item(*args)
        at = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        _check_places(at)
        if not at:
            count = self.shape.num_elements()
            if count not in (1, None):
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            return _as_number(call("reshape", self, []))
        if len(at) == 1:
            place = at[0] if self.shape.rank == 1 else place_in_all(self, at[0])
            return _as_number(call("getitem", call("reshape", self, [-1]), place))
        if self.shape.rank not in (len(at), None):
            raise ValueError("incorrect number of indices for array")
        return _as_number(call("getitem", self, tuple(at)))

    def tolist(self) -> Any:
        """Return the value as nested lists of Python numbers, which a graph computes if its shape is known."""
        if self.node is None:
            refuse_leaving(self, "a list (tolist)", INSTEAD)
            return self.numpy().tolist()
        if not self.shape.is_fully_defined():
            raise UnknownWhileTracing(f"tolist() needs a known shape, but tensor {self.name!r} has shape {self.shape}")
        return _listed(self)

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        """Return a copy of the value as a DLPack capsule; with ``copy=False`` its memory, not to be written to.

        There are libraries that write to what they are told not to.
        """
        value = self._now("__dlpack__()", "an array of another library")
        refuse_leaving(self, "an array of another library", INSTEAD)
        if copy is False and (max_version is None or max_version < (1, 0)):
            raise BufferError(
                "a tensor cannot be written to, which DLPack says from version 1.0 on; it needs a copy [AL008]"
            )
        given = value if copy is False else value.copy()
        return given.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the memory of the processor, as DLPack numbers it."""
        return (1, 0)

    def tobytes(self, order: Any = "C") -> bytes:
        """Return the bytes of all elements."""
        made: bytes = self._now("tobytes()", "bytes").tobytes(order)
        return made

    def tofile(self, fid: Any, /, sep: Any = "", format: Any = "%s") -> None:
        """Write the elements into a file."""
        self._now("tofile()", "bytes").tofile(fid, sep, format)

    def dump(self, file: Any) -> None:
        """Write a pickle of the value into a file."""
        self._now("dump()", "a pickle").dump(file)

    def dumps(self) -> bytes:
        """Return a pickle of the value."""
        made: bytes = self._now("dumps()", "a pickle").dumps()
        return made

    def fill(self, value: Any) -> NoReturn:
        """Refuse: tensors do not change."""
        _refuse_writing("fill(v)", "x = numpy.full_like(x, v), or x[...] = v in converted code")

    def partition(self, kth: Any, /, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> NoReturn:
        """Refuse: tensors do not change."""
        _refuse_writing("partition(kth)", "x = numpy.partition(x, kth)")

    def put(self, indices: Any, values: Any, /, mode: Any = "raise") -> NoReturn:
        """Refuse: tensors do not change."""
        _refuse_writing("put(i, v)", "x[i] = v in converted code, x = autoloop.set_item(x, i, v) elsewhere")

    def resize(self, /, *new_shape: Any, refcheck: Any = True) -> NoReturn:
        """Refuse: tensors do not change."""
        _refuse_writing("resize(shape)", "x = numpy.resize(x, shape)")

    def setfield(self, val: Any, /, dtype: Any, offset: Any = 0) -> NoReturn:
        """Refuse: tensors do not change."""
        _refuse_writing("setfield(v, dtype)", "x = x.view(dtype), and set its items")

    def setflags(self, /, *, write: Any = None, align: Any = None, uic: Any = None) -> NoReturn:
        """Refuse: tensors do not change."""
        _refuse_writing("setflags()", "a copy, x.numpy().copy(), outside of decorated functions")

    def sort(self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> NoReturn:
        """Refuse: tensors do not change."""
        _refuse_writing("sort()", "x = numpy.sort(x)")

    def _now(self, name: str, what: str) -> Any:
        if self.node is not None:
            raise UnknownWhileTracing(
                f"x.{name} asks for {what} of a symbolic tensor, which has no value and lies nowhere while the graph "
                f"is built: return it from the decorated function, and ask what the call gives"
            )
        return np.asarray(self.numpy())


def _refuse_writing(method: str, instead: str) -> NoReturn:
    raise UnknownWhileTracing(f"x.{method} changes x in place, which tensors do not; write {instead}")


def _check_places(at: tuple[Any, ...]) -> None:
    for place in at:
        if isinstance(place, bool | np.bool_) or getattr(place, "dtype", None) == np.bool_:
            raise TypeError("an integer is required")
        kind = getattr(place, "dtype", None)
        if kind is None:
            operator.index(place)  # which says that it is none
        elif kind.kind not in "iu":
            raise in_numpys_words(TypeError(f"what has dtype {kind} cannot be interpreted as an integer"))


def _as_number(tensor: Any) -> Any:
    if tensor.dtype == np.uint64:
        return call("python_int", tensor)  # which may not hold it
    if tensor.dtype.char in "gG":  # np.longdouble and its complex numbers
        raise UnknownWhileTracing(
            f"item() and tolist() give elements of dtype {tensor.dtype} as NumPy's scalars, no Python numbers: write "
            f"x[i], or x.astype(float) before"
        )
    return call("cast", tensor, _OF_NUMBERS.get(tensor.dtype.kind, tensor.dtype))


def _listed(tensor: Any) -> Any:
    if not tensor.shape.rank:
        return _as_number(tensor)
    tensor = tensor if tensor.dtype == np.uint64 else _as_number(tensor)
    return [_listed(row) for row in call("unstack", tensor)]


def place_in_all(array: Any, index: Any) -> Any:
    """Return the number of an element in C order, of which NumPy says in words of its own that there is none."""
    count = array.shape.num_elements()
    if isinstance(index, int) and count is not None and -count <= index < count:
        return index
    size = call("size", array, np.int64) if count is None else count
    return call("place_in", index, size, "index {index} is out of bounds for size {size}")
