"""Comparisons of lists, tuples and dicts that hold values of a run: element by element, in Python's order.

Python asks each pair of elements whether they are equal, and wants to know at once; so converted code compares what
is written as a list, tuple or dict by ``ops.compare``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..staging.mixed_numbers import MixedNumber
from ..staging.staged_values import answer, is_staged, truth
from ..staging.users_methods import method_of
from .boolean_operators import and_, not_
from .if_statement import if_exp
from .overloads import compare as compare_operands

#: how Python's containers compare -> which of them does
_COMPARED: dict[Any, type] = {list.__eq__: list, tuple.__eq__: tuple, dict.__eq__: dict}


def compare(left: Any, sign: str, right: Any) -> Any:
    """Return ``left < right``, or with another sign."""
    kind = _kind(left)
    if kind is None or kind is not _kind(right):
        return compare_operands(left, sign, right)
    if not (asks_the_run(left) or asks_the_run(right) or asks_users(left) or asks_users(right)):
        return compare_operands(left, sign, right)
    if sign in ("==", "!="):
        same = equal(left, right)
        return not_(same) if sign == "!=" else same
    if kind is dict:
        return compare_operands(left, sign, right)  # which says that dicts have no order
    return _ordered(list(left), sign, list(right))


def equal(left: Any, right: Any) -> Any:
    """Return whether two elements are the same or equal, as a list asks it of its own: a bool, or one of the run.

    Raises
    ------
    ValueError
        If they are arrays of which NumPy does not say it.
    """
    if left is right:
        return True
    kind = _kind(left)
    if kind is None or kind is not _kind(right):
        same = compare_operands(left, "==", right)
        if isinstance(same, MixedNumber):  # a bool of Python's or NumPy's, of which Python takes the truth
            same = same.leaving()
        return answer(truth(same), left, right) if is_staged(same) else bool(same)
    if len(left) != len(right) or (kind is dict and left.keys() != right.keys()):
        return False
    pairs = [(left[key], right[key]) for key in left] if kind is dict else list(zip(left, right))
    return and_(True, *[_later(one, other) for one, other in pairs])


def is_of_run(value: Any) -> bool:
    """Return whether only the run knows a value, be it a number of which it tells the type, too."""
    return is_staged(value) or isinstance(value, MixedNumber)


def asks_the_run(value: Any, around: tuple[Any, ...] = ()) -> bool:
    """Return whether a list, tuple or dict holds a value of the run."""
    if _kind(value) is None or any(value is one for one in around):
        return False
    held = value.values() if isinstance(value, dict) else value
    return any(is_of_run(one) or asks_the_run(one, (*around, value)) for one in held)


def asks_users(container: Any, *others: Any) -> bool:
    """Return whether a list asks elements of the user's classes whether they are equal, or one of others."""
    if not isinstance(container, list | tuple):
        return False
    kinds = {type(one): one for one in (*others, *container)}
    return any(method_of(one, "__eq__") is not None for one in kinds.values())


def _kind(value: Any) -> type | None:
    """Return which of Python's containers compares a value, if it is one."""
    return _COMPARED.get(type(value).__eq__)


def _later(left: Any, right: Any) -> Callable[[], Any]:
    return lambda: equal(left, right)


def _ordered(left: list[Any], sign: str, right: list[Any]) -> Any:
    """Return how the first elements compare that are not equal, or else the lengths."""
    if not left or not right:
        return compare_operands(len(left), sign, len(right))
    one, other = left[0], right[0]
    return if_exp(
        equal(one, other), lambda: _ordered(left[1:], sign, right[1:]), lambda: compare(one, sign, other)
    )  # fmt: skip
