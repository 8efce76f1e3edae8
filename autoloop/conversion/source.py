"""Finding the source of a function, and parsing it once with the user's own positions.

A ``def`` is parsed from its own block of lines: an indented block is put under ``if 1:`` rather than
dedented, so columns (and multi-line strings) stay as they are. A lambda is looked up by position in the
whole file, so several on one line are told apart.
"""

from __future__ import annotations

import ast
import functools
import inspect
import io
import linecache
import tokenize
import types
from collections.abc import Iterator, Sequence
from typing import Any

from autoloop_runtime.base.callbacks import code_of
from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.parsing import parse

from ..errors import SourceNotFoundError, describe_place
from .kept_conversions import is_new
from .nodes import Node
from .translation import to_gast


@dataclass(frozen=True)
class FunctionSource:
    """What is known about the text of one function.

    Attributes
    ----------
    node : gast.FunctionDef or gast.Lambda
        The tree, with positions of the user's file.
    filename, first_line : str, int
        Where it stands.
    class_name : str or None
        The innermost class around it, needed for ``__private`` names.
    lines : tuple of str
        Its text.
    """

    node: Node
    filename: str
    first_line: int
    class_name: str | None
    lines: tuple[str, ...]

    @property
    def comments(self) -> dict[int, tuple[str, ...]]:
        """The comment lines that belong above a line: line number to texts."""
        return _comments(self.lines, self.first_line)


def has_lines(function: Any) -> bool:
    """Return whether there are lines of the file that a function of Python's is from."""
    code = code_of(function)
    return isinstance(code, types.CodeType) and bool(linecache.getlines(code.co_filename))


def find_source(code: types.CodeType) -> FunctionSource:
    """Find and parse the source of a code object.

    Raises
    ------
    SourceNotFoundError
        If there is no text, or the text no longer holds this function.
    """
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)
    if not lines:
        with undivided():
            from .texts_elsewhere import lines_of

        lines = lines_of(code)
    if lines and is_new(code.co_filename):
        with undivided():
            from .changed_files import as_it_stands

        code = as_it_stands(code, lines)
    if not lines or code.co_firstlineno > len(lines):
        what = f"no source text for {code.co_qualname!r} in {code.co_filename!r}"
        advice = ": a file has it, or a cell" if code.co_filename[:1] == "<" else ""
        raise SourceNotFoundError(f"{what}{advice} [AL002]")
    try:
        if code.co_name == "<lambda>":
            node, block = _find_lambda(code, lines)
        else:
            node, block = _find_def(code, lines)
    except (SyntaxError, tokenize.TokenError) as error:
        raise SourceNotFoundError(f"cannot parse the source of {code.co_qualname!r}: {error} [AL002]") from error
    return FunctionSource(
        node=to_gast(node),
        filename=code.co_filename,
        first_line=code.co_firstlineno,
        class_name=_class_around(code.co_qualname),
        lines=tuple(block),
    )


def source_line(filename: str, line: int) -> str:
    """Return one line of the user's file, or an empty string."""
    return linecache.getline(filename, line)


def place_of(filename: str, node: Node) -> str:
    """Describe the position of a node as a traceback would."""
    return describe_place(filename, node.lineno, source_line(filename, node.lineno))


def _find_def(code: types.CodeType, lines: list[str]) -> tuple[ast.AST, list[str]]:
    try:
        block = _block_by_margin(code, lines)
        module = _parsed_in_place(block, code.co_firstlineno)
    except SyntaxError:  # a string that reaches into the margin, perhaps: the tokenizer knows
        block = inspect.getblock(lines[code.co_firstlineno - 1 :])
        module = _parsed_in_place(block, code.co_firstlineno)
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name == code.co_name:
                return node, block
            break
    raise SourceNotFoundError(
        f"line {code.co_firstlineno} of {code.co_filename!r} no longer holds {code.co_name!r} [AL002]"
    )


def _block_by_margin(code: types.CodeType, lines: list[str]) -> list[str]:
    """Return the lines up to the first one that is indented no more than the definition.

    It is looked for behind the last line that the code object knows of: decorators and signatures have
    lines of their own at the margin. What comes out is right if it can be parsed: such a line ends a block
    unless it stands in a string or in brackets, and these would be left open.
    """
    start = code.co_firstlineno - 1
    margin = _indentation(lines[start])
    known = max(line for _, _, line in code.co_lines() if line is not None)
    end = min(known, len(lines))  # the file may have been cut since
    while end < len(lines):
        text = lines[end].strip()
        if text and not text.startswith("#") and _indentation(lines[end]) <= margin:
            break
        end += 1
    while not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#"):
        end -= 1
    return lines[start:end]


def _indentation(line: str) -> int:
    line = line.expandtabs()
    return len(line) - len(line.lstrip())


def _parsed_in_place(block: list[str], first_line: int) -> ast.Module:
    """Parse the lines of a block as they stand: empty lines above them, or ``if 1:`` over an indented block."""
    above = "\n" * (first_line - 1)
    if block[0][:1].isspace():
        above = "\n" * (first_line - 2) + "if 1:\n"
    return parse(above + "".join(block))


def _find_lambda(code: types.CodeType, lines: list[str]) -> tuple[ast.AST, list[str]]:
    candidates = [
        node
        for node in _lambdas("".join(lines))
        if node.lineno == code.co_firstlineno and _argument_names(node) == _argument_names_of_code(code)
    ]
    if len(candidates) > 1:
        body = _body_position(code)
        candidates = [
            node
            for node in candidates
            if body == (node.body.lineno, node.body.end_lineno, node.body.col_offset, node.body.end_col_offset)
        ]
    if len(candidates) != 1:
        raise SourceNotFoundError(
            f"cannot tell which lambda on line {code.co_firstlineno} of {code.co_filename!r} is meant [AL002]"
        )
    node = candidates[0]
    return node, lines[node.lineno - 1 : node.end_lineno]


@functools.lru_cache(maxsize=8)
def _lambdas(text: str) -> tuple[ast.Lambda, ...]:
    return tuple(node for node in ast.walk(parse(text)) if isinstance(node, ast.Lambda))


def _argument_names(node: ast.Lambda) -> list[str]:
    args = node.args
    names = [arg.arg for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]]
    return names + [arg.arg for arg in (args.vararg, args.kwarg) if arg is not None]


def _argument_names_of_code(code: types.CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return list(code.co_varnames[:count])


def _body_position(code: types.CodeType) -> tuple[int | None, int | None, int | None, int | None]:
    """Return the span of a lambda's body: the widest span of its instructions."""
    spans = [p for p in code.co_positions() if None not in p and p[2] != p[3]]
    if not spans:
        return (None, None, None, None)
    start = min((p[0], p[2]) for p in spans)
    end = max((p[1], p[3]) for p in spans)
    return (start[0], end[0], start[1], end[1])


def _class_around(qualname: str) -> str | None:
    """Return the innermost class in a qualified name such as ``A.method.<locals>.inner``."""
    parts = qualname.split(".")
    for index in range(len(parts) - 2, -1, -1):
        if parts[index] != "<locals>" and parts[index + 1] != "<locals>":
            return parts[index]
    return None


def _comments(block: Sequence[str], first_line: int) -> dict[int, tuple[str, ...]]:
    """Map the line of each statement to the comments that stand above it or at its end."""
    found: dict[int, tuple[str, ...]] = {}
    waiting: list[str] = []
    for line, is_comment, text in _comment_tokens(block):
        if is_comment and text:
            waiting.append(text)
        elif waiting:
            found[line + first_line - 1] = tuple(waiting)
            waiting = []
    return found


def _comment_tokens(block: Sequence[str]) -> Iterator[tuple[int, bool, str]]:
    """Yield ``(line, True, comment)`` and, for each logical line, ``(line, False, "")`` after its comments."""
    if not any("#" in line for line in block):
        return
    starts_line: int | None = None
    inside: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO("".join(block)).readline):
            if token.type == tokenize.COMMENT:
                if starts_line is None:
                    yield token.start[0], True, token.string
                else:
                    inside.append(token.string)
            elif token.type == tokenize.NEWLINE:
                for text in inside:
                    yield token.start[0], True, text
                if starts_line is not None:
                    yield starts_line, False, ""
                starts_line, inside = None, []
            elif starts_line is None and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
                starts_line = token.start[0]
    except (tokenize.TokenError, IndentationError):
        return
