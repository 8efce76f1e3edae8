"""Steps of a plan in machine code, made on the background thread as kernels are, see ``machine_kernels``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import inf
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from ..base import background
from ..base.forks import generation, undivided
from ..dataflow.pieces import Piece, differing
from ..dataflow.step_forms import StepCode, StepForm
from ..ir.graph import Node
from ..ir.prices import Products
from .tier_up import price

#: multiply-adds of a product from which on BLAS is faster where it has one thread
LARGE_ALONE = 1 << 27

Key = TypeVar("Key")
Made = TypeVar("Made")
_Asked: TypeAlias = StepForm | Piece


class MadeLater(Generic[Key, Made]):
    """What the background thread makes once runs have taken as long as making it takes.

    Notes
    -----
    ``_made`` is replaced as a whole, by the background thread. Threads that ask at the same time may at worst have the
    same code made twice.
    """

    def __init__(self) -> None:
        self.due = price(1)
        self._made: dict[Key, Made] | None = None
        #: the process in which it is made, see ``forks``
        self._generation = -1

    def _made_of(
        self, kinds_of: Callable[[], Sequence[Sequence[_Asked]]], spent: float, make: Callable[[Any], None]
    ) -> Mapping[Key, Made] | None:
        """Return what there is; None as long as it is made: by ``make``, of each kind together."""
        if self._made is not None:
            return self._made
        if self._generation == generation():
            background.give_way()
            return None
        kinds = kinds_of()
        if not kinds:
            return {}
        costs = price(sum([len(first.nodes) for first, *_ in kinds]), len(kinds))
        if spent < costs:
            self.due = costs
            return None
        self._generation = generation()
        if not background.submit(lambda: make(kinds)):
            self.due = inf
        return None


class MachineSteps(MadeLater[int, StepCode]):
    """The machine code of the steps of one plan."""

    def steps(self, forms: Sequence[StepForm], spent: float) -> Mapping[int, StepCode] | None:
        """Return the code of those of which there is any, by their nodes; None as long as it is made.

        Parameters
        ----------
        forms : sequence of StepForm
        spent : float
            How many seconds runs have taken; it is due once they have taken as long as to make it.
        """
        return self._made_of(lambda: list(_by_kind(forms).values()), spent, self._make)

    def _make(self, kinds: Sequence[Sequence[StepForm]]) -> None:
        made: dict[int, StepCode] = {}
        try:
            for forms in kinds:
                made.update([(code_of.place, code) for code_of, code in zip(forms, step_codes(forms))])
        except Exception:  # whatever is wrong, or gone, the program runs without the rest
            pass
        self._made = made


def step_codes(forms: Sequence[StepForm]) -> list[StepCode]:
    """Return the code of steps of one kind; none if there is none."""
    with undivided():
        from ..native.step_code import compiled_step

    first, (places, numbers) = forms[0], differing(forms)
    count = len(numbers[0])
    given = len(first.inputs) + len(first.constants)
    reads = [*[(given + k, 0) for k in range(count)], *first.reads]
    made = compiled_step(first.graph(places), given + count, reads, first.writes, first.copies)
    if made is None:
        return []
    return [
        StepCode(
            made.code.address, one.inputs, one.outputs, one.sides, one.decides,
            (*one.constants, *map(np.array, own), *made.table), made.scratch, made.code,
        )
        for one, own in zip(forms, numbers)
    ]  # fmt: skip


def _by_kind(forms: Sequence[StepForm]) -> dict[Hashable, list[StepForm]]:
    """Return those that are not better left to BLAS, each kind together."""
    kinds: dict[Hashable, list[StepForm]] = {}
    for form in forms:
        if not any(multiplications(node) >= LARGE_ALONE for node in form.nodes):
            kinds.setdefault(form.kind, []).append(form)
    return kinds


def multiplications(node: Node) -> int:
    """Return how many multiply-adds a product takes, of anything else 0."""
    cost = node.op.traits.price
    return cost.count(*node.operands, **node.attrs) if isinstance(cost, Products) else 0
