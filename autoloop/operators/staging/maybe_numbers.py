"""What operators and functions give of an array that is a Python number in some runs.

Beside a Python number it may be a number again; beside an array it has the shape and dtype that this gives it in every
run. Where the two runs differ in the dtype the operation is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.stand_ins import UnknownWhileTracing, called
from autoloop_runtime.ir.array_views import name_of_view
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.number_operators import CARRIERS, number_type, type_of_carrier
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_operators import BINARY, COMPARISONS, GOES_FIRST
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, kind_of

from ...left_to_python import LeftByRun
from .numbers_or_arrays import Noted, is_untold, note, noted
from .raising import Raising, raise_unless

_COMPARED = (*COMPARISONS, "eq", "ne")
#: the attributes of arrays that are values
_VALUES = "T mT real imag flat"


@called("array or number (of which only the run knows which)")
class MaybeNumber(ArrayTracer):
    """An array of which it is noted that it may be a number."""

    __slots__ = ()

    @property
    def __autoloop_kind__(self) -> type[ArrayTracer]:
        return ArrayTracer

    def asked_for(self, name: str) -> ArrayTracer:
        """Return the array whose attribute is asked for: in the runs where it is none the run raises."""
        found = noted(self)
        if found is None or found.is_array:
            return self.certain()
        kind = _types(found)
        if found.is_number is None or kind is None or hasattr(kind, name):
            raise _refusal(self, f"attribute {name!r}")
        text = f"{kind.__name__!r} object has no attribute {name!r}"
        return self._unless(found, AttributeError, text)

    def certain(self) -> ArrayTracer:
        """Return the array that this is after a loop that has changed its dtype: without a turn the run is refused."""
        found, plain = noted(self), ArrayTracer(self.plain)
        plain.storage = self.storage
        if found is None or not found.is_array:
            return plain
        text = (
            f"{found.name!r} is an array of {found.number.dtype} if the loop makes no turn, as in this run, and one of "
            f"{self.dtype} after it: let it be that before, {found.name} = {found.name}.astype(np.{self.dtype})"
        )
        return self._unless(found, LeftByRun, text)

    def _unless(self, found: Noted, kind: type[Exception], text: str) -> ArrayTracer:
        raise_unless(ops.logical_not(found.is_number), Raising(kind, lambda: kind(text)))
        plain = ArrayTracer(self.plain)
        plain.storage = self.storage
        return plain

    def __getitem__(self, index: Any) -> Any:
        found = noted(self)
        if found is None or found.is_array:
            return self.certain()[index]
        kind = _types(found)
        if found.is_number is None or kind is None:
            raise _refusal(self, "an index")
        return self._unless(found, TypeError, f"{kind.__name__!r} object is not subscriptable")[index]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        inputs, kwargs = _certain(inputs), {name: _certain(one) for name, one in kwargs.items()}
        if not _holds_maybe((inputs, kwargs)):
            return getattr(ufunc, method)(*inputs, **kwargs)
        is_plain = method == "__call__" and not kwargs
        if not (is_plain and _is_alike(ufunc, inputs)):
            _check_function(ufunc.__name__, (inputs, kwargs))
        if not is_plain or not any(map(is_untold, inputs)):
            return getattr(ufunc, method)(*_exact(inputs), **kwargs)
        made = ufunc(*_as_arrays(inputs))
        return made if _is_shaped_by_others(inputs) else _as_untold(self, made)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        args, kwargs = _certain(args), _certain(kwargs)
        if not _holds_maybe((args, kwargs)):
            return func(*args, **kwargs)
        _check_function(func.__name__, (args, kwargs))
        if func is np.where and not kwargs and any(map(is_untold, args)) and _is_shaped_by_others(args):
            return func(*_as_arrays(args))
        return func(*_exact(args), **_exact(kwargs))


def _holds_maybe(given: Any) -> bool:
    return any(isinstance(one, MaybeNumber) for one in nest.flatten(given))


def given_exactly(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a function of NumPy's that asks none, with what may be numbers as they are in a run.

    Raises
    ------
    UnknownWhileTracing
        If what it gives has another dtype of the number than of the array.
    """
    if not _holds_maybe((args, kwargs)):
        return args, kwargs
    args, kwargs = _certain(args), _certain(kwargs)
    _check_function(getattr(function, "__name__", "ndarray"), (args, kwargs))
    for one in (*args, *kwargs.values()):
        if type(one) is MaybeNumber and name_of_view(function) is not None:
            raise _refusal(one, f"np.{function.__name__}")  # of a number an array without axes, of a scalar one
    return _exact(args), _exact(kwargs)


def _certain(value: Any) -> Any:
    """Return a structure in which arrays whose dtype a loop has changed are what they are after a turn."""
    return nest.map_structure(after_a_turn, value)


def after_a_turn(leaf: Any) -> Any:
    """Return an array whose dtype a loop has changed as what it is after a turn; the run is refused without one."""
    found = noted(leaf) if isinstance(leaf, MaybeNumber) else None
    return leaf.certain() if found is not None and found.is_array else leaf


def as_maybe_number(array: Any) -> Any:
    """Return an array as one that may be a number, if that is noted of it."""
    if type(array) is not ArrayTracer or noted(array) is None:
        return array
    made = MaybeNumber(array.plain)
    made.storage = array.storage
    return made


def _refusal(value: MaybeNumber, what: str) -> UnknownWhileTracing:
    found = noted(value)
    name = found.name if found is not None else ""
    return UnknownWhileTracing(
        f"{name!r} is a Python number in one run and an array in another, and {what} gives something else of each: let "
        f"it be an array from the beginning, as np.zeros_like(x) or np.full_like(x, 0.5)"
    )


def _changed_in_place(found: Noted) -> UnknownWhileTracing:
    return UnknownWhileTracing(
        f"{found.name!r} is a Python number in one run and an array in another, and only arrays are changed in place: "
        f"write {found.name} = {found.name} + ..., which gives a new one of both"
    )


def _exact(value: Any) -> Any:
    """Return a structure with arrays in place of what may be numbers: without axes in the runs where they are."""
    return nest.map_structure(lambda leaf: _in_run(leaf) if type(leaf) is MaybeNumber else leaf, value)


def _in_run(value: MaybeNumber) -> ArrayTracer:
    found, array = noted(value), value.plain
    if found is None or array.shape.rank is None:
        return ArrayTracer(array)
    if found.is_number is None or 0 in array.shape:  # an array without elements has no place for the number
        raise _refusal(value, "a function of arrays")
    flat = ops.reshape(array, (-1,))
    with undivided():
        from autoloop_runtime.control.while_loop import cond

    return ArrayTracer(cond(found.is_number, lambda: ops.getitem(flat, 0), lambda: array))


def _types(found: Noted) -> type[complex] | None:
    return None if found.number is None else type_of_carrier(found.number.dtype)


def _as_arrays(inputs: Sequence[Any]) -> list[Any]:
    return [ArrayTracer(one.plain) if isinstance(one, MaybeNumber) else one for one in inputs]


def _is_shaped_by_others(inputs: Sequence[Any]) -> bool:
    """Return whether what is made of arguments has the shape of one that is no number in any run."""
    maybe = [one for one in inputs if isinstance(one, MaybeNumber)]
    others = [one for one in inputs if number_type(one) is None and not isinstance(one, MaybeNumber)]
    return all(any(_is_around(one, other) for other in others) for one in maybe)


def _as_untold(value: MaybeNumber, made: Any, number: Any = None) -> Any:
    """Return what is made of a value of which nothing tells whether it is a number, as such a value."""
    found = noted(value)
    assert found is not None
    if not isinstance(made, ArrayTracer):
        raise _refusal(value, "a function of arrays")
    note(made, None, type_of_carrier(made.dtype)(1) if number is None else number, found.name)
    return as_maybe_number(made)


def _sample(value: Any, is_number: bool) -> Any:
    """Return a value of the dtype of another, or of its type if it is a number."""
    kind = number_type(value)
    if kind is not None:
        return kind(1)
    found = noted(value) if isinstance(value, MaybeNumber) else None
    if is_number and found is not None and (kind := _types(found)) is not None:
        return kind(1)
    return np.ones(1, value.dtype if hasattr(value, "dtype") else None)


def _is_alike(ufunc: Any, inputs: Sequence[Any]) -> bool:
    """Return whether a function gives the same dtype of the arrays and of the numbers."""
    if any(isinstance(one, MaybeNumber) and ((found := noted(one)) is None or found.number is None) for one in inputs):
        return False
    function: Callable[..., Any] = ufunc
    with np.errstate(all="ignore"):
        try:
            pair = [function(*[_sample(one, is_number) for one in inputs]) for is_number in (False, True)]
        except TypeError:
            return True  # which is an error of the function
    array, number = ([np.asarray(one).dtype for one in nest.flatten(made)] for made in pair)
    return array == number


def _check_function(name: str, given: Any) -> None:
    """Refuse a function whose dtype depends on whether an argument is a number."""
    leaves = [leaf for leaf in nest.flatten(given) if isinstance(leaf, (Tensor, np.ndarray, np.generic))]
    for leaf in leaves:
        if not isinstance(leaf, MaybeNumber) or (found := noted(leaf)) is None:
            continue
        kind = _types(found)
        others = {one.dtype for one in leaves if number_type(one) is None and one.dtype.kind != "b"}
        if kind is None or CARRIERS[kind] != leaf.dtype or others != {leaf.dtype}:
            raise _refusal(leaf, f"np.{name}")


def _operated(name: str, plain: Callable[[Any, Any], Any], reflected: bool, inplace: bool) -> Callable[[Any, Any], Any]:
    numbers: Callable[[Any, Any], Any] = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def operated(self: MaybeNumber, other: Any) -> Any:
        mine = noted(self)
        if mine is not None and mine.is_array:
            return plain(self.certain(), after_a_turn(other))
        other = after_a_turn(other)
        theirs = Noted(True, other, "") if number_type(other) is not None else noted(other)
        if mine is None or name == "matmul" or not (theirs or isinstance(other, (Tensor, np.ndarray, np.generic))):
            return plain(self, other)
        if theirs is None:
            return _beside_array(self, mine, other)
        if inplace:
            raise _changed_in_place(mine)
        kinds = [_type_of(one) for one in (mine, theirs)]
        if None in kinds or (theirs.is_number is not True and not _agree(self, other, kinds)):
            raise _refusal(self, f"operator {name!r}")
        array = plain(self, other)
        if array is NotImplemented:
            return array
        if mine.is_number is None or theirs.is_number is None:
            return _as_untold(self, array, numbers(*[kind(1) for kind in kinds if kind is not None]))
        both = ops.logical_and(mine.is_number, theirs.is_number)
        one, two = (_number_in_run(both, part) for part in (mine.number, theirs.number))
        made = numbers(two, one) if reflected else numbers(one, two)
        note(array, both, made, mine.name)
        return as_maybe_number(array)

    def _beside_array(self: MaybeNumber, mine: Noted, other: Any) -> Any:
        kind = _type_of(mine)
        is_known = name in _COMPARED or (kind is not None and _gives_same(name, kind, self.dtype, other.dtype))
        if kind_of((other,)) is Tensor:
            return plain(self, other)
        if not is_known:
            raise _refusal(self, f"operator {name!r}")
        if _is_around(self, other):
            return plain(self, other)
        if inplace:
            raise _changed_in_place(mine)
        return getattr(_in_run(self), f"__{'r' if reflected else ''}{name}__")(other)

    return operated


def _type_of(found: Noted) -> type[complex] | None:
    number = found.number
    return None if number is None else number_type(number) or type_of_carrier(number.dtype)


def _gives_same(name: str, kind: type[complex], dtype: Any, other: Any) -> bool:
    return bool(np.result_type(dtype, other) == np.result_type(kind(1), other))


def _agree(one: Any, other: Any, kinds: list[Any]) -> bool:
    common = np.result_type(one.dtype, other.dtype)
    return bool(np.result_type(one.dtype, kinds[1](1)) == common == np.result_type(kinds[0](1), other.dtype))


def _is_around(one: Any, other: Any) -> bool:
    """Return whether what both make has the shape of the other, whatever one is."""
    mine, theirs = (tuple(convert_to_tensor(part).shape.as_list()) if convert_to_tensor(part).shape.rank is not None
                    else None for part in (one, other))  # fmt: skip
    if mine is None:
        return True  # a number has no axes there
    return theirs is not None and len(mine) <= len(theirs) and all(
        a == b or a == 1 for a, b in zip(mine[::-1], theirs[::-1], strict=False)
    )  # fmt: skip


def _number_in_run(is_number: Any, number: Any) -> Any:
    """Return a number, and one that no operator fails for in the runs where nobody asks for it."""
    tensor = convert_to_tensor(number if isinstance(number, Tensor) else np.asarray(number)[()])
    return NumberTracer(ops.where(is_number, tensor.plain, tensor.dtype.type(1)))


def _unary(name: str, plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def operated(self: MaybeNumber) -> Any:
        mine = noted(self)
        if mine is not None and mine.is_array:
            return plain(self.certain())
        array = plain(self)
        if mine is None:
            return array
        if mine.number is None:
            raise _refusal(self, f"operator {name!r}")
        if mine.is_number is None:
            return _as_untold(self, array, (_type_of(mine) or float)(1))
        note(array, mine.is_number, getattr(operator, name)(_number_in_run(mine.is_number, mine.number)), mine.name)
        return as_maybe_number(array)

    return operated


def _asked(name: str) -> Callable[..., Any]:
    def method(self: MaybeNumber, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.asked_for(name), name)(*args, **kwargs)

    return method


def _asked_value(name: str) -> Callable[[MaybeNumber], Any]:
    plain = getattr(ArrayTracer, name).fget

    def value(self: MaybeNumber) -> Any:
        found = noted(self)
        is_of_both = found is not None and not found.is_array and hasattr(_types(found) or complex, name)
        return plain(self) if is_of_both else getattr(self.asked_for(name), name)

    return value


for _name in (*BINARY, *_COMPARED):
    setattr(MaybeNumber, f"__{_name}__", _operated(_name, getattr(ArrayTracer, f"__{_name}__"), False, False))
    if _name not in _COMPARED:
        setattr(MaybeNumber, f"__r{_name}__", _operated(_name, getattr(ArrayTracer, f"__r{_name}__"), True, False))
        setattr(MaybeNumber, f"__i{_name}__", _operated(_name, getattr(ArrayTracer, f"__i{_name}__"), False, True))
for _name in ("neg", "pos", "abs"):
    setattr(MaybeNumber, f"__{_name}__", _unary(_name, getattr(ArrayTracer, f"__{_name}__")))
for _name, _member in vars(np.ndarray).items():
    if _name[0] != "_" and callable(_member) and hasattr(ArrayTracer, _name):
        setattr(MaybeNumber, _name, _asked(_name))
for _name in _VALUES.split():
    setattr(MaybeNumber, _name, property(_asked_value(_name)))
MaybeNumber.__hash__ = ArrayTracer.__hash__  # type: ignore[method-assign]
GOES_FIRST.add(MaybeNumber)
nest.opaque(MaybeNumber)
