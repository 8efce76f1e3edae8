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

_MARKS = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
#: fields that hold no nodes, whatever the node
_TEXTS = frozenset(("attr", "conversion", "id", "is_async", "kind", "level", "module", "simple", "type_comment"))
#: what another field may hold that has nothing in it to translate
_PLAIN = frozenset((str, int, type(None), float, complex, bytes, bool, type(...)))
Way = Callable[[Any], Any]


def _is_node_class(found: object) -> TypeGuard[type[ast.AST]]:
    return isinstance(found, type) and issubclass(found, ast.AST)


class _Translator:
    """One direction; ``ways`` holds how a node is translated, by class: some for nodes that differ, others are made
    when a class is met."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.ways: dict[type, Way] = {list: self._list}

    def __call__(self, node: Any) -> Any:
        """Return the translation of a node or of a list; anything else as it is."""
        cls = type(node)
        return (self.ways.get(cls) or self._way(cls))(node)

    def _list(self, nodes: list[Any]) -> list[Any]:
        ways, way = self.ways, self._way
        return [(ways.get(cls) or way(cls))(one) for one in nodes for cls in (type(one),)]

    def _way(self, cls: type) -> Way:
        """Return how objects of a class are translated, from now on."""
        other = getattr(self.target, cls.__name__, None)
        if not (_is_node_class(cls) and _is_node_class(other)):
            made: Way = _itself
        elif issubclass(cls, _MARKS):  # operators and the marks for load and store hold nothing: one of each will do
            mark = other()
            made = lambda node: mark  # noqa: E731
        else:
            missing = [one for one in other._fields if one not in cls._fields and one in _MISSING]
            made = self._fields(other, [one for one in cls._fields if one not in _TEXTS], missing)
        return self.ways.setdefault(cls, made)

    def _fields(self, target: type[ast.AST], walked: list[str], missing: list[str]) -> Way:
        """Return what makes a node of the class ``target`` of one with the same fields, but for those it has not;
        nodes are in those that are ``walked``."""
        ways, way = self.ways, self._way

        def translated(node: Any) -> Any:
            new = ast.AST.__new__(target)
            fields = new.__dict__
            fields.update(node.__dict__)
            for name in walked:
                value = fields.get(name)
                cls = type(value)
                if cls not in _PLAIN:
                    fields[name] = (ways.get(cls) or way(cls))(value)
            for name in missing:
                fields[name] = _MISSING[name]()
            return new

        return translated


def _itself(value: Any) -> Any:
    return value


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
to_gast.ways |= {ast.arg: _parameter_to_gast, ast.ExceptHandler: _handler_to_gast}
to_ast = _Translator(ast)
to_ast.ways |= {gast.arguments: _parameters_to_ast, gast.ExceptHandler: _handler_to_ast}
