"""What is wrong with a file, and with what somebody wants in one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..base.locations import Location, users_line

#: how the message of such an error ends
_ENDING = re.compile(r"( \([^()]*:\d+\))? \[AL711\]$")


class LoadError(ValueError):
    """A file is not what ``autoloop.save`` writes: it is damaged, cut off, of a later version, or made to do harm.

    Examples
    --------
    >>> import io
    >>> al.load(io.BytesIO(b"something else"))
    Traceback (most recent call last):
    autoloop_runtime.saving.load_errors.LoadError: this is no file that autoloop.save has written [AL710]
    """


class SaveError(TypeError):
    """A function holds what no file can: Python code, the state of the world outside, objects of unknown classes.

    Examples
    --------
    >>> import io
    >>> al.save(lambda x: {1, 2}, io.BytesIO(), np.ones(2))
    Traceback (most recent call last):
    autoloop_runtime.saving.load_errors.SaveError: a result of the class 'set' cannot be saved...
    """


def damaged(what: str) -> LoadError:
    """Return the error that says what is wrong with a file."""
    return LoadError(f"{what} [AL710]")


def unsaid(what: str) -> SaveError:
    """Return what says of a part of something that a file has no words for it; who writes the whole says where."""
    return SaveError(what)


def unsavable(what: str, location: Location = ()) -> SaveError:
    """Return the error that says what cannot be saved, and where it was written."""
    what = _ENDING.sub("", what)  # of what is said of a part of it
    line = users_line(location)
    error = SaveError(f"{what}{'' if line is None else f' ({line})'} [AL711]")
    if line is not None:
        error.add_note(f'  File "{line.filename}", line {line.lineno}, in {line.function}')
    return error


@contextmanager
def refused(where: str) -> Iterator[None]:
    """Let whatever fails inside be an error of the file."""
    try:
        yield
    except LoadError:
        raise
    except Exception as error:
        said = str(error)
        raise damaged(f"{where}: {said[:500] or type(error).__name__}") from None
