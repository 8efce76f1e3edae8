"""An op applied to tensors: a node of the graph that is growing, or a value at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.fp_warnings import asked, restore, setting, silence
from ..base.locations import Location
from .array_kinds import LATER
from .followers import IN_FORCE
from .graph import OtherThread, graph_of
from .op import Op, call
from .run_state import EAGER
from .tensor import Tensor, value_of

_NONE: Mapping[str, Any] = {}


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
    try:
        graph = graph_of(inputs)
    except OtherThread as other:
        graph, inputs = None, other.values(inputs)
    if graph is None:
        made: Tensor = _compute(op, inputs, attrs or _NONE)
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
    try:
        graph = graph_of(inputs)
    except OtherThread as other:
        graph, inputs = None, other.values(inputs)
    if graph is None:
        return _compute(op, inputs, attrs or _NONE)
    node = graph.add(op, inputs, attrs, name, location)
    return node.results or (None if graph.ordered else node)


def _compute(op: Op, inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> Any:
    if LATER and not LATER.isdisjoint(map(type, inputs)):
        return _recorded(op, inputs, call("applied_elsewhere", op, inputs, attrs), attrs)
    count = 1 if op.strict else len(op.specs(*inputs, **attrs))
    is_silent, before = not asked(), setting()
    try:
        if is_silent:
            silence()
        if attrs or op.stateful:
            result = op.kernel(*map(value_of, inputs), **({**attrs, "state": EAGER} if op.stateful else attrs))
        elif len(inputs) == 2:  # written out: it takes a third of the time
            one, other = inputs
            result = op.kernel(value_of(one), value_of(other))
        else:
            result = op.kernel(*map(value_of, inputs))
    except Exception:
        if op.strict:
            _refuse(op, inputs, attrs)
        raise
    finally:
        if is_silent:
            restore(before)
    if op.several:
        made = tuple([Tensor(_as_value(v)) for v in op.results(result, count)])
    else:
        made = (Tensor(result if hasattr(result, "dtype") else _as_value(*op.results(result, count))),)
    return _recorded(op, inputs, made, attrs)


def _recorded(op: Op, inputs: Sequence[Tensor], made: tuple[Tensor, ...], attrs: Mapping[str, Any]) -> Any:
    for recorder in IN_FORCE.get():
        if made:
            recorder.record(op, inputs, made, attrs)
    return (made or None) if op.several else made[0]


def _as_value(value: Any) -> Any:
    return value if hasattr(value, "dtype") else np.asarray(value)


def _refuse(op: Op, inputs: Sequence[Tensor], attrs: Mapping[str, Any]) -> None:
    """Raise what ``infer`` says of inputs that a kernel has failed with, if they do not fit."""
    try:
        op.specs(*inputs, **attrs)
    except Exception as error:
        raise error from None
