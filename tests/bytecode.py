"""Byte code for the processes that tests start, where the environment wants none written.

A hundred of them import the library, which takes three times as long from its sources. What is written goes to a folder
of the run, which is gone at its end; where byte code is written anyway, or has a place, nothing changes.
"""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "dist", "no") != "no":
        return  # other processes run the tests
    if os.environ.get("PYTHONDONTWRITEBYTECODE") and not os.environ.get("PYTHONPYCACHEPREFIX"):
        folder = tempfile.mkdtemp(prefix="autoloop-tests-")
        os.chmod(folder, 0o755)  # some tests run as another user
        del os.environ["PYTHONDONTWRITEBYTECODE"]
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
