"""``and``, ``or``, ``not``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from autoloop_runtime import ops
from autoloop_runtime.base.stand_ins import UnknownWhileTracing, called
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.number_operators import CARRIERS, number_type
from autoloop_runtime.ir.tracers import NumberTracer, kind_of, marked, number_of

from ...left_to_python import leave_unknown, refuse_unknown
from ..mutation.side_effects import NewPlaces, Outside
from ..staging.branch_sides import staged_branch
from ..staging.mixed_numbers import MixedNumber
from ..staging.optional import MaybeNone, joined, knowing, negated, told_by
from ..staging.staged_values import answer, asked, is_staged, truth
from ..staging.standins import Either, Maybe, StandIn, opened, present

_OPERANDS = "the operands of `and`, or of `or`, that a tensor decides on"


@called("value (which `and` or `or` gives, and only the run knows)")
class OnlyTruth(Either):
    """What ``stack or x`` gives where only the run knows how long the list is: it can be asked whether it is true.

    It is also what ``a and b`` gives of objects of the user's, of which the run knows whether they are true.

    Parameters
    ----------
    truth : Tensor
    """

    __slots__ = ("_truth",)
    advice = "write it as an `if` statement"

    def __init__(self, truth: Any) -> None:
        self._truth = truth

    def __eq__(self, other: object) -> NoReturn:
        self.refuse_leaving("`==` would compare")

    def __ne__(self, other: object) -> NoReturn:
        self.refuse_leaving("`!=` would compare")

    __hash__ = StandIn.__hash__

    def described(self) -> str:
        """Return what messages call it."""
        return "what `and` or `or` gives of objects of which only the run knows whether they are true"

    def refuse_leaving(self, what: str) -> NoReturn:
        """Let plain Python run the function, which has one of the two there, if it can."""
        leave_unknown(f"{what} {self.described()}")
        raise UnknownWhileTracing(f"{what} {self.described()}: {self.advice}")

    def decision(self) -> Any:
        """Return the truth."""
        return self._truth


def _is_only_asked(value: Any, said: Any) -> bool:
    """Return whether a value is none that an array could hold, though the run decides on it: a container, or an object
    of the user's that has ``said`` whether it is true."""
    if isinstance(value, StandIn):
        return not isinstance(value, MixedNumber | Maybe)
    return said is not value


def _with_answer(value: Any) -> tuple[Any, Any]:
    """Return a later operand and, if its truth may be all that is to be had of it, that."""
    return value, value if isinstance(value, MixedNumber) or type(value) is MaybeNone else asked(value)


def and_(first: Any, *later: Callable[[], Any]) -> Any:
    """Return ``first and ...``: the later operands are evaluated only if needed."""
    value = first
    for index, thunk in enumerate(later):
        said = asked(value)
        if is_staged(said):
            return _staged(value, said, _rest(and_, later[index:]), later[index:], is_and=True)
        if not said:
            return value
        value = thunk()
    return value


def or_(first: Any, *later: Callable[[], Any]) -> Any:
    """Return ``first or ...``: the later operands are evaluated only if needed."""
    value = first
    for index, thunk in enumerate(later):
        said = asked(value)
        if is_staged(said):
            return _staged(value, said, _rest(or_, later[index:]), later[index:], is_and=False)
        if said:
            return value
        value = thunk()
    return value


def _rest(operator: Callable[..., Any], later: tuple[Callable[[], Any], ...]) -> Callable[[], Any]:
    return lambda: operator(later[0](), *later[1:])


def _staged(
    value: Any, said: Any, rest: Callable[[], Any], thunks: tuple[Callable[[], Any], ...], *, is_and: bool
) -> Any:
    """Choose between the value so far, which was asked whether it is true and has ``said`` so, and the rest.

    Where a tensor decides, the result of a boolean and a number is a number: True is 1.
    """
    test = truth(said)
    number = number_of((test,))
    first = _first(value, said, is_and)
    told = told_by(said)
    later: list[tuple[Any, Any]] = []
    is_truth = [_is_only_asked(value, said)]
    # The user's method that says whether an object is true may change something, as the operand may.
    watched = Outside(thunks, (), None).watch(lambda: _with_answer(rest()))

    def evaluated() -> Any:
        with knowing(told[not is_and]):
            given, its = watched()
            is_truth.append(_is_only_asked(given, its))
            second = _operand(given, its)
        if number is not NumberTracer:
            second = _as_number(second, first)
        later.append((second, told_by(given)))
        return second

    def known() -> Any:
        if number is NumberTracer or not later:  # no operand, if all it does is to raise
            return first
        return _as_number(first, later[0][0])

    needed = test if is_and else answer(ops.logical_not(test), test)
    try:
        # What an operand raises belongs to the run, as in the branch of an `if`: it may never be evaluated.
        (result,) = staged_branch(needed, lambda: (evaluated(),), lambda: (known(),), ("value",), _OPERANDS)
    except NewPlaces as places:
        what = f"an operand of `{'and' if is_and else 'or'}` that a tensor decides on changes {places}"
        refuse_unknown(what, "use an `if` statement instead")
    made = joined((told, later[0][1]) if later else (told,), result, is_and=is_and)
    return OnlyTruth(truth(made)) if any(is_truth) else made


def _first(value: Any, said: Any, is_and: bool) -> Any:
    """Return the first operand, as it is where it is the result."""
    if type(value) is MaybeNone:
        if is_and:
            name = opened(value).name
            raise TypeError(
                f"`{name} and ...` would be None if {name!r} is: write `{name} is not None and ...` [AL021]"
            )
        return _of_its_kind(opened(value).value)
    return _operand(value, said)


def _as_number(value: Any, other: Any) -> Any:
    """Return a truth value beside a number as the number that it is to Python."""
    dtype, its = (CARRIERS.get(number_type(one) or object, getattr(one, "dtype", None)) for one in (value, other))
    if dtype is None or its is None or dtype.kind != "b" or its.kind == "b":
        return value if dtype is not None else convert_to_tensor(value)
    return marked(kind_of((value,)), ops.cast(value, its))


def _operand(value: Any, said: Any) -> Any:
    if isinstance(value, MixedNumber):
        return value
    return said if type(value) is not MaybeNone else _of_its_kind(present(value))


def _of_its_kind(value: Any) -> Any:
    """Return a value that may have been None as a tensor that is to the user what it is."""
    return marked(kind_of((value,)), convert_to_tensor(value))


def not_(value: Any) -> Any:
    """Return ``not value``."""
    value = asked(value)
    if is_staged(value):
        return negated(value, answer(ops.logical_not(truth(value)), value))
    return not value
