"""Expressions of generated code: templates, operator precedence, and which piece of a line is which node."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from ..analysis.failure import can_fail
from ..base import parsing as syntax
from ..base.dataclass import dataclass
from ..ir.graph import Node

ATOM = 16
_BINARY: dict[type[ast.operator], int] = {
    ast.BitOr: 6, ast.BitXor: 7, ast.BitAnd: 8, ast.LShift: 9, ast.RShift: 9, ast.Add: 10, ast.Sub: 10,
    ast.Mult: 11, ast.Div: 11, ast.FloorDiv: 11, ast.Mod: 11, ast.MatMult: 11, ast.Pow: 13,
}  # fmt: skip
_UNARY = 12
_COMPARE = 5
_NOT = 4


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression.

    Attributes
    ----------
    parts : tuple of str and Expr
        Its text; an inner ``Expr`` keeps its own node.
    precedence : int
        How tightly it binds, ``ATOM`` for names and calls.
    node : Node or None
        What it computes; ``None`` for a plain name.
    reads : frozenset of str
        The local variables in it.
    length : int
        Of the text.
    total : bool
        Nothing in it can fail.
    """

    parts: tuple[str | Expr, ...]
    precedence: int = ATOM
    node: Node | None = None
    reads: frozenset[str] = frozenset()
    length: int = 0
    total: bool = True

    @staticmethod
    def make(parts: Sequence[str | Expr], precedence: int, node: Node, args: Sequence[Expr]) -> Expr:
        """Return the expression of ``node`` with ``parts``, made of ``args``."""
        reads = frozenset().union(*[a.reads for a in args]) if args else frozenset()
        length, total = 0, True
        for part in parts:
            length += len(part) if isinstance(part, str) else part.length
        for arg in args:
            total = total and arg.total
        total = total and not can_fail(node)
        return Expr(tuple(parts), precedence, node, reads, length, total)

    @property
    def name(self) -> str | None:
        """The name, if this is nothing but one."""
        first = self.parts[0]
        return first if self.node is None and isinstance(first, str) else None


#: columns ``start``, ``end`` of a line and the node computed there
Span = tuple[int, int, Node]


def local(name: str) -> Expr:
    """Return the variable ``name``."""
    return Expr((name,), ATOM, None, frozenset((name,)), len(name))


def constant(name: str) -> Expr:
    """Return the global ``name``, or a literal."""
    return Expr((name,), ATOM, None, frozenset(), len(name))


@dataclass(frozen=True)
class Template:
    """A parsed ``Op.code``.

    Attributes
    ----------
    parts : tuple of str and (int, int)
        Text, and holes as ``(argument, precedence that the argument needs to go without parentheses)``.
    precedence : int
        Of the whole.
    globals : frozenset of str
        The names it uses.
    repeated : frozenset of int
        Arguments that it reads more than once, so that they must be names.
    """

    parts: tuple[str | tuple[int, int], ...]
    precedence: int
    globals: frozenset[str]
    repeated: frozenset[int]

    def fill(self, args: Sequence[Expr], node: Node) -> Expr:
        """Return the expression of ``node`` with ``args`` in the holes."""
        if self.parts == ((0, 0),):
            return args[0]
        out: list[str | Expr] = []
        for part in self.parts:
            if isinstance(part, str):
                out.append(part)
                continue
            arg = args[part[0]]
            out.extend(["(", arg, ")"] if arg.precedence < part[1] else [arg])
        return Expr.make(out, self.precedence, node, args)


@lru_cache(maxsize=1024)
def parse(text: str) -> Template:
    """Return the template of ``text``; its holes are ``{0}``, ``{1}``, ..."""
    pieces: list[str | tuple[int, int]] = []
    source = ""
    holes: list[int] = []
    for position, piece in enumerate(text.split("{")):
        field, _, literal = piece.partition("}") if position else ("", "", piece)
        if field:
            source += f"_hole{len(holes)}_"
            pieces.append((int(field), 0))
            holes.append(int(field))
        source += literal
        pieces.append(literal)
    tree = syntax.parse(source, "eval").body
    needed: dict[str, int] = {}
    used: set[str] = set()
    for child, precedence in _needs(tree):
        if child.startswith("_hole"):
            needed[child] = precedence
        else:
            used.add(child)
    count = iter(range(len(holes)))
    parts = tuple([p if isinstance(p, str) else (p[0], needed[f"_hole{next(count)}_"]) for p in pieces])
    repeated = frozenset(h for h in holes if holes.count(h) > 1)
    return Template(tuple([p for p in parts if p != ""]), _precedence(tree), frozenset(used), repeated)


def _precedence(tree: ast.expr) -> int:
    if isinstance(tree, ast.BinOp):
        return _BINARY[type(tree.op)]
    if isinstance(tree, ast.UnaryOp):
        return _NOT if isinstance(tree.op, ast.Not) else _UNARY
    if isinstance(tree, ast.BoolOp):
        return 3 if isinstance(tree.op, ast.And) else 2
    if isinstance(tree, ast.Compare):
        return _COMPARE
    return 1 if isinstance(tree, (ast.IfExp, ast.Lambda)) else ATOM


def _needs(tree: ast.expr) -> Iterator[tuple[str, int]]:
    """Yield ``(name, precedence needed at its place)`` of every name."""
    pending: list[tuple[ast.AST, int]] = [(tree, 0)]
    while pending:
        node, need = pending.pop()
        if isinstance(node, ast.Name):
            yield node.id, need
        elif isinstance(node, ast.BinOp):
            own = _BINARY[type(node.op)]
            power = isinstance(node.op, ast.Pow)
            pending += [(node.left, own + 1 if power else own), (node.right, _UNARY if power else own + 1)]
        elif isinstance(node, (ast.UnaryOp, ast.BoolOp)):
            own = _precedence(node)
            operands = [node.operand] if isinstance(node, ast.UnaryOp) else node.values
            pending += [(v, own + (not isinstance(node, ast.UnaryOp))) for v in operands]
        elif isinstance(node, ast.Compare):
            pending += [(v, _COMPARE + 1) for v in (node.left, *node.comparators)]
        elif isinstance(node, ast.IfExp):
            pending += [(node.test, 2), (node.body, 2), (node.orelse, 1)]
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            pending.append((node.value, ATOM))
            if isinstance(node, ast.Subscript):
                pending.append((node.slice, 1))
        else:
            pending += [(child, ATOM if child is getattr(node, "func", None) else 1)
                        for child in ast.iter_child_nodes(node)]  # fmt: skip


def render(parts: Sequence[str | Expr], column: int = 0) -> tuple[str, list[Span]]:
    """Return the text of ``parts`` and what is where in it, if it starts at ``column``."""
    text: list[str] = []
    spans: list[Span] = []
    end = _render(parts, column, text, spans)
    assert end == column + sum(map(len, text))
    return "".join(text), spans


def _render(parts: Sequence[str | Expr], column: int, text: list[str], spans: list[Span]) -> int:
    for part in parts:
        if isinstance(part, str):
            text.append(part)
            column += len(part)
        else:
            start, column = column, _render(part.parts, column, text, spans)
            if part.node is not None:
                spans.append((start, column, part.node))
    return column


def listed(exprs: Iterable[Expr]) -> list[str | Expr]:
    """Return ``a, b, c``."""
    out: list[str | Expr] = []
    for expr in exprs:
        out += [", ", *closed(expr, 1)] if out else closed(expr, 1)
    return out


def closed(expr: Expr, precedence: int) -> list[str | Expr]:
    """Return ``expr``, in parentheses if it binds less tightly than ``precedence``."""
    return [expr] if expr.precedence >= precedence else ["(", expr, ")"]


def negated(expr: Expr) -> list[str | Expr]:
    """Return ``not expr``."""
    return ["not ", *closed(expr, _NOT)]
