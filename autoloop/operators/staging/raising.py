"""Errors of a run: what a node that raises raises, and raising unless something holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.tensor import Tensor


class LeftBehind:
    """Kept with a graph: a block that raises has changed something before, which plain Python leaves there."""

    def copy(self) -> LeftBehind:
        """Return the same."""
        return self


def leaves_behind(graph: Graph) -> bool:
    """Return whether a run that raises in a branch leaves out what plain Python would have changed there before."""
    return LeftBehind in graph.records


@dataclass(frozen=True, eq=False)
class Raising:
    """Makes the exception of a ``raise_error`` node; asked where the user's own ``except`` would have caught it.

    Attributes
    ----------
    kind : type
        Of the exception.
    make : callable
        Takes the values of the node's tensors, gives the exception.
    """

    kind: type
    make: Callable[..., BaseException]

    def __call__(self, *values: Any) -> BaseException:
        return self.make(*values)


def flat_kinds(kinds: tuple[Any, ...]) -> list[type]:
    """Return the exception types of an ``except`` clause, which may be tuples of tuples."""
    return [one for kind in kinds for one in (flat_kinds(kind) if isinstance(kind, tuple) else [kind])]


def raise_unless(holds: Tensor, raising: Raising, *values: Any) -> None:
    """Let the graph raise what ``raising`` makes of ``values`` if ``holds`` turns out false."""
    with undivided():
        from autoloop_runtime.control.while_loop import cond

    def refuse() -> tuple[()]:
        ops.raise_error(raising, *values)
        return ()

    cond(holds, lambda: (), refuse)
