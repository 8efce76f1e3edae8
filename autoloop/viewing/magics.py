"""``%load_ext autoloop``: the cell magic ``%%autoloop``, which shows what the functions of a cell were converted to."""

from __future__ import annotations

import ast
import inspect
from html import escape
from typing import Any

from autoloop_runtime.base.dataclass import Protocol
from autoloop_runtime.base.parsing import parse

from ..bound_function import BoundFunction
from ..function import Function
from .code_text import to_code
from .notebook import source_beside


class Shell(Protocol):
    """What is needed of IPython's ``InteractiveShell``."""

    user_ns: dict[str, Any]
    display_pub: Any

    def run_cell(self, raw_cell: str) -> Any: ...
    def register_magic_function(self, func: Any, magic_kind: str, magic_name: str) -> None: ...


def load_ipython_extension(shell: Shell) -> None:
    """Register ``%%autoloop`` with a shell of IPython's.

    ``%%autoloop`` runs the cell, and shows the source of each function that it defines beside what that is converted
    to; ``%%autoloop NAME ...`` of these alone.

    Parameters
    ----------
    shell : IPython's shell

    Examples
    --------
    >>> callable(al.load_ipython_extension)  # what %load_ext autoloop calls
    True
    """

    def autoloop(line: str, cell: str) -> None:
        result = shell.run_cell(cell)
        if not result.success:
            return
        names = line.split() or _defined(cell)
        for name in names:
            found: Any = shell.user_ns.get(name)
            if not _is_function(found):
                print(f"%%autoloop: the cell defines no function {name!r}")
                continue
            html = f"<p><code>{escape(name)}</code></p>{source_beside(found)}"
            shell.display_pub.publish({"text/html": html, "text/plain": _text_of(found)})

    shell.register_magic_function(autoloop, "cell", "autoloop")


def _text_of(f: Any) -> str:
    """Return what a function is converted to; why it is not, where it is not: the cell has been run."""
    try:
        return to_code(f)
    except (NotImplementedError, TypeError, OSError) as error:
        return str(error)


def _defined(cell: str) -> list[str]:
    """Return the names of the functions that a cell defines, in their order."""
    try:
        tree = parse(cell)
    except SyntaxError:  # of IPython's own, such as another magic
        return []
    return list(dict.fromkeys(node.name for node in tree.body if isinstance(node, ast.FunctionDef)))


def _is_function(value: Any) -> bool:
    return isinstance(value, (Function, BoundFunction)) or inspect.isfunction(value)
