"""Emits one graph as lines of Python: expressions, assignments, loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..analysis.failure import graph_can_fail
from ..analysis.induction import counts_from
from ..analysis.sizes import may_hold_memory
from ..base.dtypes import variant
from ..base.shapes import TensorShape
from ..ir.checks import CHECK_INVARIANT, CHECK_PREDICATE, CHECK_PROMISE
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ops.indexing import SET_ITEM
from . import names
from .counted_loops import Counted
from .fused_function import block_function, call_of
from .fusion import Chain
from .lines import Line, Lines, Loop
from .node_expressions import Expressions
from .ownership import Ownership, is_fresh
from .scope import INLINE_LENGTH, Scope, proved
from .templates import Expr, closed, listed, local, negated
from .uses import END, Uses, analyse, places

#: Python allows 20 statically nested loops and 100 levels of indentation; deeper code becomes a function
MAX_LOOPS = 16
MAX_DEPTH = 60


class SiteFactory(Protocol):
    """Whoever may want to take over loops while they run: generated Python asks it for each loop.

    What it gives is called when a run of the loop begins, and returns what has ``left``, ``some`` and ``boundary`` as
    the emitted loop uses them (see ``running.on_stack_replacement``).
    """

    def replacing(self, node: Node) -> Callable[[], Any] | None:
        """Return what may go on with the loop ``node`` between two iterations; None if nothing can."""

    def watching(self, node: Node) -> Callable[[], Any] | None:
        """Return what may give the whole function up between two iterations of ``node``; None if nothing wants to."""


class Emitter:
    """Emits a function graph and everything inside it.

    Parameters
    ----------
    pool : Names
    stateful : bool
        The generated functions take the run's ``state``.
    tokens : set of Tensor
        See ``token_tensors``.
    owned : Ownership
        See ``find_owned``.
    chains : dict
        See ``find_chains``.
    counting : dict
        See ``find_counted``.
    counted : bool
        Every loop counts its iterations.
    sites : SiteFactory, optional
        Filled with the loops that may be handed over to machine code; without it there are none.
    """

    def __init__(
        self, pool: names.Names, stateful: bool, tokens: set[Tensor], owned: Ownership,
        chains: dict[Node, Chain], counting: dict[Node, Counted], counted: bool = False,
        sites: SiteFactory | None = None,
    ) -> None:  # fmt: skip
        self.chains = chains
        self.counting = counting
        self.counted = counted
        self.sites = sites
        #: inside a loop that may be handed over: with all that is in it
        self.sited = False
        #: the same, for a loop that machine code may take with all of the function
        self.watched = False
        self.names = pool
        self.tokens = tokens
        self.owned = owned
        self.expressions = Expressions(pool)
        self.lines = Lines()
        self.functions: list[list[Line]] = []
        self.stateful = stateful
        #: of the function being emitted: what comes first, and where its spare arrays are, by shape and dtype
        self.prologue: list[Line] = []
        self.spares: dict[tuple[tuple[int, ...], str], str] = {}

    # -- graphs -------------------------------------------------------------------------------------------

    def function(self, graph: Graph) -> list[str]:
        """Emit ``graph`` as the body of a function; gives the names of its parameters."""
        scope = Scope(analyse(graph, self.owned.in_place, self.chains), result_length=INLINE_LENGTH)
        parameters = []
        for tensor in graph.inputs:
            name = self.names.new_local(names.of_node(tensor.op.name))
            parameters.append(name)
            self._bind(scope, tensor, name)
        self._nodes(graph, scope)
        results = [scope.env[t] for t in graph.outputs]
        self.lines.add("return [", *listed(results), "]")
        return parameters

    def _nodes(self, graph: Graph, scope: Scope) -> None:
        for position, node in enumerate(graph.nodes):
            if node.op is PARAMETER:
                if node.outputs[0] not in scope.env:
                    raise ValueError(f"placeholder {node.outputs[0].name!r} needs a value: feed it")
                continue
            if node.op is CONST:
                scope.env[node.outputs[0]] = self.expressions.constant(node.attrs["value"], node.name)
            elif node.op in (WHILE, COND):
                self._structured(node, position, scope)
            elif node in self.chains:
                if node is self.chains[node].nodes[-1]:
                    self._chain(self.chains[node], position, scope)
                else:
                    continue  # computed, and its inputs read, with the last of its chain
            else:
                self._plain(node, position, scope)
            self._drop(position, scope)

    def _drop(self, position: int, scope: Scope) -> None:
        """Free the large values that were read for the last time at ``position``."""
        dead = []
        for tensor in scope.uses.dying.get(position, ()):
            expr = scope.env.get(tensor)
            name = expr.name if expr is not None else None
            if name in scope.mine and scope.owner.get(name) is tensor and may_hold_memory(tensor):
                dead.append(name)
                del scope.owner[name]
        if dead:
            self.lines.add("del " + ", ".join(sorted(dead)))

    def _new(self, scope: Scope, wanted: str) -> str:
        name = self.names.new_local(wanted)
        scope.mine.add(name)
        return name

    def _bind(self, scope: Scope, tensor: Tensor, name: str) -> None:
        scope.env[tensor] = local(name)
        scope.owner[name] = tensor
        scope.fresh.discard(name)

    # -- plain nodes --------------------------------------------------------------------------------------

    def _plain(self, node: Node, position: int, scope: Scope) -> None:
        if node in self.owned.in_place:
            self._in_place(node, scope)
            return
        if node in self.owned.spare:
            expr = self.expressions.into(node, scope.env, self._spare(node.outputs[0]))
        else:
            expr = self.expressions.call(node, scope.env, scope.uses)
        outputs = node.outputs
        if node.op.effect:
            scope.env[outputs[-1]] = self.expressions.true()
            outputs = outputs[:-1]
        limit = scope.result_length if scope.uses.last_read.get(node.outputs[0]) == END else INLINE_LENGTH
        if node in scope.uses.inline and expr.length <= limit:
            scope.env[outputs[0]] = expr
            return
        if node.declared and not node.op.several:
            expr = self._promise(node, 0, expr)
        targets = [self._target(node, t, position, scope) for t in outputs]
        if not any(targets):
            self.lines.add(expr, node=node)
        elif node.op.several:
            self.lines.unpack([t or "_" for t in targets], expr)
        else:
            self.lines.assign([t for t in targets if t], expr)
        if node.op.several:
            for index in node.declared:
                name = targets[index]
                if name is not None:
                    self.lines.assign([name], self._promise(node, index, local(name)))

    def _chain(self, chain: Chain, position: int, scope: Scope) -> None:
        """Write a function over one block, and a call of it over all of them."""
        function = block_function(chain, self.names, self.expressions, scope.env)
        self.functions.append(function.lines)
        arrays = [scope.env[t] for t in chain.arrays]
        results = [
            self._spare(t) if t.op in self.owned.spare else self.expressions.empty(t.shape.as_tuple(), t.dtype)
            for t in chain.results
        ]
        between = self.names.new_local("between")
        self.prologue.append(Line(f"{between} = {self.expressions.between(function.between)}", 1))
        call = call_of(function, chain, self.expressions, arrays, results, between)
        self.lines.assign([self._target(t.op, t, position, scope) or "_" for t in chain.results], call)

    def _spare(self, tensor: Tensor) -> Expr:
        """Return an array for the value of ``tensor``, of which one is wanted in every iteration."""
        shape, dtype = tensor.shape.as_tuple(), tensor.dtype
        name = self.spares.get((shape, dtype.str))
        if name is None:
            name = self.spares[shape, dtype.str] = self.names.new_local("spare")
            self.prologue.append(Line((name, " = ", self.expressions.spare(shape, dtype)), 1))
        return Expr((f"{name}()",), reads=frozenset((name,)), length=len(name) + 2)

    def _in_place(self, node: Node, scope: Scope) -> None:
        """Write ``x[i] = value`` or ``np.add(x, y, out=x)``: the variable of the array now holds the result."""
        array, output = node.inputs[self.owned.in_place[node]], node.outputs[0]
        held = scope.env[array]
        assert held.name is not None
        if node.op is SET_ITEM:
            self.lines.add(*self.expressions.set_item(node, scope.env), node=node)
        elif node.op.appends is not None:
            place, value = scope.env[node.inputs[1]], scope.env[node.inputs[2]]
            if node.op.appends.waits:
                self.lines.add("if ", *closed(place, 6), " == ", held, ".due:", node=node)
                self.lines.add(held, ".add(", place, ", ", value, ")", indent=1, node=node)
            else:
                self.lines.add(held, ".append(", value, ")", node=node)
        else:
            self.lines.add(self.expressions.into(node, scope.env, held), node=node)
        scope.env[output] = held
        if held.name in scope.owner:
            scope.owner[held.name] = output

    def _target(self, node: Node, tensor: Tensor, position: int, scope: Scope) -> str | None:
        """Return the variable that ``tensor`` is stored in; ``None`` if nobody reads it."""
        if tensor not in scope.uses.last_read:
            return None
        name = scope.wanted.get(tensor)
        if name is None or not scope.may_overwrite(name, node, position):
            base = names.of_node(node.name)
            name = self._new(scope, base if len(node.outputs) < 2 else f"{base}_{tensor.index}")
        self._bind(scope, tensor, name)
        return name

    def _promise(self, node: Node, index: int, expr: Expr) -> Expr:
        tensor = node.outputs[index]
        attrs = {"tensor": tensor.name, "shape": node.declared[index]}
        return self.expressions.check(CHECK_PROMISE, expr, attrs, node)

    # -- structured nodes ---------------------------------------------------------------------------------

    def _structured(self, node: Node, position: int, scope: Scope) -> None:
        emit = self._while if node.op is WHILE else self._cond
        lines = self.lines
        if lines.loop_depth < MAX_LOOPS and lines.depth < MAX_DEPTH:
            emit(node, position, scope)
        else:
            self._out_of_line(emit, node, position, scope)
        for index in node.declared:
            name = scope.env[node.outputs[index]].name
            if name is not None and node.outputs[index] in scope.uses.last_read:
                lines.assign([name], self._promise(node, index, local(name)))

    def _out_of_line(self, emit: Any, node: Node, position: int, scope: Scope) -> None:
        """Emit ``node`` as a function of its own that is called here."""
        reads = frozenset().union(*[scope.env[t].reads for t in node.inputs])
        parameters = (["state"] if self.stateful else []) + sorted(reads)
        outer, self.lines = self.lines, Lines()
        around = self.prologue, self.spares
        self.prologue, self.spares = [], {}
        emit(node, position, scope)
        results = list(dict.fromkeys(n for t in node.outputs if (n := scope.env[t].name) in scope.owner))
        inner, self.lines = self.lines, outer
        inner.add("return " + ", ".join(results))
        name = self.names.new_global(names.of_node(node.name))
        self.functions.append([Line(f"def {name}({', '.join(parameters)}):"), *self.prologue, *inner.finished(1)])
        self.prologue, self.spares = around
        call = Expr((f"{name}({', '.join(parameters)})",), node=node)
        if results:
            self.lines.assign(results, call)
        else:
            self.lines.add(call, node=node)

    def _predicate(self, tensor: Tensor, expr: Expr, node: Node, what: str) -> Expr:
        if tensor.shape.rank == 0 and tensor.dtype.kind == "b":
            return expr
        return self.expressions.check(CHECK_PREDICATE, expr, {"what": what}, node)

    def _while(self, node: Node, position: int, scope: Scope) -> None:
        attrs = node.attrs
        cond, body, n = attrs["cond"], attrs["body"], int(attrs["n_vars"])
        variables = [k for k in range(n) if k != attrs["token"]]
        inits = [scope.env[t] for t in node.inputs]
        sited, watched = self.sited, self.watched
        turns = self._turns(node)
        counting = self.counting.get(node) if turns is None else None
        if counting is not None:
            variables.remove(counting.by.variable)
        loop_names = {k: self._loop_name(node, k, position, scope) for k in variables}
        if attrs["token"] is not None:
            scope.env[node.outputs[attrs["token"]]] = inits[attrs["token"]] = self.expressions.true()
        entry = [self._entry(node, k, inits[k]) for k in variables]
        self.lines.assign_all([loop_names[k] for k in variables], entry)
        current = [local(loop_names[k]) if k in loop_names else inits[k] for k in range(len(inits))]
        if counting is not None:
            k = counting.by.variable
            bounds = counting.bounds(current)
            current[k] = local(self.names.new_local(names.identifier(attrs["names"][k])))
            scope.env[node.outputs[k]] = inits[k]  # until the loop has ended
        for k in variables:
            self._bind(scope, node.outputs[k], loop_names[k])
        self._drop_inits(node, position, scope)
        uses = analyse(body, self.owned.in_place, self.chains)
        loop, counter = self._loop(node, uses, loop_names, counting, current)
        outside = self.lines
        deeper = 1 if turns is None else 2
        inside = Lines(outside.depth + deeper, (*outside.loops, loop), outside.loop_depth + deeper)
        self.lines = inside
        left = cond if counting is None else counting.cond
        predicate, made = (None, set()) if left is None else self._condition(node, left, current)
        test_first = not inside.lines and counter is None and turns is None and counting is None
        if predicate is not None and not test_first:
            inside.add("if ", *negated(predicate), ":")
            inside.add("break", indent=1)
        made |= self._body(node, uses, current, loop_names, loop.counter)
        self.lines = outside
        if counting is not None:
            name = str(current[counting.by.variable].name)
            self._range(bounds, counter, name)
            outside.extend(inside.lines or [Line("pass", inside.depth)])
            self._counted_to(node, position, scope, counting, current)
            self.names.release(made | {name} | ({counter} if counter else set()))
            return
        if turns is not None:
            outside.add(f"while {turns}.left:")
            outside.add(f"for {counter or '_'} in {turns}.some:", indent=1)
        elif test_first and predicate is not None:
            outside.add("while ", predicate, ":", loops=inside.loops)
        elif counter is None:
            outside.add("while True:")
        else:
            outside.add(f"for {counter} in {self.expressions.count()}():")
        outside.extend(inside.lines or [Line("pass", inside.depth)])
        if turns is not None:
            self.sited, self.watched = sited, watched
            self._boundary(node, turns, current, list(loop_names.values()))
        self.names.release(made | ({counter} if counter else set()))

    def _range(self, bounds: Sequence[str | Expr], counter: str | None, name: str) -> None:
        """Write ``for i in range(n):``, with the iterations counted beside it where that is another number."""
        if counter is None:
            self.lines.add(f"for {name} in range(", *bounds, "):")
        else:
            self.lines.add(f"for {counter}, {name} in enumerate(range(", *bounds, ")):")

    def _counted_to(self, node: Node, position: int, scope: Scope, counting: Counted, current: Sequence[Expr]) -> None:
        """Write what a counter is after the loop, if that is read: the limit, or its first value if there was none."""
        by = counting.by
        tensor = node.outputs[by.variable]
        if tensor not in scope.uses.last_read:
            return
        assert by.start is not None
        if by.trips is not None:
            value = tensor.dtype.type(by.start + by.trips * by.step)
            scope.env[tensor] = self.expressions.constant(value, node.name)
            return
        assert by.bound is not None
        start = self.expressions.constant(tensor.dtype.type(by.start), node.name)
        name = self._new(scope, names.identifier(node.attrs["names"][by.variable]))
        last: list[str | Expr] = [f"{'max' if by.step > 0 else 'min'}(", current[by.bound], ", ", start, ")"]
        if counting.by_number:
            last = [self.expressions.scalar(tensor.dtype), "(", *last, ")"]
        self.lines.add(f"{name} = ", *last)
        self._bind(scope, tensor, name)

    def _turns(self, node: Node) -> str | None:
        """Return the variable that says when the loop ``node`` may be handed over; none if a loop around it may be."""
        if self.sites is None or self.counted or self.sited:
            return None
        site = self.sites.replacing(node)
        if site is not None:
            self.sited = True
        elif not self.watched:
            site = self.sites.watching(node)
            self.watched = site is not None
        if site is None:
            return None
        name = self.names.new_global(names.of_node(node.name))
        self.expressions.namespace[name] = site
        turns = self.names.new_local("turns")
        self.lines.add(f"{turns} = {name}()")
        return turns

    def _boundary(self, node: Node, turns: str, current: Sequence[Expr], variables: Sequence[str]) -> None:
        """Write what comes between two chunks of iterations."""
        count = int(node.attrs["n_vars"])
        captured = [e for e, t in zip(current[count:], node.inputs[count:]) if t.op.op is not CONST]
        state = "state" if self.stateful else "None"
        self.lines.add("else:", indent=1)
        arguments = [part for e in captured for part in (", ", e)]
        known = "".join(f", {v}" for v in variables)
        results = f"({', '.join(variables)},) = " if variables else ""
        call = (f"{results}{turns}.boundary({state}{known}", *arguments, ")")
        self.lines.add(*call, indent=2, node=node)
        self.lines.add("continue", indent=2)
        self.lines.add("break", indent=1)

    def _loop(
        self, node: Node, uses: Uses, loop_names: dict[int, str], counting: Counted | None, current: Sequence[Expr]
    ) -> tuple[Loop, str | None]:
        """Return how the iterations are counted, for messages, and the variable that has to be made for it.

        Nothing is counted where nothing can fail; a loop variable that counts already does it for nothing.
        """
        cond, body = node.attrs["cond"], node.attrs["body"]
        if counting is not None and counting.by.start is not None and counting.by.step == 1:
            return Loop(node, current[counting.by.variable].name, counting.by.start), None
        checked = any(not proved(node, k) for k in loop_names)
        if not (self.counted or checked or graph_can_fail(cond) or graph_can_fail(body)):
            return Loop(node, None), None
        for k, name in loop_names.items():
            start = counts_from(node, k)
            if start is not None and body.outputs[k].op in uses.inline:
                return Loop(node, name, start), None
        counter = self.names.new_local("iteration")
        return Loop(node, counter), counter

    def _entry(self, node: Node, k: int, init: Expr) -> Expr:
        """Return the initial value of loop variable ``k``, checked, and copied if the loop writes to it."""
        tensor = node.inputs[k]
        if (node, k) in self.owned.begun:
            return self.expressions.begun(self.owned.begun[node, k], node)
        expr = self._invariant(node, k, tensor, init, True)
        if (node, k) in self.owned.copied and not (init.node is not None and is_fresh(tensor)):
            expr = self.expressions.copy(expr, node)
        return expr

    def _loop_name(self, node: Node, k: int, position: int, scope: Scope) -> str:
        """Return the variable of loop variable ``k``: the caller's or that of the initial value if that is dead,
        else new."""
        wanted = scope.wanted.get(node.outputs[k])
        if wanted is not None and scope.may_overwrite(wanted, node, position, k):
            return wanted
        name = names.identifier(node.attrs["names"][k])
        if scope.env[node.inputs[k]].name == name and scope.may_overwrite(name, node, position, k):
            return name
        return self._new(scope, name)

    def _drop_inits(self, node: Node, position: int, scope: Scope) -> None:
        """Free the initial values before the loop starts, unless something else reads them."""
        n = int(node.attrs["n_vars"])
        dead = []
        for tensor in dict.fromkeys(node.inputs[:n]):
            name = scope.env[tensor].name
            last = scope.uses.last_read[tensor] == position and not places(node.inputs[n:], tensor)
            if last and name in scope.mine and scope.owner.get(name) is tensor and may_hold_memory(tensor):
                dead.append(name)
                del scope.owner[name]
        if dead:
            self.lines.add("del " + ", ".join(dead))

    def _condition(self, node: Node, cond: Graph, current: Sequence[Expr]) -> tuple[Expr, set[str]]:
        scope = Scope(
            analyse(cond, self.owned.in_place, self.chains, predicate=True), dict(zip(cond.inputs, current)),
            result_length=INLINE_LENGTH,
        )  # fmt: skip
        self._nodes(cond, scope)
        tensor = cond.outputs[0]
        what = f"the condition of the loop {node.name!r}"
        return self._predicate(tensor, scope.env[tensor], node, what), scope.mine

    def _body(
        self, node: Node, uses: Uses, current: Sequence[Expr], loop_names: dict[int, str], counter: str | None
    ) -> set[str]:
        body = node.attrs["body"]
        scope = Scope(uses, dict(zip(body.inputs, current)))
        for k, name in loop_names.items():
            scope.owner[name] = body.inputs[k]
            if len(places(body.outputs, body.outputs[k])) == 1 and proved(node, k):
                scope.wanted[body.outputs[k]] = name
        self._nodes(body, scope)
        results = {
            name: self._invariant(node, k, body.outputs[k], scope.env[body.outputs[k]], False)
            for k, name in loop_names.items()
        }
        last = results.pop(counter) if counter in results else None
        self.lines.assign_all(list(results), list(results.values()))
        if counter is not None and last is not None:
            # a failure before this line belongs to the iteration that the counter still tells
            self.lines.assign([counter], last)
        return scope.mine

    def _invariant(self, node: Node, k: int, tensor: Tensor, expr: Expr, entry: bool) -> Expr:
        shape: TensorShape = node.attrs["invariants"][k]
        if tensor.shape.is_subsumed_by(shape) or tensor.dtype == variant:
            return expr
        attrs = {"variable": node.attrs["names"][k], "loop": node.name, "shape": shape, "entry": entry}
        return self.expressions.check(CHECK_INVARIANT, expr, attrs, node)

    def _cond(self, node: Node, position: int, scope: Scope) -> None:
        what = f"the condition of {node.name!r}"
        predicate = self._predicate(node.inputs[0], scope.env[node.inputs[0]], node, what)
        captured = [scope.env[t] for t in node.inputs[1:]]
        targets = self._branch_targets(node, position, scope)
        outside, blocks, values, made = self.lines, [], [], set()
        for graph in (node.attrs["then"], node.attrs["else"]):
            self.lines = Lines(outside.depth + 1, outside.loops, outside.loop_depth)
            found, mine = self._branch(node, graph, captured, targets, position, scope)
            blocks.append(self.lines)
            values.append(found)
            made |= mine
        self.lines = outside
        self._if(node, predicate, blocks, values, targets)
        self.names.release(made)
        for j, tensor in enumerate(node.outputs):
            if j in targets:
                self._bind(scope, tensor, targets[j])
            elif tensor in self.tokens:
                scope.env[tensor] = self.expressions.true()

    def _if(
        self, node: Node, predicate: Expr, blocks: Sequence[Lines], values: Sequence[Sequence[Expr]],
        targets: dict[int, str],
    ) -> None:  # fmt: skip
        order = list(targets)
        if len(order) == 1 and not blocks[0].lines and not blocks[1].lines:
            then, other = (v[order[0]] for v in values)
            own = targets[order[0]]
            if predicate.length + then.length + other.length <= INLINE_LENGTH and own not in (then.name, other.name):
                parts = (*closed(then, 2), " if ", *closed(predicate, 2), " else ", *closed(other, 1))
                self.lines.assign([own], Expr(parts, 1, node, predicate.reads | then.reads | other.reads))
                return
        for block, found in zip(blocks, values):
            block.assign_all(list(targets.values()), [found[j] for j in order])
        self.lines.branch(predicate, negated(predicate), blocks[0].lines, blocks[1].lines)

    def _branch_targets(self, node: Node, position: int, scope: Scope) -> dict[int, str]:
        """Return the variable of each output: the wanted one, that of a dead value that a branch passes on,
        or a new one."""
        then, other = node.attrs["then"], node.attrs["else"]
        outer = [dict(zip(g.inputs, node.inputs[1:])) for g in (then, other)]
        targets: dict[int, str] = {}
        for j, tensor in enumerate(node.outputs):
            if tensor in self.tokens or tensor not in scope.uses.last_read:
                continue
            passed = [o[g.outputs[j]] for o, g in zip(outer, (then, other)) if g.outputs[j] in o]
            candidates = [scope.wanted.get(tensor), *[scope.env[t].name for t in passed]]
            for name in candidates:
                if name and name not in targets.values() and scope.may_overwrite(name, node, position):
                    targets[j] = name
                    break
            else:
                sources = [g.outputs[j].op for g in (then, other) if g.outputs[j].op.op not in (PARAMETER, CONST)]
                hint = names.of_node((sources or [node])[0].name)
                targets[j] = self._new(scope, hint)
        return targets

    def _branch(
        self, node: Node, graph: Graph, captured: Sequence[Expr], targets: dict[int, str], position: int, scope: Scope
    ) -> tuple[list[Expr], set[str]]:
        """Emit one branch; gives its values and the variables it made."""
        inner = Scope(analyse(graph, self.owned.in_place, self.chains), dict(zip(graph.inputs, captured)))
        for param, outer, expr in zip(graph.inputs, node.inputs[1:], captured):
            name = expr.name
            if name is not None and scope.owner.get(name) is outer and scope.may_overwrite(name, node, position):
                inner.owner[name] = param
        for j, name in targets.items():
            if len(places(graph.outputs, graph.outputs[j])) == 1:
                inner.wanted[graph.outputs[j]] = name
            if all(expr.name != name for expr in captured):
                inner.fresh.add(name)
        self._nodes(graph, inner)
        return [inner.env[t] for t in graph.outputs], inner.mine
