"""A ``Cond`` as Python: an ``if`` statement, or a conditional expression where both sides are short."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.uses import places
from ..ir.graph import CONST, PARAMETER, Graph, Node
from . import names
from .lines import Lines
from .scope import INLINE_LENGTH, Scope
from .shared_output import Output
from .templates import Expr, closed, negated


def write_branch(out: Output, node: Node, position: int, scope: Scope) -> None:
    """Write the branch ``node``, at ``position`` in the graph of ``scope``."""
    what = f"the condition of {node.name!r}"
    predicate = out.predicate(node.inputs[0], scope.env[node.inputs[0]], node, what)
    captured = [scope.env[t] for t in node.inputs[1:]]
    targets = _targets(out, node, position, scope)
    outside, blocks, values, made = out.lines, [], [], set()
    for graph in (node.attrs["then"], node.attrs["else"]):
        out.lines = Lines(outside.depth + 1, outside.loops, outside.loop_depth)
        found, mine = _side(out, node, graph, captured, targets, position, scope)
        blocks.append(out.lines)
        values.append(found)
        made |= mine
    out.lines = outside
    _statement(out, node, predicate, blocks, values, targets)
    out.names.release(made)
    for j, tensor in enumerate(node.outputs):
        if j in targets:
            scope.bind(tensor, targets[j])
        elif tensor in out.decided.tokens:
            scope.env[tensor] = out.expressions.true()


def _statement(
    out: Output, node: Node, predicate: Expr, blocks: Sequence[Lines], values: Sequence[Sequence[Expr]],
    targets: dict[int, str],
) -> None:  # fmt: skip
    order = list(targets)
    if len(order) == 1 and not blocks[0].lines and not blocks[1].lines:
        then, other = (v[order[0]] for v in values)
        own = targets[order[0]]
        if predicate.length + then.length + other.length <= INLINE_LENGTH and own not in (then.name, other.name):
            parts = (*closed(then, 2), " if ", *closed(predicate, 2), " else ", *closed(other, 1))
            out.lines.assign([own], Expr(parts, 1, node, predicate.reads | then.reads | other.reads))
            return
    for block, found in zip(blocks, values):
        block.assign_all(list(targets.values()), [found[j] for j in order])
    out.lines.branch(predicate, negated(predicate), blocks[0].lines, blocks[1].lines)


def _targets(out: Output, node: Node, position: int, scope: Scope) -> dict[int, str]:
    """Return the variable of each output: the wanted one, that of a dead value that a branch passes on,
    or a new one."""
    then, other = node.attrs["then"], node.attrs["else"]
    outer = [dict(zip(g.inputs, node.inputs[1:])) for g in (then, other)]
    targets: dict[int, str] = {}
    for j, tensor in enumerate(node.outputs):
        if tensor in out.decided.tokens or tensor not in scope.uses.last_read:
            continue
        passed = [o[g.outputs[j]] for o, g in zip(outer, (then, other)) if g.outputs[j] in o]
        candidates = [scope.wanted.get(tensor), *[scope.env[t].name for t in passed]]
        for name in candidates:
            if name and name not in targets.values() and scope.may_overwrite(name, node, position):
                targets[j] = name
                break
        else:
            sources = [g.outputs[j].op for g in (then, other) if g.outputs[j].op.op not in (PARAMETER, CONST)]
            hint = names.of_node((sources or [node])[0].name)
            targets[j] = out.variable(scope, hint)
    return targets


def _side(
    out: Output, node: Node, graph: Graph, captured: Sequence[Expr], targets: dict[int, str], position: int,
    scope: Scope,
) -> tuple[list[Expr], set[str]]:  # fmt: skip
    """Write one side; gives its values and the variables it made."""
    inner = Scope(out.uses(graph), dict(zip(graph.inputs, captured)))
    for param, outer, expr in zip(graph.inputs, node.inputs[1:], captured):
        name = expr.name
        if name is not None and scope.owner.get(name) is outer and scope.may_overwrite(name, node, position):
            inner.owner[name] = param
    for j, name in targets.items():
        if len(places(graph.outputs, graph.outputs[j])) == 1:
            inner.wanted[graph.outputs[j]] = name
        if all(expr.name != name for expr in captured):
            inner.fresh.add(name)
    out.write_nodes(graph, inner)
    return [inner.env[t] for t in graph.outputs], inner.mine
