"""What a node that raises raises: asked where the user's own ``except`` clauses would have caught it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autoloop_runtime.base.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Raising:
    """Makes the exception of a ``raise_error`` node.

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
