"""The way from a function to its converted code: the order of the passes."""

from __future__ import annotations

import ast
import functools
import itertools
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import gast
from autoloop_runtime.base.dataclass import dataclass

from ..errors import SourceNotFoundError
from .compiled_trees import compile_function
from .control_flow import rewrite_function
from .environment import Environment
from .kept_conversions import Conversion, enclosed
from .mutated_parameters import mutated_parameters
from .nodes import Node, children, walk
from .source import FunctionSource, find_source
from .statements import Names
from .translation import to_ast
from .unsupported import refuse_unsupported

_GENERATED = ("loop_test", "loop_body", "item", "then", "orelse")


@dataclass(frozen=True)
class _ConvertedTree:
    """A converted function before it is compiled; it goes away when it has been compiled or printed."""

    source: FunctionSource
    tree: Node
    names: Names
    environment: Environment
    mutated: tuple[str, ...]
    named: tuple[str, ...]


def _convert_tree(function: types.FunctionType) -> _ConvertedTree:
    source = find_source(function.__code__)  # text -> tree, parsed once
    tree = _without_decorators(source.node)
    if source.class_name is not None:
        _spell_out(tree, source.class_name.lstrip("_"))
    nodes = list(walk(tree))
    names = _names_for(nodes, function)
    named = tuple(dict.fromkeys(node.id for node in nodes if isinstance(node, gast.Name)))
    environment = Environment(function.__globals__, enclosed(function, named), _inner_members(nodes))
    free = frozenset(function.__code__.co_freevars) - {"__class__"}
    mutated = mutated_parameters(nodes)
    # scopes -> jumps -> flow -> plan, each once per function, then loops, branches and expressions
    tree = rewrite_function(tree, names, environment, outer=free)
    return _ConvertedTree(source, tree, names, environment, mutated, named)


def convert_code(function: types.FunctionType) -> Conversion:
    """Convert one function: this is the whole way, in order."""
    with _shallow(function):
        made = _convert_tree(function)
        code = compile_function(made.tree, made.source, function.__code__, made.names.ops, made.names.functions)
    return Conversion(code, made.names.ops, made.environment, made.mutated, made.named)


def refuse(function: types.FunctionType) -> None:
    """Raise what tells that generators and asynchronous functions are not converted, at their line."""
    refuse_unsupported(find_source(function.__code__))


def convert_text(function: types.FunctionType) -> tuple[str, list[int]]:
    """Convert one function for reading; return its text, and for each line the user's line that it comes of, or 0."""
    from .printing import to_text

    with _shallow(function):
        refuse(function)
        made = _convert_tree(function)
        tree = to_ast(made.tree)
        if isinstance(tree, ast.Lambda):
            tree = ast.copy_location(ast.Expr(tree), tree)
        return to_text(tree, made.names.ops, made.source.comments)


@contextmanager
def _shallow(function: types.FunctionType) -> Iterator[None]:
    """Say of a function that it is nested too deep, for the passes or for Python's compiler: as plain Python it runs.

    Raises
    ------
    SourceNotFoundError
    """
    try:
        yield
    except (RecursionError, SyntaxError) as error:
        if _calls_around() > sys.getrecursionlimit() // 4:  # it is the calls that are nested: elsewhere it will do
            raise
        what = f"{function.__code__.co_qualname!r} is nested too deep to be converted: {error} [AL002]"
        raise SourceNotFoundError(what) from None


def _calls_around() -> int:
    frame, count = sys._getframe(), 0
    while (around := frame.f_back) is not None:
        frame, count = around, count + 1
    return count


def _inner_members(nodes: Sequence[Node]) -> frozenset[str]:
    """Return the names of the methods of the classes that a function defines."""
    classes = [node for node in nodes if isinstance(node, gast.ClassDef)]
    return frozenset(one.name for cls in classes for one in cls.body if isinstance(one, gast.FunctionDef))


def _spell_out(node: Node, class_name: str) -> None:
    """Write ``self.__v`` of a method as ``self._C__v``: operators are given names as texts, which stay."""
    if isinstance(node, gast.Attribute) and node.attr[:2] == "__" != node.attr[-2:] and class_name:
        node.attr = f"_{class_name}{node.attr}"
    for one in children(node):
        if not isinstance(one, gast.ClassDef):
            _spell_out(one, class_name)


def _without_decorators(node: Node) -> Node:
    if isinstance(node, gast.FunctionDef):
        node.decorator_list = []
    return node


def _names_for(nodes: Sequence[Node], function: types.FunctionType) -> Names:
    """Choose names for generated code that the user's code does not use anywhere."""
    taken = set(function.__code__.co_freevars)
    for node in nodes:
        for field in _naming_fields(node.__class__):
            value = getattr(node, field, None)
            if isinstance(value, str):
                taken.add(value)
        if isinstance(node, gast.Global | gast.Nonlocal):
            taken.update(node.names)

    def fresh(base: str) -> str:
        for suffix in itertools.chain([""], (f"_{number}" for number in itertools.count(1))):
            if base + suffix not in taken:
                taken.add(base + suffix)
                return base + suffix
        raise AssertionError("unreachable")

    return Names(fresh, fresh("ops"), *(fresh(name) for name in _GENERATED))


@functools.cache
def _naming_fields(cls: type[gast.AST]) -> tuple[str, ...]:
    """Return the fields of a class of nodes that may hold a name in its scope."""
    return tuple(field for field in ("id", "name", "asname", "rest") if field in cls._fields)
