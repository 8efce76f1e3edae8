"""Warns of pages that would load something from elsewhere: the documents are read without network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

#: a script, a sheet of style, a picture or a frame of another machine; links that a reader follows are none
_LOADED = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)\s*=\s*["']?(?:https?:)?//[^"'\s>]*""")


def _look(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    for page in sorted(Path(app.outdir).rglob("*.html")):
        for found in _LOADED.findall(page.read_text(encoding="utf-8")):
            logging.getLogger(__name__).warning("%s loads %s", page.name, found)


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at the pages when all are written."""
    app.connect("build-finished", _look, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
