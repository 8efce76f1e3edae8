"""One operation, or a few, in machine code, called with arrays as NumPy's kernels are: for a scheduler, whose threads
do the sharing of work, and who calls it in the midst of other kernels.

Where it cannot do a call, NumPy's kernel does it: arrays that do not lie in C order, values for which it fails (which
is then said in NumPy's words), and more calls at the same time than there are copies of what a call works with. Which
of these are in use is noted under the interpreter's lock; where there is none, there are no such kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ir.graph import Graph
from ..ir.tensor import Tensor
from .native_call import make
from .typing.refusal import NativeRefusal

Kernel = Callable[..., Any]
Bind = Callable[..., Kernel]


def single_kernel(graph: Graph, is_short: bool, copies: int, several: bool = False) -> Bind | None:
    """Return what makes kernels in machine code; None if there is none, or it cannot be called with objects.

    Parameters
    ----------
    graph : Graph
        Of exact shapes.
    is_short : bool
        It keeps the interpreter's lock, which takes as long to give up and take back as it works.
    copies : int
        How many calls there may be at the same time, of those that give up the lock.
    several : bool
        Whether it gives a tuple of outputs, not the only one.

    Returns
    -------
    callable
        ``bind(plain, numbers)`` gives a kernel. ``plain`` takes what it takes, and gives what it gives; ``numbers`` are
        its first inputs.
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

    def bind(plain: Kernel, numbers: Sequence[Any] = ()) -> Kernel:
        kernel = plain
        for one in reversed(found):
            call = partial(one.call, *numbers) if numbers else one.call
            kernel = _kernel(call, one.failed, one.error, kernel, plain)
        return kernel

    return bind


def _sample(tensor: Tensor) -> Any:
    """Return a value as the input will have."""
    made = np.zeros(tensor.shape.as_tuple(), tensor.dtype)
    return made if made.ndim else made[()]


def _kernel(call: Kernel, failed: Any, error: Kernel, otherwise: Kernel, plain: Kernel) -> Kernel:
    """Return a kernel; ``otherwise``: what is called where another call is in this one, or it cannot take the values;
    ``plain``: where it has failed."""

    def kernel(*values: Any) -> Any:
        result = call(*values)
        if result is NotImplemented:
            return otherwise(*values)
        if result is failed:
            error(values)  # what it worked with is given back
            return plain(*values)
        return result

    return kernel
