"""What is told of how a graph runs."""

from __future__ import annotations

from ..base.dataclass import dataclass


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
