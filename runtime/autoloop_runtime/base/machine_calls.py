"""What a trace knows of a call of machine code."""

from __future__ import annotations

from collections.abc import Mapping

from .dataclass import dataclass
from .locations import Line


@dataclass(frozen=True)
class MachineCall:
    """A call of machine code that was made to be watched.

    Attributes
    ----------
    shares : mapping
        Lines of the user's program -> the part of the time that was spent there.
    counts : mapping
        Such lines -> how often they ran.
    samples : int
        How often it was looked at where it is; 0 if the shares are counts times what operations are estimated to cost.
    """

    shares: Mapping[Line | None, float]
    counts: Mapping[Line | None, int]
    samples: int
