"""Python's own trees to gast's and back.

Most nodes are the same in both but for their class and are copied field by field, positions included. The others
are parameters and the variables of ``except`` clauses: names to gast, something else to Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeGuard

import gast

from .nodes import Node, position_of

# What gast's nodes have in every version of Python, though Python's own may not.
_MISSING: dict[str, Callable[[], Any]] = {
    "annotation": type(None), "type_comment": type(None), "default_value": type(None), "type_params": list,
}  # fmt: skip

_HOLDERS = (ast.AST, list)
_MARKS = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)


def _is_node_class(found: object) -> TypeGuard[type[ast.AST]]:
    return isinstance(found, type) and issubclass(found, ast.AST)


class _Translator:
    """One direction; ``special`` holds the methods for nodes that differ, by class."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.special: dict[type, Callable[[Any], Any]] = {}
        #: what is known by now of the classes that were met
        self.classes: dict[type, tuple[type[ast.AST], tuple[str, ...]] | None] = {}
        # Operators and the marks for load and store hold nothing: one of each will do.
        self.marks: dict[type, Any] = {}

    def __call__(self, node: Any) -> Any:
        """Return the translation of a node or of a list; anything else as it is."""
        cls = type(node)
        if cls in self.marks:
            return self.marks[cls]
        if cls is list:
            return [self(one) for one in node]
        if cls in self.special:
            return self.special[cls](node)
        if cls not in self.classes:
            self.classes[cls] = self._counterpart(cls)
            return self(node)
        found = self.classes[cls]
        if found is None:
            return node
        target, missing = found
        new = ast.AST.__new__(target)
        fields = new.__dict__
        for name, value in node.__dict__.items():
            fields[name] = self(value) if isinstance(value, _HOLDERS) else value
        for name in missing:
            fields[name] = _MISSING[name]()
        return new

    def _counterpart(self, cls: type) -> tuple[type[ast.AST], tuple[str, ...]] | None:
        """Return the class that a node becomes, and its fields that the node has not; None of what is no node."""
        other = getattr(self.target, cls.__name__, None)
        if not (_is_node_class(cls) and _is_node_class(other)):
            return None
        if issubclass(cls, _MARKS):
            self.marks[cls] = other()
        return other, tuple([field for field in other._fields if field not in cls._fields and field in _MISSING])


def _parameter_to_gast(node: ast.arg) -> Node:
    name = gast.Name(node.arg, gast.Param(), to_gast(node.annotation), node.type_comment)
    name.__dict__.update(position_of(node))
    return name


def _parameter_to_ast(node: Node) -> Any:
    return node and ast.arg(node.id, to_ast(node.annotation), node.type_comment, **position_of(node))


def _parameters_to_ast(node: Node) -> ast.arguments:
    positional, ordinary, named = (
        [_parameter_to_ast(one) for one in names] for names in (node.posonlyargs, node.args, node.kwonlyargs)
    )
    rest, keywords = _parameter_to_ast(node.vararg), _parameter_to_ast(node.kwarg)
    return ast.arguments(positional, ordinary, rest, named, to_ast(node.kw_defaults), keywords, to_ast(node.defaults))


def _handler_to_gast(node: ast.ExceptHandler) -> Node:
    name = node.name and gast.Name(node.name, gast.Store(), None, None)
    handler = gast.ExceptHandler(to_gast(node.type), name, to_gast(node.body))
    handler.__dict__.update(position_of(node))
    return handler


def _handler_to_ast(node: Node) -> ast.ExceptHandler:
    name = node.name and node.name.id
    return ast.ExceptHandler(to_ast(node.type), name, to_ast(node.body), **position_of(node))


to_gast = _Translator(gast)
to_gast.special |= {ast.arg: _parameter_to_gast, ast.ExceptHandler: _handler_to_gast}
to_ast = _Translator(ast)
to_ast.special |= {gast.arguments: _parameters_to_ast, gast.ExceptHandler: _handler_to_ast}
