"""What a trace may not do to arrays of another library that it is given: plain Python does that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoloop_runtime.ir.array_storage import kept

from ..given_arrays import ForeignArray
from ..operators.mutation.outside_world import leave


def leave_foreign(leaves: Sequence[Any], symbolic: Sequence[Any]) -> None:
    """Leave a function to Python that writes to an array of another library, or asks how one lies in memory.

    Parameters
    ----------
    leaves : sequence
        The arguments, flat, as the trace takes them.
    symbolic : sequence
        What stands for them in the trace.
    """
    for leaf, one in zip(leaves, symbolic):
        storage = kept(one) if type(leaf) is ForeignArray else None
        if storage is not None and (storage.version or storage.is_lying_asked):
            what = "is written to" if storage.version else "is asked how it lies in memory"
            leave(f"an argument that is an array of {leaf.namespace.name} {what}", "")
