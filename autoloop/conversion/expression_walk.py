"""What all rewriting of expressions stands on: where an expression is, and the walk down to its parts."""

from __future__ import annotations

from collections.abc import Callable

import gast
from autoloop_runtime.base.dataclass import dataclass, replace

from .environment import Environment
from .nodes import Maker, Node, branching_fields, copy_tree, method_name

# What becomes small functions, or operators over values that a run decides.
_DECIDED = (gast.BoolOp, gast.UnaryOp, gast.IfExp, gast.Compare, gast.JoinedStr, gast.Subscript, gast.BinOp)


@dataclass(frozen=True)
class Surroundings:
    """Where an expression stands.

    Attributes
    ----------
    local_names : frozenset of str
        Names that are not global here.
    own_names : tuple of str
        The variables of the user's function, as ``locals()`` would list them.
    checked : frozenset of str
        Names that may hold a marker for "no value" here.
    self_name : str or None
        The first parameter of the function, for ``super()``.
    nested : bool
        Whether the code has moved into a function of its own, so that ``super()`` must be spelled out.
    caught : tuple of node
        What the ``except`` clauses and the managers around it catch, or may catch.
    in_frame : bool
        Whether it is part of a comprehension that sets names by ``:=``, which must stay in that frame: logic stays
        Python, and only calls are rewritten.
    containers : frozenset of str
        Variables that hold lists, tuples or dicts.
    """

    local_names: frozenset[str]
    own_names: tuple[str, ...]
    checked: frozenset[str] = frozenset()
    self_name: str | None = None
    nested: bool = False
    caught: tuple[Node, ...] = ()
    in_frame: bool = False
    containers: frozenset[str] = frozenset()


class ExpressionWalk:
    """Walks through expressions and rewrites them in place; methods named after the node types say how.

    Parameters
    ----------
    ops : str
        The name under which converted code knows the operators.
    environment : Environment
        What global names mean.
    fresh : callable
        Gives an unused name like the one it is given.
    """

    def __init__(self, ops: str, environment: Environment, fresh: Callable[[str], str]) -> None:
        self.ops = ops
        self.environment = environment
        self.fresh = fresh

    def operator(self, make: Maker, name: str) -> Node:
        """Return the expression ``ops.name``."""
        return make.attribute(make.load(self.ops), name)

    def rewrite(self, node: Node, around: Surroundings) -> Node:
        """Return the converted form of an expression."""
        if around.in_frame and isinstance(node, _DECIDED):
            return self.parts(node, around)
        method = getattr(self, method_name(node.__class__), None)
        return self.parts(node, around) if method is None else method(node, around)

    def parts(self, node: Node, around: Surroundings) -> Node:
        """Rewrite what an expression consists of; itself it stays."""
        for name in branching_fields(node.__class__):
            value = getattr(node, name, None)
            if isinstance(value, gast.AST):
                setattr(node, name, self.rewrite(value, around))
            elif isinstance(value, list):
                setattr(node, name, [self.rewrite(v, around) if isinstance(v, gast.AST) else v for v in value])
        return node

    def later(self, node: Node, around: Surroundings) -> Node:
        """Return ``lambda: x`` for an expression ``x`` that is evaluated when it is asked for, or never."""
        return Maker(node).lambda_(self.rewrite(node, replace(around, nested=True)))

    def _name(self, node: Node, around: Surroundings) -> Node:
        if isinstance(node.ctx, gast.Load) and node.id in around.checked:
            make = Maker(node)
            caught = [make.lambda_(make.tuple(map(copy_tree, around.caught)))] if around.caught else []
            return make.call(self.operator(make, "defined"), node, *caught)
        return node
