"""Python values as tensors: which dtype they take, and what is refused.

A value becomes a constant of the graph that is growing, or a concrete tensor where none is. Arrays are copied once
and then read-only, so that a tensor never changes with the caller's array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType
from ..base.shapes import ShapeLike, TensorShape
from ..base.stand_ins import NoOperand, UnknownWhileTracing
from .argument_types import ArrayLike, DTypeLike
from .array_kinds import holds_elsewhere, is_elsewhere, leave_elsewhere, strangeness
from .graph import Graph, current_graph
from .op import call, function
from .tensor import Tensor

_NUMBERS = (bool, int, float, complex)
#: what is in this process's memory
_HERE = frozenset((*_NUMBERS, np.ndarray, str))


class TakenArrays:
    """What takes arrays of another library that are elsewhere as inputs of a graph; a record of a root graph.

    Attributes
    ----------
    take : callable or None
        Gives the input that stands for an array, or for a tensor of one if it is told so; None if that is to be a
        constant.
    """

    def __init__(self) -> None:
        self.take: Callable[[Any, bool], Tensor | None] | None = None

    def copy(self) -> TakenArrays:
        """Return one for another graph, which takes none."""
        return TakenArrays()


def _taken(value: Any, graph: Graph | None, is_tensor: bool = False) -> Tensor | None:
    """Return the input of the graph being built that stands for an array, or for a tensor of one; None if that takes
    none."""
    taken = None if graph is None else graph.root.records.get(TakenArrays)
    return None if taken is None or taken.take is None else taken.take(value, is_tensor)


function("taken_elsewhere", _taken)


def _taken_as(taken: Tensor, dtype: DType) -> Tensor:
    """Return such an input in another dtype."""
    as_constant(to_array(np.zeros(1, taken.dtype), dtype))  # says what does not go
    cast: Tensor = call("cast", taken, dtype)
    return cast


def convert_to_tensor(value: ArrayLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Return a tensor of ``value``; a tensor is returned as it is.

    Python numbers become int32, float32, bool or complex128; NumPy arrays and scalars keep their dtype; a
    (nested) list may hold tensors, it is stacked.

    Parameters
    ----------
    value : tensor-like
        A Python number, a list of numbers, an array, a tensor or a ``Variable``.
    dtype : dtype-like, optional
    name : str, optional

    Returns
    -------
    Tensor

    Raises
    ------
    OverflowError
        If an int does not fit the dtype.
    TypeError
        If ``dtype`` is given and ``value`` is a tensor of another one, or ``value`` is no array at all.
    ValueError
        If it is a list of lists of different lengths.

    Examples
    --------
    >>> print(al.convert_to_tensor(np.arange(3)))
    Tensor([0 1 2], shape=(3,), dtype=int64)
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if not isinstance(value, Tensor) and hasattr(type(value), "__autoloop_tensor__"):
        made = getattr(value, "__autoloop_tensor__")  # noqa: B009, which the type of arguments does not know
        value = made()
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype != wanted:
            raise TypeError(
                f"a tensor of dtype {value.dtype} was given where {wanted} is needed; use cast(x, {wanted}) [AL202]"
            )
        return value if type(value) is Tensor else value.plain
    if isinstance(value, (list, tuple)) and (has_tensor(value) or holds_elsewhere(value)):
        # numbers that stand beside tensors take their dtype, straight from what they are
        beside = [v if wanted is None and is_number(v) else convert_to_tensor(v, wanted) for v in value]
        stacked: Tensor = call("stack", beside)
        return stacked
    if is_elsewhere(value):
        graph = current_graph()
        if (taken := _taken(value, graph)) is not None:
            return taken if wanted is None or wanted == taken.dtype else _taken_as(taken, wanted)
        if graph is None:
            leave_elsewhere()
            later: Tensor = call("kept_elsewhere", value)
            return later if wanted is None or wanted == later.dtype else _taken_as(later, wanted)
    return as_constant(to_array(value, wanted), name)


def constant(
    value: ArrayLike, dtype: DTypeLike | None = None, shape: ShapeLike = None, name: str | None = None
) -> Tensor:
    """Return a tensor with a fixed value.

    Parameters
    ----------
    value : number, (nested) list, or array
    dtype : dtype-like, optional
        By default int32, float32, bool or complex128 for Python numbers, the array's own for arrays.
    shape : sequence of int, optional
        The values are laid out in this shape; a single value fills it.

    Returns
    -------
    Tensor

    Raises
    ------
    OverflowError
        If an int does not fit the dtype.
    TypeError
        If ``value`` does not have the kind of ``dtype``.
    ValueError
        If the number of values does not fit ``shape``.

    Examples
    --------
    >>> print(al.constant([1, 2]))
    Tensor([1 2], shape=(2,), dtype=int32)
    >>> print(al.constant(1.5, dtype=al.float64))
    Tensor(1.5, shape=(), dtype=float64)
    """
    if isinstance(value, Tensor) or has_tensor(value) or (type(value) not in _HERE and holds_elsewhere((value,))):
        tensor = convert_to_tensor(value, dtype, name)
        return tensor if shape is None else _reshaped(tensor, shape)
    array = to_array(value, None if dtype is None else dtypes.as_dtype(dtype))
    if shape is not None:
        dims = TensorShape(shape).as_tuple()
        if array.size == 1:
            array = np.full(dims, array)
        elif array.size != np.prod(dims, dtype=np.int64):
            raise ValueError(f"{array.size} values cannot be laid out in shape {TensorShape(dims)} [AL204]")
        array = array.reshape(dims)[()] if not dims else array.reshape(dims)
    return as_constant(array, name)


def _reshaped(tensor: Tensor, shape: Any) -> Tensor:
    reshaped: Tensor = call("reshape", tensor, shape)
    return reshaped


def as_constant(value: Any, name: str | None = None) -> Tensor:
    """Return a tensor of an array: a constant of the default graph, or a concrete tensor."""
    graph = current_graph()
    return Tensor(value) if graph is None else graph.constant(value, name or "Const", waits=True)


def is_number(value: Any) -> bool:
    """Return whether ``value`` is a number of Python's own, which NumPy's scalars are not."""
    return isinstance(value, _NUMBERS) and not isinstance(value, np.generic)


def has_tensor(value: Any) -> bool:
    """Return whether ``value`` is a tensor, or a list with one in it."""
    if isinstance(value, (list, tuple)):
        return any(has_tensor(v) for v in value)
    return isinstance(value, Tensor) or hasattr(type(value), "__autoloop_tensor__")


def to_array(value: Any, dtype: DType | None = None) -> Any:
    """Return an array (0-d ones as NumPy scalars) that nobody else can change.

    See ``convert_to_tensor`` for the dtype and the errors.
    """
    if type(value) is np.ndarray and value.dtype.kind in "biufc" and dtypes.is_own(value.dtype):  # often, and fast
        array = value.copy() if dtype is None else _cast(value, dtype)
        array.flags.writeable = False
        return array if array.shape else array[()]
    if isinstance(value, np.generic) and value.dtype.kind not in "VMmO":
        if dtype is None:
            return value if dtypes.is_own(value.dtype) else value.astype(_own(value.dtype))
        return _cast(np.asarray(value), dtype)[()]
    if isinstance(value, _NUMBERS):
        return _number(value, dtype)
    if value is None:
        raise TypeError("None cannot be converted to a tensor [AL204]")
    is_text = type(value) is np.ndarray and value.dtype.kind in "SU"
    if not is_text and (words := strangeness(value)) is not None:
        raise UnknownWhileTracing(f"{_shown(value)} is {words}")
    array = _nested(value) if not isinstance(value, np.ndarray) else value.copy()
    if array.dtype.kind in "VMm" and (words := strangeness(array)) is not None:  # of a list of such scalars
        raise UnknownWhileTracing(f"{_shown(value)} makes {words}")
    if array.dtype.kind in "biufc" and not dtypes.is_own(array.dtype):
        array = array.astype(_own(array.dtype) if dtype is None else dtypes.as_dtype(array.dtype))
    if array.dtype.kind == "O":
        instead = "; make it a number, float(x)" if hasattr(value, "__float__") else ""
        named = f"{_shown(value)} of type {type(value).__name__}"
        raise NoOperand(f"{named} cannot be converted to a tensor, which holds numbers{instead}").of(value)
    if not isinstance(value, np.ndarray) and not _numpy_inside(value):
        if dtype is not None and dtype.kind in "iu" and array.dtype.kind == "f":
            array = _of_wide_integers(value, array)
        array = _cast(array, dtype or _default(array))
    elif dtype is not None:
        array = _cast(array, dtype)
    if array.ndim == 0:
        return array[()]
    array.flags.writeable = False
    return array


def _own(dtype: DType) -> DType:
    """Return the dtype that graphs have in place of one that is strange to them; in a graph it is refused."""
    if current_graph() is not None:
        raise UnknownWhileTracing(
            f"what is of {dtypes.strange_dtype(dtype)}, meets what only the run knows: "
            f"make it of {dtypes.own_dtype(dtype)}"
        )
    return dtypes.as_dtype(dtype)


def _nested(value: Any) -> np.ndarray[Any, Any]:
    try:
        # not asked for a copy, of which older ``__array__`` s do not know: they may give the array that they hold
        made: np.ndarray[Any, Any] = np.asarray(value)
        return made if isinstance(value, (list, tuple)) else made.copy()
    except RuntimeError as error:
        if not hasattr(type(value), "__array_namespace__"):
            raise
        library, device = type(value).__module__.partition(".")[0], getattr(value, "device", None)
        raise RuntimeError(
            f"the elements of an array of {library} on {device} are asked for, "
            f"and cannot be had here: copy it to this process's memory first, x.to_device(...) [AL612]"
        ) from error
    except ValueError as error:
        refuse_tensors_as_arrays(error)
        if not isinstance(value, (list, tuple)):
            raise
        raise ValueError(
            f"{_shown(value)} is no array: its parts have different lengths (pad them to one length, or keep them "
            f"apart as tensors of their own) [AL204]"
        ) from None


def refuse_tensors_as_arrays(error: Exception) -> None:
    """Raise ``UnknownWhileTracing`` if NumPy says that the ``__array__`` of an object has given it something else.

    While a function is traced that is a tensor, which no array can be made of; in a run it would be an array.
    """
    if "__array__" in str(error) and current_graph() is not None:
        raise UnknownWhileTracing("an object's __array__ gives values that only the run knows") from None


def array_of(value: Any) -> np.ndarray[Any, Any]:
    """Return what NumPy makes of an object, see :func:`refuse_tensors_as_arrays`."""
    try:
        return np.asarray(value)
    except ValueError as error:
        refuse_tensors_as_arrays(error)
        raise


#: what NumPy makes arrays of
_OF_ARRAYS = ("__getitem__", "__array__", "__array_interface__", "__array_struct__", "__buffer__")


def numpys_array(value: Any) -> Any:
    """Return the array that NumPy makes of a sequence, or of what holds some, with its dtype; all else as it is."""
    if isinstance(value, (np.ndarray, np.generic, str, bytes)) or has_tensor(value) or strangeness(value) is not None:
        return value
    if not any(hasattr(type(value), one) for one in _OF_ARRAYS):
        return value
    made = array_of(value)
    return made if made.dtype.kind in "biufc" else value


def _of_wide_integers(value: Any, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return integers as such, of which NumPy makes floats where some have 64 bits and others a sign, or are small."""
    exact = np.array(value, object)
    if (
        not exact.size
        or not all(isinstance(v, int) for v in exact.flat)
        or not 0 <= min(exact.flat) <= max(exact.flat) < 2**64
    ):
        return array
    return exact.astype(np.uint64)


def _shown(value: Any) -> str:
    text = repr(value)
    text = " ".join(text.split()) if "\n" in text else text  # a message is one line
    return text if len(text) <= 60 else text[:57] + "..."


def _number(value: Any, dtype: DType | None) -> Any:
    if dtype is None:
        dtype = dtypes.DEFAULTS.get(type(value)) or dtypes.DEFAULTS[next(t for t in _NUMBERS if isinstance(value, t))]
    if isinstance(value, int):
        dtypes.check_fits(value, dtype)
    elif dtype.kind in "iub" and not float(value.real).is_integer():
        raise TypeError(f"{value!r} is not an integer and dtype {dtype} was asked for [AL202]")
    return dtype.type(value)


def _default(array: np.ndarray[Any, Any]) -> DType:
    """Return the dtype of nested Python numbers."""
    if array.dtype.kind in "iu":
        return dtypes.int32
    if array.dtype.kind == "f":
        return dtypes.float32
    natural: DType = array.dtype
    return natural


def _numpy_inside(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_numpy_inside(v) for v in value)
    return isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__")


def _cast(array: np.ndarray[Any, Any], dtype: DType) -> np.ndarray[Any, Any]:
    if dtype.kind in "iu" and array.dtype.kind in "iu" and array.size:
        dtypes.check_fits(int(array.min()), dtype)
        dtypes.check_fits(int(array.max()), dtype)
    if dtype.kind in "iub" and array.dtype.kind in "fc" and array.size:
        raise TypeError(f"values of dtype {array.dtype} were given where {dtype} is needed; use cast [AL202]")
    return array.astype(dtype)
