"""Which of NumPy's functions and methods give views, and of what.

NumPy itself is asked: the function is called with an array that has the shape, the dtype and the layout of the user's
and no contents to speak of, and what it gives shares memory with that or does not, may be written to or not. Where
the layout is not known (``ravel`` of what an operation on a transpose made), either may be: such a result is right as
long as nobody writes to the one and looks at the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..base.dtypes import quiet_about_discarded
from ..base.stand_ins import UnknownWhileTracing
from .array_layouts import (
    answered_in_order,
    copied_in_order,
    hangs_on_order,
    is_of,
    is_reshaped,
    is_whole,
    is_writeable,
    of_flat,
    order_of_axes,
)  # fmt: skip
from .numpy_protocols import counterpart_of
from .op import call
from .tensor import Tensor


def _names(*functions: Any) -> frozenset[str]:
    return frozenset([one.__name__ for one in functions if one is not None])


_FLAT = "flat"
_window = np.lib.stride_tricks
#: views of their first argument whatever its layout is, where they are views at all; those that one has not are None
_REARRANGING = _names(
    np.transpose,
    np.swapaxes,
    np.moveaxis,
    np.rollaxis,
    np.squeeze,
    np.expand_dims,
    np.atleast_1d,
    np.atleast_2d,
    np.atleast_3d,
    np.broadcast_to,
    np.broadcast_arrays,
    np.diagonal,
    np.diag,
    np.flip,
    np.fliplr,
    np.flipud,
    np.rot90,
    np.split,
    np.array_split,
    np.hsplit,
    np.vsplit,
    np.dsplit,
    np.real,
    np.imag,
    np.ndarray.conj,
    np.ndarray.conjugate,
    np.matrix_transpose,
    np.einsum,
    _window.sliding_window_view,
    np.ndarray.view,
    np.ndarray.getfield,
    *[getattr(np, name, None) for name in ("permute_dims", "unstack")],
) | {"T", "mT"}
#: views where the elements lie in the right order
_BY_LAYOUT = _names(
    np.reshape, np.ravel, np.ascontiguousarray, np.asfortranarray, np.require, np.array, np.copy, np.ndarray.astype,
    np.asarray, np.asanyarray, np.asarray_chkfinite,
) | {_FLAT}  # fmt: skip
#: what may be a view, of a part that the elements' values tell
_BY_VALUE = _names(np.real_if_close, np.trim_zeros, np.meshgrid, np.ix_, _window.as_strided)
#: of these by value what gives reals themselves
_REAL_ALREADY = _names(np.real_if_close)
#: of those by layout what gives copies for most arguments
_COPYING = _names(np.array, np.copy, np.ndarray.astype)
#: of those by layout what gives all of an array, in an order that may be said
_ORDERING = _names(np.asarray, np.asanyarray, np.asarray_chkfinite, np.ascontiguousarray, np.asfortranarray, np.require)
#: of these the elements only change places as in a reshape
_RESHAPED = _names(np.reshape, np.ravel, np.squeeze, np.expand_dims, np.atleast_1d, np.atleast_2d, np.atleast_3d) | {
    _FLAT
}
#: what arrays may lose their axes by and stay arrays, and scalars stay what they are
_LOSING = _names(np.reshape, np.squeeze)
#: functions that give a view of each of the arrays that they are given
OF_SEVERAL = frozenset((np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays, np.meshgrid))
#: of these a complex array is put together
_REAL, _IMAG = np.real.__name__, np.imag.__name__
#: as many elements NumPy is asked about with an array of that size
_MOST = 1 << 28


@dataclass(frozen=True, eq=False)
class View:
    """How an array is a view of another.

    Attributes
    ----------
    parent : ArrayTracer
        The other.
    forward : callable
        Gives the view's value for the value of ``parent``.
    backward : callable
        Gives the value of ``parent`` for that and another value of the view.
    index : object
        The basic index that names the part, if it is one.
    axes : tuple of int or None
        Which axes of ``parent`` its axes are, where it has all elements in another order of axes.
    writeable : bool
        Whether NumPy lets it be written to.
    is_flat : bool
        Whether it is ``a.flat``: what is written to it goes to the array, but a part of it is a copy.
    is_of_each : bool
        Whether each of its elements is of one of ``parent`` alone: the functions serve elements, too.
    real : callable or None
        Gives the view of a real array; None if that depends on what only the run knows.
    """

    parent: Any
    forward: Callable[[Tensor], Tensor]
    backward: Callable[[Tensor, Tensor], Tensor] | None
    index: Any = None
    axes: tuple[int, ...] | None = None
    writeable: bool = True
    is_flat: bool = False
    is_of_each: bool = False
    real: Callable[[Any], Any] | None = None


def name_of_view(theirs: Any) -> str | None:
    """Return the name of a function of NumPy's that may give a view; None of any other."""
    name = theirs if isinstance(theirs, str) else getattr(theirs, "__name__", "")
    if name in _REARRANGING or name in _BY_LAYOUT or name in _BY_VALUE:
        return None if isinstance(theirs, np.ufunc) else name
    return None


def layout_of_part(layout: Any, index: Any) -> Any:
    """Return the array that stands for the layout of a part of another; None if it is not known."""
    if layout is None:
        return None
    entries = index if isinstance(index, tuple) else (index,)
    known = [_standing_for(entry) for entry in entries]
    if any(entry is _UNKNOWN for entry in known):
        return None
    try:
        return layout[tuple(known)]
    except IndexError:
        return None


_UNKNOWN = object()


def _standing_for(entry: Any) -> Any:
    if isinstance(entry, slice):
        if any(isinstance(part, Tensor) for part in (entry.start, entry.stop, entry.step)):
            return _UNKNOWN
        return entry
    return 0 if isinstance(entry, Tensor) else entry


def new_layout(tensor: Tensor, strides: tuple[int, ...] | None = None) -> Any:
    """Return an array that lies in memory as one of the user's, of these strides or new; None if it is not known."""
    shape = tensor.shape
    if not shape.is_fully_defined() or tensor.dtype.kind not in "biufc":
        return None
    dims = shape.as_tuple()
    if np.prod(dims, dtype=float) >= _MOST:
        return None
    made = np.empty(dims, tensor.dtype)
    if strides is None or strides == made.strides or not made.size:
        return made
    dense = np.empty_like(np.lib.stride_tricks.as_strided(made.reshape(-1)[:1], dims, strides))
    if dense.strides == strides:
        return dense
    steps = [step * (count - 1) for step, count in zip(strides, dims)]
    first = -sum(step for step in steps if step < 0)
    size = first + sum(step for step in steps if step > 0) + made.itemsize
    if size >= _MOST:
        return made
    return np.ndarray(dims, made.dtype, np.empty(size, np.uint8).data, first, strides)


def linked(array: Any, name: str, made: Any, again: Callable[[Any], Any], is_array: bool) -> Any:
    """Return what a function gave for ``array``, with the views among it as views.

    Parameters
    ----------
    array : ArrayTracer
    name : str
        The function or method.
    made : Tensor, or list or tuple of them
        What it gave.
    again : callable
        Calls the function with another first argument.
    is_array : bool
        Whether what it gives is an array where it has no axes.
    """
    if name == np.reshape.__name__ and isinstance(made, Tensor) and made.shape.is_fully_defined():
        again = _given_shape(again, made)
    is_flat = array.view_of is not None and array.view_of.is_flat
    if is_flat:  # whose ``__array__`` is the array's own memory where that lies in order, which ``np.array`` takes, too
        array, again = array.view_of.parent, of_flat(again)
    if isinstance(made, (list, tuple)):
        every = [_linked(array, name, one, _part(again, k), is_array, is_flat) for k, one in enumerate(made)]
        return type(made)(*every) if hasattr(made, "_fields") else type(made)(every)
    if name == _IMAG and array.dtype.kind != "c" and not array.is_scalar:  # zeros, which nobody may write to
        zeros = array.kind_of_part(made, is_array)(made)
        zeros.freeze(True)
        return zeros
    return _linked(array, name, made, again, is_array, is_flat)


def part_of_several(theirs: Any, array: Any, made: Tensor) -> Any:
    """Return what one of the functions that take several arrays gives of one of them."""

    def alone(x: Any) -> Any:
        function = counterpart_of(theirs) if isinstance(x, Tensor) else theirs
        assert function is not None
        if theirs is not np.broadcast_arrays:
            return function(x)
        return function(x, np.broadcast_to(np.zeros((), made.dtype), made.shape.as_tuple()))[0]

    if theirs is not np.meshgrid and made.shape.is_fully_defined():
        return array.given_views(theirs, made, alone, True)
    given = array.kind_of_part(made)(made)
    given.storage.perhaps(array.storage)
    return given


def _part(again: Callable[[Any], Any], k: int) -> Callable[[Any], Any]:
    return lambda x: again(x)[k]


def _linked(
    array: Any, name: str, made: Any, again: Callable[[Any], Any], is_array: bool, is_flat: bool
) -> Any:  # fmt: skip
    if not isinstance(made, Tensor):
        return made
    if array.may_be_scalar and name in _LOSING and made.shape.rank in (0, None):
        raise UnknownWhileTracing(
            f"whether {name} gives an array or a scalar only the run knows here, where it knows how many axes there are"
        )
    kind = array.kind_of_part(made, is_array)
    if array.is_scalar:
        answer = _answer(array.layout, name, made, again) if array.storage.is_without_axes else None
        if answer is not None and not np.may_share_memory(answer, array.layout):
            return kind(made)
        return part_of_scalar(array, made, is_array)
    if name == _FLAT and array.shape.rank is not None:
        back = _backward(array, name, made, again, True) if array.shape.is_fully_defined() else _as_before
        view = View(array, _forward(again), back, writeable=array.is_writeable, is_flat=True)
        return array.viewed(view, made, new_layout(made))
    if (
        name in _COPYING
        and array.shape.rank is not None
        and (order := copied_in_order(again, array.shape.rank, array.dtype)) is not None
    ):
        new = kind(made)
        new.storage.lies_in(order, new_layout(made))
        return new
    by_order = (is_flat or name in _BY_LAYOUT) and _hangs_on_order(array, name, made, again, is_flat)
    settled = not by_order or array.storage.contiguous or lies_as_known(array)
    layout, answer = array.layout, None
    if layout is not None and (name not in _BY_VALUE or (name in _REAL_ALREADY and array.dtype.kind != "c")):
        with quiet_about_discarded(array.dtype):
            answer = _answer(layout, name, made, again)
    if answer is None or not settled:
        new = kind(made)
        if answer is None and made.shape.rank == 0 and not is_array:
            return new
        if answer is None or is_of(answer, layout) or name in _BY_LAYOUT:
            new.storage.perhaps(array.storage)
            new.storage.by_order = name
        if answer is not None and name in _ORDERING and array.view_of is None:
            new.storage.lies_in(answered_in_order(again, array.shape.rank, array.dtype), answer)
        return new
    if answer is layout:  # it is the array itself that the function gives back
        array.storage.is_copied_by_order |= by_order
        return array
    if not is_of(answer, layout):
        new = kind(made)
        if by_order:
            array.storage.is_copied_by_order = True
            new.storage.lies_as(answer)
        if not is_writeable(answer):  # the imaginary part of reals
            new.freeze(True)
        return new
    in_order = is_whole(answer, layout) or ((is_flat or name in _RESHAPED) and is_reshaped(answer, layout))
    axes = None if in_order else order_of_axes(answer, layout)
    back = _backward(array, name, made, again, in_order, axes)
    real = None if name == _FLAT else lambda x: _answer(x, name, made, again)
    writeable, each = is_writeable(answer), name in (_REAL, _IMAG) and made.dtype != array.dtype
    return array.viewed(View(array, _forward(again), back, None, axes, writeable, False, each, real), made, answer)


def _hangs_on_order(array: Any, name: str, made: Tensor, again: Callable[[Any], Any], is_flat: bool) -> bool:
    """Return whether a function of ``_BY_LAYOUT``, or of ``a.flat``, gives a view or a copy as the elements lie."""
    if name in (_FLAT, np.reshape.__name__) and not is_flat:
        known = made.shape.is_fully_defined() and made.shape == array.shape
        return not (known or made.shape.rank == array.shape.rank == 1)
    return hangs_on_order(again, array.shape.rank, array.dtype)


def lies_as_known(array: Any) -> bool:
    """Return whether an array is known to lie as its layout says; who asks relies on it."""
    root = root_of(array)
    if not _has_layout(root):
        return False
    root.storage.is_lying_asked = True
    return True


def root_of(array: Any) -> Any:
    """Return the array that one is a view of, by however many steps."""
    while array.view_of is not None:
        array = array.view_of.parent
    return array


def _has_layout(root: Any) -> bool:
    known, layout = root.storage.lying, root.layout
    return known is not None and layout is not None and layout.strides == known.strides


def dense_strides(array: Any) -> tuple[int, ...] | None:
    """Return the strides of an array that the function makes, or of all of it in another order; None if not known."""
    root = root_of(array)
    if root.storage.argument is not None or not _has_layout(root) or array.layout is None:
        return None
    made: tuple[int, ...] = array.layout.strides
    whole = array.layout.size == root.layout.size > 1 and len(made) > 1
    return made if whole and np.empty_like(array.layout).strides == made else None


def part_of_scalar(array: Any, made: Tensor, is_array: bool) -> Any:
    """Return an array made of a scalar; of the caller's array without axes it would be a view."""
    new = array.kind_of_part(made, is_array)(made)
    new.storage.is_without_axes = array.storage.is_without_axes
    return new


def _forward(again: Callable[[Any], Any]) -> Callable[[Tensor], Tensor]:
    def forward(held: Tensor) -> Tensor:
        made: Tensor = again(held).plain
        return made

    return forward


def _answer(layout: Any, name: str, made: Tensor, again: Callable[[Any], Any]) -> Any:
    """Return what NumPy makes of an array of this layout; None if it does not say."""
    try:
        if name == _FLAT:
            answer = layout.reshape(-1)
        else:
            answer = again(layout)
    except Exception:  # an argument that only the run knows
        return None
    if type(answer) is not np.ndarray or not made.shape.matches(answer.shape) or answer.dtype != made.dtype:
        return None
    return answer


class _Reshaped:
    """What stands for an array that is reshaped: takes no notice of the shape, which the graph knows already."""

    def __init__(self, layout: Any, shape: tuple[int, ...]) -> None:
        self._layout, self._shape = layout, shape

    def reshape(self, *_: Any, **others: Any) -> Any:
        layout = np.asarray(self._layout) if isinstance(self._layout, np.flatiter) else self._layout
        return layout.reshape(self._shape, **others)


def _given_shape(again: Callable[[Any], Any], made: Tensor) -> Callable[[Any], Any]:
    """Return what makes a reshaped array of another, in the order that was asked for.

    The shape that the graph knows is taken in place of the one that was given: a block that is over may have made that.
    """
    shape = made.shape.as_tuple()
    return lambda array: again(_Reshaped(array, shape))


def _backward(
    array: Any, name: str, made: Tensor, again: Callable[[Any], Any], in_order: bool,
    axes: tuple[int, ...] | None = None,
) -> Callable[[Tensor, Tensor], Tensor]:  # fmt: skip
    """Return what gives the value of an array for that and another value of a view of it.

    ``axes``: which of its axes the view's are, where it has all elements in another order of axes.
    """
    shape, dtype = array.shape.as_tuple(), array.dtype
    if made.dtype != dtype:
        return _of_other_dtype(name, made, again, dtype)
    if made is array.plain:
        return lambda base, new: new
    if in_order:
        return lambda base, new: call("reshape", new, shape)
    if axes is not None:
        inverse = tuple([axes.index(k) for k in range(len(axes))])
        return lambda base, new: call("transpose", new, inverse)

    def backward(base: Tensor, new: Tensor) -> Tensor:
        if name in (_REAL, _IMAG):  # of a complex array the parts have another dtype
            return new
        places = again(np.arange(np.prod(shape, dtype=np.int64)).reshape(shape))
        flat = call("reshape", base, [-1])
        flat = call("set_item", flat, places.reshape(-1), call("reshape", new, [-1]))
        made: Tensor = call("reshape", flat, shape)
        return made

    return backward


def _as_before(base: Tensor, new: Tensor) -> Tensor:
    """Return new elements, one after the other, in the shape of an array."""
    made: Tensor = call("reshape", new, call("shape", base))
    return made


def _of_other_dtype(
    name: str, made: Tensor, again: Callable[[Any], Any], dtype: Any
) -> Callable[[Tensor, Tensor], Tensor]:
    if name in (_REAL, _IMAG):
        return lambda base, new: call(f"set_{name}", base, new)
    if name == np.ndarray.getfield.__name__:
        element = np.zeros((), dtype)
        offset = again(element).ctypes.data - element.ctypes.data
        return lambda base, new: call("set_field", base, new, made.dtype, offset)
    if name == np.ndarray.view.__name__:
        return lambda base, new: new.view(dtype)

    def backward(base: Tensor, new: Tensor) -> Tensor:
        raise TypeError(
            f"a view of another dtype is written to in place: give {dtype} values to the array itself [AL016]"
        )

    return backward
