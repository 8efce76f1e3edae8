"""Workers whose kernels take as long as a test says, on a clock that no machine disturbs."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from typing import Any

from api import ByPath, CriticalPaths, Executable, State


class Newest(list[Any]):
    """What a scheduler without an idea of what is left does."""

    def extend(self, items: Any, maker: int = 0) -> None:
        super().extend(items)

    def take(self, own: list[Any], me: int) -> Any:
        self += own
        own.clear()
        return self.pop() if self else None


class VirtualWorkers:
    """Runs of a plan by ``workers`` of which each does what ``SharedRun.work`` does.

    ``duration(step, iteration)``: of a heavy kernel; light ones take none, or ``light``.
    """

    def __init__(
        self, executable: Executable, duration: Callable[[Any, Any], float], workers: int = 2, light: float = 0.0
    ) -> None:
        self.plan = executable.plan
        self.duration, self.workers, self.light = duration, workers, light
        self.order: list[tuple[str, int]] = []

    def run(self, feeds: list[Any], ready: Any = None) -> float:
        """The time until all is done; ``ready``: a policy, else what runs have."""
        paths = CriticalPaths.of(self.plan)
        heavy = ByPath(paths) if ready is None else ready
        tokens = State(self.plan)
        lights: list[deque[Any]] = [deque() for _ in range(self.workers)]
        tokens.start(list(feeds), lights[0], heavy)
        now, running, idle, self.order = 0.0, [], set(range(self.workers)), []
        owns: list[list[Any]] = [[] for _ in range(self.workers)]
        while True:
            for me in sorted(idle, key=lambda k: not (owns[k] or lights[k])):
                item = lights[me].popleft() if lights[me] else heavy.take(owns[me], me + 1)
                if item is not None:
                    idle.discard(me)
                    it, step = item
                    takes = self.duration(step, it) if step.weight else self.light
                    if step.weight:
                        self.order.append((step.flat.op.name, it.index))
                        paths.took(step, round(takes))
                    heapq.heappush(running, (now + takes, me, it.index, step.flat.index, item))
            if not running:
                break
            now, me, _, _, (it, step) = heapq.heappop(running)
            args = it.values[step.first : step.last]
            out = step.call(args) if step.flat.kind.name == "BATCH" else step.call(*args)
            tokens.complete(it, step, out, lights[me], owns[me])
            if lights[me]:
                heavy.extend(owns[me], me + 1)
                owns[me].clear()
            idle.add(me)
        paths.ran()
        assert tokens.finished
        tokens.close()
        return now
