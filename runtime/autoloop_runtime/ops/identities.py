"""Ops that give what they get: for a name, for no gradient, for a shape that is checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.shapes import ShapeLike
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.convert import convert_to_tensor
from ..ir.op import Op, function, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import MADE, NO_GRADIENT, NO_TEMPLATE, PASSING, VIEWING, Fails
from .define import primitive, public

__all__ = ["ensure_shape", "identity", "stop_gradient"]

IDENTITY = primitive(
    "identity",
    lambda x: (x.dtype, x.shape),
    lambda x: x,
    lambda g, outputs, inputs, attrs: [g],
    code="{0}",
    traits=PASSING,
    llvm={"biufcp": "=$x"},
    entries=lambda node, ask: ask(node.inputs[0]),
)

#: of what would be read after its memory has been written to: passes make it; and of arrays of other libraries
COPIED = primitive(
    "copied",
    lambda x: (x.dtype, x.shape),
    np.copy,
    lambda g, outputs, inputs, attrs: [g],
    code="np.copy({0})",
    traits=MADE.but(fails=Fails.NEVER),
    entries=lambda node, ask: ask(node.inputs[0]),
)

function("copied", lambda x: apply(COPIED, [convert_to_tensor(x)]))


def _made_of(name: str, doc: str) -> Op:
    """Return what says whose array a value is, where a graph runs over arrays of another library; a copy where none
    are."""
    op = primitive(
        name,
        lambda x: (x.dtype, x.shape),
        np.copy,
        lambda g, outputs, inputs, attrs: [g],
        code="np.copy({0})",
        doc=doc,
        traits=MADE.but(fails=Fails.NEVER),
        llvm=NO_TEMPLATE,
        entries=lambda node, ask: ask(node.inputs[0]),
    )
    function(name, lambda x: apply(op, [convert_to_tensor(x)]))
    return op


OF_LIBRARY = _made_of(
    "of_library", "An array of the library whose arrays the graph runs over, also where what is in it is NumPy's."
)
OF_NUMPY = _made_of(
    "of_numpy",
    "NumPy's array of what may be one of the library whose arrays the graph runs over: its elements are fetched.",
)

STOP_GRADIENT = primitive(
    "stop_gradient",
    lambda x: (x.dtype, x.shape),
    lambda x: x,
    NO_GRADIENT,
    code="{0}",
    traits=PASSING,
    llvm={"biufc": "=$x"},
    entries=lambda node, ask: ask(node.inputs[0]),
)


@public()
def identity(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``x`` itself, as a tensor of its own.

    Parameters
    ----------
    x : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.identity([1, 2]))
    Tensor([1 2], shape=(2,), dtype=int32)
    """
    return apply(IDENTITY, [convert_to_tensor(x)], None, name)


@public()
def stop_gradient(x: ArrayLike, name: str | None = None) -> Tensor:
    """Return ``x``, through which no gradient flows; what has no other way to a result has the gradient ``None``.

    Parameters
    ----------
    x : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.grad(lambda x: x * al.stop_gradient(x))(al.constant(3.0)))
    Tensor(3.0, shape=(), dtype=float32)
    """
    return apply(STOP_GRADIENT, [convert_to_tensor(x)], None, name)


def _ensure_kernel(x: Any, shape: Any) -> Any:
    if not shape.matches(x.shape):
        raise ValueError(f"a tensor was declared to have shape {shape}, but its value has shape {x.shape} [AL116]")
    return x


def _ensure_infer(x: Tensor, shape: Any) -> Any:
    try:
        return x.dtype, x.shape.merge_with(shape)
    except ValueError:
        raise ValueError(f"ensure_shape: the tensor has shape {x.shape}, not {shape} [AL116]") from None


ENSURE_SHAPE = primitive(
    "ensure_shape",
    _ensure_infer,
    _ensure_kernel,
    lambda g, outputs, inputs, attrs: [g],
    traits=VIEWING.but(fails=Fails.MAYBE),
)


@public()
def ensure_shape(x: ArrayLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Return ``x``, checked to have a shape that fits ``shape``.

    Parameters
    ----------
    x : tensor-like
    shape : shape-like
        May have ``None`` dimensions.
    name : str, optional

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        Now if the static shape contradicts, else when the value is there.

    Examples
    --------
    >>> print(al.ensure_shape([[1, 2]], (None, 2)))
    Tensor([[1 2]], shape=(1, 2), dtype=int32)
    """
    x = convert_to_tensor(x)
    return apply(ENSURE_SHAPE, [x], {"shape": type(x.shape)(shape)}, name)


ruled_in("views", COPIED, ENSURE_SHAPE)
