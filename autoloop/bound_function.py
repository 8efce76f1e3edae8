"""Decorated methods: a function together with its instance; its traces serve other instances too."""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .function import Function


class BoundFunction:
    """A decorated method together with its instance; callable, and otherwise like its ``Function``."""

    __slots__ = ("__self__", "function")

    def __init__(self, function: Function, instance: Any) -> None:
        self.function = function
        self.__self__ = instance

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    else:
        __call__ = property(operator.attrgetter("function.entry"))

    @property
    def python_function(self) -> Callable[..., Any]:
        """The undecorated method, bound."""
        method: Callable[..., Any] = self.function.python_function.__get__(self.__self__)
        return method

    __wrapped__ = python_function  # whose signature has no ``self``

    def __eq__(self, other: object) -> bool:  # as of methods
        if not isinstance(other, BoundFunction):
            return NotImplemented
        return self.__self__ is other.__self__ and self.function is other.function

    def __hash__(self) -> int:
        return hash((id(self.__self__), self.function))

    def __reduce__(self) -> tuple[Any, ...]:
        own = self.__self__
        for cls in (own if isinstance(own, type) else type(own)).__mro__:
            for name, found in vars(cls).items():
                if self._is_of(found):  # which a subclass may have hidden, as ``super().step``
                    return (getattr, (own, name)) if getattr(own, name, None) == self else (_bound, (cls, name, own))
        return getattr, (own, self.function.python_function.__name__)  # as of a method

    def _is_of(self, found: Any) -> bool:
        made: Any = found.__func__ if isinstance(found, classmethod) else found
        is_alike = isinstance(made, type(self.function)) and made.python_function is self.function.python_function
        return is_alike and made.options() == self.function.options()

    def __getattr__(self, name: str) -> Any:
        if name == "__deepcopy__":  # which is the function's, not a method's
            raise AttributeError(name)
        return getattr(self.function, name)

    def __repr__(self) -> str:
        return f"<autoloop.function {self.function.name} of {self.__self__!r}>"


def _bound(cls: type, name: str, instance: Any) -> Any:
    """Return what a class has under a name, as a method of ``instance``, whose own may be another."""
    return vars(cls)[name].__get__(instance, type(instance))


def reference_to(instance: Any, bound: dict[int, Any]) -> Callable[[], Any]:
    """Return what gives an instance, which it does not keep alive where that can be helped; its entry goes with it."""
    key = id(instance)
    try:
        return weakref.ref(instance, lambda _: bound.pop(key, None))
    except TypeError:  # a class with __slots__
        return lambda: instance
