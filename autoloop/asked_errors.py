"""Floating-point errors that plain Python raises in the place of a run, told of as those of a run are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from autoloop_runtime.analysis.inside import loops_inside
from autoloop_runtime.ir.graph import Graph


@contextmanager
def with_iterations(graph: Graph, run: Callable[[], object]) -> Iterator[None]:
    """Let an error tell in which iteration of which loop it was raised, as the graph's does."""
    try:
        yield
    except FloatingPointError as error:
        for note in _notes_of(run) if loops_inside(graph) else ():
            error.add_note(note)
        raise


def _notes_of(run: Callable[[], object]) -> list[str]:
    try:
        run()
    except Exception as told:
        return getattr(told, "__notes__", []) if isinstance(told, FloatingPointError) else []
    return []
