"""What operators and functions give of numbers whose type only the run tells.

Where every type gives the same (a float of an int and of a float, a sum of NumPy's) it is computed at once; elsewhere
by a branch on the type, in each side of which it is known. What then has no one type is a mixed number again.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.number_operators import CARRIERS, widest
from autoloop_runtime.ir.structured import StructureError
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, ZeroDimArray, kind_of
from autoloop_runtime.ops.int_bounds import bits

from ... import operators
from ...left_to_python import leave_unknown
from ..staging.mixed_numbers import PYTHON, TYPES, Code, MixedNumber, codes_of, name_of_code
from ..staging.staged_values import stands_for
from ..staging.standins import StandIn
from .attributes import attribute

_COMPUTED: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
}  # fmt: skip
_COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}
_OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "matmul": operator.matmul,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "lshift": operator.lshift,
    "rshift": operator.rshift, "divmod": divmod,
}  # fmt: skip
#: the dtype that carries numbers of Python's -> their type
_OF_CARRIER: dict[Any, Any] = {dtype: one for one, dtype in CARRIERS.items()}


def by_types(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return what a function gives of arguments among which are mixed numbers, one of their types at a time."""
    leaves, structure = nest.flatten_with_structure((tuple(args), kwargs))
    numbers = {id(leaf): leaf for leaf in leaves if isinstance(leaf, MixedNumber)}
    if not numbers:
        return function(*args, **kwargs)
    number = next(iter(numbers.values()))
    if math.prod(len(one.types) for one in numbers.values()) > _MOST_WAYS:
        raise TypeError(
            f"{len(numbers)} numbers, of each of which only the run tells its type, {number.named()}, have no one "
            f"dtype together: write float(...) or int(...) of them [AL020]"
        )

    def known(code: Code) -> Any:
        mine = [number.of_type(code) if leaf is number else leaf for leaf in leaves]
        given, named = nest.unflatten(structure, mine)
        try:
            return by_types(function, given, named)
        except (ArithmeticError, IndexError, TypeError, ValueError) as error:  # which other runs may not meet
            leave_unknown(f"of a number that may be {name_of_code(code)} this raises {type(error).__name__}: {error}")
            raise

    def decided(code: Code, *rest: Code) -> Any:
        if not rest:
            return known(code)
        test = NumberTracer(ops.equal(number.tag, np.int64(code)))
        return operators.staged_choice(test, lambda: known(code), lambda: decided(*rest), _what(number))

    try:
        return decided(*sorted(number.types))
    except StructureError as error:
        raise TypeError(str(error)) from None


def _as_array(args: Sequence[Any]) -> Sequence[Any]:
    """Return arguments of which the first, a list that becomes an array, has one dtype whatever its numbers are."""
    leaves, structure = nest.flatten_with_structure(args[0])
    lowest: list[Any] = []
    highest: list[Any] = []
    for leaf in leaves:
        types = _types(leaf) if not isinstance(leaf, (bool, int, float, complex)) else [(None, np.asarray(leaf).dtype)]
        dtypes = {dtype for _, dtype in types or ()}
        low = [one for one in dtypes if all(np.can_cast(one, other, "safe") for other in dtypes)]
        if not low:
            return args
        lowest.append(low[0])
        highest += dtypes
    common = np.result_type(*highest)
    if np.result_type(*lowest) != common:
        return args
    made = [ArrayTracer(_in(common, leaf)) if isinstance(leaf, MixedNumber) else leaf for leaf in leaves]
    return (nest.unflatten(structure, made), *args[1:])


def _what(number: MixedNumber) -> str:
    return (
        f"what this gives of a number that is {number.named()}, as only the run tells: write float(...) or int(...) of "
        f"the number. The results"
    )


#: functions whose first argument becomes an array
_OF_ARRAYS = frozenset((
    np.all, np.any, np.argmax, np.argmin, np.argsort, np.array, np.asanyarray, np.asarray, np.cumsum, np.max, np.mean,
    np.median, np.min, np.prod, np.sort, np.std, np.sum, np.var,
))  # fmt: skip
#: of how many numbers and types it is looked at each way
_MOST_WAYS = 32
_OPERATORS_OF: dict[Any, str] = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "truediv", np.less: "lt", np.less_equal: "le",
    np.greater: "gt", np.greater_equal: "ge", np.equal: "eq", np.not_equal: "ne",
}  # fmt: skip
#: kind and dtype of an operand
_Type: TypeAlias = tuple[Any, Any]


def _types(operand: Any) -> list[_Type] | None:
    """Return what an operand may be; None of what has no dtype."""
    codes = codes_of(operand)
    if codes is not None:
        return [TYPES[code] for code in sorted(codes)]
    return [(kind_of((operand,)), operand.dtype)] if isinstance(operand, (Tensor, np.ndarray)) else None


def _given(name: str, one: _Type, other: _Type) -> tuple[bool, Any] | None:
    """Return of an operator of two types whether a number of Python's own comes of them, and in which dtype it is
    computed; None if that is not known."""
    pythons = [issubclass(kind, NumberTracer) for kind, _ in (one, other)]
    if all(pythons):
        types = [_OF_CARRIER[dtype] for _, dtype in (one, other)]
        return True, CARRIERS[widest(*types, float if name == "truediv" else bool if name in _COMPARED else int)]
    weak = [
        _OF_CARRIER[dtype](0) if python else dtype for python, (_, dtype) in zip(pythons, (one, other), strict=True)
    ]
    made = np.result_type(*weak)
    return None if name == "truediv" and made.kind in "biu" else (False, made)


def operated(name: str, one: Any, other: Any) -> Any:
    """Return what one of Python's binary operators gives; one of the two is a mixed number, or both are."""
    plain = _COMPUTED.get(name) or _COMPARED.get(name)
    types = _types(one), _types(other)
    if plain is None or types[0] is None or types[1] is None:
        return by_types(plain or _OTHERS[name], (one, other), {})
    pairs = [(mine, mine) for mine in types[0]] if one is other else list(itertools.product(types[0], types[1]))
    given = [_given(name, *pair) for pair in pairs]
    known = [found for found in given if found is not None]
    made = None
    if len(known) == len(given):
        made = (_compared if name in _COMPARED else _computed)(plain, (one, other), known)
    return by_types(plain, (one, other), {}) if made is None else made


def _computed(plain: Callable[[Any, Any], Any], operands: tuple[Any, Any], given: list[tuple[bool, Any]]) -> Any:
    """Return the result that all types give alike, or all of Python's and all others; None if there is none."""
    results = sorted(set(given), key=lambda one: not one[0])
    if len(results) == 1:
        pythons, dtype = results[0]
        carriers = [part.carrier for part in operands if isinstance(part, MixedNumber)]
        if dtype.kind not in "fc" and any(carrier != dtype for carrier in carriers):
            return None  # an int of Python's raises where it does not fit
        kind = NumberTracer if pythons else ArrayTracer
        return plain(*[kind(_in(dtype, part)) if isinstance(part, MixedNumber) else part for part in operands])
    if plain is operator.truediv or len(results) > 2 or results[0][0] is results[1][0]:
        return None  # numbers of Python's are not divided by zero
    dtypes = [dtype for _, dtype in results]
    if any(dtype.kind not in "fc" for dtype in dtypes):
        return None
    carrier = np.result_type(*dtypes)
    made = [plain(*[_in(dtype, part) for part in operands]) for dtype in dict.fromkeys(dtypes)]
    parts = [ops.cast(one, carrier) for one in made]
    return _tagged(parts, operands, PYTHON.index(_OF_CARRIER[dtypes[0]]), TYPES.index((ArrayTracer, dtypes[1])))


def _compared(plain: Callable[[Any, Any], Any], operands: tuple[Any, Any], given: list[tuple[bool, Any]]) -> Any:
    """Return a comparison in a dtype that holds both numbers exactly, None if there is none."""
    dtypes = {dtype for _, dtype in given}
    dtype = np.dtype(float) if len(dtypes) > 1 else next(iter(dtypes))
    if dtype.kind == "c" or not all(codes_of(part) and _is_exact(part, dtype, len(dtypes) > 1) for part in operands):
        return None
    made = plain(*[_in(dtype, part) for part in operands])
    kinds = {pythons for pythons, _ in given}
    if len(kinds) == 1:
        return (NumberTracer if kinds.pop() else ArrayTracer)(made)
    return _tagged([made], operands, 0, TYPES.index((ArrayTracer, np.dtype(bool))))


def _is_exact(number: Any, dtype: Any, differ: bool) -> bool:
    """Return whether a number, which is compared in several dtypes if they ``differ``, is the same number in one."""
    if isinstance(number, MixedNumber):
        return bool(np.result_type(dtype, number.carrier) == dtype)
    if not differ:
        return True
    if not isinstance(number, Tensor):
        return isinstance(number, (bool, float, np.floating)) or abs(int(number)) <= 2**53
    return number.dtype.kind in "bf" or number.dtype.itemsize <= 4 or (number.dtype.kind == "i" and bits(number) <= 53)


def _in(dtype: Any, number: Any) -> Tensor:
    """Return an operand as a tensor of a dtype."""
    tensor = number.value if isinstance(number, MixedNumber) else number
    return ops.cast(tensor.plain if isinstance(tensor, Tensor) else convert_to_tensor(np.asarray(tensor)[()]), dtype)


def _tagged(made: Sequence[Tensor], operands: tuple[Any, Any], code: Code, of_numpy: Code) -> MixedNumber:
    """Return a number that is the first of ``made``, and one of Python's, where all operands are; else the last."""
    tests = [ops.less(part.tag, np.int64(len(PYTHON))) for part in operands if isinstance(part, MixedNumber)]
    test = tests[0] if len(tests) == 1 or operands[0] is operands[1] else ops.logical_and(tests[0], tests[1])
    value = made[0] if len(made) == 1 else ops.where(test, made[0], made[1])
    tag = ops.where(test, np.int64(code), np.int64(of_numpy))
    return MixedNumber(frozenset((code, of_numpy)), value.dtype, value, tag)


def _unary(plain: Callable[[Any], Any]) -> Callable[[MixedNumber], Any]:
    def made(self: MixedNumber) -> Any:
        types = [TYPES[code] for code in self.types]
        if self.carrier.kind == "f" and all(d == self.carrier and kind is not ZeroDimArray for kind, d in types):
            return MixedNumber(self.types, self.carrier, plain(self.value), self.tag)
        return by_types(plain, (self,), {})

    return made


#: what is asked of a value to see whether it is an array
_ARRAYS = frozenset(["dtype", "shape", "ndim"])


def _attribute(self: MixedNumber, name: str) -> Any:
    if name[:2] == "__" or name in _ARRAYS:
        raise AttributeError(f"{self.described()} has no attribute {name!r}")
    kinds = [self.of_type(code) for code in sorted(self.types)]
    found = [one for one in kinds if _has(one, name)] or kinds
    if callable(attribute(found[0], name)):
        if len(found) < len(kinds):  # where its type has none the run raises, be it never called
            by_types(lambda one: _asked(one, name), (self,), {})
        return lambda *args, **kwargs: by_types(lambda one: attribute(one, name)(*args, **kwargs), (self,), {})
    return by_types(lambda one: attribute(one, name), (self,), {})


def _asked(value: Any, name: str) -> int:
    """Ask a number of one type for an attribute, and return what is the same of all."""
    attribute(value, name)
    return 0


def _has(value: Any, name: str) -> bool:
    """Return whether a number of one type has an attribute."""
    return hasattr(stands_for(value), name)


def _ufunc(self: MixedNumber, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    return _given_to(self, getattr(ufunc, method) if method != "__call__" else ufunc, args, kwargs)


def _function(self: MixedNumber, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return by_types(function, args, kwargs)


def _given_to(self: MixedNumber, function: Any, args: Any, kwargs: Any) -> Any:
    """Return what a function gives of arguments among which are mixed numbers, which an array beside them may ask."""
    name = _OPERATORS_OF.get(function) if isinstance(function, np.ufunc) and len(args) == 2 and not kwargs else None
    if name is not None and any(isinstance(one, (np.ndarray, np.generic, ArrayTracer)) for one in args):
        return operated(name, *args)  # NumPy's arrays make the ufunc of the operator
    return by_types(function, args, kwargs)


def is_instance(value: MixedNumber, classes: Any, told: Callable[[Any, Any], bool]) -> bool:
    """Return ``isinstance(value, classes)``, which ``told`` says of a number of one type."""
    answers = {told(value.of_type(code), classes) for code in value.types}
    if len(answers) > 1:
        raise TypeError(
            f"isinstance(...) of {value.described()}: make it one of them before, float(...) or int(...) [AL020]"
        )
    return answers.pop()


def of_mixed(plain: Any, staged: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return what a builtin or a library's function, which ``staged`` stands for, gives of arguments."""
    if plain is bool:
        return args[0].decision()
    if (
        plain in (np.array, np.asarray, np.asanyarray)
        and not kwargs
        and type(args[0]) is MixedNumber
        and len(args) == 1
    ):
        raise UnknownWhileTracing(
            f"np.{plain.__name__} of a number of which only the run tells the type: make it one before, float(...) or "
            f"int(...)"
        )
    if plain in _OF_ARRAYS and args and isinstance(args[0], (list, tuple)):
        known = _as_array(args)
        if known is not args:
            return staged(*known, **kwargs)
    if plain is range:
        return staged(*[one.whole() if isinstance(one, MixedNumber) else one for one in args])
    if (plain is float or getattr(plain, "__module__", "") == "math") and not kwargs:
        floats = [_as_float(one) if isinstance(one, MixedNumber) else one for one in args]
        if not any(isinstance(one, MixedNumber) for one in floats):
            return staged(*floats)
    return by_types(staged, args, kwargs)


def _as_float(value: MixedNumber) -> Any:
    """Return a number as the float that it is equal to, where that is as good to a function of floats."""
    return value if value.carrier.kind in "iuc" else NumberTracer(ops.cast(value.value, np.dtype(float)))


def _forward(name: str, reflected: bool) -> Callable[[Any, Any], Any]:
    def forward(self: MixedNumber, other: Any) -> Any:
        if other is None or isinstance(other, (str, bytes, list, tuple, dict, set)):
            return NotImplemented
        return operated(name, other, self) if reflected else operated(name, self, other)

    return forward


for _name in (*_COMPUTED, *_COMPARED, *_OTHERS):
    setattr(MixedNumber, f"__{_name}__", _forward(_name, False))
    if _name not in _COMPARED:
        setattr(MixedNumber, f"__r{_name}__", _forward(_name, True))
for _sign, _plain_one in (("neg", operator.neg), ("pos", operator.pos), ("abs", abs)):
    setattr(MixedNumber, f"__{_sign}__", _unary(_plain_one))
for _special, _method in {
    "__invert__": lambda self: by_types(operator.invert, (self,), {}), "__getattr__": _attribute,
    "__array_ufunc__": _ufunc, "__array_function__": _function,
    "given_to": _given_to,
}.items():  # fmt: skip
    setattr(MixedNumber, _special, _method)
MixedNumber.__hash__ = StandIn.__hash__  # type: ignore[method-assign]
