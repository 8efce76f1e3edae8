"""The forms of a graph that there is machine code for."""

from __future__ import annotations

from ..analysis.inside import loops_inside
from ..base.forks import undivided
from ..ir.graph import Graph
from ..ops.indexing import SET_ITEM
from ..passes.carried_wholes import with_wholes_carried
from ..passes.whole_masks import with_whole_masks


def forms_of(graph: Graph) -> list[Graph]:
    """Return forms of ``graph``, the quickest first; nothing fails in the midst of the last but what fails in it."""
    if graph.heeds_errors:  # which are those of its operations as they stand
        return [graph]
    return [with_wholes_carried(form) for form in _in_blocks(with_whole_masks(graph))]


def _in_blocks(graph: Graph) -> list[Graph]:
    """Return ``graph`` with those loops block by block that are better done so; before it, if nothing in it fails."""
    if not any(node.op is SET_ITEM for loop in loops_inside(graph) for node in loop.attrs["body"].nodes):
        return [graph]
    with undivided():
        from .blocked_factors import with_factors
        from .blocked_loops import with_blocks
        from .blocked_nests import with_nests
    nested = with_factors(with_nests(blocked := with_blocks(graph)))
    return [blocked] if nested is blocked else [nested, blocked]
