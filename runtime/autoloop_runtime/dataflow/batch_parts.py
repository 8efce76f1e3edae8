"""What of batches stands before a failure, where the whole batch cannot begin any more.

A batch waits for the inputs of all its kernels. When a kernel has failed, what would have come from there, and from all
that stands behind it, never comes; and yet kernels of the batch that stand before the failure may run, and others may
wait for them that do something, or fail. So these are run one by one, each when its inputs are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .execution_plan import MISSING, Step, calling
from .first_failure import FirstFailure, made_in_part
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
        #: what is known of the values of a batch, which of its nodes have been run, which of its tokens given
        self._known: dict[tuple[Iteration, Step], tuple[dict[Port, Any], set[int], set[int]]] = {}

    def go_on(self, failure: FirstFailure, light: Ready, heavy: Ready | None) -> tuple[bool, FirstFailure]:
        """Run what has its inputs, when nothing else is ready; returns whether that was anything, and the first failure
        that is known then."""
        moved = False
        for it in list(self._tokens.iterations()):
            for step in it.frame.plan.steps:
                if step.flat.kind is Kind.BATCH and failure.comes_behind((it, step)):
                    slots = step.flat.value.doors.spread(it.values[step.first : step.last])
                    if (it, step) not in self._known and any(value is MISSING for value in slots):
                        it.values[step.count] += _NEVER
                        self._known[it, step] = {}, set(), set()
                    if (it, step) in self._known:
                        more, failure = self._part(it, step, failure, light, heavy)
                        moved |= more
        return moved, failure

    def _part(
        self, it: Iteration, step: Step, failure: FirstFailure, light: Ready, heavy: Ready | None
    ) -> tuple[bool, FirstFailure]:
        """Do what ``go_on`` does, of one batch."""
        batch, (known, done, _) = step.flat.value, self._known[it, step]
        slots = zip(batch.inputs, batch.doors.spread(it.values[step.first : step.last]))
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
            self._deliver(it, step, known, light, heavy)
        return len(done) > before, failure

    def _deliver(self, it: Iteration, step: Step, known: Mapping[Port, Any], light: Ready, heavy: Ready | None) -> None:
        """Deliver the tokens that have become complete."""
        batch, (_, _, gone) = step.flat.value, self._known[it, step]
        predicate = batch.doors.predicate
        values = [known.get(port, MISSING) for port in batch.outputs]
        tokens = made_in_part(it, step, values, MISSING if predicate is None else known.get(predicate, MISSING), gone)
        for token in tokens:
            gone.add(step.outs.index(token[1]))  # type: ignore[union-attr]
            it.outstanding += 1
            self._tokens.deliver(it, [token], light, heavy)


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
