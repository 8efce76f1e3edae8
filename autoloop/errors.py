"""The errors of the front end, and tracebacks that show the user's own lines.

Converted code is compiled with the user's file name and line numbers, so the frames of a converted function
already point at the user's source. What is left to do is to take the frames of autoloop itself out of a
traceback, so that nothing stands between the user's lines.
"""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import opcode
import os
import sys
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from autoloop_runtime.base import dtypes, stand_ins
from autoloop_runtime.base.callbacks import code_of, origin_of
from autoloop_runtime.base.doors import listing
from autoloop_runtime.base.env_switches import switch
from autoloop_runtime.base.locations import Line, is_own_file, shown_name
from autoloop_runtime.base.parsing import parse

from .left_to_python import LeftToPython, is_raised_anyway, is_ruled, python_can_run

_E = TypeVar("_E", bound=BaseException)

_FULL_TRACEBACK = "AUTOLOOP_FULL_TRACEBACK"
_FRONT_END, _RUNTIME = os.path.dirname(__file__), os.path.dirname(os.path.dirname(dtypes.__file__))
_STAGING = {
    "constructs": ("attempts", "boolean_operators", "door", "effect_statements", "if_statement", "staged_loops"),
    "staging": (
        "branch_merge", "branch_sides", "growing_list", "loop_variables", "staged_blocks", "staged_values", "standins",
        "undefined",
    ),
    "mutation": ("side_effects",),
}  # fmt: skip
# The rooms that build loops and branches into a graph: what they raise is no failure of the user's program.
_STAGING_FILES = frozenset(
    [os.path.join(_FRONT_END, "operators", room, f"{name}.py") for room, names in _STAGING.items() for name in names]
    + [os.path.join(_RUNTIME, "ir", "structured.py")]
)
_RAISE = opcode.opmap["RAISE_VARARGS"]
_REFUSAL = "__autoloop_refusal__"
_UNBUILT = "__autoloop_unbuilt__"
#: where what NumPy and Python say of types is said
_OF_TYPES = ("dtype_rules.py", "foreign_operands.py")
#: where autoloop does what a line of the user's says
_OPERATORS = os.path.join(_FRONT_END, "operators", "")
_CONSTRUCTS = os.path.join(_OPERATORS, "constructs", "")
# What says which shapes and values a function, or an array that is written to, takes, as NumPy does.
_RULES = (os.path.join(_RUNTIME, "ops", ""), os.path.join(_RUNTIME, "ir", "array_"))
# Where Python and NumPy are asked what they say of what the user's line names, or where its words are carried out.
_ASKING = (_CONSTRUCTS, *_RULES, dtypes.__file__, os.path.join(_RUNTIME, "ir", "plain_values.py"))


class ConversionError(NotImplementedError):
    """A construct that cannot be converted, told with its file, line, source text and a way out."""


class SourceNotFoundError(OSError):
    """The source text of a function cannot be found, or is nested too deep, so it cannot be converted."""


class EndlessRecursionError(RecursionError):
    """A recursion that only a tensor would stop; its traceback shows each line once."""


class NeverReturnsError(BaseException):
    """What is traced never gets beyond this point: the graph raises on every path.

    Not an ``Exception``, so that the user's own handlers let it pass.
    """


def user_traceback(error: _E) -> _E:
    """Take autoloop's own frames out of an exception's traceback, in place.

    Set ``AUTOLOOP_FULL_TRACEBACK=1`` in the environment to keep them.

    Parameters
    ----------
    error : BaseException
        The exception; its ``__cause__`` and ``__context__`` are cleaned as well.

    Returns
    -------
    BaseException
        The same exception.
    """
    if switch(_FULL_TRACEBACK):
        return error
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if is_refusal(one):
            setattr(one, _REFUSAL, True)  # its traceback will not tell any more
        is_programs_own(one)
        cannot_build(one)
        one.__traceback__ = _without_own_frames(one.__traceback__, isinstance(one, EndlessRecursionError))
        todo += [one.__cause__, one.__context__]
    return error


def refusals() -> type[BaseException] | tuple[()]:
    """Return the type of the exception being handled if autoloop refuses to stage a loop or branch, else nothing.

    Stands before the user's own ``except`` clauses: were they to catch a refusal, the graph would hold their answer.
    What they do get to see, and may print, has a traceback of the user's lines.
    """
    error = sys.exception()
    if error is None:
        return ()
    user_traceback(error)
    return type(error) if is_refusal(error) else ()


def in_words(error: BaseException) -> str | None:
    """Return what Python has said of the type of what stands for a value of the user's, as they call it; else None."""
    text = error.args[0] if isinstance(error, TypeError | AttributeError) and error.args else None
    named = stand_ins.to_user(text) if isinstance(text, str) else text
    return named if named != text else None


def is_refusal(error: BaseException) -> bool:
    """Return whether an exception says that a loop or branch cannot be built into a graph."""
    if hasattr(error, _REFUSAL) or isinstance(error, NeverReturnsError | LeftToPython):
        return True
    if in_words(error) is not None:  # of the value that is there in a run Python might say nothing of the kind
        return True
    if isinstance(error, ValueError) and error.__cause__ is not None and is_refusal(error.__cause__):
        return True  # an array of NumPy's was given what stands for a value: it puts words of its own in that place
    link = error.__traceback__
    if link is None or not isinstance(error, TypeError | ValueError | NotImplementedError):
        return False
    last = innermost(link)
    if last.tb_frame.f_code.co_filename in _STAGING_FILES and not is_programs_own(error):
        return True
    # what autoloop itself says while it traces, and NumPy would not, is of values that only the run knows; errors that
    # name a tensor without a value are for who works with tensors, and may be caught as any other
    return _is_said_there(last) and not is_programs_own(error) and python_can_run()


def cannot_build(error: BaseException) -> bool:
    """Return whether an exception says that what the user's line does cannot be done in a graph: plain Python, which
    would not raise it, may run the function."""
    if is_ruled(error) or is_raised_anyway(error):
        return False
    found, link = getattr(error, _UNBUILT, None), error.__traceback__
    if found is None and link is not None:
        last = innermost(link)
        is_there = last.tb_frame.f_code.co_filename.startswith(_OPERATORS) and _is_said_there(last)
        found = is_there and isinstance(error, TypeError | ValueError) and not is_programs_own(error)
        with suppress(AttributeError, TypeError):  # exceptions with __slots__
            setattr(error, _UNBUILT, found)  # its traceback will not tell any more
    return bool(found)


def _is_said_there(link: types.TracebackType) -> bool:
    """Return whether a frame of autoloop's has raised what it says, and nothing that it has asked."""
    code = link.tb_frame.f_code
    return is_own_file(code.co_filename) and code.co_code[link.tb_lasti] == _RAISE


def is_programs_own(error: BaseException) -> bool:
    """Return whether the user's program has raised an exception, and not autoloop, which cannot do what it says.

    It has where a line of its own has, with no function in between, where what a function was called with has no tensor
    in it (see :func:`mark_programs_own`), and where NumPy's rules of shapes and values have said it of tensors.
    """
    found = False if in_words(error) is not None else getattr(error, stand_ins.PROGRAMS, None)
    link = error.__traceback__
    if found is None and link is not None:
        file = innermost(link).tb_frame.f_code.co_filename
        is_of_types = os.path.basename(file) in _OF_TYPES and isinstance(error, TypeError)
        # a rule that has to know more of a shape says so: NumPy, which always does, would not have raised anything
        is_rule = (is_of_types or isinstance(error, ValueError | OverflowError | IndexError)) and "know" not in str(
            error
        )
        is_rule = is_rule and (is_of_types or file.startswith(_RULES) or is_of_bounds(error))
        is_lacking = isinstance(error, AttributeError) and isinstance(error.obj, type)  # which a tracer stands for
        is_numpys = origin_of(type(error)) == "numpy"  # nothing of our own is said in its types
        found = is_rule or is_lacking or is_numpys or _is_said_of_values(error, link) or not is_own_file(file)
        with suppress(AttributeError, TypeError):  # exceptions with __slots__
            setattr(error, stand_ins.PROGRAMS, found)  # its traceback will not tell any more
    return bool(found)


def is_of_tracing(error: BaseException) -> bool:
    """Return whether an error may come of a value that is not known while tracing."""
    if is_refusal(error) or not is_programs_own(error):
        return True
    link = error.__traceback__
    if link is not None and is_own_file(innermost(link).tb_frame.f_code.co_filename):
        return True
    cause = error.__cause__  # a real array that is given a tracer tells in words of its own
    return cause is not None and is_of_tracing(cause)


def _is_said_of_values(error: BaseException, link: types.TracebackType) -> bool:
    """Return whether Python has raised an exception where autoloop does what the user's line says.

    An element that is not there is none to plain Python either, a tuple takes no item, a list is no key.
    """
    if not isinstance(error, LookupError | TypeError | StopIteration) or _is_said_there(last := innermost(link)):
        return False
    return isinstance(error, LookupError) or last.tb_frame.f_code.co_filename.startswith(_ASKING)


def is_of_bounds(error: BaseException) -> bool:
    """Return whether a Python int does not fit a dtype that it meets."""
    link = error.__traceback__
    if link is None or not isinstance(error, OverflowError):
        return False
    return innermost(link).tb_frame.f_code.co_filename == dtypes.__file__


def mark_programs_own(error: BaseException) -> None:
    """Mark what a function of Python's or NumPy's has raised that was called with values, with no tensor in them."""
    link = error.__traceback__
    if link is None:
        return
    file = innermost(link).tb_frame.f_code.co_filename
    if file == link.tb_frame.f_code.co_filename or not is_own_file(file):
        programs_own(error)


def programs_own(error: _E) -> _E:
    """Return an exception, marked as one that plain Python raises, too."""
    return stand_ins.in_numpys_words(error)


def innermost(link: types.TracebackType) -> types.TracebackType:
    """Return the last link of a traceback."""
    while link.tb_next is not None:
        link = link.tb_next
    return link


def passes_handlers(error: BaseException) -> None:
    """Let an exception pass the user's ``except`` clauses, as refusals do."""
    with suppress(AttributeError, TypeError):  # exceptions with __slots__
        setattr(error, _REFUSAL, True)


def hide_own_frames() -> None:
    """Take autoloop's own frames out of the exception that is being handled.

    Every converted function ends with a handler that calls this and raises on.
    """
    error = sys.exception()
    if error is not None and error.__traceback__ is not None:
        # The first entry is the converted function itself: it must stay the same object.
        user_traceback(error)


def _without_own_frames(traceback: types.TracebackType | None, shorten: bool) -> types.TracebackType | None:
    kept: list[types.TracebackType] = []
    seen: set[tuple[types.CodeType, int]] = set()
    link = traceback
    while link is not None:
        place = (link.tb_frame.f_code, link.tb_lineno)
        if not _is_own_frame(link.tb_frame) and not (shorten and place in seen):
            kept.append(link)
        seen.add(place)
        link = link.tb_next
    if not kept:
        return None
    for one, following in zip(kept, [*kept[1:], None], strict=True):
        one.tb_next = following
    return kept[0]


def describe_place(filename: str, line: int, text: str) -> str:
    """Return ``File "f.py", line 3`` and the source text below it, as tracebacks print them."""
    name = shown_name(filename)
    shown = f'  File "{filename}", line {line}' if name == filename else f"  Cell {name}, line {line}"
    return f"{shown}\n    {text.strip()}" if text.strip() else shown


def user_stacklevel() -> int:
    """Return the ``stacklevel`` with which a warning issued by the caller points at the user's line."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _is_own_frame(frame):
        level, frame = level + 1, frame.f_back
    return level


def users_call() -> Line:
    """Return the line at which ``user_stacklevel`` points."""
    frame = sys._getframe(user_stacklevel() - 1)
    return Line(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


# -- the frame of a decorated function ----------------------------------------------------------------------

_ENTRY = """
def function(*args, **kwargs):
    try:
        return _autoloop_call(args, kwargs)
    except BaseException as error:
        raise _autoloop_shown(error)
"""


def entry_point(call: Callable[[tuple[Any, ...], dict[str, Any]], Any], f: Any) -> Callable[..., Any]:
    """Return a function that passes its arguments to ``call`` and cleans the traceback of what that raises.

    Its own frame cannot be taken out: it stands in the traceback as the head of the user's function.

    Parameters
    ----------
    call : callable
        Takes the positional and the keyword arguments.
    f : callable
        What the user decorated.
    """
    code = code_of(f)
    name = getattr(code, "co_name", "")
    if not name:
        name = "function"
    filename, line, columns = __file__, 1, (0, 0)
    if code is not None:
        filename = code.co_filename
        line, text = _head_of(code)
        columns = len(text) - len(text.lstrip()), len(text.rstrip())
    entry = _entry_code(*columns).replace(co_filename=filename, co_firstlineno=line, co_name=name, co_qualname=name)
    return types.FunctionType(
        entry, {"_autoloop_call": call, "_autoloop_shown": user_traceback, _ENTRY_MARK: True, "__builtins__": builtins}
    )


def let_through(entry: Callable[..., Any], call: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Let what ``entry_point`` made pass its arguments to ``call`` from now on."""
    entry.__globals__["_autoloop_call"] = call


@functools.lru_cache(maxsize=256)
def _entry_code(start: int, end: int) -> types.CodeType:
    """Return the code of an entry whose instructions all stand at these columns of its first line.

    Functions differ in what ``replace`` gives it: to compile it for each of them took most of what a decorator takes.
    """
    tree = parse(_ENTRY)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1  # type: ignore[attr-defined]
            node.col_offset, node.end_col_offset = start, end  # type: ignore[attr-defined]
    return next(one for one in compile(tree, __file__, "exec").co_consts if isinstance(one, types.CodeType))


_ENTRY_MARK = "autoloop entry"


def _head_of(code: types.CodeType) -> tuple[int, str]:
    """Return line and text of a ``def``, below its decorators."""
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    for line in range(code.co_firstlineno, last + 1):
        text = linecache.getline(code.co_filename, line)
        if text.split(maxsplit=1)[:1] == ["def"]:
            return line, text
    return code.co_firstlineno, linecache.getline(code.co_filename, code.co_firstlineno)


def _is_own_frame(frame: types.FrameType) -> bool:
    return is_own_file(frame.f_code.co_filename) or _ENTRY_MARK in frame.f_globals


__all__ = ["ConversionError", "EndlessRecursionError", "SourceNotFoundError"]
__dir__ = listing(globals())
