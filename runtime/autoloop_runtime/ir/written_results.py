"""``out=`` and methods that change an array, where arrays of the user's take part in a trace.

What NumPy writes to ``out`` is computed as the function's result and then put into the array; tensors are values and
are not written to.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..base.parsing import signature_of
from ..base.stand_ins import UnknownWhileTracing
from .array_attributes import known_layout
from .array_references import References, refuse_cast
from .array_storage import array_written, kept
from .graph import theirs_here
from .numpy_arguments import SIGNATURES, full_name, refuse
from .numpy_protocols import counterpart_of
from .op import call
from .plain_values import of_no_numbers
from .tensor import Tensor

#: functions whose ``out`` has to lie in C order
_IN_ORDER = (np.dot, np.linalg.multi_dot)


@functools.cache
def place_of_out(function: Any) -> int | None:
    """Return at which place a function takes ``out``; None if it does so by name, or not at all."""
    code = getattr(function, "__code__", None)
    if code is not None and not hasattr(function, "__wrapped__"):  # the same answer without the signature's objects
        names = code.co_varnames[: code.co_argcount]
        return names.index("out") if "out" in names else None
    try:
        parameters = signature_of(function).parameters
    except ValueError:
        known = SIGNATURES.get(function)
        if known is None:
            return None
        parameters = signature_of(known).parameters
    found = [(place, one.kind) for place, one in enumerate(parameters.values()) if one.name == "out"]
    return found[0][0] if found and found[0][1] is not found[0][1].KEYWORD_ONLY else None


def takes_out(function: Any) -> bool:
    """Return whether a function may have a parameter ``out``: what says its parameters says that, too; classes of
    NumPy's that are called as functions are have none."""
    try:
        parameters = signature_of(SIGNATURES.get(function, function)).parameters
    except (TypeError, ValueError):
        return not isinstance(function, type)
    return "out" in parameters or any(one.kind is one.VAR_KEYWORD for one in parameters.values())


def without_out(
    place: int | None, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return the arrays that a call names as ``out``, None if there are none, and its other arguments."""
    if kwargs.get("out") is not None:
        kwargs = dict(kwargs)
        return kwargs.pop("out"), args, kwargs
    if place is not None and len(args) > place and args[place] is not None:
        return args[place], (*args[:place], None, *args[place + 1 :]), kwargs
    return None, args, kwargs


def is_reference(out: Any, what: Any = None) -> bool:
    """Return whether ``out`` names an array of the user's that stands in a trace, and ``what`` may write to it.

    Those of ``numpy.fft`` look at ``out`` before they look at what they are given.
    """
    if getattr(what, "__module__", None) == "numpy.fft":
        return False
    return isinstance(out, References) or (isinstance(out, tuple) and any(isinstance(one, References) for one in out))


def computed_only(where: Any, inputs: Sequence[Any]) -> Sequence[Any]:
    """Return operands of a ufunc that have derivatives only where NumPy computes: elsewhere there is nothing to derive,
    and 0 times the slope there, ``np.divide(a, b, out=..., where=b != 0)``, would be nan.

    Parameters
    ----------
    where : array_like
        Which elements are computed.
    inputs : sequence
        The operands; Python's numbers stay weak, as they are.
    """
    if where is True or where is False:
        return inputs
    return [_flat_outside(where, x) if isinstance(x, References) or type(x) is Tensor else x for x in inputs]


def _flat_outside(where: Any, x: Any) -> Any:
    return call("where", where, x, call("stop_gradient", x)) if x.dtype.kind in "fc" else x


def written(
    what: Any, out: Any, made: Any, casting: Any = "same_kind", where: Any = True, is_method: bool = False
) -> Any:
    """Write what a function gave to its ``out``, and return that.

    Parameters
    ----------
    what : callable
        The function.
    out : array, or tuple of arrays and None
    made : Tensor or tuple of them
        What it gave.
    casting : str
        How the result may be cast.
    where : array_like
        Which elements are written.
    is_method : bool
        Whether a method of a ufunc was called.
    """
    if isinstance(out, tuple):
        if not isinstance(what, np.ufunc):
            raise UnknownWhileTracing(f"{full_name(what)} does not take a tuple as argument 'out'")
        if len(out) == 1:
            return written(what, out[0], made, casting, where, is_method)
        if len({id(kept(one)) for one in out if one is not None}) < sum(one is not None for one in out):
            refuse_array(what, *out)  # which of the results stays there is NumPy's own affair
        if what.signature is None:
            made = _as_large(what, made, [one for one in out if one is not None])
        return tuple(
            [one if to is None else written(what, to, one, casting, where, is_method) for to, one in zip(out, made)]
        )
    if not isinstance(out, References) or out.is_scalar:
        if isinstance(out, References) and (theirs := theirs_here()) is not None:
            theirs.check_scalar_written(out)
        refuse_array(what, out)
    if where is not True:
        choose = counterpart_of(np.where)
        assert choose is not None
        if not np.can_cast(made.dtype, out.dtype, casting):
            refuse_cast(what, made.dtype, out.dtype, casting)
        made = choose(where, made, out.current())
        casting = "unsafe"
    if not isinstance(what, np.ufunc) or is_method:
        check_fit(what, made, out)
    else:
        made = _spread(what, made, out)
    out.absorb(made, casting, what)
    return out


def _as_large(what: np.ufunc, made: Sequence[Any], outs: Sequence[Any]) -> Sequence[Any]:
    """Return the results of a ufunc in the one shape that they have, which the arrays given for some may widen."""
    shapes = {one.shape for one in outs}
    if shapes == {made[0].shape} and made[0].shape.is_fully_defined():
        return made
    if len(shapes) > 1 or not all(one.shape.is_fully_defined() for one in (made[0], *outs)):
        raise UnknownWhileTracing(f"{full_name(what)} takes as argument 'out' only arrays of the shape of its results")
    return [_spread(what, one, outs[0]) for one in made]


def _spread(what: np.ufunc, made: Any, out: Any) -> Any:
    """Return what a ufunc gave in the shape of ``out``, to which NumPy broadcasts its operands."""
    if not (made.shape.is_fully_defined() and out.shape.is_fully_defined()) or made.shape == out.shape:
        return made
    given, wanted = made.shape.as_tuple(), out.shape.as_tuple()
    lead = len(wanted) - len(given)
    fits = lead >= 0 and all(n == m or (n == 1 and what.signature is None) for n, m in zip(given, wanted[lead:]))
    return call("broadcast_to", made, wanted) if fits else made


def check_fit(what: Any, made: Any, out: Any) -> None:
    """Refuse an ``out`` of another dtype or shape than the result: each function of NumPy's has rules of its own."""
    if made.dtype == out.dtype and made.shape.is_fully_defined() and made.shape == out.shape:
        if what in _IN_ORDER and out.storage.lying is not None and not known_layout(out, "flags").flags.c_contiguous:
            raise UnknownWhileTracing(f"{full_name(what)} takes as argument 'out' only an array that lies in C order")
        return
    raise UnknownWhileTracing(
        f"{full_name(what)} does not take the argument 'out' with another dtype or shape than the result's, "
        f"{made.dtype} and {made.shape}, in a traced function: assign the result to out[...]"
    )


def refuse_first_of_two(what: Any, operands: Iterable[Any], out: Any, error: ValueError) -> None:
    """Raise if the operands do not fit, and what they would give may not fit ``out``: each function of NumPy's says
    first which fault it likes."""
    kinds = [one.dtype for one in operands if isinstance(one, np.ndarray | np.generic | Tensor)]
    if isinstance(out, References) and not all(np.can_cast(kind, out.dtype, "same_kind") for kind in kinds):
        raise UnknownWhileTracing(f"{full_name(what)} with the argument 'out' of dtype {out.dtype}: {error}")


def refuse_array(what: Any, *arrays: Any) -> NoReturn:
    """Refuse ``out``, after whoever traces was told of the real arrays."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array_written(array)
            raise UnknownWhileTracing(
                f"{full_name(what)} does not take the argument 'out' where tensors take part if that is an array which "
                f"is neither an argument nor made in converted code, as in x += y of an array of a class: pass it as "
                f"an argument, or assign the result, x = x + y"
            )
    refuse(full_name(what), "out")


def _counterpart(theirs: Any) -> Callable[..., Any]:
    found = counterpart_of(theirs)
    assert found is not None
    return found


def _as_an_element(dtype: Any, value: Any) -> np.ndarray[Any, Any]:
    """Return what NumPy makes an element of, of something with elements of its own: a truth, or it raises."""
    is_array = isinstance(value, (np.ndarray, Tensor))
    if is_array and dtype.kind == "b":
        raise UnknownWhileTracing("the truth of an array is for the run to tell: fill(...) takes a number")
    made = np.empty((), dtype)
    made.fill(np.zeros(1) if is_array else value if isinstance(value, range) else [0.0] * len(value))
    return made


class Changing(References):
    """ndarray's methods that change an array."""

    __slots__ = ()

    def fill(self, value: Any) -> None:
        """Set all elements to a value."""
        if self.is_scalar:
            super().fill(value)  # type: ignore[misc]  # which refuses, as those below
        self.check_writeable()
        value = of_no_numbers(self.dtype, value, True)
        if np.ndim(value) if isinstance(value, (np.ndarray, Tensor)) else isinstance(value, (list, tuple, range)):
            value = _as_an_element(self.dtype, value)
        self.assign(Ellipsis, value)

    def sort(self, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        """Sort the elements along an axis."""
        if self.is_scalar:
            super().sort()  # type: ignore[misc]
        axis = operator.index(axis)  # None has a meaning for np.sort only
        self.absorb(_counterpart(np.sort)(self.current(), axis, kind, order, stable=stable))

    def partition(self, kth: Any, /, axis: Any = -1, kind: Any = "introselect", order: Any = None) -> None:
        """Put the elements at some places of the sorted array there."""
        if self.is_scalar:
            super().partition(kth)  # type: ignore[misc]
        axis = operator.index(axis)  # as above
        self.absorb(_counterpart(np.partition)(self.current(), kth, axis, kind, order))

    def put(self, indices: Any, values: Any, /, mode: Any = "raise") -> None:
        """Set elements by their places in the flat array."""
        if self.is_scalar:
            super().put(indices, values)  # type: ignore[misc]
        _counterpart(np.put)(self, indices, values, mode)

    def setfield(self, val: Any, /, dtype: Any, offset: Any = 0) -> None:
        """Set a part of the bytes of each element as one of another dtype."""
        if self.is_scalar:
            super().setfield(val, dtype)  # type: ignore[misc]
        self.check_writeable()
        self.overwrite(call("set_field", self.current(), val, dtype, offset))

    def byteswap(self, inplace: Any = False) -> Any:
        """Return the elements with their bytes in reverse, or put them so."""
        made = _counterpart(np.ndarray.byteswap)(self.current(), False)
        if not inplace:
            return type(self)(made)
        self.absorb(made)
        return self
