"""Induction variables: integers that a loop changes by the same amount in every iteration, and when they end it.

A fact is only stated where it holds for what the loop does in its dtype: a counter that would go past the end of its
dtype wraps round, and the loop goes on. So ``while i <= limit`` has no trip count if ``limit`` is the greatest of its
dtype, and ``while i < limit`` with ``i += 2`` only has one if ``limit`` is known, and not too near the end.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.dataclass import Protocol, dataclass
from ..base.dtypes import DType
from ..ir.graph import CONST, Graph, Node
from ..ir.op import Op
from ..ir.tensor import Tensor
from ..ops.arithmetic import ADD, SUBTRACT
from ..ops.define import op_of
from ..ops.logic import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, LOGICAL_AND, NOT_EQUAL, bitwise_and
from ..ops.operands import CAST
from .uses import place_of

#: comparisons, and what each is with its sides exchanged
COMPARE: dict[Op, str] = {LESS: "<", LESS_EQUAL: "<=", GREATER: ">", GREATER_EQUAL: ">=", NOT_EQUAL: "!="}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_BOTH: tuple[Op, ...] = (LOGICAL_AND, op_of(bitwise_and))
_HOLDS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne}


class Known(Protocol):
    """What is known of the tensors of a graph, by whoever asks."""

    def value_of(self, tensor: Tensor) -> Any | None:
        """Return the value, if it is known."""

    def is_scalar(self, tensor: Tensor) -> bool:
        """Return whether the value has no dimensions."""


class _Constants:
    """What an optimised graph says by itself."""

    def value_of(self, tensor: Tensor) -> Any | None:
        node = tensor.node
        return node.attrs["value"] if node is not None and node.op is CONST else None

    def is_scalar(self, tensor: Tensor) -> bool:
        return tensor.shape.rank == 0


#: what an optimised graph says by itself
CONSTANTS: Known = _Constants()


@dataclass(frozen=True)
class Induction:
    """A loop variable that goes by a constant step as long as a test of it holds.

    Attributes
    ----------
    variable : int
        Which loop variable.
    dtype : DType
        Of the variable.
    step : int
        What is added to it in every iteration; not 0.
    start : int or None
        Its first value, if that is known.
    comparison : str
        The test, with the variable on the left: ``<``, ``<=``, ``>``, ``>=`` or ``!=``.
    limit : int or None
        What it is compared with, if that is known.
    bound : int or None
        The input of the loop, a captured one, that is compared with, if it is one.
    test : Node
        The comparison, in the condition.
    bounds : tuple of int
        Between which values the limit is.
    """

    variable: int
    dtype: DType
    step: int
    start: int | None
    comparison: str
    limit: int | None
    bound: int | None
    test: Node
    bounds: tuple[int, int]

    @property
    def trips(self) -> int | None:
        """How often the test holds, from the beginning, if that is known: the trip count where nothing else ends it."""
        if self.start is None or self.limit is None:
            return None
        if not _HOLDS[self.comparison](self.start, self.limit):
            return 0
        count = self._steps(self.start, self.limit)
        return None if count is None or self._leaves(self.start + count * self.step) else count

    @property
    def most_trips(self) -> int | None:
        """A bound on how often the test holds; ``None``: it may hold forever."""
        if self.start is not None and self.limit is not None:
            return self.trips
        if not self.ends:
            return None
        first, last = _ends_of(self.dtype)[:: 1 if self.step > 0 else -1]
        start = first if self.start is None else self.start
        limit = self.bounds[self.step > 0]
        limit = min(limit, last) if self.step > 0 else max(limit, last)
        return max(0, self._steps(start, limit) or 0)

    @property
    def ends(self) -> bool:
        """True if the variable comes to fail the test, whatever is not known, before it goes past the dtype's end.

        So the values for which the test holds are those of a ``range``.
        """
        if not self._goes_towards:
            return False
        if self.start is not None and self.limit is not None:
            return self.trips is not None
        if self.comparison == "!=":
            return False
        # the last value for which it may hold, and one more step
        last = self.bounds[self.step > 0]
        inside = 0 if self.comparison.endswith("=") else (-1 if self.step > 0 else 1)
        return not self._leaves(last + inside + self.step)

    def _steps(self, start: int, limit: int) -> int | None:
        """Return how many steps it takes from ``start``, for which the test holds, to where it does not."""
        if self.comparison == "!=":
            count, rest = divmod(limit - start, self.step)
            return None if rest or count < 0 else count
        if not self._goes_towards:
            return None
        if self.comparison.endswith("="):
            return (limit - start) // self.step + 1
        return -((start - limit) // self.step)

    @property
    def _goes_towards(self) -> bool:
        """True if the variable grows up to a limit, or falls down to one; for ``!=`` nobody knows."""
        return self.comparison == "!=" or (self.step > 0) == self.comparison.startswith("<")

    def _leaves(self, value: int) -> bool:
        lowest, highest = _ends_of(self.dtype)
        return not lowest <= value <= highest


def _ends_of(dtype: DType) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def constant_step(node: Node, k: int, known: Known = CONSTANTS) -> int | None:
    """Return what is added to the integer ``k`` of the variables of the loop ``node`` in every iteration, if that is
    constant.

    It is not 0. After ``t`` iterations the variable is ``start + t * step`` in its dtype, wrapped round or not.
    """
    body: Graph = node.attrs["body"]
    parameter, result = body.inputs[k], body.outputs[k]
    made = result.node
    if made is None or made.op not in (ADD, SUBTRACT):
        return None
    if parameter.dtype.kind not in "iu" or not (known.is_scalar(parameter) or known.is_scalar(result)):
        return None
    left, right = made.inputs
    if made.op is ADD and right is parameter:
        left, right = right, left
    step = integer(right, known)
    if left is not parameter or not step:
        return None
    return step if made.op is ADD else -step


def first_value(node: Node, k: int, known: Known = CONSTANTS) -> int | None:
    """Return with what the integer ``k`` of the variables of the loop ``node`` begins, if that is known."""
    return integer(node.inputs[k], known)


def counts_from(node: Node, k: int, known: Known = CONSTANTS) -> int | None:
    """Return the first value of a variable to which each iteration adds 1, if that is known."""
    return first_value(node, k, known) if constant_step(node, k, known) == 1 else None


def inductions(node: Node, known: Known = CONSTANTS) -> Iterator[Induction]:
    """Yield the tests in the condition of the loop ``node``, each of which ends it when it fails,
    of induction variables."""
    for tensor in _conjuncts(node.attrs["cond"].outputs[0]):
        found = _induction(node, tensor, known)
        if found is not None:
            yield found


def trip_count(node: Node, known: Known = CONSTANTS) -> int | None:
    """Return how often the body of the loop ``node`` runs, if that is known:
    nothing but induction variables ends it."""
    fewest: int | None = None
    for tensor in _conjuncts(node.attrs["cond"].outputs[0]):
        found = _induction(node, tensor, known)
        trips = None if found is None else found.trips
        if trips is None:
            return None
        fewest = trips if fewest is None else min(fewest, trips)
    return fewest


def most_trips(node: Node, known: Known = CONSTANTS) -> int | None:
    """Return a bound on how often the body of the loop ``node`` runs; ``None``: maybe forever."""
    found = [most for i in inductions(node, known) if (most := i.most_trips) is not None]
    return min(found, default=None)


def _conjuncts(tensor: Tensor) -> Iterator[Tensor]:
    """Yield the tensors that must all be true for ``tensor``, a truth value, to be, and then it is."""
    pending = [tensor]
    while pending:
        current = pending.pop()
        node = current.node
        if node is not None and node.op in _BOTH:
            pending += node.inputs[::-1]
        else:
            yield current


def _induction(node: Node, tensor: Tensor, known: Known) -> Induction | None:
    test = tensor.node
    if test is None or test.op not in COMPARE or not known.is_scalar(tensor):
        return None
    cond, count = node.attrs["cond"], node.attrs["n_vars"]
    comparison = COMPARE[test.op]
    left, right = test.inputs
    for side, other, compared in ((left, right, comparison), (right, left, TURNED[comparison])):
        k = place_of(cond.inputs[:count], widened(side))
        step = None if k is None else constant_step(node, k, known)
        if k is None or step is None or other.dtype.kind not in "iu":
            continue
        limit, bound = integer(other, known), place_of(cond.inputs[count:], other)
        if limit is None and bound is None:
            continue
        ends = _ends_of(other.dtype) if limit is None else (limit, limit)
        start = first_value(node, k, known)
        at = None if bound is None else count + bound
        return Induction(k, node.inputs[k].dtype, step, start, compared, limit, at, test, ends)
    return None


def widened(tensor: Tensor) -> Tensor:
    """Return what was cast, if that did not change its value."""
    while (node := tensor.node) is not None and node.op is CAST and tensor.dtype.kind in "iu":
        source = node.inputs[0]
        if source.dtype.kind not in "iu" or not np.can_cast(source.dtype, tensor.dtype, "safe"):
            break
        tensor = source
    return tensor


def integer(tensor: Tensor, known: Known = CONSTANTS) -> int | None:
    """Return the value of an integer scalar, if it is known."""
    value = known.value_of(tensor)
    return int(value) if value is not None and np.ndim(value) == 0 and tensor.dtype.kind in "iu" else None
