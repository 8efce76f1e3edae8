"""Arrays that converted code makes while it is traced: real ones, until one is given what only the run knows.

``np.zeros(3)`` is an array while a function is traced, so that Python may decide on what it holds. But an array cannot
hold what a graph only computes later, and whoever has a name for it, or a view of it, would have to get another. So the
trace is given up then, the world is put back as it was, and the function is traced again with the value of that very
call as what the graph computes with, from its beginning. Which call that is their order tells.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import FrameType
from typing import Any, NoReturn

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.base.dtypes import is_own, own_dtype, strange_dtype
from autoloop_runtime.base.locations import is_internal
from autoloop_runtime.ir.array_layouts import is_writeable
from autoloop_runtime.ir.array_storage import BLOCK, WHEN_WRITTEN, WHERE_MADE, Block
from autoloop_runtime.ir.convert import convert_to_tensor, refuse_tensors_as_arrays
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer

from ...conversion.callables import is_converted
from ...errors import mark_programs_own
from ...given_arrays import whole_of
from ...left_to_python import leave_unknown, refuse_unknown

#: functions whose arrays are there to be written to: with one of them all are lifted
_BUFFERS = {
    np.ndarray, np.zeros, np.empty, np.ones, np.full, np.zeros_like, np.empty_like, np.ones_like, np.full_like, np.copy,
}  # fmt: skip
#: of these the functions that make arrays of elements that are all the same -> those
_ALIKE: dict[Any, int] = {
    np.ndarray: 0, np.zeros: 0, np.empty: 0, np.zeros_like: 0, np.empty_like: 0, np.ones: 1, np.ones_like: 1,
}  # fmt: skip
_NUMBERS = "biufc"
#: so often a trace is begun anew for single calls; then for all
_MOST = 6


class Lift(BaseException):
    """A trace has to begin anew; holds what is to be lifted then."""

    def __init__(self, making: Making) -> None:
        self.making = making


class Making:
    """What one trace makes of arrays.

    Parameters
    ----------
    lifted : frozenset of int
        The calls whose arrays are lifted: the first is number 0.
    buffers : bool
        Lift those of ``np.zeros`` and its like.
    every : bool
        Lift all.
    attempts : int
        How many traces there were before.
    """

    def __init__(
        self, lifted: frozenset[int] = frozenset(), buffers: bool = False, every: bool = False, attempts: int = 0
    ) -> None:
        self.lifted, self.buffers, self.every, self.attempts = lifted, buffers, every, attempts
        #: what the next trace is to make, if this one was to end: NumPy may have put an error of its own in that place
        self.next: Making | None = None
        self._count = 0
        #: the memory of the arrays made so far, by id, and the numbers of the calls
        self._made: dict[int, tuple[Any, int, Block | None]] = {}

    def in_force(self) -> Setting[None]:
        """Return a context manager in which this trace is made."""
        return Setting(None, (_MAKING, self))

    def called(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Return what a function of NumPy's gives, lifted if it is to be."""
        number, self._count = self._count, self._count + 1
        array = function(*args, **kwargs)
        if type(array) is not np.ndarray or array.dtype.kind not in _NUMBERS or not is_own(array.dtype):
            return array
        if any(isinstance(one, np.ndarray) and np.may_share_memory(one, array) for one in (*args, *kwargs.values())):
            return array
        if is_of_others(array) or any(hasattr(type(one), "__array__") for one in args if not is_numpys(one)):
            return array  # which may be what such an object holds
        if self.every or number in self.lifted or (self.buffers and function in _BUFFERS):
            tracer = ArrayTracer.kind_of_part(made := _as_tensor(function, array))(made)
            tracer.storage.lies_as(array)
            return tracer
        base = whole_of(array)
        self._made[id(base)] = (base, number, BLOCK.get())
        return array

    def skipped(self) -> None:
        """Count a call that is none of NumPy's own."""
        self._count += 1

    def is_of_block(self, array: Any) -> bool:
        """Return whether an array was made in the block that is traced now."""
        found = self._made.get(id(whole_of(array)))
        return found is not None and found[2] is BLOCK.get()

    def lift(self, array: Any) -> None:
        """Begin anew, if ``array`` is one that the trace has made.

        Raises
        ------
        Lift
            If it is.
        """
        found = self._made.get(id(whole_of(array)))
        if found is not None and self.attempts < _MOST:
            raise Lift(Making(self.lifted | {found[1]}, True, False, self.attempts + 1))
        if not self.every:
            self.lift_all()

    def lift_all(self) -> NoReturn:
        """Begin anew with all arrays lifted.

        Raises
        ------
        Lift
        """
        self.next = Making(frozenset(), True, True, self.attempts + 1)
        raise Lift(self.next)

    @property
    def has_made(self) -> bool:
        """Whether there is a real array that the trace has made."""
        return bool(self._made)


def is_numpys(value: Any) -> bool:
    """Return whether a value is an array or scalar of NumPy's."""
    return isinstance(value, (np.ndarray, np.generic))


def is_of_others(array: np.ndarray[Any, Any]) -> bool:
    """Return whether an array that the trace has made is one of memory in which others look, who are no arrays."""
    return is_writeable(array) and whole_of(array).base is not None


def _owner(array: np.ndarray[Any, Any]) -> str:
    owner: Any = whole_of(array).base
    return type(owner.obj if isinstance(owner, memoryview) else owner).__name__


def _as_tensor(function: Callable[..., Any], array: np.ndarray[Any, Any]) -> Tensor:
    """Return the value of an array that a function of NumPy's has made; a large one whose elements are all the same is
    made at each call, and not copied. What nobody has written yet, which may be anything, is zeros."""
    value = _ALIKE.get(function)
    if value is None or array.base is not None or not array.ndim:
        return convert_to_tensor(array)
    return ops.full(array.shape, convert_to_tensor(array.dtype.type(value)))  # of a tensor: the array owns its memory


nest.opaque(Making)  # which the trace that it ends is told in an exception


_MAKING: ContextVar[Making | None] = ContextVar("autoloop_making", default=None)


def called(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Return what a function of NumPy's gives that converted code calls on values."""
    making = _MAKING.get()
    try:
        if making is None or current_graph() is None:
            return function(*args, **kwargs)
        return making.called(function, args, kwargs)
    except Exception as error:
        refuse_tensors_as_arrays(error)
        mark_programs_own(error)
        raise


def skipped() -> None:
    """Count a call of a function of NumPy's that the graph computes."""
    making = _MAKING.get()
    if making is not None:
        making.skipped()


def written(array: Any) -> None:
    """Begin the trace anew because ``array`` is written to, if it was made in it."""
    if isinstance(array, np.ndarray) and is_of_others(array):
        refuse_unknown(
            f"an array whose memory is that of a {_owner(array)} is given values that only the run knows",
            "write to a copy, x = x.copy()",
        )
    if isinstance(array, np.ndarray) and array.dtype.kind in _NUMBERS and not is_own(array.dtype):
        refuse_unknown(
            f"an array of {strange_dtype(array.dtype)}, is given values that only the run knows",
            f"make it of {own_dtype(array.dtype)}",
        )
    making = _MAKING.get()
    if making is not None and current_graph() is not None:
        making.lift(array)


def beside_unknown(frame: FrameType | None) -> None:
    """Begin the trace anew with all arrays lifted, if converted code asks NumPy for an array of values of the run.

    So it does in ``np.zeros(2) + [x[0], 1]``. What is lifted computes with such lists itself.

    Parameters
    ----------
    frame : FrameType or None
        Where the array is asked for: converted code, or ours in its place.

    Raises
    ------
    Lift
    """
    making = _MAKING.get()
    if making is None or making.every or current_graph() is None:
        return
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is not None and is_converted(frame.f_code):
        making.lift_all()


def given_unknown(frame: FrameType | None) -> None:
    """Do so if NumPy asks what stands for a value of the run for a number: ``a[i] = x[0]`` in a function inside, which
    may not bind ``a`` anew.

    Parameters
    ----------
    frame : FrameType or None
        Where the number is asked for.

    Raises
    ------
    Lift
    """
    making = _MAKING.get()
    if making is not None and making.has_made:
        beside_unknown(frame)


def set_in_block(array: Any) -> None:
    """Begin the trace anew if ``array`` was made outside the block that sets its elements."""
    making = _MAKING.get()
    if making is not None and BLOCK.get() is not None and not making.is_of_block(array):
        written(array)


def _is_made_here(array: Any) -> bool:
    making = _MAKING.get()
    return making is not None and making.is_of_block(array)


def refuse(array: Any) -> NoReturn:
    """Let plain Python write to an array that the trace has not made, or raise."""
    written(array)
    refuse_unknown(_GIVEN, "pass it as an argument, or write to a copy, x = x.copy()")


_GIVEN = "an array that is neither an argument nor made in the function is given values that only the run knows"


def _told(array: Any) -> None:
    """Let plain Python write to an array that the trace has not made; who tells of it raises otherwise."""
    written(array)
    leave_unknown(_GIVEN)


WHEN_WRITTEN.append(_told)
WHERE_MADE.append(_is_made_here)
