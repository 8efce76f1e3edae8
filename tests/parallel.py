"""The whole suite on several processors: as many processes as there are, four at most, if pytest-xdist is installed.

Only for a plain ``python -m pytest``. Whoever names files or tests, looks with a debugger or says ``-n`` (``-n 0`` for
one process) has what pytest makes of that.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import pytest

MOST = 4
#: files of tests that take seconds each: begun first, so that nobody waits for one of them at the end; the first takes
#: half a gigabyte for a moment, which those behind it use again
LONG = ("test_architecture.py", "test_samples.py", "test_parallel.py", "test_assertions.py")
#: in what a worker is told: nobody asks for more than the outcomes of tests
_BRIEF = "autoloop_brief"


@pytest.hookimpl(tryfirst=True)  # xdist reads the number in its own hook of this name
def pytest_cmdline_main(config: pytest.Config) -> None:
    count = min(_processors(), MOST)
    if count > 1 and _is_plain(config):
        config.option.numprocesses = count
        # each of them has one processor: threads of its matrix products would wait for it
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.path.name not in LONG)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    option = node.config.option
    node.workerinput[_BRIEF] = option.verbose <= 0 and not option.durations and not option.xmlpath


@pytest.hookimpl(tryfirst=True)  # xdist says here that it is ready
def pytest_sessionstart(session: pytest.Session) -> None:
    if not getattr(session.config, "workerinput", {}).get(_BRIEF):
        return
    for plugin in session.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            plugin.sendevent = functools.partial(_tell, plugin.sendevent)


def _tell(tell: Callable[..., None], event: str, **what: Any) -> None:
    """Send what somebody reads: six messages for each test take longer than many tests."""
    if event not in ("logstart", "logfinish") and not (event == "testreport" and _says_nothing(what["data"])):
        tell(event, **what)


def _says_nothing(report: dict[str, Any]) -> bool:
    """True for the beginning and the end of a test if nothing happened there."""
    return report["when"] != "call" and report["outcome"] == "passed" and not report["sections"]
