"""Where the programs come from that are made elsewhere, and how counts are printed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent / "conversion"))


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Print a line that is seen, and how long it took."""
    start = time.monotonic()

    def line(text: str) -> None:
        with capsys.disabled():
            print(f"\n{request.node.name}: {text} ({time.monotonic() - start:.0f} s)")

    yield line
