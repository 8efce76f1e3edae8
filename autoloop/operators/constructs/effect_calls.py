"""Calls with known effects: logging, warnings, clocks, what is written to streams. Each run makes them, in order.

Records and warnings name the user's file and line, for which they look at their caller. So a run makes each call from
frames like those of the plain function: code of the user's file, lines, names and globals that does nothing else.
"""

from __future__ import annotations

import ast
import functools
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.base import dtypes, nest
from autoloop_runtime.base.callbacks import attribute_of, owner_of
from autoloop_runtime.base.locations import TRACE_ENTRY, is_own_file
from autoloop_runtime.base.parsing import parse
from autoloop_runtime.base.shapes import SCALAR
from autoloop_runtime.base.stand_ins import UnknownWhileTracing
from autoloop_runtime.ir.apply import apply_several
from autoloop_runtime.ir.graph import Graph, Node, current_graph
from autoloop_runtime.ir.number_operators import as_number
from autoloop_runtime.ir.records import CallRecord, record_call
from autoloop_runtime.ir.tracers import NumberTracer
from autoloop_runtime.ops.effects import Text, handed
from autoloop_runtime.ops.python_functions import KNOWN_CALL

from ... import operators
from ...conversion.known_effects import CLOCKS, WARN, is_stream, known_result
from ...errors import programs_own, user_stacklevel
from ...left_to_python import is_followed
from ..mutation.outside_world import found_outside, leave
from ..mutation.parts_of_objects import is_users_object
from ..staging.staged_blocks import in_staged_block
from ..staging.staged_values import is_staged
from ..staging.standins import StandIn

_LATER = "of such a value only the run knows what to do; do it before or behind that"
_SPECS = {int: (dtypes.int64, SCALAR), float: (dtypes.float64, SCALAR), bool: (dtypes.bool_, SCALAR)}
_FRAME = "def {name}(call, args, kwargs):\n    return call(*args, **kwargs)"


def known_call(f: Any) -> Callable[..., Any] | None:
    """Return what takes the place of a function with a known effect in a trace; None if it has none."""
    if not is_followed():
        return None
    if isinstance(f, functools.partial):
        return None if (inner := known_call(f.func)) is None else functools.partial(inner, *f.args, **f.keywords)
    gives = known_result(f)
    if gives is None:
        return None
    return lambda *args, **kwargs: _called(f, gives, args, kwargs)


def printed(values: Sequence[Any], options: dict[str, Any]) -> None:
    """Print to a stream of the user's, by the calls of its methods that ``print`` makes."""
    _called(print, type(None), tuple(values), options)


def _called(f: Any, gives: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    graph = current_graph()
    assert graph is not None
    name = attribute_of(f, "__name__", "call")
    if name == "exception" or any(kwargs.get(one) for one in ("exc_info", "stack_info")):
        leave(f"{name}() asks for the exception that is handled", _LATER)
    if not in_staged_block() and any(isinstance(one, StandIn) for one in nest.flatten((args, kwargs))):
        leave(f"{name}() is given what it would have to look into", _LATER)
    warning = args[0] if f is WARN and args and isinstance(args[0], Warning) else None
    if warning is not None and operators.holds_staged([warning.args, vars(warning)]):
        leave("warn() is given a warning that holds what only the run knows", "give it the text and the category")
    try:
        text = Text(operators.shown((args if warning is None else (None, *args[1:]), kwargs)))
    except TypeError:
        leave(f"{name}() is given what it would have to look into", _LATER)
    frames = _frames()
    if f is WARN and len(args) < 3:
        made = _warning(args, kwargs, frames)
    else:
        if kwargs.get("stacklevel", 1) > len(frames):
            leave(f"{name}() names its caller's caller", _LATER)
        made = _from_frames(_found(f), frames)
    record_call(graph, CallRecord(name, None, True))

    def call(*values: Any) -> tuple[Any, ...]:
        given, named = nest.map_structure(handed, text.filled(values))
        if warning is not None:  # an object, whose class is the category
            given = warning, *given[1:]
        result = made(given, named)
        return () if gives is type(None) else (_SPECS[gives][0].type(result),)

    call.__name__ = name
    inputs = text.take_tensors() + (_timed(graph) if f in CLOCKS else [])
    specs = () if gives is type(None) else (_SPECS[gives],)
    results = apply_several(KNOWN_CALL, inputs, {"call": call, "specs": specs}, name)
    return as_number(results[0], NumberTracer) if specs else None


def _timed(graph: Graph) -> list[Any]:
    """Return results of the loops and branches since the last known call, for which a clock waits, and let these wait
    for that one if it was read from a clock, too: each result may come at another time."""
    blocks: list[Node] = []
    for node in reversed(graph.nodes):
        if node.op is KNOWN_CALL:
            for block in blocks:
                graph.exchange(block, block.instead(after=node.outputs[:1]))
            break
        if node.subgraphs:
            blocks.append(node)
    return [output for block in blocks for output in block.outputs]


def _found(f: Any) -> Callable[[], Any]:
    """Return what gives the function when it is called: standard streams may have been redirected."""
    owner = owner_of(f)
    for name in ("stdout", "stderr") if is_stream(owner) else ():
        if owner is getattr(sys, name):
            return lambda: getattr(getattr(sys, name), f.__name__)
    return lambda: f


# -- frames of the user's -----------------------------------------------------------------------------------


def _frames() -> list[types.FunctionType]:
    """Return functions whose frames look like those that lead to the call, the innermost first."""
    chain: list[types.FrameType] = []
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != TRACE_ENTRY:
        if not is_own_file(frame.f_code.co_filename):
            chain.append(frame)
        frame = frame.f_back
    found, line = [], 0
    for inner, outer in zip_longest(chain, chain[1:]):
        line = line or inner.f_lineno
        code = inner.f_code
        # what conversion makes of loops and branches has no frames in plain Python
        if outer is None or outer.f_code.co_name != code.co_name or code not in outer.f_code.co_consts:
            found.append(_like(code.co_filename, line, code.co_name, inner.f_globals))
            line = 0
    return found


def _like(filename: str, line: int, name: str, namespace: dict[str, Any]) -> types.FunctionType:
    tree = parse(_FRAME.format(name=name if name.isidentifier() else "function"))
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
    made: dict[str, Any] = {}
    exec(compile(tree, filename, "exec"), made)
    (function,) = (one for one in made.values() if isinstance(one, types.FunctionType))
    return types.FunctionType(function.__code__.replace(co_name=name, co_qualname=name), namespace)


def _from_frames(found: Callable[[], Any], frames: Sequence[types.FunctionType]) -> Callable[[Any, Any], Any]:
    """Return what calls a function with arguments, from such frames."""

    def make(args: Any, kwargs: Any) -> Any:
        given = found(), args, kwargs
        for frame in frames[:-1]:
            given = frame, given, {}
        return frames[-1](*given) if frames else given[0](*args, **kwargs)

    return make


def _warning(
    args: tuple[Any, ...], kwargs: dict[str, Any], frames: Sequence[types.FunctionType]
) -> Callable[[Any, Any], Any]:
    """Return what warns; of what leads to the call of the decorated function only the run knows."""
    level = kwargs.get("stacklevel", 1)
    if level <= len(frames):
        return _from_frames(lambda: warnings.warn, frames)
    make = _from_frames(lambda: warnings.warn, frames)

    def warn(given: Any, named: Any) -> Any:
        return make(given, {**named, "stacklevel": level + user_stacklevel()})

    return warn


def _print_to(file: Any, values: Sequence[Any], sep: str, end: str, flush: Any) -> None:
    """Print to an object of the user's as ``print`` does: by calls of its methods, which are converted."""
    text = operators.call(str)
    parts = [part for value in values for part in (sep, value)][1:]
    for place, part in enumerate([*parts, end]):
        operators.call(file.write)(part if place % 2 and place < len(parts) else text(part))
    if flush:
        operators.call(file.flush)()


class _Errors:
    """What ``sys.stderr`` is when it is written to."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


_ERRORS = _Errors()


def staged_print(*values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False) -> None:
    """Do ``print``, with what a run makes among the values."""
    for option, given in (("sep", sep), ("end", end)):
        if is_staged(given):
            raise UnknownWhileTracing(f"`{option}` of print is what only the run knows: print it as a value of its own")
        if not (given is None or isinstance(given, str)):
            raise programs_own(TypeError(f"{option} must be None or a string, not {type(given).__name__}"))
    if is_users_object(sys.stdout if file is None else file) and is_followed():
        if file is not None:
            return _print_to(file, values, " " if sep is None else sep, "\n" if end is None else end, flush)
        if (name := found_outside(sys.stdout)) is not None:
            leave(f"print() writes to {name or 'sys.stdout'!r}, which is asked for here, too", _LATER)
    if is_followed() and (flush or file not in (None, sys.stdout, sys.stderr)):
        # the streams of the process are those of each run
        file = None if file is sys.stdout else _ERRORS if file is sys.stderr else file
        return printed(values, {"sep": sep, "end": end, "file": file, "flush": flush})
    ops.print(
        *map(operators.shown, values),
        sep=" " if sep is None else sep,
        end="\n" if end is None else end,
        output_stream=file,
    )
