"""Values as operands: tensors of the dtypes that an op computes in, by the promotion of ``base.dtypes``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dtypes import DType, Kind, warn_of_discarded
from ..base.stand_ins import UnknownWhileTracing
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike, DTypeLike
from ..ir.convert import as_constant, convert_to_tensor, has_tensor, numpys_array, to_array
from ..ir.graph import current_graph
from ..ir.number_operators import CARRIERS, number_type
from ..ir.op import function, ruled_in
from ..ir.plain_values import BUFFERS
from ..ir.tensor import Tensor
from ..ir.tracers import ArrayTracer, Tracer
from ..ir.traits import ELEMENTS, NO_GRADIENT, NO_TEMPLATE, OPAQUE, Memory
from .define import primitive, public
from .dtype_rules import Rule, ruled

__all__ = ["cast"]


def _cast_kernel(x: Any, dtype: Any) -> Any:
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        # as one piece where x is one: NumPy converts several elements at a time, to other integers if they do not fit
        x = x.real.copy(order="K") if dtype.kind == "u" and x.flags.forc else x.real
    return x.astype(dtype)


def _cast_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    source = inputs[0].dtype
    return [cast(g, source) if dtypes.is_inexact(source) and dtypes.is_inexact(g.dtype) else None]


def _cast_code(node: Any) -> str | None:
    """Return ``np.float32(x)`` for scalars, ``x.astype(np.float32)`` for arrays."""
    dtype = node.attrs["dtype"]
    if dtype.kind not in "biufc" or (node.inputs[0].dtype.kind == "c" and dtype.kind != "c"):
        return None
    name = dtypes.dtype_name(dtype)
    return f"{name}({{0}})" if node.inputs[0].shape.rank == 0 else f"{{0}}.astype({name})"


CAST = primitive(
    "cast", lambda x, dtype: (dtype, x.shape), _cast_kernel, _cast_vjp, traits=ELEMENTS, code_of=_cast_code,
    llvm=NO_TEMPLATE, entries=lambda node, ask: ask(node.inputs[0]),
)  # fmt: skip


def stored(value: Any, dtype: DType) -> Any:
    """Return Python numbers as they lie in an array of ``dtype`` that they were assigned to."""
    made = np.empty(np.shape(value), dtype)
    with np.errstate(all="ignore"):
        made[...] = value
    made.flags.writeable = False
    return made[()]


def _fitted_kernel(x: Any, dtype: Any) -> Any:
    if dtype.kind in "iu" and not x.shape and x.dtype.kind in "iuf":
        return dtype.type(int(x))  # as ``stored`` does, and fast
    return stored(x.tolist(), dtype)


def _fitted_code(node: Any) -> str | None:
    """Return ``np.int32(int(x))`` for what is to be an integer."""
    dtype, x = node.attrs["dtype"], node.inputs[0]
    is_fast = dtype.kind in "iu" and x.shape.rank == 0 and x.dtype.kind in "iuf"
    return f"{dtypes.dtype_name(dtype)}(int({{0}}))" if is_fast else None


FITTED = primitive(
    "fitted", lambda x, dtype: (dtype, x.shape), _fitted_kernel, NO_GRADIENT, code_of=_fitted_code,
    doc="A Python number that a graph computes, in another dtype: as Python's own, it fits or is an error.",
    traits=OPAQUE.but(memory=Memory.FRESH, raises=OverflowError),
)  # fmt: skip


def _element_kernel(x: Any, dtype: Any) -> Any:
    made = np.empty(1, dtype)
    made.flat[0] = x.item()
    return made[0]


FITTED_ELEMENT = primitive(
    "fitted_element", lambda x, dtype: (dtype, x.shape), _element_kernel, NO_GRADIENT,
    doc="The same of one element of ``x.flat``, where what does not fit is a ``ValueError``.",
    traits=OPAQUE.but(memory=Memory.FRESH, raises=ValueError),
)  # fmt: skip


def fitted(number: Tensor, dtype: DType, is_of_flat: bool = False) -> Tensor:
    """Return what carries a Python number in ``dtype``; an error, when it is computed, if that does not hold it: the
    one that an assignment to an element of ``x.flat`` raises, or that of all others."""
    source = number.dtype.kind
    holds = source == "b" or dtype.kind in "cb" or (dtype.kind == "f" and source != "c") or dtype == number.dtype
    op = FITTED_ELEMENT if is_of_flat else FITTED
    return as_dtype(number, dtype) if holds else apply(op, [number], {"dtype": dtype})


def _element_of_flat(value: Tensor, dtype: DType) -> Tensor:
    """Return what is assigned to an element of ``x.flat``: a Python number as it fits."""
    return value if number_type(value) is None else fitted(value.plain, dtype, True)


function("fitted", fitted)
function("element_of_flat", _element_of_flat)


@public()
def cast(x: ArrayLike, dtype: DTypeLike, name: str | None = None) -> Tensor:
    """Return ``x`` with its elements converted to ``dtype``.

    Floats are truncated towards zero on the way to integers; integers that do not fit wrap; a complex number
    loses its imaginary part on the way to a real one.

    Parameters
    ----------
    x : tensor-like
    dtype : dtype-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.cast([1.7, -1.7], al.int32))
    Tensor([ 1 -1], shape=(2,), dtype=int32)
    """
    x, dtype = convert_to_tensor(x), dtypes.as_dtype(dtype)
    if dtype.kind not in "biufc" and x.dtype != dtype:
        dtypes.of_numbers(dtype)  # says so
    return x if x.dtype == dtype else apply(CAST, [x], {"dtype": dtype}, name)


def as_dtype(tensor: Tensor, dtype: DType) -> Tensor:
    """Return ``tensor`` cast to ``dtype`` if it has another (strings have one dtype, whatever their length)."""
    if tensor.dtype == dtype or tensor.dtype.kind == dtype.kind == "U":
        return tensor
    return cast(tensor, dtype)


def is_tensor(value: Any) -> bool:
    """Return true for a tensor, and for what stands for one (variables)."""
    return isinstance(value, Tensor) or hasattr(type(value), "__autoloop_tensor__")


def weak_type(value: Any) -> type | None:
    """Return the type of the Python number that ``value`` is, which takes the dtype of what it meets; else ``None``.

    This alone decides who is weak. NumPy's scalars are not.
    """
    kind = type(value)
    if kind in _NUMBERS:
        return kind
    if isinstance(value, np.generic):
        return None
    if isinstance(value, Tensor):
        return number_type(value)
    return next((number for number in _KINDS if isinstance(value, number)), None)


def _listed_type(value: Any) -> type | None:
    """Return the richest type in nested lists of nothing but Python numbers; else ``None``."""
    if not isinstance(value, (list, tuple)) or not value:
        return None if isinstance(value, Tensor) else weak_type(value)
    found = [_listed_type(v) for v in value]
    return None if None in found else max(found, key=_KINDS.index)


_KINDS = (bool, int, float, complex)
_NUMBERS = frozenset(_KINDS)


def _looked_at(values: Sequence[Any]) -> tuple[list[Any], list[Kind]]:
    """Return operands, tensors but for Python's own numbers and lists of them, and the kind of each.

    A list of numbers has the dtype that constructors, or NumPy's, give it, but is not made yet: 0.1 is to become the
    float64 next to it, not by way of float32. Numbers that meet no dtype have the constructors', too.
    """
    seen: list[Any] = []
    kinds: list[Kind] = []
    for value in values:
        own = type(value)
        if value is None:
            raise UnknownWhileTracing("an operand is None, of which NumPy makes an array of objects")
        if own in BUFFERS:  # which is an array to NumPy
            value = np.asarray(value)
            own = np.ndarray
        if own is np.ndarray:
            value, own = as_constant(to_array(value)), Tensor
        elif own is ArrayTracer:
            value, own = value.plain, Tensor
        kind: Kind | None = value.dtype if own is Tensor else own if own in _NUMBERS else weak_type(value)
        if kind is None and not isinstance(value, Tensor) and (listed := _listed_type(value)) is not None:
            # beside an array of NumPy's a list is one, too
            table = CARRIERS if any(isinstance(v, ArrayTracer) for v in values) else dtypes.DEFAULTS
            kind = table[listed]
        if kind is None:
            value = numpys_array(value) if any(isinstance(v, Tracer) for v in values) else value
            value = convert_to_tensor(value)
            kind = value.dtype
        if isinstance(kind, np.dtype) and kind.kind in "SmMVO":
            raise UnknownWhileTracing(f"an operand is of dtype {kind}, of which a graph computes nothing")
        seen.append(value)
        kinds.append(kind)
    numbers = [kind for kind in kinds if isinstance(kind, type)]
    if len(numbers) == len(kinds):
        # what a graph computes is carried in other dtypes than constructors give
        table = CARRIERS if any(isinstance(v, Tensor) for v in values) else dtypes.DEFAULTS
        kinds = [table[max(numbers, key=_KINDS.index)]] * len(kinds)
    return seen, kinds


def _made(value: Any, dtype: DType) -> Tensor:
    """Return an operand in the dtype that it is computed with."""
    if type(value) is float and dtype.kind == "f":  # what many are, and fast
        is_noted = dtype.itemsize < 8 and current_graph() is not None  # a cast tells also of what is too small
        return as_constant(np.float64(value).astype(dtype) if is_noted else dtype.type(value))
    if isinstance(value, Tensor):
        return as_dtype(value, dtype) if weak_type(value) is None else fitted(value.plain, dtype)
    if dtype.kind == "b":
        value = np.asarray(value, dtypes.bool_)[()]
    return as_constant(to_array(value, dtype))


def operands(name: str, *values: Any) -> list[Tensor]:
    """Return the operands of an n-ary op as tensors of one dtype, see ``dtypes.result_type``.

    Raises
    ------
    TypeError
        If their dtypes have no common one.
    OverflowError
        If a Python int does not fit the dtype of the tensor it meets.
    """
    first = values[0]
    for value in values:
        if not (type(value) is Tensor and value.dtype == first.dtype):
            break
    else:
        return list(values)
    seen, kinds = _looked_at(values)
    try:
        dtype = dtypes.result_type(*kinds)
    except TypeError as error:
        with_text = any(isinstance(kind, np.dtype) and kind.kind == "U" for kind in kinds)  # NumPy may make text of it
        raise (UnknownWhileTracing if with_text else TypeError)(f"{name}: {error}") from None
    return [_made(value, dtype) for value in seen]


def promoted(name: str, rule: Rule, *values: Any) -> list[Tensor]:
    """Return the operands of an element-wise op as tensors of the dtypes that its ``rule`` computes in.

    Raises
    ------
    TypeError
        If it does not take their dtypes.
    OverflowError
        If a Python int does not fit the dtype of the tensor it meets.
    """
    seen: Sequence[Any] = values
    kinds: list[Kind] = []
    dtyped = False
    for value in values:
        own = type(value)
        if own is Tensor:
            kinds.append(value.dtype)
            dtyped = True
        elif own in _NUMBERS:
            kinds.append(own)
        else:
            dtyped = False
            break
    if not dtyped:  # a closer look
        seen, kinds = _looked_at(values)
    try:
        wanted = rule(*kinds)
    except TypeError:
        if any(isinstance(kind, np.dtype) and kind.kind == "U" for kind in kinds):  # of which NumPy may make text
            raise UnknownWhileTracing(f"{name}: of texts and numbers a graph computes nothing") from None
        wanted = ruled(rule, name, *kinds)
    made: list[Tensor] = []
    for value, dtype in zip(seen, wanted):  # no comprehension: a call less for each operation
        made.append(value if type(value) is Tensor and value.dtype is dtype else _made(value, dtype))
    return made


def assigned(name: str, value: Any, dtype: DType) -> Tensor:
    """Return ``value`` as ``x[...] = value`` leaves it in an array of ``dtype``: NumPy casts whatever is a number.

    Raises
    ------
    OverflowError
        If it is a Python number that integers of ``dtype`` do not hold.
    TypeError
        If it is a Python complex and ``dtype`` is real, or it is no number.
    ValueError
        If it is Python's nan and ``dtype`` is an integer's.
    """
    if not isinstance(value, Tensor) and _listed_type(value) is not None:
        return as_constant(stored(value, dtype))
    if isinstance(value, (list, tuple)) and dtype.kind in "biufc":  # each element is assigned
        if not has_tensor(value):
            return as_constant(stored(value, dtype))
        return convert_to_tensor([_assigned_element(name, one, dtype) for one in value])
    if isinstance(value, str) and dtype.kind in "biufc":  # which NumPy reads
        return as_constant(stored(value, dtype))
    tensor = convert_to_tensor(value)
    if weak_type(value) is not None:
        return fitted(tensor.plain, dtype)
    if (tensor.dtype.kind == "U") != (dtype.kind == "U"):
        raise TypeError(
            f"{name}: a value of dtype {tensor.dtype} cannot be stored in a tensor of dtype {dtype} [AL202]"
        )
    warn_of_discarded(tensor.dtype, dtype)
    return as_dtype(tensor, dtype)


def _assigned_element(name: str, value: Any, dtype: DType) -> Tensor:
    """Return what an element of a list leaves: a scalar has to fit signed integers, as Python's numbers have to."""
    if isinstance(value, Tensor) and value.shape.rank == 0 and dtype.kind == "i" and value.dtype.kind in "iuf":
        return as_dtype(value.plain, dtype) if np.can_cast(value.dtype, dtype) else fitted(value.plain, dtype)
    return assigned(name, value, dtype)


ruled_in("pointwise", CAST, FITTED, FITTED_ELEMENT)
