"""NumPy's floating-point warnings: off around a run, but for who has asked for them.

NumPy's own setting, to warn, asks for nothing, nor does one that equals it. Under any other that ``np.errstate`` or
``np.seterr`` have made, everything is computed by NumPy, one operation at a time, with the warnings on (``guarded``),
since no other code could tell which operation an exception belongs to.

``np.errstate(all="ignore")`` makes an object and reads its settings anew each time, which takes as long as a dozen
operations on scalars. What it does in the end is to set a context variable; which one and to what is found out once,
by looking at a context inside it. Like all context variables it belongs to one thread (or task).
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


def _enter() -> Any:
    manager = np.errstate(all="ignore")
    manager.__enter__()
    return manager


def _leave(manager: Any) -> None:
    manager.__exit__(None, None, None)


#: what NumPy does about which kind of error where nobody has set anything
_UNSET = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def _watch() -> tuple[Callable[[], bool], Callable[[], Any], Callable[[Any], Any], Any]:
    """Return ``asked``, ``guarded``, ``setting`` and ``UNSET``, see below; the second is called around each operation
    of an eager program."""
    found = _setting()
    if found is None:
        return _differs, lambda: None if _differs() else silence(), lambda _: _differs(), False
    variable, silent = found
    initial = Context().run(variable.get, None)
    get, put = variable.get, variable.set

    # the setting that was looked at last, and whether it asks for something; replaced as a whole
    last: tuple[Any, bool] = initial, False

    def asked() -> bool:
        nonlocal last
        now = get(None)
        if now is initial or now is silent:
            return False
        known, verdict = last
        if known is not now:
            last = now, (verdict := _differs())
        return verdict

    def guarded() -> Any:
        return None if asked() else put(silent)

    return asked, guarded, get, initial


def _differs() -> bool:
    now = np.geterr()
    return now != _UNSET and set(now.values()) != {"ignore"}


def _functions() -> tuple[Callable[[], Any], Callable[[Any], object]]:
    found = _setting()
    if found is None:  # a NumPy that keeps it elsewhere
        return _enter, _leave
    variable, value = found
    return partial(variable.set, value), variable.reset


#: ``token = silence()``; ``restore(token)``, in the same thread, brings back what was in force
silence, restore = _functions()
#: ``asked()``: whether somebody has asked for floating-point errors or warnings; ``guarded()`` gives what ``unguarded``
#: takes, with the warnings off unless they are asked for; ``setting(None) is UNSET``: surely nobody has
asked, guarded, setting, UNSET = _watch()


def unguarded(token: Any) -> None:
    """Bring back what was in force before ``guarded``, in the same thread."""
    if token is not None:
        restore(token)
