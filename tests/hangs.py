"""A test that hangs is told of: after two minutes all threads say where they are.

Pytest's own option for that starts a thread for each test and waits for its end, which takes as long as a short test.
Here one watches over all tests of a few seconds.
"""

from __future__ import annotations

import faulthandler
import time

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

#: seconds: how long a test may take, and between two beginnings of the watch
PATIENCE, TURN = 120, 5
_begun = pytest.StashKey[float]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    stash, now = item.config.stash, time.monotonic()
    if now - stash.get(_begun, 0.0) > TURN and fault_handler_stderr_fd_key in stash:
        stash[_begun] = now
        faulthandler.dump_traceback_later(PATIENCE + TURN, file=stash[fault_handler_stderr_fd_key])


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    faulthandler.cancel_dump_traceback_later()
