"""Whether a kernel is the only one that sees an array, so that it may write to it: asked when it runs.

The scheduler has no order in which nodes read, but every token that waits for its reader, every view, result and
thread holds a reference to its array. An array that nobody but the kernel has can be written to in any order of the
run. The caller's own arrays, of which the references of others cannot be counted, enter a run as other array objects
over the same memory: views of those keep them alive, which NumPy's own views of views do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from sys import getrefcount
from typing import Any

import numpy as np

from ..base.aligned_memory import Block
from ..ir.array_layouts import is_writeable


class Donated:
    """An array of the caller's that a run may write to."""

    __slots__ = ("__array_interface__", "array")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Part:
    """A part of such an array, of which only it is read until what it becomes has been put back there."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, view: np.ndarray[Any, Any], owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = view.__array_interface__


def own_view(view: Any) -> Any:
    """Return a view of an array that a run may write to as one that holds no reference to that array."""
    owner: Any = view.base.base if type(view) is np.ndarray and type(view.base) is np.ndarray else None
    return np.asarray(Part(view, owner)) if type(owner) in (Donated, Part) else view


def donate(values: Sequence[Any], which: Iterable[int]) -> list[Any]:
    """Return ``values`` with those at ``which`` as arrays that a run may write to."""
    made = list(values)
    for k in which:
        if type(made[k]) is np.ndarray:
            made[k] = np.asarray(Donated(made[k]))
    return made


def returned(value: Any) -> Any:
    """Return the caller's own array for one that was donated, all else as it is."""
    owner: Any = value.base if type(value) is np.ndarray else None
    return owner.array if type(owner) is Donated else value


def taken(args: list[Any], which: Iterable[int]) -> list[Any]:
    """Return ``args``, which nobody else has, with copies of those at ``which`` that somebody else sees.

    A view of the array among the other arguments (``a[0] = a[1]``), which nobody else has either, is none that sees
    it later: NumPy reads all of it before it writes there.
    """
    for k in which:
        array = args[k]
        args[k] = None
        allowed = _ALONE + sum([_is_view_of(args, j, array) for j in range(len(args))])
        args[k] = array if _references(array) <= allowed and _is_whole(array) else np.array(array)
    return args


def _is_view_of(args: list[Any], j: int, array: Any) -> bool:
    """Return whether argument ``j`` is a view of ``array`` that nobody else has."""
    view = args[j]
    if type(view) is not np.ndarray or view.base is not array:
        return False
    args[j] = None
    alone = _references(view) <= _ALONE
    args[j] = view
    return alone


def offered(args: list[Any], which: Sequence[tuple[int, bool]]) -> Any:
    """Return one of ``args``, which nobody else has, that nobody else sees, None if there is none.

    Parameters
    ----------
    args : list
    which : sequence of (int, bool)
        Those it may be, and whether it may be an array of the caller's.
    """
    for k, callers in which:
        array = args[k]
        same = [j for j, one in enumerate(args) if one is array]  # x * x
        for j in same:
            args[j] = None
        alone = (
            _references(array) <= _ALONE and _is_whole(array) and (callers or type(array.base) not in (Donated, Part))
        )
        for j in same:
            args[j] = array
        if alone:
            return array
    return None


def in_place(
    kernel: Callable[..., Any], over: Callable[..., Any] | None, offers: Sequence[tuple[int, bool]],
    takes: Iterable[int], args: list[Any],
) -> tuple[Callable[..., Any], list[Any]]:  # fmt: skip
    """Return the kernel to call, and with what: ``args``, which nobody else has, with copies of what others see, or the
    one with a place for its result, and that."""
    if not offers:
        return kernel, taken(args, takes)
    array = offered(args, offers)
    if array is None:
        return kernel, args
    assert over is not None
    return over, [*args, array]


def _references(array: Any) -> int:
    return getrefcount(array)


def _is_whole(array: Any) -> bool:
    """Return whether what else lies in the memory of an array would hold a reference to it, or to the array that it
    alone is a view of."""
    if type(array) is not np.ndarray or not is_writeable(array):
        return False
    owner: Any = array.base
    if type(owner) is np.ndarray:
        return getrefcount(owner) <= _ALONE_UNDER and _is_whole(owner)
    return owner is None or type(owner) in (Donated, Part, Block)


def _under(array: Any) -> int:
    owner: Any = array.base
    return getrefcount(owner)


def _alone(args: list[Any]) -> int:
    array = args[0]
    args[0] = None
    return _references(array)


#: the references to an array that only ``taken`` has; differs between versions of Python
_ALONE = _alone([np.empty(0)])
#: the references to the array under a view, which only that view and ``_is_whole`` have
_ALONE_UNDER = _under(np.empty(2).reshape(2, 1))
