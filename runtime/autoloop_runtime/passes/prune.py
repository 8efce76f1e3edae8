"""Leaving out what the outputs do not need, down to single loop variables and branch results.

What an output of a structured node needs is a set of the node's inputs, kept as the bits of an int: the relation
of a graph is found in one walk, that of a loop by closing it over the iterations. The loop variables that only
an unused result needs are gone with it; one that never changes becomes a captured value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..analysis.passed_on import Origins
from ..base.bits import members
from ..ir.graph import PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from .rewrite import Copy
from .strictness import may_raise

#: per output, which inputs it needs
Relation = list[int]


def prune(graph: Graph) -> Graph:
    """Return ``graph`` without the nodes, loop variables, branch results and captures that its outputs do not need."""
    while True:
        pruner = _Pruner()
        graph = pruner.graph(graph, graph.outputs, graph.inputs, None)
        if not pruner.replaced:
            return graph


class _Pruner:
    """One run of the pass; the relations of nodes are found once.

    ``replaced``: something was found to equal something else, so that another run may find more.
    """

    def __init__(self) -> None:
        self.replaced = False
        self._relations: dict[Node, Relation] = {}
        self._wanted: dict[Node, list[int]] = {}
        self.origins = Origins()

    # -- what needs what ----------------------------------------------------------------------------------

    def relation(self, node: Node) -> Relation:
        """Return per output of a structured node, the inputs it needs."""
        known = self._relations.get(node)
        if known is None:
            known = self._while(node) if node.op is WHILE else self._cond(node)
            self._relations[node] = known
        return known

    def _graph(self, graph: Graph) -> Relation:
        masks: dict[Tensor, int] = {t: 1 << i for i, t in enumerate(graph.inputs)}
        for node in graph.nodes:
            if node.op is PARAMETER:
                masks.setdefault(node.outputs[0], 0)
                continue
            first = 0
            for tensor in node.control_inputs:
                first |= masks[tensor]
            if not node.op.graphs:
                for tensor in node.inputs:
                    first |= masks[tensor]
                for tensor in node.outputs:
                    masks[tensor] = first
                continue
            inputs = [masks[t] for t in node.inputs]
            for tensor, needs in zip(node.outputs, self.relation(node)):
                mask = first
                for i in members(needs):
                    mask |= inputs[i]
                masks[tensor] = mask
        return [masks[t] for t in graph.outputs]

    def _while(self, node: Node) -> Relation:
        n, token = node.attrs["n_vars"], node.attrs["token"]
        predicate, *effects = self._graph(node.attrs["cond"])
        step = self._graph(node.attrs["body"])
        if effects:
            step = [s | effects[0] if s >> token & 1 else s for s in step]
        step = [1 << k if self.origins.fixed(node, k) else s for k, s in enumerate(step)]
        variables = (1 << n) - 1

        def closed(mask: int) -> int:
            seen = 0
            while rest := mask & variables & ~seen:
                seen |= rest
                for k in members(rest):
                    mask |= step[k]
            return mask

        always = closed(predicate)
        out = []
        for k in range(n):
            own = 1 << k | (effects[0] if effects and k == token else 0)
            out.append(own if self.origins.fixed(node, k) else closed(own | always))
        return out

    def _cond(self, node: Node) -> Relation:
        pairs = zip(self._graph(node.attrs["then"]), self._graph(node.attrs["else"]))
        out = []
        for j, (a, b) in enumerate(pairs):
            passed = self._passed(node, j)
            out.append(1 | (a | b) << 1 if passed is None else 1 << passed)
        return out

    def _passed(self, node: Node, j: int) -> int | None:
        """Return the input that output ``j`` of a conditional always equals, unless the predicate would be lost, which
        may raise."""
        passed = self.origins.source(node, j)
        if j or passed is None or any(self.origins.source(node, k) is None for k in range(1, len(node.outputs))):
            return passed
        return None if may_raise(node.inputs[0]) else passed

    # -- copying what is needed ---------------------------------------------------------------------------

    def graph(
        self, graph: Graph, outputs: Sequence[Tensor], inputs: Sequence[Tensor], parent: Graph | None,
        same: dict[Tensor, Tensor] | None = None,
    ) -> Graph:  # fmt: skip
        """Return the part of ``graph`` for ``outputs``, with ``inputs`` left; ``same``:
        parameters that equal others."""
        needs = self._needs(graph, outputs)
        copy = Copy(graph, Copy.keep, parent)
        done = set(inputs)
        for node in graph.nodes:
            if node.op is PARAMETER and node.outputs[0] in done:
                copy.keep(node)
        for twin, first in (same or {}).items():
            copy.of[twin] = first
            done.add(twin)
            self.replaced = True
        for node in graph.nodes:
            if node not in needs or (node.op is PARAMETER and node.outputs[0] in done):
                continue
            if node.op is WHILE:
                self._keep_while(copy, node, needs[node])
            elif node.op is COND:
                self._keep_cond(copy, node, needs[node])
            else:
                copy.keep(node)
        return copy.finish(inputs, outputs)

    def _needs(self, graph: Graph, outputs: Sequence[Tensor]) -> dict[Node, int]:
        """Return the needed nodes; for structured ones the bits of the inputs they need for what is needed of them."""
        live = set(outputs)
        needs: dict[Node, int] = {}
        for node in reversed(graph.nodes):
            if live.isdisjoint(node.outputs):
                continue
            live.update(node.control_inputs)
            if not node.op.graphs:
                needs[node] = -1
                live.update(node.inputs)
                continue
            wanted = [j for j, t in enumerate(node.outputs) if t in live]
            mask = 0
            for j in wanted:
                mask |= self.relation(node)[j]
            needs[node] = mask
            live.update(node.inputs[i] for i in members(mask))
            self._wanted[node] = wanted
        return needs

    def _keep_while(self, copy: Copy, node: Node, mask: int) -> None:
        attrs, n = node.attrs, node.attrs["n_vars"]
        for k in range(n):
            if mask >> k & 1 and self.origins.fixed(node, k):
                copy.of[node.outputs[k]] = copy.stands(node.inputs[k])
                self.replaced = True
        if all(self.origins.fixed(node, k) for k in self._wanted[node]):
            return
        variables = [k for k in range(n) if mask >> k & 1 and not self.origins.fixed(node, k)]
        held = [i for i in members(mask) if i >= n or self.origins.fixed(node, i)]
        token = attrs["token"]
        keeps_token = token is not None and mask >> token & 1
        held, same = _without_twins(copy, node, held, (attrs["cond"], attrs["body"]), 0)
        order = [*variables, *held]
        cond, body = attrs["cond"], attrs["body"]
        made: dict[str, Any] = {
            **attrs,
            "cond": self.graph(cond, cond.outputs if keeps_token else cond.outputs[:1],
                               [cond.inputs[i] for i in order], copy.graph, same[0]),
            "body": self.graph(body, [body.outputs[k] for k in variables],
                               [body.inputs[i] for i in order], copy.graph, same[1]),
            "n_vars": len(variables),
            "token": variables.index(token) if keeps_token else None,
        }  # fmt: skip
        for key in ("names", "invariants", "specs"):
            if key in attrs:
                made[key] = tuple([attrs[key][k] for k in variables])
        copy.keep(node, [copy.stands(node.inputs[i]) for i in order], made, variables)

    def _keep_cond(self, copy: Copy, node: Node, mask: int) -> None:
        outputs = []
        for j in self._wanted[node]:
            passed = self._passed(node, j)
            if passed is None:
                outputs.append(j)
            else:
                copy.of[node.outputs[j]] = copy.stands(node.inputs[passed])
                self.replaced = True
        if not outputs:
            return
        subs = {key: node.attrs[key] for key in ("then", "else")}
        held, same = _without_twins(copy, node, [i for i in members(mask) if i > 0], tuple(subs.values()), 1)
        made: dict[str, Any] = dict(node.attrs)
        for (key, sub), twins in zip(subs.items(), same):
            made[key] = self.graph(
                sub, [sub.outputs[j] for j in outputs], [sub.inputs[i - 1] for i in held], copy.graph, twins
            )
        if "specs" in made:
            made["specs"] = tuple([node.attrs["specs"][j] for j in outputs])
        copy.keep(node, [copy.stands(node.inputs[i]) for i in (0, *held)], made, outputs)


def _without_twins(
    copy: Copy, node: Node, held: Sequence[int], subs: Sequence[Graph], shift: int
) -> tuple[list[int], list[dict[Tensor, Tensor]]]:
    """Return captures without those that hold the same tensor twice; per graph, which parameter stands for which."""
    first: dict[Tensor, int] = {}
    same: list[dict[Tensor, Tensor]] = [{} for _ in subs]
    for i in held:
        known = first.setdefault(copy.stands(node.inputs[i]), i)
        if known != i:
            for sub, twins in zip(subs, same):
                twins[sub.inputs[i - shift]] = sub.inputs[known - shift]
    return list(first.values()), same
