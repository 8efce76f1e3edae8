"""How numbers are written into the words that machine code is given and gives back."""

from __future__ import annotations

from .argument_places import Port
from .typing.facts import Shape

#: how a scalar of a dtype is written into eight bytes
PACKED = {
    "?": "?7x", "b": "b7x", "h": "h6x", "i": "i4x", "q": "q", "l": "q", "B": "B7x", "H": "H6x", "I": "I4x", "Q": "Q",
    "L": "Q", "e": "e6x", "f": "f4x", "d": "d", "F": "ff", "D": "dd",
}  # fmt: skip


def strides_of(port: Port) -> Shape | None:
    """Return the strides, in bytes, of an input that is not in C order."""
    return port.strides and tuple([step * port.dtype.itemsize for step in port.strides])


def packed(port: Port) -> str:
    """Return how the words of an output are written."""
    return "q" * port.words if port.is_array or port.grows else PACKED[port.dtype.char]


def is_complex(port: Port) -> bool:
    """Return whether a port is one complex number."""
    return bool(port.dtype.kind == "c") and not port.is_array and not port.grows
