"""What watched code does beside computing, see ``marks``."""

from __future__ import annotations

from ...ir.graph import Graph, Node
from .context import Context


def mark(ctx: Context, node: Node) -> None:
    """Let watched code say that it is at the line of ``node``."""
    if ctx.marks is not None:
        number = ctx.marks.number(node)
        if ctx.block.marked != number:
            ctx.writer.do(f"store volatile i64 {number}, ptr {ctx.constant(ctx.marks.words).pointer}")
            ctx.block.marked = number


def tally(ctx: Context, graph: Graph) -> None:
    """Let watched code count how often ``graph`` runs."""
    word = None if ctx.marks is None else ctx.marks.block(graph)
    if ctx.marks is not None and word is not None:
        place = ctx.writer.let(f"getelementptr i64, ptr {ctx.constant(ctx.marks.words).pointer}, i64 {word}")
        more = ctx.writer.let(f"add i64 {ctx.writer.let(f'load i64, ptr {place}')}, 1")
        ctx.writer.do(f"store i64 {more}, ptr {place}")
