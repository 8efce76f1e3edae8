"""How far the loops of a run of the scheduler are, read from its frames while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..base.odometers import Reading, board_here, reading
from .execution_plan import FramePlan
from .frames import State


class OpenFrames:
    """The frames of loops that stand in no other, of a run that is in ``state``.

    No lock is held while it is looked: what is read is one reference or number each time, and may be a little old.
    """

    def __init__(self, state: State) -> None:
        self._children = state.root.children
        #: the loops that were seen; of those whose frames are gone the number of iterations is known
        self._seen: dict[FramePlan, int] = {}

    def readings(self) -> list[Reading]:
        """See ``Odometer``."""
        told = []
        frames = self._children.copy()
        for plan, frame in frames.items():
            with suppress(AttributeError):  # it has ended just now
                self._seen[plan] = frame.oldest.index
        for plan, count in list(self._seen.items()):
            is_over = plan not in frames
            assert plan.source is not None
            told.append(reading(plan.source, plan.trips if is_over else count, is_over))
        return told


@contextmanager
def shown(state: State) -> Iterator[None]:
    """Have the frames of a run on the board of this thread; after a failure nobody looks at that any more."""
    board, frames = board_here(), OpenFrames(state)
    if board is not None:
        board.begin(frames)
    yield
    if board is not None:
        board.end(frames)
