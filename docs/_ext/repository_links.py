"""Links of pages that lead out of this folder: to the page that holds the text here, or into nothing but their words.

A page is read where the repository is shown, too, so it says ``../runtime/README.md``. Here that text is the page
``architecture``. Files of the repository that are no pages (samples, tests) can be downloaded, which Sphinx does by
itself; a folder cannot, nor can Markdown, which is looked for among the pages.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
#: file of the repository -> the page that shows it
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "runtime/README.md": "architecture.md",
    "runtime/SEMANTICS.md": "semantics.md",
}
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.M)
_PATTERN = re.compile(r"^([\w-]+\*)\n", re.M)  # of a table of contents; Sphinx warns of one that finds nothing
_CODE = re.compile(r"^(`{3,}|~{3,}).*?^\1`*\s*?$", re.M | re.S)


def mended(text: str, folder: str, page_folder: str) -> str:
    """Return ``text``, which stands in ``folder`` of the repository, with links that are right in ``page_folder``."""

    def link(match: re.Match[str]) -> str:
        words, target, part = match.group(1), match.group(2), match.group(3) or ""
        if "://" in target or target.startswith("mailto:"):
            return match.group()
        path = posixpath.normpath(posixpath.join(folder, target))
        if path in PAGES:
            path = f"docs/{PAGES[path]}"
        if (ROOT / path).is_dir() or (path.endswith(".md") and not path.startswith("docs/")):
            return words
        return f"[{words}]({posixpath.relpath(path, page_folder)}{part})"

    done, at = [], 0
    for block in _CODE.finditer(text):
        done += [_LINK.sub(link, text[at : block.start()]), block.group()]
        at = block.end()
    return "".join([*done, _LINK.sub(link, text[at:])])


def _mend(app: Sphinx, docname: str, source: list[str]) -> None:
    """Mend a page, what it includes, which comes from another folder, and its table of contents."""
    folder = posixpath.join("docs", posixpath.dirname(docname)).rstrip("/")

    def included(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, match.group(1)))
        return mended((ROOT / path).read_text(encoding="utf-8"), posixpath.dirname(path), folder)

    source[0] = _PATTERN.sub(lambda match: match.group() if [*DOCS.glob(f"{match.group(1)}.md")] else "", source[0])
    whole, count = _INCLUDE.subn(included, source[0])
    source[0] = whole if count else mended(whole, folder, folder)


def setup(app: Sphinx) -> dict[str, Any]:
    """Mend each page as it is read."""
    app.connect("source-read", _mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
