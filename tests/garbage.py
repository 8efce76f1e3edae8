"""The collector of garbage looks at what a test made, and not again and again at all that there was before it.

A run keeps millions of objects: the tests themselves, and what each file of them keeps for all of its tests. To go
through them takes a third of a second, and tests ask for that, as Python does by itself. So what has outlived its file
counts as there for good. The collector comes less often, too, than between a program's every seven hundred objects.
"""

from __future__ import annotations

import gc

import pytest

#: objects between two visits of the collector, and visits between those that go further
THRESHOLDS = 5_000, 10, 10


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    _settle()
    gc.set_threshold(*THRESHOLDS)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is not None and nextitem.path != item.path:
        _settle()


def _settle() -> None:
    """Let all that there is stay to the end."""
    gc.collect()
    gc.freeze()
