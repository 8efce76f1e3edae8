"""Classes of shapes that one machine code serves: which extents of the inputs it takes as they come.

What the trace knew is as it knew it. Of what it did not, 0 and 1 are exact, for they broadcast and leave out; all
others are extents of the run, equal ones one and the same, of which only the most is fixed: memory is laid out for
that.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.graph import Graph
from .ir.moving import Given
from .typing.facts import Shape

#: a class: of each input the shape, with the place of an extent for those that come with a call, and their bounds
Class = tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]
#: the least bound of an extent, and what the next is of one, by the number of axes of the largest input that has it
_BOUNDS = {1: (1 << 10, 2), 2: (1 << 8, 2)}
_OTHER_BOUNDS = 1 << 4, 1


class Classes:
    """The classes of shapes of the inputs of one graph.

    Attributes
    ----------
    are_any : bool
        There is an extent that the trace did not know.
    """

    def __init__(self, graph: Graph) -> None:
        self._places: list[tuple[int, int, int]] = []
        for k, tensor in enumerate(graph.inputs):
            rank = tensor.shape.rank
            if rank is None:
                self._places.clear()
                break
            self._places += [(k, axis, rank) for axis, n in enumerate(tensor.shape.known) if n is None]
        self.are_any = bool(self._places)

    def of(self, shapes: Sequence[Shape]) -> Class | None:
        """Return the class of ``shapes``, None if there is nothing in them that comes with a call."""
        found: dict[int, int] = {}
        ranks: dict[int, int] = {}
        made = [list(shape) for shape in shapes]
        for k, axis, rank in self._places:
            n = made[k][axis]
            if n > 1:
                place = found.setdefault(n, len(found))
                ranks[place] = max(rank, ranks.get(place, 0))
                made[k][axis] = -1 - place
        bounds = tuple([_bound(n, ranks[place]) for n, place in found.items()])
        return (tuple(map(tuple, made)), bounds) if found else None


def _bound(n: int, rank: int) -> int:
    """Return how large an extent may be for code that is made for ``n``."""
    bound, more = _BOUNDS.get(rank, _OTHER_BOUNDS)
    while bound < n:
        bound <<= more
    return bound


def shapes_of(members: Class) -> list[Shape]:
    """Return the shapes of a class, with ``Given`` for extents that come with a call."""
    shapes, bounds = members
    extents = [Given(bound, place) for place, bound in enumerate(bounds)]
    return [tuple([n if n >= 0 else extents[-1 - n] for n in shape]) for shape in shapes]
