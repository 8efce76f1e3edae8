"""What a graph that is being built does to a number that counts: how far it goes, and with what it is compared."""

from __future__ import annotations

from ..ir.tensor import Tensor
from ..ops.arithmetic import ADD, SUBTRACT
from ..ops.exact_numbers import EXACT_ADD, EXACT_SUBTRACT
from .induction import COMPARE, TURNED, integer


def step_from(tensor: Tensor, start: Tensor) -> int | None:
    """Return what is added to ``start`` to make ``tensor``, both of a graph that is being built, if it is constant."""
    made = tensor.node
    if made is None or made.op not in (ADD, SUBTRACT, EXACT_ADD, EXACT_SUBTRACT):
        return None
    left, right = made.inputs
    sign = 1 if made.op in (ADD, EXACT_ADD) else -1
    if sign == 1 and right is start.plain:
        left, right = right, left
    step = integer(right)
    return None if left is not start.plain or step is None else sign * step


def limit_for(test: Tensor, variable: Tensor) -> tuple[str, int] | None:
    """Return how, and with which constant, ``test`` compares ``variable``, if it does nothing else."""
    made = test.node
    if made is None or made.op not in COMPARE:
        return None
    comparison = COMPARE[made.op]
    left, right = made.inputs
    if right is variable.plain:
        left, right, comparison = right, left, TURNED[comparison]
    limit = integer(right)
    return None if left is not variable.plain or limit is None else (comparison, limit)
