"""What of batches stands before a failure, where the whole batch cannot begin any more.

A batch waits for the inputs of all its kernels. When a kernel has failed, what would have come from there, and from all
that stands behind it, never comes; and yet kernels of the batch that stand before the failure may run, and others may
wait for them that do something, or fail. So these are run one by one, each when its inputs are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .execution_plan import MISSING, Step, calling
from .first_failure import FirstFailure
from .flat_graph import FlatNode, Kind, Port
from .frames import Iteration, Ready, State

#: more than a batch has inputs
_NEVER = 1 << 40


class BatchParts:
    """The batches of one run that are done in part.

    Parameters
    ----------
    tokens : State
    """

    def __init__(self, tokens: State) -> None:
        self._tokens = tokens
        #: what is known of the values of a batch, and which of its nodes have been run
        self._known: dict[tuple[Iteration, Step], tuple[dict[Port, Any], set[int]]] = {}

    def go_on(self, failure: FirstFailure, light: Ready, heavy: Ready | None) -> tuple[bool, FirstFailure]:
        """Run what has its inputs, when nothing else is ready; returns whether that was anything, and the first failure
        that is known then."""
        moved = False
        for it in list(self._tokens.iterations()):
            for step in it.frame.plan.steps:
                if step.flat.kind is Kind.BATCH and failure.comes_behind((it, step)):
                    slots = it.values[step.first : step.last]
                    if (it, step) not in self._known and any(value is MISSING for value in slots):
                        it.values[step.count] += _NEVER
                        self._known[it, step] = {}, set()
                    if (it, step) in self._known:
                        more, failure = self._part(it, step, failure, light, heavy)
                        moved |= more
        return moved, failure

    def _part(
        self, it: Iteration, step: Step, failure: FirstFailure, light: Ready, heavy: Ready | None
    ) -> tuple[bool, FirstFailure]:
        """Do what ``go_on`` does, of one batch."""
        batch, (known, done) = step.flat.value, self._known[it, step]
        slots = zip(batch.inputs, it.values[step.first : step.last])
        known.update([(port, value) for port, value in slots if value is not MISSING])
        before = len(done)
        for index in batch.members:
            node = batch.lowered.nodes[index]
            if not failure.comes_behind((it, step), index):
                break
            if index in done or not _is_ready(node, batch.lowered.nodes, known):
                continue
            done.add(index)
            try:
                made = _run(node, batch, known)
            except Exception as error:
                failure = failure.earlier(FirstFailure(error, it, step, node))
                break
            known.update(made)
            for port in made.keys() & set(batch.outputs):
                assert step.outs is not None
                it.outstanding += 1
                edges = step.outs[batch.outputs.index(port)]
                self._tokens.deliver(it, [(it, edges, made[port])], light, heavy)
        return len(done) > before, failure


def _is_ready(node: FlatNode, nodes: tuple[FlatNode, ...], known: Mapping[Port, Any]) -> bool:
    there = [port in known or nodes[port[0]].kind is Kind.CONST for port in node.inputs]
    return any(there) if node.kind is Kind.MERGE else all(there) and all(port in known for port in node.controls)


def _run(node: FlatNode, batch: Any, known: Mapping[Port, Any]) -> dict[Port, Any]:
    """Return what a node gives whose inputs are there."""
    nodes = batch.lowered.nodes
    args = [known.get(port, nodes[port[0]].value) for port in node.inputs if port in known or nodes[port[0]].resting]
    if node.kind is Kind.KERNEL:
        kernel, in_place = calling(node, batch.owned)
        out = kernel(args) if in_place else kernel(*args)
        assert node.op is not None
        return {(node.index, k): value for k, value in enumerate(out if node.op.several else (out,))}
    return {(node.index, int(bool(args[1])) if node.kind is Kind.SWITCH else 0): args[0]}
