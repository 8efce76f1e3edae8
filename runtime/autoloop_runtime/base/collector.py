"""The garbage collector, which waits while modules are loaded.

Loading makes tens of thousands of objects and no garbage. The collector, which comes every 700 objects, would walk them
again and again, and three times what NumPy has made as well: a tenth of what a start costs. It is as it was as soon as
nobody loads any more: on if it was on, with its thresholds.
"""

from __future__ import annotations

import gc
import sys
from threading import get_ident

from .forks import Kind, in_child

_LOCK = Kind("collector", "whom the child does not have is taken out of what it guards").lock()
#: the numbers of those for whom it waits, with their threads; written under ``_LOCK``
_waiting_for: dict[int, int] = {}
#: whether the first of them found it on; written under ``_LOCK``
_was_on = False
#: how many modules it found; written under ``_LOCK``
_modules = 0
#: whether something was found frozen: it stays so, and to look goes through all of it
_is_frozen = False


class NoCollection:
    """``with NoCollection():`` around what loads modules; any number of threads may be at it.

    A signal handler may load as well, at any point of this. Where Ctrl-C interrupts the beginning or the end, the end
    of the object itself makes up for it.
    """

    def __enter__(self) -> None:
        global _was_on, _modules
        with _LOCK:
            is_first = not _waiting_for
            _waiting_for[id(self)] = get_ident()
            if is_first:
                _was_on, _modules = gc.isenabled(), len(sys.modules)
                gc.disable()

    def __exit__(self, *exc: object) -> None:
        _end(id(self))

    def __del__(self) -> None:
        _end(id(self))


def _end(number: int) -> None:
    with _LOCK:
        if _was_on and [*_waiting_for] == [number]:
            if len(sys.modules) > _modules:  # nearly always all was there, and what is young is the user's
                _age()
            gc.enable()
        _waiting_for.pop(number, None)


def _age() -> None:
    """Have all that there is count as old: what was loaded lives as long as the process.

    The next visit would else walk everything young at once, which costs half of what was saved. Only two lists change
    hands here; what the user has frozen stays so.
    """
    global _is_frozen
    _is_frozen = _is_frozen or bool(gc.get_freeze_count())
    if not _is_frozen:
        try:
            gc.freeze()
        finally:
            gc.unfreeze()


@in_child
def _leave_out_other_threads() -> None:
    for number, thread in [*_waiting_for.items()]:
        if thread != get_ident():
            _end(number)
