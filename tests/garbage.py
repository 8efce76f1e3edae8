"""Garbage is collected where a test asks for it, not by itself: what a test made, and nothing that was there before.

A run keeps millions of objects: the tests themselves, and what each file of them keeps for all of its tests. To go
through them takes a third of a second, and tests ask for that. So what has outlived its file counts as there for good.
To take apart what nobody needs any more would be an eighth of all that a run does. So it stays, some 2 GB a process,
unless it becomes too much.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

try:
    import resource
except ImportError:  # not everywhere
    resource = None  # type: ignore[assignment]

#: as many bytes a process may take before its garbage is collected
MOST = 3 << 30
#: objects between two visits of the collector from then on, and visits between those that go further
THRESHOLDS = 5_000, 10, 10


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    if resource is not None:
        gc.set_threshold(0)
    else:
        gc.set_threshold(*THRESHOLDS)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path == item.path:
        return
    if gc.get_threshold()[0]:
        gc.collect()
    elif _taken() > MOST:
        gc.unfreeze()
        gc.collect()
        gc.set_threshold(*THRESHOLDS)
    gc.freeze()


def _taken() -> int:
    """Return how many bytes this process takes, or has taken at most where that is all that is known.

    A file of tests may take a sixth of what it may for a moment, and give it back: to collect is no answer to that.
    """
    if sys.platform == "linux":
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
