"""The hunt for nan and inf: NumPy's own setting of what to do in case of a floating-point error.

That is why it holds for everything in its reach: plain NumPy, tensors, sessions, and functions that run as plain Python
are stopped by NumPy itself; runs of graphs are looked at when they have ended, see ``hunted_runs``.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import numpy as np
from autoloop_runtime.base.fp_warnings import Hunter
from autoloop_runtime.base.locations import is_library_file
from autoloop_runtime.ir.numbers_held import is_numeric, shown

_KINDS = {"divide": "raise", "over": "raise", "invalid": "raise"}
_NAME = re.compile(r"[^\W\d]\w*")


def _told(link: TracebackType | None) -> str | None:
    """Return what the names in the user's line that an error came from stand for, of numbers and arrays."""
    found = None
    while link is not None:
        found = link if not is_library_file(link.tb_frame.f_code.co_filename) else found
        link = link.tb_next
    if found is None:
        return None
    frame = found.tb_frame
    names = _NAME.findall(linecache.getline(frame.f_code.co_filename, found.tb_lineno, frame.f_globals))
    values = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
    said = [f"{name} = {shown(value)}" for name, value in values.items() if is_numeric(value)]
    return f"where {', '.join(said)}" if said else None


@contextmanager
def check_numerics() -> Iterator[None]:
    """Stop at the first nan or inf that is made inside the block.

    Decorated functions run as fast as ever, by every executor, and it is looked at what they give and write. Where that
    holds nan or inf the call is run once more, operation by operation, and the first is told that makes a bad number of
    good ones. What plain NumPy, and functions that run as plain Python, compute is looked at by NumPy itself, at each
    operation.

    Returns
    -------
    context manager

    Raises
    ------
    FloatingPointError
        At the user's line, with the operation, its operands, and the iterations of the loops around it. Also if nan is
        given to a function, and comes to what that gives.

    Notes
    -----
    Like ``np.errstate``, which it is an instance of, it holds for one thread, or task. Where ``np.errstate`` inside the
    block, or in a function, ignores errors, nothing is looked at there. Bad numbers of which nothing is left in what a
    run gives or writes (``np.where(x > 0, np.log(x), 0)``) are only told of plain NumPy. inf that was given, or stands
    in the source, is no bad number. Arrays that a function writes to are copied before each call. Functions that print,
    or the like, are run operation by operation at once.

    Examples
    --------
    >>> @al.function
    ... def mean_log(x):
    ...     return np.log(x).mean()
    >>> with al.debugging.check_numerics():
    ...     mean_log(np.array([1.0, -2.0, 3.0]))
    Traceback (most recent call last):
        ...
    FloatingPointError: log gives nan of -2.0 at [1] of float64[3]...
    """
    with np.errstate(**_KINDS, call=Hunter()):  # type: ignore[arg-type]
        try:
            yield
        except FloatingPointError as error:
            if not hasattr(error, "__notes__") and (told := _told(error.__traceback__)) is not None:
                error.add_note(told)
            raise


def enable_check_numerics() -> None:
    """Hunt nan and inf in this thread from now on, see :func:`check_numerics`.

    Examples
    --------
    >>> al.debugging.enable_check_numerics()
    >>> al.debugging.disable_check_numerics()
    """
    np.seterr(**_KINDS)  # type: ignore[arg-type]
    np.seterrcall(Hunter())


def disable_check_numerics() -> None:
    """End the hunt in this thread: NumPy warns of errors again, as at first.

    Examples
    --------
    >>> al.debugging.disable_check_numerics()
    """
    np.seterr(divide="warn", over="warn", invalid="warn")
    np.seterrcall(None)
