"""Loops that count: ``for i in range(n)`` in place of a variable that is compared and added to in every iteration.

The counter is then a Python number. That is as good as NumPy's, and faster, where it picks an element or meets a
NumPy scalar or array of its dtype, which makes the result NumPy's; elsewhere its dtype, or how it overflows, could be
seen, and the loop stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from ..analysis.cost import expected_trips
from ..analysis.failure import graph_can_fail
from ..analysis.induction import Induction, inductions
from ..analysis.inside import graphs_inside
from ..analysis.uses import CONTROL, Readers, places, readers
from ..base.dataclass import dataclass
from ..base.dtypes import DType
from ..ir.graph import Graph, Node
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..ops.operands import CAST
from ..passes.fold import fold
from ..passes.prune import prune
from ..passes.rewrite import Copy, constant_of, rewrite
from .scope import proved
from .templates import Expr

# nanoseconds that a Python number saves: in the loop itself, as a position, in a cast; and what it costs to meet a
# NumPy scalar
_LOOP, _POSITION, _CAST, _SCALAR = 35.0, 10.0, 60.0, -28.0


@dataclass(frozen=True)
class Counted:
    """A loop that counts.

    Attributes
    ----------
    by : Induction
        The loop variable that counts, and until when.
    cond : Graph or None
        What is left of the condition; ``None`` if that was all.
    by_number : bool
        What limits it is a Python number itself: the counter of a loop around.
    """

    by: Induction
    cond: Graph | None
    by_number: bool

    def bounds(self, values: Sequence[Expr]) -> list[str | Expr]:
        """Return the arguments of ``range``, given the values of the inputs of the loop."""
        by = self.by
        parts: list[str | Expr] = []
        if by.start is None:
            parts += [values[by.variable], ", "]
        elif by.start != 0 or by.step != 1:
            parts.append(f"{by.start}, ")
        if by.limit is None:
            assert by.bound is not None and not by.comparison.endswith("=")
            parts.append(values[by.bound])
        else:
            past = {"<=": 1, ">=": -1}.get(by.comparison, 0)
            parts.append(str(by.limit + past))
        return parts if by.step == 1 else [*parts, f", {by.step}"]


def find_counted(graph: Graph, planned: Set[Node] = frozenset()) -> dict[Node, Counted]:
    """Return the loops, in ``graph`` and inside it, whose counters may be Python numbers.

    A condition with one of the nodes ``planned`` in it, of which more is known than the graph says, is left as it is.
    """
    found: dict[Node, Counted] = {}
    numbers: set[Tensor] = set()
    for current in graphs_inside(graph):
        loops = [node for node in current.nodes if node.op is WHILE and not _is_kept(node.attrs["cond"], planned)]
        if loops:
            reading = readers(current)
            every = {node: _counted(node, reading, numbers) for node in loops}
            found.update((node, counted) for node, counted in every.items() if counted is not None)
    return found


def _is_kept(cond: Graph, planned: Set[Node]) -> bool:
    return any(node in planned or node.subgraphs for node in cond.nodes)


def _counted(node: Node, reading: Readers, numbers: set[Tensor]) -> Counted | None:
    """Return how ``node`` counts, if it does; adds what is then a Python number to ``numbers``."""
    cond, body = node.attrs["cond"], node.attrs["body"]
    if len(cond.outputs) != 1 or cond.outputs[0].shape.rank != 0 or graph_can_fail(cond):
        return None
    counters = {found.test: found for found in inductions(node) if found.ends and proved(node, found.variable)}
    for test in cond.nodes:
        if test not in counters or node.inputs[counters[test].variable].shape.rank != 0:
            continue
        by = counters[test]
        k = by.variable
        # the counter is read by the test, and by what makes its next value; the rest must take a Python number
        rest = _without(cond, test)
        if node.outputs[k] in reading and (rest is not None or not _tells_its_end(by)):
            continue
        users = _Users(numbers)
        step = body.outputs[k].op
        gain = _LOOP + users.graph(body, body.inputs[k], step)
        gain += users.graph(rest, rest.inputs[k], None) if rest is not None else 0.0
        if users.fine and gain > 0 and len(places(body.outputs, body.outputs[k])) == 1:
            numbers |= users.seen
            return Counted(by, rest, by.bound is not None and cond.inputs[by.bound] in numbers)
    return None


def _tells_its_end(by: Induction) -> bool:
    """Return whether the limit says where the counter stopped, if nothing else ended the loop."""
    return by.start is not None and (by.limit is not None or abs(by.step) == 1)


def _without(cond: Graph, test: Node) -> Graph | None:
    """Return ``cond`` where ``test`` is known to be true; ``None`` if all of it is then true."""

    def visit(copy: Copy, node: Node) -> None:
        if node is test:
            copy.constant(node, test.outputs[0].dtype.type(True))
        else:
            copy.keep(node)

    rest = prune(fold(rewrite(cond, visit)))
    left = constant_of(rest.outputs[0])
    return rest if left is None or not left else None


class _Users:
    """Those that read a counter; ``fine`` if it may be a Python number for all of them; ``seen``: its names."""

    def __init__(self, numbers: set[Tensor]) -> None:
        self.numbers = numbers
        self.seen: set[Tensor] = set()
        self.fine = True

    def graph(self, graph: Graph, counter: Tensor, step: Node | None) -> float:
        """Return the gain in ``graph``; ``step``: the node that makes the next value, which is not needed."""
        self.seen.add(counter)
        gain, reading = 0.0, readers(graph)
        unneeded = step is not None and not any(n is not None and i != CONTROL for n, i in reading.of(step.outputs[0]))
        for node, index in reading.of(counter):
            if node is step and unneeded:
                continue
            if node is None or index == CONTROL:
                self.fine = False
            else:
                gain += self._use(node, index, counter)
        return gain

    def _use(self, node: Node, index: int, counter: Tensor) -> float:
        op = node.op
        if op.positions is not None and index in range(len(node.inputs))[op.positions]:
            return _POSITION
        if op is CAST and _holds(counter, node.attrs["dtype"]):
            return _CAST
        if op.numbers:
            other = node.inputs[1 - index]
            if other is not counter and other not in self.numbers and other not in self.seen:
                return _SCALAR if other.shape.rank == 0 else 0.0
        if op is COND and index > 0:
            return sum(self._inside(node.attrs[key], index - 1) for key in ("then", "else")) / 2
        if op is WHILE and index >= node.attrs["n_vars"]:
            # in a condition it is most often the limit of a loop that counts too, and asked once
            inside = self._inside(node.attrs["body"], index)
            return self._inside(node.attrs["cond"], index) + expected_trips(node) * inside
        self.fine = False
        return 0.0

    def _inside(self, graph: Graph, index: int) -> float:
        return self.graph(graph, graph.inputs[index], None)


def _holds(counter: Tensor, dtype: DType) -> bool:
    """Return whether ``dtype`` makes the same of a Python number as of one in the dtype of ``counter``."""
    kind, size = dtype.kind, dtype.itemsize
    if kind == "f":
        return size == 8 or (size == 4 and counter.dtype.itemsize <= 4)
    return bool(kind == counter.dtype.kind and size >= counter.dtype.itemsize)
