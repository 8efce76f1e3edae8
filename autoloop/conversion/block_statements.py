"""Blocks, statement by statement; those of ``with``, ``try`` and ``match`` stand in a statement that stays as it is."""

from __future__ import annotations

import gast
from autoloop_runtime.base.dataclass import replace
from autoloop_runtime.base.forks import undivided

from .exits import block_fields
from .nodes import Block, Maker, Node, method_name
from .statements import SimpleStatements


class BlockStatements(SimpleStatements):
    """Rewrites blocks; methods named after the node types rewrite one statement to several."""

    def block(self, statements: Block) -> Block:
        """Rewrite the statements of one block."""
        done: Block = []
        for statement in statements:
            outside = self.around
            self.check_at(self.facts.flow.before[id(statement)])
            done += self._statement(statement)
            self.around = outside
        return done

    def _statement(self, node: Node) -> Block:
        method = getattr(self, method_name(node.__class__), None)
        if method is not None:
            done: Block = method(node)
            return done
        if list(block_fields(node)):
            return self._compound(node)
        if isinstance(node, gast.Import | gast.ImportFrom | gast.Pass | gast.Break | gast.Continue):
            return [node]
        self.expr_fields(node)
        return [node]

    def check_at(self, point: int) -> None:
        """Let reads from here on be checked that may find no value."""
        checked = self.facts.flow.unset_at(point, self.facts.plan.checked)
        if checked != self.around.checked:
            self.around = replace(self.around, checked=checked)

    def _compound(self, node: Node) -> Block:
        for item in getattr(node, "items", []):
            item.context_expr = self.expr(item.context_expr)
        if hasattr(node, "subject"):
            node.subject = self._subject(node)
        for case in getattr(node, "cases", []):
            if case.guard is not None:
                case.guard = self.expr(case.guard)
        around, kinds = self.around, self._caught(node)
        for owner, name, block in block_fields(node):
            outside = self.handlers[-1]
            if owner is node and name == "body":
                self.handlers[-1], self.around = [*outside, *kinds], replace(around, caught=(*around.caught, *kinds))
            done = self.block(block)
            self.handlers[-1], self.around = outside, around
            if isinstance(owner, gast.ExceptHandler):
                done = self._handler(owner, done)
            setattr(owner, name, done or ([Maker(node).pass_()] if block else []))
        return [node]

    def _subject(self, node: Node) -> Node:
        """Return the subject of a ``match``, checked where it is asked for a class that no tensor tells."""
        environment, names = self.expressions.environment, self.around.local_names
        with undivided():
            from .matching import class_patterns, depth_of_structure

        asked = [whole for cls, whole in class_patterns(node) if not environment.is_users_class(cls, names)]
        subject, depth = self.expr(node.subject), depth_of_structure(node)
        if not asked and not depth:
            return subject
        make = Maker(node.subject)
        asks = make.constant(not all(asked) if asked else None)
        options = {"depth": make.constant(depth)} if depth else {}
        return make.call(self.expressions.operator(make, "subject"), subject, asks, **options)

    def _caught(self, node: Node) -> Block:
        """Return what the handlers of a ``try``, or the arguments of ``suppress``, catch."""
        make = Maker(node)
        kinds = [handler.type for handler in getattr(node, "handlers", [])]
        found = [make.load("BaseException") if kind is None else kind for kind in kinds]
        for item in getattr(node, "items", []):
            manager = item.context_expr
            function = manager.func if isinstance(manager, gast.Call) else None
            if self.expressions.environment.is_suppress(function, self.around.local_names):
                found += manager.args
        return found

    def _handler(self, handler: Node, done: Block) -> Block:
        """Unbind the name of ``except E as e`` at the end, as Python does; a marked name gets its marker back."""
        if handler.name is None or handler.name.id not in self.facts.plan.marked:
            return done
        make = Maker(handler)
        name = handler.name.id
        handler.name = make.store(self.names.fresh("error"))
        return [make.set_name(name, make.load(handler.name.id)), *done, self._mark(make, name)]
