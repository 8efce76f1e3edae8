"""Assignments to items: ``a[i] = v`` and its kin become operators that give the changed array.

And to attributes that a method of the user's sets: ``o.v = x`` calls the setter of a property.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from .decided_expressions import AUGMENTED
from .expression_walk import ExpressionWalk, Surroundings
from .nodes import SIMPLE, Maker, Node, as_index, children, walk
from .scopes import Scope
from .unfolding import binds_in


class ItemTargets:
    """Writes the operators that set and update items; ``expressions`` rewrites what stands in the brackets.

    Python evaluates the value first, then the array, then the index. Keywords of a call keep that order; where nobody
    can tell it from another one, they are left out.
    """

    def __init__(self, expressions: ExpressionWalk, scope: Scope) -> None:
        self.expressions = expressions
        self.scope = scope

    def _may_come_last(self, value: Node, *before: Node) -> bool:
        """Return whether a converted value may be evaluated after parts of the target."""
        if isinstance(value, SIMPLE):  # which a part may bind anew
            return isinstance(value, gast.Constant) or not any(map(_acts, before))
        if not all(map(has_no_effect, before)) or binds_in(value):
            return False
        names = [node.id for part in before for node in walk(part) if isinstance(node, gast.Name)]
        return all(name in self.scope.order and name not in self.scope.rebound for name in names)

    def set_item(self, target: Node, value: Node, around: Surroundings) -> Node:
        """Return ``a = ops.set_item(a, i, v)`` for ``a[i] = v``; ``value`` is already converted."""
        make = Maker(target)
        array = self.expressions.rewrite(make.load(target.value.id), around)
        index = self.expressions.rewrite(as_index(target.slice), around)
        if self._may_come_last(value, target.value, target.slice):
            call = make.call(self.expressions.operator(make, "set_item"), array, index, value)
        else:
            call = make.call(self.expressions.operator(make, "set_item"), value=value, array=array, index=index)
        return make.set_name(target.value.id, call)

    def set_items(self, target: Node, value: Node, around: Surroundings) -> Node:
        """Return ``a = ops.set_items(a, (i, j), v)`` for ``a[i][j] = v``; ``value`` is already converted."""
        make = Maker(target)
        name, path = self._path_of_items(make, target, around)
        call = make.call(self.expressions.operator(make, "set_items"), value=value, array=make.load(name), path=path)
        if isinstance(value, SIMPLE):
            call = make.call(self.expressions.operator(make, "set_items"), make.load(name), path, value)
        return make.set_name(name, call)

    def update_items(self, node: Node, around: Surroundings) -> Node:
        """Return ``a = ops.update_items(a, (i, j), '+=', lambda: v)`` for ``a[i][j] += v``."""
        make = Maker(node)
        name, path = self._path_of_items(make, node.target, around)
        value = self.expressions.later(node.value, around)
        given = make.load(name), path, make.constant(AUGMENTED[type(node.op)]), value, *self._now(make, name, around)
        return make.set_name(name, make.call(self.expressions.operator(make, "update_items"), *given))

    def _now(self, make: Maker, name: str, around: Surroundings) -> list[Node]:
        """Return what asks what a name is bound to, if a function inside this one may bind it while a value is made."""
        return [self.expressions.later(make.load(name), around)] if name in self.scope.rebound else []

    def _path_of_items(self, make: Maker, target: Node, around: Surroundings) -> tuple[str, Node]:
        indices: list[Node] = []
        while isinstance(target, gast.Subscript):
            indices.insert(0, self.expressions.rewrite(as_index(target.slice), around))
            target = target.value
        return str(target.id), make.tuple(indices)

    def set_item_of(self, target: Node, value: Node, around: Surroundings) -> Node:
        """Return ``ops.set_item_of(self, 'a', i, v)`` for ``self.a[i] = v``; ``value`` is already converted."""
        make = Maker(target)
        owner = self.expressions.rewrite(target.value.value, around)
        name = make.constant(target.value.attr)
        index = self.expressions.rewrite(as_index(target.slice), around)
        function = self.expressions.operator(make, "set_item_of")
        if self._may_come_last(value, target.value.value, target.slice):
            return make.call(function, owner, name, index, value)
        return make.call(function, value=value, owner=owner, name=name, index=index)

    def update_item_of(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.update_item_of(self, 'a', i, '+=', lambda: v)`` for ``self.a[i] += v``."""
        make = Maker(node)
        target = node.target.value
        owner = self.expressions.rewrite(target.value, around)
        index = self.expressions.rewrite(as_index(node.target.slice), around)
        value = self.expressions.later(node.value, around)
        sign = make.constant(AUGMENTED[type(node.op)])
        return make.call(
            self.expressions.operator(make, "update_item_of"), owner, make.constant(target.attr), index, sign, value
        )

    def set_attribute(self, target: Node, value: Node, around: Surroundings) -> Node:
        """Return ``ops.set_attribute(o, 'v', x)`` for ``o.v = x``; ``value`` is already converted."""
        make = Maker(target)
        owner, name = self.expressions.rewrite(target.value, around), make.constant(target.attr)
        function = self.expressions.operator(make, "set_attribute")
        if isinstance(value, SIMPLE) and self._may_come_last(value, target.value):
            return make.call(function, owner, name, value)
        return make.call(function, value=value, owner=owner, name=name)

    def update_attribute(self, node: Node, around: Surroundings) -> Node:
        """Return ``ops.update_attribute(o, 'v', '+=', lambda: x)`` for ``o.v += x``."""
        make, target = Maker(node), node.target
        owner, name = self.expressions.rewrite(target.value, around), make.constant(target.attr)
        value, sign = self.expressions.later(node.value, around), make.constant(AUGMENTED[type(node.op)])
        return make.call(self.expressions.operator(make, "update_attribute"), owner, name, sign, value)

    def delete_attribute(self, target: Node, around: Surroundings) -> Node:
        """Return ``ops.delete_attribute(o, 'v')`` for ``del o.v``."""
        make = Maker(target)
        owner, name = self.expressions.rewrite(target.value, around), make.constant(target.attr)
        return make.call(self.expressions.operator(make, "delete_attribute"), owner, name)

    def update_item(self, node: Node, around: Surroundings) -> Node:
        """Return ``a = ops.update_item(a, i, '+=', lambda: v)`` for ``a[i] += v``."""
        make = Maker(node)
        array = self.expressions.rewrite(make.load(node.target.value.id), around)
        index = self.expressions.rewrite(as_index(node.target.slice), around)
        # The item is fetched before the value is evaluated.
        value = self.expressions.later(node.value, around)
        name, sign = node.target.value.id, make.constant(AUGMENTED[type(node.op)])
        function, now = self.expressions.operator(make, "update_item"), self._now(make, name, around)
        return make.set_name(name, make.call(function, array, index, sign, value, *now))


def _acts(node: Node) -> bool:
    """Return whether evaluating a part of a target may bind a name anew."""
    return any(isinstance(one, gast.Call | gast.NamedExpr | gast.Await | gast.Yield) for one in walk(node))


def has_no_effect(node: Node) -> bool:
    """Return whether evaluating an index has no effect of its own, so that its place in the order does not matter."""
    if isinstance(node, SIMPLE):
        return True
    if isinstance(node, gast.Tuple | gast.Slice | gast.UnaryOp | gast.BinOp):
        return all(has_no_effect(one) for one in children(node) if isinstance(one, gast.expr))
    return False


def nested_targets(target: Node) -> Iterator[tuple[int, ...]]:
    """Yield the place of each tuple of targets inside a tuple of targets, outer ones first."""
    elements = getattr(target, "elts", ())
    stars = [index for index, one in enumerate(elements) if isinstance(one, gast.Starred)]
    for index, one in enumerate(elements):
        if isinstance(one, gast.Tuple | gast.List):
            place = index - len(elements) if stars and index > stars[0] else index
            yield (place,)
            yield from ((place, *path) for path in nested_targets(one))
