"""``gradients``: derivatives of tensors of a graph."""

from __future__ import annotations

from typing import Any

from .. import nest
from ..graph import Graph, convert_to_tensor
from ..registry import call
from ..tensor import Tensor
from ..variables import Variable
from .build import build
from .reach import Key, is_differentiable


def gradients(ys: Any, xs: Any, grad_ys: Any = None, stop_gradients: Any = None, name: str | None = None) -> Any:
    """The gradients of the sum of ``ys`` with regard to each of ``xs``, built into their graph.

    Parameters
    ----------
    ys : tensor or (nested) sequence of tensors
        Symbolic tensors, of a 1.x graph or of the function being traced.
    xs : tensor, Variable, or sequence of them
    grad_ys : sequence of tensors, optional
        The gradient that each of ``ys`` starts with; ones by default (``None`` entries, too).
    stop_gradients : tensor or sequence of tensors, optional
        Count as constants: nothing flows through them.
    name : str, optional
        Prefix of the new nodes.

    Returns
    -------
    list of Tensor or None
        One per element of ``xs``; ``None`` where no differentiable path leads to it.

    Raises
    ------
    TypeError
        If ``ys`` are values: then there is no graph to go back through.
    LookupError
        If an operation on the way has no gradient; the message names it and the line.
    """
    targets = [convert_to_tensor(y) for y in nest.flatten(ys)]
    sources = list(nest.flatten(xs))
    graph = next((y.graph for y in targets if y.graph is not None), None)
    if graph is None:
        raise TypeError("gradients needs tensors of a graph: use it inside a function, or GradientTape for values")
    given = [None] * len(targets) if grad_ys is None else list(nest.flatten(grad_ys))
    if len(given) != len(targets):
        raise ValueError(f"grad_ys has {len(given)} elements, ys has {len(targets)}")
    with graph.as_default(), graph.name_scope(name or "gradients"):
        targets = [graph.capture(y) for y in targets]
        pairs = [(y, seed(y, g)) for y, g in zip(targets, given) if is_differentiable(y)]
        stops = frozenset([graph.capture(convert_to_tensor(t)) for t in nest.flatten(stop_gradients or [])])
        keys = [source_in(graph, x) for x in sources]
        return build(graph, [y for y, _ in pairs], [g for _, g in pairs], keys, stops)


def source_in(graph: Graph, x: Any) -> Key:
    """What a derivative with regard to ``x`` is taken of in ``graph``."""
    if isinstance(x, Variable):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"a gradient is taken with regard to tensors and variables, not {type(x).__name__}")
    if x.graph is None:
        return x
    inner = graph.capture(x)
    return x if inner.op.op.name == "Const" else inner


def seed(y: Tensor, g: Any) -> Tensor:
    """The gradient that ``y`` starts with: ``g``, or ones."""
    made: Tensor
    if g is None:
        made = call("ones_like", y)
        return made
    made = convert_to_tensor(g) if isinstance(g, (Tensor, Variable)) else convert_to_tensor(g, y.dtype)
    if made.dtype != y.dtype:
        raise TypeError(f"the gradient given for tensor {y.name!r} has dtype {made.dtype}, the tensor has {y.dtype}")
    if not made.shape.is_compatible_with(y.shape):
        raise ValueError(f"the gradient given for tensor {y.name!r} has shape {made.shape}, the tensor has {y.shape}")
    return made
