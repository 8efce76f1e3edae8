"""Converted source with what became of its loops, for some arguments, above each."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from ..explanation import PLAIN, Explanation, LoopReport
from .highlight import lines_of

#: so long are lines with comments
WIDTH = 100
#: in the names of what a loop carries to tell which array a name stands for
_FOR_ARRAYS = "which array"


def with_loops(
    text: str, comes_of: Sequence[int], explanation: Explanation, filename: str
) -> tuple[str, list[int]]:  # fmt: skip
    """Return converted source, and of which line of the file each of its lines comes, with comments above its loops:
    what they carry, and of what dtypes and shapes."""
    said = {one.line.lineno: _said(one) for one in explanation.loops if one.line and one.line.filename == filename}
    lines: list[str] = []
    numbers: list[int] = []
    if explanation.executor == PLAIN:
        lines, numbers = [f"# runs as plain Python: {explanation.reason}"], [0]
    for line, number in zip(lines_of(text), comes_of, strict=True):
        if number in said:
            indent = line[: len(line) - len(line.lstrip())]
            comment = wrap(said.pop(number), WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}#   ")
            lines += comment
            numbers += [number] * len(comment)
        lines.append(line)
        numbers.append(number)
    return "\n".join(lines) + "\n", numbers


def _said(loop: LoopReport) -> str:
    if not loop.converted:
        return f"unrolled: {loop.reason}"
    carried = [one.described for one in loop.variables if _FOR_ARRAYS not in one.name]
    return f"a loop of the graph, which carries {', '.join(carried) or 'nothing'}"
