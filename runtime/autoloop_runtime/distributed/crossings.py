"""The marks that the engine goes by, put into a flat graph: ``AWAIT`` where a condition is asked for, ``FETCH`` where
the user has NumPy's array made, ``CROSS`` where a loop variable goes on to the next iteration, ``COME`` where it enters
the loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..base.dataclass import replace
from ..base.dtypes import DType
from ..base.shapes import TensorShape
from ..dataflow.flat_graph import FlatNode, Kind, Lowered, Port
from ..ir.checks import CHECK_PREDICATE
from ..ir.op import Op
from ..ops.identities import OF_NUMPY


def _passed(x: Any, **_: Any) -> tuple[DType, TensorShape]:
    return x.dtype, x.shape


def _same(x: Any, **_: Any) -> Any:
    return x


#: gives a condition once its value is here
AWAIT = Op("AwaitCondition", _passed, _same, doc="a condition is fetched")
#: gives an array of NumPy's once all of it is here
FETCH = Op("FetchArray", _passed, _same, doc="an array is fetched as a whole")
#: gives the value of a loop variable to the next iteration; its attribute says of which
CROSS = Op("CrossIteration", _passed, _same, doc="a loop variable goes on to the next iteration")

#: is the value that a loop variable enters its loop with
COME = Op("EnterLoop", _passed, _same, doc="a loop variable enters its loop")


def with_crossings(lowered: Lowered) -> Lowered:
    """Return the graph with its marks; what is there keeps its place."""
    return _Marking(lowered).marked()


class _Marking:
    def __init__(self, lowered: Lowered) -> None:
        self._lowered = lowered
        self._nodes = list(lowered.nodes)
        #: which loop variable a Merge has the value of
        self._variables = {port: k for info in lowered.frames for k, port in info.values.items()}
        #: the marks there are, by the port, what they wait for, and the one node that they are for, if they are
        self._marks: dict[tuple[Port, tuple[Port, ...], int], Port] = {}

    def marked(self) -> Lowered:
        for node in self._lowered.nodes:
            if node.kind is Kind.SWITCH:
                self._put_before(node, 1, AWAIT)
            elif node.kind is Kind.LOOP_COND or (node.op is CHECK_PREDICATE):
                self._put_before(node, 0, AWAIT)
            elif node.op is OF_NUMPY:
                self._put_before(node, 0, FETCH)
        for merge, node in self._loop_ends():
            variable = self._variables.get((merge.index, 0), -1)
            self._put_before(node, 0, CROSS, variable=variable)
            self._put_before(merge, 0, COME, variable=variable)
        return replace(self._lowered, nodes=tuple(self._nodes))

    def _loop_ends(self) -> Iterator[tuple[FlatNode, FlatNode]]:
        """Yield each NextIteration with the Merge that it leads to."""
        for merge in self._lowered.nodes:
            if merge.kind is Kind.MERGE:
                for index, _ in merge.inputs:
                    if self._lowered.nodes[index].kind is Kind.NEXT_ITERATION:
                        yield merge, self._nodes[index]

    def _put_before(self, node: FlatNode, position: int, op: Op, **attrs: Any) -> None:
        """Let a node take its input through a mark, unless that is a constant or has come through one."""
        port = node.inputs[position]
        source = self._nodes[port[0]]
        if source.kind in (Kind.CONST, Kind.LOOP_COND) or source.op is CHECK_PREDICATE:
            return
        # of an invariant no token comes: its mark waits for what the node itself waits for
        controls = (node.controls or (node.inputs[0],)) if source.constant else ()
        key = port, controls, -1 if op is AWAIT else node.index
        if key not in self._marks:
            index, name = len(self._nodes), f"{node.name}/{op.name}"
            self._nodes.append(
                FlatNode(
                    index, Kind.KERNEL, name, (port,), controls, node.frame, node.source, op, attrs, 1, False, None
                )
            )
            self._marks[key] = (index, 0)
        inputs = list(self._nodes[node.index].inputs)
        inputs[position] = self._marks[key]
        self._nodes[node.index] = replace(self._nodes[node.index], inputs=tuple(inputs))
