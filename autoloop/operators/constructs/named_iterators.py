"""Iterators whose advance shows: those that have a name, and generators that change what is outside.

How far they are after a loop that a tensor ends nobody knows in a trace.
"""

from __future__ import annotations

import dis
import gc
import sys
import types
from collections.abc import Iterator
from typing import Any

from autoloop_runtime.base.callbacks import module_of
from autoloop_runtime.base.locations import TRACE_ENTRY, is_own_file

from ...errors import passes_handlers
from ...left_to_python import leave_unknown

#: so many iterators, at most, that one runs over are looked at
_MOST = 100
_STORES = ("STORE_ATTR", "STORE_GLOBAL")


def refuse_named(value: Any, why: str) -> None:
    """Raise if a variable holds an iterator, or one that it runs over.

    Parameters
    ----------
    value : object
        What is run over.
    why : str
        What of it only the run knows.

    Raises
    ------
    TypeError
    """
    inner = {id(one) for one in _iterators(value)}
    if not inner:
        return
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != TRACE_ENTRY:
        if not is_own_file(frame.f_code.co_filename):
            for name, one in frame.f_locals.items():
                if id(one) in inner:
                    _refuse(f"the {type(one).__name__} {name!r}", why)
        frame = frame.f_back


def refuse_changing(value: Any) -> None:
    """Raise if a generator that a loop leaves when a tensor says so sets attributes or variables from outside."""
    for one in _iterators(value):
        if isinstance(one, types.GeneratorType):
            code = one.gi_code
            for step in dis.get_instructions(code):
                if step.opname in _STORES or (step.opname == "STORE_DEREF" and step.argval in code.co_freevars):
                    _refuse(f"the generator {code.co_name!r}", f"sets {step.argval!r}, as often as only the run knows")


def refuse_again(what: str) -> None:
    """Raise for an iterator that a loop has run over before."""
    _refuse(what, "was run over before: how far it is then is not followed")


def _refuse(what: str, why: str) -> None:
    message = f"{what} {why}; let each loop run over the values themselves, or over an iterator of its own [AL018]"
    leave_unknown(message)  # what advances iterators from outside was refused before: nothing has moved
    error = TypeError(message)
    passes_handlers(error)
    raise error


def _iterators(value: Any) -> Iterator[Any]:
    """Give an iterator, and those that it runs over."""
    todo, seen = [value], set[int]()
    while todo and len(seen) < _MOST:
        one = todo.pop()
        if id(one) in seen or not hasattr(type(one), "__next__"):
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, types.GeneratorType):
            todo += one.gi_frame.f_locals.values() if one.gi_frame is not None else ()
        elif module_of(type(one)) in ("builtins", "itertools"):
            todo += [part for held in gc.get_referents(one) for part in (held if isinstance(held, tuple) else (held,))]
