"""How far a graph has come, and who is told when one has come so far: tests, which verify it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from ..base.contexts import Setting
from ..base.enumeration import Enum, auto


class Stage(Enum):
    """How far a graph has come."""

    #: traced, or between two passes
    STRUCTURED = auto()
    #: a gradient was built into it
    DIFFERENTIATED = auto()
    #: after the last pass
    OPTIMISED = auto()
    #: the flat form that the scheduler runs
    LOWERED = auto()


#: ``watcher(graph, stage)``
Watcher = Callable[[Any, Stage], None]
_watcher: ContextVar[Watcher | None] = ContextVar("autoloop_stages", default=None)


def watch(watcher: Watcher | None) -> Setting[None]:
    """Have ``watcher`` told, inside, of each graph that reaches a stage."""
    return Setting(None, (_watcher, watcher))


def come_to(graph: Any, stage: Stage) -> None:
    """Say that ``graph`` is what it must be at ``stage``."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(graph, stage)
