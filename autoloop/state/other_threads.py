"""Other threads while a function is traced: what stands in places for arrays and numbers is to them what it stands for.

They wait until the trace is over, and find the values that the places have held.
"""

from __future__ import annotations

import weakref
from _thread import get_ident
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from autoloop_runtime.base.stand_ins import SeenByOthers
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.tensor import Tensor

from ..given_arrays import ForeignArray
from ..keys import Number
from .stateful import TRACING

#: so many seconds, at most, are waited
_LONGEST = 60


def let_others_wait(graph: Graph, symbolic: Sequence[Any], leaves: Sequence[Any]) -> None:
    """Let other threads that find what stands for a value wait for it.

    Parameters
    ----------
    graph : Graph
    symbolic : sequence
        What is put into the places.
    leaves : sequence
        What stood there.
    """
    thread = get_ident()
    numbers = {}
    for one, leaf in zip(symbolic, leaves):
        storage = kept(one)
        if isinstance(leaf, np.ndarray) and storage is not None and leaf.ndim and getattr(one, "view_of", None) is None:
            storage.elsewhere = _waiting(weakref.ref(leaf), thread)
        elif isinstance(one, Tensor) and not isinstance(leaf, ForeignArray):
            numbers[one.plain] = leaf

    def stands_for(tensor: Tensor) -> Tensor:
        _wait()
        if tensor not in numbers:
            _refuse()
        leaf = numbers[tensor]
        return convert_to_tensor(leaf.value if isinstance(leaf, Number) else leaf, tensor.dtype)

    graph.traced_by = thread, stands_for


def _waiting(array: Callable[[], Any], thread: int) -> Callable[[], Any]:
    def elsewhere() -> Any:
        if get_ident() == thread:
            return None
        _wait()
        found = array()
        return _refuse() if found is None else found

    return elsewhere


def _wait() -> None:
    """Wait until the trace is over; raise if it waits for this thread."""
    if not TRACING.acquire(timeout=_LONGEST):
        _refuse()
    TRACING.release()


def _refuse() -> NoReturn:
    raise SeenByOthers(
        "what another thread is just making, while it traces a decorated function, was looked at: only that one knows "
        "the value; guard what threads share with a lock"
    )
