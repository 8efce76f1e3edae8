"""Who wants the loops of his calls kept in a folder, how often, and whether they go on from what is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count

from .config import switched
from .contexts import Setting


class AskedCheckpoints:
    """Checkpoints are asked for, for the calls of a block.

    Attributes
    ----------
    folder : str
        Where they are written.
    every : int
        Iterations between two of them.
    resume_from : str or None
        The folder from which calls go on where they were.
    """

    def __init__(self, folder: str, every: int, resume_from: str | None) -> None:
        self.folder, self.every, self.resume_from = folder, every, resume_from
        self._calls = count()  # taking one of it is one step, no lock

    def next_call(self) -> str:
        """Return what the folder of the next call is called."""
        return f"call-{next(self._calls):03}"


_ASKED: ContextVar[AskedCheckpoints | None] = ContextVar("autoloop_asked_checkpoints", default=None)


def asked_checkpoints() -> AskedCheckpoints | None:
    """Return what is asked for here; None where nothing is."""
    return _ASKED.get()


@contextmanager
def asking(asked: AskedCheckpoints) -> Iterator[None]:
    """Ask for checkpoints of the calls in this block."""
    with switched(), Setting(None, (_ASKED, asked)):
        yield


def checked(folder: str | os.PathLike[str], every: int, resume: bool | str | os.PathLike[str]) -> AskedCheckpoints:
    """Return what is asked for by so much, if it makes sense."""
    path = os.path.abspath(os.fspath(folder))
    if isinstance(every, bool) or not isinstance(every, int):
        raise TypeError(f"checkpoint_every is a number of iterations, got {every!r} [AL715]")
    if every < 1:
        raise ValueError(f"checkpoint_every is a number of iterations from 1 on, got {every} [AL715]")
    if isinstance(resume, bool):
        return AskedCheckpoints(path, every, path if resume else None)
    given = os.path.abspath(os.fspath(resume))
    if given != path and not os.path.isdir(given):
        raise FileNotFoundError(f"there are no checkpoints to go on from: {given!r} is no folder [AL715]")
    return AskedCheckpoints(path, every, given)
