"""``docs/interoperation.md``: each block prints what stands below it, with the library that it imports."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import warnings
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "interoperation.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
#: what comes with every installation
_OURS = {"autoloop", "numpy", "asyncio", "logging", "sys", "functools"}


@pytest.mark.nightly
@pytest.mark.parametrize(("code", "shown"), BLOCKS, ids=[str(place) for place in range(len(BLOCKS))])
def test_a_block_prints_what_is_shown(code, shown, tmp_path, monkeypatch):
    for library in sorted(set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)) - _OURS):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* was traced (for|[0-9]+ times)", UserWarning)
        runpy.run_path(str(script))
    assert printed.getvalue().strip() == shown.strip()


def test_each_row_of_the_table_leads_to_an_example():
    titles = {title.lower().replace(" ", "-") for title in re.findall(r"^## (.+)$", PAGE, re.MULTILINE)}
    assert titles == set(re.findall(r"\]\(#([\w-]+)\)", PAGE)) and len(BLOCKS) >= len(titles)
