"""An op applied to tensors: a node of the graph that is growing, or a value at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.fp_warnings import guarded, unguarded
from ..base.locations import Location
from .graph import graph_of
from .op import Op
from .recorders import recorders
from .run_state import EAGER
from .tensor import Tensor


def apply(
    op: Op,
    inputs: Sequence[Tensor],
    attrs: Mapping[str, Any] | None = None,
    name: str | None = None,
    location: Location | None = None,
) -> Tensor:
    """Apply a primitive of one output: add a node, or compute at once when no graph is being built.

    Parameters
    ----------
    location : tuple of Line, optional
        Where the user wrote it, if that is not the line being run.

    Returns
    -------
    Tensor
        The output without the effect token.
    """
    assert not op.several
    graph = graph_of(inputs)
    if graph is None:
        made: Tensor = _compute(op, inputs, attrs or {})
        return made
    return graph.add(op, inputs, attrs, name, location).outputs[0]


def apply_several(
    op: Op,
    inputs: Sequence[Tensor],
    attrs: Mapping[str, Any] | None = None,
    name: str | None = None,
    location: Location | None = None,
) -> Any:
    """Apply a primitive of ``several`` outputs, see ``apply``.

    Returns
    -------
    tuple of Tensor, Node, or None
        The outputs without the effect token. If there are none: the node, in a graph where effects are not ordered
        and somebody must ask for it; else ``None``.
    """
    assert op.several
    graph = graph_of(inputs)
    if graph is None:
        return _compute(op, inputs, attrs or {})
    node = graph.add(op, inputs, attrs, name, location)
    return (node.outputs[:-1] if op.effect else node.outputs) or (None if graph.ordered else node)


def _compute(op: Op, inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Any:
    specs = op.infer(*inputs, **attrs)
    if isinstance(specs, list) != op.several:
        raise op.misdeclared(specs)
    values = [t.value for t in inputs]
    kwargs = {**attrs, "state": EAGER} if op.stateful else attrs
    token = guarded()
    try:
        result = op.kernel(*values, **kwargs)
    finally:
        unguarded(token)
    if op.several or isinstance(result, tuple):
        made = tuple([Tensor(_as_value(v)) for v in op.results(result, len(specs))])
        if not made:
            return None
    else:  # what nearly all do, and fast
        made = (Tensor(_as_value(result)),)
    for recorder in recorders():
        recorder.record(op, inputs, made, attrs)
    return made if op.several else made[0]


def _as_value(value: Any) -> Any:
    return value if hasattr(value, "dtype") else np.asarray(value)
