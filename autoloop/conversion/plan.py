"""Which variables each converted loop and branch takes and gives: decided once, before anything is rewritten.

A variable of a loop is a name that its body sets and that is still read by the next iteration or after the
loop. A name that is only read is left to the closure; a name that dies inside stays inside. What a closure
captures, what is declared ``global`` or ``nonlocal``, and what an exception handler outside may look at has
to change at once and stays one shared variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import gast
from autoloop_runtime.base.dataclass import dataclass, field

from .exits import block_fields
from .jumps import Jumps
from .liveness import Flow
from .nodes import Node, children
from .scopes import COMPREHENSIONS, FUNCTIONS, Effects, Scope, effects_of, free_names, mutated_by, path_of

Place = tuple[str, Node]


@dataclass(frozen=True)
class Plan:
    """What one loop or branch takes and gives.

    Attributes
    ----------
    inputs : tuple of str
        Parameters of the functions it becomes; for a loop, its variables.
    outputs : tuple of str
        What it gives back; for a loop the same as ``inputs``.
    shared : tuple of str
        Variables it changes in place of taking and giving them.
    unset : tuple of str
        Inputs that may have no value yet and need a marker.
    absent : frozenset of str
        Those of ``unset`` that surely have none.
    places : tuple of node
        Attributes and items of other objects (``self.h``) that it changes.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    shared: tuple[str, ...]
    unset: tuple[str, ...]
    absent: frozenset[str]
    places: tuple[Node, ...]


@dataclass(frozen=True)
class FunctionPlan:
    """The plans of one function.

    ``by_id`` maps loops and branches to their plans; ``marked`` are the names that may hold a marker
    instead of a value, ``checked`` those of them that are checked where they are read; ``written`` maps
    blocks, by the id of their list, to the names they set.
    """

    by_id: dict[int, Plan]
    marked: frozenset[str]
    checked: frozenset[str]
    written: dict[int, frozenset[str]]


@dataclass
class _Summary:
    """What a statement, with all it contains, changes."""

    writes: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    calls: bool = False
    places: dict[str, Node] = field(default_factory=dict)

    def add(self, other: _Summary | Effects) -> None:
        self.writes |= other.writes
        self.mutates |= other.mutates
        self.calls |= other.calls
        if isinstance(other, _Summary):
            for text, node in other.places.items():
                self.places.setdefault(text, node)


def plan_function(scope: Scope, jumps: Jumps, flow: Flow) -> FunctionPlan:
    """Make the plans of one function from the analyses of its lowered tree."""
    planner = _Planner(scope, jumps, flow)
    planner.block(jumps.body)
    marked = frozenset(planner.marked)
    return FunctionPlan(planner.plans, marked, marked - set(jumps.flags), planner.written)


class _Planner:
    def __init__(self, scope: Scope, jumps: Jumps, flow: Flow) -> None:
        self.scope = scope
        self.jumps = jumps
        self.flow = flow
        self.tracked = frozenset(flow.bits)
        self.order = {name: index for index, name in enumerate((*scope.order, *scope.declared, *jumps.flags))}
        self.always_shared = scope.captured | frozenset(scope.declared)
        self.plans: dict[int, Plan] = {}
        self.marked: set[str] = set()
        self.written: dict[int, frozenset[str]] = {}

    def block(self, statements: Sequence[Node]) -> _Summary:
        summary = _Summary()
        for statement in statements:
            summary.add(self.statement(statement))
        self.written[id(statements)] = frozenset(summary.writes)
        return summary

    def statement(self, statement: Node) -> _Summary:
        if isinstance(statement, gast.If):
            return self._branch(statement)
        if isinstance(statement, gast.While | gast.For):
            return self._loop(statement)
        summary = _Summary()
        blocks = list(block_fields(statement))
        if not blocks:
            summary.add(self.flow.effects_of(statement))
            summary.places.update(places_in(statement))
            return summary
        self._heads(statement, summary)
        for _, _, block in blocks:
            summary.add(self.block(block))
        return summary

    def _heads(self, statement: Node, summary: _Summary) -> None:
        """Add what the head lines of ``with``, ``try`` and ``match`` do."""
        for item in getattr(statement, "items", []):
            summary.add(effects_of(item))
        for case in getattr(statement, "cases", []):
            summary.add(effects_of(case.pattern))
            if case.guard is not None:
                summary.add(effects_of(case.guard))
        for handler in getattr(statement, "handlers", []):
            if handler.name is not None:
                summary.writes.add(handler.name.id)
        if hasattr(statement, "subject"):
            summary.add(self.flow.effects_of(statement.subject))

    def _branch(self, statement: Node) -> _Summary:
        inside = self.block(statement.body)
        inside.add(self.block(statement.orelse))
        live = self.flow.live_at
        begin, end = self.flow.before[id(statement)], self.flow.after[id(statement)]
        shared = self._shared(statement, inside)
        own = (inside.writes & self.tracked) - shared
        outputs: frozenset[str] = frozenset()
        changed = self.flow.set_at(begin, inside.mutates & own)
        if id(statement) not in self.jumps.returning:
            outputs = live(end, own) | changed
        entry = (self.flow.blocks[id(statement), name] for name in ("body", "orelse"))
        inputs = (outputs & changed).union(*(live(point, own) for point in entry))
        # Results come first, so that a missing `else` can give its first parameters back.
        ordered = self._sorted(inputs & outputs) + self._sorted(inputs - outputs)
        results = self._sorted(outputs & inputs) + self._sorted(outputs - inputs)
        self._file(statement, ordered, results, shared, inside)
        self.marked |= self.flow.unset_at(end, outputs)
        whole = _Summary()
        whole.add(self.flow.effects_of(statement.test))
        whole.add(inside)
        return whole

    def _loop(self, statement: Node) -> _Summary:
        inside = self.block(statement.body)
        head = self.flow.heads[id(statement)]
        begin = self.flow.before[id(statement)]
        if isinstance(statement, gast.For):
            inside.add(self.flow.effects_of(statement.target))
            inside.places.update(places_in(statement.target))
        else:
            inside.add(self.flow.effects_of(statement.test))
        shared = self._shared(statement, inside)
        own = (inside.writes & self.tracked) - shared
        changed = self.flow.set_at(begin, inside.mutates & own)
        variables = self._sorted(self.flow.live_at(head, own) | changed)
        self._file(statement, variables, variables, shared, inside)
        self.marked |= self.flow.unset_at(head, variables)
        whole = _Summary()
        if isinstance(statement, gast.For):
            whole.add(self.flow.effects_of(statement.iter))
        whole.add(inside)
        whole.add(self.block(statement.orelse))
        return whole

    def _shared(self, statement: Node, inside: _Summary) -> set[str]:
        shared = inside.writes & self.always_shared
        if inside.calls:
            # A nested function may rebind these when it is called.
            shared |= self.scope.rebound
        for point in self.flow.errors[id(statement)]:
            shared |= self.flow.live_at(point, inside.writes)
        return shared - set(self.jumps.flags)

    def _file(self, statement: Node, inputs: list[str], outputs: list[str], shared: set[str], inside: _Summary) -> None:
        if id(statement) in self.jumps.python:
            return
        begin = self.flow.before[id(statement)]
        unset = self.flow.unset_at(begin, inputs)
        self.marked |= unset
        # what is born inside is nobody's outside
        born = inside.writes - inside.mutates
        born |= self.flow.unset_at(begin, inside.writes & self.tracked)
        places = [node for node in inside.places.values() if not (_root_names(node) & born)]
        self.plans[id(statement)] = Plan(
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            shared=tuple(self._sorted(shared)),
            unset=tuple(name for name in inputs if name in unset),
            absent=unset - self.flow.set_at(begin, unset),
            places=tuple(places),
        )

    def _sorted(self, names: Iterable[str]) -> list[str]:
        return sorted(names, key=lambda name: self.order.get(name, len(self.order)))


def places_in(node: Node) -> dict[str, Node]:
    """Return the attributes that a simple statement sets, by a text that tells them apart.

    Those of parameters and other names that inner functions, classes and comprehensions bind are not its own.
    """
    found: dict[str, Node] = {}
    place = mutated_by(node)
    if place is None and isinstance(getattr(node, "ctx", None), gast.Store | gast.Del):
        place = node
    while isinstance(place, gast.Subscript):
        place = place.value
    if isinstance(place, gast.Attribute) and (text := path_of(place)):
        found[text] = place
    for child in children(node):
        for text, place in places_in(child).items():
            found.setdefault(text, place)
    if found and isinstance(node, (*FUNCTIONS, *COMPREHENSIONS)):
        outer = free_names([node])
        found = {text: place for text, place in found.items() if _root_names(place) <= outer}
    return found


def _root_names(node: Node) -> set[str]:
    while isinstance(node, gast.Attribute):
        node = node.value
    return {node.id}
