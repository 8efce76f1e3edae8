"""A session for interactive use (1.x): the default one from the moment it is made until it is closed."""

from __future__ import annotations

import warnings
from typing import Any

from ..base.forks import Kind
from ..ir.graph import Graph, leave_default
from .session import Session, leave_default_session

_lock = Kind("interactive_session", "a list that is replaced as a whole").lock()
_open: tuple[InteractiveSession, ...] = ()  # guarded by ``_lock``


class InteractiveSession(Session):
    """A ``Session`` that makes itself, and its graph if one is given, the default when it is made.

    Parameters
    ----------
    target : str
        Accepted for compatibility.
    graph : Graph, optional
        By default the default graph.
    config : Any
        Accepted for compatibility.

    Warns
    -----
    UserWarning
        If another one is open.
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        global _open
        super().__init__(target, graph, config)
        with _lock:
            others, _open = _open, (*_open, self)
        if others:
            warnings.warn(
                "An interactive session is already active. This can cause out-of-memory errors in some cases. You "
                "must explicitly call `InteractiveSession.close()` to release resources held by the other session(s).",
                stacklevel=2,
            )
        self._has_graph = graph is not None
        if graph is not None:
            self.graph.as_default().__enter__()
        self.as_default().__enter__()

    def close(self) -> None:
        """Release the variables' values, and be the default no longer."""
        global _open
        super().close()
        with _lock:
            was_open = self in _open
            _open = tuple([one for one in _open if one is not self])
        if was_open:
            leave_default_session(self)
            if self._has_graph:
                leave_default(self.graph)
