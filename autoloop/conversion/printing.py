"""The converted tree as text for reading: statements by ``astunparse``, expressions by the standard library.

The text is never parsed again by autoloop; what runs is the tree.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Callable
from typing import Any

import astunparse

from .loading import IMPORT_LINE

_WIDTH = 120


def to_text(tree: ast.stmt, ops: str, comments: dict[int, tuple[str, ...]]) -> tuple[str, list[int]]:
    """Return the text of a converted function, and for each of its lines the user's line that it comes of, or 0.

    Parameters
    ----------
    tree : ast.FunctionDef or ast.Expr
        The converted function; it is not changed.
    ops : str
        The name of the operators in it.
    comments : dict
        Comments of the user's text by the line they stand above.
    """
    import_line = IMPORT_LINE.format(name=ops)
    printer = _Printer(tree, dict(comments))
    return f"{import_line}\n\n\n{printer.text}\n", [0, 0, 0, *printer.lines]


def _bare(value: ast.expr) -> str:
    """Return the text of an expression; a tuple of several elements without its brackets."""
    if isinstance(value, ast.Tuple) and len(value.elts) > 1:
        return ", ".join(map(ast.unparse, value.elts))
    return ast.unparse(value)


def _arguments(call: ast.Call, comma: str) -> str:
    named = [
        f"{one.arg}={ast.unparse(one.value)}" if one.arg else f"**{ast.unparse(one.value)}" for one in call.keywords
    ]
    return comma.join([*map(ast.unparse, call.args), *named])


class _NotedLines(io.StringIO):
    """What is printed, and of which user's line each of its lines comes, but for the first."""

    def __init__(self, line: Callable[[], int]) -> None:
        super().__init__()
        self._line = line
        self.lines: list[int] = []

    def write(self, text: str) -> int:
        """Print a piece of text."""
        self.lines += [self._line()] * text.count("\n")
        return super().write(text)


class _Printer(astunparse.Unparser):  # type: ignore[misc]
    """``astunparse`` with plain expressions, comments, and no blank lines before generated functions."""

    def __init__(self, tree: ast.stmt, comments: dict[int, tuple[str, ...]]) -> None:
        self.comments = comments
        self._line_of_user = 0
        stream = _NotedLines(lambda: self._line_of_user)
        super().__init__(tree, stream)
        whole = stream.getvalue()
        self.text = whole.strip("\n")
        before = len(whole) - len(whole.lstrip("\n"))
        self.lines = [0, *stream.lines][before:][: self.text.count("\n") + 1]

    def dispatch(self, tree: Any) -> None:
        """Print one node."""
        around, self._line_of_user = self._line_of_user, getattr(tree, "lineno", self._line_of_user)
        self._dispatch(tree)
        self._line_of_user = around

    def _dispatch(self, tree: Any) -> None:
        if isinstance(tree, list):
            for one in tree:
                self.dispatch(one)
        elif isinstance(tree, ast.stmt):
            self._comments_above(tree)
            if hasattr(self, f"_{type(tree).__name__}"):
                super().dispatch(tree)
            else:
                self._by_standard_library(tree)
        elif isinstance(tree, ast.expr | ast.arguments | ast.keyword | ast.alias):
            self.write(ast.unparse(tree))
        else:
            super().dispatch(tree)

    def _comments_above(self, statement: ast.stmt) -> None:
        for text in self.comments.pop(statement.lineno, ()):
            self.fill(text)

    def _by_standard_library(self, statement: ast.stmt) -> None:
        for line in ast.unparse(statement).splitlines():
            self.fill(line)

    def _FunctionDef(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.fill("@" + ast.unparse(decorator))
        # Since Python 3.12 a function may have parameters in brackets.
        params = ", ".join(map(ast.unparse, getattr(node, "type_params", ())))
        self.fill(f"def {node.name}{f'[{params}]' if params else ''}({ast.unparse(node.args)})")
        if node.returns is not None:
            self.write(f" -> {ast.unparse(node.returns)}")
        self.enter()
        self.dispatch(node.body)
        self.leave()

    def _ClassDef(self, node: ast.ClassDef) -> None:
        self._by_standard_library(node)

    def _Expr(self, node: ast.Expr) -> None:
        # A docstring keeps its lines.
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            self._docstring(node.value.value)
        else:
            self._line("", node.value)

    def _Assign(self, node: ast.Assign) -> None:
        self._line("".join(f"{_bare(target)} = " for target in node.targets), node.value)

    def _Return(self, node: ast.Return) -> None:
        if node.value is None:
            self.fill("return")
        else:
            self._line("return ", node.value)

    def _line(self, head: str, value: ast.expr) -> None:
        """Write a line that ends with an expression; a call that makes it too long gets lines of its own."""
        text = head + _bare(value)
        if 4 * self._indent + len(text) <= _WIDTH or not isinstance(value, ast.Call):
            self.fill(text)
            return
        tail = ""
        while isinstance(value.func, ast.Call):
            tail = f"({_arguments(value, ', ')}){tail}"
            value = value.func
        self.fill(f"{head}{ast.unparse(value.func)}(")
        self._indent += 1
        arguments = _arguments(value, ", ")
        if 4 * self._indent + len(arguments) > _WIDTH:
            arguments = _arguments(value, ",\n" + "    " * self._indent)
        self.fill(arguments)
        self._indent -= 1
        self.fill(f"){tail}")

    def _docstring(self, text: str) -> None:
        if '"""' in text or "\\" in text or text.endswith('"'):
            self.fill(repr(text))
        else:
            self.fill(f'"""{text}"""')

    def _Assert(self, node: ast.Assert) -> None:
        self.fill(ast.unparse(node))

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        self.fill(ast.unparse(node))

    def _Raise(self, node: ast.Raise) -> None:
        self.fill(ast.unparse(node))

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        self.fill(ast.unparse(node))
