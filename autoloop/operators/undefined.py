"""The marker for a variable that has no value yet."""

from __future__ import annotations

from typing import Any, NoReturn


class Undefined:
    """Stands in for the value of a variable that has not been set.

    Whoever uses it as a value gets the ``UnboundLocalError`` that Python would raise.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Undefined({self.name!r})"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise unbound(self.name)

    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __setitem__ = __contains__ = __index__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __neg__ = __pos__ = __invert__ = _refuse
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


def unbound(name: str) -> UnboundLocalError:
    """Return the error for reading a variable without a value, worded as Python words it."""
    return UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")


def defined(value: Any) -> Any:
    """Return a variable's value; converted code asks this where the variable may have none.

    Raises
    ------
    UnboundLocalError
        If it has none.
    """
    if type(value) is Undefined:
        raise unbound(value.name)
    return value


def user_variables(variables: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return what ``locals()`` gives in the user's own function, without what conversion added."""
    return {
        name: value
        for name, value in variables.items()
        if name in names and type(value) is not Undefined
    }
