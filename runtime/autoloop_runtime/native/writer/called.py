"""Which operations machine code has NumPy's kernels do, and whether it pays to have them called from there.

Such a call takes one or two microseconds more than one from Python, every other operation on arrays about half a
microsecond less, and one on numbers a tenth: what does little else is better left to Python.
"""

from __future__ import annotations

from ...analysis.inside import nodes_inside
from ...analysis.observable import is_pure
from ...ir.graph import CONST, PARAMETER, Graph, Node
from ...ir.prices import Price
from ...ir.structured import WHILE
from ...ops.sorting import ARGSORT
from .registry import entry_of

#: what an operation on arrays, and one on numbers, gains, and a call loses; how often a loop inside runs, roughly
ARRAYS, NUMBERS, CALL, TRIPS = 4, 1, 24, 10


def is_called(node: Node) -> bool:
    """Return whether NumPy's kernel does the work of ``node``."""
    if node.subgraphs:
        return False
    if node.op is ARGSORT:  # where NumPy puts equal elements is known to NumPy alone
        return bool(node.attrs["kind"] != "stable")
    return entry_of(node.op) is None and (is_pure(node) or node.op.draws is not None)


def mostly_called(graph: Graph) -> str:
    """Return which kernel is called where there is little in ``graph`` beside such calls; empty if there is more."""
    lost, gained = _sums(graph)
    if lost <= gained:
        return ""
    node = next(n for n in nodes_inside(graph) if n.op is not CONST and n.op is not PARAMETER and is_called(n))
    where = f" at {node.location[-1]}" if node.location else ""
    return f"would call NumPy for {node.name!r} ({node.op.name}){where} as Python does, and do little else"


def _sums(graph: Graph) -> tuple[int, int]:
    """Return what machine code loses and gains in a run of ``graph``."""
    lost = gained = 0
    for node in graph.nodes:
        if node.op is CONST or node.op is PARAMETER:
            continue
        if node.subgraphs:
            times = TRIPS if node.op is WHILE else 1
            for inner in map(_sums, node.subgraphs):
                lost, gained = lost + times * inner[0], gained + times * inner[1]
        elif is_called(node):
            lost += CALL
        elif node.op.traits.price is not Price.VIEW:
            gained += NUMBERS if all(t.shape.rank == 0 for t in (*node.inputs, *node.outputs)) else ARRAYS
    return lost, gained
