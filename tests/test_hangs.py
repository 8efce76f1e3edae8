"""``hangs.py``: a test that takes too long is told of, with where it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HANGING = """
import hangs, time
hangs.PATIENCE = hangs.TURN = 0.1
def test_before():
    pass
def test_long():
    def here():
        time.sleep(0.6)
    here()
"""


def test_where_a_long_test_is(tmp_path):
    (tmp_path / "test_hanging.py").write_text(HANGING)
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "hangs", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p",
            "no:xdist", "--rootdir", str(tmp_path), str(tmp_path),
        ],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True, text=True, cwd=tmp_path, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Timeout (0:00:00.2" in done.stderr and "in here" in done.stderr
