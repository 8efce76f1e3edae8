"""Comprehensions over many elements: from where they are loops of the graph, asked as they grow, as of ``for`` loops.

What is written out is Python's own comprehension: it is given the elements one by one, until the rest is to be a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tensor import Tensor

from ..staging.standins import is_growing
from .for_statement import Statement
from .iterables import as_staged
from .long_ranges import LEAST, PEELED, Growth
from .staged_fors import rest_of_long_range

#: of fewer elements there is no loop
FEWEST = PEELED + LEAST
_NUMBERS = (bool, int, float, complex)


def places_of(iterable: Any) -> tuple[int, Callable[[Any], Any]] | None:
    """Return how many elements something has, and what gives the one at a place that the run knows.

    None of what is not for the graph, and of few.
    """
    if type(iterable) is range:
        return None if len(iterable) < FEWEST else (len(iterable), _Number(iterable))
    staged = as_staged(iterable)
    if staged is None or staged.keep is not None or staged.written_out or staged.is_uneven or staged.checks:
        return None
    return (staged.length, staged.get) if isinstance(staged.length, int) and staged.length >= FEWEST else None


class _Number:
    """Gives the number at a place of a range, which the loop counts by itself."""

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers

    def __call__(self, number: Any) -> Any:
        return number


def written_or_grown(
    iterator: Iterator[Any], places: tuple[int, Callable[[Any], Any]], made: Callable[[Any], Any], is_split: bool
) -> Any:
    """Return the list of a comprehension, of which a loop of the graph may make the rest.

    Parameters
    ----------
    iterator : iterator
        Gives the elements to Python.
    places : tuple
        How many there are, and what gives one to the loop.
    made : callable
        Returns the list of some elements.
    is_split : bool
        Whether the list may be made in parts: not if what it holds may see a variable of the comprehension later.
    """
    count, get = places
    numbers = get.numbers if isinstance(get, _Number) else range(count)
    graph = current_graph()
    assert graph is not None
    return _Written(iterator, made, Growth(numbers, made, graph, None), is_split).whole(get)


class _Written:
    """A comprehension as far as Python makes it."""

    def __init__(self, iterator: Iterator[Any], made: Callable[[Any], Any], growth: Growth, is_split: bool) -> None:
        self.iterator, self.made, self.growth, self.is_split = iterator, made, growth, is_split
        self.rest: range | None = None

    def whole(self, get: Callable[[Any], Any]) -> Any:
        """Return its list; ``get`` gives an element to a loop of the graph."""
        made, growth = self.made, self.growth
        loop = Statement(
            lambda place, listed: (extended(listed, made([get(place)])),), ("comprehension",), (), (), None, None, ()
        )  # fmt: skip
        listed: Any = []
        while growth.count < growth.length:
            more = made(self._turns())
            listed, before = extended(listed, more), listed
            if self.rest is None:
                break
            if not _may_grow(more):
                self.is_split = False
            elif (left := rest_of_long_range(self.rest, loop, (before,), (listed,), growth)) is not None:
                return left[0]
        return listed

    def _turns(self) -> Iterator[Any]:
        """Yield the elements, until the rest is to be a loop."""
        self.rest = None
        for item in self.iterator:
            yield item
            self.growth.step()
            self.growth.tell()
            if self.is_split and self.growth.may_carry([], []) and (rest := self.growth.rest()):
                self.rest = rest
                return


def _may_grow(elements: Any) -> bool:
    """Return whether a list of the graph may hold elements such as these."""
    if is_growing(elements):
        return True
    leaves = nest.flatten(elements)
    return all(isinstance(one, (Tensor, *_NUMBERS)) or is_growing(one) for one in leaves) and bool(leaves)


def extended(listed: Any, more: Any) -> Any:
    """Return a list that nobody has seen with more elements; one of the graph if these are."""
    if is_growing(more) and isinstance(listed, list):
        if not listed:
            return more
        made = more.empty()
        made.extend(listed)
        listed = made
    if is_growing(listed):
        listed.extend(more, is_shared=False)
        return listed
    return [*listed, *more]
