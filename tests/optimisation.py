"""LLVM optimises where machine code is what is tested, and only translates, in a fifth of the time, elsewhere.

By day, that is: in a long run, and in one of ``--executor``, it optimises everywhere, as it does for users.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

import pytest

#: how the names of files begin that are about machine code, how fast it is, or numbers that an optimisation might
#: change, and of those with programs that are drawn; others ask what a program gives on any executor
OPTIMISED = (
    "test_native_", "test_automatic", "test_signed_zeros", "test_extremes", "test_fp_warnings", "test_scale",
    "test_samples", "test_benchmarks", "test_random_programs", "test_stress_programs", "test_gradients_random",
    "test_fuzz",
)  # fmt: skip
#: levels of LLVM's: that of users, and none
USERS, NONE = 3, 0
#: whether short tests run, each with the executor it names
by_day = False


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    global by_day
    executor = item.config.getoption("--executor")
    by_day = _is_day(executor)
    compiler = sys.modules.get("autoloop_runtime.native.toolchain.compiler")
    if compiler is not None:
        setattr(compiler, "LEVEL", level(item.path.name, executor))


def _is_day(executor: str) -> bool:
    import examples  # not before pytest has been told to rewrite what stands in it

    return not examples.of_long_runs and executor == "auto"


def level(file: str, executor: str) -> int:
    """That of the tests in ``file``."""
    return USERS if not _is_day(executor) or file.startswith(OPTIMISED) else NONE


@contextlib.contextmanager
def translated(is_like_others: bool = True) -> Iterator[None]:
    """By day LLVM only translates one of the many cases of a test, if it is like others that are optimised."""
    compiler = sys.modules.get("autoloop_runtime.native.toolchain.compiler")
    if compiler is None or not (by_day and is_like_others):
        yield
        return
    before = compiler.LEVEL
    setattr(compiler, "LEVEL", NONE)
    try:
        yield
    finally:
        setattr(compiler, "LEVEL", before)
