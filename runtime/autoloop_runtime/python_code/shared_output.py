"""What all that writes a graph as Python shares: the lines, the names, what is known of the nodes.

A ``Scope`` is what is known while one graph is written, an ``Output`` what lasts for a whole function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..analysis.ownership import Ownership
from ..analysis.sizes import may_hold_memory
from ..base.dataclass import dataclass
from ..ir.checks import CHECK_PREDICATE, CHECK_PROMISE
from ..ir.graph import Graph, Node
from ..ir.tensor import Tensor
from . import names
from .appending import Appended
from .block_chains import Chain
from .counted_loops import Counted
from .inlining import Uses, analyse
from .lines import Line, Lines
from .node_expressions import Expressions
from .scope import Scope
from .templates import Expr, local


@dataclass(frozen=True)
class Decided:
    """What is decided of a graph, and the graphs inside it, before anything is written.

    Attributes
    ----------
    stateful : bool
        The generated functions take the run's ``state``.
    tokens : set of Tensor
        See ``token_tensors``.
    owned : Ownership
        See ``find_owned``.
    appended : Appended
        See ``find_appended``.
    chains : dict
        See ``find_chains``.
    counting : dict
        See ``find_counted``.
    counted : bool
        Every loop counts its iterations.
    """

    stateful: bool
    tokens: set[Tensor]
    owned: Ownership
    appended: Appended
    chains: dict[Node, Chain]
    counting: dict[Node, Counted]
    counted: bool = False


class Output:
    """The generated code under construction.

    Parameters
    ----------
    decided : Decided
    write_nodes : callable
        ``write_nodes(graph, scope)`` writes the nodes of a graph.

    Attributes
    ----------
    names : Names
    expressions : Expressions
    lines : Lines
        The block that is written to.
    functions : list of list of Line
        Those that come before the main one.
    prologue : list of Line
        What comes first in the function that is being written.
    """

    def __init__(self, decided: Decided, write_nodes: Callable[[Graph, Scope], None]) -> None:
        self.decided = decided
        #: the nodes that write to one of their inputs -> which
        self.in_place = {**decided.owned.in_place, **decided.appended.in_place}
        self.write_nodes = write_nodes
        self.names = names.Names()
        self.expressions = Expressions(self.names)
        self.lines = Lines()
        self.functions: list[list[Line]] = []
        self.prologue: list[Line] = []
        #: where the reused arrays of the function being written come from, by shape and dtype
        self._reused: dict[tuple[tuple[int, ...], str], str] = {}

    def uses(self, graph: Graph, predicate: bool = False) -> Uses:
        """Return who reads what in ``graph``; ``predicate``: its first output is a loop's condition."""
        return analyse(graph, self.in_place, self.decided.chains, predicate, self.decided.owned.over)

    # -- variables ----------------------------------------------------------------------------------------

    def variable(self, scope: Scope, wanted: str) -> str:
        """Return a new variable of ``scope``."""
        name = self.names.new_local(wanted)
        scope.mine.add(name)
        return name

    def target(self, node: Node, tensor: Tensor, position: int, scope: Scope) -> str | None:
        """Return the variable that ``tensor`` is stored in; ``None`` if nobody reads it."""
        if tensor not in scope.uses.last_read:
            return None
        name = scope.wanted.get(tensor)
        if name is None or not scope.may_overwrite(name, node, position):
            base = names.of_node(node.name)
            name = self.variable(scope, base if len(node.outputs) < 2 else f"{base}_{tensor.index}")
        scope.bind(tensor, name)
        return name

    def drop(self, tensors: Iterable[Tensor], scope: Scope) -> list[str]:
        """Return the variables of large values among ``tensors``, which are dead: they can be deleted."""
        dead = []
        for tensor in tensors:
            expr = scope.env.get(tensor)
            name = expr.name if expr is not None else None
            if name in scope.mine and scope.owner.get(name) is tensor and may_hold_memory(tensor):
                dead.append(name)
                del scope.owner[name]
        return dead

    def reused(self, tensor: Tensor) -> Expr:
        """Return an array for the value of ``tensor``, of which one is wanted in every iteration."""
        shape, dtype = tensor.shape.as_tuple(), tensor.dtype
        name = self._reused.get((shape, dtype.str))
        if name is None:
            name = self._reused[shape, dtype.str] = self.names.new_local("reused")
            self.prologue.append(Line((name, " = ", self.expressions.reused(shape, dtype)), 1))
        return Expr((f"{name}()",), reads=frozenset((name,)), length=len(name) + 2)

    # -- checks -------------------------------------------------------------------------------------------

    def promise(self, node: Node, index: int, expr: Expr) -> Expr:
        """Return ``expr``, an output of ``node``, checked for the shape that was declared."""
        tensor = node.outputs[index]
        attrs = {"tensor": tensor.name, "shape": node.declared[index]}
        return self.expressions.check(CHECK_PROMISE, expr, attrs, node)

    def promise_all(self, node: Node, targets: Sequence[str | None]) -> None:
        """Check what was declared of the outputs of ``node``, which are in the variables ``targets``."""
        for index in node.declared:
            name = targets[index]
            if name is not None:
                self.lines.assign([name], self.promise(node, index, local(name)))

    def predicate(self, tensor: Tensor, expr: Expr, node: Node, what: str) -> Expr:
        """Return ``expr``, checked for a boolean scalar where the dtype and shape of ``tensor`` do not say so."""
        if tensor.shape.rank == 0 and tensor.dtype.kind == "b":
            return expr
        return self.expressions.check(CHECK_PREDICATE, expr, {"what": what}, node)

    # -- functions ----------------------------------------------------------------------------------------

    def out_of_line(self, write: Callable[[], None], node: Node, scope: Scope) -> None:
        """Write ``node``, as ``write`` does, as a function of its own that is called here."""
        reads = frozenset().union(*[scope.env[t].reads for t in node.inputs])
        parameters = (["state"] if self.decided.stateful else []) + sorted(reads)
        outer, self.lines = self.lines, Lines()
        around = self.prologue, self._reused
        self.prologue, self._reused = [], {}
        write()
        results = list(dict.fromkeys(n for t in node.outputs if (n := scope.env[t].name) in scope.owner))
        inner, self.lines = self.lines, outer
        inner.add("return " + ", ".join(results))
        name = self.names.new_global(names.of_node(node.name))
        self.functions.append([Line(f"def {name}({', '.join(parameters)}):"), *self.prologue, *inner.finished(1)])
        self.prologue, self._reused = around
        call = Expr((f"{name}({', '.join(parameters)})",), node=node)
        if results:
            self.lines.assign(results, call)
        else:
            self.lines.add(call, node=node)
