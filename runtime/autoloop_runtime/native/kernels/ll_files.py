"""The LLVM IR that is written out by hand: the ``.ll`` files of this folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

from ..ir.writer import filled

FOLDER = os.path.dirname(__file__)


@cache
def text_of(name: str) -> str:
    """Return the text of the file ``name`` as it is."""
    with open(os.path.join(FOLDER, f"{name}.ll"), encoding="utf-8") as file:
        lines = file.read().rstrip("\n").split("\n")
    # a file begins with what it is, for its readers only
    while lines[0].startswith(";;"):
        del lines[0]
    return "\n".join(["", *lines])


def chosen(text: str, marks: Mapping[str, bool]) -> str:
    """Return the lines of ``text`` without a mark, and those with one that says true: ``s`` in ``s  ret i32 1``."""
    lines = []
    for line in text.splitlines():
        mark, _, rest = line.partition(" ")
        if mark not in marks:
            lines.append(line)
        elif marks[mark]:
            lines.append(rest)
    return "\n".join(lines)


def code(name: str, /, **words: object) -> str:
    """Return the functions in the file ``name``, with ``words`` in the place of its ``${...}``,
    behind an empty line."""
    return filled(text_of(name), words)


def helper_code(name: str, words: Mapping[str, str]) -> str:
    """Return the text of a helper that has a file of its own."""
    if name == "tanh_f":
        return code("float_tanh", **words) if words["t"] == "float" else code("double_tanh", **words)
    if name == "power_c":
        return code("complex_power", **words)
    assert name == "divide_c", name
    return code("complex_quotient", **words)
