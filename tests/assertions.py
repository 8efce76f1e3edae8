"""A test that never asserts anything fails.

What counts: an ``assert`` that held, in a test or in a module of ``tests``, a function of ``numpy.testing``,
``pytest.raises`` and ``pytest.warns``. A test that returns before all of them, or whose loop over cases had none,
passes whatever the code does; so it fails here. *What* was asserted this cannot tell.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.assertion import util

#: what is written into a module whose assertions report that they held
_REPORTS = b"_call_assertion_pass"

#: how many were seen; of those in the test that is running at least one
reached = 0
#: a test is running, not its fixtures
_running = False


def pytest_configure(config: pytest.Config) -> None:
    tests = config.rootpath / "tests"
    _forget_silent_modules(tests)
    pytest.register_assert_rewrite(*[p.stem for p in tests.rglob("*.py") if _checks(p.stem)])
    pytest.raises, pytest.warns = _counted(pytest.raises), _counted(pytest.warns)
    for name in dir(np.testing):
        if name.startswith("assert_"):
            setattr(np.testing, name, _counted(getattr(np.testing, name)))


def _checks(module: str) -> bool:
    """True for helpers of tests, and not for the programs they run, whose assertions are what is tested."""
    return not module.startswith("test_") and not module.endswith("programs") and module not in ("conftest", __name__)


def _forget_silent_modules(tests: Path) -> None:
    """Remove what pytest compiled without ``enable_assertion_pass_hook``: it would take it for up to date."""
    for compiled in tests.rglob("__pycache__/*-pytest-*.pyc"):
        code = compiled.read_bytes()
        if b"AssertionError" in code and _REPORTS not in code:
            compiled.unlink(missing_ok=True)


def _counted(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def counted(*args: Any, **kwargs: Any) -> Any:
        global reached
        __tracebackhide__ = True
        reached += 1
        return f(*args, **kwargs)

    return counted


def pytest_assertion_pass(item: pytest.Item) -> None:
    global reached
    frame: Any = sys._getframe()  # an assertion here would come here again
    while frame.f_code.co_name != _REPORTS.decode():
        frame = frame.f_back
    file = frame.f_back.f_code.co_filename
    if file.startswith(str(item.config.rootpath)) and "site-packages" not in file:  # plugins assert things, too
        reached += 1
        if _running:  # one is enough for a test, and each costs a text that says what held
            util._assertion_pass = None


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, Any, Any]:
    global _running
    before, _running = reached, True
    try:
        result = yield
    finally:
        _running = False
    if reached == before:
        pytest.fail("the test has reached no assertion, so it cannot fail", pytrace=False)
    return result
