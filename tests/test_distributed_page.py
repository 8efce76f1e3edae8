"""``docs/distributed.md``: each block prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "distributed.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("code", "shown"), BLOCKS, ids=[str(place) for place in range(len(BLOCKS))])
def test_a_block_prints_what_is_shown(code, shown, tmp_path, monkeypatch):
    for library in sorted(set(re.findall(r"^(?:import|from) (?:autoloop\.)?(dask|distributed)\b", code, re.MULTILINE))):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(script))
    assert printed.getvalue().strip() == shown.strip()


def test_there_are_examples():
    assert BLOCKS and PAGE.count("```python") == len(BLOCKS)
