"""Exceptions: what is left behind is what plain Python has done up to the line that raises.

A run writes to the world when it is over, so one that raises has written nothing yet. Where nobody would notice that
it is done twice, and no loop makes it long, the undecorated function is called in its place: it does what the run has
not done, and raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from autoloop_runtime.analysis.failure import graph_can_fail
from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.analysis.observable import may_repeat
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.fp_warnings import asked
from autoloop_runtime.base.stand_ins import is_in_numpys_words
from autoloop_runtime.ir.array_layouts import is_writeable
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.structured import WHILE

from ..concrete import CalledPlain, ConcreteFunction
from ..errors import is_of_tracing, is_programs_own, is_refusal
from ..operators.staging.raising import leaves_behind
from ..operators.staging.staged_blocks import speaks_of_tracers
from ..written_arguments import OtherMemory
from .changes import left_by

if TYPE_CHECKING:
    from .retrials import Request
    from .world import World

R = TypeVar("R")
#: so many bytes of arrays, at most, are copied before each run that may raise after it has written to them
MOST_BYTES = 1 << 16


def is_plains(error: BaseException) -> bool:
    """Return whether plain Python surely raises what a trace has raised: it speaks of nothing that only a run knows."""
    is_of_shapes = isinstance(error, TypeError | ValueError) and any(word in str(error) for word in ("know", "needs"))
    is_of_shapes = is_of_shapes and not is_in_numpys_words(error)
    return is_programs_own(error) and not (is_refusal(error) or speaks_of_tracers(error) or is_of_shapes)


def ended_by(
    error: Exception, request: Request, world: World, graph: Graph, symbolic: Sequence[Any]
) -> Callable[[], None]:
    """Return what ends a trace that an exception has stopped, when the world is as it was.

    What plain Python raises, too, that does: it leaves what is left then, and its words are Python's and NumPy's own.
    After another of the program's own the changes are made that need no run.
    """
    is_pythons = request.is_pythons(error)
    if not is_pythons and is_of_tracing(error):
        return _nothing
    left = left_by(world)
    is_written = any(storage is not None and storage.version for storage in map(kept, symbolic))
    if is_pythons and (request.is_of_arrays or left.writes or is_written or _is_observed(graph) or asked()):
        return lambda: _let_plain_python_say(error)
    return _nothing if is_of_tracing(error) else left


def _nothing() -> None:
    """Leave the world as it is."""


def _let_plain_python_say(error: Exception) -> NoReturn:
    with undivided():  # which most functions need not
        from ..retold_errors import in_its_words
    raise CalledPlain(partial(in_its_words, error)) from error


def _is_observed(graph: Graph) -> bool:
    """Return whether somebody would notice that a run is left out: it does something, or may raise."""
    return not may_repeat(graph) or graph_can_fail(graph)


def put_back(concrete: ConcreteFunction, writes: bool) -> list[int] | None:
    """Return which inputs are put back, for plain Python to do again what a run has not done that raises.

    Parameters
    ----------
    concrete : ConcreteFunction
    writes : bool
        Whether the world is written to when a run is over.

    Returns
    -------
    list of int, or None
        None where plain Python has nothing to do that the run has not done, or would be noticed to do it again.
    """
    changes = writes or concrete.written or leaves_behind(concrete.graph)
    return concrete.written if changes and _may_raise(concrete.graph) else None


def _may_raise(graph: Graph) -> bool:
    """Return whether a run may raise what plain Python would, and that may do it again, in no very much longer time."""
    return graph_can_fail(graph) and may_repeat(graph) and not any(node.op is WHILE for node in nodes_inside(graph))


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
    except (OtherMemory, CalledPlain):  # before it has begun
        raise
    except Exception as error:
        for array, copy in zip(arrays, copies):
            if is_writeable(array):
                np.copyto(array, copy)
        raise CalledPlain from error
