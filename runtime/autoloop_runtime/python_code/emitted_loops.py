"""A ``While`` as Python: ``while``, ``for i in range(n)``, or chunks of iterations that may be left between two."""

from __future__ import annotations

from collections.abc import Sequence

from ..analysis.aliasing import is_fresh
from ..analysis.failure import graph_can_fail
from ..analysis.induction import counts_from
from ..analysis.uses import places
from ..base.dtypes import variant
from ..base.shapes import TensorShape
from ..ir.checks import CHECK_INVARIANT
from ..ir.graph import Graph, Node
from ..ir.tensor import Tensor
from . import names
from .inlining import Uses
from .lines import Line, Lines, Loop
from .loop_sites import LoopSites
from .scope import INLINE_LENGTH, Scope, proved
from .shared_output import Output
from .templates import Expr, local, negated


def write_loop(out: Output, sites: LoopSites, node: Node, position: int, scope: Scope) -> None:
    """Write the loop ``node``, at ``position`` in the graph of ``scope``."""
    _LoopStatement(out, sites, node, position, scope).write()


class _LoopStatement:
    """One loop.

    Attributes
    ----------
    turns : str or None
        The variable that says when it may be left in the middle.
    counting : Counted or None
        How it counts, if a Python number does.
    names : dict
        Loop variable -> Python variable.
    current : list of Expr
        What the inputs of condition and body are.
    """

    def __init__(self, out: Output, sites: LoopSites, node: Node, position: int, scope: Scope) -> None:
        self.out, self.sites, self.node, self.position, self.scope = out, sites, node, position, scope
        self.cond: Graph = node.attrs["cond"]
        self.body: Graph = node.attrs["body"]
        self.current = [scope.env[t] for t in node.inputs]
        self.turns = sites.enter(out, node)
        self.counting = out.decided.counting.get(node) if self.turns is None else None
        token = node.attrs["token"]
        variables = [k for k in range(int(node.attrs["n_vars"])) if k != token]
        if self.counting is not None:
            variables.remove(self.counting.by.variable)
        self.names = {k: self._name(k) for k in variables}
        if token is not None:
            scope.env[node.outputs[token]] = self.current[token] = out.expressions.true()

    def write(self) -> None:
        """Write the values that it begins with, the loop, and what comes after it."""
        out, outside = self.out, self.out.lines
        out.lines.assign_all(list(self.names.values()), [self._entry(k, self.current[k]) for k in self.names])
        self.current = [local(self.names[k]) if k in self.names else e for k, e in enumerate(self.current)]
        bounds = self._begin_counting()
        for k, name in self.names.items():
            self.scope.bind(self.node.outputs[k], name)
        self._drop_inits()
        uses = out.uses(self.body)
        loop, counter = self._iterations(uses)
        odometer = self.sites.begin(out, self.node, self.turns)
        deeper = 1 if self.turns is None else 2
        out.lines = inside = Lines(outside.depth + deeper, (*outside.loops, loop), outside.loop_depth + deeper)
        predicate, made = self._condition()
        in_head = not inside.lines and counter is odometer is None and self.turns is None and self.counting is None
        if predicate is not None and not in_head:
            inside.add("if ", *negated(predicate), ":")
            inside.add("break", indent=1)
        made |= self._iteration(uses, loop.counter)
        out.lines = outside
        self._head(bounds, counter, odometer, predicate if in_head else None, inside)
        outside.extend(inside.lines or [Line("pass", inside.depth)])
        if self.counting is not None:
            self._counted_to()
            made.add(str(self.current[self.counting.by.variable].name))
        if self.turns is not None:
            self.sites.leave(out, self.node, self.turns, self.current, list(self.names.values()))
        self.sites.end(out, odometer)
        out.names.release(made | ({counter} if counter else set()))
        self._drop([t for t in self.node.outputs if t not in self.scope.uses.last_read])

    def _head(
        self, bounds: Sequence[str | Expr], counter: str | None, odometer: str | None, predicate: Expr | None,
        inside: Lines,
    ) -> None:  # fmt: skip
        lines = self.out.lines
        over, end = (f"{odometer}.over(", ")") if odometer else ("", "")
        if self.counting is not None:
            name = self.current[self.counting.by.variable].name
            if counter is None:
                lines.add(f"for {name} in {over}range(", *bounds, f"){end}:")
            else:  # the iterations are counted beside it
                lines.add(f"for {counter}, {name} in enumerate({over}range(", *bounds, f")){end}:")
        elif self.turns is not None:
            lines.add(f"while {self.turns}.left:")
            lines.add(f"for {counter or '_'} in {over}{self.turns}.some{end}:", indent=1)
        elif predicate is not None:
            lines.add("while ", predicate, ":", loops=inside.loops)
        elif odometer is not None:
            lines.add(f"for {counter or '_'} in {odometer}.{'counting' if counter else 'over'}():")
        elif counter is None:
            lines.add("while True:")
        else:
            lines.add(f"for {counter} in {self.out.expressions.count()}():")

    # -- where it begins ----------------------------------------------------------------------------------

    def _name(self, k: int) -> str:
        """Return the variable of loop variable ``k``: the caller's or that of the initial value if that is dead,
        else new."""
        node, scope = self.node, self.scope
        wanted = scope.wanted.get(node.outputs[k])
        if wanted is not None and scope.may_overwrite(wanted, node, self.position, k):
            return wanted
        name = names.identifier(node.attrs["names"][k])
        if scope.env[node.inputs[k]].name == name and scope.may_overwrite(name, node, self.position, k):
            return name
        return self.out.variable(scope, name)

    def _entry(self, k: int, init: Expr) -> Expr:
        """Return the initial value of loop variable ``k``, checked, and copied if the loop writes to it."""
        node, tensor, decided = self.node, self.node.inputs[k], self.out.decided
        if (node, k) in decided.appended.begun:
            return self.out.expressions.begun(decided.appended.begun[node, k], node)
        expr = self._invariant(k, tensor, init, True)
        if (node, k) in decided.owned.copied and not (init.node is not None and is_fresh(tensor)):
            expr = self.out.expressions.copy(expr, node)
        return expr

    def _drop_inits(self) -> None:
        """Free the initial values before the loop starts, unless something else reads them."""
        inputs, n = self.node.inputs, int(self.node.attrs["n_vars"])
        last_read = self.scope.uses.last_read
        inits = [t for t in dict.fromkeys(inputs[:n]) if last_read[t] == self.position and not places(inputs[n:], t)]
        self._drop(inits)

    def _drop(self, tensors: Sequence[Tensor]) -> None:
        """Free what nobody reads any more."""
        if dead := self.out.drop(tensors, self.scope):
            self.out.lines.add("del " + ", ".join(dead))

    def _invariant(self, k: int, tensor: Tensor, expr: Expr, entry: bool) -> Expr:
        attrs = self.node.attrs
        shape: TensorShape = attrs["invariants"][k]
        if tensor.shape.is_subsumed_by(shape) or tensor.dtype == variant:
            return expr
        told = {"variable": attrs["names"][k], "loop": self.node.name, "shape": shape, "entry": entry}
        return self.out.expressions.check(CHECK_INVARIANT, expr, told, self.node)

    # -- what counts --------------------------------------------------------------------------------------

    def _begin_counting(self) -> list[str | Expr]:
        """Return the arguments of ``range``, if a Python number counts, and name that."""
        if self.counting is None:
            return []
        k = self.counting.by.variable
        bounds = self.counting.bounds(self.current)
        self.scope.env[self.node.outputs[k]] = self.current[k]  # until the loop has ended
        self.current[k] = local(self.out.names.new_local(names.identifier(self.node.attrs["names"][k])))
        return bounds

    def _iterations(self, uses: Uses) -> tuple[Loop, str | None]:
        """Return how the iterations are counted, for messages, and the variable that has to be made for it.

        Nothing is counted where nothing can fail; a loop variable that counts already does it for nothing.
        """
        node, counting = self.node, self.counting
        if counting is not None and counting.by.start is not None and counting.by.step == 1:
            return Loop(node, self.current[counting.by.variable].name, counting.by.start), None
        checked = any(not proved(node, k) for k in self.names)
        if not (self.out.decided.counted or checked or graph_can_fail(self.cond) or graph_can_fail(self.body)):
            return Loop(node, None), None
        for k, name in self.names.items():
            start = counts_from(node, k)
            if start is not None and self.body.outputs[k].op in uses.inline:
                return Loop(node, name, start), None
        counter = self.out.names.new_local("iteration")
        return Loop(node, counter), counter

    def _counted_to(self) -> None:
        """Write what a counter is after the loop, if that is read: the limit, or its first value if there was none."""
        assert self.counting is not None
        node, by, expressions = self.node, self.counting.by, self.out.expressions
        tensor = node.outputs[by.variable]
        if tensor not in self.scope.uses.last_read:
            return
        assert by.start is not None
        if by.trips is not None:
            value = tensor.dtype.type(by.start + by.trips * by.step)
            self.scope.env[tensor] = expressions.constant(value, node.name)
            return
        assert by.bound is not None
        start = expressions.constant(tensor.dtype.type(by.start), node.name)
        name = self.out.variable(self.scope, names.identifier(node.attrs["names"][by.variable]))
        last: list[str | Expr] = [f"{'max' if by.step > 0 else 'min'}(", self.current[by.bound], ", ", start, ")"]
        if self.counting.by_number:
            last = [expressions.scalar(tensor.dtype), "(", *last, ")"]
        self.out.lines.add(f"{name} = ", *last)
        self.scope.bind(tensor, name)

    # -- what is inside -----------------------------------------------------------------------------------

    def _condition(self) -> tuple[Expr | None, set[str]]:
        """Write what is left to ask in each iteration; gives its expression and the variables it made."""
        cond = self.cond if self.counting is None else self.counting.cond
        if cond is None:
            return None, set()
        scope = Scope(
            self.out.uses(cond, predicate=True), dict(zip(cond.inputs, self.current)), result_length=INLINE_LENGTH
        )
        self.out.write_nodes(cond, scope)
        tensor = cond.outputs[0]
        what = f"the condition of the loop {self.node.name!r}"
        return self.out.predicate(tensor, scope.env[tensor], self.node, what), scope.mine

    def _iteration(self, uses: Uses, counter: str | None) -> set[str]:
        """Write the body; gives the variables it made."""
        body = self.body
        scope = Scope(uses, dict(zip(body.inputs, self.current)))
        for k, name in self.names.items():
            scope.owner[name] = body.inputs[k]
            if len(places(body.outputs, body.outputs[k])) == 1 and proved(self.node, k):
                scope.wanted[body.outputs[k]] = name
        self.out.write_nodes(body, scope)
        results = {
            name: self._invariant(k, body.outputs[k], scope.env[body.outputs[k]], False)
            for k, name in self.names.items()
        }
        last = results.pop(counter) if counter in results else None
        self.out.lines.assign_all(list(results), list(results.values()))
        if counter is not None and last is not None:
            # a failure before this line belongs to the iteration that the counter still tells
            self.out.lines.assign([counter], last)
        return scope.mine
