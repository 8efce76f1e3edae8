"""``docs/distributed.md``: its blocks, one after the other, print what stands below them."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "distributed.md").read_text(encoding="utf-8")
#: code, and what it prints where that is shown
BLOCKS = re.findall(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", PAGE, re.MULTILINE | re.DOTALL)


def test_blocks_print_what_is_shown(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    known = {}
    for number, (code, shown) in enumerate(BLOCKS):
        script = tmp_path / f"example_{number}.py"
        script.write_text(code, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            known = runpy.run_path(str(script), {name: v for name, v in known.items() if not name.startswith("__")})
        assert printed.getvalue().strip() == shown.strip(), code


def test_there_are_examples():
    assert BLOCKS and PAGE.count("```python") == len(BLOCKS)
