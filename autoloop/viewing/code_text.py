"""``to_code``: the converted source of functions; of derivatives, of what these are made of, and their graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..conversion.pipeline import code_and_lines
from ..derivative_functions import DerivativeFunction
from ..plain_python import PlainPython
from ..traceable import traceable
from .stage_texts import graph_text


def to_code(f: Callable[..., Any]) -> str:
    """Return the converted source of a function as text.

    Parameters
    ----------
    f : callable
        A function, method, partial, or what ``autoloop.function``, ``grad`` or the like made of one.

    Returns
    -------
    str
        Code that can be pasted into a module; it begins with the import it needs. A derivative has no source: it is
        that of the function, with the graph of the derivative, if there is one by now, as comments.

    Raises
    ------
    SourceNotFoundError
        If the source of ``f`` cannot be found.
    ConversionError
        If it holds something that cannot be converted.

    Examples
    --------
    >>> def count(n):
    ...     i = 0
    ...     while i < n:
    ...         i += 1
    ...     return i
    >>> print(al.to_code(count), end="")
    from autoloop import operators as ops
    <BLANKLINE>
    <BLANKLINE>
    def count(n):
        i = 0
        def loop_test(i):
            return i < n
        def loop_body(i):
            i += 1
            return (i,)
        (i,) = ops.while_stmt(loop_test, loop_body, (i,), ('i',))
        return i
    """
    return located_code_of(f)[0]


def located_code_of(f: Callable[..., Any]) -> tuple[str, list[int]]:
    """Return what ``to_code`` does, and for each of its lines the line of the user's file that it comes of, or 0."""
    inner = f if isinstance(f, DerivativeFunction) else getattr(f, "python_function", f)
    if not isinstance(inner, DerivativeFunction):
        return code_and_lines(f)
    of = inner.differentiated
    while isinstance(of, DerivativeFunction):
        of = of.differentiated
    text, lines = located_code_of(of)
    said = _graph_of(inner) if inner.is_derivative else ""
    return text + said, [*lines, *[0] * len(said.splitlines())]


def _graph_of(f: DerivativeFunction) -> str:
    """Return the graph of a derivative as comments; if it was not traced, what shows it."""
    function, _ = traceable(f)
    made = [one for one in function.known_traces.every() if not isinstance(one, PlainPython)]
    if not made:
        return (
            f"\n\n# {f.title} was not traced yet: autoloop.draw(f, *args) draws its graph, and\n"
            "# `autoloop show FILE.py:NAME --args ...` prints it\n"
        )
    lines = ["", *graph_text(made[-1].graph).splitlines()]
    lines.insert(0, f"{f.title} runs this graph, for arguments as those of its latest trace:")
    return "\n\n" + "".join(f"# {line}".rstrip() + "\n" for line in lines)
