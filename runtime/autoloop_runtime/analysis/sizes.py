"""How much memory values take, as far as static shapes tell; where they do not tell, each question has its answer."""

from __future__ import annotations

from ..base.dtypes import variant
from ..ir.tensor import Tensor

#: values with fewer bytes than this are not worth letting go of before their time
SMALL = 8192
#: arrays with fewer bytes than this are allocated in no time
LARGE = 1 << 16


def bytes_of(tensor: Tensor) -> int | None:
    """Return the bytes of the elements of ``tensor``; ``None``: its shape is not known, or it is no array."""
    count = tensor.shape.num_elements()
    return None if count is None or tensor.dtype == variant else count * tensor.dtype.itemsize


def may_hold_memory(tensor: Tensor) -> bool:
    """Return whether ``tensor`` may be large: it should be let go of as soon as it has been used.

    What is not known counts as large. To let go of little in vain costs next to nothing, to keep a large array for too
    long may cost as much memory as the whole program needs.
    """
    size = bytes_of(tensor)
    return size is None or size >= SMALL


def is_large(tensor: Tensor) -> bool:
    """Return whether ``tensor`` is known to be an array that takes a while to allocate: others may be stored in its
    place.

    What is not known does not count as large. Nothing can be stored in an array that it may not fit.
    """
    size = bytes_of(tensor)
    return tensor.shape.rank != 0 and size is not None and size >= LARGE
