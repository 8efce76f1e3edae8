"""Who follows values that are computed at once, so that none goes where nobody is told of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any

from ..base.dataclass import Protocol


class FollowedArrays:
    """The tensors that stand for arrays of NumPy's, at which a derivative is taken: who takes arrays takes them so.

    Belongs to one follower, which is in force in one thread.
    """

    def __init__(self) -> None:
        self._standing: set[Any] = set()
        self._written: set[Any] = set()

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, Hashable) and value in self._standing

    def add(self, tensors: Iterable[Any]) -> None:
        """Note tensors that stand for arrays."""
        self._standing.update(tensors)

    def follow(self, inputs: Sequence[Any], outputs: Iterable[Any]) -> None:
        """Note what is computed from followed tensors: of arrays alone, arrays."""
        if self._standing and self._standing.issuperset(inputs):
            self._standing.update(outputs)

    def write(self, tensor: Any) -> None:
        """Note that the array that ``tensor`` stands for has been written to: the tensor is what it was before."""
        if tensor in self._standing:
            self._written.add(tensor)

    def refuse_written(self, inputs: Iterable[Any]) -> None:
        """Refuse to compute with what an array was before it was written to."""
        if self._written and not self._written.isdisjoint(inputs):
            raise TypeError(
                "an array that is being differentiated is read after a decorated function has written to it: decorate "
                "what calls both, with autoloop.function, or give that function a copy [AL407]"
            )


class Follower(Protocol):
    """Knows which tensors are of interest to it; see ``recorders``, which are told of computations as well."""

    def tracks(self, tensor: Any) -> bool:
        """Return whether what is computed from ``tensor`` is of interest."""

    #: what of it stands for arrays of NumPy's
    arrays: FollowedArrays


#: those in force in this thread, innermost last
IN_FORCE: ContextVar[tuple[Any, ...]] = ContextVar("autoloop_recorders", default=())


def is_followed(tensor: Any) -> bool:
    """Return whether somebody wants to know what is computed from ``tensor``."""
    return any(follower.tracks(tensor) for follower in IN_FORCE.get())


def as_arrays(values: Sequence[Any]) -> Sequence[Any]:
    """Return values with arrays for the tensors that stand for them; the same sequence if there are none."""
    followers = IN_FORCE.get()
    if not followers:
        return values
    stand = [any(value in one.arrays for one in followers) for value in values]
    return [x.value if is_array else x for x, is_array in zip(values, stand)] if any(stand) else values


def written(tensor: Any) -> None:
    """Note that the array that ``tensor`` stands for has been written to."""
    for follower in IN_FORCE.get():
        follower.arrays.write(tensor)


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
            f"it stop_gradient(x) [AL407]"
        )
