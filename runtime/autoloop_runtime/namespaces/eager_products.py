"""Products, sums of products, and what is solved and factorised, by functions of the array API standard."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

from ..base import dtypes
from ..ops.contractions import EINSUM
from ..ops.linalg import CHOLESKY, DET, DOT, INV, MATMUL, SOLVE, SQUARES
from .eager_elements import cast
from .eager_shapes import turned
from .foreign_rows import Call, computed


@computed(MATMUL, DOT, direct=lambda call, kind: None if kind == "b" else operator.matmul)
def _matmul(call: Call, a: Any, b: Any) -> Any:
    if call.dtypes[0].kind == "b":  # whether any product is true
        counts = call.xp.matmul(cast(call, a, dtypes.int64), cast(call, b, dtypes.int64))
        return cast(call, counts, dtypes.bool_)
    return call.xp.matmul(a, b)


@computed(SQUARES)
def _squares(call: Call, x: Any) -> Any:
    line = x if x.ndim == 1 else call.xp.reshape(x, (-1,))
    if call.kind(line) != "c":
        return call.xp.matmul(line, line)
    parts = call.xp.real(line), call.xp.imag(line)
    return call.xp.matmul(parts[0], parts[0]) + call.xp.matmul(parts[1], parts[1])


@computed(EINSUM)
def _einsum(call: Call, *xs: Any, equation: str) -> Any:
    own = call.namespace.function("einsum")
    if own is not None:
        return own(equation, *xs)
    left, _, right = equation.partition("->")
    terms = left.split(",")
    every = right + "".join(sorted(set(left) - set(right) - {","}))
    factors = [_spread(call, x, term, every) for x, term in zip(xs, terms)]
    product = functools.reduce(call.xp.multiply, factors)
    product = call.xp.broadcast_to(product, [_extent(label, terms, xs) for label in every])
    return (
        call.xp.sum(product, axis=tuple(range(len(right), len(every))), dtype=call.dtype) if every != right else product
    )


def _extent(label: str, terms: list[str], xs: Any) -> int:
    return max([int(x.shape[k]) for x, term in zip(xs, terms) for k, one in enumerate(term) if one == label])


def _spread(call: Call, x: Any, term: str, every: str) -> Any:
    """Return an operand with an axis for every label, in their order; of a label that it has twice the diagonal."""
    for label in sorted({one for one in term if term.count(one) > 1}):
        while term.count(label) > 1:
            first = term.index(label)
            second = term.index(label, first + 1)
            rest = [k for k in range(len(term)) if k not in (first, second)]
            x = call.xp.linalg.diagonal(turned(call, x, [*rest, first, second]))
            term = "".join([term[k] for k in rest]) + label
    places = sorted(range(len(term)), key=lambda k: every.index(term[k]))
    x = turned(call, x, places)
    extents = dict(zip([term[k] for k in places], x.shape))
    return call.xp.reshape(x, tuple([extents.get(label, 1) for label in every]))


@computed(INV, DET, CHOLESKY, needs="linalg.det")
def _of_matrix(call: Call, x: Any) -> Any:
    linalg = call.xp.linalg
    return {INV: linalg.inv, DET: linalg.det, CHOLESKY: linalg.cholesky}[call.op](x)


@computed(SOLVE, needs="linalg.solve")
def _solve(call: Call, a: Any, b: Any) -> Any:
    if len(b.shape) != 1 and math.prod(b.shape) == 0:
        return b
    return call.xp.linalg.solve(a, b)
