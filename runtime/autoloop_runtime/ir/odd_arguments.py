"""Arguments of a type that their parameters have no use for: NumPy is asked what it says of them.

``keepdims="yes"``, ``axis=True`` or ``ndmin=1.5`` are faults of the program, or what only NumPy knows a meaning of.
Its own function tells the two apart, called with arrays of ones in place of what only the run computes.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..base.parsing import signature_of
from ..base.stand_ins import UnknownWhileTracing, in_numpys_words

_ABSENT: Any = getattr(np, "_NoValue", None)
_INTEGER = (int, np.integer)
_REAL = (int, float, np.integer, np.floating)
_ARRAY_LIKE = (list, tuple, np.ndarray, np.generic)
#: parameter -> the types of what it is given, where its default does not say them
_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("N", "M", "n", "num", "minlength"), _INTEGER),
    **dict.fromkeys(("ddof", "correction"), _REAL),
    **dict.fromkeys(("UPLO", "kind", "mode", "norm", "order", "requirements", "side"), (str,)),
    **dict.fromkeys(("rcond", "rtol", "tol"), (*_REAL, np.ndarray)),
    **dict.fromkeys(("left", "period", "right"), (*_REAL, complex, np.generic)),
    "axes": (), "axis": (), "dtype": (type, np.dtype, str), "initial": (*_REAL, bool, complex, np.generic),
    "default": (*_REAL, bool, complex, *_ARRAY_LIKE), "keepdims": (bool,), "mean": (*_REAL, *_ARRAY_LIKE),
    "optimize": (bool,), "ord": (*_REAL, str), "where": (bool, np.bool_, list, tuple, np.ndarray),
}  # fmt: skip
#: type of a default -> the types of what is given in its place
_TYPES_LIKE: dict[type, tuple[type, ...]] = {
    bool: (bool, np.bool_), int: (*_INTEGER, *_ARRAY_LIKE), float: (*_REAL, complex, *_ARRAY_LIKE),
}  # fmt: skip
#: of which an int is an int alone, though others of NumPy's parameters with such defaults take arrays
_ALONE = frozenset(
    ("axis1", "axis2", "axisa", "axisb", "axisc", "count", "edge_order", "k", "ndmax", "ndmin", "offset")
)
#: what means the same here whatever NumPy takes it for: what is handed to its own function, or changes no value
_TAKEN_AS_IT_IS = frozenset(("optimize", "requirements", "subok"))
_ORDERS = ("C", "F", "A", "K")
#: functions that ask arguments for what only arrays have -> which
_OF_ARRAYS: dict[Any, tuple[int, ...]] = {
    **dict.fromkeys((np.array2string, np.array_repr, np.array_str, np.isfortran, np.rollaxis), (0,)),
    **dict.fromkeys((np.diag_indices_from, np.tril_indices_from, np.triu_indices_from, np.fill_diagonal), (0,)),
    **dict.fromkeys((np.split, np.dsplit, np.hsplit, np.vsplit), (0,)),
    **dict.fromkeys((np.put_along_axis, np.take_along_axis), (0, 1)), np.insert: (1,),
    **{getattr(np, name): (0,) for name in ("astype", "unstack") if hasattr(np, name)},  # of newer versions
}  # fmt: skip


def asked_for_attributes(theirs: Any) -> tuple[int, ...]:
    """Return the places of the arguments that a function asks for what lists and Python's numbers have not."""
    try:
        return _OF_ARRAYS.get(theirs, ())
    except TypeError:  # not hashable
        return ()


def ask_for_attributes(theirs: Any, places: tuple[int, ...], args: Any, kwargs: Mapping[str, Any]) -> None:
    """Raise the ``AttributeError`` of a function that is given a list or a number in place of an array."""
    names = _names(theirs)
    asked = [args[k] if k < len(args) else kwargs.get(names[k]) for k in places]
    if not any(isinstance(one, (list, tuple, bool, int, float, complex)) or _is_number(one) for one in asked):
        return
    try:
        given, named = list(map(_like, args)), {key: _like(one) for key, one in kwargs.items()}
    except (TypeError, ValueError):
        return
    error = _raised(theirs, given, named)
    if isinstance(error, AttributeError):
        raise in_numpys_words(error)


def unusual(names: Mapping[str, Any], place: Mapping[int, str], args: Any, kwargs: Mapping[str, Any]) -> str | None:
    """Return the name of an argument that is of no type its parameter usually has; None if there is none.

    Parameters
    ----------
    names, place : mapping
        The parameters that can be left out with their defaults, and where they stand.
    args, kwargs
        The arguments.
    """
    for k, value in enumerate(args):
        if k in place and not _is_usual(place[k], value, names[place[k]]):
            return place[k]
    for name, value in kwargs.items():
        if not _is_usual(name, value, names.get(name)):
            return name
    return None


def _is_usual(name: str, value: Any, default: Any) -> bool:
    if value is None or value is default or value is _ABSENT:
        return True
    if _is_staged(value):
        return _may_be_staged(name, value, default)
    if name in ("axes", "axis"):
        return _are_integers(value, is_alone=name == "axis" and isinstance(default, int))
    if name == "order" and value not in _ORDERS:
        return False
    if name == "where" and isinstance(value, np.ndarray):
        return bool(value.dtype == np.bool_)
    by_default = _INTEGER if name in _ALONE else _TYPES_LIKE.get(type(default))
    types = by_default if type(default) is bool else _TYPES.get(name) or by_default
    if types is None or (name == "dtype" and not isinstance(value, (list, dict, tuple))):
        return True
    if isinstance(value, bool) and bool not in types and type(default) is not float:
        return False
    return isinstance(value, types)


def _may_be_staged(name: str, value: Any, default: Any) -> bool:
    """Return whether what only the run knows is of a kind that a parameter takes: no dtype or text is, and a number
    that has to be an integer says whether it is one."""
    types = _TYPES.get(name)
    if name == "dtype" or types == (str,):
        return False
    if type(default) is bool and name != "where":
        return bool(value.dtype.kind in "biu")
    wants_int = (name in _ALONE and type(default) is int) or types == _INTEGER
    return not wants_int or (value.dtype.kind in "iu" and not (_is_number(value) and value.dtype.kind == "b"))


def _are_integers(value: Any, is_alone: bool = False) -> bool:
    if isinstance(value, (tuple, list)):
        return not is_alone and (type(value) is tuple or len(value) > 0) and all(map(_are_integers, value))
    if _is_staged(value):  # of which the numbers that stand for it in a question say nothing
        return bool(value.dtype.kind in "iu" and not value.shape.rank)
    return isinstance(value, _INTEGER) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    """Return whether a value stands for a number of Python's."""
    return getattr(type(value), "is_pythons", False)


def _is_staged(value: Any) -> bool:
    return hasattr(type(value), "__array_function__") and not isinstance(value, np.ndarray | np.generic)


@functools.cache
def _names(signed: Any) -> list[str]:
    return list(signature_of(signed).parameters)


@functools.cache
def parameters_of(signed: Any) -> tuple[dict[str, Any], dict[int, str]]:
    """Return the parameters of a function that can be left out, with their defaults, and where those stand."""
    parameters = list(signature_of(signed).parameters.values())
    defaults = {one.name: one.default for one in parameters if one.default is not inspect.Parameter.empty}
    by_place = {}
    for k, one in enumerate(parameters):
        if one.kind not in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
            break
        if one.name in defaults:
            by_place[k] = one.name
    return defaults, by_place


def ask(theirs: Callable[..., Any], name: str, place: Mapping[int, str], args: Any, kwargs: Mapping[str, Any]) -> None:
    """Raise what NumPy raises of the argument ``name``.

    Raises
    ------
    UnknownWhileTracing
        If it takes it, or cannot be asked.
    """
    said = f"numpy.{theirs.__name__}: what {name!r} means here NumPy alone knows"
    if any(callable(one) and not isinstance(one, type) for one in (*args, *kwargs.values())):
        raise UnknownWhileTracing(said)
    try:
        given = [_like(one) for one in args]
        named = {key: _like(one) for key, one in kwargs.items()}
    except (TypeError, ValueError):
        raise UnknownWhileTracing(said) from None
    at = next((k for k in place if place[k] == name), len(args))
    value = kwargs[name] if name in kwargs else args[at]
    if name == "dtype" and _is_staged(value) and value.shape != ():
        return  # refused in NumPy's words where the dtype is read
    if _holds_staged(value):  # what is wrong with it may be the numbers that stand for those of the run
        raise UnknownWhileTracing(said)
    error = _raised(theirs, given, named)
    if error is None:
        if name in _TAKEN_AS_IT_IS or _means_here(name, value):
            return
        raise UnknownWhileTracing(said)
    named.pop(name, None)
    if isinstance(error, np.linalg.LinAlgError) or _raised(theirs, given[:at], named) is not None:  # of the ones
        raise UnknownWhileTracing(said)
    raise in_numpys_words(error)


def _means_here(name: str, value: Any) -> bool:
    """Return whether what NumPy takes means the same here: an int for a truth value, edges of bins or their rule."""
    if name == "keepdims":
        return isinstance(value, (*_INTEGER, np.bool_))
    return name == "bins" and not isinstance(value, bool) and np.size(value) > 0


def _raised(theirs: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Exception | None:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            theirs(*args, **kwargs)
    except Exception as error:
        return error.with_traceback(None)
    return None


def _holds_staged(value: Any) -> bool:
    return any(map(_holds_staged, value)) if isinstance(value, (list, tuple)) else _is_staged(value)


def _like(value: Any) -> Any:
    """Return what stands for a value in the question: an array of ones, for one that only the run knows."""
    if _is_number(value):
        return value.dtype.type(3).item()
    if _is_staged(value):
        extents = [2 if extent is None else extent for extent in value.shape.as_list()]
        return np.broadcast_to(value.dtype.type(1), extents).copy() if extents else value.dtype.type(3)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_like, value))
    if isinstance(value, np.ndarray):
        return value.copy()
    if hasattr(value, "__next__"):
        raise TypeError("what is used up by looking at it")
    return value
