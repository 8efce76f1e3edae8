"""Python's operators on tensors.

They lead to the public functions, which stand above tensors, through the one table of functions called by name
(``op.FUNCTIONS``); no op is known here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..base.stand_ins import NoOperand
from .op import FUNCTIONS, call

if TYPE_CHECKING:
    from ..base.dtypes import DType
    from .argument_types import ArrayLike, IndexLike
    from .tensor import Tensor

_Self = TypeVar("_Self")
#: ``call`` of what gives a tensor
_made: Callable[..., Tensor] = call

#: Python's binary operators and the public functions behind them; comparisons, the same
BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "mod", "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
COMPARISONS = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}
#: a comparison -> that of the other operand
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _foreign(other: Any) -> bool:
    """Return true for operands that are not ours to combine with: None, a string, what opts out as NumPy lets it."""
    return (
        other is None
        or isinstance(other, (str, bytes, type, dict))
        or getattr(type(other), "__array_ufunc__", _foreign) is None
        or type(other) in ASKED_FIRST
    )


#: types of operands that say themselves what operators and functions give of them and a tensor; filled while modules
#: are imported
ASKED_FIRST: set[type] = set()
#: kinds of arrays that Python asks before arrays, being kinds of these, and that arrays without axes let go first, too
GOES_FIRST: set[type] = set()
#: types of operands that need no closer look
_FAMILIAR: set[type] = {np.ndarray, bool, int, float}


def asked_first(given: Iterable[Any]) -> Any:
    """Return one of the arguments that says itself what is made of it, be it in a list, too; None if none does."""
    for one in given:
        own = type(one)
        if own in ASKED_FIRST:
            return one
        if own is list or own is tuple:
            found = asked_first(one)
            if found is not None:
                return found
    return None


class Operators:
    """Python's operators."""

    __slots__ = ()

    if TYPE_CHECKING:
        dtype: DType

    def __init_subclass__(cls) -> None:
        _FAMILIAR.add(cls)

    __hash__ = object.__hash__  # by identity, and without a call

    def __getitem__(self, index: IndexLike) -> Tensor:
        return _made("getitem", self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "a tensor cannot be changed in place; inside a converted function v[i] = x rebinds v, elsewhere "
            "use v = autoloop.set_item(v, i, x) [AL009]"
        )

    def __neg__(self) -> Tensor:
        return _made("negative", self)

    def __pos__(self: _Self) -> _Self:
        return self

    def __abs__(self) -> Tensor:
        return _made("operator_abs", self)

    def __invert__(self) -> Tensor:
        return _made("invert", self)

    def __round__(self, ndigits: int | None = None) -> Tensor:
        return _made("round", self, *(() if ndigits is None else (ndigits,)))

    def __divmod__(self, other: ArrayLike) -> tuple[Tensor, Tensor]:
        return _made("floor_divide", self, other), _made("mod", self, other)

    def __rdivmod__(self, other: ArrayLike) -> tuple[Tensor, Tensor]:
        return _made("floor_divide", other, self), _made("mod", other, self)

    if TYPE_CHECKING:  # the binary operators are made in a loop below

        def __add__(self, other: ArrayLike) -> Tensor: ...
        def __radd__(self, other: ArrayLike) -> Tensor: ...
        def __sub__(self, other: ArrayLike) -> Tensor: ...
        def __rsub__(self, other: ArrayLike) -> Tensor: ...
        def __mul__(self, other: ArrayLike) -> Tensor: ...
        def __rmul__(self, other: ArrayLike) -> Tensor: ...
        def __truediv__(self, other: ArrayLike) -> Tensor: ...
        def __rtruediv__(self, other: ArrayLike) -> Tensor: ...
        def __floordiv__(self, other: ArrayLike) -> Tensor: ...
        def __rfloordiv__(self, other: ArrayLike) -> Tensor: ...
        def __mod__(self, other: ArrayLike) -> Tensor: ...
        def __rmod__(self, other: ArrayLike) -> Tensor: ...
        def __pow__(self, other: ArrayLike) -> Tensor: ...
        def __rpow__(self, other: ArrayLike) -> Tensor: ...
        def __matmul__(self, other: ArrayLike) -> Tensor: ...
        def __rmatmul__(self, other: ArrayLike) -> Tensor: ...
        def __and__(self, other: ArrayLike) -> Tensor: ...
        def __rand__(self, other: ArrayLike) -> Tensor: ...
        def __or__(self, other: ArrayLike) -> Tensor: ...
        def __ror__(self, other: ArrayLike) -> Tensor: ...
        def __xor__(self, other: ArrayLike) -> Tensor: ...
        def __rxor__(self, other: ArrayLike) -> Tensor: ...
        def __lshift__(self, other: ArrayLike) -> Tensor: ...
        def __rlshift__(self, other: ArrayLike) -> Tensor: ...
        def __rshift__(self, other: ArrayLike) -> Tensor: ...
        def __rrshift__(self, other: ArrayLike) -> Tensor: ...
        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __lt__(self, other: ArrayLike) -> Tensor: ...
        def __le__(self, other: ArrayLike) -> Tensor: ...
        def __gt__(self, other: ArrayLike) -> Tensor: ...
        def __ge__(self, other: ArrayLike) -> Tensor: ...


def _is_for(other: Any, method: str, self: Operators, error: NoOperand) -> bool:
    """Return whether Python is to ask the other operand, of a class that no tensor holds, what it makes of a tensor;
    NumPy's arrays, which the tensors of a trace may stand for, ask it of each element."""
    own = type(other)
    is_asked = own.__module__ != "builtins" and getattr(own, method, None) is not getattr(object, method, None)
    return is_asked and error.value is other and not hasattr(self, "is_scalar")


def _asking(name: str, method: str) -> Callable[[Any, Any], Any]:
    """Return an operator that lets the other operand answer, by one of its methods, which no tensor can hold."""

    def forward(self: Operators, other: Any) -> Any:
        if type(other) not in _FAMILIAR and _foreign(other):
            return NotImplemented
        try:
            return FUNCTIONS[name](self, other)
        except NoOperand as error:
            if _is_for(other, method, self, error):
                return NotImplemented
            raise

    return forward


def _operator(name: str, reflected: bool, dunder: str = "") -> Callable[[Any, Any], Any]:
    if not reflected:
        return _asking(name, f"__{_MIRRORED.get(dunder) or f'r{dunder}'}__")

    def backward(self: Operators, other: Any) -> Any:
        return NotImplemented if type(other) not in _FAMILIAR and _foreign(other) else FUNCTIONS[name](other, self)

    return backward


def _is_text(other: Any) -> bool:
    return isinstance(other, str) or (isinstance(other, Operators) and other.dtype.kind == "U")


for _dunder, _name in {**BINARY, **COMPARISONS}.items():
    setattr(Operators, f"__{_dunder}__", _operator(_name, False, _dunder))
for _dunder, _name in {"eq": "equal", "ne": "not_equal"}.items():
    setattr(Operators, f"__{_dunder}__", _asking(_name, f"__{_dunder}__"))
for _dunder, _name in BINARY.items():
    setattr(Operators, f"__r{_dunder}__", _operator(_name, True))


def _add(self: Operators, other: Any) -> Any:
    if self.dtype.kind == "U" and _is_text(other):
        return call("format_string", "{}{}", self, other)
    return _add_numbers(self, other)


def _radd(self: Operators, other: Any) -> Any:
    if self.dtype.kind == "U" and _is_text(other):
        return call("format_string", "{}{}", other, self)
    return _radd_numbers(self, other)


_add_numbers, _radd_numbers = _operator("add", False, "add"), _operator("add", True)
Operators.__add__, Operators.__radd__ = _add, _radd  # type: ignore[method-assign]
for _dunder, _name in {"mul": "operator_multiply", "pow": "operator_pow"}.items():
    setattr(Operators, f"__{_dunder}__", _operator(_name, False, _dunder))
    setattr(Operators, f"__r{_dunder}__", _operator(_name, True))


def _pow(self: Operators, other: Any, modulus: Any = None) -> Any:
    return _pow_numbers(self, other) if modulus is None else NotImplemented  # as of NumPy's arrays


_pow_numbers = _operator("operator_pow", False, "pow")
Operators.__pow__ = _pow  # type: ignore[method-assign]
