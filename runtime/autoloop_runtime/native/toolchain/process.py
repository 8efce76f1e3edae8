"""The compiler in a process of its own, so that its memory is given back and its crashes are not the program's.

A compiler that waits for work is kept until it ends by itself. Whoever asks takes it away and puts it back, so each is
asked one thing at a time, whoever comes in between: another thread, or a signal handler.
"""

from __future__ import annotations

import atexit
import json
import os
from typing import Any

from ...base import background
from ...base import native_extra as extra
from . import child, compiler, interpreter
from .child import LONGEST, Child, Ended, TooLate

#: seconds in which an interpreter says who it is
GREETING = 10.0
#: how many compilers may end, one after the other, before what they were asked is what ends them
TRIES = 2


class Unavailable(Exception):
    """There can be no other process; the message says why."""


class CompilerDied(RuntimeError):
    """The compiler ended in the middle of its work, and so did another one."""

    #: it may be that the machine had no memory for it then
    may_pass = True


#: the one that waits for work, if there is one; taking it out and putting it in are atomic
_waiting: list[Child] = []


def is_running() -> bool:
    """Return whether the next request need not wait for the compiler to be loaded."""
    return any(not one.is_over for one in _waiting)


def ask(request: dict[str, Any]) -> tuple[Any, bytes]:
    """Return what ``compiler`` answers.

    Raises
    ------
    Unavailable
        If no process can be started.
    CompilerDied
        If processes are started, and end at this request.
    ImportError, RuntimeError
        As the compiler does.
    """
    died = 0
    while True:
        one, is_fresh = _taken()
        try:
            head, data = _answered(one, request)
        except Ended as error:
            code = one.stop()
            died += is_fresh  # what waited for work may have been killed before it got some
            if died == TRIES or isinstance(error, TooLate):
                raise CompilerDied(f"LLVM ended while it compiled: {error} (exit code {code})") from None
        except BaseException:
            one.stop()  # in the middle, perhaps by Ctrl-C: the next answer would not belong to the next question
            raise
        else:
            _put_back(one)
            return _content(head), data


def ask_alone(request: dict[str, Any]) -> tuple[Any, bytes]:
    """Return what a process of its own answers, which is asked nothing else; raises as ``ask`` does."""
    one = _started()
    try:
        head, data = _answered(one, request)
    except Ended as error:
        raise CompilerDied(f"LLVM ended while it compiled: {error}") from None
    finally:
        one.stop()
    return _content(head), data


def _answered(one: Child, request: dict[str, Any], longest: float = LONGEST) -> tuple[dict[str, Any], bytes]:
    answer = one.ask(json.dumps(request).encode() + b"\n", longest, _is_waited_for)
    head = json.loads(answer.line())
    return head, answer.read(head.get("size", 0))


def _is_waited_for() -> bool:
    """Return false for a job once the interpreter ends, which waits for it and for nothing that it makes."""
    return not (background.is_ending() and background.is_here())


def _content(head: dict[str, Any]) -> Any:
    if "error" in head:
        kind = ImportError if head["error"] in ("ImportError", "ModuleNotFoundError") else RuntimeError
        raise kind(head["message"])
    return head["answer"]


def _taken() -> tuple[Child, bool]:
    """Return a compiler that nobody else asks, and whether it was started for this."""
    while True:
        try:
            found = _waiting.pop()
        except IndexError:
            return _started(), True
        if not found.is_over:
            return found, False
        found.stop()


def _put_back(one: Child) -> None:
    if _waiting or one.is_over:
        one.stop()
    else:
        _waiting.append(one)


def _started() -> Child:
    """Return a compiler that has said who it is."""
    reason = interpreter.why_not()
    if reason:
        raise Unavailable(reason)
    for _ in range(TRIES):
        try:
            one = Child(interpreter.command(compiler.__file__), interpreter.environment())
        except OSError as error:
            raise Unavailable(f"{type(error).__name__}: {error}") from None
        try:
            wrong = _wrong_with(one)
        except Ended as error:
            code = one.stop()
            reason = f"{error} (exit code {code})"
            if code is None or code < 0:
                continue  # somebody ended it
            wrong = reason
        except BaseException:
            one.stop()
            raise
        if not wrong:
            return one
        one.stop()
        raise Unavailable(interpreter.reject(wrong))
    raise Unavailable(reason)


def _wrong_with(one: Child) -> str:
    """Return why what was started is not the interpreter of this program; empty if it is."""
    package = extra.folder()
    try:
        head, _ = _answered(one, {"greet": package and os.path.dirname(package)}, GREETING)
        return "" if head["answer"] == compiler.identity() else "it is another one"
    except TooLate as error:
        return str(error)
    except (ValueError, TypeError, LookupError, AttributeError):
        return "it says something else"


atexit.register(child.stop_all)
