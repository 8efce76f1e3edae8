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

import gast

from .container_names import container_names
from .environment import Environment
from .exits import falls_off
from .expression_walk import Surroundings
from .expressions import ExpressionRewriter
from .generated_functions import GeneratedFunctions
from .item_targets import nested_targets
from .jumps import lower_jumps
from .liveness import analyse
from .meanings import OPTIONS
from .nodes import Block, Maker, Node, header
from .plan import Plan, plan_function
from .scopes import parameter_names, path_of, scope_of
from .statements import Facts, Names
from .unsupported import is_asynchronous, is_generator


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
        containers=container_names(node),
    )
    if isinstance(node, gast.Lambda):
        node.body = expressions.rewrite(node.body, around)
        return node
    jumps = lower_jumps(
        node.body,
        names.fresh,
        lambda test: environment.is_static_test(test, around.local_names),
        lambda statement: _options_call(statement, environment, around.local_names) is not None,
        in_generator := is_generator(node),
    )
    tracked = [name for name in (*scope.order, *jumps.flags) if name not in scope.captured]
    flow = analyse(jumps.body, tracked, params, jumps.until, lambda one: environment.swallows(one, around.local_names))
    plan = plan_function(scope, jumps, flow)
    rewriter = _StatementRewriter(names, expressions, around, scope, Facts(jumps, flow, plan, in_generator))
    node.body = rewriter.function_body(jumps.body, params)
    return node


class _StatementRewriter(GeneratedFunctions):
    """Rewrites the statements of one function: loops and branches, and all that the rooms below it rewrite."""

    def _while(self, node: Node) -> Block:
        plan = self.facts.plan.by_id.get(id(node))
        if plan is None:
            return self._python_loop(node)
        make = header(node)
        names = self.names
        self.check_at(self.facts.flow.heads[id(node)])
        test = self.inner(make, names.loop_test, plan.inputs, lambda: [make.return_(self.expr(node.test))], ())
        body = self.inner(make, names.loop_body, plan.inputs, lambda: self._loop_body(node, plan), plan.shared)
        functions = [make.load(names.loop_test), make.load(names.loop_body)]
        return [*self.marks(make, plan), test, body, self._loop_call(make, "while_stmt", functions, node, plan)]

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

        body = self.inner(make, self.names.loop_body, [item, *plan.inputs], write, plan.shared)
        functions = [iterable, make.load(self.names.loop_body)]
        targets = tuple(name for name in plan.inputs if name in _names_set_by(target))
        call = self._loop_call(make, "for_stmt", functions, node, plan, options, targets)
        return [*self.marks(make, plan), body, call]

    def _unpacked(self, make: Maker, target: Node, item: str, iterable: Node) -> Node:
        """Return the loop's item, as something to unpack where it, or a part of it, may be a row of a tensor."""
        function = getattr(iterable, "func", None)
        pairs = getattr(function, "id", getattr(function, "attr", "")) in ("enumerate", "zip", "items")
        nested = list(nested_targets(target))
        if not isinstance(target, gast.Tuple | gast.List) or (pairs and not nested):
            return make.load(item)
        return self.unpacked(make, make.load(item), nested)

    def _loop_body(self, node: Node, plan: Plan) -> Block:
        statements = node.body[1:] if self._loop_options(node) else node.body
        return self.give(header(node), self.block(statements), plan.outputs)

    def _loop_options(self, node: Node) -> Node | None:
        return _options_call(node.body[0], self.expressions.environment, self.around.local_names)

    def _loop_call(
        self, make: Maker, operator: str, functions: list[Node], node: Node, plan: Plan, options: Node | None = None,
        targets: tuple[str, ...] = (),
    ) -> Node:  # fmt: skip
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
        if targets:
            call.keywords.append(make.place(gast.keyword("targets", make.strings(targets))))
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
            paths = [path_of(place).partition(".") for place in plan.places]
            pairs = [make.tuple([make.lambda_(make.load(root)), make.constant(path)]) for root, _, path in paths]
            call.keywords.append(make.place(gast.keyword("places", make.tuple(pairs))))

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
        if returning and self._falls_off(node):
            choice.keywords.append(make.place(gast.keyword("falls", make.constant(True))))
        call = make.call(choice, *[make.load(name) for name in plan.inputs])
        last = make.return_(call) if returning else self._results(make, plan, call)
        return [*self.marks(make, plan), *functions, last]

    def _falls_off(self, node: Node) -> bool:
        """Return whether a branch of the user's `if`, of which one returns, has no `return` at its end."""
        jumps = self.facts.jumps
        if isinstance(node.test, gast.Name) and node.test.id in jumps.flags:  # made behind a loop that may return
            return False
        return any(falls_off(block, jumps.until) for block in (node.body, node.orelse))

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
            return self.give(make, done, plan.outputs if falls else ())

        return self.inner(make, name, plan.inputs, write, shared)

    def _python_loop(self, node: Node) -> Block:
        for name in ("iter", "test"):
            if hasattr(node, name):
                setattr(node, name, self.expr(getattr(node, name)))
        if self.facts.in_generator and isinstance(node, gast.For):
            node.iter = self.expressions.elements(node.target, node.iter)
        node.body = self.block(node.body[1:] if self._loop_options(node) else node.body) or [header(node).pass_()]
        node.orelse = self.block(node.orelse)
        return [node]

    def _functiondef(self, node: Node) -> Block:
        args = node.args
        args.defaults = [self.expr(one) for one in args.defaults]
        args.kw_defaults = [one and self.expr(one) for one in args.kw_defaults]
        if not is_asynchronous(node):
            rewrite_function(node, self.names, self.expressions.environment, self.around.local_names)
        return [node]


def _names_set_by(target: Node) -> set[str]:
    """Return the names to which a ``for`` statement gives its items, or parts of them."""
    if isinstance(target, gast.Tuple | gast.List):
        return set().union(*map(_names_set_by, target.elts))
    return {target.id} if isinstance(target, gast.Name) else set()


def _by_name(pairs: Node) -> Node:
    """Name the variables of ``shape_invariants=[(x, shape)]`` by strings, as several may hold one value."""
    for pair in getattr(pairs, "elts", ()):
        if isinstance(pair, gast.Tuple) and pair.elts and isinstance(pair.elts[0], gast.Name):
            pair.elts[0] = Maker(pair.elts[0]).constant(pair.elts[0].id)
    return pairs


def _is_pass(block: Block) -> bool:
    return all(isinstance(one, gast.Pass) for one in block)


def _options_call(statement: Node, environment: Environment, local_names: frozenset[str]) -> Node | None:
    """Return the ``set_loop_options(...)`` call if the statement is one."""
    if not isinstance(statement, gast.Expr) or not isinstance(statement.value, gast.Call):
        return None
    function = statement.value.func
    name = function.attr if isinstance(function, gast.Attribute) else getattr(function, "id", "")
    return statement.value if name == OPTIONS or environment.is_options(function, local_names) else None
