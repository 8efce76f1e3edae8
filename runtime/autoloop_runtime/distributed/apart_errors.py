"""Errors of the cluster that are raised here.

The client holds what a task has raised, and what it says of a value that is lost, as long as somebody holds the future.
Raised here it gets a traceback, and with that the frames that it goes through; those hold futures, among them its own.
So nothing would ever be let go of, neither here nor on the workers. What is raised is therefore a copy.

What a call of Dask's raises is held by a frame of Dask's that its traceback goes through, and with that by itself. Who
goes on after such an error has it let go of its frames, which are ours as well: until Python looks for cycles they
would hold their futures.
"""

from __future__ import annotations

import copy
from typing import TypeVar

_Error = TypeVar("_Error", bound=BaseException)


def apart(error: _Error) -> _Error:
    """Return an error like one that the client holds; it takes the traceback of that.

    One that cannot be copied is returned itself.
    """
    traceback, error.__traceback__ = error.__traceback__, None
    try:
        made = copy.copy(error)
    except Exception:  # a class of the user's may want other arguments than it has kept
        return error
    if type(made) is not type(error):
        return error
    made.__cause__, made.__context__ = error.__cause__, error.__context__
    made.__suppress_context__ = error.__suppress_context__
    return made.with_traceback(traceback)


def spent(error: BaseException) -> None:
    """Have an error that nobody is told of let go of the frames that it went through."""
    one: BaseException | None = error
    while one is not None and one.__traceback__ is not None:
        one.__traceback__ = None
        one = one.__cause__  # what it came in the middle of may be the user's
