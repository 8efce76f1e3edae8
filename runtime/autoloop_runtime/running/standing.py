"""How a graph runs now: what is told of it, and the shortest way through it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..base.dataclass import Protocol, dataclass


@dataclass(frozen=True)
class Standing:
    """What runs a graph or a loop now.

    Attributes
    ----------
    executor : str
    reason : str
        Why, as a sentence without its full stop.
    """

    executor: str
    reason: str


class Tally(Protocol):
    """What is known of the calls of a graph; ``settled`` is not None once something else runs it."""

    settled: Any
    calls: int
    spent: float


@dataclass(frozen=True)
class Straight:
    """A graph as a function of the values of its inputs, for who looks to the rest: no timeline is recorded, nobody has
    asked for floating-point errors, scalars are NumPy's, and arrays have the shapes that the graph was made for.

    Attributes
    ----------
    function : callable
        Gives the list of the outputs; to be called while floating-point warnings are silenced.
    explained : callable
        Tells what it has raised in terms of the user's lines.
    tally : Tally or None
        Where calls are added up: of many that are alike it is enough to time one. Once it is ``settled`` this way is
        not the fastest any more.
    """

    function: Callable[..., list[Any]]
    explained: Callable[[Exception], BaseException]
    tally: Tally | None = None


@dataclass(frozen=True)
class Entry:
    """A graph as machine code, for who looks to the rest, see ``Straight``.

    Attributes
    ----------
    made : callable or None
        See ``entered_calls.entered``, without the first of its parameters; None if something else runs the graph.
    tally, settled
        This is so as long as what is ``settled`` is this; without a tally for ever.
    """

    made: Callable[..., Any] | None
    tally: Tally | None = None
    settled: Any = None
