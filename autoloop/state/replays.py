"""Exceptions: what is left behind is what plain Python has done up to the line that raises.

A run writes to the world when it is over, so one that raises has written nothing yet. Where nobody would notice that
it is done twice, and no loop makes it long, the undecorated function is called in its place: it does what the run has
not done, and raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from autoloop_runtime.analysis.failure import graph_can_fail
from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.analysis.observable import may_repeat
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.structured import WHILE

from ..concrete import CalledPlain
from ..written_arguments import OtherMemory

R = TypeVar("R")
#: so many bytes of arrays, at most, are copied before each run that may raise after it has written to them
MOST_BYTES = 1 << 16


def has_loops(graph: Graph) -> bool:
    """Return whether plain Python may take very much longer than a run."""
    return any(node.op is WHILE for node in nodes_inside(graph))


def may_raise(graph: Graph) -> bool:
    """Return whether a run may raise what plain Python would, and that may do it again."""
    return graph_can_fail(graph) and may_repeat(graph) and not has_loops(graph)


def replayed(run: Callable[[], R], values: Sequence[Any], written: Sequence[int]) -> R:
    """Return what a run gives; if it raises, the arrays are put back and the undecorated function is called.

    Parameters
    ----------
    run : callable
    values : sequence
        Its inputs.
    written : sequence of int
        Which it may write to.

    Raises
    ------
    CalledPlain
    """
    arrays = [array for k in written if type(array := values[k]) is np.ndarray]
    if sum([array.nbytes for array in arrays]) > MOST_BYTES:
        return run()
    copies = [array.copy() for array in arrays]
    try:
        return run()
    except OtherMemory:
        raise
    except Exception as error:
        for array, copy in zip(arrays, copies):
            if array.flags.writeable:
                np.copyto(array, copy)
        raise CalledPlain from error
