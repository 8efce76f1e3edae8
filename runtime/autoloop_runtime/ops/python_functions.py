"""Calls of the user's own Python functions, and of what random generators draw, as operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np

from ..base import dtypes
from ..base.deadlines import call_in_time
from ..base.dtypes import DType
from ..base.shapes import UNKNOWN
from ..ir.apply import apply_several
from ..ir.argument_types import ArrayLike, DTypeLike
from ..ir.convert import convert_to_tensor
from ..ir.node import Node
from ..ir.op import numpys_alone
from ..ir.prices import Price
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT, NO_RULE, OPAQUE
from .define import primitive, public

__all__ = ["py_function"]


def _read_only(value: Any) -> Any:
    array = np.asarray(value).view()
    array.flags.writeable = False
    return array


def _py_kernel(*values: Any, func: Callable[..., Any], types: tuple[DType, ...], single: bool) -> Any:
    result = call_in_time(func, *[_read_only(v) for v in values], what=_named(func))
    if not types:
        return ()
    if len(types) == 1:  # one result may come by itself; where a list of one was promised, in a list, too
        listed = not single and isinstance(result, (list, tuple)) and len(result) == 1
        return (_result(result[0] if listed else result, types[0], func, 0),)
    if not isinstance(result, (list, tuple)) or len(result) != len(types):
        count = len(result) if isinstance(result, (list, tuple)) else 1
        raise ValueError(f"{_named(func)} gave {count} values, Tout has {len(types)} [AL217]")
    return tuple([_result(r, t, func, i) for i, (r, t) in enumerate(zip(result, types))])


def _named(func: Any) -> str:
    return f"py_function {getattr(func, '__name__', func)!r}"


def _result(value: Any, dtype: DType, func: Any, position: int) -> Any:
    """Return a result as an array of the promised dtype.

    Python numbers and NumPy scalars take it where it can hold their kind; arrays must have it.
    """
    if isinstance(value, Tensor):
        value = value.numpy()
    if value is None:
        raise TypeError(f"{_named(func)} gave None for its result {position}, Tout promises {dtype} [AL217]")
    is_array = isinstance(value, np.ndarray)
    array = np.array(value)
    if array.dtype == dtype or dtype.kind == array.dtype.kind == "U":
        return array[()]
    order = "biufc"
    source, target = order.find(array.dtype.kind), order.find(dtype.kind)
    integers = array.dtype.kind in "iu" and dtype.kind in "iu"
    if is_array or source < 0 or target < 0 or (source > target and not integers):
        raise TypeError(
            f"{_named(func)} gave dtype {array.dtype} for its result {position}, Tout promises {dtype} [AL217]"
        )
    if integers and array.size:
        dtypes.check_fits(int(array.min()), dtype)
        dtypes.check_fits(int(array.max()), dtype)
    return array.astype(dtype)[()]


def _py_infer(*values: Tensor, func: Any, types: tuple[DType, ...], single: bool) -> Any:
    return [(t, UNKNOWN) for t in types]


PY_FUNCTION = primitive(
    "py_function",
    _py_infer,
    _py_kernel,
    NO_RULE,
    effect=True,
    several=True,
    traits=OPAQUE.but(price=Price.FOREIGN, raises=Exception),
)
#: ``draw(*values)`` asks a generator and gives a tuple of ``specs``; it computes nothing of the user's
DRAW = primitive(
    "random_draw", lambda *tensors, draw, specs: list(specs), lambda *values, draw, specs: draw(*values), NO_RULE,
    effect=True, draws=lambda node: node.attrs["draw"].noted, several=True, callee="draw",
    traits=OPAQUE.but(price=Price.FUNCTION, raises=Exception),
)  # fmt: skip
#: ``call(*values)`` does something that is known, such as to write to a log, and gives a tuple of ``specs``
KNOWN_CALL = primitive(
    "known_call", lambda *tensors, call, specs: list(specs), lambda *values, call, specs: call(*values), NO_GRADIENT,
    effect=True, several=True, traits=OPAQUE.but(price=Price.FUNCTION), callee="call",
)  # fmt: skip


@overload
def py_function(  # type: ignore[overload-overlap]  # the name of a dtype is a sequence, too
    func: Callable[..., Any], inp: Sequence[ArrayLike], Tout: DTypeLike, name: str | None = None
) -> Tensor: ...


@overload
def py_function(
    func: Callable[..., Any], inp: Sequence[ArrayLike], Tout: Sequence[DTypeLike], name: str | None = None
) -> list[Tensor]: ...


@overload
def py_function(
    func: Callable[..., Any], inp: Sequence[ArrayLike], Tout: None, name: str | None = None
) -> Node | None: ...


@public()
def py_function(
    func: Callable[..., Any],
    inp: Sequence[ArrayLike],
    Tout: DTypeLike | Sequence[DTypeLike] | None,
    name: str | None = None,
) -> Tensor | list[Tensor] | Node | None:
    """Call a Python function on values, as an operation.

    Parameters
    ----------
    func : callable
        Takes (read-only) NumPy arrays; gives an array or number, or a sequence of them.
    inp : sequence of tensor-like
        Its arguments.
    Tout : dtype-like, or sequence of them
        The dtypes of the results; an empty sequence or ``None``: there is none.
    name : str, optional

    Returns
    -------
    Tensor, list of Tensor, or what ``print`` gives
        Of unknown shape; ``set_shape`` declares more, which is then checked.

    Raises
    ------
    TypeError
        When it runs, if a result has not the promised dtype.

    Examples
    --------
    >>> print(al.py_function(lambda x: x.sum(), [al.constant([1, 2])], al.int64))
    Tensor(3, shape=(), dtype=int64)
    """
    single = not isinstance(Tout, (list, tuple)) and Tout is not None
    wanted: Any = [Tout] if single else Tout or ()
    types = tuple([dtypes.as_dtype(t) for t in wanted])
    attrs = {"func": func, "types": types, "single": single}
    made = apply_several(PY_FUNCTION, [convert_to_tensor(v) for v in inp], attrs, name)
    found: Tensor | list[Tensor] | Node | None = made
    if types:
        found = made[0] if single else list(made)
    return found


numpys_alone("it is handed arrays of NumPy's", PY_FUNCTION, DRAW, KNOWN_CALL)
