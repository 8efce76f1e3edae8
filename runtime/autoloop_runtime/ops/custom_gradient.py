"""Functions with a gradient of the user's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..base import nest
from ..ir.apply import apply_several
from ..ir.convert import convert_to_tensor
from ..ir.op import Op, register, ruled_in
from ..ir.structured import StructureError
from ..ir.tensor import Tensor
from ..ir.tracers import kind_of, marked
from ..ir.traits import OPAQUE
from .filled import zeros_like


def _infer(*tensors: Tensor, count: int, grad: Any) -> Any:
    return [(t.dtype, t.shape) for t in tensors[len(tensors) - count :]]


def _kernel(*values: Any, count: int, grad: Any) -> Any:
    return values[len(values) - count :]


def _vjp(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    count = attrs["count"]
    filled = [zeros_like(y) if part is None else part for part, y in zip(g, outputs)]
    arguments = inputs[: len(inputs) - count]
    found = attrs["grad"](*filled)
    parts = list(found) if isinstance(found, (list, tuple)) else [found]
    if len(parts) != len(arguments):
        raise StructureError(
            f"the gradient function of a custom_gradient gave {len(parts)} gradients for {len(arguments)} arguments"
            " [AL408]"
        )
    made = [None if part is None else convert_to_tensor(part) for part in parts]
    return [*made, *[None] * count]


#: inputs: the arguments, then the results; outputs: the results, of which only the arguments' gradients are the user's
CUSTOM = register(Op("CustomGradient", _infer, _kernel, _vjp, several=True, traits=OPAQUE))


def _own(leaf: Any, tensor: Tensor) -> Any:
    """Return an argument as the function is to see it: of the kind that it is given as, where a graph is built."""
    return marked(kind_of((leaf,)), tensor) if tensor.is_symbolic else tensor


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function a gradient of its own.

    Parameters
    ----------
    f : callable
        Takes tensors (or structures of them) and gives ``(value, grad)``: ``grad`` takes one gradient per tensor of the
        value and gives one gradient, or ``None``, per tensor of the arguments.

    Returns
    -------
    callable
        Gives the value.

    Examples
    --------
    >>> @al.custom_gradient
    ... def clipped(x):
    ...     return x, lambda g: al.clip(g, -1.0, 1.0)
    >>> print(al.grad(lambda x: 5 * clipped(x))(al.constant(2.0)))
    Tensor(1.0, shape=(), dtype=float32)
    """

    @functools.wraps(f)
    def with_gradient(*args: Any) -> Any:
        leaves, structure = nest.flatten_with_structure(list(args))
        tensors = [convert_to_tensor(leaf) for leaf in leaves]
        answer = f(*nest.unflatten(structure, [_own(leaf, t) for leaf, t in zip(leaves, tensors)]))
        if not isinstance(answer, tuple) or len(answer) != 2 or not callable(answer[1]):
            raise TypeError(
                "a function with custom_gradient must return a pair (value, function of the gradients) [AL408]"
            )
        value, grad = answer
        results, form = nest.flatten_with_structure(value)
        ys = [convert_to_tensor(y) for y in results]
        made = apply_several(CUSTOM, [*tensors, *ys], {"count": len(ys), "grad": grad})
        return nest.unflatten(form, [marked(kind_of((y,)), one) for y, one in zip(results, made or ())])

    return with_gradient


ruled_in("custom_gradient_rules", CUSTOM)
