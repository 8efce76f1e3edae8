"""Marks of what is computed again for gradients, see ``gradients.regions_again``: nothing is computed by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.op import Op, register, ruled_in
from ..ir.tensor import Tensor
from ..ir.traits import OPAQUE


def _infer_end(*tensors: Tensor, count: int) -> Any:
    return [(t.dtype, t.shape) for t in tensors[len(tensors) - count :]]


def _end(*values: Any, count: int) -> Any:
    return values[len(values) - count :]


def _vjp_end(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [*[None] * (len(inputs) - attrs["count"]), *g]


#: where a region ends that is not kept: takes what the region takes, then its results, which it gives. The rule says
#: what the results are, as forward mode asks; the way back has one of its own
REGION = register(Op("Remat", _infer_end, _end, _vjp_end, several=True, traits=OPAQUE))


def _infer_held(*tensors: Tensor, count: int) -> Any:
    return [(t.dtype, t.shape) for t in tensors[:count]]


def _held(*values: Any, count: int) -> Any:
    return values[:count]


def _vjp_held(g: Any, outputs: Sequence[Tensor], inputs: Sequence[Tensor], attrs: Any) -> Any:
    return [*g, *[None] * (len(inputs) - attrs["count"])]


#: gives the first of what it takes when all of that is there, and keeps what is computed of it from being taken for
#: what was computed before
HELD = register(Op("Held", _infer_held, _held, _vjp_held, several=True, traits=OPAQUE))

ruled_in("custom_gradient_rules", REGION, HELD)
