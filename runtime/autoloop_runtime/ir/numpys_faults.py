"""What NumPy says of a call that ours refuses: its own error, where that depends on no value.

Our functions find the faults that NumPy finds, though not always in its order, or of its type and words: a split along
an axis that is not there is an ``IndexError`` to NumPy. Some calls that they cannot make are no faults at all. NumPy's
function is asked, twice, with other elements in place of what only the run computes, and other extents of axes of which
only the run knows how many: what it says both times it says of the call. What it takes both times, plain Python may
run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..base.stand_ins import (
    SeenByOthers,
    ShownByRun,
    UnknownExtent,
    UnknownWhileTracing,
    in_numpys_words,
    is_in_numpys_words,
)
from .array_layouts import is_writeable
from .tensor import Tensor

#: what NumPy and Python say of arguments
_FAULTS = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RuntimeError)
_REFUSALS = (UnknownWhileTracing, UnknownExtent, ShownByRun, SeenByOthers, NotImplementedError, RecursionError)
#: what a question may hold besides arrays: nothing that it uses up, changes or calls
_HARMLESS = frozenset((bool, int, float, complex, str, bytes, type, type(None), type(Ellipsis), range))
_LARGEST = 1_000_000
_MOST_QUESTIONS = 2


class _NoQuestion(Exception):
    """An argument that NumPy cannot be asked about."""


def numpys_word(
    theirs: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    error: Exception,
    handed: Callable[[Tensor, Any], Any],
) -> Exception:
    """Return what is raised in place of an error of ours.

    Parameters
    ----------
    theirs : callable
        NumPy's function.
    args, kwargs
        Its arguments: arrays and Python numbers of the user's, also ones that only the run knows.
    error : Exception
        What ours has raised of them.
    handed : callable
        Takes what stands for a value of the user's and an array, and returns this as the user would have it.
    """
    answers = _answers(theirs, args, kwargs, error, handed)
    if answers is None:
        return error
    first, second = answers
    if isinstance(first, np.linalg.LinAlgError) and not isinstance(error, np.linalg.LinAlgError):
        return UnknownWhileTracing(str(error))  # of the elements, which have no inverse
    if first is None or not _is_same(first, second):
        # it takes such arguments, or what it says is of the elements
        return error if is_in_numpys_words(error) else UnknownWhileTracing(str(error))
    return in_numpys_words(first)


def pythons_word(
    theirs: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    error: Exception,
    handed: Callable[[Tensor, Any], Any],
) -> Exception:
    """Return what is raised in place of an error of ours: Python's, where it raises that of such arguments; see
    :func:`numpys_word`."""
    first, second = _answers(theirs, args, kwargs, error, handed) or (None, None)
    return in_numpys_words(first) if first is not None and _is_same(first, second) else error


def _answers(
    theirs: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    error: Exception,
    handed: Callable[[Tensor, Any], Any],
) -> list[Exception | None] | None:
    """Return what a function raises of such arguments, of two sets of elements; None if it cannot be asked."""
    if not isinstance(error, _FAULTS) or isinstance(error, _REFUSALS):
        return None
    said = []
    for k in range(_MOST_QUESTIONS):
        try:
            given = [_like(one, k, handed) for one in args]
            named = {name: _like(one, k, handed) for name, one in kwargs.items()}
        except _NoQuestion:
            return None
        said.append(_raised(theirs, given, named))
    return said


def _is_same(first: Exception, second: Exception | None) -> bool:
    return type(first) is type(second) and str(first) == str(second)


def _raised(theirs: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Exception | None:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            theirs(*args, **kwargs)
    except Exception as error:
        return error.with_traceback(None)
    return None


def _like(value: Any, k: int, handed: Callable[[Tensor, Any], Any]) -> Any:
    """Return what stands for an argument in the question ``k``."""
    if isinstance(value, Tensor):
        if value.shape.rank is None or value.dtype.kind not in "biufc":
            raise _NoQuestion
        extents = [2 + k if extent is None else extent for extent in value.shape.as_list()]
        size = int(np.prod(extents, dtype=float))
        if size > _LARGEST:
            raise _NoQuestion
        # of which the second make regular matrices, and are no ones where they stand alone
        elements = np.arange(size) ** 2 % 5 + 1 + (size == 1) if k else np.ones(size)
        made = handed(value, elements.astype(value.dtype).reshape(extents))
        return _locked(made, not getattr(value, "is_writeable", True))
    own = type(value)
    if own is slice:
        return slice(*[_like(one, k, handed) for one in (value.start, value.stop, value.step)])
    if own in (list, tuple):
        return own([_like(one, k, handed) for one in value])
    if own is np.ndarray and value.dtype.kind in "biufcSU" and value.size <= _LARGEST:
        return _locked(value.copy(), not is_writeable(value))
    if own in _HARMLESS or isinstance(value, (np.dtype, np.generic, type)):
        return value
    raise _NoQuestion


def _locked(array: Any, is_read_only: bool) -> Any:
    if is_read_only and isinstance(array, np.ndarray):
        array.flags.writeable = False
    return array
