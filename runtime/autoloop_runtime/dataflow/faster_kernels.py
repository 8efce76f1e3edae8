"""Kernels that take the place of others in a graph that has run for long.

Where they come from this room does not know: whoever makes an ``Executable`` may hand it a source of them. A run has
the kernels with which it began to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any, Protocol

from ..base import background
from ..base.dataclass import replace
from .core_tables import Enter
from .flat_graph import Lowered
from .packed_bundles import MachinePart
from .pieces import Piece
from .step_forms import StepCode, StepForm

Kernel = Callable[..., Any]
#: by the nodes that they are for: what takes values, and gives one, or those of a batch, or None if it cannot
Kernels = Mapping[tuple[int, ...], Kernel]


class Source(Protocol):
    """Where faster kernels come from.

    Attributes
    ----------
    due : float
        How many seconds runs must have taken before it is asked the next time.
    """

    due: float

    def kernels(self, pieces: Sequence[Piece], spent: float, is_shared: bool = False) -> Kernels | None:
        """Return those that there are for these pieces, by their keys; None as long as they are made.

        ``is_shared``: several threads work on a run, so that none of its kernels has any for itself.
        """

    def cores(self) -> Cores:
        """Return where what runs loops without the interpreter comes from."""


class Cores(Protocol):
    """Where it comes from.

    Attributes
    ----------
    due : float
        As of a ``Source``.
    enter : callable or None
        Moves tokens, see ``core_runs``; known when there are steps.
    """

    due: float
    enter: Enter | None

    def steps(self, forms: Sequence[StepForm], spent: float) -> Mapping[int, StepCode] | None:
        """Return the code of steps by their nodes; None as long as it is made."""


def with_kernels(lowered: Lowered, pieces: Sequence[Piece], kernels: Kernels) -> Lowered:
    """Return ``lowered`` with these kernels of single nodes in place of others."""
    nodes = list(lowered.nodes)
    for piece in pieces:
        if not piece.is_batch and piece.key in kernels:
            place = piece.key[0]
            nodes[place] = replace(nodes[place], value=kernels[piece.key], inputs=piece.inputs)
    return replace(lowered, nodes=tuple(nodes))


def of_batches(pieces: Sequence[Piece], kernels: Kernels) -> dict[tuple[int, ...], MachinePart]:
    """Return the kernels of batches by their members, with what they are given."""
    those = [piece for piece in pieces if piece.is_batch and piece.key in kernels]
    return {one.key: MachinePart(kernels[one.key], one.inputs, one.results, one.given, one.made) for one in those}


def looked_for_beside(look: Callable[[], None], is_asked: bool) -> bool:
    """Have the background thread look for them, under the settings of the caller; leave it the interpreter for a moment
    if it was asked before. Returns whether it will."""
    if is_asked:
        background.give_way()
        return True
    return background.submit(partial(copy_context().run, look))
