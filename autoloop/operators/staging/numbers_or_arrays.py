"""Python numbers in one run and arrays with axes in another: what branches leave, and loops that may have no turn.

In the function they are arrays: a number beside an array is what an array without axes of its dtype is. Which it is,
and which number, is noted beside the array, and the caller gets what plain Python gives.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.dataclass import dataclass, field
from autoloop_runtime.base.stand_ins import UnknownWhileTracing, called
from autoloop_runtime.ir.composite import Composite, composite_of, register
from autoloop_runtime.ir.convert import convert_to_tensor, to_array
from autoloop_runtime.ir.followers import is_followed
from autoloop_runtime.ir.number_operators import CARRIERS, number_type
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, NumberTracer, handed_out

from ...left_to_python import refuse_unknown
from .standins import StandIn, is_growing


@dataclass(frozen=True, eq=False)
class Noted:
    """What is known of an array that may be a number.

    Attributes
    ----------
    is_number : Tensor, bool or None
        Whether it is one in this run; None where nothing is carried that tells.
    number : object
        The number that it is then; None where it may be of several types.
    name : str
        The variable, for messages.
    is_array : bool
        Whether it is not a number then but another array: what it was before a loop whose body changes its dtype.
    """

    is_number: Any
    number: Any
    name: str = ""
    is_array: bool = False


@dataclass(eq=False)
class _Notes:
    """The tensors of a root graph that may be numbers; a trace has one thread."""

    of: dict[Tensor, Noted] = field(default_factory=dict)

    def copy(self) -> _Notes:
        return _Notes(dict(self.of))


def is_untold(value: Any) -> bool:
    """Return whether a value may be a number, and nothing tells whether it is."""
    found = noted(value)
    return found is not None and found.is_number is None


def note(tensor: Tensor, is_number: Any, number: Any, name: str, is_array: bool = False) -> None:
    """Note that a tensor may be a number, or another array."""
    tensor = tensor.plain
    if tensor.node is not None:
        number = number if number_type(number) is None else _as_tensor(number)
        tensor.node.graph.root.record(_Notes).of[tensor] = Noted(is_number, number, name, is_array)


def _as_tensor(number: Any) -> Tensor:
    """Return what carries a Python number."""
    return (
        number.plain
        if isinstance(number, Tensor)
        else Tensor(to_array(number, CARRIERS[number_type(number) or complex]))
    )


def noted(value: Any) -> Noted | None:
    """Return what is noted of a value; of a number that it is one."""
    if number_type(value) is not None:
        return Noted(True, _as_tensor(value))
    if not isinstance(value, Tensor) or value.node is None:
        return None
    return value.node.graph.root.record(_Notes).of.get(value.plain)


def leave_inner_turns(name: str, value: Any, kind: Any) -> None:
    """Leave to plain Python an array whose dtype a loop inside another changes: it may keep the one it has through
    turns of the outer one in which the inner one makes none."""
    found = noted(value) if isinstance(value, ArrayTracer) and kind is not Tensor else None
    if found is not None and found.is_array:
        refuse_unknown(
            f"{name!r} is an array of {found.number.dtype} as long as a loop in the body of this one makes no turn, "
            f"and of {value.dtype} after it",
            f"let it be that before, {name} = {name}.astype(np.{value.dtype})",
        )


def are_apart(one: Any, other: Any) -> bool:
    """Return whether one is a list that grows, a sparse tensor or so, and the other is not: no tensor chooses those."""
    several = [composite_of(x) is not None and (is_growing(x) or not isinstance(x, StandIn)) for x in (one, other)]
    return several[0] != several[1]


def is_number_beside_array(one: Any, other: Any) -> bool:
    """Return whether what two sides of a branch leave is a number on one and an array with axes on the other."""
    if any(number_type(side) is None and noted(side) is not None for side in (one, other)):
        return True
    if (number_type(one) is None) == (number_type(other) is None):
        return False
    array = one if number_type(one) is None else other
    return bool(array.ndim) if isinstance(array, np.ndarray) else isinstance(array, ArrayTracer) and \
        array.shape.rank != 0  # fmt: skip


def notes_of(one: Any, other: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return for both sides of a branch whether each is a number, and which; None where those are of several types."""
    sides = [noted(side) or Noted(False, None) for side in (one, other)]
    dtypes = {side.number.dtype for side in sides if side.number is not None}
    unknown = any(side.number is None and side.is_number is not False for side in sides)
    if len(dtypes) != 1 or unknown:
        return (sides[0].is_number, None), (sides[1].is_number, None)
    (dtype,) = dtypes
    numbers = [convert_to_tensor(dtype.type(0)) if side.number is None else side.number.plain for side in sides]
    return (sides[0].is_number, numbers[0]), (sides[1].is_number, numbers[1])


@called("array or number (of which only the run knows which)")
class NumberOrArray(StandIn):
    """What a function gives that is a number in one run and an array in another.

    Attributes
    ----------
    value : ArrayTracer
        The array.
    noted : Noted
        Whether it is a number, and which.
    """

    __slots__ = ("noted", "value")

    def __init__(self, value: Any, noted: Noted) -> None:
        self.value, self.noted = value, noted

    def described(self) -> str:
        """Return what messages call it."""
        return "what is a number in one run and an array in another"

    def leaving(self) -> Any:
        """Return it as an array."""
        return self.value


def as_result(leaf: Any) -> Any:
    """Return what a function gives so that the caller gets a number where it is one.

    Raises
    ------
    TypeError
        If the number may be of several types.
    """
    found = noted(leaf) if isinstance(leaf, ArrayTracer) else None
    if found is None:
        return leaf
    if found.is_number is None:
        raise UnknownWhileTracing(
            f"{found.name!r} is a Python number in one run and an array in another, and which it is after a loop only "
            f"its iterations tell: let it be an array before the loop, as np.zeros_like(x) or np.full_like(x, 0.5)"
        )
    if found.number is None:
        raise UnknownWhileTracing(
            "what the function gives is an array after one branch and a Python number after another, of which only the "
            "run tells the type: let the number be an array, np.zeros_like(x) or np.asarray(0.0), or make it a float"
        )
    return NumberOrArray(leaf, found)


class _AsComposite(Composite[NumberOrArray]):
    """The array, whether it is a number, and which; of a result of a run one of the two."""

    def components(self, value: NumberOrArray) -> Sequence[Any]:
        return [value.value.plain, convert_to_tensor(value.noted.is_number), value.noted.number.plain]

    def spec(self, value: NumberOrArray) -> Hashable:
        return value.noted.is_array

    def from_components(self, spec: Any, components: Sequence[Any]) -> Any:
        value, is_number, number = components
        if not isinstance(value, Tensor) or value.node is not None:
            return NumberOrArray(value, Noted(is_number, number, "", spec))
        if is_followed(value) or is_followed(number):
            return value  # as what is differentiated stays
        other = ArrayTracer if spec else NumberTracer
        return handed_out(other, number) if bool(is_number) else handed_out(ArrayTracer, value)


register(NumberOrArray, _AsComposite())
