"""Where text goes: a file, or standard output."""

from __future__ import annotations

import sys
from pathlib import Path

from .problems import UsageError


def write(path: str | None, text: str) -> None:
    """Write ``text`` to the file ``path``, or print it.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    if path is None or path == "-":
        sys.stdout.write(text)
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path!r}: {error.strerror}") from None
    print(f"wrote {path}", file=sys.stderr)
