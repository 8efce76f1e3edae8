"""The door between eager computation and whoever wants to know of it (gradient tapes)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from .registry import Op
from .tensor import Tensor


class Recorder(Protocol):
    """Is told of every eager computation of its thread while it is in force."""

    def record(self, op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> None:
        """A primitive was computed."""

    def run(self, graph: Any, runner: Any, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Run a whole graph (with ``inputs`` and ``outputs``) that ``runner`` would run; gives its outputs."""


_recorders: ContextVar[tuple[Recorder, ...]] = ContextVar("autoloop_recorders", default=())


def recorders() -> tuple[Recorder, ...]:
    """The recorders in force in this thread, innermost last."""
    return _recorders.get()


@contextmanager
def recording(active: Sequence[Recorder]) -> Iterator[None]:
    """Exactly these recorders are in force inside."""
    token = _recorders.set(tuple(active))
    try:
        yield
    finally:
        _recorders.reset(token)
