"""The cheapest set of values to save.

What a backward body asks for can be saved, or computed again from other saved values. Which values to save at least
cost is a minimum vertex cut between what only the forward pass can produce and what is asked for; see T. Chen et al.,
"Training Deep Nets with Sublinear Memory Cost", 2016, for recomputation, and H. He and S. Yu, "Transcending
Runtime-Memory Tradeoffs in Checkpointing by being Fusion Aware", MLSys 2023, for the cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

V = TypeVar("V", bound=Hashable)

_UNBOUNDED = 1 << 60


def cheapest_cut(
    roots: Iterable[V], targets: Iterable[V], inputs: Mapping[V, Iterable[V]], cost: Mapping[V, int]
) -> set[V]:
    """Return the vertices of least total cost that separate ``roots`` from ``targets``.

    Parameters
    ----------
    roots : iterable
        Vertices that can only be saved.
    targets : iterable
        Vertices whose value is asked for; one of them may be in the cut.
    inputs : mapping
        Vertex -> the vertices it can be computed from (all of them are needed).
    cost : mapping
        Vertex -> what saving it costs.

    Returns
    -------
    set
        Of several cheapest cuts the one nearest to the targets: least is computed again.
    """
    # every vertex v becomes an edge (v, "in") -> (v, "out") of capacity cost[v]; the others are unbounded
    network = _Network()
    for v in roots:
        network.edge("root", (v, 0), _UNBOUNDED)
    for v in targets:
        network.edge((v, 1), "target", _UNBOUNDED)
    for v, price in cost.items():
        network.edge((v, 0), (v, 1), price)
    for v, sources in inputs.items():
        for u in sources:
            network.edge((u, 1), (v, 0), _UNBOUNDED)
    while network.augment("root", "target"):
        pass
    near = network.reaching("target")
    return {v for v in cost if (v, 1) in near and (v, 0) not in near}


class _Network:
    """A flow network: residual capacities, augmented along shortest paths (Edmonds and Karp, 1972)."""

    def __init__(self) -> None:
        self.capacity: dict[Hashable, dict[Hashable, int]] = {}

    def edge(self, a: Hashable, b: Hashable, capacity: int) -> None:
        forward = self.capacity.setdefault(a, {})
        forward[b] = forward.get(b, 0) + capacity
        self.capacity.setdefault(b, {}).setdefault(a, 0)

    def augment(self, source: Hashable, sink: Hashable) -> bool:
        """Push flow along one shortest path; False if there is none."""
        previous: dict[Hashable, Hashable] = {source: source}
        queue = deque([source])
        while queue and sink not in previous:
            a = queue.popleft()
            for b, left in self.capacity.get(a, {}).items():
                if left > 0 and b not in previous:
                    previous[b] = a
                    queue.append(b)
        if sink not in previous:
            return False
        path = [sink]
        while path[-1] != source:
            path.append(previous[path[-1]])
        edges = list(zip(path[1:], path))
        flow = min(self.capacity[a][b] for a, b in edges)
        for a, b in edges:
            self.capacity[a][b] -= flow
            self.capacity[b][a] += flow
        return True

    def reaching(self, sink: Hashable) -> set[Hashable]:
        """Return the vertices from which more flow could reach ``sink``."""
        found = {sink}
        queue = deque([sink])
        while queue:
            b = queue.popleft()
            for a in self.capacity.get(b, {}):
                if a not in found and self.capacity[a][b] > 0:
                    found.add(a)
                    queue.append(a)
        return found
