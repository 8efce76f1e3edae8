"""Which of the values that would be saved are rather computed again, though that takes more than a moment.

The cheapest cut takes it that elementwise operations and views cost nothing and all others are out of the question. A
product of small matrices is neither: of a Kalman filter it is nearly half of what is saved, and a small part of the
work. So what is a large share of the memory, and a small share of the time, is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from ..analysis.cost import estimate
from ..analysis.observable import is_pure
from ..ir.graph import Graph
from ..ir.tensor import Tensor

#: of the bytes saved in one run of the forward graph, and of the time that this run takes
LEAST_BYTES, MOST_TIME = 0.2, 0.15


def worth_computing_again(
    cut: Set[Tensor], forward: Graph, price: Callable[[Tensor], int], at_hand: Callable[[Tensor], bool]
) -> set[Tensor]:
    """Return those of ``cut`` that are not to be saved; they can be computed from the others of it and from what is at
    hand.

    Parameters
    ----------
    cut : set of Tensor
        Of ``forward``: what would be saved.
    price : callable
        Bytes that saving a tensor takes.
    at_hand : callable
        True for a tensor of ``forward`` whose value the backward graph has anyway.
    """
    least = LEAST_BYTES * sum(map(price, cut))
    left = MOST_TIME * sum(map(estimate, forward.nodes))
    found: set[Tensor] = set()
    needed: set[Tensor] = set()
    for node in forward.nodes:
        if len(node.outputs) != 1 or node.subgraphs or not is_pure(node):
            continue
        tensor = node.outputs[0]
        if tensor not in cut or tensor in needed or price(tensor) < least or estimate(node) > left:
            continue
        inputs = [t for t in node.inputs if not at_hand(t)]
        if all(t in cut and t not in found for t in inputs):
            found.add(tensor)
            needed.update(inputs)
            left -= estimate(node)
    return found
