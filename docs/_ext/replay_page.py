"""Makes ``replay/*.html`` while the documents are built: the loops of ``samples/inside_a_loop.py``, token by token."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "inside_a_loop.py"


def _make(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    place = Path(app.outdir) / "replay"
    place.mkdir(exist_ok=True)
    here = os.getcwd()
    os.chdir(place)  # the sample writes where it is run
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(SAMPLE), run_name="__main__")
    finally:
        os.chdir(here)


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the pages when all else is written."""
    app.connect("build-finished", _make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
