"""What is sent and what stays: bytes that have to move against work.

Where the values of a region come from and go to is known before a run. An array that enters a loop is sent once for
many iterations, one that is made here in each iteration each time; what only regions read never comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..dataflow.execution_plan import Plan, Step
from ..dataflow.frames import Iteration
from .remote_cluster import Cluster, Network
from .remote_regions import Region
from .remote_values import Held, size_of
from .token_ends import DECIDES, READ, edges_of, ends, made_by_others

#: a region is sent if it takes so many times what sending it does
WORTH = 2.0
#: arrays that enter loops are sent once for so many iterations, it is taken
REUSED = 8
#: what is fetched in less than this part of the latency is fetched
LITTLE = 0.25
#: so many tasks for each thread of the workers are in flight before this process does some of the work
AHEAD = 2
#: seconds that a region takes at least to be thought of
LEAST = 2e-4


class Ways:
    """Where the values of the regions of a plan come from, and where they go.

    Attributes
    ----------
    plan : Plan
    """

    def __init__(self, plan: Plan, regions: Mapping[Step, Region]) -> None:
        self.plan = plan
        light = [step for step, region in regions.items() if region.seconds is not None and region.seconds < LEAST]
        self._made_here = made_by_others(plan.steps.values(), regions, light)
        self._decides: dict[Step, list[bool]] = {}
        #: of each output, whether it is read here, and whether it stays elsewhere whoever reads it
        self._comes: dict[Step, list[bool]] = {}
        self._stays: dict[Step, list[bool]] = {}
        for step in regions:
            found = [list(ends([edges])) for edges in edges_of(step)]
            self._decides[step] = [any(what is DECIDES for what, _, _ in those) for those in found]
            here = [[what is not READ or reader not in regions for what, _, reader in those] for those in found]
            self._stays[step] = [not any(those) for those in here]
            self._comes[step] = [
                any(what is DECIDES or (what is READ and reader not in regions) for what, _, reader in those)
                for those in found
            ]

    def decides(self, step: Step, k: int) -> bool:
        """Return whether what an output is decides where others go, or something waits for it to be there."""
        return self._decides[step][k]

    def share(self, step: Step, k: int, it: Iteration) -> float:
        """Return how often an input is sent, for each time that the region runs."""
        return 1.0 if it.frame.parent is None or (step, step.first + k) in self._made_here else 1 / REUSED

    def share_back(self, step: Step, k: int, it: Iteration) -> float:
        """Return how often an output comes back, for each time that the region runs."""
        if self._stays[step][k]:
            return 0.0
        return 1.0 if it.frame.parent is None or self._comes[step][k] else 1 / REUSED


class Costs:
    """What sending costs in one run.

    Parameters
    ----------
    cluster : Cluster
    regions : iterable of Region
        All there are.
    """

    def __init__(self, cluster: Cluster, regions: Iterable[Region]) -> None:
        self._cluster = cluster
        self._network: Network | None = None
        self._unknown = [region for region in regions if region.is_unknown]

    def pays(
        self, region: Region, values: Sequence[Any], moves: Sequence[float], back: Sequence[float], flying: int
    ) -> float | None:  # fmt: skip
        """Return how many seconds the way of a region takes that is to be sent; None if it stays.

        Parameters
        ----------
        region : Region
        values : sequence
            What it is given.
        moves, back : sequence of float
            How often each of the values, and of the results, has to move.
        flying : int
            How many tasks are under way.
        """
        seconds = self._seconds(region)
        there = sum([value.nbytes for value in values if type(value) is Held])
        is_there = any(type(value) is Held for value in values)
        if not is_there and (seconds is None or seconds < LEAST):
            return None
        if self._network is None:
            self._network = self._cluster.up_to_date()
        network = self._network
        here = sum([size_of(value) * share for value, share in zip(values, moves) if type(value) is not Held])
        sending = network.overhead + network.moving(here)
        if there and network.moving(there) > max(sending, LITTLE * network.latency):
            return sending
        returning = sum([size * share for size, share in zip(sizes_of(region, values), back)])
        if seconds is None or seconds < WORTH * (sending + network.moving(returning)):
            return None
        # if the workers have enough to do, and this process nothing, it learns how long it takes, too
        return sending if is_there or flying < AHEAD * network.slots else None

    def _seconds(self, region: Region) -> float | None:
        """Return how long a region takes; if that is not known, the least of those of which it was not known."""
        if region.seconds is not None:
            return region.seconds
        return min([one.seconds for one in self._unknown if one.seconds is not None], default=None)


def sizes_of(region: Region, values: Sequence[Any]) -> list[int]:
    """Return about how many bytes each result of a region has: what shapes do not tell is as large as what it gets."""
    if None not in region.sizes:
        return [size or 0 for size in region.sizes]
    largest = max(map(size_of, values), default=0)
    return [largest if size is None else size for size in region.sizes]
