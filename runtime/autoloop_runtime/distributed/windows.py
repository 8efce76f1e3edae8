"""How many iterations of each loop are under way: sent to be computed, or to be sent next, and not known to be done."""

from __future__ import annotations

from collections import defaultdict

from ..dataflow.frames import Frame, Iteration
from .laters import Later


class Windows:
    """The iterations of all loops of a run that are under way.

    Parameters
    ----------
    most : int or None
        What limits every loop, besides its own ``parallel_iterations``.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        #: by frame: the iterations that are to be sent next, and how many are sent and not done
        self._due: dict[Frame, set[int]] = defaultdict(set)
        self._sent: dict[Frame, int] = defaultdict(int)
        #: by frame: what the newest of the iterations that are due hands over
        self._newest: dict[Frame, tuple[int, list[Later]]] = {}
        #: the most that were under way of one loop at a time
        self.widest = 0

    def limit(self, frame: Frame) -> int:
        """Return how many iterations may be under way."""
        return frame.window if self._most is None else min(frame.window, self._most)

    def admits(self, it: Iteration, later: Later, is_idle: bool) -> bool:
        """Return whether the next iteration may use at once what ``it`` hands over: it is sent with what is sent next.

        While nothing is computed, a loop goes no further ahead than one iteration, so that its first is sent soon.
        """
        frame, due = it.frame, self._due[it.frame]
        if it.index not in due:
            if due and is_idle and not self._sent[frame]:
                return False
            if len(due) + self._sent[frame] >= self.limit(frame):
                return False
            due.add(it.index)
            self.widest = max(self.widest, len(due) + self._sent[frame])
        newest, laters = self._newest.get(frame, (-1, []))
        if it.index > newest:
            self._newest[frame] = it.index, [later]
        elif it.index == newest:
            laters.append(later)
        return True

    def newest(self) -> list[Later]:
        """Return what the newest iterations that are due hand over; what they need of older ones they have inside."""
        return [later for _, laters in self._newest.values() for later in laters]

    def is_room_worth(self) -> bool:
        """Return whether so little is under way that what is due is worth a submission of its own.

        A loop whose conditions are known here sends some iterations at once, when no more than half of its window is
        left to be computed.
        """
        return any(due and 2 * self._sent[f] <= self.limit(f) for f, due in self._due.items())

    def send(self) -> dict[Frame, int]:
        """Note that what is due is sent; returns how many iterations of which frames that are."""
        sent = {frame: len(due) for frame, due in self._due.items() if due}
        for frame, count in sent.items():
            self._sent[frame] += count
        self._due.clear()
        self._newest.clear()
        return sent

    def clear(self) -> None:
        """Let go of everything."""
        self._due.clear()
        self._sent.clear()
        self._newest.clear()

    def done(self, sent: dict[Frame, int]) -> None:
        """Note that a submission is computed."""
        for frame, count in sent.items():
            self._sent[frame] -= count
            if not self._sent[frame]:
                del self._sent[frame]
