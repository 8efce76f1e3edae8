"""``Enum`` and ``auto`` with the meaning they have in ``enum``, for our own small sets of names.

The standard's makes a class in a third of a millisecond, and a start makes half a dozen: here a member is an object
with a name. What is left out is not needed: values, members by value, iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # checkers know what to make of the standard's: which members there are
    from enum import Enum as Enum
    from enum import auto as auto
else:

    class auto:
        """Stands for a member where a class is defined."""

        __slots__ = ()

    class Enum:
        """A class whose members are its only instances; they are equal to nothing but themselves."""

        __slots__ = ("name",)

        def __init_subclass__(cls) -> None:
            for name, value in [*vars(cls).items()]:
                if type(value) is auto:
                    member = object.__new__(cls)
                    member.name = name
                    setattr(cls, name, member)
                elif name.isupper():
                    raise TypeError(f"{cls.__name__}.{name} has a value: that takes the standard's Enum")

        def __repr__(self) -> str:
            return f"{type(self).__name__}.{self.name}"

        def __reduce__(self) -> tuple[Any, ...]:
            return getattr, (type(self), self.name)
