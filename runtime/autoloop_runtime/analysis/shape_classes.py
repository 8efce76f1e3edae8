"""Classes of shapes that one machine code serves: which extents of the inputs it takes as they come.

What the trace knew is as it knew it. Of what it did not, 0 and 1 are exact, for they broadcast and leave out; all
others are extents of the run, equal ones one and the same, of which only the most is fixed: memory is laid out for
that.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..base.dataclass import dataclass
from ..ir.tensor import Tensor

Shape = tuple[int, ...]
#: after so many sets of shapes code is made for all of a class
FEW_SHAPES = 2
#: of arrays with more bytes each shape has code of its own, which knows what can be put in whose place
MOST_BYTES = 1 << 20
#: the least bound of an extent, and by how many bits the next is larger, by the number of axes of what has it
_BOUNDS = {1: (1 << 10, 2), 2: (1 << 8, 2)}
_OTHER_BOUNDS = 1 << 4, 1


@dataclass(frozen=True)
class Members:
    """A class of shapes.

    Attributes
    ----------
    shapes : tuple of tuple of int
        Of each input the shape; ``-1 - k`` for the extent ``k`` of those that come with a call.
    bounds : tuple of int
        How large these are at most.
    """

    shapes: tuple[Shape, ...]
    bounds: tuple[int, ...]

    @property
    def largest(self) -> tuple[Shape, ...]:
        """The shapes with the bounds for extents."""
        return tuple([tuple([n if n >= 0 else self.bounds[-1 - n] for n in shape]) for shape in self.shapes])


class Classes:
    """The classes of shapes of the inputs of one graph."""

    def __init__(self, inputs: Sequence[Tensor]) -> None:
        self._places: list[tuple[int, int, int]] = []
        for k, tensor in enumerate(inputs):
            rank = tensor.shape.rank
            if rank is None:
                self._places.clear()
                break
            self._places += [(k, axis, rank) for axis, n in enumerate(tensor.shape.known) if n is None]

    def of(self, shapes: Sequence[Shape]) -> Members | None:
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
        return Members(tuple(map(tuple, made)), bounds) if found else None


def _bound(n: int, rank: int) -> int:
    """Return how large an extent may be for code that is made for ``n``."""
    bound, more = _BOUNDS.get(rank, _OTHER_BOUNDS)
    while bound < n:
        bound <<= more
    return bound
