"""What holds of a graph that a gradient was built into, beside what always does: more rows of ``ir.verify``'s table."""

from __future__ import annotations

from collections.abc import Iterator

from ..base import dtypes
from ..ir.graph import Graph
from ..ir.stages import Stage
from ..ir.structured import COND, WHILE
from ..ir.verify import Rule, add_rules
from .extension import Extension
from .rematerialize import PLACEHOLDER, BackwardGraph


def _undefined(graph: Graph) -> Iterator[object]:
    if not isinstance(graph, BackwardGraph) or graph.finished:
        yield from (node for node in graph.nodes if node.op is PLACEHOLDER)


def _known(graph: Graph) -> Extension | None:
    found: Extension | None = graph.records.get(Extension)
    return found


def _extended_otherwise(graph: Graph) -> Iterator[object]:
    for node in graph.nodes:
        known = _known(node.attrs["body"]) if node.op is WHILE else None
        if known is None:
            continue
        count, own = node.attrs["n_vars"], known.original
        positions = [k for k in (known.trips, known.stores) if k is not None] + [*known.saved.values(), *known.complete]
        if any(not 0 <= k < count for k in positions) or (own is not None and own > count):
            yield node
        elif known.trips is not None and node.outputs[known.trips].dtype.kind not in "iu":
            yield node, known.trips
        elif known.stores is not None and known.stores + (own or 0) > count:
            yield node, known.stores


def _saved_elsewhere(graph: Graph) -> Iterator[object]:
    for node in graph.nodes:
        if node.op is WHILE and (known := _known(node.attrs["body"])) is not None:
            stacks = [(t, node.attrs["body"], node.outputs[k]) for t, k in known.saved.items()]
            yield from (t for t, body, stack in stacks if t.graph is not body or stack.dtype != dtypes.variant)
        elif node.op is COND:
            for branch in node.subgraphs:
                known = _known(branch)
                results = [] if known is None else [(t, node.outputs[k]) for t, k in known.results.items()]
                yield from (t for t, result in results if t.graph is not branch or t.dtype != result.dtype)


_DIFFERENTIATED = (Stage.DIFFERENTIATED,)
#: what holds
EXTENSION_RULES: tuple[Rule, ...] = (
    Rule("what stands for a value of the forward pass is defined in the end", _undefined, _DIFFERENTIATED),
    Rule(
        "what was added to a loop is among its variables, behind its own", _extended_otherwise, _DIFFERENTIATED,
        structured=True,
    ),
    Rule("what a loop or branch saves is its own, and handed out", _saved_elsewhere, _DIFFERENTIATED, structured=True),
)  # fmt: skip
add_rules(EXTENSION_RULES)
