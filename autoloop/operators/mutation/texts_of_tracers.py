"""Texts, hashes and values that only a run knows, asked for by code that runs as it is while a function is traced.

They would be those of what stands for the value, so plain Python runs the function, or the text is refused. Our own
messages may name such values, and so may debuggers.
"""

from __future__ import annotations

import os
from types import FrameType
from typing import Any

from autoloop_runtime.base.locations import GENERATED, capture, is_internal, is_library_file, users_line
from autoloop_runtime.ir.graph import current_graph

from ...conversion.advice import computing
from ...conversion.callables import is_converted
from ...errors import passes_handlers
from ...left_to_python import KEY, LeftToPython, is_followed, leave_unknown
from .outside_world import leave

_WHAT = "text is made of a value that only the run knows by code that is not converted"
_INSTEAD = (
    "it would show what stands for the value while the function is traced. Write the text as an f-string of the value "
    "itself, f'{x}', or print the value"
)
#: the rooms that do on behalf of the user's code what Python does, by name
_FOR_THE_USER = tuple(
    os.path.join("operators", "constructs", f"{name}.py")
    for name in (
        "builtins", "call_expression", "chosen_items", "door", "effect_calls", "overloads", "stateful_calls", "text",
    )
)  # fmt: skip
_OF_KEYS = tuple(
    os.path.join("operators", "constructs", f"{name}.py") for name in ("comprehensions", "items", "membership")
)
_DEBUGGERS = frozenset(("IPython", "_pydevd_bundle", "bdb", "cmd", "debugpy", "pdb", "pydevd", "traceback"))
#: these show values in messages of their own, too, and compare them as any library does
_REPORTING = frozenset(("_pytest", "pytest"))
#: these show something else where a text raises an ``Exception``
_SWALLOWING = frozenset(("logging", "pprint", "reprlib"))


def leave_or_refuse(value: Any, frame: FrameType) -> None:
    """Let plain Python run the function that is traced, if code in ``frame`` would show what stands for ``value``.

    Raises
    ------
    LeftToPython
    TypeError
        In a loop or branch, and where a tensor of the user's takes part. Handlers of the user's let it pass.
    """
    graph = current_graph()
    if graph is None or _is_own_message(frame):
        return
    modules = _modules_outside(frame)
    if modules & (_DEBUGGERS | _REPORTING):
        return
    if modules & _SWALLOWING and is_followed():
        raise LeftToPython(_WHAT, users_line(capture()))
    try:
        if not is_followed():
            raise TypeError(f"{_WHAT}, {value.plain.name!r}: {_INSTEAD} [AL030]")
        leave(_WHAT, _INSTEAD)
    except TypeError as error:
        passes_handlers(error)
        raise


def leave_key(value: Any, frame: FrameType) -> None:
    """Let plain Python run the function that is traced, if it can: ``value`` is a key of a dict or element of a set."""
    file = frame.f_code.co_filename
    if not is_internal(file) or file.endswith((*_FOR_THE_USER, *_OF_KEYS)):
        leave_unknown(KEY)


def leave_value(value: Any, frame: FrameType) -> None:
    """Let plain Python run the function that is traced, if it can and code that is not converted asks for ``value``.

    Were an error to tell it that there is none, it might go on with something else. Of converted code no handler gets
    that error: see ``advice.asks_for_values``.
    """
    code = frame.f_code
    if is_internal(code.co_filename) or is_converted(code) or _modules_outside(frame) & _DEBUGGERS:
        return
    what = f"{code.co_qualname!r}, which is not converted, asks for a value of the run"
    owner = type(frame.f_locals.get(code.co_varnames[0])) if code.co_varnames else object
    is_method = getattr(getattr(owner, code.co_name, None), "__code__", None) is code
    if code.co_filename == GENERATED and is_method:  # of a dataclass, and no function of a text
        what = (
            f"{code.co_name!r} of {owner.__name__!r}, which is generated and not converted, asks for a value of the "
            f"run; write it out in the class, or compare the fields themselves"
        )
    if is_library_file(code.co_filename):
        what = computing(f"{frame.f_globals.get('__name__')}.{code.co_qualname}")
    leave_unknown(what, instead=what.partition("; ")[2])


def _is_own_message(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return is_internal(file) and not file.endswith(_FOR_THE_USER)


def _modules_outside(frame: FrameType | None) -> set[str]:
    """Return the names of the packages whose code asks for the text, up to ours."""
    found = set()
    while frame is not None and not is_internal(frame.f_code.co_filename):
        found.add(frame.f_globals.get("__name__", "").partition(".")[0])
        frame = frame.f_back
    return found
