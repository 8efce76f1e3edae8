"""Where the programs come from that are made elsewhere, and how counts are printed."""

from __future__ import annotations

import sys
from pathlib import Path

from workers import printed  # noqa: F401  a fixture

sys.path.append(str(Path(__file__).parent.parent / "conversion"))
