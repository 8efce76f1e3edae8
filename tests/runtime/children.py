"""Programs in a Python process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path


def _finished(arguments: list[str], environment: dict[str, str], timeout: float = 100) -> tuple[str, str]:
    paths = os.pathsep.join([os.path.dirname(__file__), *[p for p in sys.path if p]])
    done = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def run_python(code: str, *flags: str, **environment: str) -> str:
    """What ``python -c code`` prints; it finds what this process finds, and the helpers of the tests."""
    return _finished([*flags, "-c", textwrap.dedent(code)], environment)[0]


def run_file(code: str, folder: Path, timeout: float = 100, **environment: str) -> tuple[str, str]:
    """Standard output and error of a program with a source file, so that its functions can be converted."""
    (folder / "program.py").write_text(code)
    return _finished([str(folder / "program.py")], environment, timeout)
