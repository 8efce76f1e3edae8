"""Element types, and the one promotion table: NumPy's.

Types are NumPy dtypes, and what two of them make is what ``numpy.result_type`` says. Python numbers are *weak*: they
take the dtype of what they meet, unless that has not their kind (an int with booleans is int64, a float with integers
float64, a complex with floats the complex of their width). NumPy's scalars are as strong as its arrays.

A Python number that meets nothing becomes a tensor of the constructors' default dtype.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, lru_cache
from typing import Any, TypeAlias

import numpy as np

from .locations import capture
from .stand_ins import UnknownWhileTracing

DType: TypeAlias = np.dtype[Any]
#: what an operand brings to the dtype of a result: its dtype, or the type of the Python number that it is
Kind: TypeAlias = DType | type

bool_: DType = np.dtype(np.bool_)
int8: DType = np.dtype(np.int8)
int16: DType = np.dtype(np.int16)
int32: DType = np.dtype(np.int32)
int64: DType = np.dtype(np.int64)
uint8: DType = np.dtype(np.uint8)
uint16: DType = np.dtype(np.uint16)
uint32: DType = np.dtype(np.uint32)
uint64: DType = np.dtype(np.uint64)
float16: DType = np.dtype(np.float16)
float32: DType = np.dtype(np.float32)
float64: DType = np.dtype(np.float64)
complex64: DType = np.dtype(np.complex64)
complex128: DType = np.dtype(np.complex128)
string: DType = np.dtype(np.str_)
#: values that are Python objects of the runtime's own (TensorArrays); never computed with
variant: DType = np.dtype(object)

#: what a Python number becomes when it stands alone
DEFAULTS: dict[type, DType] = {bool: bool_, int: int32, float: float32, complex: complex128, str: string}


def as_dtype(value: np.dtype[Any] | type[Any] | str | None) -> DType:
    """Return the NumPy dtype that ``value`` names (``TypeError`` if none), in the byte order of this machine.

    Parameters
    ----------
    value : dtype-like

    Returns
    -------
    dtype

    Examples
    --------
    >>> al.as_dtype("float32")
    dtype('float32')
    """
    if isinstance(value, np.dtype):
        return value if is_own(value) else _own(value)
    if value is None:
        raise TypeError("a dtype is needed, got None [AL201]")
    try:
        return _own(np.dtype(value))
    except TypeError:
        raise TypeError(f"{value!r} is not a dtype; use autoloop.float32, 'float32' or a NumPy dtype [AL201]") from None


#: the numbers of NumPy's types that are as another one, but for their class: where C's long is as wide as its long
#: long, ``np.longlong`` equals int64, ``x[0]`` of such an array is no ``np.int64`` though
_SECOND = frozenset({
    one.num for one in map(np.dtype, np.typecodes["AllInteger"] + np.typecodes["AllFloat"])
    if np.dtype(one.str).num != one.num
})  # fmt: skip


def is_own(dtype: DType) -> bool:
    """Return whether graphs have a dtype as it is: in the byte order of this machine, and not a second one of its
    width."""
    return dtype.isnative and dtype.num not in _SECOND


def strange_dtype(dtype: DType) -> str:
    """Return what a dtype is that is not :func:`is_own`, for messages."""
    if not dtype.isnative:
        return f"dtype {dtype.str!r}, another byte order than this machine's"
    return f"dtype numpy.{dtype.type.__name__}, a type of its own that equals {dtype.name}"


def own_dtype(dtype: DType) -> str:
    """Return how the dtype is spelled that stands in the place of one that is not :func:`is_own`."""
    return repr(dtype.newbyteorder("=").name)


def _own(dtype: DType) -> DType:
    native = dtype.newbyteorder("=")
    return np.dtype(native.str) if native.num in _SECOND else native


def of_numbers(value: Any) -> DType:
    """Return the dtype that NumPy understands by ``value``: ``float`` and ``int`` are 64 bits wide.

    Raises
    ------
    TypeError
        If its elements are no numbers, or lie in memory in the order of another machine, or it is an array.
    """
    is_array = hasattr(type(value), "__array_ufunc__") and getattr(value, "shape", ()) != ()
    if is_array or getattr(value, "is_scalar", True) is False:  # one without axes is no scalar
        raise TypeError("Cannot construct a dtype from an array")  # in NumPy's words, which would ask for its dtype
    if _stands_for_number(value):  # to NumPy, which would ask what stands for it
        raise UnknownWhileTracing("a number of Python's is no dtype: write x.dtype, or float")
    made: DType = np.dtype(value)
    if made.kind not in "biufc":
        raise UnknownWhileTracing(f"tensors hold numbers, nothing of dtype {made}: convert what the call gives")
    if not made.isnative:
        raise TypeError(
            f"tensors have this machine's byte order, not that of dtype {made.str!r}: swap what the call gives [AL201]"
        )
    if not is_own(made):
        raise UnknownWhileTracing(f"no tensor is of {strange_dtype(made)}: write {own_dtype(made)}")
    return made


def _stands_for_number(value: Any) -> bool:
    """Return whether a value stands for a number of Python's, or has a part that stands for a number or an array."""
    if isinstance(value, (list, tuple)):
        return any(_stands_for_number(one) or hasattr(type(one), "__array_ufunc__") for one in value)
    return getattr(type(value), "is_pythons", False)


def is_integer(dtype: DType) -> bool:
    """Return true for signed and unsigned integers (bool is none)."""
    return dtype.kind in "iu"


def is_floating(dtype: DType) -> bool:
    """Return true for real floating types."""
    return dtype.kind == "f"


def is_inexact(dtype: DType) -> bool:
    """Return true for real and complex floating types."""
    return dtype.kind in "fc"


def complex_of(dtype: DType) -> DType:
    """Return the complex dtype whose parts have the width of ``dtype``."""
    if dtype.kind == "f" and dtype.itemsize > 8:
        return np.dtype(np.clongdouble)
    return complex128 if dtype.itemsize > 4 else complex64


def real_of(dtype: DType) -> DType:
    """Return the dtype of the parts of a complex dtype; a real dtype is its own."""
    if dtype.kind != "c":
        return dtype
    if dtype.itemsize > 16:
        return np.dtype(np.longdouble)
    return float64 if dtype == complex128 else float32


#: a Python number of each type, for NumPy to look at
_SAMPLES: dict[type, complex] = {bool: False, int: 0, float: 0.0, complex: 0j}


@lru_cache(maxsize=4096)
def result_type(*kinds: Kind) -> DType:
    """Return what ``numpy.result_type`` makes of dtypes and of types of Python numbers, at least one dtype among them.

    Raises
    ------
    TypeError
        If there is none; the message names the dtypes.
    """
    texts = [isinstance(k, np.dtype) and k.kind == "U" for k in kinds]
    try:
        if any(texts) and not all(texts):
            raise TypeError
        made: DType = np.result_type(*[_SAMPLES[k] if isinstance(k, type) else k for k in kinds])
    except TypeError:
        listed = " and ".join(getattr(k, "__name__", None) or str(k) for k in kinds)
        raise TypeError(f"dtypes {listed} do not combine; cast one of them, e.g. cast(x, float64) [AL202]") from None
    return made


@cache
def dtype_name(dtype: DType) -> str:
    """Return a dtype as generated code names it."""
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


@cache
def bounds(dtype: DType) -> tuple[int, int]:
    """Return the least and the greatest number of an integer type."""
    info = np.iinfo(dtype)
    return info.min, info.max


def check_fits(number: int, dtype: DType) -> None:
    """Raise ``OverflowError`` if ``dtype`` is an integer type that does not hold ``number``."""
    if dtype.kind in "iu":
        least, most = bounds(dtype)
        if not least <= number <= most:
            raise OverflowError(
                f"Python integer {number} out of bounds for {dtype} "
                f"({least}..{most}); give a wider dtype, e.g. dtype=int64 [AL203]"
            )


def takes(dtype: DType, number: complex) -> bool:
    """Return whether a Python number can have ``dtype`` without losing its kind."""
    kinds = {bool: "b", int: "iufc", float: "fc", complex: "c"}
    return dtype.kind in next(k for t, k in kinds.items() if isinstance(number, t))


#: what NumPy says where imaginary parts are left out: once for each line that is traced, which it names
_DISCARDED = "Casting complex values to real discards the imaginary part"


def warn_of_discarded(given: DType, wanted: DType) -> None:
    """Give NumPy's warning of an array of one dtype that is made one of another, at the user's line."""
    if given.kind != "c" or wanted.kind not in "iuf":
        return
    location = capture()
    filename, line = (location[-1].filename, location[-1].lineno) if location else (__file__, 1)
    warnings.warn_explicit(_DISCARDED, np.exceptions.ComplexWarning, filename, line)


def quiet_about_discarded(given: DType) -> AbstractContextManager[None]:
    """Return a context manager in which functions are tried on arrays of a dtype without that warning."""
    return _quiet() if given.kind == "c" else nullcontext()


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        yield
