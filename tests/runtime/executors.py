"""The executors that tests run programs with."""

from __future__ import annotations

import importlib.util

import pytest

_NATIVE = importlib.util.find_spec("llvmlite") is not None
INTERPRETED = ("auto", "dataflow", "sequential")
#: native only where its extra is installed
EXECUTORS = (*INTERPRETED, "native") if _NATIVE else INTERPRETED
needs_native = pytest.mark.skipif(not _NATIVE, reason="the extra for machine code is not installed")
