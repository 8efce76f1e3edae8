"""Extents of axes that the run decides: ``x[:k]`` has ``k`` elements, and no more than ``x`` has.

Where memory is laid out such an extent is a number: the most it can be. Where shapes are compared it is none: it is
equal to what is made of the same values only, so that code which asks for 0 or 1 never takes it for that. What it is
in a run is in a register, which ``writer.context`` knows; as text, which would be the bound, there is none.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NoReturn


class Extent(int):
    """How many elements an axis has, at most ``int(self)``.

    Parameters
    ----------
    most : int
    key
        What it is made of: extents of equal keys are equal wherever both are known.
    """

    key: Hashable

    def __new__(cls, most: int, key: Hashable) -> Extent:
        """Return an extent of ``most`` elements at most."""
        self = super().__new__(cls, most)
        self.key = key
        return self

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Extent) and self.key == other.key)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return "None"

    def __format__(self, spec: str) -> NoReturn:
        raise TypeError("an extent that the run decides is in a register: ask the context for it")

    __str__ = __repr__


class Given(Extent):
    """An extent of an argument: it is in a register from the beginning of the run to its end.

    Memory is packed as it says. ``place`` tells those of one function apart.
    """

    place: int

    def __new__(cls, most: int, place: int) -> Given:
        """Return the extent with the number ``place``, of ``most`` elements at most."""
        self = super().__new__(cls, most, ("given", place))
        assert isinstance(self, Given)
        self.place = place
        return self

    __hash__ = Extent.__hash__


def is_moving(shape: Sequence[int]) -> bool:
    """Return whether the run decides an extent of ``shape``."""
    return any(isinstance(n, Extent) for n in shape)


def is_unsteady(shape: Sequence[int]) -> bool:
    """Return whether the run decides an extent of ``shape`` that is none of its arguments'."""
    return any(isinstance(n, Extent) and not isinstance(n, Given) for n in shape)
