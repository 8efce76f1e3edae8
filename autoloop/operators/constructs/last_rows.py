"""Rows of arrays that a staged loop leaves in its targets: after it they are those of the last iteration.

What variables hold after a loop is carried from iteration to iteration, as values; which array they are, or are a part
of, only the run knows. Of a loop that runs over the rows of an array, to its end, that is known: its target is the last
row, by which the array can be written to and whose elements are those that it has later.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.graph import current_graph

from .iterables import StagedIterable

_Path = tuple[int, ...]


class Rows:
    """The targets of a loop that hold rows when its body ends.

    Parameters
    ----------
    items : StagedIterable
        What the loop runs over; if there are targets, all of it, and its length is known.
    names, targets : sequence of str
        The variables of the loop, and which of them it gives its elements or their parts.
    """

    def __init__(self, items: StagedIterable, names: Sequence[str], targets: Sequence[str]) -> None:
        self._items = items
        is_known = items.keep is None and not items.functions
        self._places = [names.index(name) for name in targets] if is_known else []
        #: the places of variables -> where in the last element they are
        self._found: dict[int, _Path] = {}

    def kept_out(self, item: Any, left: Sequence[Any], mine: Sequence[Any]) -> list[Any]:
        """Return what an iteration leaves, where targets that are rows of ``item`` are as they were: nobody asks."""
        if not self._places:
            return list(left)
        self._found = {}
        values = list(left)
        for place in self._places:
            path = next((path for path, row in _rows_of(item) if row is values[place]), None)
            if path is not None:
                self._found[place], values[place] = path, mine[place]
        return values

    def put_in(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return what the loop leaves, with the last rows."""
        if not self._found:
            return tuple(values)
        last = self._items.get(self._items.length - 1)
        return tuple(
            functools.reduce(operator.getitem, self._found[place], last) if place in self._found else value
            for place, value in enumerate(values)
        )


def _rows_of(item: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Yield where the views of arrays from outside the loop are in an element, and these."""
    if type(item) is tuple:
        for k, part in enumerate(item):
            yield from _rows_of(part, (*path, k))
    elif (storage := kept(item)) is not None and item.shape.rank and storage.graph is not current_graph():
        yield path, item
