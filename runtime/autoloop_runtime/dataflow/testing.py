"""Tools for tests: an executor that replays an order of kernels chosen by a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis.ownership import Ownership
from ..ir.graph import eager
from ..ir.run_state import EAGER, RunState
from .execution_plan import Plan
from .flat_graph import Lowered
from .frames import Item, State
from .kernels import call, explained
from .one_thread import results_of
from .whole_loops import with_joined_steps


class SeededExecutor:
    """Runs a lowered graph on one thread, always choosing the next ready kernel by a seeded die.

    Whatever the threads of a real run might do, they do it in some such order; so the answer must be the same
    for every seed, and a seed that gives another answer can be replayed.

    Parameters
    ----------
    lowered : Lowered
    seed : int
    whole : bool
        Run loops that can be run as one so, and batches, as real runs do; else the order of all kernels is the die's.

    Attributes
    ----------
    order : list of str
        The names of the kernels of the last run, as they were run.
    """

    def __init__(self, lowered: Lowered, seed: int = 0, whole: bool = False) -> None:
        self.plan = Plan(with_joined_steps(lowered, Ownership())[0] if whole else lowered)
        self.seed = seed
        self.order: list[str] = []

    def run(self, feed_values: Sequence[Any] = (), state: RunState = EAGER) -> list[Any]:
        """Compute the fetches; see ``Executable.run``."""
        die = random.Random(self.seed)
        self.order = []
        ready: list[Item] = []
        tokens = State(self.plan)
        with np.errstate(all="ignore"), eager():
            tokens.start(list(feed_values), ready, None)
            while ready:
                it, step = ready.pop(die.randrange(len(ready)))
                self.order.append(step.flat.name)
                try:
                    out = call(it, step, state, None)
                except Exception as error:
                    raise explained(error, it, step)  # noqa: B904
                if step.blank:
                    it.values[step.first : step.last] = step.blank
                tokens.complete(it, step, out, ready, None)
        return results_of(tokens)
