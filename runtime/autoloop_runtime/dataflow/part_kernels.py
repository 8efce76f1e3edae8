"""One kernel for what gives a part of an array its next value: ``a[1:] += b`` needs no memory of that part's size.

Of two kernels, one computes the value and the other one puts it there. So it is of the elements that a mask chooses,
``np.sqrt(a, out=b, where=m)``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..analysis.failure import can_fail
from ..analysis.part_updates import updated_part
from ..analysis.sizes import is_large
from ..analysis.uses import Readers, readers
from ..ir.graph import Graph, Node
from ..ir.op import Op, Taking
from ..ir.traits import UPDATING, NoRule
from ..ops.later_rows import is_where
from ..passes.given_places import over
from ..passes.prune import prune
from ..passes.rewrite import Copy, rewrite


def with_part_kernels(graph: Graph) -> Graph:
    """Return ``graph`` with such kernels."""
    made = rewrite(graph, functools.partial(_visit, functools.cache(readers)))
    return graph if made is graph else prune(made)


def _visit(reading: Callable[[Graph], Readers], copy: Copy, node: Node) -> None:
    """Keep a node, or put one in its place that computes the value which it writes, too."""
    free = not node.declared and not node.control_inputs
    found = updated_part(reading(copy.source), node) if free else None
    if found is None:
        made = _chosen(reading(copy.source), node) if free and is_where(node.op) else None
        if made is None:
            copy.keep(node)
            return
        mask, _, array = node.inputs
        own = tuple([t is array for t in made.inputs])
        inputs = [copy.stands(t) for t in (array, mask, *[t for t in made.inputs if t is not array])]
        copy.exchange(node, _masked(made.op, own), inputs, {}, made.location)
        return
    made, k = found
    array, _, *index = node.inputs
    others = [t for j, t in enumerate(made.inputs) if j != k]
    inputs = [copy.stands(t) for t in (array, *others, *index)]
    copy.exchange(node, _joined(node.op, made.op), inputs, {"part": dict(node.attrs), "k": k}, made.location)


def _chosen(reading: Readers, node: Node) -> Node | None:
    """Return the ufunc that computes, for ``node`` alone, what a mask chooses in place of elements."""
    value, array = node.inputs[1:]
    if value.node not in reading.place or reading.only(value) is None or not is_large(value):
        return None
    made: Node = value.op
    same = (value.dtype, value.shape) == (array.dtype, array.shape) == (node.outputs[0].dtype, node.outputs[0].shape)
    code = made.op.into or ""
    calls = made.op.traits.elementwise and code.count("{out}") == 1 and re.match(r"np\..*, out=\{out\}\)$", code)
    return made if same and calls and not (made.declared or made.control_inputs or can_fail(made)) else None


@functools.cache
def _masked(op: Op, own: tuple[bool, ...]) -> Op:
    """Return the operation that writes to its first input, where its second is true, what ``op`` makes of others, and
    of the first one itself at the places ``own``."""
    compute = over(op, "where")
    assert compute is not None

    def write(x: Any, mask: Any, *values: Any) -> Any:
        others = iter(values)
        compute(*[x if is_own else next(others) for is_own in own], x, mask)
        return x

    return Op(
        f"{op.name}_where",
        lambda x, *_, **__: (x.dtype, x.shape),
        lambda x, mask, *values: write(np.array(x), mask, *values),
        NoRule.NO_RULE,
        traits=UPDATING.but(fails=op.traits.fails, raises=op.traits.raises, price=op.traits.price),
        taking=Taking(write, (0,), is_update=True),
    )


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
