"""What is wrong with a file, and with what somebody wants in one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..base.locations import Location, users_line


class LoadError(ValueError):
    """A file is not what ``autoloop.save`` writes: it is damaged, cut off, of a later version, or made to do harm."""


class SaveError(TypeError):
    """A function holds what no file can: Python code, the state of the world outside, objects of unknown classes."""


def unsavable(what: str, location: Location = ()) -> SaveError:
    """Return the error that says what cannot be saved, and where it was written."""
    line = users_line(location)
    error = SaveError(f"{what}{'' if line is None else f' ({line})'}")
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
        raise LoadError(f"{where}: {said[:500] or type(error).__name__}") from None
