"""``autoloop error AL105``: what a code at the end of a message means, from the page of all of them."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from .problems import UsageError

_HERE = Path(__file__).parent.parent
#: where the page is in a wheel, and where in the source tree
_PAGES = (_HERE / "errors.md", _HERE.parent / "docs" / "errors.md")


def explain_code(options: argparse.Namespace) -> None:
    """Print the section of one code, or the titles of all."""
    page = next((path for path in _PAGES if path.is_file()), None)
    if page is None:
        raise UsageError("the page of messages, docs/errors.md, is not there [AL801]")
    sections = {part[:5]: part for part in re.split(r"^### ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]}
    if options.code is None:
        print(*(part.partition("\n")[0] for part in sections.values()), sep="\n")
        return
    code = options.code.strip("[]").upper()
    if code not in sections:
        raise UsageError(f"there is no message with the code {options.code!r}; autoloop error prints all codes [AL801]")
    print(re.split(r"^## ", sections[code], flags=re.MULTILINE)[0].rstrip())
