"""The pages of the documents say the truth: code runs and prints what stands below it, links lead somewhere.

All in one process; ``test_readme`` runs the pages that change settings or say where files are.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import runpy
from pathlib import Path

import autoloop
import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = "index first-steps reading-explain debugging performance gradients-and-memory dataflow coming-from".split()
_FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)


def blocks(page):
    """The programs of a page, and what each prints."""
    found = _FENCED.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    for (kind, code), (following, shown) in zip(found, [*found[1:], ("", "")]):
        if kind == "python":
            yield code, shown if following == "text" else None


def without_times(text):
    """What a program prints, but for times: machines, and what they have compiled before, differ in these."""
    return re.sub(r"\b\d[\d.e-]* s\b", "some s", text.strip())


@pytest.mark.parametrize("page", PAGES)
def test_code_prints_what_is_shown(page, tmp_path, monkeypatch):
    if page in ("reading-explain", "performance") and importlib.util.find_spec("llvmlite") is None:
        pytest.skip("it tells of machine code")
    monkeypatch.chdir(tmp_path)
    wrong = []
    for number, (code, shown) in enumerate(blocks(page)):
        script = tmp_path / f"{number}" / "example.py"
        script.parent.mkdir()
        script.write_text(code, encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                runpy.run_path(str(script))
            finally:
                autoloop.config.run_as_python(None)
        got = printed.getvalue().replace(f"{script.parent}/", "")
        if shown is not None and without_times(got) != without_times(shown):
            wrong.append(f"{code}\nprints\n{got}")
    assert not wrong, "\n\n".join(wrong)


def test_links_lead_somewhere():
    wrong = []
    for page in sorted(DOCS.rglob("*.md")):
        text = _FENCED.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)", re.sub(r"`[^`\n]*`", "", text)):
            if "://" not in target and not (page.parent / target).exists():
                wrong.append(f"{page.relative_to(ROOT)}: {target}")
    assert not wrong
