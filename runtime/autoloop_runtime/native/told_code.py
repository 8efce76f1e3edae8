"""What ``logging`` is told of machine code, where a program listens."""

from __future__ import annotations

from types import ModuleType

from ..analysis.inside import count_nodes, first_line, loops_inside
from ..base import background
from ..ir.graph import Graph


def tell_made(logs: ModuleType, graph: Graph, was_kept: bool, seconds: float) -> None:
    """Tell ``logging`` of machine code that was made, or found on disk."""
    loop, line = next(iter(loops_inside(graph)), None), first_line(graph)
    whose = "in the background" if background.is_here() else "as asked for"

    def said() -> str:
        of = f"of {count_nodes(graph)} operations" if loop is None else f"of the loop {loop.name!r}"
        at = "" if line is None else f" at {line.short}"
        how = "taken from the cache on disk" if was_kept else "compiled"
        return f"machine code {of}{at} {how} in {1e3 * seconds:.3g} ms, {whose}"

    (logs.detail if was_kept else logs.news)("native", said, line)
