"""Tables on a page of documentation, between comments that mark their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    """A table; the columns ``numbers`` are aligned to the right."""
    rule = ["---:" if k in numbers else "---" for k in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows)) + "\n"


def replace(path: Path, name: str, text: str) -> None:
    """Put ``text`` between ``<!-- name -->`` and ``<!-- /name -->`` in a file."""
    head, begin, rest = path.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, tail = rest.partition(f"<!-- /{name} -->")
    if not begin or not end:
        raise SystemExit(f"{path} has no place for the table: <!-- {name} --> and <!-- /{name} -->")
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def replace_known(path: Path, texts: Mapping[str, str]) -> None:
    """Put those of ``texts`` into a file that it has marks for, which is one at least."""
    known = [name for name in texts if f"<!-- {name} -->" in path.read_text(encoding="utf-8")]
    if not known:
        raise SystemExit(f"{path} has no place for a table: {', '.join(f'<!-- {name} -->' for name in texts)}")
    for name in known:
        replace(path, name, texts[name])
