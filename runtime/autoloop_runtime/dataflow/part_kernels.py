"""One kernel for what gives a part of an array its next value: ``a[1:] += b`` needs no memory of that part's size.

Of two kernels, one computes the value and the other one puts it there.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..analysis.part_updates import updated_part
from ..analysis.uses import Readers, readers
from ..ir.graph import Graph, Node
from ..ir.op import Op, Taking
from ..ir.traits import UPDATING, NoRule
from ..passes.given_places import over
from ..passes.prune import prune
from ..passes.rewrite import Copy, rewrite


def with_part_kernels(graph: Graph) -> Graph:
    """Return ``graph`` with such kernels."""
    made = rewrite(graph, functools.partial(_visit, functools.cache(readers)))
    return graph if made is graph else prune(made)


def _visit(reading: Callable[[Graph], Readers], copy: Copy, node: Node) -> None:
    """Keep a node, or put one in its place that computes the value which it writes, too."""
    found = None if node.declared or node.control_inputs else updated_part(reading(copy.source), node)
    if found is None:
        copy.keep(node)
        return
    made, k = found
    array, _, *index = node.inputs
    others = [t for j, t in enumerate(made.inputs) if j != k]
    inputs = [copy.stands(t) for t in (array, *others, *index)]
    copy.exchange(node, _joined(node.op, made.op), inputs, {"part": dict(node.attrs), "k": k}, made.location)


@functools.cache
def _joined(writer: Op, op: Op) -> Op:
    """Return the operation that writes to a part of its first input, the one that ``writer`` writes, what ``op`` makes
    of that and others."""
    compute, taking = over(op), writer.taking
    assert compute is not None and taking is not None and taking.part is not None
    view = taking.part.view
    count = compute.__code__.co_argcount - 2

    def write(x: Any, *values: Any, part: Any, k: int) -> Any:
        there = view(x, *values[count:], **part)
        compute(*values[:k], there, *values[k:count], there)
        return x

    def kernel(x: Any, *values: Any, part: Any, k: int) -> Any:
        return write(np.array(x), *values, part=part, k=k)

    return Op(
        f"{op.name}_part",
        lambda x, *_, **__: (x.dtype, x.shape),
        kernel,
        NoRule.NO_RULE,
        traits=UPDATING.but(fails=op.traits.fails, raises=op.traits.raises, price=op.traits.price),
        taking=Taking(write, (0,), is_update=True),
    )
