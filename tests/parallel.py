"""The whole suite on several processors: as many processes as there are, four at most, if pytest-xdist is installed.

Only for a plain ``python -m pytest``. Whoever names files or tests, looks with a debugger or says ``-n`` (``-n 0`` for
one process) has what pytest makes of that.
"""

from __future__ import annotations

import gc
import os

import pytest

MOST = 4


@pytest.hookimpl(tryfirst=True)  # xdist reads the number in its own hook of this name
def pytest_cmdline_main(config: pytest.Config) -> None:
    count = min(_processors(), MOST)
    if count > 1 and _is_plain(config):
        config.option.numprocesses = count
        config.option.dist = "worksteal"  # what a module sets up is set up once or twice, and nobody waits at the end


def _processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_plain(config: pytest.Config) -> bool:
    """Whether everything is run, in whatever order and whichever process."""
    if hasattr(config, "workerinput") or getattr(config.option, "numprocesses", "not installed") is not None:
        return False
    option = config.option
    if option.dist != "no" or option.tx or option.distload:
        return False
    if config.args_source is pytest.Config.ArgsSource.ARGS or option.markexpr != "not nightly":
        return False
    looks = ("keyword", "usepdb", "trace", "collectonly", "lf", "failedfirst", "stepwise")
    return option.capture != "no" and not any(getattr(option, name, None) for name in looks)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What there is before the first test stays to the end: no collection of garbage has to look at it again."""
    gc.collect()
    gc.freeze()
