"""What operations cost, as their rows state it: nanoseconds of one NumPy call on one core.

A row names a kind of price, or says how many multiply-adds of matrix products it does, or gives a function of its
inputs and attributes. ``analysis.cost`` makes nanoseconds of any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..base.dataclass import dataclass
from ..base.enumeration import Enum, auto
from ..base.shapes import TensorShape

#: what an unknown dimension, or the number of elements of an unknown shape, is taken for
TYPICAL = 64


class Price(Enum):
    """What an element costs, of the largest array unless said otherwise."""

    ARITHMETIC = auto()
    #: as ``exp``
    FUNCTION = auto()
    #: nothing: a view is made, or only the shape is looked at
    VIEW = auto()
    #: of the result only, elements picked one by one
    PICK = auto()
    #: of the second input only, put into the first
    PART = auto()
    #: not even a call: the value is there
    NOTHING = auto()
    #: no size tells: it is the user's code, which may block
    FOREIGN = auto()


@dataclass(frozen=True)
class Products:
    """The price of matrix products, for which BLAS has threads of its own.

    Attributes
    ----------
    count : callable
        ``count(*tensors, **attrs)`` gives the number of multiply-adds.
    """

    count: Callable[..., int]


#: a kind of price, matrix products, or ``price(*tensors, **attrs)`` in nanoseconds
Pricing: TypeAlias = Price | Products | Callable[..., float]


def elements(shape: TensorShape) -> int:
    """Return the number of elements, unknown dimensions taken for typical ones."""
    if shape.rank is None:
        return TYPICAL
    total = 1
    for d in shape.known:
        total *= TYPICAL if d is None else d
    return total
