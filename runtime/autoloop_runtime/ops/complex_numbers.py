"""Complex numbers and their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import dtypes
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor
from ..ir.op import Op, Part, Taking, function, ruled_in
from ..ir.prices import Price
from ..ir.tensor import Tensor
from ..ir.traits import ELEMENTS, PASSING, UPDATING, Fails
from .broadcasting import broadcast_static, unbroadcast
from .define import op_of, primitive, public
from .dtype_rules import floating, numeric
from .elementwise import unary
from .filled import zeros_like
from .operands import as_dtype, cast, operands

if TYPE_CHECKING:
    from .public_functions import Unary

__all__ = ["complex", "conj", "imag", "real"]


def _part_rule(dtype: Any) -> Any:
    return dtype, dtypes.real_of(dtype)


_complex_real = unary(
    "real", lambda x: x.real, "{0}.real", lambda g, y, x: cast(g, x.dtype),
    rule=_part_rule, doc="The real part.", holomorphic=False, traits=PASSING,
    llvm={"c": "extractelement $t $x, i32 0"},
    example=("al.real([1 + 2j])", "Tensor([1.], shape=(1,), dtype=float64)"),
)  # fmt: skip
_complex_imag = unary(
    "imag", lambda x: x.imag, "{0}.imag", lambda g, y, x: cast(g, x.dtype) * 1j,
    rule=_part_rule, doc="The imaginary part.", holomorphic=False, traits=PASSING,
    llvm={"c": "extractelement $t $x, i32 1"},
    example=("al.imag([1 + 2j])", "Tensor([2.], shape=(1,), dtype=float64)"),
)  # fmt: skip
_complex_conj = unary(
    "conj", np.conjugate, "np.conjugate({0})", lambda g, y, x: conj(g),
    rule=numeric, doc="The complex conjugate.", holomorphic=False,
    llvm={"c": "extractelement $t $x, i32 1; fneg $r $1; insertelement $t $x, $r $2, i32 1"},
    example=("al.conj([1 + 2j])", "Tensor([1.-2.j], shape=(1,), dtype=complex128)"),
)  # fmt: skip
REAL, IMAG = op_of(_complex_real), op_of(_complex_imag)


def _part(name: str, of_complex: Unary, of_real: Callable[[Tensor], Tensor]) -> Unary:
    @public(name=name)
    def f(x: ArrayLike, name: str | None = None) -> Tensor:
        x = convert_to_tensor(x)
        return of_complex(x, name) if x.dtype.kind == "c" else of_real(x)

    f.__doc__ = of_complex.__doc__
    return f


real = _part("real", _complex_real, lambda x: x)

imag = _part("imag", _complex_imag, zeros_like)

conj: Unary = _part("conj", _complex_conj, lambda x: x)


def _complex_infer(re: Tensor, im: Tensor) -> Any:
    return dtypes.complex_of(re.dtype), broadcast_static("complex", re, im)


def _complex_kernel(re: Any, im: Any) -> Any:
    out = np.empty(np.broadcast_shapes(re.shape, im.shape), dtypes.complex_of(re.dtype))
    out.real, out.imag = re, im
    return out[()]


def _complex_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [unbroadcast(cast(part(g), x.dtype), x) for part, x in zip((real, imag), inputs)]


COMPLEX = primitive(
    "complex", _complex_infer, _complex_kernel,
    _complex_vjp,
    traits=ELEMENTS, llvm={"f": "insertelement $c zeroinitializer, $t $x, i32 0; insertelement $c $1, $t $y, i32 1"},
)  # fmt: skip


@public()
def complex(real: ArrayLike, imag: ArrayLike, name: str | None = None) -> Tensor:
    """Return complex numbers from their parts.

    Parameters
    ----------
    real, imag : tensor-like, broadcast together
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.complex([1.0], [2.0]))
    Tensor([1.+2.j], shape=(1,), dtype=complex64)
    """
    parts = operands("complex", real, imag)
    dtype = floating(parts[0].dtype)[0]
    return apply(COMPLEX, [as_dtype(p, dtype) for p in parts], None, name)


def _set_part_infer(x: Tensor, part: Tensor) -> Any:
    dims = broadcast_static("set_item", x, part)
    if x.shape.is_fully_defined() and dims != x.shape:
        raise ValueError(
            f"a part of shape {part.shape} cannot be assigned to that of a tensor of shape {x.shape} [AL206]"
        )
    return x.dtype, x.shape


def _setting(name: str, read: Op, part: Unary) -> Op:
    """Return the operation that gives complex numbers another real or imaginary part, which ``read`` reads."""

    def view(x: Any) -> Any:
        return getattr(x, read.name)

    def write(x: Any, value: Any) -> Any:
        view(x)[...] = value
        return x

    def vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
        value = inputs[1]
        rest = apply(made, [g, convert_to_tensor(value.dtype.type(0))])
        return [rest, unbroadcast(as_dtype(part(g), value.dtype), value)]

    def call(x: Tensor, value: Tensor) -> Tensor:
        return apply(made, [x, value])

    made = primitive(
        name, _set_part_infer, lambda x, value: write(np.array(x), value)[()], vjp,
        traits=UPDATING.but(fails=Fails.SHAPES, raises=ValueError, price=Price.PART),
        taking=Taking(write, (0,), is_update=True, part=Part(read, view)),
    )  # fmt: skip
    function(name, call)
    return made


SET_REAL, SET_IMAG = _setting("set_real", REAL, real), _setting("set_imag", IMAG, imag)


ruled_in("complex_rules", COMPLEX, SET_REAL, SET_IMAG)
