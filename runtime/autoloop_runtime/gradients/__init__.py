"""Derivatives: reverse mode over the structured graph, tapes for eager code, forward mode.

In reading order: ``activity`` (what a gradient passes through), ``walk`` (the reverse walk over one graph),
``rematerialize`` (what a backward graph asks of the forward one) with ``recomputing`` and ``mincut``, ``while_vjp``,
``cond_vjp`` and ``reversal`` (the rules of the structured nodes), ``checkpoints`` and ``regions_again`` (less memory),
``rewriting`` and ``extension`` (how nodes get more results, and the record of it), ``enclosing`` (from graph to
graph), ``build`` (a whole gradient), ``compiled_calls`` and ``tape`` (of what was run), ``forward`` (mode), ``api``.
Values that only gradients know lie below, in ``collections``: ``saved_stacks``, ``checkpoint_store``, ``accumulators``
(sums), ``adjoint_table`` (gradients of collections).
"""

from __future__ import annotations

from ..ops.custom_gradient import custom_gradient
from .api import grad, gradients, hessian_vector_product, jacobian, value_and_grad, vjp
from .forward import jvp
from .tape import GradientTape

__all__ = [
    "GradientTape",
    "custom_gradient",
    "grad",
    "gradients",
    "hessian_vector_product",
    "jacobian",
    "jvp",
    "value_and_grad",
    "vjp",
]
