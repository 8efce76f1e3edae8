"""Kernels in machine code for the scheduler: made on the background thread once runs have taken as long as that takes.

What the scheduler moves is as before: nodes, and batches of light ones that are ready at one time, of which each is one
function. NumPy's own kernels stay where machine code has nothing to add: large products, which BLAS does, and single
numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.cost import HEAVY, blas_threads
from ..base import config
from ..base.forks import undivided
from ..dataflow.faster_kernels import Kernels
from ..dataflow.pieces import Piece, differing
from .machine_steps import LARGE_ALONE, MadeLater, multiplications
from .tier_up import is_wanted

if TYPE_CHECKING:
    from .machine_cores import MachineCores

Kernel = Callable[..., Any]

#: multiply-adds of a product from which on BLAS is faster where it has several threads
LARGE_PRODUCT = 1 << 18
#: nanoseconds of a kernel that keeps the interpreter's lock
SHORT = HEAVY / 4
#: calls of one kernel at the same time for which there is memory, at most
MOST_CALLS = 8


def machine_kernels() -> MachineKernels | None:
    """Return where the kernels of one graph come from; None if there can be no machine code."""
    return MachineKernels() if is_wanted() else None


class MachineKernels(MadeLater[tuple[int, ...], Kernel]):
    """See ``dataflow.faster_kernels.Source``."""

    def kernels(self, pieces: Sequence[Piece], spent: float, is_shared: bool = False) -> Kernels | None:
        """See ``Source``."""
        return self._made_of(lambda: _by_kind(pieces), spent, lambda kinds: self._make(kinds, is_shared))

    def cores(self) -> MachineCores:
        """See ``Source``."""
        with undivided():
            from .machine_cores import MachineCores

        return MachineCores()

    def _make(self, kinds: list[list[Piece]], is_shared: bool) -> None:
        made: dict[tuple[int, ...], Kernel] = {}
        try:
            with undivided():
                from ..native.single_kernels import single_kernel
            # there may be more threads later than now; a call for which there is no copy is done by NumPy's kernels
            copies = min(max(config.get_num_threads(), os.cpu_count() or 1), MOST_CALLS)
            large = LARGE_ALONE if is_shared or blas_threads(2) == 1 else LARGE_PRODUCT
            for pieces in kinds:  # grows as it is walked
                first, (places, numbers) = pieces[0], differing(pieces)
                bind = None
                if not _is_for_blas(first, large):
                    bind = single_kernel(first.graph(places), first.nanoseconds <= SHORT, copies, first.plain is None)
                if bind is not None:
                    made.update([(one.key, bind(one.plain or _not_at_all, own)) for one, own in zip(pieces, numbers)])
                else:
                    kinds += _by_kind([part for one in pieces for part in one.parts()])
        except Exception:  # whatever is wrong, or gone, the program runs without the rest
            pass
        self._made = made


def _not_at_all(*_: Any) -> None:
    """Do nothing: a batch that machine code cannot do is done in Python."""


def _by_kind(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Return those for which machine code may be faster, each kind together."""
    kinds: dict[Hashable, list[Piece]] = {}
    for piece in filter(_gains, pieces):
        kinds.setdefault(piece.kind, []).append(piece)
    return list(kinds.values())


def _gains(piece: Piece) -> bool:
    """Return whether machine code may be faster."""
    if len(piece.nodes) == 1 and not piece.is_batch and all(t.shape.rank == 0 for t in piece.nodes[0].inputs):
        return False
    return not _is_for_blas(piece, LARGE_ALONE)


def _is_for_blas(piece: Piece, large: int) -> bool:
    """Return whether there is a product in it of so many multiply-adds, or more."""
    return any(multiplications(node) >= large for node in piece.nodes)
