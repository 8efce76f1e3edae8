"""Who follows values that are computed at once, so that none goes where nobody is told of it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from ..base.dataclass import Protocol


class Follower(Protocol):
    """Knows which tensors are of interest to it; see ``recorders``, which are told of computations as well."""

    def tracks(self, tensor: Any) -> bool:
        """Return whether what is computed from ``tensor`` is of interest."""


#: those in force in this thread, innermost last
IN_FORCE: ContextVar[tuple[Any, ...]] = ContextVar("autoloop_recorders", default=())


def is_followed(tensor: Any) -> bool:
    """Return whether somebody wants to know what is computed from ``tensor``."""
    return any(follower.tracks(tensor) for follower in IN_FORCE.get())


def refuse_leaving(tensor: Any, how: str, instead: str) -> None:
    """Refuse that the value of ``tensor`` goes where nobody is told of it, if somebody follows it.

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
    if is_followed(tensor):
        raise TypeError(
            f"{how} of a tensor that is being differentiated (shape {tensor.shape}, dtype {tensor.dtype}): the "
            f"derivative would end there, and lack a term without a word. {instead}; or, if it is to end there, give "
            f"it stop_gradient(x)"
        )
