"""``if`` statements and conditional expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoloop.operators.values import is_staged

Branch = Callable[..., Any]
Places = Callable[[], tuple[tuple[Any, str], ...]]


def if_stmt(
    test: Any,
    then: Branch | None,
    orelse: Branch | None,
    names: tuple[str, ...],
    *,
    shared: tuple[str, ...] = (),
    places: Places | None = None,
) -> Branch:
    """Choose a branch.

    Parameters
    ----------
    test : object
        The condition.
    then, orelse : callable or None
        The branches; both take the same variables and return those of ``names``. None gives its first
        parameters back.
    names : tuple of str
        The variables that the branches return.
    shared : tuple of str
        Variables they change through ``nonlocal`` or ``global``.
    places : callable, optional
        Gives the attributes they change, as ``(object, name)``.

    Returns
    -------
    callable
        Takes the values of the branches' parameters, returns a tuple of the values of ``names``.
    """
    chosen = then if test else orelse
    if chosen is not None:
        return chosen
    count = len(names)
    return lambda *values: values[:count]


def if_return(
    test: Any,
    then: Branch | None,
    orelse: Branch | None,
    *,
    shared: tuple[str, ...] = (),
    places: Places | None = None,
) -> Branch:
    """Choose a branch that gives the value of the whole function.

    Takes what :func:`if_stmt` takes; what it returns gives the function's value.
    """
    chosen = then if test else orelse
    return chosen if chosen is not None else _nothing


def _nothing(*_: Any) -> None:
    return None


def if_exp(test: Any, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
    """``then() if test else orelse()``."""
    return then() if test else orelse()
