"""How many iterations the outermost loops of a graph have, as far as that is known when a run begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..analysis.induction import Induction, inductions
from ..analysis.observable import only_computes
from ..base.dataclass import replace
from ..base.locations import Line
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor

#: so many operations are done again, at most, to know when a loop ends
_MOST = 32


class Totals:
    """What tells how often the loops of ``graph`` run that stand in no other."""

    def __init__(self, graph: Graph) -> None:
        self._inputs = {tensor: k for k, tensor in enumerate(graph.inputs)}
        self._tests: list[tuple[Node, list[tuple[Induction, Tensor, Tensor | None]]]] = []
        for node, is_outside in _outermost(graph):
            tests = [(one, node.inputs[one.variable], None if one.bound is None else node.inputs[one.bound])
                     for one in inductions(node)] if is_outside else []  # fmt: skip
            self._tests.append((node, tests))

    def __bool__(self) -> bool:
        return bool(self._tests)

    def of(self, values: Sequence[Any]) -> dict[str, tuple[Line | None, int | None]]:
        """Return the line of each loop, and how many iterations it has at most in a run on ``values``, by name."""
        found: dict[str, tuple[Line | None, int | None]] = {}
        for node, tests in self._tests:
            known = [one.trips if bound is None and one.start is not None else self._trips(one, start, bound, values)
                     for one, start, bound in tests]  # fmt: skip
            trips = [count for count in known if count is not None]
            line = node.location[-1] if node.location else None
            found[node.name] = line, node.attrs.get("begun", 0) + min(trips) if trips else None
        return found

    def _trips(self, test: Induction, start: Tensor, bound: Tensor | None, values: Sequence[Any]) -> int | None:
        try:
            first = self._value(start, values, [])
            limit = test.limit if bound is None else self._value(bound, values, [])
            return None if first is None or limit is None else replace(test, start=int(first), limit=int(limit)).trips
        except Exception:  # the run itself raises it, or does not come to it
            return None

    def _value(self, tensor: Tensor, values: Sequence[Any], done: list[Node]) -> Any:
        """Return the value of a number that is computed of inputs; None if that takes more than a few steps."""
        place, node = self._inputs.get(tensor), tensor.node
        if place is not None:
            return values[place]
        if node is None:
            return tensor.value
        if node.op is CONST:
            return node.attrs["value"]
        done.append(node)
        if node.op is PARAMETER or node.subgraphs or node.op.stateful or len(done) > _MOST or not only_computes(node):
            return None
        if any(t.shape.rank != 0 and t not in self._inputs for t in (*node.inputs, *node.outputs)):
            return None
        operands = [self._value(t, values, done) for t in node.operands]
        if any(one is None for one in operands):
            return None
        made = node.op.kernel(*operands, **node.attrs)
        return made[tensor.index] if node.op.several else made


def _outermost(graph: Graph, is_outside: bool = True) -> Iterator[tuple[Node, bool]]:
    """Yield the loops that stand in no other, and whether they stand in no branch."""
    for node in graph.nodes:
        if node.op is WHILE:
            yield node, is_outside
        elif node.op is COND:
            for sub in node.subgraphs:
                yield from _outermost(sub, False)
