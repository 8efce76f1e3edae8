"""Contractions: sums of products of tensors over axes that they share, by labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.shapes import Dim, TensorShape
from ..base.stand_ins import UnknownExtent
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.op import ruled_in
from ..ir.prices import Products, elements
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE
from .array import expand_dims
from .broadcasting import unbroadcast
from .creation import eye
from .define import primitive, public
from .elementwise import conjugated
from .filled import zeros_like
from .operands import operands
from .shape_queries import dim

__all__ = ["einsum"]

#: einsum contracts pairwise, with BLAS, above this many multiplications
_EINSUM_OPTIMIZE = 4096
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _einsum_infer(*xs: Tensor, equation: str) -> Any:
    left, _, right = equation.partition("->")
    sizes: dict[str, Dim] = {}
    for labels, x in zip(left.split(","), xs):
        if x.shape.rank is None:
            continue
        if len(labels) != len(x.shape):
            raise ValueError(f"einsum: {labels!r} has {len(labels)} labels for a tensor of shape {x.shape} [AL206]")
        for label, extent in zip(labels, x.shape.known):
            have = sizes.get(label, 1)
            if extent is None:
                sizes[label] = None if have == 1 else have
            elif have in (1, None) or extent == 1:
                sizes[label] = extent if have in (1, None) else have
            elif have != extent:
                raise ValueError(
                    f"einsum: label {label!r} of {equation!r} has extents {have} and {extent}, the shapes are "
                    f"{' and '.join(str(x.shape) for x in xs)} [AL206]"
                )
    return xs[0].dtype, TensorShape([sizes.get(label) for label in right])


def _einsum_kernel(*xs: Any, equation: str) -> Any:
    work = 1
    for x in xs:
        work *= x.size
    return np.einsum(equation, *xs, optimize=work > _EINSUM_OPTIMIZE)[()]


def _einsum_vjp(g: Tensor, outputs: Any, inputs: Sequence[Tensor], attrs: Any) -> Any:
    left, _, right = attrs["equation"].partition("->")
    terms = left.split(",")
    grads = []
    for k, (labels, x) in enumerate(zip(terms, inputs)):
        once = "".join(dict.fromkeys(labels))
        others = [(t, v) for i, (t, v) in enumerate(zip(terms, inputs)) if i != k]
        there = set(right).union(*[t for t, _ in others])
        found = "".join(c for c in once if c in there)
        equation = ",".join([right, *[t for t, _ in others]]) + "->" + found
        part = einsum(equation, g, *[conjugated(v) for _, v in others])
        if found != once:  # a label that was only summed over: its gradient is the same everywhere
            part = expand_dims(part, tuple(i for i, c in enumerate(once) if c not in there))
        if once != labels:
            part = _on_diagonals(part, labels, x)
        if not (part.shape.is_fully_defined() and part.shape == x.shape):
            # an extent of 1 may have been broadcast against another tensor's, in either direction
            part = unbroadcast(part + zeros_like(x), x)
        grads.append(part)
    return grads


def _on_diagonals(part: Tensor, labels: str, x: Tensor) -> Tensor:
    """Return the gradient of an operand with repeated labels, which reads diagonals, of that of the diagonals."""
    free = iter([c for c in _LETTERS if c not in labels])
    terms, factors, spread = ["".join(dict.fromkeys(labels))], [part], ""
    for axis, c in enumerate(labels):
        if c in spread:
            other = next(free)
            terms.append(c + other)
            factors.append(eye(dim(x, axis), dtype=x.dtype))
            c = other
        spread += c
    return einsum(f"{','.join(terms)}->{spread}", *factors)


def _einsum_count(*xs: Tensor, equation: str) -> int:
    """Return the number of combinations of all labels, as one product over all of them would do."""
    labels = equation.partition("->")[0]
    every = "".join(dict.fromkeys(labels.replace(",", "")))
    return elements(_einsum_infer(*xs, equation=f"{labels}->{every}")[1])


EINSUM = primitive(
    "einsum", _einsum_infer, _einsum_kernel, _einsum_vjp, traits=OPAQUE.but(price=Products(_einsum_count), blas=True)
)


@public()
def einsum(equation: str, *tensors: ArrayLike, name: str | None = None) -> Tensor:
    """Return a sum of products, written with one label per axis: ``einsum("ij,jk->ik", a, b)``.

    Parameters
    ----------
    equation : str
        Without ``->`` the result has the labels that occur once, sorted. ``...`` stands for the leading axes.
    *tensors : tensor-like
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> print(al.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1]))
    Tensor([3 7], shape=(2,), dtype=int32)
    """
    xs = operands("einsum", *tensors)
    return apply(EINSUM, xs, {"equation": _explicit(equation.replace(" ", ""), xs)}, name)


def _explicit(equation: str, xs: Sequence[Tensor]) -> str:
    """Return the equation with ``->`` and without ``...``."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(xs):
        raise ValueError(f"einsum: {equation!r} speaks of {len(terms)} tensors, {len(xs)} were given")
    free = [c for c in _LETTERS if c not in equation]
    batch = ""
    for i, (term, x) in enumerate(zip(terms, xs)):
        if "..." in term:
            if x.shape.rank is None:
                raise UnknownExtent("einsum: ... needs the rank of the tensor; declare it with set_shape")
            count = len(x.shape) - len(term.replace("...", ""))
            own = "".join(free[-count:]) if count else ""
            batch = max(batch, own, key=len)
            terms[i] = term.replace("...", own)
    if not arrow:
        labels = "".join(terms)
        once = sorted(c for c in set(labels) if labels.count(c) == 1 and c not in batch)
        right = batch + "".join(once)
    right = right.replace("...", batch)
    return ",".join(terms) + "->" + right


ruled_in("products", EINSUM)
