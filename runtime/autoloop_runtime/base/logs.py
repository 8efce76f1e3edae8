"""What is done, told through ``logging`` where a program has loaded it: traces, machine code, decisions.

Handlers and filters are the user's: they may take locks of their own, and call functions of this library, which other
threads are tracing. So nothing is told while a thread holds a lock of ours: what is to be told waits until the last of
them is free. Handlers run outside the trace that was made. What they do themselves is not told, or they would be called
for it again.

A decorated function shows what the undecorated one does, so nothing is told unless the level of our loggers is set.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from types import ModuleType

from . import background
from .contexts import OURS
from .dataclass import dataclass
from .forks import KINDS, generation, in_child, is_mine
from .locations import Line, capture, users_line

#: what begins the names of all loggers
NAME = "autoloop"
#: the levels of ``logging``
DEBUG, INFO = 10, 20


@dataclass(frozen=True)
class _Told:
    """What is to be told: who tells it, how loudly, what gives the words, and of which line of the user's."""

    room: str
    level: int
    say: Callable[[], str]
    line: Line | None
    generation: int


#: what threads have to tell; each thread changes its own entry alone, and adding and removing one is atomic
_waiting: dict[int, list[_Told]] = {}
#: the threads that are telling, likewise
_telling: set[int] = set()


def news(room: str, say: Callable[[], str], line: Line | None = None) -> None:
    """Tell what a user may want to know, as ``autoloop.<room>``, at the level ``INFO``.

    Parameters
    ----------
    room : {"tracing", "native", "running"}
    say : callable
        Gives the words, and is called only if somebody listens, when this thread holds no lock of ours.
    line : Line, optional
        The user's, by default that which has called something of ours.
    """
    _note(room, INFO, say, line)


def detail(room: str, say: Callable[[], str], line: Line | None = None) -> None:
    """Tell, as ``news`` does at the level ``DEBUG``, what one who looks for a fault may want to know."""
    _note(room, DEBUG, say, line)


def _note(room: str, level: int, say: Callable[[], str], line: Line | None) -> None:
    if get_ident() not in _telling and _is_asked_for(room, level):
        told = _Told(room, level, say, line or users_line(capture()), generation())
        _waiting.setdefault(get_ident(), []).append(told)
        tell()


def _is_asked_for(room: str, level: int) -> bool:
    """Return whether the level of a logger of ours is set, and lets this pass; found without a lock of ``logging``.

    A program that shows its own records has not asked for ours, which would stand between them.
    """
    try:
        loggers = sys.modules["logging"].Logger.manager.loggerDict
    except (KeyError, AttributeError):  # another thread is importing it
        return False
    levels = [getattr(loggers.get(name), "level", 0) for name in (f"{NAME}.{room}", NAME)]
    return 0 < (levels[0] or levels[1]) <= level


def tell() -> None:
    """Tell what has waited in this thread, unless it holds a lock of ours: then who frees that is to call this."""
    logging, me = sys.modules.get("logging"), get_ident()
    # another thread may be importing it: this is made last of what is needed
    if me not in _waiting or me in _telling or not hasattr(logging, "NullHandler") or _holds_any():
        return
    assert logging is not None
    _telling.add(me)
    try:
        context = _outside()
        for one in _waiting.pop(me):
            if one.generation == generation():  # else the parent tells it
                context.run(_tell_one, logging, one)
    finally:
        _telling.discard(me)


@in_child
def _forget() -> None:
    """Leave what other threads of the parent had to tell to these: threads of a child may have their numbers."""
    for known in (_waiting.keys(), _telling):
        for other in set(known) - {get_ident()}:
            _waiting.pop(other, None)
            _telling.discard(other)


def _holds_any() -> bool:
    return any(is_mine(lock) for kind in KINDS for lock in kind.living())


def _outside() -> Context:
    """Return the context of this thread without our own variables: no graph is being made there, nothing recorded."""
    made = Context()
    for variable, value in copy_context().items():
        if not variable.name.startswith(OURS):
            made.run(variable.set, value)
    return made


def _tell_one(logging: ModuleType, one: _Told) -> None:
    """Hand one record to ``logging``; what a handler raises is shown, as ``logging`` does, and stops no run."""
    try:
        parent, logger = logging.getLogger(NAME), logging.getLogger(f"{NAME}.{one.room}")
        if not any(isinstance(handler, logging.NullHandler) for handler in parent.handlers):
            parent.addHandler(logging.NullHandler())
        if not logger.isEnabledFor(one.level):
            return
        where = ("(unknown file)", 0) if one.line is None else (one.line.filename, one.line.lineno)
        function = None if one.line is None else one.line.function
        logger.handle(logger.makeRecord(logger.name, one.level, *where, one.say(), (), None, function))
    except BaseException as error:
        if not isinstance(error, Exception) and not background.is_here():
            raise
        if getattr(logging, "raiseExceptions", False):
            with suppress(Exception):
                sys.stderr.write("--- Logging error ---\n")
                sys.excepthook(type(error), error, error.__traceback__)
