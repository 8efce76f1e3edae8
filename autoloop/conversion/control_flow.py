"""Statements: loops and branches become small functions handed to an operator.

A converted loop is what a person would write by hand::

    def loop_test(i, s):
        return i < n
    def loop_body(i, s):
        s += i
        i += 1
        return (i, s)
    (i, s) = ops.while_stmt(loop_test, loop_body, (i, s), ('i', 's'))
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence

import gast
from autoloop.conversion.callables import OPTIONS, Environment
from autoloop.conversion.exits import block_fields, falls_off
from autoloop.conversion.expression_walk import Surroundings
from autoloop.conversion.expressions import ExpressionRewriter
from autoloop.conversion.jumps import lower_jumps
from autoloop.conversion.liveness import analyse
from autoloop.conversion.matching import class_patterns
from autoloop.conversion.nodes import Maker, Node, copy_tree, header, method_name, statements_in
from autoloop.conversion.plan import Plan, plan_function
from autoloop.conversion.scopes import Scope, parameter_names, scope_of
from autoloop.conversion.statements import Facts, Names, SimpleStatements, nested_targets
from autoloop.conversion.unsupported import is_generator
from autoloop_runtime.base.dataclass import dataclass, field, replace

Block = list[Node]


@dataclass
class _Body:
    """A function being written: the user's own, or one made for a loop or branch.

    ``first`` collects names that need a marker at its start, ``nonlocals`` those that functions inside it
    rebind and that it has to hold.
    """

    own: frozenset[str]
    first: dict[str, None] = field(default_factory=dict)
    nonlocals: dict[str, None] = field(default_factory=dict)


def rewrite_function(node: Node, names: Names, environment: Environment, outer: frozenset[str] = frozenset()) -> Node:
    """Rewrite a function or lambda in place.

    Parameters
    ----------
    node : gast.FunctionDef or gast.Lambda
        The user's function.
    names : Names
        Names for what is generated.
    environment : Environment
        What global names mean.
    outer : frozenset of str
        Names of the functions around it, its free variables included.
    """
    expressions = ExpressionRewriter(names.ops, environment, names.fresh)
    scope = scope_of(node)
    local_names = outer | frozenset(scope.order) | frozenset(scope.nonlocal_names)
    params = parameter_names(node.args)
    around = Surroundings(
        local_names=local_names - frozenset(scope.global_names),
        own_names=tuple(dict.fromkeys([*scope.order, *sorted(outer)])),
        self_name=params[0] if params else None,
        sequences=outer | _sequences(node, environment, local_names),
    )
    if isinstance(node, gast.Lambda):
        node.body = expressions.rewrite(node.body, around)
        return node
    jumps = lower_jumps(
        node.body,
        names.fresh,
        lambda test: environment.is_static_test(test, around.local_names),
        lambda statement: _options_call(statement, environment, around.local_names) is not None,
    )
    tracked = [name for name in (*scope.order, *jumps.flags) if name not in scope.captured]
    flow = analyse(jumps.body, tracked, params, jumps.until, lambda one: environment.swallows(one, around.local_names))
    plan = plan_function(scope, jumps, flow)
    rewriter = _StatementRewriter(names, expressions, around, scope, Facts(jumps, flow, plan))
    node.body = rewriter.function_body(jumps.body, params)
    return node


def _sequences(function: Node, environment: Environment, local_names: frozenset[str]) -> frozenset[str]:
    """Return the names that a function sets to a list, a tuple, or what a function of NumPy gives."""
    found = set()
    for node in statements_in(function):
        if isinstance(node, gast.Assign) and _gives_sequence(node.value, environment, local_names):
            found |= {target.id for target in node.targets if isinstance(target, gast.Name)}
    return frozenset(found)


def _gives_sequence(value: Node, environment: Environment, local_names: frozenset[str]) -> bool:
    if isinstance(value, gast.List | gast.Tuple):
        return bool(value.elts)
    if isinstance(value, gast.ListComp):
        return True
    if not isinstance(value, gast.Call):
        return False
    function = environment.resolve(value.func, local_names)
    return str(getattr(function, "__module__", "")).partition(".")[0] == "numpy"


class _StatementRewriter(SimpleStatements):
    """Rewrites the statements of one function, generated functions included."""

    def __init__(
        self,
        names: Names,
        expressions: ExpressionRewriter,
        around: Surroundings,
        scope: Scope,
        facts: Facts,
    ) -> None:
        super().__init__(names, expressions, around, scope, facts)
        self.body = _Body(frozenset())

    # -- functions --------------------------------------------------------------------------------------

    def function_body(self, statements: Block, params: Sequence[str]) -> Block:
        """Return the body of the user's function: docstring, declarations, statements."""
        self.body = _Body(frozenset(params) | frozenset(self.scope.declared))
        done = self.block(statements)
        first = done[:1] if _is_docstring(done) else []
        return first + self._declarations(statements[0], done) + done[len(first) :]

    def _inner(
        self, make: Maker, name: str, params: Sequence[str], write: Callable[[], Block], shared: Iterable[str] = ()
    ) -> Node:
        """Return a generated function; ``write`` gives its statements."""
        outside, self.body = self.body, _Body(frozenset(params) | frozenset(shared))
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

    # -- blocks -----------------------------------------------------------------------------------------

    def block(self, statements: Block) -> Block:
        """Rewrite the statements of one block."""
        done: Block = []
        for statement in statements:
            outside = self.around
            self._check_at(self.facts.flow.before[id(statement)])
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

    # -- loops and branches -------------------------------------------------------------------------------

    def _while(self, node: Node) -> Block:
        plan = self.facts.plan.by_id.get(id(node))
        if plan is None:
            return self._python_loop(node)
        make = header(node)
        names = self.names
        self._check_at(self.facts.flow.heads[id(node)])
        test = self._inner(make, names.loop_test, plan.inputs, lambda: [make.return_(self.expr(node.test))], ())
        body = self._inner(make, names.loop_body, plan.inputs, lambda: self._loop_body(node, plan), plan.shared)
        functions = [make.load(names.loop_test), make.load(names.loop_body)]
        return [*self._marks(make, plan), test, body, self._loop_call(make, "while_stmt", functions, node, plan)]

    def _for(self, node: Node) -> Block:
        plan = self.facts.plan.by_id.get(id(node))
        if plan is None:
            return self._python_loop(node)
        make = header(node)
        iterable = self.expr(node.iter)
        target = node.target
        simple = isinstance(target, gast.Name) and target.id not in plan.inputs and target.id not in plan.shared
        item = target.id if simple else self.names.item
        options = self._loop_options(node)

        def write() -> Block:
            first = [] if simple else self._assign_to(target, self._unpacked(make, target, item, node.iter))
            return first + self._loop_body(node, plan)

        body = self._inner(make, self.names.loop_body, [item, *plan.inputs], write, plan.shared)
        functions = [iterable, make.load(self.names.loop_body)]
        call = self._loop_call(make, "for_stmt", functions, node, plan, options)
        return [*self._marks(make, plan), body, call]

    def _unpacked(self, make: Maker, target: Node, item: str, iterable: Node) -> Node:
        """Return the loop's item, as something to unpack where it, or a part of it, may be a row of a tensor."""
        pairs = isinstance(iterable, gast.Call)  # enumerate, zip, items: these give tuples
        nested = list(nested_targets(target))
        if not isinstance(target, gast.Tuple | gast.List) or (pairs and not nested):
            return make.load(item)
        return self.unpacked(make, make.load(item), nested)

    def _loop_body(self, node: Node, plan: Plan) -> Block:
        statements = node.body[1:] if self._loop_options(node) else node.body
        return self._give(header(node), self.block(statements), plan.outputs)

    @staticmethod
    def _give(make: Maker, done: Block, outputs: Sequence[str]) -> Block:
        """Let a generated function return its variables."""
        if not outputs:
            return done or [make.pass_()]
        last = done[-1] if done else None
        if isinstance(last, gast.Assign) and isinstance(last.value, gast.Call) and _is_tuple_of(last, outputs):
            # `(a, b) = ...; return (a, b)` is `return ...`
            return [*done[:-1], Maker(last).return_(last.value)]
        return [*done, make.return_(make.names(outputs))]

    def _loop_options(self, node: Node) -> Node | None:
        return _options_call(node.body[0], self.expressions.environment, self.around.local_names)

    def _loop_call(
        self, make: Maker, operator: str, functions: list[Node], node: Node, plan: Plan, options: Node | None = None
    ) -> Node:
        options = options or self._loop_options(node)
        call = make.call(
            self.expressions.operator(make, operator),
            *functions,
            make.names(plan.inputs),
            make.strings(plan.inputs),
        )
        self._keywords(make, call, plan)
        until = self.facts.jumps.until.get(id(node), ())
        if until:
            call.keywords.append(make.place(gast.keyword("until", make.strings(until))))
        if options is not None:
            function = make.load("dict")
            named = [
                make.place(
                    gast.keyword(
                        one.arg,
                        _by_name(self.expr(one.value)) if one.arg == "shape_invariants" else self.expr(one.value),
                    )
                )
                for one in options.keywords
            ]
            value = make.lambda_(make.place(gast.Call(function, options.args, named)))
            call.keywords.append(make.place(gast.keyword("options", value)))
        return self._results(make, plan, call)

    def _results(self, make: Maker, plan: Plan, call: Node) -> Node:
        if not plan.outputs:
            return make.expression(call)
        return make.assign(make.names(plan.outputs, store=True), call)

    def _keywords(self, make: Maker, call: Node, plan: Plan) -> None:
        if plan.shared:
            call.keywords.append(make.place(gast.keyword("shared", make.strings(plan.shared))))
        if plan.places:
            pairs = [make.tuple([place.value, make.constant(place.attr)]) for place in map(_load, plan.places)]
            value = make.lambda_(make.tuple(pairs))
            call.keywords.append(make.place(gast.keyword("places", value)))

    def _marks(self, make: Maker, plan: Plan) -> Block:
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

    def _check_at(self, point: int) -> None:
        """Let reads from here on be checked that may find no value."""
        checked = self.facts.flow.unset_at(point, self.facts.plan.checked)
        if checked != self.around.checked:
            self.around = replace(self.around, checked=checked)

    def _if(self, node: Node) -> Block:
        plan = self.facts.plan.by_id.get(id(node))
        static = self.expressions.environment.is_static_test(node.test, self.around.local_names)
        if plan is None or static:
            node.test = self.expr(node.test)
            node.body = self.block(node.body) or [header(node).pass_()]
            node.orelse = self.block(node.orelse)
            return [node]
        make = header(node)
        test = self.expr(node.test)
        functions, loads = [], []
        for name, statements in ((self.names.then, node.body), (self.names.orelse, node.orelse)):
            if (statements and not _is_pass(statements)) or (name == self.names.orelse and self._gives(plan)):
                functions.append(self._branch_function(make, name, statements, plan))
                loads.append(make.load(name))
            else:
                loads.append(make.constant(None))
        returning = id(node) in self.facts.jumps.returning
        operator = self.expressions.operator(make, "if_return" if returning else "if_stmt")
        results = [make.strings(plan.outputs)] if not returning else []
        choice = make.call(operator, test, *loads, *results)
        self._keywords(make, choice, plan)
        call = make.call(choice, *[make.load(name) for name in plan.inputs])
        last = make.return_(call) if returning else self._results(make, plan, call)
        return [*self._marks(make, plan), *functions, last]

    @staticmethod
    def _gives(plan: Plan) -> bool:
        """Return whether an absent branch would have to give more than its first parameters."""
        return plan.inputs[: len(plan.outputs)] != plan.outputs

    def _branch_function(self, make: Maker, name: str, statements: Block, plan: Plan) -> Node:
        written = self.facts.plan.written.get(id(statements), frozenset())
        shared = [one for one in plan.shared if one in written or one in self.scope.rebound]

        def write() -> Block:
            falls = falls_off(statements, self.facts.jumps.until)
            done = [one for one in self.block(statements) if not isinstance(one, gast.Pass)]
            return self._give(make, done, plan.outputs if falls else ())

        return self._inner(make, name, plan.inputs, write, shared)

    def _python_loop(self, node: Node) -> Block:
        for name in ("iter", "test"):
            if hasattr(node, name):
                setattr(node, name, self.expr(getattr(node, name)))
        node.body = self.block(node.body[1:] if self._loop_options(node) else node.body) or [header(node).pass_()]
        node.orelse = self.block(node.orelse)
        return [node]

    # -- nested functions -------------------------------------------------------------------------------

    def _functiondef(self, node: Node) -> Block:
        args = node.args
        args.defaults = [self.expr(one) for one in args.defaults]
        args.kw_defaults = [one and self.expr(one) for one in args.kw_defaults]
        if not is_generator(node):
            rewrite_function(node, self.names, self.expressions.environment, self.around.local_names)
        return [node]

    # -- with, try, match ---------------------------------------------------------------------------------

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
        asked = [whole for cls, whole in class_patterns(node) if not environment.is_users_class(cls, names)]
        subject = self.expr(node.subject)
        if not asked:
            return subject
        make = Maker(node.subject)
        return make.call(self.expressions.operator(make, "subject"), subject, make.constant(not all(asked)))

    def _caught(self, node: Node) -> Block:
        """Return what the handlers of a ``try``, or the arguments of ``suppress``, catch."""
        make = Maker(node)
        kinds = [handler.type for handler in getattr(node, "handlers", [])]
        found = [make.load("BaseException") if kind is None else kind for kind in kinds]
        for item in getattr(node, "items", []):
            manager = item.context_expr
            function = manager.func if isinstance(manager, gast.Call) else None
            if self.expressions.environment.resolve(function, self.around.local_names) is contextlib.suppress:
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


def _by_name(pairs: Node) -> Node:
    """Name the variables of ``shape_invariants=[(x, shape)]`` by strings, as several may hold one value."""
    for pair in getattr(pairs, "elts", ()):
        if isinstance(pair, gast.Tuple) and pair.elts and isinstance(pair.elts[0], gast.Name):
            pair.elts[0] = Maker(pair.elts[0]).constant(pair.elts[0].id)
    return pairs


def _load(place: Node) -> Node:
    """Return an attribute target as an expression."""
    return gast.copy_location(gast.Attribute(copy_tree(place.value), place.attr, gast.Load()), place)


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


def _is_pass(block: Block) -> bool:
    return all(isinstance(one, gast.Pass) for one in block)


def _stored_names(block: Block) -> set[str]:
    names: set[str] = set()
    for statement in block:
        names |= set(scope_of(gast.Lambda(gast.arguments([], [], None, [], [], None, []), statement)).order)
    return names


def _options_call(statement: Node, environment: Environment, local_names: frozenset[str]) -> Node | None:
    """Return the ``set_loop_options(...)`` call if the statement is one."""
    if not isinstance(statement, gast.Expr) or not isinstance(statement.value, gast.Call):
        return None
    function = statement.value.func
    name = function.attr if isinstance(function, gast.Attribute) else getattr(function, "id", "")
    return statement.value if name == OPTIONS or environment.is_options(function, local_names) else None
