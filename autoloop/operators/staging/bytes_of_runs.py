"""Bytes that a run makes of an array, ``x.tobytes()``, and the flags of arrays, as converted code has them.

Bytes are carried as a vector; the caller gets bytes. Converted code may hand them on and ask how many they are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.stand_ins import called
from autoloop_runtime.ir.composite import Composite, register
from autoloop_runtime.ir.op import call
from autoloop_runtime.ir.tensor import Tensor

from .standins import StandIn

#: what bytes and flags can be asked that nobody knows while the graph is built
_ASKED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__iter__", "__contains__", "__hash__")
#: what makes other bytes of them
_COMPUTED = ("__add__", "__radd__", "__mul__", "__rmul__", "__mod__", "__getitem__")


@called("bytes (which only the run knows)")
class BytesOfRun(StandIn):
    """Bytes that a run makes.

    Attributes
    ----------
    vector : Tensor
        What carries them.
    """

    __slots__ = ("vector",)
    __stands_for__ = bytes

    def __init__(self, vector: Any) -> None:
        self.vector = vector

    def described(self) -> str:
        """Return what messages call it."""
        return "bytes that only the run knows"

    def decision(self) -> Any:
        """Refuse: a condition may hand the bytes on, ``b or c``."""
        self.refuse_leaving("a condition asks for")

    def parts(self) -> tuple[list[Any], Callable[..., Any]]:
        """Return tensors, and what makes of their values what the user would have here in a run."""
        return [self.vector], lambda vector: vector.tobytes()

    def __getattr__(self, name: str) -> Any:
        if hasattr(b"", name):
            self.refuse_leaving(f"{name!r} is asked of")
        raise AttributeError(f"'bytes' object has no attribute {name!r}")

    def __len__(self) -> int:
        if not self.vector.shape.is_fully_defined():
            self.refuse_leaving("len() asks for the number of")
        return int(self.vector.size)

    def __bool__(self) -> bool:
        return len(self) > 0


@called("flagsobj (of an array in a trace)")
class FlagsOfArray(StandIn):
    """``x.flags`` of an array in a trace: they can be asked one by one, and ``writeable`` be set."""

    __slots__ = ("_array", "_flags")
    __stands_for__ = type(np.empty(0).flags)

    def __init__(self, array: Any, flags: Any) -> None:
        object.__setattr__(self, "_array", array)
        object.__setattr__(self, "_flags", flags)

    def described(self) -> str:
        """Return what messages call it."""
        return "the flags of an array that lies nowhere while the graph is built"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._flags, name)

    def __getitem__(self, name: str) -> Any:
        return self._flags[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "writeable":
            self.refuse_leaving(f"setting {name!r} would change")
        self._array.setflags(write=value)

    def __setitem__(self, name: str, value: Any) -> None:
        self.__setattr__({"W": "writeable", "WRITEABLE": "writeable"}.get(name, name), value)


def _refusing(name: str) -> Callable[..., Any]:
    def refuse(self: Any, *others: Any) -> Any:
        self.refuse_leaving(f"{name} asks for")

    return refuse


for _name in (*_ASKED, *_COMPUTED):
    setattr(BytesOfRun, _name, _refusing(_name))
for _name in _ASKED:
    setattr(FlagsOfArray, _name, _refusing(_name))


class _AsComposite(Composite[BytesOfRun]):
    """The vector; of a result of a run, the bytes."""

    def components(self, value: BytesOfRun) -> Sequence[Any]:
        return [value.vector]

    def spec(self, value: BytesOfRun) -> Hashable:
        return "bytes"

    def from_components(self, spec: Any, components: Sequence[Any]) -> Any:
        (vector,) = components
        if isinstance(vector, Tensor):
            return BytesOfRun(vector) if vector.node is not None else vector.numpy().tobytes()
        return vector.tobytes() if isinstance(vector, np.ndarray) else BytesOfRun(vector)


def bytes_of(x: Any, method: str, order: str) -> BytesOfRun:
    """Return what an array's ``tobytes`` or ``dumps`` gives."""
    return BytesOfRun(call("bytes_in_run", x, method, order))


register(BytesOfRun, _AsComposite())
