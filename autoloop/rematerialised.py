"""``remat``: functions whose values inside are not kept for gradients, but computed again."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from autoloop_runtime.base import nest
from autoloop_runtime.gradients.regions_again import ended
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.array_views import root_of
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.recorders import recorders
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import kind_of, marked

from .conversion.pipeline import convert
from .conversion.source import has_lines
from .derivative_functions import DerivativeFunction
from .function import Function

__all__ = ["checkpoint", "remat"]

P = ParamSpec("P")
R = TypeVar("R")


def remat(fun: Callable[P, R]) -> Callable[P, R]:
    """Return a function that does what ``fun`` does, and keeps less for gradients: they compute it again.

    What the way back keeps of a call is what goes in, arguments and what the function finds outside, and what comes
    out. The values between are computed a second time when they are needed.

    Parameters
    ----------
    fun : callable
        May be a decorated function. What it does besides computing, as to print or to draw random numbers, is done
        once. In its loops and branches on tensors that is refused when a gradient is built.

    Returns
    -------
    callable
        Gives what ``fun`` gives, and the same derivatives of any order.

    Raises
    ------
    TypeError
        If ``fun`` is not callable.

    See Also
    --------
    while_loop : Its ``gradient_memory`` keeps less of the turns of a loop.

    Notes
    -----
    JAX has it under the same two names, ``remat`` and ``checkpoint``. Where nobody differentiates it costs nothing. The
    gradient of the gradient keeps what is computed again.

    Examples
    --------
    >>> import autoloop as al
    >>> import numpy as np
    >>> layer = al.remat(lambda x: np.tanh(np.sin(x) * 2))
    >>> al.grad(lambda x: np.sum(layer(layer(x))))(np.array([0.0, 0.1]))
    array([4.    , 3.2303])
    """
    if not callable(fun):
        raise TypeError(f"remat: a function is needed, got {fun!r} of type {type(fun).__name__} [AL413]")
    decorated: list[Function] = []

    @functools.wraps(fun)
    def forgetful(*args: Any, **kwargs: Any) -> Any:
        graph = current_graph()
        if graph is not None:
            return _traced(graph, fun, args, kwargs)
        leaves = nest.flatten([args, kwargs], expand_composites=True)
        owner = next((t.graph for t in leaves if isinstance(t, Tensor) and t.is_symbolic), None)
        if owner is not None:
            with owner.as_default():
                return _traced(owner, fun, args, kwargs)
        if not recorders() or not has_lines(inspect.unwrap(fun)):  # without lines: one operation, as of NumPy's
            return fun(*args, **kwargs)
        if not decorated:
            decorated.append(Function(made))
        return decorated[0](*args, **kwargs)

    made = DerivativeFunction(remat, fun, (), forgetful)
    return made


def _traced(graph: Graph, fun: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call ``fun`` in a graph that grows, and let its results, and what it has written to arguments, end a region."""
    before = set(graph.nodes)
    value = convert(fun)(*args, **kwargs)
    leaves = nest.flatten(value)
    arrays = {id(s): s for one in (*leaves, *nest.flatten([args, kwargs])) if (s := _memory(one)) is not None}
    others = [one.plain for one in leaves if isinstance(one, Tensor) and _memory(one) is None]
    of = ended(graph, before, [*[storage.tensor for storage in arrays.values()], *others])
    for storage in arrays.values():
        # in place: whatever other names and views the array has see the same
        if storage.tensor in of:
            storage.carry(of[storage.tensor])

    def used(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or _memory(leaf) is not None or leaf.plain not in of:
            return leaf
        return marked(kind_of((leaf,)), of[leaf.plain])

    return _replaced(value, used) if of else value


def _replaced(value: Any, used: Callable[[Any], Any]) -> Any:
    """Return a result with what is used in place of its leaves; a list or dict, which others may hold, stays itself."""
    if type(value) in (list, dict):
        for key, one in value.items() if type(value) is dict else enumerate(value):
            if (new := _replaced(one, used)) is not one:
                value[key] = new  # of a key that is there: nothing that walks through it is disturbed
        return value
    if not isinstance(value, tuple):
        return used(value)
    parts = [_replaced(one, used) for one in value]
    return value if all(new is one for new, one in zip(parts, value)) else nest.like(value, parts)


def _memory(leaf: Any) -> Any:
    """Return the memory of an array of which a trace knows what it holds; None of anything else."""
    return kept(leaf) if kept(leaf) is None else root_of(leaf).storage


#: JAX's other name
checkpoint = remat
