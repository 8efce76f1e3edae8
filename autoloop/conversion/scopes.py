"""Which names a function binds, which of them closures capture, and what each statement reads and writes.

Only the names of one function matter at a time. Comprehensions run at once, so what they read counts as
read by the statement they stand in. Lambdas, nested functions and generator expressions run later: a name
they use is *captured*, and must stay one shared cell.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast
from autoloop_runtime.base.dataclass import dataclass, field

from .frame_readers import is_frame_reader
from .known_names import MUTATORS
from .nodes import Node, children, method_name, walk

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
IMMEDIATE = (gast.ListComp, gast.SetComp, gast.DictComp)
COMPREHENSIONS = (*IMMEDIATE, gast.GeneratorExp)

_BINDING_MARKS = frozenset((gast.Store, gast.Del))
_NAMED = frozenset((gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.MatchAs, gast.MatchStar))

# Builtins that use up a generator expression before they return.
CONSUMERS = frozenset(
    ("all", "any", "bytes", "dict", "frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple")
)


@dataclass(frozen=True)
class Scope:
    """The names of one function.

    Attributes
    ----------
    order : tuple of str
        The function's own variables, parameters first, then by first occurrence.
    captured : frozenset of str
        Own variables that a closure uses.
    rebound : frozenset of str
        Own variables that a nested function rebinds with ``nonlocal``.
    global_names, nonlocal_names : tuple of str
        Names the function declares so.
    """

    order: tuple[str, ...]
    captured: frozenset[str]
    rebound: frozenset[str]
    global_names: tuple[str, ...]
    nonlocal_names: tuple[str, ...]

    @property
    def declared(self) -> tuple[str, ...]:
        """Names declared ``global`` or ``nonlocal``."""
        return self.global_names + self.nonlocal_names


@dataclass
class Effects:
    """What one statement or expression does to the variables around it.

    ``reads`` are the names that may be read before this node has set them; ``writes`` all names it may
    set, ``kills`` those it surely sets, ``deletes`` those it unbinds, ``mutates`` those whose object it
    changes in place.
    """

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    kills: set[str] = field(default_factory=set)
    deletes: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    calls: bool = False
    reads_frame: bool = False


def scope_of(function: Node) -> Scope:
    """Analyse the names of one function or lambda."""
    collector = _collected(function, _Collector())
    order = collector.order()
    own = set(order)
    return Scope(
        order=order,
        captured=frozenset(collector.captured & own),
        rebound=frozenset(collector.rebound & own),
        global_names=tuple(dict.fromkeys(collector.global_names)),
        nonlocal_names=tuple(dict.fromkeys(collector.nonlocal_names)),
    )


def _collected(function: Node, collector: _Collector) -> _Collector:
    collector.parameters(function.args)
    for node in _body(function):
        collector.visit(node)
    return collector


def _body(function: Node) -> list[Node]:
    body = function.body
    return body if isinstance(body, list) else [body]


def parameter_names(args: Node) -> list[str]:
    """Return all parameter names in order."""
    params = [*args.posonlyargs, *args.args]
    params += [args.vararg] if args.vararg else []
    params += args.kwonlyargs
    params += [args.kwarg] if args.kwarg else []
    return [param.id for param in params]


class _Collector:
    """Collects bindings, captures and declarations of one function; nested functions only for captures.

    Without ``captures`` it does not look into nested functions: what is nested n deep would be walked 2**n times by
    those who go through them by themselves.
    """

    def __init__(self, captures: bool = True) -> None:
        self.captures = captures
        self.bound: dict[str, None] = {}
        self.captured: set[str] = set()
        self.rebound: set[str] = set()
        self.global_names: list[str] = []
        self.nonlocal_names: list[str] = []

    def order(self) -> tuple[str, ...]:
        """Return the names that are the function's own."""
        outside = {*self.global_names, *self.nonlocal_names}
        return tuple(name for name in self.bound if name not in outside)

    def parameters(self, args: Node) -> None:
        self.bound.update(dict.fromkeys(parameter_names(args)))

    def visit(self, node: Node) -> None:
        for name in bound_names(node):
            self.bound.setdefault(name)
        if isinstance(node, gast.Global):
            self.global_names += node.names
        elif isinstance(node, gast.Nonlocal):
            self.nonlocal_names += node.names
        elif isinstance(node, FUNCTIONS):
            self._nested_function(node)
        elif isinstance(node, gast.ClassDef):
            for child in [*node.decorator_list, *node.bases, *node.keywords]:
                self.visit(child)
            self.captured |= free_names(node.body) if self.captures else set()
        elif isinstance(node, COMPREHENSIONS):
            self._comprehension(node)
        elif consumed := consumed_generator(node):
            self._comprehension(consumed, immediate=True)
            self.visit(node.func)
        else:
            for child in children(node):
                self.visit(child)

    def _nested_function(self, node: Node) -> None:
        for child in outside_parts(node):
            self.visit(child)
        if self.captures:
            self.captured |= free_names([node])
            self.rebound |= nonlocal_writes(node)

    def _comprehension(self, node: Node, *, immediate: bool = False) -> None:
        inner = _Collector(self.captures)
        for child in children(node):
            inner.visit(child)
        targets = _comprehension_targets(node)
        for name in inner.bound:
            if name not in targets:
                self.bound.setdefault(name)
        self.captured |= inner.captured - targets
        if self.captures and isinstance(node, gast.GeneratorExp) and not immediate:
            self.captured |= free_names([node])


def mutated_by(node: Node) -> Node | None:
    """Return ``x`` of a call such as ``x.append(1)``, which changes ``x`` in place."""
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in MUTATORS:
        changed: Node = node.func.value
        return changed
    return None


def consumed_generator(node: Node) -> Node | None:
    """Return the generator expression of a call such as ``sum(x for x in xs)``, which runs at once."""
    if (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Name)
        and node.func.id in CONSUMERS
        and len(node.args) == 1
        and not node.keywords
        and isinstance(node.args[0], gast.GeneratorExp)
    ):
        return node.args[0]
    return None


def bound_names(node: Node) -> tuple[str, ...]:
    """Return the names this one node binds in its scope (its children are not looked at)."""
    cls = type(node)
    if cls is gast.Name:
        return (node.id,) if type(node.ctx) in _BINDING_MARKS else ()
    if cls in _NAMED and node.name:
        return (node.name,)
    if cls is gast.alias:
        return ((node.asname or node.name).split(".")[0],)
    if cls is gast.MatchMapping and node.rest:
        return (node.rest,)
    return ()


def outside_parts(node: Node) -> list[Node]:
    """Return the parts of a nested function that its surroundings evaluate: defaults, decorators, notes."""
    args = node.args
    parts = [*args.defaults, *(one for one in args.kw_defaults if one is not None)]
    if not isinstance(node, gast.Lambda):
        parts += node.decorator_list
        parts += [node.returns] if node.returns else []
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        parts += [arg.annotation for arg in every if arg is not None and arg.annotation]
    return parts


def _comprehension_targets(node: Node) -> set[str]:
    names: set[str] = set()
    for generator in node.generators:
        names |= {one.id for one in walk(generator.target) if isinstance(one, gast.Name)}
    return names


def free_names(nodes: Iterable[Node]) -> set[str]:
    """Return the names used in ``nodes`` that nested functions do not bind themselves.

    Names of a class body are not taken away, as methods do not see them; erring on this side only makes
    a variable a shared cell that need not be one.
    """
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, gast.Name):
            names.add(node.id)
        elif isinstance(node, FUNCTIONS):
            own = _collected(node, _Collector(captures=False)).order()
            names |= free_names(_body(node)).difference(own) | free_names(outside_parts(node))
        elif isinstance(node, COMPREHENSIONS):
            names |= free_names(children(node)) - _comprehension_targets(node)
        elif isinstance(node, gast.Global | gast.Nonlocal):
            names |= set(node.names)
        else:
            names |= free_names(children(node))
    return names


def nonlocal_writes(function: Node) -> set[str]:
    """Return the names of the surroundings that a nested function rebinds with ``nonlocal``."""
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, gast.Nonlocal):
            found |= set(node.names)
    return found


def effects_of(*nodes: Node) -> Effects:
    """Return the joint effects of nodes evaluated one after the other."""
    walker = _EffectWalker()
    for node in nodes:
        walker.walk(node, certain=True)
    return walker.effects


class _EffectWalker:
    """Walks one simple statement or expression in the order Python evaluates it."""

    def __init__(self) -> None:
        self.effects = Effects()

    def walk(self, node: Node, certain: bool) -> None:
        method = getattr(self, method_name(node.__class__), None)
        if method is not None:
            method(node, certain)
        else:
            self._children(node, certain)

    def _children(self, node: Node, certain: bool) -> None:
        for name in bound_names(node):
            self._write(name, certain)
        for child in children(node):
            self.walk(child, certain)

    def _read(self, name: str) -> None:
        if name not in self.effects.kills:
            self.effects.reads.add(name)

    def _write(self, name: str, certain: bool) -> None:
        self.effects.writes.add(name)
        if certain:
            self.effects.kills.add(name)
            self.effects.deletes.discard(name)

    def _mutate(self, name: str) -> None:
        self._read(name)
        self.effects.mutates.add(name)
        self.effects.writes.add(name)

    def _name(self, node: Node, certain: bool) -> None:
        if isinstance(node.ctx, gast.Load):
            self._read(node.id)
        elif isinstance(node.ctx, gast.Store):
            self._write(node.id, certain)
        elif isinstance(node.ctx, gast.Del):
            self._read(node.id)
            self.effects.writes.add(node.id)
            self.effects.kills.discard(node.id)
            self.effects.deletes.add(node.id)

    def _assign(self, node: Node, certain: bool) -> None:
        self.walk(node.value, certain)
        for target in node.targets:
            self.walk(target, certain)

    def _annassign(self, node: Node, certain: bool) -> None:
        if node.value is not None:
            self.walk(node.value, certain)
            self.walk(node.target, certain)

    def _augassign(self, node: Node, certain: bool) -> None:
        if isinstance(node.target, gast.Name):
            self._read(node.target.id)
        self.walk(node.value, certain)
        self.walk(node.target, certain)

    def _namedexpr(self, node: Node, certain: bool) -> None:
        self.walk(node.value, certain)
        self.walk(node.target, certain)

    def _subscript(self, node: Node, certain: bool) -> None:
        self._children(node, certain)
        root = node
        while isinstance(root, gast.Subscript):
            root = root.value
        if not isinstance(node.ctx, gast.Load) and isinstance(root, gast.Name):
            self._mutate(root.id)

    def _call(self, node: Node, certain: bool) -> None:
        self.effects.calls = True
        if is_frame_reader(node):
            self.effects.reads_frame = True
        self._children(node, certain)
        changed = mutated_by(node)
        while isinstance(changed, gast.Subscript):
            changed = changed.value
        if isinstance(changed, gast.Name):
            self._mutate(changed.id)

    def _boolop(self, node: Node, certain: bool) -> None:
        self.walk(node.values[0], certain)
        for value in node.values[1:]:
            self.walk(value, False)

    def _ifexp(self, node: Node, certain: bool) -> None:
        self.walk(node.test, certain)
        self.walk(node.body, False)
        self.walk(node.orelse, False)

    def _compare(self, node: Node, certain: bool) -> None:
        self.walk(node.left, certain)
        for index, value in enumerate(node.comparators):
            self.walk(value, certain and index == 0)

    def _lambda(self, node: Node, certain: bool) -> None:
        self._nested(node, certain)

    def _functiondef(self, node: Node, certain: bool) -> None:
        self._nested(node, certain)
        self._write(node.name, certain)

    _asyncfunctiondef = _functiondef

    def _nested(self, node: Node, certain: bool) -> None:
        for part in outside_parts(node):
            self.walk(part, certain)

    def _classdef(self, node: Node, certain: bool) -> None:
        for name in sorted(free_names([*node.decorator_list, *node.bases, *node.keywords, *node.body])):
            self._read(name)
        self.effects.calls = True
        self._write(node.name, certain)

    def _listcomp(self, node: Node, certain: bool) -> None:
        self.walk(node.generators[0].iter, certain)
        targets = _comprehension_targets(node)
        for name in sorted(free_names([node]) - targets):
            self._read(name)
        for inner in walk(node):
            if isinstance(inner, gast.NamedExpr):
                self._write(inner.target.id, False)
            elif isinstance(inner, gast.Call):
                self.effects.calls = True

    _setcomp = _dictcomp = _generatorexp = _listcomp


def path_of(node: Node) -> str:
    """Return ``a.b.c`` for a chain of attributes on a name, or an empty string."""
    if isinstance(node, gast.Name):
        return str(node.id)
    if isinstance(node, gast.Attribute):
        base = path_of(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""
