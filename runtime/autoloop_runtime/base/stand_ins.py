"""What stands in a trace for a value of the user's: each class says what its objects are to them.

Python's messages name the class of an object; of one that stands for another they are to name what that is.
What a graph cannot hold, and NumPy and Python have of the values themselves, has errors of its own: whoever traces a
function whose arguments have their values may let plain Python run it. Elsewhere they are as any other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from .error_codes import coded

_K = TypeVar("_K", bound=type)
_E = TypeVar("_E", bound=BaseException)

#: the mark of an exception that plain Python raises, too
PROGRAMS = "__autoloop_programs__"
_SURELY = "__autoloop_surely__"

#: what Python's messages may name -> what that is to the user; filled as modules load (under the import lock)
_WORDS: dict[str, str] = {}


class UnknownWhileTracing(TypeError):
    """What is asked for, or called so, has to know more than a trace knows."""

    def __init__(self, message: str) -> None:
        super().__init__(coded("AL030", message))


class NoOperand(UnknownWhileTracing):
    """A value of Python's that no tensor can hold."""

    value: Any = None

    def of(self, value: Any) -> NoOperand:
        """Return the error, which says of which value it is."""
        self.value = value
        return self


class SeenByOthers(RuntimeError):
    """Another thread has looked at what only the one that traces will know."""

    def __init__(self, message: str) -> None:
        super().__init__(coded("AL031", message))


class UnknownExtent(ValueError):
    """The same of a shape that is not known."""

    def __init__(self, message: str) -> None:
        super().__init__(coded("AL032", message))


class ShownByRun(Exception):
    """Only the run has shown that plain Python gives what no graph can hold: it may run the call again, from its
    beginning, unless somebody would notice that, or wants the graph."""


class IntTooLarge(OverflowError, ShownByRun):
    """An int of Python's that does not fit what carries it."""


class OfAnotherType(ValueError, ShownByRun):
    """A number of Python's of another type than in other runs."""

    def __init__(self, message: str) -> None:
        super().__init__(coded("AL020", message))


class OfAnotherShape(ValueError, ShownByRun):
    """An element of a list that has another shape than those before it."""


def in_numpys_words(error: _E) -> _E:
    """Return an exception, marked as what NumPy or Python says of the user's line, too."""
    with suppress(AttributeError, TypeError):  # exceptions with __slots__
        setattr(error, PROGRAMS, True)
        setattr(error, _SURELY, True)
    return error


def noted(error: _E, note: str) -> _E:
    """Return an exception with a note on what its message, which is NumPy's, does not say."""
    error.add_note(note)
    return error


def is_in_numpys_words(error: BaseException) -> bool:
    """Return whether an exception was marked so: no rule of ours may have said it for want of knowing more."""
    return hasattr(error, _SURELY)


def cast_refused(given: Any, wanted: Any, casting: str, theirs: str = "") -> TypeError:
    """Return NumPy's error for elements of a dtype that a rule does not let it cast to another."""
    said = f"{theirs}Cannot cast array data from {given!r} to {wanted!r} according to the rule {casting!r}"
    return in_numpys_words(TypeError(said))


def called(words: str) -> Callable[[_K], _K]:
    """Return a decorator of a class whose objects are ``words`` to the user."""

    def noted(kind: _K) -> _K:
        _WORDS[kind.__name__] = words
        return kind

    return noted


def missing(name: str, words: str) -> None:
    """Note an attribute that objects of ours lack where Python has raised before it was set: what is said of that."""
    _WORDS[name] = words


def to_user(text: str) -> str:
    """Return a message with what the user calls them in place of such names."""
    return re.sub(r"\b\w+\b", lambda found: _WORDS.get(found[0], found[0]), text)
