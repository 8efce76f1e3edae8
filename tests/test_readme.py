"""The README says the truth: its code runs and prints what it shows, its commands and links are right. So do pages."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from children import run_program

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
RUN = ("arrays.md", "what-the-decorator-keeps.md", "looking-into-it.md")
PAGES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in RUN]
#: fenced blocks: ("python", code), and what they print: ("text" or "python output", output)
BLOCKS = re.findall(r"^```([^\n]*)\n(.*?)^```$", "\n".join([README, *PAGES]), re.M | re.S)
EXAMPLES = [i for i, (kind, _) in enumerate(BLOCKS) if kind == "python"]


@pytest.mark.parametrize("index", EXAMPLES)
def test_python_block_prints_what_is_shown(index, tmp_path):
    script = tmp_path / "example.py"
    script.write_text(BLOCKS[index][1], encoding="utf-8")
    done = run_program(script, tmp_path, os.environ)
    assert done.returncode == 0, done.stderr
    kind, shown = BLOCKS[index + 1] if index + 1 < len(BLOCKS) else ("", "")
    if kind in ("text", "python output"):
        assert _lines(done.stdout.replace(f"{tmp_path}{os.sep}", "")) == _lines(shown)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def test_there_are_examples():
    assert EXAMPLES


def test_commands_at_the_top_are_the_ones_that_are_checked():
    checked = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    kind, commands = BLOCKS[0]
    assert kind in ("sh", "bash", "console")
    for line in _lines(commands):
        command = line.partition("#")[0].strip()
        assert f'step "{command}"' in checked, command


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target


def test_benchmark_table_has_a_verdict_in_every_row():
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    table = page.partition("<!-- benchmarks -->")[2].partition("<!-- /benchmarks -->")[0]
    rows = [line.split("|")[1:-1] for line in _lines(table) if line.startswith("|")][2:]
    assert rows
    for row in rows:
        assert len(row) == 4 and all(cell.strip() for cell in row), row


def test_short_tables_are_of_the_long_ones():
    for page, long, short in (
        ("figures.md", "peers", "some peers"),
        ("speed-of-kernels.md", "kernels S 1", "classes of kernels S 1"),
    ):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        lines = _lines(text.partition(f"<!-- {long} -->")[2].partition(f"<!-- /{long} -->")[0])
        shown = _lines(README.partition(f"<!-- {short} -->")[2].partition(f"<!-- /{short} -->")[0])
        assert len(shown) > 7 and set(shown) <= set(lines), f"update README.md and docs/{page} by one command"
