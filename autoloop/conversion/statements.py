"""Simple statements: assignments to items, deletions, assertions, raising and returning."""

from __future__ import annotations

from collections.abc import Callable

import gast
from autoloop_runtime.base.dataclass import dataclass

from .decided_expressions import AUGMENTED, METHODS
from .expression_walk import Surroundings
from .expressions import ExpressionRewriter
from .item_targets import ItemTargets, has_no_effect, nested_targets
from .jumps import Jumps
from .liveness import Flow
from .nodes import Block, Maker, Node, copy_tree
from .plan import FunctionPlan
from .scopes import Scope, path_of

#: expressions whose values are no arrays, whatever is in them
_NO_ARRAYS = (
    gast.Tuple,
    gast.List,
    gast.ListComp,
    gast.Constant,
    gast.JoinedStr,
    gast.Yield,
    gast.YieldFrom,
    gast.Await,
)


@dataclass(frozen=True)
class Names:
    """The names that generated code uses, all of them unused by the user's code."""

    fresh: Callable[[str], str]
    ops: str
    loop_test: str
    loop_body: str
    item: str
    then: str
    orelse: str

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of generated functions."""
        return (self.loop_test, self.loop_body, self.then, self.orelse)


@dataclass(frozen=True)
class Facts:
    """All that is known about one function, beside its tree."""

    jumps: Jumps
    flow: Flow
    plan: FunctionPlan
    in_generator: bool = False


class SimpleStatements:
    """Rewrites the statements that hold no others; the methods are named after the node types."""

    def __init__(
        self,
        names: Names,
        expressions: ExpressionRewriter,
        around: Surroundings,
        scope: Scope,
        facts: Facts,
    ) -> None:
        self.names = names
        self.expressions = expressions
        self.items = ItemTargets(expressions, scope)
        self.around = around
        self.scope = scope
        self.facts = facts
        # What the `except` clauses around the present statement catch, one list per generated function.
        self.handlers: list[list[Node]] = [[]]

    def expr(self, node: Node) -> Node:
        """Rewrite one expression where it stands."""
        return self.expressions.rewrite(node, self.around)

    def expr_fields(self, node: Node) -> None:
        """Rewrite all expressions of a simple statement."""
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, gast.AST):
                setattr(node, name, self.expr(value))
            elif isinstance(value, list):
                setattr(node, name, [self.expr(one) if isinstance(one, gast.AST) else one for one in value])

    def _mark(self, make: Maker, name: str) -> Node:
        undefined = self.expressions.operator(make, "Undefined")
        return make.set_name(name, make.call(undefined, make.constant(name)))

    # -- simple statements --------------------------------------------------------------------------------

    def _asyncfunctiondef(self, node: Node) -> Block:
        return [node]

    _classdef = _asyncfunctiondef

    def _global(self, node: Node) -> Block:
        return [node] if not self.around.nested else []

    _nonlocal = _global

    def _assign(self, node: Node) -> Block:
        source, value = node.value, self.expr(node.value)
        unpacks = [_unpacks(target, source) for target in node.targets]
        if len(node.targets) == 1:
            value = self._value_for(node.targets[0], value, source)
        if not any(map(self._has_items, node.targets)) and (len(node.targets) == 1 or not any(unpacks)):
            node.targets = [self.expr(target) for target in node.targets]
            node.value = value
            return [node]
        if len(node.targets) == 1:
            return self._assign_to(node.targets[0], value)
        make = Maker(node)
        name = self.names.fresh("value")
        done = [make.set_name(name, value)]
        for target in node.targets:
            done += self._assign_to(target, self._value_for(target, make.load(name), source))
        return done

    def _value_for(self, target: Node, value: Node, source: Node) -> Node:
        """Return a converted value as one target takes it: unpacked, if it may be an array that the target unpacks."""
        nested = list(nested_targets(target))
        return self.unpacked(Maker(source), value, nested) if nested or _unpacks(target, source) else value

    def unpacked(self, make: Maker, value: Node, nested: list[tuple[int, ...]]) -> Node:
        """Return ``ops.unpack(value)``; ``nested`` holds the places of targets in targets."""
        places = make.tuple([make.tuple(map(make.constant, path)) for path in nested])
        return make.call(self.expressions.operator(make, "unpack"), value, *([places] if nested else []))

    def _has_items(self, target: Node) -> bool:
        """Return whether a target holds ``a[i]`` with ``a`` a variable of this function."""
        if isinstance(target, gast.Tuple | gast.List):
            return any(map(self._has_items, target.elts))
        if isinstance(target, gast.Starred):
            return self._has_items(target.value)
        if _is_item_of_attribute(target) or isinstance(target, gast.Attribute):
            return True
        if not isinstance(target, gast.Subscript):
            return False
        nested = isinstance(target.value, gast.Subscript)
        while isinstance(target, gast.Subscript):
            if nested and not has_no_effect(target.slice):
                return False  # Python evaluates an index after what stands before it is fetched
            target = target.value
        name = getattr(target, "id", None)
        return name in self.scope.order or name in self.scope.declared

    def _assign_to(self, target: Node, value: Node) -> Block:
        """Return statements that assign a converted value to any target."""
        if not self._has_items(target):
            return [Maker(target).assign(self.expr(target), value)]
        if _is_item_of_attribute(target):
            return [Maker(target).expression(self.items.set_item_of(target, value, self.around))]
        if isinstance(target, gast.Attribute):
            return [Maker(target).expression(self.items.set_attribute(target, value, self.around))]
        if isinstance(target, gast.Subscript):
            nested = isinstance(target.value, gast.Subscript)
            make_setter = self.items.set_items if nested else self.items.set_item
            return [make_setter(target, value, self.around)]
        # Unpack all, as Python does, then assign from left to right: what stands in the brackets of an item is read
        # before names behind it are bound, and these stay as they are if the item cannot be set.
        make = Maker(target)
        later: Block = []
        for index, one in enumerate(target.elts):
            inner = one.value if isinstance(one, gast.Starred) else one
            if later or self._has_items(inner):
                name = self.names.fresh("value")
                later += self._assign_to(inner, make.load(name))
                plain = make.store(name)
                if isinstance(one, gast.Starred):
                    one.value = plain
                else:
                    target.elts[index] = plain
        return [make.assign(self.expr(target), value), *later]

    def _augassign(self, node: Node) -> Block:
        if _is_item_of_attribute(node.target):
            return [Maker(node).expression(self.items.update_item_of(node, self.around))]
        if isinstance(node.target, gast.Attribute):
            return [Maker(node).expression(self.items.update_attribute(node, self.around))]
        if self._has_items(node.target):
            nested = isinstance(node.target.value, gast.Subscript)
            make_update = self.items.update_items if nested else self.items.update_item
            return [make_update(node, self.around)]
        sign = AUGMENTED[type(node.op)]
        name = METHODS[sign[:-1]]
        overloaded = self.expressions.environment.is_overloaded(f"__{name}__", f"__i{name}__", f"__r{name}__")
        if overloaded and path_of(node.target):
            make = Maker(node)
            old = copy_tree(node.target)
            old.ctx = gast.Load()
            call = make.call(self.expressions.operator(make, "update"), old, make.constant(sign), node.value)
            call.args = [self.expr(one) for one in call.args]
            return [make.assign(node.target, call)]
        read: Block = []
        if not isinstance(node.target, gast.Name):
            node.target = self.expr(node.target)
        elif node.target.id in self.around.checked:  # the name is read first, then what it meets
            make = Maker(node.target)
            read.append(make.expression(self.expr(make.load(node.target.id))))
        node.value = self.expr(node.value)
        return [*read, node]

    def _annassign(self, node: Node) -> Block:
        if node.value is not None:
            node.value = self.expr(node.value)
            if isinstance(node.target, gast.Attribute):  # the annotation is not evaluated in a function
                return self._assign_to(node.target, node.value)
        shared = isinstance(node.target, gast.Name) and self.around.nested
        if not shared:
            node.target = self.expr(node.target)
            return [node]
        # In a generated function the annotation would clash with `nonlocal`; it has no effect anyway.
        return [Maker(node).assign(node.target, node.value)] if node.value is not None else []

    def _delete(self, node: Node) -> Block:
        done: Block = []
        for target in node.targets:
            make = Maker(target)
            if isinstance(target, gast.Name) and target.id in self.facts.plan.marked:
                if target.id in self.around.checked:
                    done.append(make.expression(self.expr(make.load(target.id))))
                done.append(self._mark(make, target.id))
            elif isinstance(target, gast.Attribute):
                done.append(make.expression(self.items.delete_attribute(target, self.around)))
            else:
                done.append(make.place(gast.Delete([self.expr(target)])))
        return done

    def _assert(self, node: Node) -> Block:
        """Keep ``assert t, m`` an ``assert``; a staged test is replaced by True and checked at run time."""
        test = self.expr(node.test)
        if self.expressions.environment.is_static_test(node.test, self.around.local_names):
            node.test = test
            node.msg = node.msg and self.expr(node.msg)
            return [node]
        make = Maker(node.test)
        message = [] if node.msg is None else [make.lambda_(self.expr(copy_tree(node.msg)))]
        node.test = make.call(self.expressions.operator(make, "checked"), test, *message, **self._catchers(make))
        node.msg = node.msg and self.expr(node.msg)
        return [node]

    def _return(self, node: Node) -> Block:
        self.expr_fields(node)
        value = node.value
        if isinstance(value, gast.Name) and value.id in self.facts.jumps.flags:
            make = Maker(node)
            node.value = make.call(self.expressions.operator(make, "returned"), value)
        return [node]

    def _raise(self, node: Node) -> Block:
        if node.exc is None:
            return [node]
        self.expr_fields(node)
        if self.around.nested:
            make = Maker(node.exc)
            node.exc = make.call(self.expressions.operator(make, "raised"), node.exc, **self._catchers(make))
        return [node]

    def _catchers(self, make: Maker) -> dict[str, Node]:
        """Return keywords with what the ``except`` clauses around a ``raise`` or ``assert`` catch.

        Those in the same generated function catch it while the block is traced; those further out stand
        around the whole loop or branch.
        """
        found: dict[str, Node] = {}
        for name, handlers in (("caught", self.handlers[-1:]), ("caught_outside", self.handlers[:-1])):
            kinds = [kind for level in handlers for kind in level]
            loads = [make.load("BaseException") if kind is None else copy_tree(kind) for kind in kinds]
            if loads:
                found[name] = make.lambda_(make.tuple(loads))
        return found


def _unpacks(target: Node, source: Node) -> bool:
    """Return whether a target has parts, and what is assigned to it may be an array."""
    return isinstance(target, gast.Tuple | gast.List) and not isinstance(source, _NO_ARRAYS)


def _is_item_of_attribute(target: Node) -> bool:
    """Return whether a target is ``self.a[i]``: an item of an attribute."""
    return isinstance(target, gast.Subscript) and isinstance(target.value, gast.Attribute)
