"""Computing once what is computed twice in the same graph from the same inputs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..analysis.observable import is_pure
from ..base.shapes import TensorShape
from ..ir.graph import CONST, Graph, Node
from .rewrite import Copy, rewrite

#: larger constants are compared by identity
_MAX_BYTES = 4096


def eliminate_common(graph: Graph) -> Graph:
    """Return ``graph`` with nodes of the same op, inputs and attributes merged into the first of them."""
    tables: dict[Graph, dict[Hashable, Node]] = {}

    def visit(copy: Copy, node: Node) -> None:
        key = _key(copy, node)
        if key is None:
            copy.keep(node)
            return
        table = tables.setdefault(copy.graph, {})
        known = table.get(key)
        if known is None:
            table[key] = copy.keep(node)
        else:
            copy.replace(node, known.outputs)

    return rewrite(graph, visit)


def _key(copy: Copy, node: Node) -> Hashable:
    """Return what makes two nodes equal; ``None`` for a node that is not to be merged."""
    if not is_pure(node):
        return None
    if node.op is CONST:
        return _frozen(node.attrs["value"])
    key = (node.op, *map(id, copy.inputs(node)))
    if not node.attrs:
        return key
    try:
        key += tuple([(name, _frozen(value)) for name, value in sorted(node.attrs.items())])
        hash(key)
    except TypeError:
        return None
    return key


def _frozen(value: Any) -> Hashable:
    """Return a hashable stand-in that is equal only for values that mean the same: ``1``,
    ``True`` and ``1.0`` differ."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.nbytes > _MAX_BYTES or value.dtype.kind == "O":
            return ("array", id(value))
        return ("array", value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, (tuple, list)) and not isinstance(value, TensorShape):
        return (type(value), tuple([_frozen(v) for v in value]))
    if isinstance(value, float):
        return (float, value.hex())
    if isinstance(value, complex):
        return (complex, value.real.hex(), value.imag.hex())
    return (type(value), value)
