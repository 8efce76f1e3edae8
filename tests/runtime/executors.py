"""The executors that tests run programs with."""

from __future__ import annotations

import pytest
from api import why_not

NATIVE = not why_not()
INTERPRETED = ("auto", "dataflow", "sequential")
#: native only where its extra is installed
EXECUTORS = (*INTERPRETED, "native") if NATIVE else INTERPRETED
needs_native = pytest.mark.skipif(not NATIVE, reason="the extra for machine code is not installed")
