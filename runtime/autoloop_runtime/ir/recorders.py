"""The door between eager computation and whoever wants to know of it (gradient tapes)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from ..base.contexts import Setting

if TYPE_CHECKING:
    from .op import Op
    from .run_state import RunState
    from .tensor import Tensor


class Recorder(Protocol):
    """Is told of every eager computation of its thread while it is in force."""

    def record(self, op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> None:
        """Record a primitive that was computed."""

    def run(self, graph: Any, runner: Any, inputs: Sequence[Tensor], state: RunState) -> list[Tensor]:
        """Run a whole graph (with ``inputs`` and ``outputs``) that ``runner`` would run; gives its outputs."""

    def tracks(self, tensor: Tensor) -> bool:
        """Return whether what is computed from ``tensor`` is of interest."""


_recorders: ContextVar[tuple[Recorder, ...]] = ContextVar("autoloop_recorders", default=())


def recorders() -> tuple[Recorder, ...]:
    """Return the recorders in force in this thread, innermost last."""
    return _recorders.get()


def recording(active: Sequence[Recorder]) -> Setting[None]:
    """Return exactly these recorders are in force inside."""
    return Setting(None, (_recorders, tuple(active)))


def refuse_leaving(tensor: Any, how: str, instead: str) -> None:
    """Refuse that the value of ``tensor`` goes where nobody is told of it, if a recorder follows it.

    Parameters
    ----------
    tensor : Tensor
    how : str
        What is about to be done to it.
    instead : str
        What to do instead, for the message.

    Raises
    ------
    TypeError
        A derivative would silently lack a term.
    """
    for recorder in _recorders.get():
        if recorder.tracks(tensor):
            raise TypeError(
                f"{how} of a tensor that is being differentiated (shape {tensor.shape}, dtype {tensor.dtype}): the "
                f"derivative would end there, and lack a term without a word. {instead}; or, if it is to end there, "
                f"give it stop_gradient(x)"
            )
