"""How arrays lie in memory: what of that their users can see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.dtypes import quiet_about_discarded
from .op import call

#: the flag of NumPy's
_WRITEABLE = 0x0400


class Lying(tuple[tuple[int, ...], bool, bool, bool, bool]):
    """How an array lies in memory; ``NamedTuple`` would compile code at every start.

    Attributes
    ----------
    strides : tuple of int
        The bytes from one element to the next along each axis.
    writeable, owndata, aligned : bool
        NumPy's flags.
    is_alone : bool
        Whether it has no base.
    """

    __slots__ = ()

    @property
    def strides(self) -> tuple[int, ...]:
        return self[0]

    @property
    def writeable(self) -> bool:
        return self[1]

    @property
    def owndata(self) -> bool:
        return self[2]

    @property
    def aligned(self) -> bool:
        return self[3]

    @property
    def is_alone(self) -> bool:
        return self[4]


def is_writeable(array: np.ndarray[Any, Any]) -> bool:
    """Return whether a real array may be written to: asked by its name, the flag of those that
    ``np.broadcast_arrays`` gives warns."""
    return bool(array.flags.num & _WRITEABLE)


def lying(array: np.ndarray[Any, Any]) -> Lying:
    """Return how a real array lies in memory."""
    flags = array.flags
    return Lying((array.strides, is_writeable(array), flags.owndata, flags.aligned, array.base is None))


def lie_in_order(choice: Any) -> bool:
    """Return whether all arrays, of which a loop or branch chooses, are known to lie in C order.

    Who asks relies on it.

    Parameters
    ----------
    choice : Choice
        In a loop that is being traced: of what was there before it.
    """
    seen, todo = set(), [choice]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        for array in one.arrays():
            storage = getattr(array, "storage", None)
            if isinstance(array, np.ndarray):
                if not array.flags.c_contiguous:
                    return False
            elif storage is None:
                if not isinstance(array, np.generic | int | float | complex | None):
                    return False
            elif array.view_of is not None and (array.layout is None or not array.layout.flags.c_contiguous):
                return False
            elif storage.choice is not None:
                todo.append(storage.choice)
            elif not storage.contiguous:
                return False
    return True


def hangs_on_order(function: Callable[[Any], Any], rank: int | None, dtype: Any) -> bool:
    """Return whether a function may give an array itself, a view of it or a copy, as the array's elements lie."""
    answers = _answers(function, rank, dtype)
    return len({"itself" if one is small else np.may_share_memory(one, small) for small, one in answers}) != 1


def copied_in_order(function: Callable[[Any], Any], rank: int | None, dtype: Any) -> str | None:
    """Return in which order the elements of the copy lie that a function makes of an array, however that lies.

    "" if they lie as those of the array; None if it may be no copy.
    """
    answers = _answers(function, rank, dtype)
    if not answers or any(type(one) is not np.ndarray or np.may_share_memory(one, small) for small, one in answers):
        return None
    orders = {"F" if np.isfortran(one) else "C" for _, one in answers}
    return orders.pop() if len(orders) == 1 else ""


def answered_in_order(function: Callable[[Any], Any], rank: int | None, dtype: Any) -> str | None:
    """Return in which order, C or F, all lies that a function gives, however its argument does; None if in several."""
    answers = [one for _, one in _answers(function, rank, dtype)]
    told = [(order, f"{order.lower()}_contiguous") for order in "CF"]
    return next((order for order, name in told if answers and all(getattr(one.flags, name) for one in answers)), None)


def _answers(function: Callable[[Any], Any], rank: int | None, dtype: Any) -> list[tuple[Any, Any]]:
    """Return small arrays that lie in memory in C order, in Fortran's, with gaps, and backwards, each with what a
    function gives of it; none if only the run knows their rank, or an argument of the function."""
    if rank is None:
        return []
    dims = (3, 2, *[1] * rank)[:rank]
    whole = np.zeros((6, 2, *[1] * rank)[:rank], dtype)
    arrays = [np.zeros(dims, dtype), np.zeros(dims, dtype, "F"), whole[::2], whole[2::-1]] if rank else [whole]
    try:
        with quiet_about_discarded(whole.dtype):
            return [(small, function(small)) for small in arrays]
    except Exception:
        return []


def is_of(answer: Any, array: Any) -> bool:
    """Return whether an array is memory of another, be it none: those without elements are made read-only, too."""
    return np.may_share_memory(answer, array) or (not answer.size and not answer.flags.owndata)


def is_whole(answer: Any, layout: Any) -> bool:
    """Return whether a view has the very elements of an array, as ``np.asarray(x, x.dtype)`` has."""
    same = (answer.shape, answer.strides, answer.dtype) == (layout.shape, layout.strides, layout.dtype)
    return bool(same and answer.ctypes.data == layout.ctypes.data)


def is_reshaped(answer: Any, layout: Any) -> bool:
    """Return whether a view has the elements of an array in C order, as ``reshape`` to its shape has."""
    if answer.size != layout.size:
        return False
    other = layout.reshape(answer.shape)
    return bool(other.strides == answer.strides and other.ctypes.data == answer.ctypes.data)


def order_of_axes(answer: Any, layout: Any) -> tuple[int, ...] | None:
    """Return in which order a view has the axes of an array that lies so, all of each; None if it is another view."""
    if answer.ndim != layout.ndim or answer.size != layout.size or answer.dtype != layout.dtype:
        return None
    axes = list(range(layout.ndim))
    found = []
    for form in zip(answer.shape, answer.strides):
        same = [k for k in axes if (layout.shape[k], layout.strides[k]) == form]
        if not same:
            return None
        found.append(same[0])
        axes.remove(same[0])
    return tuple(found) if answer.ctypes.data == layout.ctypes.data else None


def of_flat(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of ``a.flat`` as one of ``a``."""
    return lambda array: function(array.flat if isinstance(array, np.ndarray) else call("reshape", array, [-1]))
