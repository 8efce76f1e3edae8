"""The garbage collector, which waits while modules are loaded, and while a syntax tree is made.

Loading makes tens of thousands of objects and no garbage. The collector, which comes every 700 objects, would walk them
again and again, and three times what NumPy has made as well: a tenth of what a start costs. It is as it was as soon as
nobody needs it to wait any more: on if it was on, with its thresholds. Nobody else switches it: of two who did, one
would switch it on while the other still works.
"""

from __future__ import annotations

import gc
import sys
from _thread import get_ident

from .forks import Kind, in_child

_LOCK = Kind("collector", "whom the child does not have is taken out of what it guards").lock()


#: those for whom it waits, by number; the lock above guards it
_waiting: dict[int, _Wait] = {}
#: whether something was found frozen: it stays so, and to look goes through all of it; any thread may say so, no lock
_is_frozen = False


class _Wait:
    """One for whom it waits; written under ``_LOCK``."""

    __slots__ = ("found_on", "is_ending", "modules", "thread")

    def __init__(self) -> None:
        self.thread = get_ident()
        #: whether it is to be switched on at the end; the last one to end does it for all
        self.found_on = gc.isenabled()
        #: how many modules there were
        self.modules = len(sys.modules)
        self.is_ending = False


class NoCollection:
    """``with NoCollection():`` around what wants none; any number of threads may be at it.

    A signal handler may want none as well, at any point of this. Where Ctrl-C interrupts the beginning or the end, the
    end of the object itself makes up for it.
    """

    def __enter__(self) -> None:
        with _LOCK:
            _waiting[id(self)] = _Wait()
            gc.disable()

    def __exit__(self, *exc: object) -> None:
        _end(id(self))

    def __del__(self) -> None:
        _end(id(self))


def _end(number: int) -> None:
    with _LOCK:
        mine = _waiting.get(number)
        if mine is None:
            return
        mine.is_ending = True  # a handler that comes in between from here on has nobody to leave the switch to
        if mine.found_on:
            others = _others()
            if others:
                others[0].found_on, others[0].modules = True, min(mine.modules, others[0].modules)
            else:
                if len(sys.modules) > mine.modules:  # nearly always all was there, and what is young is the user's
                    _age()
                gc.enable()
        del _waiting[number]


def _others() -> list[_Wait]:
    """Return those who are not ending.

    A comprehension in the ``with`` itself has a place since Python 3.12, where it goes on to the next one, from which
    Ctrl-C would leave the lock held: the others would wait for ever.
    """
    return [one for one in _waiting.values() if not one.is_ending]


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
    for number, one in [*_waiting.items()]:
        if one.thread != get_ident():
            _end(number)
