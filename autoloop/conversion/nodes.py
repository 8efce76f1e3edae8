"""Small constructors for tree nodes, each placed at a line of the user's file.

Every node made during conversion needs a position: the compiled code is what debuggers, coverage tools and
tracebacks see. A :class:`Maker` is opened for one statement or expression of the user and stamps that
position on everything it makes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import gast

# gast has no type information; nodes are told apart by their classes at run time.
Node = Any
Block = list[Node]

#: what may be written twice: a name or a constant
SIMPLE = (gast.Name, gast.Constant)

_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def position_of(node: Node) -> dict[str, Any]:
    """Return where a node stands, by attribute; nothing for the nodes that have no place of their own."""
    fields = node.__dict__
    return {attribute: fields[attribute] for attribute in _POSITION if attribute in fields}


class Maker:
    """Makes nodes at the position of one of the user's nodes.

    Parameters
    ----------
    origin : node
        Where the made nodes are said to begin.
    end : node, optional
        Where they are said to end; ``origin`` if not given. The header of a loop ends with its test.
    """

    def __init__(self, origin: Node, end: Node | None = None) -> None:
        self.position = position_of(origin)
        if end is not None:
            self.position |= {"end_lineno": end.end_lineno, "end_col_offset": end.end_col_offset}

    def place(self, node: Node) -> Node:
        """Stamp the position on one node."""
        node.__dict__.update(self.position)
        return node

    def load(self, name: str) -> Node:
        """Return the expression ``name``."""
        return self.place(gast.Name(name, gast.Load(), None, None))

    def store(self, name: str) -> Node:
        """Return ``name`` as the target of an assignment."""
        return self.place(gast.Name(name, gast.Store(), None, None))

    def constant(self, value: object) -> Node:
        """Return a literal."""
        return self.place(gast.Constant(value, None))

    def attribute(self, value: Node, name: str) -> Node:
        """Return ``value.name``."""
        return self.place(gast.Attribute(value, name, gast.Load()))

    def call(self, function: Node, *args: Node, **keywords: Node) -> Node:
        """Return ``function(*args, **keywords)``."""
        named = [self.place(gast.keyword(name, value)) for name, value in keywords.items()]
        return self.place(gast.Call(function, list(args), named))

    def tuple(self, elements: Iterable[Node], *, store: bool = False) -> Node:
        """Return a tuple of expressions, or of targets."""
        return self.place(gast.Tuple(list(elements), gast.Store() if store else gast.Load()))

    def names(self, names: Sequence[str], *, store: bool = False) -> Node:
        """Return a tuple of names."""
        one = self.store if store else self.load
        return self.tuple([one(name) for name in names], store=store)

    def strings(self, names: Sequence[str]) -> Node:
        """Return a tuple of string literals."""
        return self.tuple([self.constant(name) for name in names])

    def lambda_(self, body: Node, names: Sequence[str] = ()) -> Node:
        """Return ``lambda: body``, or one that takes arguments."""
        return self.place(gast.Lambda(self.arguments(names), body))

    def arguments(self, names: Sequence[str]) -> Node:
        """Return the parameter list of plain positional names."""
        params = [self.place(gast.Name(name, gast.Param(), None, None)) for name in names]
        return gast.arguments(params, [], None, [], [], None, [])

    def function(self, name: str, params: Sequence[str], body: list[Node]) -> Node:
        """Return a ``def`` statement."""
        return self.place(gast.FunctionDef(name, self.arguments(params), body, [], None, None, []))

    def assign(self, target: Node, value: Node) -> Node:
        """Return ``target = value``."""
        return self.place(gast.Assign([target], value, None))

    def set_name(self, name: str, value: Node) -> Node:
        """Return ``name = value``."""
        return self.assign(self.store(name), value)

    def expression(self, value: Node) -> Node:
        """Return an expression statement."""
        return self.place(gast.Expr(value))

    def return_(self, value: Node | None) -> Node:
        """Return a ``return`` statement."""
        return self.place(gast.Return(value))

    def pass_(self) -> Node:
        """Return ``pass``."""
        return self.place(gast.Pass())

    def if_(self, test: Node, body: list[Node], orelse: list[Node]) -> Node:
        """Return an ``if`` statement."""
        return self.place(gast.If(test, body, orelse))

    def nonlocals(self, names: Sequence[str]) -> Node:
        """Return ``nonlocal a, b``."""
        return self.place(gast.Nonlocal(list(names)))

    def globals(self, names: Sequence[str]) -> Node:
        """Return ``global a, b``."""
        return self.place(gast.Global(list(names)))

    def not_(self, value: Node) -> Node:
        """Return ``not value``."""
        return self.place(gast.UnaryOp(gast.Not(), value))

    def either(self, names: Sequence[str]) -> Node:
        """Return ``a or b or ...``, or just ``a``."""
        if len(names) == 1:
            return self.load(names[0])
        return self.place(gast.BoolOp(gast.Or(), [self.load(name) for name in names]))


# Fields that hold names, flags and operators, or the marks for load and store: nothing to walk into.
_PLAIN_FIELDS = frozenset(
    ("attr", "conversion", "ctx", "id", "is_async", "kind", "level", "module", "op", "ops", "simple", "type_comment")
)


@functools.cache
def branching_fields(cls: Any) -> tuple[str, ...]:
    """Return the fields of a class of nodes that may hold nodes."""
    return () if cls is gast.Constant else tuple(name for name in cls._fields if name not in _PLAIN_FIELDS)


@functools.cache
def method_name(cls: Any) -> str:
    """Return the name of the method for nodes of a class, in classes that have one for each: ``_binop``."""
    return f"_{cls.__name__.lower()}"


def children(node: Node) -> list[Node]:
    """Return the nodes directly below one, in order, without operators and the marks for load and store."""
    found = []
    fields = node.__dict__
    for name in branching_fields(node.__class__):
        value = fields.get(name)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, gast.AST)]
        elif isinstance(value, gast.AST):
            found.append(value)
    return found


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, in no particular order."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += children(node)


def as_index(node: Node) -> Node:
    """Return an index expression that may stand outside brackets: ``a:b`` becomes ``slice(a, b)``."""
    make = Maker(node)
    if isinstance(node, gast.Slice):
        parts = [one if one is not None else make.constant(None) for one in (node.lower, node.upper)]
        parts += [node.step] if node.step is not None else []
        return make.call(make.load("slice"), *parts)
    if isinstance(node, gast.Tuple):
        return make.tuple([as_index(one) for one in node.elts])
    return node


def header(statement: Node) -> Maker:
    """Return a maker for the head line of a loop or branch, not its body."""
    for field in ("test", "iter"):
        end = getattr(statement, field, None)
        if end is not None and hasattr(end, "end_lineno"):
            return Maker(statement, end)
    return Maker(statement)


def copy_tree(node: Node) -> Node:
    """Return a deep copy of a tree with its positions."""
    if isinstance(node, list):
        return [copy_tree(one) for one in node]
    if not isinstance(node, gast.AST):
        return node
    new = gast.AST.__new__(node.__class__)
    for name, value in node.__dict__.items():
        new.__dict__[name] = copy_tree(value)
    return new
