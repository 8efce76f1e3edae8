"""Functions that give derivatives of others: copied and pickled by what they were made of."""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from autoloop_runtime.base.forks import undivided

from .conversion.pipeline import do_not_convert


class DerivativeFunction:
    """What ``grad(f)`` and its like give: a function, and how it was made.

    Parameters
    ----------
    maker : callable
        The public function that has made it.
    f : callable
        Of which it gives derivatives.
    options : tuple
        What else ``maker`` was given.
    call : callable
        What it does.
    traced : callable, optional
        Gives, of arguments, the decorated function that a call with them runs, and these as it takes them; None if
        there is no such function.

    Attributes
    ----------
    as_decorated : object
        What it is when it is differentiated itself; None until it is.
    """

    #: the first is copied by who wraps it
    __slots__ = ("__dict__", "__weakref__", "_call", "_made", "_traced", "as_decorated")

    def __init__(
        self, maker: Callable[..., Any], f: Callable[..., Any], options: tuple[Any, ...], call: Callable[..., Any],
        traced: Callable[..., tuple[Any, Sequence[Any]] | None] | None = None,
    ) -> None:  # fmt: skip
        functools.update_wrapper(self, call)
        self.__wrapped__ = f  # at once: who looks for what a function reaches takes so many steps
        self._call = call
        self._made = maker, f, options
        self._traced = traced
        self.as_decorated: Any = None
        do_not_convert(self)

    @do_not_convert
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    @property
    def differentiated(self) -> Callable[..., Any]:
        """What it gives derivatives of."""
        return self._made[1]

    @property
    def title(self) -> str:
        """What people call it: ``grad(f)``."""
        maker, f, _ = self._made
        name = f.title if isinstance(f, DerivativeFunction) else getattr(f, "__name__", str(f))
        return f"{maker.__name__}({name})" if self.is_derivative else name

    @property
    def is_derivative(self) -> bool:
        """Whether it is none of the functions that come with a derivative of their own."""
        return self._made[0].__name__ not in ("custom_gradient", "remat")

    def traced_as(self, args: Sequence[Any]) -> tuple[Any, Sequence[Any]] | None:
        """Return the decorated function that a call with these arguments runs, and the arguments as it takes them; None
        if there is none but what is made of this one."""
        return None if self._traced is None else self._traced(args)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __copy__(self) -> DerivativeFunction:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        maker, f, options = self._made
        other = copy.deepcopy(f, memo)  # itself, unless it is a method or an object
        return self if other is f else maker(other, *options)

    def __reduce__(self) -> str | tuple[Any, ...]:
        with undivided():
            from .sent_by_value import ByValue, found_by_name

        maker, f, options = self._made
        by_value, name = ByValue.asked(), getattr(self, "__qualname__", "")
        is_found = found_by_name(self.__module__, name) is self
        if is_found and not (by_value is not None and by_value.holds(self)):
            return name
        texts = () if by_value is None else by_value.texts(f)
        return made_again, (maker, f, options, texts)  # pickle says what is missing if ``f`` has no name

    def __repr__(self) -> str:
        maker, f, _ = self._made
        return f"<autoloop.{maker.__name__} of {getattr(f, '__qualname__', f)}>"


def made_again(
    maker: Callable[..., Any], f: Callable[..., Any], options: tuple[Any, ...], texts: tuple[Any, ...]
) -> Any:
    """Return a derivative of a function that has arrived, with the lines that it was sent with if it was."""
    if texts:
        with undivided():
            from .sent_by_value import put

        put(texts)
    return maker(f, *options)
