"""Strides that the extents of arguments decide: of a matrix of ``n`` columns an element is ``n`` after the one above.

A stride is a sum of products of such extents. It is computed with as any number is; what it is in a run is in a
register that ``writer.context`` makes (``Context.step``). As a number it is what it can be at most, for estimates only:
whoever would write it down as text, or divide it, is refused, and then there is code for each shape instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NoReturn

from ..ir.moving import Given
from ..typing.refusal import refuse

#: sums of products: factors -> how often
Terms = Mapping[tuple[Given, ...], int]


class Step(int):
    """How many elements an axis has between one of its elements and the next; ``terms`` say that in extents."""

    terms: Terms

    def __new__(cls, terms: Terms) -> Step:
        """Return the stride that is the sum of ``terms``."""
        self = super().__new__(cls, sum(n * prod(map(int, factors)) for factors, n in terms.items()))
        self.terms = terms
        return self

    def __mul__(self, other: int) -> int:
        return _product(self, other)

    def __add__(self, other: int) -> int:
        return _sum(self, other)

    def __sub__(self, other: int) -> int:
        return _sum(self, _product(other, -1))

    def __rsub__(self, other: int) -> int:
        return _sum(other, _product(self, -1))

    def __neg__(self) -> int:
        return _product(self, -1)

    __rmul__ = __mul__
    __radd__ = __add__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Step) and self.terms == other.terms

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        return "None"

    def __floordiv__(self, other: int) -> NoReturn:
        _refuse()

    def __format__(self, spec: str) -> NoReturn:
        _refuse()

    def __str__(self) -> str:
        return format(self)

    __mod__ = __rfloordiv__ = __rmod__ = __floordiv__


def _refuse() -> NoReturn:
    refuse(None, "how far apart elements are depends on the extents of arguments")


def _terms(number: int) -> dict[tuple[Given, ...], int]:
    if isinstance(number, Step):
        return dict(number.terms)
    if isinstance(number, Given):
        return {(number,): 1}
    return {(): int(number)} if number else {}


def _made(terms: dict[tuple[Given, ...], int]) -> int:
    left = {factors: n for factors, n in terms.items() if n}
    return Step(left) if any(left) else left.get((), 0)


def _product(a: int, b: int) -> int:
    made: dict[tuple[Given, ...], int] = {}
    for left, n in _terms(a).items():
        for right, m in _terms(b).items():
            factors = tuple(sorted((*left, *right), key=lambda extent: extent.place))
            made[factors] = made.get(factors, 0) + n * m
    return _made(made)


def _sum(a: int, b: int) -> int:
    made = _terms(a)
    for factors, n in _terms(b).items():
        made[factors] = made.get(factors, 0) + n
    return _made(made)


def packed(step: int, extent: int) -> int:
    """Return the stride of an axis if that of the one inside it is ``step`` and it has ``extent`` elements."""
    if isinstance(extent, Given):
        return _product(step, extent)
    return _product(step, int(extent)) if isinstance(step, Step) else step * int(extent)


def text_of(step: int, let: Callable[[str], str], extent: Callable[[int], str]) -> str:
    """Return a stride as text: a number, or a register; ``let`` writes what computes it of what ``extent`` tells."""
    if not isinstance(step, Step):
        return str(step)
    total = ""
    for factors, times in step.terms.items():
        text = "" if times == 1 and factors else str(times)
        for n in map(extent, factors):
            text = let(f"mul nsw i64 {text}, {n}") if text else n
        total = let(f"add nsw i64 {total}, {text}") if total else text
    return total


def steps_in(strides: Sequence[int]) -> list[tuple[int, Step]]:
    """Return the axes along which the extents of arguments say how far apart elements are, and how far that is."""
    return [(axis, step) for axis, step in enumerate(strides) if isinstance(step, Step)]
