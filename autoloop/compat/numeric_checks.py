"""Assertions about tensors, as 1.x has them: what is known when the graph is built is said then."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import dtypes
from autoloop_runtime.collections.sparse import SparseTensor
from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor

from .building import after, building, one_of

__all__ = [
    "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer", "assert_less", "assert_less_equal",
    "assert_near", "assert_negative", "assert_non_negative", "assert_non_positive", "assert_none_equal",
    "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least", "assert_rank_in",
    "assert_scalar", "assert_type", "check_numerics", "verify_tensor_all_finite",
]  # fmt: skip


def _pair(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    first = convert_to_tensor(x, y.dtype if isinstance(y, Tensor) and not hasattr(x, "dtype") else None)
    return first, convert_to_tensor(y, None if hasattr(y, "dtype") else first.dtype)


#: what two tensors are claimed to be, and how it is said
_Relation = Callable[[Any, Any], Any]


def _compared(name: str, sign: str, relation: _Relation, on_arrays: _Relation) -> Callable[..., Any]:
    @building
    def claim(
        x: ArrayLike, y: ArrayLike, data: Sequence[Any] | None = None, summarize: int | None = None,
        message: str | None = None, name: str | None = None,
    ) -> Any:  # fmt: skip
        first, second = _pair(x, y)
        said: Sequence[Any] = data if data is not None else [
            message or "", f"Condition x {sign} y did not hold element-wise:", "x =", first, "y =", second,
        ]  # fmt: skip
        known = first.constant_value(), second.constant_value()
        if known[0] is not None and known[1] is not None and not np.all(on_arrays(*known)):
            shown = [f"x = {known[0]}", f"y = {known[1]}"] if data is None else [str(one) for one in data]
            raise AssertionError(
                f"{message or ''} Condition x {sign} y did not hold. {' '.join(shown)} [AL907]".strip()
            )
        return ops.Assert(ops.all(relation(first, second)), list(said), summarize, name or claim.__name__)

    claim.__name__ = claim.__qualname__ = name
    claim.__doc__ = f"Return an operation that fails unless ``x {sign} y`` holds for all elements."
    return claim


assert_equal = _compared("assert_equal", "==", ops.equal, operator.eq)
assert_none_equal = _compared("assert_none_equal", "!=", ops.not_equal, operator.ne)
assert_less = _compared("assert_less", "<", ops.less, operator.lt)
assert_less_equal = _compared("assert_less_equal", "<=", ops.less_equal, operator.le)
assert_greater = _compared("assert_greater", ">", ops.greater, operator.gt)
assert_greater_equal = _compared("assert_greater_equal", ">=", ops.greater_equal, operator.ge)


def _signed(name: str, sign: str, compare: Callable[..., Any], turned: bool) -> Callable[..., Any]:
    @building
    def claim(
        x: ArrayLike, data: Sequence[Any] | None = None, summarize: int | None = None, message: str | None = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        given = convert_to_tensor(x)
        said = (
            data
            if data is not None
            else [message or "", f"Condition x {sign} 0 did not hold element-wise:", "x =", given]
        )
        zero = convert_to_tensor(0, given.dtype)
        both = (zero, given) if turned else (given, zero)
        return compare(*both, said, summarize, message, name or claim.__name__)

    claim.__name__ = claim.__qualname__ = name
    claim.__doc__ = f"Return an operation that fails unless ``x {sign} 0`` holds for all elements."
    return claim


assert_positive = _signed("assert_positive", ">", assert_less, True)
assert_negative = _signed("assert_negative", "<", assert_less, False)
assert_non_negative = _signed("assert_non_negative", ">=", assert_less_equal, True)
assert_non_positive = _signed("assert_non_positive", "<=", assert_less_equal, False)


@building
def assert_near(
    x: ArrayLike, y: ArrayLike, rtol: Any = None, atol: Any = None, data: Sequence[Any] | None = None,
    summarize: int | None = None, message: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return an operation that fails unless ``abs(x - y) <= atol + rtol * abs(y)``: by default ten times the precision
    of the dtype each."""
    first, second = _pair(x, y)
    least = 10 * np.finfo(first.dtype).eps
    most = (least if atol is None else atol) + (least if rtol is None else rtol) * ops.abs(second)
    return assert_less_equal(
        ops.abs(first - second), ops.cast(most, first.dtype),
        data or [message or "", "x and y not equal to tolerance:", "x =", first, "y =", second],
        summarize, message, name or "assert_near",
    )  # fmt: skip


# -- ranks ------------------------------------------------------------------------------------------------


def _ranked(
    x: Any, ranks: Sequence[Any], fits: Callable[[int], bool], claim: Callable[[Tensor], Tensor], words: str,
    data: Sequence[Any] | None, summarize: int | None, message: str | None, name: str,
) -> Any:  # fmt: skip
    given = convert_to_tensor(x)
    for rank in ranks:
        if np.ndim(rank) != 0:
            raise ValueError(f"{name}: a rank is a scalar, got {rank!r} [AL907]")
        if not isinstance(rank, (int, np.integer)):
            raise TypeError(f"{name}: a rank is an integer that is known when the graph is built, got {rank!r} [AL907]")
    rank = given.shape.rank
    if rank is None:
        return ops.Assert(
            claim(ops.rank(given)), data or [message or "", words, "got shape", ops.shape(given)], summarize, name
        )
    if not fits(rank):
        raise ValueError(f"{message or ''} {words}, got rank {rank} and shape {given.shape} [AL907]".strip())
    return ops.Assert(True, [words], summarize, name)


@building
def assert_rank(
    x: ArrayLike, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return an operation that fails unless a tensor has this rank; ``ValueError`` where that is known before."""
    words = f"Tensor must have rank {rank}"
    return _ranked(
        x, [rank], lambda r: r == rank, lambda r: ops.equal(r, rank), words, data, summarize, message,
        name or "assert_rank",
    )  # fmt: skip


@building
def assert_rank_at_least(
    x: ArrayLike, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return an operation that fails unless a tensor has this rank or more; ``ValueError`` if that is known before."""
    words = f"Tensor must have rank at least {rank}"
    return _ranked(
        x, [rank], lambda r: r >= rank, lambda r: ops.greater_equal(r, rank), words, data, summarize, message,
        name or "assert_rank_at_least",
    )  # fmt: skip


@building
def assert_rank_in(
    x: ArrayLike, ranks: Any, data: Any = None, summarize: int | None = None, message: str | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return an operation that fails unless a tensor has one of these ranks; ``ValueError`` if that is known."""
    known, words = list(ranks), f"Tensor must have a rank in {tuple(ranks)}"
    return _ranked(
        x, known, lambda r: r in known, lambda r: ops.any(ops.equal(r, known)), words, data, summarize, message,
        name or "assert_rank_in",
    )  # fmt: skip


# -- kinds ------------------------------------------------------------------------------------------------


@building
def assert_scalar(tensor: ArrayLike, name: str | None = None, message: str | None = None) -> Tensor:
    """Return a tensor, which has no axes.

    Raises
    ------
    ValueError
        If it has.
    """
    given = convert_to_tensor(tensor)
    if given.shape.rank != 0:
        raise ValueError(f"{message or ''} Expected scalar shape, saw shape: {given.shape}. [AL907]".strip())
    return given


@building
def assert_type(tensor: ArrayLike, tf_type: Any, message: str | None = None, name: str | None = None) -> Any:
    """Return an operation that does nothing.

    Raises
    ------
    TypeError
        If the tensor has another dtype.
    """
    given, wanted = convert_to_tensor(tensor), dtypes.as_dtype(tf_type)
    if given.dtype != wanted:
        raise TypeError(f"{message or ''} tensor must be of type {wanted}; got {given.dtype} [AL907]".strip())
    return ops.Assert(True, ["assert_type"], name=name or "assert_type")


@building
def assert_integer(x: ArrayLike, message: str | None = None, name: str | None = None) -> Any:
    """Return an operation that does nothing.

    Raises
    ------
    TypeError
        If the tensor has another dtype than one of integers.
    """
    given = convert_to_tensor(x)
    if not dtypes.is_integer(given.dtype):
        raise TypeError(f'{message or ""} Expected "x" to be integer type.  Found: {given.dtype} [AL907]'.strip())
    return ops.Assert(True, ["assert_integer"], name=name or "assert_integer")


def assert_proper_iterable(values: Iterable[Any]) -> None:
    """Raise unless values are something to go through, and no tensor, array or text.

    Raises
    ------
    TypeError
        If they are.
    """
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)} [AL907]')


@building
def check_numerics(tensor: ArrayLike, message: str, name: str | None = None) -> Tensor:
    """Return a tensor whose elements are finite: a run fails with ``AssertionError`` where one is not."""
    given = convert_to_tensor(tensor)
    if given.dtype.kind not in "f":
        raise TypeError(f"check_numerics: the elements must be floating, got {given.dtype} [AL907]")
    no_nan = ops.Assert(ops.logical_not(ops.any(ops.isnan(given))), [f"{message} : Tensor had NaN values"])
    no_inf = ops.Assert(ops.logical_not(ops.any(ops.isinf(given))), [f"{message} : Tensor had Inf values"])
    with after(no_nan, no_inf):
        return ops.identity(given, name=name)


@building
def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None, message: str | None = None
) -> Tensor:
    """Return the same as ``check_numerics``."""
    given = one_of("verify_tensor_all_finite", x=x, t=t)
    words = one_of("verify_tensor_all_finite", message=message, msg=msg)
    return check_numerics(given, words or "", name)
