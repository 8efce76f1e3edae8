"""Nodes without graphs inside them as Python: expressions, assignments and writes in place."""

from __future__ import annotations

from ..analysis.sizes import is_large
from ..analysis.uses import END
from ..ir.graph import Node
from ..ir.prices import Price
from ..ops.indexing import SET_ITEM
from .scope import INLINE_LENGTH, LARGE_LENGTH, Scope
from .shared_output import Output
from .templates import closed, local


def write_plain(out: Output, node: Node, position: int, scope: Scope) -> None:
    """Write ``node``, or note its expression where its value is read."""
    if node in out.in_place:
        _write_in_place(out, node, scope)
        return
    if node in scope.uses.together:
        return  # computed where it is written to
    if node in out.decided.owned.reusing:
        expr = out.expressions.into(node, scope.env, out.reused(node.outputs[0]))
    else:
        expr = out.expressions.call(node, scope.env, scope.uses)
    outputs = node.results
    if node.op.effect:
        scope.env[node.outputs[-1]] = out.expressions.true()
    if node in scope.uses.inline and expr.length <= _most(node, scope):
        scope.env[outputs[0]] = expr
        return
    if node.declared and not node.op.several:
        expr = out.promise(node, 0, expr)
    targets = [out.target(node, t, position, scope) for t in outputs]
    if not any(targets):
        out.lines.add(expr, node=node)
    elif node.op.several:
        out.lines.unpack([t or "_" for t in targets], expr)
    else:
        out.lines.assign([t for t in targets if t], expr)
    if node.op.several:
        out.promise_all(node, targets)


def _most(node: Node, scope: Scope) -> int:
    """Return how long an expression may be that is written where its value is read."""
    if is_large(node.outputs[0]) and node.op.traits.price is Price.ARITHMETIC:
        return LARGE_LENGTH
    return scope.result_length if scope.uses.last_read.get(node.outputs[0]) == END else INLINE_LENGTH


def _write_in_place(out: Output, node: Node, scope: Scope) -> None:
    """Write ``x[i] = value`` or ``np.add(x, y, out=x)``: the variable of the array now holds the result."""
    array, output = node.inputs[out.in_place[node]], node.outputs[0]
    held = scope.env[array]
    assert held.name is not None
    if node in scope.uses.parts:
        _write_part(out, *scope.uses.parts[node], scope)
    elif node.op is SET_ITEM:
        out.lines.add(*out.expressions.set_item(node, scope.env), node=node)
    elif node.op.appends is not None:
        place, value = scope.env[node.inputs[1]], scope.env[node.inputs[2]]
        if node.op.appends.waits:
            out.lines.add("if ", *closed(place, 6), " == ", held, ".due:", node=node)
            out.lines.add(held, ".add(", place, ", ", value, ")", indent=1, node=node)
        else:
            out.lines.add(held, ".append(", value, ")", node=node)
    elif node.op.taking is not None:
        out.lines.add(out.expressions.update(node, scope.env), node=node)
    else:
        out.lines.add(out.expressions.into(node, scope.env, held), node=node)
    scope.env[output] = held
    if held.name in scope.owner:
        scope.owner[held.name] = output


def _write_part(out: Output, node: Node, k: int, scope: Scope) -> None:
    """Write ``a[1:] += b``: ``node`` computes what its input ``k``, a view of an array, holds next."""
    part = node.inputs[k]
    held = scope.env[part]
    name = held.name
    if name is None:
        name = out.names.new_local("part")
        out.lines.assign([name], held)
    out.lines.add(out.expressions.into(node, {**scope.env, part: local(name)}, local(name)), node=node)
    if name != held.name:
        out.lines.add(f"del {name}")  # others may count who holds the array
        out.names.release({name})
