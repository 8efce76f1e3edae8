"""Loops that add to a list: ``saved.append(x)`` in place of a push that asks whether the list is as long as it says.

What a forward loop saves for its gradient goes to a stack, a value that only grows. A loop that begins with the empty
one, adds an element in every iteration at the place that it has counted to, and looks at it nowhere else, is the only
one to hold it.

A store of checkpoints keeps what it is waiting for: ``if i == checkpoints.due: checkpoints.add(i, x)``.
"""

from __future__ import annotations

from ..analysis.induction import counts_from
from ..analysis.inside import loops_inside
from ..analysis.uses import place_of, readers
from ..base.dataclass import dataclass, field
from ..ir.graph import CONST, PARAMETER, Graph, Node


@dataclass
class Appended:
    """What is added to lists in place.

    Attributes
    ----------
    in_place : dict
        Node that may add to one of its inputs -> which.
    begun : dict
        While and loop variable that must start with an empty list of its own -> the node that appends to it.
    """

    in_place: dict[Node, int] = field(default_factory=dict)
    begun: dict[tuple[Node, int], Node] = field(default_factory=dict)


def find_appended(graph: Graph) -> Appended:
    """Return the nodes, in ``graph`` and inside it, that may add to what a loop holds."""
    found = Appended()
    for loop in loops_inside(graph):
        for k in range(loop.attrs["n_vars"]):
            step = _appended(loop, k)
            if step is not None:
                found.in_place[step] = 0
                if step.op.appends is not None and loop.inputs[k].op.op is step.op.appends.empty:
                    found.begun[loop, k] = step
    return found


def _appended(node: Node, k: int) -> Node | None:
    """Return what adds to variable ``k`` of a loop in every iteration and is all that is done to it."""
    cond, body = node.attrs["cond"], node.attrs["body"]
    held, after = body.inputs[k], body.outputs[k]
    step, init = after.op, node.inputs[k].op.op
    appends = step.op.appends
    if appends is None or init not in (appends.empty, *appends.sources) or step.inputs[0] is not held:
        return None
    if appends.waits:
        # what is written where it may not be read must be there already
        if any(t.op.op not in (PARAMETER, CONST) for t in step.inputs[1:]):
            return None
    else:
        counter = place_of(body.inputs[: node.attrs["n_vars"]], step.inputs[1])
        if counter is None or counts_from(node, counter) != 0:
            return None
    inside = readers(body)
    alone = inside.count(held) == 1 and inside.count(after) == 1 and cond.inputs[k] not in readers(cond)
    return step if alone else None
