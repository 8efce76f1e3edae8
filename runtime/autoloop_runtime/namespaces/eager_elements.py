"""Ops that work element by element, where they are more than one function of the array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dtypes import DType
from ..ops.arithmetic import RECIPROCAL
from ..ops.bounds import RELU
from ..ops.complex_numbers import COMPLEX, IMAG, REAL
from ..ops.identities import COPIED, ENSURE_SHAPE, IDENTITY, OF_LIBRARY, OF_NUMPY, STOP_GRADIENT
from ..ops.operands import CAST
from ..ops.powers import CBRT, ERF, EXP2, POW, POW_IN_LOOP, RSQRT, SIGMOID, SOFTPLUS
from ..ops.selection import WHERE
from .foreign_rows import Call, computed


def cast(call: Call, x: Any, dtype: DType) -> Any:
    """Return an array in another dtype, as NumPy converts it."""
    given = call.namespace.spec(x)[0]
    if given == dtype:
        return x
    if given.kind == "c" and dtype.kind not in "cb":
        x = call.xp.real(x)
        given = call.namespace.spec(x)[0]
    if dtype.kind == "b":
        return call.xp.not_equal(x, call.made(0, given))
    return call.xp.astype(x, call.namespace.dtype(dtype))


@computed(CAST)
def _cast(call: Call, x: Any, dtype: DType) -> Any:
    if dtype.kind not in "biufc":
        raise call.refused(f"it has no dtype {dtype}")
    return cast(call, x, dtype)


@computed(IDENTITY, STOP_GRADIENT, when="both")
def _passed(call: Call, x: Any) -> Any:
    return x


@computed(COPIED)
def _copied(call: Call, x: Any) -> Any:
    return call.xp.asarray(x, copy=True)


@computed(OF_LIBRARY, when="both", always=True, raw=True, makes=True)
def _of_library(call: Call, x: Any) -> Any:
    return call.namespace.of(x)


@computed(OF_NUMPY, when="both", raw=True, gives_numpys=True)
def _of_numpy(call: Call, x: Any) -> Any:
    return np.array(x, call.dtypes[0])


@computed(ENSURE_SHAPE, when="both")
def _ensured(call: Call, x: Any, shape: Any) -> Any:
    return call.op.kernel(x, shape)


@computed(WHERE)
def _where(call: Call, condition: Any, x: Any, y: Any) -> Any:
    return call.xp.where(condition, x, y)


@computed(REAL, IMAG)
def _part(call: Call, x: Any) -> Any:
    return call.needed("real" if call.op is REAL else "imag")(x)


@computed(COMPLEX, needs="complex")
def _complex(call: Call, real: Any, imag: Any) -> Any:
    made = call.needed("complex")  # the standard has none, and a sum is nan where a part is infinite
    return made(*call.xp.broadcast_arrays(real, imag))


# -- powers and exponentials --------------------------------------------------------------------------------


@computed(POW, POW_IN_LOOP)
def _pow(call: Call, x: Any, y: Any, squared: bool = False) -> Any:
    return call.xp.pow(x, y)


@computed(RECIPROCAL)
def _reciprocal(call: Call, x: Any) -> Any:
    if call.dtypes[0].kind not in "fc":
        raise call.refused("of integers")
    return call.xp.divide(call.made(1), x)


@computed(RSQRT)
def _rsqrt(call: Call, x: Any) -> Any:
    return call.xp.divide(call.made(1), call.xp.sqrt(x))


@computed(EXP2)
def _exp2(call: Call, x: Any) -> Any:
    own = call.namespace.function("exp2")
    return call.xp.pow(call.made(2), x) if own is None else own(x)


@computed(SIGMOID)
def _sigmoid(call: Call, x: Any) -> Any:
    one = call.made(1)
    return call.xp.divide(one, call.xp.add(one, call.xp.exp(call.xp.negative(x))))


@computed(SOFTPLUS)
def _softplus(call: Call, x: Any) -> Any:
    return call.xp.logaddexp(x, call.made(0))


@computed(RELU)
def _relu(call: Call, x: Any) -> Any:
    return x if call.dtypes[0].kind in "bu" else call.xp.maximum(x, call.made(0))


@computed(CBRT)
def _cbrt(call: Call, x: Any) -> Any:
    own = call.namespace.function("cbrt")
    if own is not None:
        return own(x)
    xp = call.xp
    size = xp.abs(x)
    root = xp.pow(size, call.made(1 / 3))
    # a third is no float: one step of Newton's makes good what that costs where the size is far from 1
    step = xp.divide(xp.subtract(xp.multiply(xp.multiply(root, root), root), size), xp.multiply(root, root))
    better = xp.subtract(root, xp.divide(step, call.made(3)))
    plain = xp.logical_and(xp.isfinite(better), xp.greater(size, call.made(0)))
    return xp.copysign(xp.where(plain, better, root), x)


@computed(ERF, needs="special.erf")
def _erf(call: Call, x: Any) -> Any:
    return call.xp.special.erf(x)
