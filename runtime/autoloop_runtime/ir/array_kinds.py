"""Arrays that are more than numbers in a grid: masked, labelled, structured, of dates, text and objects.

What makes them more would get lost, so they are refused by name, with what to give instead.

And arrays that are not in this process's memory: computed later, or on another device. A function that computes at once
would have to fetch one. Instead it is called again, in a graph that has such arrays as inputs, and gives what their
library makes of them.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FrameType
from typing import Any, TypeVar, cast

import numpy as np

from ..base.callbacks import origin_of
from .followers import IN_FORCE
from .op import call

_F = TypeVar("_F", bound=Callable[..., Any])

#: kinds of dtypes that tensors have
NUMBERS = frozenset("biufc")
_BY_KIND = {
    "M": "an array of dates (dtype {0}), which tensors do not hold; give numbers, x.astype('int64')",
    "m": "an array of time differences (dtype {0}), which tensors do not hold; give numbers, x.astype('int64')",
    "O": "an array of Python objects, which tensors do not hold; give one of numbers, x.astype(float)",
    "S": "an array of bytes (dtype {0}), which tensors do not hold; give numbers, x.view('uint8')",
    "T": "an array of text (dtype {0}), which tensors do not hold; give numbers",
    "U": "an array of text (dtype {0}), which tensors do not hold; give numbers",
    "V": "an array of raw bytes (dtype {0}), which tensors do not hold; give numbers, x.view('uint8')",
}
#: libraries whose arrays have labels, by which their operators align them
_LABELLED = frozenset(("pandas", "xarray", "polars"))


def is_plain(value: np.ndarray[Any, Any]) -> bool:
    """Return whether an array is nothing but numbers in a grid."""
    return type(value) is np.ndarray and value.dtype.kind in NUMBERS


def strangeness(value: Any) -> str | None:
    """Return what an array is that tensors cannot stand for, and what to give instead; None for all other values."""
    if issubclass(type(value), np.ndarray):
        return None if is_plain(value) else _of_array(value)
    if issubclass(type(value), np.generic):
        kind = value.dtype.kind
        return None if kind in NUMBERS or kind in "SU" else _of_dtype(value.dtype)
    if is_labelled(value):
        name = f"{origin_of(type(value))}.{type(value).__name__}"
        if not hasattr(value, "to_numpy"):  # as a Dataset of xarray's
            return f"a {name}, which holds several arrays with labels; give those that are needed, x['name'].to_numpy()"
        return f"a {name}, whose labels would be lost; give its values, x.to_numpy()"
    return None


def is_labelled(value: Any) -> bool:
    """Return whether something is an array or table with labels, by which its operators align it."""
    return origin_of(type(value)) in _LABELLED and hasattr(value, "__array__")


def _of_array(value: np.ndarray[Any, Any]) -> str | None:
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array, whose mask would be lost; give x.filled(value), or x.data and x.mask as two arrays"
    if isinstance(value, np.matrix):
        return "a numpy.matrix, whose operators mean other things; give numpy.asarray(x)"
    if value.dtype.kind not in NUMBERS:
        return _of_dtype(value.dtype)
    if isinstance(value, np.memmap):
        return None  # only its memory is special
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    return f"a {name}, which is a subclass of numpy.ndarray with a meaning of its own; give numpy.asarray(x)"


def _of_dtype(dtype: np.dtype[Any]) -> str:
    if dtype.names is not None:
        return (
            f"a structured array (fields {', '.join(dtype.names)}); give its fields one by one, x[{dtype.names[0]!r}]"
        )
    return _BY_KIND[dtype.kind].format(dtype)


# -- arrays that are elsewhere ---------------------------------------------------------------------------------

_PYTHONS = {bool, int, float, complex}
#: the class of tensors of such arrays, as soon as there is one: those who compute at once look for it then; adding is
#: atomic
LATER: set[type] = set()
_OURS = ("autoloop", "autoloop_runtime")


class GivenElsewhere(Exception):
    """A public function that computes at once was given such an array."""


def is_elsewhere(value: Any) -> bool:
    """Return whether ``value`` is an array that is computed later, or lies on another device."""
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return False
    if hasattr(type(value), "__dask_graph__"):
        return True
    device = getattr(value, "device", None)
    return device is not None and "cpu" not in str(device).lower()


def holds_elsewhere(values: Sequence[Any]) -> bool:
    """Return whether there is one among values, or in a list among them."""
    kinds = set(map(type, values))
    if kinds <= _PYTHONS:
        return False
    return any(holds_elsewhere(v) if isinstance(v, (list, tuple)) else is_elsewhere(v) for v in values)


def leave_elsewhere() -> None:
    """Let the public function that has called have the library compute, if one has, and nobody follows what it gives;
    no graph is being built.

    Raises
    ------
    GivenElsewhere
    """
    if not IN_FORCE.get() and _is_in_public(sys._getframe(1)):
        raise GivenElsewhere


def catching(f: _F) -> _F:
    """State of a public function that it catches ``GivenElsewhere`` itself, and gives ``computed_elsewhere`` then; that
    costs no call more."""
    _CODES.add(f.__code__)
    return f


def computed_elsewhere(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what the public function ``f`` gives, which has caught ``GivenElsewhere``; or raise that again for the
    public function that has called it."""
    if _is_in_public(sys._getframe(2)):
        raise  # noqa: PLE0704, what was caught
    try:
        return call("computed_elsewhere", f, args, kwargs)
    except Exception as error:
        error.__suppress_context__ = True  # nobody is to read of what was caught
        raise


def computing(f: _F) -> _F:
    """Return the public function ``f``, which leaves arrays that are elsewhere there."""
    if f.__code__ in _CODES:
        return f

    @functools.wraps(f)
    def public(*args: Any, **kwargs: Any) -> Any:
        # it may be called twice, and what can be gone through once is empty then
        if args and hasattr(type(args[0]), "__next__"):
            args = [*args[0]], *args[1:]
        if kwargs:
            kwargs = {name: [*one] if hasattr(type(one), "__next__") else one for name, one in kwargs.items()}
        try:
            return f(*args, **kwargs)
        except GivenElsewhere:
            return computed_elsewhere(f, *args, **kwargs)

    return cast("_F", catching(public))


#: of public functions; added to while modules are imported
_CODES: set[CodeType] = set()


def _is_in_public(frame: FrameType | None) -> bool:
    """Return whether a public function has called, with nothing between but this package."""
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        if frame.f_code in _CODES:
            return True
        frame = frame.f_back
    return False
