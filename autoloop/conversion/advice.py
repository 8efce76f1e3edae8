"""What to do about a tensor that Python itself asked for its value, at a place that conversion leaves alone."""

from __future__ import annotations

import functools
import itertools
import linecache
import types
from collections.abc import Iterator

import gast
from autoloop_runtime.base.locations import Line, is_library_file, is_own_file
from autoloop_runtime.base.parsing import parse
from autoloop_runtime.ir.graph import is_foreign

from ..errors import SourceNotFoundError, in_words, is_programs_own
from .callables import is_converted, is_generator_code
from .frame_readers import is_frame_reader, reads_frame
from .nodes import Node, children, walk
from .scopes import COMPREHENSIONS
from .source import find_source
from .translation import to_gast
from .unfolding import binds_in, may_leave_out
from .unsupported import must_stay_python

_MARK = " is symbolic: it has no value while the graph is built"
_USUAL_ADVICE = " Decorate the code with @autoloop.function"
#: parts of the names of NumPy's own code that computes with values -> what to do instead
_INSTEAD = {
    "poly1d": "use np.polyval(coefficients, x), np.polyadd, np.polymul and np.polyder",
    "numpy.polynomial.": "use np.polyfit, and np.polyval(coefficients[::-1], x),",
    "as_strided": "use slices, np.reshape or np.lib.stride_tricks.sliding_window_view(x, n)",
    "numpy.ma.": "use an array of booleans beside the array, and np.where(mask, fill, x),",
    "numpy.matrixlib.": "use an array of two axes, np.atleast_2d(x), and a @ b",
    "records.": "use an array for each field",
    "numpy.testing.": "write `assert np.allclose(x, y)`",
}
#: how the files end that frames name whose code is in C
_CYTHON = (".pyx", ".pxd", ".pxi")
Position = tuple[int, int]


def advise(error: BaseException) -> None:
    """Let the message of an error about a symbolic tensor say what would mend it there.

    Parameters
    ----------
    error : BaseException
        What tracing raised; any other error is left alone.
    """
    if not isinstance(error, TypeError) or not error.args:
        return
    text = str(error.args[0])
    named = in_words(error)
    if named is not None and _MARK not in text and (of_library := _of_library(error.__traceback__)):
        error.args = (f"{named}. {of_library}", *error.args[1:])
    if _MARK not in text:
        return
    link = _last_of_the_user(error.__traceback__)
    if link is None:
        return
    advice = _of_library(error.__traceback__) or _advice(link.tb_frame.f_code, _position(link))
    if advice:
        error.args = (f"{text.partition(_USUAL_ADVICE)[0]} {advice}", *error.args[1:])


def asks_for_values(error: BaseException) -> tuple[str, Line] | None:
    """Return what of converted code wanted to know a value of the run, and where; None if nothing did.

    A generator of the user's does: its loops and branches stay Python, as no graph can leave one of them by a `yield`.
    So does what else stays Python, and what converted code calls that Python has in C. Python code that is not
    converted does not get so far: it is not let go on without the value, see ``texts_of_tracers.leave_value``.
    """
    link, is_marked = _last_of_the_user(error.__traceback__), _MARK in str(error) or is_numpys_of_asking(error)
    if link is None or not (is_marked or is_foreign(error) or not is_programs_own(error)):
        return None
    code = link.tb_frame.f_code
    if is_generator_code(code) and code.co_name != "<genexpr>" and not is_library_file(code.co_filename):
        what = f"the generator {code.co_qualname!r} asks for what only the run knows; let it return a list"
    elif is_marked and is_converted(code):
        what = _asked_at_once(code, _position(link))
    elif is_foreign(error):
        what = "what a loop or branch has made is used behind it, where only the run knows it"
    else:
        return None
    return what, Line(link.tb_frame.f_code.co_filename, link.tb_lineno, link.tb_frame.f_code.co_name)


#: kinds of expressions that Python asks for the value of an operand -> how it is told
_ASKING = (
    (gast.Subscript, "what has the item wants to know which one, a value of the run: use an array"),
    (
        gast.Compare,
        "objects of Python's own that are compared ask their values, which only the run knows: compare those",
    ),
    (
        (gast.BinOp, gast.AugAssign),
        "an operand is of Python's own or a library's, and wants to know a value of the run: use arrays",
    ),
    (gast.Attribute, "what has the attribute wants to know the value that it gets, which only the run knows"),
)


def _asked_at_once(code: types.CodeType, position: Position) -> str:
    """Return what at a place of converted code wants to know a value of the run."""
    what = "what only the run knows is asked for at once"
    if kept := _kept_as_it_is(code, position):
        return f"{what}. {kept.rstrip('.')}"
    if _is_call(code, position):
        return "what is called is not converted and wants to know a value of the run"
    return next((told for kinds, told in _ASKING if _stands_there(kinds, code, position)), what)


def is_numpys_of_asking(error: BaseException) -> bool:
    """Return whether NumPy says, in words of its own, that it has asked what stands for a value of the run for that."""
    return isinstance(error, ValueError) and _MARK in str(error.__cause__)


def _last_of_the_user(link: types.TracebackType | None) -> types.TracebackType | None:
    found = None
    while link is not None:
        filename = link.tb_frame.f_code.co_filename
        if not (is_own_file(filename) or filename.endswith(_CYTHON)):
            found = link
        link = link.tb_next
    return found


def _called_library(link: types.TracebackType | None) -> tuple[types.TracebackType, types.FrameType] | None:
    """Return where the user called a library's own code, and its first frame, if that wanted the value; else None."""
    users, entered = None, None
    while link is not None:
        filename = link.tb_frame.f_code.co_filename
        if not is_own_file(filename):
            if is_library_file(filename):
                entered = entered or link.tb_frame
            else:
                users, entered = link, None
        link = link.tb_next
    if users is None or entered is None or entered.f_code.co_name.endswith("_dispatcher"):
        return None
    return users, entered


def _name(frame: types.FrameType) -> str:
    return f"{frame.f_globals.get('__name__')}.{frame.f_code.co_qualname}"


def _of_library(link: types.TracebackType | None) -> str:
    """Return what to do where a library's own code wanted the value; nothing if it was the user's."""
    called = _called_library(link)
    if called is None:
        return ""
    name = _name(called[1])
    return (
        f"{name!r} is a library's own code, which is not converted and computes with values: {_instead(name)} "
        f"in its place, or hand it to autoloop.py_function."
    )


def computing(name: str) -> str:
    """Return why plain Python calls the library's function ``name``, for messages."""
    return f"{name!r} is a library's own code, which computes with values; {_instead(name)} in its place"


def _instead(name: str) -> str:
    return next((instead for part, instead in _INSTEAD.items() if part in name), "use functions of NumPy's")


def _position(link: types.TracebackType) -> Position:
    positions = itertools.islice(link.tb_frame.f_code.co_positions(), link.tb_lasti // 2, None)
    line, _, column, _ = next(positions, (None, None, None, None))
    return line or link.tb_lineno, column or 0


def _kept_as_it_is(code: types.CodeType, position: Position) -> str:
    """Return what to write in place of what stays Python at a position; nothing if all of it is converted."""
    in_generator = is_generator_code(code)
    for node in reversed(list(_around(_tree(code.co_filename), position))):
        if isinstance(node, gast.GeneratorExp) and any(map(binds_in, children(node))):
            return (
                "How far a generator expression gets decides what its `:=` leave behind, so it stays Python: use a "
                "`for` loop."
            )
        if isinstance(node, gast.GeneratorExp) or _consumes_a_generator(node):
            return (
                "The condition of a generator expression that looks at its variables, or stands in a comprehension "
                "that sets a name by `:=`, stays Python: append to a list in a `for` loop, or use array functions."
            )
        if isinstance(node, COMPREHENSIONS):
            return (
                "The condition of a set or dict comprehension, and of one that sets a name by `:=`, stays Python: "
                "append to a list in a `for` loop, or use autoloop.map_fn."
            )
        if isinstance(node, gast.Match) and _is_in_a_pattern(node, position):
            return (
                "A `match` whose patterns have alternatives inside, (1, y) | (y, 1), or that holds what stays Python, "
                "does so, too: use `if` and `elif`."
            )
        if not in_generator and isinstance(node, gast.While | gast.If | gast.For) and must_stay_python(node, {}):
            kind = {"While": "`while` loop", "If": "`if`", "For": "`for` loop"}[type(node).__name__]
            return f"This {kind} stays Python, because it holds {_reason(node)}: move that to a function of its own."
        if isinstance(node, gast.Try) and must_stay_python(node, {}):
            return f"What follows {_reason(node)} stays Python: put the jumps behind the `try` statement."
        if isinstance(node, gast.BoolOp | gast.IfExp | gast.Compare) and reads_frame(node):
            return f"This expression stays Python: it holds {_reason(node)}. Move that to a function of its own."
        if may_leave_out(node):
            return "An expression that sets a name by `:=` in a part that may be left out stays Python: use `if`."
        if isinstance(node, gast.FunctionDef | gast.Lambda):
            break
    return ""


def _advice(code: types.CodeType, position: Position) -> str:
    if kept := _kept_as_it_is(code, position):
        return kept
    if is_generator_code(code):
        return f"A generator stays Python: let {code.co_name!r} return a list, or loop over tensors in its caller."
    if not is_converted(code) and code.co_name != "<lambda>":
        try:
            find_source(code)
        except SourceNotFoundError as error:
            return f"{code.co_qualname!r} is not converted: {error}."
        return (
            f"{code.co_qualname!r} is not converted, because converted code did not call it itself: call it there, or "
            f"use autoloop.where or autoloop.cond in it."
        )
    if _compares_names(code, position):
        return (
            "If these are lists, tuples or dicts: what compares them stays Python unless one is written out, "
            "(a, b) == (c, d), so do that, or compare their elements."
        )
    if is_converted(code) and _is_call(code, position):
        return (
            "What is called here, or calls what it is given, is not converted and wants to know the value: use a `for` "
            "loop, or functions of NumPy's in its place, or hand it to autoloop.py_function."
        )
    return ""


def _compares_names(code: types.CodeType, position: Position) -> bool:
    innermost = None
    for node in _around(_tree(code.co_filename), position):
        innermost = node if isinstance(node, gast.Compare) else innermost
    return innermost is not None and not any(isinstance(op, gast.Is | gast.IsNot) for op in innermost.ops)


def _is_call(code: types.CodeType, position: Position) -> bool:
    return _stands_there(gast.Call, code, position)


def _stands_there(kind: type[gast.AST] | tuple[type[gast.AST], ...], code: types.CodeType, position: Position) -> bool:
    found = [one for one in _around(_tree(code.co_filename), position) if isinstance(one, kind)]
    return any((one.lineno, one.col_offset) == position for one in found)


def _consumes_a_generator(node: Node) -> bool:
    return isinstance(node, gast.Call) and any(isinstance(one, gast.GeneratorExp) for one in node.args)


def _reason(statement: Node) -> str:
    for node in walk(statement):
        if isinstance(node, gast.TryStar):
            return "`except*`"
        if is_frame_reader(node):
            return f"`{node.func.id}()`"
    return "a jump out of `finally`"


@functools.lru_cache(maxsize=4)
def _tree(filename: str) -> Node | None:
    try:
        return to_gast(parse("".join(linecache.getlines(filename))))
    except (SyntaxError, ValueError):
        return None


def _around(node: Node | None, position: Position) -> Iterator[Node]:
    """Yield the nodes that hold a position, from the outermost to the innermost."""
    while node is not None:
        yield node
        node = next((one for one in children(node) if _holds(one, position)), None)


def _holds(node: Node, position: Position) -> bool:
    if not hasattr(node, "lineno"):
        # Clauses without a position of their own: what is in them decides.
        return any(_holds(one, position) for one in children(node))
    return (node.lineno, node.col_offset) <= position < (node.end_lineno, node.end_col_offset)


def _is_in_a_pattern(match: Node, position: Position) -> bool:
    return any(_holds(one, position) for case in match.cases for one in (case.pattern, case.guard) if one is not None)
