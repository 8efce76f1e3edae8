"""Calls whose loops are kept in a folder, and go on from there after the whole program has died."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

from autoloop_runtime.base.asked_checkpoints import asking, checked
from autoloop_runtime.saving.loop_checkpoints import CheckpointError as CheckpointError

__all__ = ["CheckpointError", "keep_checkpoints"]


def keep_checkpoints(
    checkpoint_to: str | os.PathLike[str], *, checkpoint_every: int = 100, resume: bool | str | os.PathLike[str] = False
) -> AbstractContextManager[None]:
    """Have the loops of calls keep their state in a folder, and go on from it.

    Each call of a decorated function in the block has a folder of its own, by its number. When it has ended that is
    removed. A program that has died and is started again makes the same calls; with ``resume`` those that were in the
    middle of a loop go on there, and give the same numbers as if nothing had happened.

    Parameters
    ----------
    checkpoint_to : path
        The folder; it is made if need be. Two runs at the same time need two.
    checkpoint_every : int
        How many iterations of a loop that is in no other one there are between two checkpoints. The last two are kept.
    resume : bool or path
        Go on from what is in that folder, or in another. Where nothing is in it a call begins anew. Without it a folder
        with checkpoints is refused.

    Returns
    -------
    context manager

    Raises
    ------
    SaveError
        By a call whose state no checkpoint can hold: it calls Python functions in a loop, or keeps what a gradient
        needs from one iteration to the next.
    CheckpointError
        By a call that finds the checkpoints of another function, of other arguments, or of random generators that
        stood elsewhere; nothing of them is changed.
    LoadError
        By a call that finds none that is whole.

    Examples
    --------
    >>> @al.function
    ... def halve(x):
    ...     while x.max() > 1.0:
    ...         x = x / 2.0
    ...     return x
    >>> with al.keep_checkpoints("folder", checkpoint_every=2, resume=True):
    ...     halve(np.array([9.0, 3.0]))
    array([0.5625, 0.1875])
    """
    return asking(checked(checkpoint_to, checkpoint_every, resume))
