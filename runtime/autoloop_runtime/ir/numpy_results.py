"""Which results of NumPy's without axes are arrays, ``array(1)``, scalars, ``np.int64(1)``, or Python's numbers.

Ufuncs, reductions and indices give scalars; what makes an array of its argument, or puts its elements elsewhere, gives
arrays: of scalars, too, or only of arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base import nest
from ..base.stand_ins import UnknownWhileTracing
from .convert import is_number
from .numpy_protocols import NUMPY_NUMBERS
from .tensor import Tensor

#: functions that give arrays, whatever they are given
_ALWAYS = frozenset((
    np.append, np.argsort, np.array, np.asarray, np.asanyarray, np.asarray_chkfinite, np.block, np.broadcast_arrays,
    np.broadcast_to, np.column_stack, np.concatenate, np.copy, np.cov, np.cross, np.dstack, np.empty, np.empty_like,
    np.expand_dims, np.full, np.full_like, np.hstack, np.i0, np.isin, np.ones, np.ones_like, np.piecewise,
    np.real_if_close, np.repeat, np.require, np.resize, np.select, np.stack, np.tensordot, np.linalg.tensordot, np.tile,
    np.vstack, np.where, np.zeros, np.zeros_like, np.linalg.cross, np.apply_along_axis, np.pad, np.roll, np.unique,
    np.unique_all, np.unique_inverse, np.linalg.tensorsolve,
))  # fmt: skip
#: the same of parts of NumPy's and SciPy's that are loaded where somebody asks for them; filled as modules load
#: (under the import lock)
GIVE_ARRAYS: set[Any] = set()
#: functions that give texts of Python's
_TEXTS = frozenset((
    np.array2string, np.array_repr, np.array_str, np.format_float_positional, np.format_float_scientific,
))  # fmt: skip
#: functions that give scalars of scalars, and arrays of arrays, lists and Python's numbers
_OF_ARRAYS = frozenset((
    np.imag, np.matrix_transpose, np.moveaxis, np.permute_dims, np.real, np.reshape, np.squeeze, np.swapaxes,
    np.transpose, np.trim_zeros, np.astype,
))  # fmt: skip
#: those where weights choose an element
_WEIGHTED = frozenset((np.percentile, np.quantile, np.nanpercentile, np.nanquantile))
#: functions whose counterparts say themselves what they give; filled while modules are imported
OWN_KINDS: set[Any] = set()
#: methods and attributes that do the same
METHODS_OF_ARRAYS = frozenset(
    ("T", "astype", "byteswap", "conj", "conjugate", "copy", "imag", "mT", "real", "reshape", "squeeze", "swapaxes")
    + ("transpose", "view")
    + ("argsort",)
)


def is_array(value: Any, without_axes: type[Tensor]) -> bool:
    """Return whether a value is surely an array to NumPy; of tensors without axes those of type ``without_axes`` are,
    and of those of which only the run knows whether they have some."""
    if isinstance(value, Tensor):
        return isinstance(value, without_axes) or value.shape.rank not in (0, None)
    return isinstance(value, np.ndarray)


def _is_pythons(value: Any) -> bool:
    """Return whether a value is a list or number of Python's, which NumPy makes an array of."""
    if isinstance(value, Tensor):
        return not hasattr(value, "is_scalar")
    return isinstance(value, list | tuple) or is_number(value)


def gives_number(theirs: Any, args: tuple[Any, ...]) -> bool:
    """Return whether a function of NumPy's gives a number of Python's."""
    if theirs is np.linalg.matrix_rank:  # which does not compute that of a vector
        return bool(args) and _has_no_columns(args[0])
    return theirs in NUMPY_NUMBERS


def _has_no_columns(value: Any) -> bool:
    """Return whether a value is a number or a vector to NumPy."""
    if isinstance(value, list | tuple):
        return all((one.shape.rank if isinstance(one, Tensor) else np.ndim(one)) == 0 for one in value)
    return isinstance(value, Tensor) and value.shape.rank in (0, 1)


def gives_array(theirs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], without_axes: type[Tensor]) -> bool:
    """Return whether a function of NumPy's gives arrays where its results have no axes."""
    try:
        if theirs in _ALWAYS or theirs in GIVE_ARRAYS:
            return True
        if theirs in _WEIGHTED:
            return kwargs.get("weights") is not None
        return theirs in _OF_ARRAYS and bool(args) and (_is_pythons(args[0]) or is_array(args[0], without_axes))
    except TypeError:  # not hashable
        return False


#: methods of the scalars that are Python floats, too -> the op whose result they make an int of
WHOLE = {"__floor__": "floor", "__ceil__": "ceil", "__trunc__": "trunc"}


def lacking(kind: type, name: str) -> AttributeError:
    """Return what Python raises where a value of a type is asked for what it does not have."""
    where = f"{kind.__module__}." if kind.__module__ == "numpy" else ""
    return AttributeError(f"'{where}{kind.__name__}' object has no attribute {name!r}", name=name, obj=kind)


def own(theirs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], made: Any) -> Any:
    """Return what a function of NumPy's made; an array of its own where that is an argument.

    The first power of a matrix, and what is changed in place, are the argument to NumPy, too.
    """
    if theirs is np.linalg.matrix_power or not any(made is one for one in args):
        return made
    is_changed = theirs is np.nan_to_num and not (args[1] if len(args) > 1 else kwargs.get("copy", True))
    return made if is_changed or not isinstance(made, Tensor) else made.plain


def gives_text(theirs: Any) -> bool:
    """Return whether a function of NumPy's gives a text of Python's."""
    return theirs in _TEXTS


def taken(arrays: Any, made: Any, text: type, is_numpys: bool = False) -> Any:
    """Return what was taken out of arrays, or made of them; a text that a run makes is a ``text``.

    ``is_numpys``: of a function that gives a ``numpy.str_``, or an array without axes, whatever it was given.

    Raises
    ------
    TypeError
        If it is an element of an array of texts, a ``numpy.str_`` to the user: those that a run makes are Python's.
    """
    if type(made) is text and (is_numpys or any(map(_is_of_texts, nest.flatten(arrays)))):
        raise UnknownWhileTracing(
            "an element of an array of texts, a numpy.str_, is chosen here by what only the run knows: choose among "
            "the elements of a list, x.tolist()[i]"
        )
    return made


def _is_of_texts(value: Any) -> bool:
    is_array = isinstance(value, np.ndarray | np.str_) or (isinstance(value, Tensor) and value.shape.rank != 0)
    return is_array and value.dtype.kind == "U"
