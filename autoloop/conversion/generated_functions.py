"""The small functions that blocks become: parameters, declarations, markers for what has no value yet, results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import gast
from autoloop_runtime.base.dataclass import dataclass, field, replace

from .block_statements import BlockStatements
from .nodes import Block, Maker, Node
from .plan import Plan
from .scopes import scope_of


@dataclass
class _Written:
    """A function being written: the user's own, or one made for a loop or branch.

    ``first`` collects names that need a marker at its start, ``nonlocals`` those that functions inside it
    rebind and that it has to hold.
    """

    own: frozenset[str]
    first: dict[str, None] = field(default_factory=dict)
    nonlocals: dict[str, None] = field(default_factory=dict)


class GeneratedFunctions(BlockStatements):
    """Writes functions, the user's own and those made for loops and branches."""

    #: the function that statements are written into; ``function_body`` begins the first
    body: _Written

    def function_body(self, statements: Block, params: Sequence[str]) -> Block:
        """Return the body of the user's function: docstring, declarations, statements."""
        self.body = _Written(frozenset(params) | frozenset(self.scope.declared))
        done = self.block(statements)
        first = done[:1] if _is_docstring(done) else []
        return first + self._declarations(statements[0], done) + done[len(first) :]

    def inner(
        self, make: Maker, name: str, params: Sequence[str], write: Callable[[], Block], shared: Iterable[str] = ()
    ) -> Node:
        """Return a generated function; ``write`` gives its statements."""
        outside, self.body = self.body, _Written(frozenset(params) | frozenset(shared))
        around, self.around = self.around, replace(self.around, nested=True)
        self.handlers.append([])
        body = write()
        self.handlers.pop()
        declared = self._declarations(make, body)
        shared = list(shared)
        global_names = [one for one in shared if one in self.scope.global_names]
        nonlocal_names = [one for one in shared if one not in self.scope.global_names]
        self.body, self.around = outside, around
        self.body.nonlocals.update(dict.fromkeys(nonlocal_names))
        head = [make.globals(global_names)] if global_names else []
        head += [make.nonlocals(nonlocal_names)] if nonlocal_names else []
        return make.function(name, params, (head + declared + body) or [make.pass_()])

    def _declarations(self, origin: Node, body: Block) -> Block:
        """Return what a function needs first: markers, and a binding for names that only others set."""
        make = origin if isinstance(origin, Maker) else Maker(origin)
        first = [self._mark(make, name) for name in self.body.first]
        missing = [name for name in self.body.nonlocals if name not in self.body.own]
        missing = [name for name in missing if name not in _stored_names(body)]
        # An annotation alone makes a name local without giving it a value.
        notes = [make.place(gast.AnnAssign(make.store(name), make.load("object"), None, 1)) for name in missing]
        return notes + first

    def marks(self, make: Maker, plan: Plan) -> Block:
        """Give markers to variables that may have no value before a loop or branch."""
        done = []
        for name in plan.unset:
            if name in self.body.own:
                continue  # a parameter of this function: it comes with its value, or with the marker
            if name in plan.absent:
                done.append(self._mark(make, name))
            else:
                self.body.first.setdefault(name)
        return done

    @staticmethod
    def give(make: Maker, done: Block, outputs: Sequence[str]) -> Block:
        """Let a generated function return its variables."""
        if not outputs:
            return done or [make.pass_()]
        last = done[-1] if done else None
        if isinstance(last, gast.Assign) and isinstance(last.value, gast.Call) and _is_tuple_of(last, outputs):
            # `(a, b) = ...; return (a, b)` is `return ...`
            return [*done[:-1], Maker(last).return_(last.value)]
        return [*done, make.return_(make.names(outputs))]


def _is_tuple_of(statement: Node, names: Sequence[str]) -> bool:
    """Return whether an operator's results go to exactly these names (only operators assign to a tuple this way)."""
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(target, gast.Tuple):
        return False
    return [getattr(one, "id", None) for one in target.elts] == list(names) and _is_operator(statement.value)


def _is_operator(call: Node) -> bool:
    function = call.func.func if isinstance(call.func, gast.Call) else call.func
    return isinstance(function, gast.Attribute) and function.attr in ("while_stmt", "for_stmt", "if_stmt")


def _is_docstring(block: Block) -> bool:
    return bool(block) and isinstance(block[0], gast.Expr) and isinstance(block[0].value, gast.Constant)


def _stored_names(block: Block) -> set[str]:
    names: set[str] = set()
    for statement in block:
        names |= set(scope_of(gast.Lambda(gast.arguments([], [], None, [], [], None, []), statement)).order)
    return names
