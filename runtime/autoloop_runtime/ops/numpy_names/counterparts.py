"""How a function of NumPy's is written over the ops: the decorator, what is refused, operands with NumPy's dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

import numpy as np

from ...base.dtypes import of_numbers
from ...base.parsing import signature_of
from ...base.stand_ins import UnknownWhileTracing, cast_refused
from ...ir.array_kinds import is_elsewhere
from ...ir.convert import array_of, convert_to_tensor, has_tensor
from ...ir.number_operators import number_type
from ...ir.numpy_arguments import advice_for, full_name
from ...ir.numpy_protocols import NUMPY_FUNCTIONS, NUMPY_NUMBERS, NUMPY_UFUNCS
from ...ir.tensor import Tensor
from ..joining import stack
from ..operands import as_dtype, assigned, is_tensor, operands, weak_type

_F = TypeVar("_F", bound=Callable[..., Any])

#: the default of arguments that NumPy tells apart from None
NO_VALUE: Any = getattr(np, "_NoValue", None)


def counterpart(*theirs: Any, number: bool = False) -> Callable[[_F], _F]:
    """Enter a function as what NumPy's means where tensors take part; it has exactly the parameters of that.

    Several are one function under several names; None is one that this version of NumPy has not. What stands for a
    ufunc takes its operands only: the other arguments are those of all ufuncs (``ufunc_calls.py``).
    With ``number`` it gives a Python number.
    """

    def enter(ours: _F) -> _F:
        for function in theirs:
            if function is not None:
                table = NUMPY_UFUNCS if isinstance(function, np.ufunc) else NUMPY_FUNCTIONS
                assert function not in table, function
                table[function] = ours
                if number:
                    NUMPY_NUMBERS.add(function)
                ours.__name__ = ours.__qualname__ = function.__name__  # Python's words on wrong arguments name it
        return ours

    return enter


def refused(theirs: Any, argument: str, instead: str | None = None) -> NoReturn:
    """Raise ``TypeError``: NumPy's function does not take an argument where tensors take part."""
    raise UnknownWhileTracing(
        f"{full_name(theirs)} does not take the argument {argument!r} where tensors take part; "
        f"{instead or advice_for(argument)}"
    )


def unsupported(theirs: Any, instead: str | None = None, **arguments: Any) -> None:
    """Refuse, by its name, the first of ``arguments`` that is not what it is without being given.

    Parameters
    ----------
    theirs : callable
        NumPy's function.
    instead : str, optional
        What to write instead.
    """
    for argument, value in arguments.items():
        if value is None or value is NO_VALUE:
            continue
        default = signature_of(NUMPY_FUNCTIONS[theirs]).parameters[argument].default
        if not (value is default or (type(value) is type(default) and value == default)):
            refused(theirs, argument, instead)


def known(theirs: Any, **arguments: Any) -> Any:
    """Return an argument that must be known while the graph is built, as NumPy's own function takes it.

    Raises
    ------
    TypeError
        If it is, or holds, a tensor without a value.
    """
    made = [_known(theirs, argument, value) for argument, value in arguments.items()]
    return made[0] if len(made) == 1 else made


def _known(theirs: Any, argument: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        made = [_known(theirs, argument, one) for one in value]
        return tuple(made) if type(value) is tuple else made
    if not is_tensor(value):
        return value
    tensor = convert_to_tensor(value)
    found = tensor.settled_value(f"the argument {argument!r} of {full_name(theirs)}")
    if found is None:
        raise UnknownWhileTracing(
            f"{full_name(theirs)}: the argument {argument!r} must be known while the graph is built, got tensor "
            f"{tensor.name!r}; give a Python value: a number of the call, f(x, 2), is known"
        )
    return found[()]


def whole(theirs: Any, argument: str, value: Any) -> Any:
    """Return an argument that is an integer, or will be; what NumPy makes of anything else it alone knows."""
    kind = value.dtype.kind if is_tensor(value) else "i" if hasattr(type(value), "__index__") else ""
    if isinstance(value, bool | np.bool_) or kind not in ("i", "u"):
        raise UnknownWhileTracing(f"{full_name(theirs)}: the argument {argument!r} must be an integer, got {value!r}")
    return value


def as_operand(value: Any, dtype: Any = None) -> Tensor:
    """Return what ``np.asarray(value, dtype)`` is, as a tensor: Python numbers are int64, float64 and complex128.

    Lists may hold tensors.
    """
    if dtype is not None and (weak_type(value) is not None or isinstance(value, (list, tuple))):
        return assigned("numpy", value, of_numbers(dtype))
    if isinstance(value, Tensor):
        tensor = value if number_type(value) is None else value.plain  # an array of it is not weak
    elif isinstance(value, (list, tuple)) and has_tensor(value):
        parts = [as_operand(one) for one in value]
        common = np.result_type(*[part.dtype for part in parts])
        tensor = stack([as_dtype(part, common) for part in parts])
    elif is_tensor(value) or is_elsewhere(value):
        tensor = convert_to_tensor(value)
    else:
        tensor = convert_to_tensor(value if isinstance(value, np.ndarray) else array_of(value))
    return tensor if dtype is None else as_dtype(tensor, of_numbers(dtype))


def cast_safely(given: Any, dtype: Any) -> Tensor:
    """Return an operand in a dtype that holds all of its values, as functions written in C want it.

    Raises
    ------
    TypeError
        If the dtype does not, and it is an array.
    UnknownWhileTracing
        If it is a scalar or a list, of which NumPy asks each element for its float or int.
    """
    x, wanted = as_operand(given), np.dtype(dtype)
    if not np.can_cast(x.dtype, wanted, "safe"):
        refusal = cast_refused(np.dtype(x.dtype), wanted, "safe")
        is_scalar = isinstance(given, (list, tuple, np.generic)) or getattr(given, "is_scalar", False)
        raise UnknownWhileTracing(str(refusal)) if is_scalar else refusal
    return as_dtype(x, wanted)


def as_operands(*values: Any) -> list[Tensor]:
    """Return operands as tensors of the dtype that NumPy's promotion gives them; Python numbers are weak."""
    numbers = [weak_type(value) is not None for value in values]
    alone = all(numbers)
    return operands("numpy", *[v if weak and not alone else as_operand(v) for v, weak in zip(values, numbers)])


def copied_operands(*values: Any) -> list[Tensor]:
    """Return operands of what copies them into one array: Python numbers are weak, and an int that the dtype of the
    arrays does not hold wraps."""
    given = [value if weak_type(value) is not None else as_operand(value) for value in values]
    dtypes = [one.dtype for one in given if weak_type(one) is None]
    if not dtypes or np.result_type(*dtypes).kind not in "iu":
        return as_operands(*given)
    common = np.result_type(*dtypes)
    return as_operands(*[as_dtype(as_operand(v), common) if weak_type(v) is int else v for v in given])
