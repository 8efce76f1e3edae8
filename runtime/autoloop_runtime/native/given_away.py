"""Whether inputs that are given away may be written to: what a function may have to give up on comes before that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..analysis.aliasing import writes_part
from ..analysis.uses import places as places_of
from ..ir.graph import PARAMETER, Graph, Node
from .typing.facts import Types
from .writer.context import Check
from .writer.refusals_in_runs import may_refuse
from .writer.storage_plan import looked_through, overwrites


def refusing_in(checks: Sequence[Check]) -> list[Node]:
    """Return what may have to be given up in the midst of a run."""
    return [check.node for check in checks if may_refuse(check)]


def come_first(graph: Graph, types: Types, placed: Mapping[int, int], refusing: Sequence[Node]) -> bool:
    """Return whether ``refusing`` have come before anything is written to the inputs that are given away; one that
    writes to a part of one looks at its index first."""
    given = [graph.inputs[k] for k in placed.values()]
    forms = {(t.dtype, types.shapes[t]) for t in given}
    for k, node in enumerate(graph.nodes):
        reached = (*node.outputs, *map(looked_through, node.inputs[: overwrites(node)]))  # of a part the array, too
        written = node.op is not PARAMETER and any((t.dtype, types.shapes.get(t)) in forms for t in reached)
        if written or node.subgraphs:
            return {*refusing} <= {*graph.nodes[: k + (writes_part(node) and bool(places_of(given, node.inputs[0])))]}
    return True
