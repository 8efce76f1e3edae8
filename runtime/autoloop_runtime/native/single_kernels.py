"""One operation, or a few, in machine code, called with arrays as NumPy's kernels are: for a scheduler, whose threads
do the sharing of work, and who calls it in the midst of other kernels.

Where it cannot do a call, NumPy's kernel does it: arrays that do not lie in C order, values for which it fails (which
is then said in NumPy's words), and more calls at the same time than there are copies of what a call works with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.graph import Graph
from ..ir.tensor import Tensor
from .native_call import make
from .typing.refusal import NativeRefusal

Kernel = Callable[..., Any]


def single_kernel(
    graph: Graph, plain: Kernel, is_short: bool, copies: int, several: bool = False
) -> Kernel | None:  # fmt: skip
    """Return what does as ``plain`` does in machine code; None if there is none, or it cannot be called with objects.

    Parameters
    ----------
    graph : Graph
        Of exact shapes.
    plain : callable
        Takes the inputs, and gives what this gives.
    is_short : bool
        It keeps the interpreter's lock, which takes as long to give up and take back as it works.
    copies : int
        How many calls there may be at the same time, of those that give up the lock.
    several : bool
        Whether it gives a tuple of outputs, not the only one.
    """
    try:
        code = make(graph, [t.shape.as_tuple() for t in graph.inputs], among_others=True, keeps_lock=is_short)
    except NativeRefusal:
        return None
    samples = [_sample(t) for t in graph.inputs]
    results = [("output", k) for k in range(len(graph.outputs))]
    found = [code.entered(samples, (), results, several) for _ in range(1 if is_short else copies)]
    if any(one is None or one.begin is not None for one in found):
        return None
    calls = tuple([(one.call, one.failed, one.error) for one in found])
    return _alone(*calls[0], plain) if len(calls) == 1 else _first_free(calls, plain)


def _sample(tensor: Tensor) -> Any:
    """Return a value as the input will have."""
    made = np.zeros(tensor.shape.as_tuple(), tensor.dtype)
    return made if made.ndim else made[()]


def _alone(call: Kernel, failed: Any, error: Kernel, plain: Kernel) -> Kernel:
    def kernel(*values: Any) -> Any:
        result = call(*values)
        if result is NotImplemented:
            return plain(*values)
        if result is failed:
            error(values)  # what it worked with is given back
            return plain(*values)
        return result

    return kernel


def _first_free(calls: tuple[tuple[Kernel, Any, Kernel], ...], plain: Kernel) -> Kernel:
    def kernel(*values: Any) -> Any:
        for call, failed, error in calls:
            result = call(*values)
            if result is failed:
                error(values)
                break
            if result is not NotImplemented:
                return result
        return plain(*values)

    return kernel
