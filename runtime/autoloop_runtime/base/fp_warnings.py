"""NumPy's floating-point warnings: off around a run, but for who has asked for them.

NumPy's own setting, to warn, asks for nothing, nor does one that equals it, or ignores more kinds of errors. Under any
other that ``np.errstate`` or ``np.seterr`` have made, plain Python runs a function that makes the same of what it is
given, unless machine code has run it and noticed no error, and what a graph has to run is computed by NumPy, one
operation at a time, with the warnings on (``guarded``), since no other code could tell which operation an exception
belongs to.

``np.errstate(all="ignore")`` makes an object and reads its settings anew each time, which takes as long as a dozen
operations on scalars. What it does in the end is to set a context variable; which one and to what is found out once,
by looking at a context inside it. Like all context variables it belongs to one thread (or task).

What is computed while a function is traced is computed under no setting of the caller's: which errors there were is
noted (``noting``), and a call that asks for one of them (``is_asked``) is plain Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from functools import partial
from typing import Any

import numpy as np


def _setting() -> tuple[ContextVar[Any], Any] | None:
    """Return the context variable that ``np.errstate`` sets, and its value without warnings."""
    outside = copy_context()
    with np.errstate(all="ignore"):
        inside = copy_context()
    changed = [v for v in inside if v not in outside or inside[v] is not outside[v]]
    return (changed[0], inside[changed[0]]) if len(changed) == 1 else None


#: what NumPy does about which kind of error where nobody has set anything
_UNSET = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


#: the bit of each kind in what NumPy hands to who is called in case of an error
_BITS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
INVALID = _BITS["invalid"]


def noting(note: Callable[[int], object]) -> np.errstate:
    """Return a context manager in which errors have no effect but that ``note`` is told of them, by bits."""
    return np.errstate(all="call", call=lambda _, bits: note(bits))


#: the setting that was looked at last, and whether it is that of a hunt; replaced as a whole, by any thread
_looked_at: tuple[Any, bool] = None, False


class Hunter:
    """What NumPy has to call in case of an error while nan and inf are hunted, see
    ``autoloop.debugging.check_numerics``: so it is known that they are. Errors raise, and nothing calls it."""

    def __call__(self, kind: str, bits: int) -> None:
        """Raise that there was an error."""
        raise FloatingPointError(f"{kind} encountered")


def is_hunted() -> bool:
    """Return whether nan and inf are hunted, where floating-point errors are asked for."""
    global _looked_at
    known, verdict = _looked_at
    if known is not (now := setting()):
        _looked_at = now, (verdict := isinstance(np.geterrcall(), Hunter))
    return verdict


def is_asked(bits: int) -> bool:
    """Return whether the setting asks for more than silence about one of the kinds of errors that were noted."""
    return bool(bits and bits & kinds_heard())


def kinds_heard() -> int:
    """Return of which kinds of errors the setting asks for more than silence, by bits."""
    return sum(_BITS[kind] for kind, value in np.geterr().items() if value != "ignore")


def _differs() -> bool:
    return any(value not in ("ignore", _UNSET[kind]) for kind, value in np.geterr().items())


def _functions() -> tuple[Callable[[], Any], Callable[[], object], Callable[[Any], object], Callable[[], bool], Any]:
    """Return ``setting``, ``silence``, ``restore``, ``asked`` and ``UNSET``, see below."""
    found = _setting()
    if found is None:  # a NumPy that keeps it elsewhere
        return np.geterr, partial(np.seterr, all="ignore"), lambda before: np.seterr(**before), _differs, None
    variable, silent = found
    get = variable.get
    initial = Context().run(get)

    # the setting that was looked at last, and whether it asks for something; replaced as a whole
    last: tuple[Any, bool] = initial, False

    def asked() -> bool:
        nonlocal last
        now = get()
        if now is initial or now is silent:
            return False
        known, verdict = last
        if known is not now:
            last = now, (verdict := _differs())
        return verdict

    return get, partial(variable.set, silent), variable.set, asked, initial


#: ``before = setting()``, and then, in the same thread, ``try: silence() ... finally: restore(before)``. It is asked
#: for before anything is changed: a signal handler may raise as soon as ``silence`` is done, and loses what that gives.
#: ``asked()``: whether somebody has asked for floating-point errors or warnings; ``setting() is UNSET``: surely nobody
setting, silence, restore, asked, UNSET = _functions()
