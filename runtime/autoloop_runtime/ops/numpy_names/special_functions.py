"""The namespace ``scipy.special``: each of its element-wise functions is a row whose kernel it is, the others are made
of these.

Derivatives are in ``special_slopes.py``; what has none there is refused by gradients, not by calls. With regard to an
order (of a Bessel function, say) most have none: an order that is a number, or an array of integers, needs none.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.stand_ins import UnknownWhileTracing
from ...ir.numpy_protocols import NUMPY_UFUNCS
from ...ir.op import OPS
from ...ir.tensor import Tensor
from ...ir.traits import FUNCTION, NO_GRADIENT, NO_RULE, NO_TEMPLATE, VIEWING
from ..arithmetic import multiply
from ..broadcasting import unbroadcast
from ..complex_numbers import real
from ..elementwise import conjugated
from ..filled import zeros_like
from ..operands import as_dtype, is_tensor
from .counterparts import as_operand, counterpart
from .library_rows import LIBRARY, library
from .special_slopes import FLAT, ORDERS, ROWS, SEVERAL, SLOPES
from .ufunc_calls import in_loop

special: Any = importlib.import_module("scipy.special")
#: name -> whose machine code is its own, of floats
_MACHINE_CODE = {
    "expit": {"llvm": OPS["sigmoid"].llvm},
    **{name: {"libm": name} for name in ("cbrt", "erf", "exp2", "expm1", "log1p")},
}


def _vjp_of(name: str, slopes: Callable[..., Any]) -> Callable[..., Any]:
    orders = ORDERS.get(name, 0)

    def vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        made = [conjugated(one) for one in slopes(outputs[0], *inputs)]
        found = [unbroadcast(as_dtype(multiply(g, one), x.dtype), x) for one, x in zip(made, inputs[orders:])]
        return [*[zeros_like(x) for x in inputs[:orders]], *found]  # of orders: to be refused where one moves

    return vjp


def _refuse_order(g: Any, outputs: Any, inputs: Any, attrs: Any) -> Any:
    raise TypeError(
        f"scipy.special.{attrs['function']} has no derivative with regard to its argument {attrs['argument']}: give "
        "that as a Python number, as integers, or with stop_gradient [AL405]"
    )


_ORDER = library("order_of_function", lambda x, function, argument: x, "same", _refuse_order, traits=VIEWING)


def _as_order(name: str, place: int, x: Any) -> Any:
    """Return an argument through which no gradient passes, which is said where one would."""
    if is_tensor(x) and as_operand(x).dtype.kind in "fc":
        return _ORDER(x, function=name, argument=place + 1)
    return x


def _vjp_of_several(slopes: Callable[..., Any]) -> Callable[..., Any]:
    def vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
        parts = [
            multiply(one, slope)
            for one, slope in zip(g, slopes(outputs, inputs[0]))
            if one is not None
        ]  # fmt: skip
        return [sum(parts[1:], parts[0])]

    return vjp


def _dtypes(ufunc: Any) -> Callable[..., Any]:
    """Return the rule for the dtypes of results; some functions take long where they are not defined."""

    def of(*tensors: Tensor, **_: Any) -> Any:
        found = ufunc.resolve_dtypes((*[x.dtype for x in tensors], *[None] * ufunc.nout))[ufunc.nin :]
        return found[0] if ufunc.nout == 1 else list(found)

    return of


def _enter(ufunc: Any) -> None:
    """Make the row of a ufunc."""
    name = ufunc.__name__
    row_name = f"special_{name}"
    if ufunc.nout > 1:
        several = _vjp_of_several(SEVERAL[name]) if name in SEVERAL else NO_RULE
        row = library(row_name, ufunc, ["broadcast"] * ufunc.nout, several, dtype=_dtypes(ufunc))
        counterpart(ufunc)(lambda *inputs: tuple(row(*in_loop(ufunc, inputs))))
        return
    code: Any = _MACHINE_CODE.get(name, {"llvm": NO_TEMPLATE})
    if name not in SLOPES:
        rule = NO_GRADIENT if name in FLAT else NO_RULE
        row = library(row_name, ufunc, "broadcast", rule, dtype=_dtypes(ufunc), traits=FUNCTION, **code)
        counterpart(ufunc)(lambda *inputs: row(*in_loop(ufunc, inputs)))
        return
    _differentiable(name, row_name, ufunc, code)


def _differentiable(name: str, row_name: str, ufunc: Any, code: Any) -> None:
    vjp = _vjp_of(name, SLOPES[name])
    row = library(row_name, ufunc, "broadcast", vjp, dtype=_dtypes(ufunc), traits=FUNCTION, **code)

    orders = ORDERS.get(name, 0)

    def ours(*inputs: Any) -> Any:
        if orders:
            first = [_as_order(name, i, x) for i, x in enumerate(inputs[:orders])]
            inputs = (*first, *inputs[orders:])
        return row(*in_loop(ufunc, inputs))

    ROWS[name] = ours
    counterpart(ufunc)(ours)


def _in_loop_of_zeta(x: Any, q: Any) -> list[Tensor]:
    """Return both arguments in dtypes that SciPy computes in: floats of one width, of which the first may be complex;
    its public function has no loops, and those of this one are the same.
    """
    is_complex = as_operand(x).dtype.kind == "c"
    try:
        first, second = in_loop(special.poch, [real(x) if is_complex else x, q])
    except TypeError as error:
        raise UnknownWhileTracing(f"scipy.special.zeta of such arguments is for SciPy itself: {error}") from error
    wide = np.result_type(first.dtype, np.complex64) if is_complex else first.dtype
    return [as_operand(x, wide) if is_complex else first, second]


# SciPy's public function is one of Python, of one argument or two
_zeta = library("special_zeta", special.zeta, "broadcast", _vjp_of("zeta", SLOPES["zeta"]), traits=LIBRARY)
_riemann = library("special_riemann_zeta", special.zeta, "same", NO_RULE, traits=LIBRARY)
ROWS["zeta"] = lambda x, q: _zeta(*_in_loop_of_zeta(_as_order("zeta", 0, x), q))
ROWS["riemann_zeta"] = _riemann
for _name in dir(special):
    if isinstance(getattr(special, _name), np.ufunc) and getattr(special, _name) not in NUMPY_UFUNCS:
        _enter(getattr(special, _name))
