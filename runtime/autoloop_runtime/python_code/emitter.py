"""A function graph as the lines of a Python function: its nodes one after the other, each by who writes its kind."""

from __future__ import annotations

from functools import partial

from ..base.forks import undivided
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from . import names
from .emitted_plain import write_plain
from .loop_sites import LoopSites, SiteFactory
from .scope import INLINE_LENGTH, Scope
from .shared_output import Decided, Output
from .templates import listed

#: Python allows 20 statically nested loops and 100 levels of indentation; deeper code becomes a function
MAX_LOOPS = 16
MAX_DEPTH = 60


class Emitter:
    """Emits a function graph and everything inside it.

    Parameters
    ----------
    decided : Decided
    sites : SiteFactory, optional
        Asked for the loops that may be handed over to machine code; without it there are none.
    shown : bool
        Outermost loops can be asked how far they are.
    """

    def __init__(self, decided: Decided, sites: SiteFactory | None = None, shown: bool = False) -> None:
        self.decided = decided
        self.sites = LoopSites(sites, shown)
        self.out = Output(decided, self._nodes)

    def function(self, graph: Graph) -> list[str]:
        """Emit ``graph`` as the body of a function; gives the names of its parameters."""
        scope = Scope(self.out.uses(graph), result_length=INLINE_LENGTH)
        parameters = []
        for tensor in graph.inputs:
            name = self.out.names.new_local(names.of_node(tensor.op.name))
            parameters.append(name)
            scope.bind(tensor, name)
        self._nodes(graph, scope)
        results = [scope.env[t] for t in graph.outputs]
        self.out.lines.add("return [", *listed(results), "]")
        return parameters

    def _nodes(self, graph: Graph, scope: Scope) -> None:
        out, chains = self.out, self.decided.chains
        for position, node in enumerate(graph.nodes):
            if node.op is PARAMETER:
                if node.outputs[0] not in scope.env:
                    raise ValueError(f"placeholder {node.outputs[0].name!r} needs a value: feed it [AL505]")
                continue
            if node.op is CONST:
                scope.env[node.outputs[0]] = out.expressions.constant(node.attrs["value"], node.name)
            elif node.op in (WHILE, COND):
                self._structured(node, position, scope)
            elif node in chains:
                if node is not chains[node].nodes[-1]:
                    continue  # computed, and its inputs read, with the last of its chain
                with undivided():
                    from .fused_function import write_chain

                write_chain(out, chains[node], position, scope)
            else:
                write_plain(out, node, position, scope)
            dead = out.drop(scope.uses.dying.get(position, ()), scope)
            if dead:
                out.lines.add("del " + ", ".join(sorted(dead)))

    def _structured(self, node: Node, position: int, scope: Scope) -> None:
        out = self.out
        if node.op is WHILE:
            with undivided():
                from .emitted_loops import write_loop

            write = partial(write_loop, out, self.sites)
        else:
            with undivided():
                from .emitted_branches import write_branch

            write = partial(write_branch, out)
        if out.lines.loop_depth < MAX_LOOPS and out.lines.depth < MAX_DEPTH:
            write(node, position, scope)
        else:
            out.out_of_line(lambda: write(node, position, scope), node, scope)
        if node.declared:
            read = scope.uses.last_read
            out.promise_all(node, [scope.env[t].name if t in read else None for t in node.outputs])
