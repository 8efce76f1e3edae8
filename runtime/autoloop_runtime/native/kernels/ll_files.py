"""The LLVM IR that is written out by hand: the ``.ll`` files of this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

FOLDER = Path(__file__).parent


@cache
def _template(name: str) -> Template:
    lines = (FOLDER / f"{name}.ll").read_text(encoding="utf-8").rstrip("\n").split("\n")
    # a file begins with what it is, for its readers only
    while lines[0].startswith(";;"):
        del lines[0]
    return Template("\n".join(["", *lines]))


def text_of(name: str) -> str:
    """Return the text of the file ``name`` as it is."""
    return _template(name).template


def code(name: str, /, **words: object) -> str:
    """Return the functions in the file ``name``, with ``words`` in the place of its ``${...}``,
    behind an empty line."""
    return _template(name).substitute(words)
