"""The door between eager computation and whoever wants to know of it (gradient tapes)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..base.contexts import Setting
from ..base.dataclass import Protocol
from .followers import IN_FORCE, Follower
from .op import Op
from .run_state import RunState
from .tensor import Tensor


class Recorder(Follower, Protocol):
    """Is told of every eager computation of its thread while it is in force."""

    def record(self, op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> None:
        """Record a primitive that was computed."""

    def run(self, graph: Any, runner: Any, inputs: Sequence[Tensor], state: RunState) -> list[Tensor]:
        """Run a whole graph (with ``inputs`` and ``outputs``) that ``runner`` would run; gives its outputs."""


#: ``recorders()``: those in force in this thread, innermost last
recorders: Callable[[], tuple[Recorder, ...]] = IN_FORCE.get


def recording(active: Sequence[Recorder]) -> Setting[None]:
    """Let exactly these recorders be in force inside."""
    return Setting(None, (IN_FORCE, tuple(active)))
