"""The marker for a variable that has no value yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.stand_ins import called

from ...errors import ConversionError
from .raising import Raising, flat_kinds, raise_unless
from .standins import Maybe, MaybeRecord, StandIn, opened, present


class Undefined(StandIn):
    """Stands in for the value of a variable that has not been set.

    Whoever uses it as a value gets the ``UnboundLocalError`` that Python would raise.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def described(self) -> str:
        """Return what messages call it."""
        return f"{self.name!r}, which has no value"

    def leaving(self) -> NoReturn:
        """Raise what Python raises."""
        raise unbound(self.name)

    def __repr__(self) -> str:
        return f"<{self.name}: no value>"

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise unbound(self.name)

    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __setitem__ = __contains__ = __index__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __neg__ = __pos__ = __invert__ = _refuse
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class _UnsetOrValue(MaybeRecord):
    """What a :class:`MaybeUnset` knows."""

    __slots__ = ()

    def needed(self) -> Any:
        """Return the value; at run time it is an error if there is none."""
        name = self.name
        raise_unless(self.is_set, Raising(type(unbound(name)), lambda: unbound(name)))
        return self.value

    leaving = needed

    def parts(self) -> tuple[list[Any], Callable[..., Any]]:
        """Return tensors, and what makes of their values the value of a run; it is checked that there is one."""
        leaves, structure = nest.flatten_with_structure(self.needed())
        return leaves, lambda *values: nest.unflatten(structure, values)

    def described(self) -> str:
        """Return what messages call it."""
        return f"{self.name!r}, of which only the run tells whether it has a value"


@called("value (of which only the run knows whether it is there)")
class MaybeUnset(Maybe):
    """The value of a variable that a staged loop or branch may have left unset."""

    __slots__ = ()

    def __init__(self, name: str, value: Any, is_set: Any) -> None:
        object.__setattr__(self, "__record__", _UnsetOrValue(name, value, is_set))

    def __repr__(self) -> str:
        return f"<{self.__record__.name}: no value or {self.__record__.value!r}>"


def maybe(name: str, value: Any, is_set: Any, optional: bool) -> Maybe:
    """Return a value of which only the run tells whether it is there, or else None, where it is ``optional``."""
    if not optional:
        return MaybeUnset(name, value, is_set)
    with undivided():
        from .optional import MaybeNone

    return MaybeNone(name, value, is_set)


def unbound(name: str) -> UnboundLocalError | AttributeError:
    """Return the error for reading a variable, or an attribute, without a value, worded as Python words it."""
    owner, _, attribute = name.rpartition(".")
    if owner:
        return AttributeError(f"{owner!r} object has no attribute {attribute!r}", name=attribute)
    error = UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")
    error.name = name
    return error


def defined(value: Any, caught: Callable[[], tuple[Any, ...]] | None = None) -> Any:
    """Return a variable's value; converted code asks this where the variable may have none.

    Parameters
    ----------
    value : object
        The value or a marker.
    caught : callable, optional
        Gives what the ``except`` clauses around the place catch.

    Raises
    ------
    UnboundLocalError
        If it has none; at run time if only the run can tell.
    ConversionError
        If only the run can tell, and the function would catch the error.
    """
    if type(value) is Undefined:
        raise unbound(value.name)
    if type(value) is MaybeUnset:
        name = opened(value).name
        if caught is not None and any(issubclass(UnboundLocalError, kind) for kind in flat_kinds(caught())):
            raise ConversionError(
                f"whether {name!r} has a value is known only at run time, where an `except` in the converted function "
                f"cannot catch the UnboundLocalError: give {name!r} a value before the loop or branch that sets it"
                " [AL004]"
            )
        return present(value)
    return value


def spoken(name: str) -> str:
    """Return what messages call a variable: the one that carries what a ``return`` in a loop gives is ours."""
    ours = name == "return_value" or (name.startswith("return_value_") and name[len("return_value_") :].isdecimal())
    return "return" if ours else name


def when_set(value: Any) -> Any:
    """Return what a variable holds where it has a value; anything else, also a marker of none, as it is."""
    return opened(value).value if type(value) is MaybeUnset else value


def returned(value: Any) -> Any:
    """Return the value that a ``return`` in a loop has left for the end of the function.

    There is one wherever this is asked; were there none, it would be asked in a branch that is never taken.
    """
    return when_set(value)


def user_variables(variables: dict[str, Any], names: tuple[str, ...], only_names: bool = False) -> Any:
    """Return what ``locals()`` gives in the user's own function, or ``dir()``, without what conversion added.

    Raises
    ------
    TypeError
        If only the run can tell whether a variable is among them.
    """
    mine = {name: value for name, value in variables.items() if name in names and type(value) is not Undefined}
    for value in mine.values():
        if type(value) is MaybeUnset:
            opened(value).refuse_leaving("locals() would give")
    return sorted(mine) if only_names else mine
