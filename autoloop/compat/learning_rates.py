"""Learning rates that change step by step, and the variable that counts steps, as in 1.x."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base.dtypes import int64, is_integer
from autoloop_runtime.collections import variables
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.session import Session

from .building import building, default_root
from .graph_keys import GraphKeys
from .initializers import zeros_initializer
from .variable_scopes import get_variable

# -- the step ---------------------------------------------------------------------------------------------


def get_global_step(graph: Graph | None = None) -> Any:
    """Return the variable that counts steps in a graph, the default one if none is named; None if there is none.

    It is that of the collection ``GLOBAL_STEP``, or the variable whose name is ``global_step``.

    Raises
    ------
    TypeError
        If there are several, or it does not hold integers.
    ValueError
        If it has axes.
    """
    root = default_root() if graph is None else graph.root
    found = root.get_collection(GraphKeys.GLOBAL_STEP) or [
        one for one in root.get_collection(GraphKeys.GLOBAL_VARIABLES) if one.name == f"{GraphKeys.GLOBAL_STEP}:0"
    ]
    if not found:
        return None
    if len(found) > 1:
        raise TypeError("Multiple tensors in global_step collection. [AL901]")
    (step,) = found
    if not is_integer(step.dtype):
        raise TypeError(f'Existing "global_step" does not have integer type: {step.dtype} [AL901]')
    if step.shape.rank not in (0, None):
        raise ValueError(f'Existing "global_step" is not scalar: it has shape {step.shape} [AL901]')
    return step


def create_global_step(graph: Graph | None = None) -> variables.Variable:
    """Return a new variable that counts steps, int64 and 0 at first.

    Raises
    ------
    ValueError
        If there is one.
    """
    root = default_root() if graph is None else graph.root
    if get_global_step(root) is not None:
        raise ValueError('"global_step" already exists. [AL901]')
    with root.as_default(), root.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP, [], int64, zeros_initializer(), trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )  # fmt: skip


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """Return the variable that counts steps, made if there is none."""
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Session, global_step_tensor: Any) -> int:
    """Return how far a session has come."""
    return int(sess.run(global_step_tensor))


# -- rates ------------------------------------------------------------------------------------------------


def _rate(learning_rate: Any) -> Tensor:
    return convert_to_tensor(learning_rate)


def _steps(name: str, step: Any, decay_steps: Any, like: Tensor) -> tuple[Tensor, Tensor]:
    if step is None:
        raise ValueError(f"global_step is required for {name}. [AL908]")
    return ops.cast(convert_to_tensor(step), like.dtype), ops.cast(convert_to_tensor(decay_steps), like.dtype)


def _part(name: str, step: Any, decay_steps: Any, like: Tensor, staircase: bool) -> Tensor:
    done, all_of_them = _steps(name, step, decay_steps, like)
    part = done / all_of_them
    return ops.floor(part) if staircase else part


@building
def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return ``learning_rate * decay_rate ** (global_step / decay_steps)``; a ``staircase`` takes whole parts only."""
    rate = _rate(learning_rate)
    part = _part("exponential_decay", global_step, decay_steps, rate, staircase)
    return ops.multiply(rate, ops.pow(ops.cast(convert_to_tensor(decay_rate), rate.dtype), part), name=name)


@building
def natural_exp_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return ``learning_rate * exp(-decay_rate * global_step / decay_steps)``."""
    rate = _rate(learning_rate)
    part = _part("natural_exp_decay", global_step, decay_steps, rate, staircase)
    return ops.multiply(rate, ops.exp(-ops.cast(convert_to_tensor(decay_rate), rate.dtype) * part), name=name)


@building
def inverse_time_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return ``learning_rate / (1 + decay_rate * global_step / decay_steps)``."""
    rate = _rate(learning_rate)
    part = _part("inverse_time_decay", global_step, decay_steps, rate, staircase)
    return ops.divide(rate, 1 + ops.cast(convert_to_tensor(decay_rate), rate.dtype) * part, name=name)


@building
def polynomial_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001, power: Any = 1.0,
    cycle: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return a rate that goes to the end within ``decay_steps``; in a ``cycle`` then within as many more."""
    rate = _rate(learning_rate)
    end, exponent = (ops.cast(convert_to_tensor(v), rate.dtype) for v in (end_learning_rate, power))
    done, most = _steps("polynomial_decay", global_step, decay_steps, rate)
    if cycle:
        most = most * ops.where(ops.equal(done, 0), ops.ones_like(done), ops.ceil(done / most))
    else:
        done = ops.minimum(done, most)
    return ops.add((rate - end) * ops.pow(1 - done / most, exponent), end, name=name)


@building
def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0, name: str | None = None
) -> Tensor:
    """Return a rate that goes to ``alpha * learning_rate`` within ``decay_steps``, along half a wave."""
    rate = _rate(learning_rate)
    done, most = _steps("cosine_decay", global_step, decay_steps, rate)
    wave = 0.5 * (1 + ops.cos(math.pi * (ops.minimum(done, most) / most)))
    return ops.multiply(rate, (1 - alpha) * wave + alpha, name=name)


@building
def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> Tensor:
    """Return the first value up to the first boundary, the second up to the next, and so on.

    Raises
    ------
    ValueError
        If there is not one value more than there are boundaries.
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values [AL908]")
    step = convert_to_tensor(x)
    rates = ops.stack([convert_to_tensor(value) for value in values])
    if not boundaries:
        return ops.identity(rates[0], name=name)
    ends = ops.stack([convert_to_tensor(b, None if isinstance(b, Tensor) else step.dtype) for b in boundaries])
    passed = ops.sum(ops.cast(step > ends, np.int32))
    return ops.gather(rates, passed, name=name)
