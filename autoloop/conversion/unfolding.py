"""Expressions that set a name in a part which may be left out become statements.

``if x > 1 and (y := f(x)) > 3:`` is ::

    value = x > 1
    if value:
        value = (y := f(x)) > 3
    if value:

Operands of ``and``, ``or`` and conditional expressions otherwise become small functions, and ``:=`` in them would set a
name of theirs. So does the value of ``a[i] += v``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from .nodes import Block, Maker, Node, as_index, children, walk
from .scopes import COMPREHENSIONS

# Where a statement may hold such an expression, evaluated before anything else that the statement does.
_PLACES = {
    gast.If: "test",
    gast.Assert: "test",
    gast.Assign: "value",
    gast.AnnAssign: "value",
    gast.Return: "value",
    gast.Expr: "value",
    gast.For: "iter",
}
_TRUTHS = (gast.If, gast.Assert)


class _NotUnfolded(Exception):
    """An expression stands where other parts would have to be evaluated before it."""


def binds_in(expression: Node) -> bool:
    """Return whether an expression binds a name of the function around it (nested functions bind their own)."""
    if isinstance(expression, gast.NamedExpr):
        return True
    return not isinstance(expression, gast.Lambda) and any(map(binds_in, children(expression)))


def may_leave_out(node: Node) -> bool:
    """Return whether an ``and``, ``or``, comparison or conditional expression may leave out a part that sets a name."""
    if isinstance(node, gast.BoolOp):
        return any(map(binds_in, node.values[1:]))
    if isinstance(node, gast.IfExp):
        return binds_in(node.body) or binds_in(node.orelse)
    return isinstance(node, gast.Compare) and any(map(binds_in, node.comparators[1:]))


def unfolded(statement: Node, new_name: Callable[[str], str]) -> Block:
    """Return the statements that a statement becomes; itself if there is nothing to unfold, or no way to.

    Parameters
    ----------
    statement : node
        The statement.
    new_name : callable
        Gives a name of ours for a variable.
    """
    if (
        isinstance(statement, gast.AugAssign)
        and not isinstance(statement.target, gast.Name)
        and binds_in(statement.value)
    ):
        return _evaluated_before(statement, new_name)
    field = _PLACES.get(type(statement))
    expression = None if field is None else getattr(statement, field)
    if field is None or expression is None or not _leaves_out(expression):
        return [statement]
    try:
        before, after = _Unfolding(new_name).expression(expression, isinstance(statement, _TRUTHS))
    except _NotUnfolded:
        return [statement]
    setattr(statement, field, after)
    return [*before, statement]


def _evaluated_before(statement: Node, new_name: Callable[[str], str]) -> Block:
    """Return ``a[i] += (k := v)`` with statements before it for what stands in brackets, and for the value.

    That is a small function otherwise, too.
    """
    done: Block = []
    target = statement.target
    while isinstance(target, gast.Subscript):
        if not isinstance(target.slice, gast.Constant):
            make, name = Maker(target), new_name("index")
            done.insert(0, make.set_name(name, as_index(target.slice)))
            target.slice = make.load(name)
        target = target.value
    make, name = Maker(statement), new_name("value")
    given = make.set_name(name, statement.value)
    statement.value = make.load(name)
    return [*done, *unfolded(given, new_name), statement]


def _leaves_out(expression: Node) -> bool:
    if isinstance(expression, (gast.Lambda, *COMPREHENSIONS)):
        return False
    return may_leave_out(expression) or any(map(_leaves_out, children(expression)))


class _Unfolding:
    """The methods, named after the node types, give statements and what is then left of an expression."""

    def __init__(self, new_name: Callable[[str], str]) -> None:
        self.new_name = new_name

    def expression(self, node: Node, truth: bool = False) -> tuple[Block, Node]:
        """Unfold an expression, of which maybe only the truth counts."""
        if not _leaves_out(node):
            return [], node
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise _NotUnfolded
        before, after = method(node, truth) if isinstance(node, gast.BoolOp | gast.IfExp) else method(node)
        return before, after

    def _set(self, name: str, node: Node, truth: bool) -> Block:
        before, after = self.expression(node, truth)
        make = Maker(node)
        if truth and not isinstance(after, gast.Compare | gast.UnaryOp):
            after = make.not_(make.not_(after))
        return [*before, make.set_name(name, after)]

    def _boolop(self, node: Node, truth: bool) -> tuple[Block, Node]:
        name = self.new_name("value")
        first, *later = node.values
        done = block = self._set(name, first, truth)
        for value in later:
            make = Maker(value)
            test = make.load(name) if isinstance(node.op, gast.And) else make.not_(make.load(name))
            inner = self._set(name, value, truth)
            block.append(make.if_(test, inner, []))
            block = inner
        return done, Maker(node).load(name)

    def _ifexp(self, node: Node, truth: bool) -> tuple[Block, Node]:
        name = self.new_name("value")
        before, test = self.expression(node.test, True)
        branch = Maker(node).if_(test, self._set(name, node.body, truth), self._set(name, node.orelse, truth))
        return [*before, branch], Maker(node).load(name)

    def _compare(self, node: Node) -> tuple[Block, Node]:
        if not any(map(binds_in, node.comparators[1:])):
            before, (node.left, *node.comparators) = self._parts([node.left, *node.comparators])
            return before, node
        name, *operands = (self.new_name("value") for _ in range(len(node.ops) + 2))
        done = block = [*self._set(operands[0], node.left, False)]
        for index, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            make = Maker(right)
            compared = make.place(gast.Compare(make.load(operands[index]), [op], [make.load(operands[index + 1])]))
            inner = [*self._set(operands[index + 1], right, False), make.set_name(name, compared)]
            if index:
                block.append(make.if_(make.load(name), inner, []))
            else:
                block += inner
                inner = block
            block = inner
        return done, Maker(node).load(name)

    def _parts(self, parts: Sequence[Node]) -> tuple[Block, list[Node]]:
        """Unfold what is evaluated from left to right: what stands before the last part to unfold is kept by name."""
        last = max(index for index, part in enumerate(parts) if _leaves_out(part))
        done: Block = []
        left: list[Node] = []
        for index, part in enumerate(parts):
            if isinstance(part, gast.Starred):
                raise _NotUnfolded
            before, after = self.expression(part)
            done += before
            if index < last and not isinstance(after, gast.Constant):
                name = self.new_name("value")
                done.append(Maker(part).set_name(name, after))
                after = Maker(part).load(name)
            left.append(after)
        return done, left

    def _namedexpr(self, node: Node) -> tuple[Block, Node]:
        before, node.value = self.expression(node.value)
        return before, node

    def _unaryop(self, node: Node) -> tuple[Block, Node]:
        before, node.operand = self.expression(node.operand, isinstance(node.op, gast.Not))
        return before, node

    def _binop(self, node: Node) -> tuple[Block, Node]:
        before, (node.left, node.right) = self._parts([node.left, node.right])
        return before, node

    def _tuple(self, node: Node) -> tuple[Block, Node]:
        before, node.elts = self._parts(node.elts)
        return before, node

    _list = _tuple

    def _call(self, node: Node) -> tuple[Block, Node]:
        names = _chain(node.func)
        if not names or names & _bound_in(node) or any(keyword.arg is None for keyword in node.keywords):
            raise _NotUnfolded
        before, parts = self._parts([*node.args, *(keyword.value for keyword in node.keywords)])
        count = len(node.args)
        node.args = parts[:count]
        for keyword, value in zip(node.keywords, parts[count:], strict=True):
            keyword.value = value
        return before, node


def _chain(function: Node) -> set[str]:
    """Return the name at the root of ``f`` or ``a.b.f``; nothing if another expression stands there."""
    while isinstance(function, gast.Attribute):
        function = function.value
    return {function.id} if isinstance(function, gast.Name) else set()


def _bound_in(expression: Node) -> set[str]:
    return {node.target.id for node in walk(expression) if isinstance(node, gast.NamedExpr)}
