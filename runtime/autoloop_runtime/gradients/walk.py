"""The reverse walk over one graph.

Nodes are visited last to first; each turns the gradients of its outputs into gradients of its inputs, by the rule
beside its op. The new nodes go into the current default graph, which is the forward graph itself or its
``BackwardGraph``. Loops and branches are ops like any other here; their rules are in ``STRUCTURED``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .. import ops
from ..base import dtypes
from ..base.dataclass import dataclass
from ..collections import adjoint_table
from ..collections.accumulators import accumulate, constant_zeros, settle
from ..ir.convert import convert_to_tensor
from ..ir.graph import Graph, Node, current_graph
from ..ir.op import Op
from ..ir.tensor import Tensor
from ..ir.traits import NO_GRADIENT, NoRule
from ..ops.indexing import added_there, is_of_part, of_same_part
from ..ops.python_functions import PY_FUNCTION
from .activity import Key, Marks
from .rematerialize import BackwardGraph

#: ``rule(node, gradients of its outputs, walk)`` adds the gradients of the inputs to ``walk.adjoints``; filled while
#: modules are imported
STRUCTURED: dict[Op, Callable[[Node, Sequence[Tensor | None], Walk], None]] = {}


class Adjoints:
    """The gradients found so far.

    Attributes
    ----------
    sinks : dict
        For the tensors whose gradient is collected in an accumulator (or a adjoint table): its newest value.
    """

    def __init__(self, sinks: Mapping[Key, Tensor] | None = None) -> None:
        self.sinks: dict[Key, Tensor] = dict(sinks or {})
        self._parts: dict[Key, list[Tensor]] = {}
        #: the sum of the first so many parts
        self._sums: dict[Key, tuple[int, Tensor]] = {}

    def add(self, key: Key, part: Tensor) -> None:
        """Add ``part`` to the gradient of ``key``."""
        if key not in self.sinks:
            self._parts.setdefault(key, []).append(part)
        elif part.dtype == dtypes.variant:
            self.sinks[key] = adjoint_table.merge(self.sinks[key], part)
        else:
            self.sinks[key] = accumulate(self.sinks[key], part)

    def total(self, key: Key) -> Tensor | None:
        """Return the gradient of ``key``, ``None`` if it is zero."""
        parts = self._parts.get(key)
        if parts is None:
            return None
        count, known = self._sums.get(key, (0, None))
        todo = [] if known is None else [known]
        for part in parts[count:]:
            _put(todo, part)
        total = functools.reduce(added, todo)
        self._sums[key] = len(parts), total
        return total

    def parts(self, key: Key) -> list[Tensor]:
        """Return what ``total`` sums up."""
        return self._parts.get(key, [])


def _put(found: list[Tensor], part: Tensor) -> None:
    """Put ``part`` behind what is to be summed up, or to one of the same part: an array is gone through once for both.

    The part that was found last is asked first: a stencil is written from one side to the other.
    """
    for k in reversed(range(len(found))):
        both = of_same_part(found[k], part)
        if both is not None:
            found[k] = both
            return
    found.append(part)


def added(total: Tensor, part: Tensor) -> Tensor:
    """Return the sum of two gradients of one tensor; one of a part of it, ``x[i]``, is added there and nowhere else."""
    if part.dtype == dtypes.variant:
        return adjoint_table.merge(total, part)
    if not is_of_part(part):
        total, part = part, total
    if is_of_part(part) and total.dtype == part.dtype and total.shape == part.shape:
        return added_there(total, part)
    made: Tensor = ops.add(total, part)
    return made


@dataclass(frozen=True)
class Collected:
    """A gradient that a sub-graph adds to: of ``outer`` outside, which is ``inner`` inside (or its position).

    Attributes
    ----------
    running : Tensor or None
        The newest value of a sum that is collected around the structured node, too, and goes on inside.
    """

    outer: Key
    inner: Any
    running: Tensor | None


class Walk:
    """One reverse walk.

    Attributes
    ----------
    graph : Graph
        The forward graph.
    reached : set of Tensor
        The tensors whose gradient is wanted: those that depend on a source.
    marks : Marks
        Where sources show up inside.
    adjoints : Adjoints
    """

    def __init__(self, graph: Graph, reached: set[Tensor], marks: Marks, adjoints: Adjoints) -> None:
        self.graph = graph
        self.reached = reached
        self.marks = marks
        self.adjoints = adjoints

    def add(self, tensor: Tensor, part: Tensor | None) -> None:
        """Add to the gradient of a tensor of the forward graph, if it is wanted."""
        if part is not None and tensor in self.reached:
            self.adjoints.add(self.marks.key(tensor), part)

    def add_to(self, tensor: Tensor | None, part: Tensor) -> None:
        """Add as ``add`` does, of a tensor that may be none."""
        if tensor is not None:
            self.add(tensor, part)

    def collected(self, pairs: Sequence[tuple[Tensor, Any]], relevant: Iterable[Tensor]) -> list[Collected]:
        """Return what the sub-graphs of a structured node add to.

        ``pairs`` are captured tensors and what they are inside. Sources may show up inside by themselves, too: those
        among the tensors that are ``relevant``, which are what the results with a gradient depend on.
        """
        found: list[tuple[Key, Any]] = [(self.marks.key(outer), inner) for outer, inner in pairs]
        own = self.marks.among(relevant)
        found += [(key, key) for key in self.marks.sources if key in own]
        sinks, taken = self.adjoints.sinks, set()
        out = []
        for outer, inner in found:
            out.append(Collected(outer, inner, None if outer in taken else sinks.get(outer)))
            taken.add(outer)
        return out

    def hand_out(self, collected: Sequence[Collected], totals: Sequence[Tensor]) -> None:
        """Take over what the sub-graphs collected."""
        for item, total in zip(collected, totals):
            if item.running is not None:
                self.adjoints.sinks[item.outer] = total
            else:
                self.adjoints.add(item.outer, total if total.dtype == dtypes.variant else settle(total))

    def run(self, nodes: Sequence[Node], stops: frozenset[Tensor] = frozenset()) -> None:
        """Visit ``nodes``; do not go on from the tensors in ``stops``."""
        for node in reversed([node.now for node in nodes]):
            gradients = [self.adjoints.total(t) if t in self.reached and t not in stops else None for t in node.outputs]
            if any(g is not None for g in gradients):
                self._visit(node.now, gradients)

    def _visit(self, node: Node, gradients: Sequence[Tensor | None]) -> None:
        graph = current_graph()
        assert graph is not None
        if isinstance(graph, BackwardGraph):
            graph.location = node.location
        rule = STRUCTURED.get(node.op)
        if rule is not None:
            rule(node, gradients, self)
            return
        if node.op.vjp is NO_GRADIENT:
            return
        inputs, outputs = node.operands, node.results
        before, graph.location = graph.location, node.location
        try:
            for tensor, part in zip(inputs, apply_rule(node, gradients[: len(outputs)], outputs, inputs)):
                self.add(tensor, part)
        finally:
            graph.location = before


def nothing(key: Key) -> Tensor:
    """Return the zero gradient of a tensor or variable."""
    if isinstance(key, Tensor) and key.dtype == dtypes.variant:
        return adjoint_table.empty()
    if key.shape.is_fully_defined():
        return constant_zeros(key)
    made: Tensor = ops.zeros_like(convert_to_tensor(key))
    return made


def apply_rule(
    node: Node, gradients: Sequence[Tensor | None], outputs: Sequence[Tensor], inputs: Sequence[Tensor]
) -> Sequence[Tensor | None]:
    """Return the gradients of the inputs of a plain node.

    Raises
    ------
    LookupError
        If its op has no gradient rule.
    """
    where = f" (made at {node.location[-1]})" if node.location else ""
    return gradients_of(node.op, f"{node.name!r}{where}", gradients, outputs, inputs, node.attrs)


def gradients_of(
    op: Op, what: str, gradients: Sequence[Tensor | None], outputs: Sequence[Tensor], inputs: Sequence[Tensor],
    attrs: Mapping[str, Any],
) -> Sequence[Tensor | None]:  # fmt: skip
    """Return what the rule of ``op`` says (``LookupError`` if there is none)."""
    if op.vjp is None or isinstance(op.vjp, NoRule):
        where_from = ", whose gradient function may call it, too" if op is PY_FUNCTION else ""
        raise LookupError(
            f"operation {what} of type {op.name!r} has no gradient; wrap its argument in stop_gradient(...) if "
            f"none should flow through it, or define one with custom_gradient{where_from} [AL405]"
        )
    g: Any = list(gradients) if op.several else gradients[0]
    parts: Sequence[Tensor | None] = op.vjp(g, outputs, inputs, attrs)
    return parts
