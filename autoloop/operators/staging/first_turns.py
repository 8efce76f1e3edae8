"""First turns of loops that change the dtype of an array: ``y = -y * 0.5`` of ints is one thing, of floats another.

A loop of the graph carries the wider dtype from the start. Its first turn then gives what NumPy gives if it does the
same steps with the array as it is, cast; if that is not sure it is written out before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoloop_runtime.analysis.same_steps import same_steps
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer

from ...left_to_python import LeftByRun
from .loop_leaves import NAMES, Leaf
from .loop_variables import Retrace, Variable
from .undefined import spoken


class OtherFirstTurn(BaseException):
    """The first turn of a loop may not be what later ones are; tells why.

    No exception that ``except`` clauses of the program, or those that try a loop, would take for their own.
    """

    def __init__(self, leaf: Leaf, dtype: Any) -> None:
        name, mine = spoken(leaf.name), f"an array of {leaf.tensors[0].dtype}"
        self.advice = f"let it be that before, {name} = {name}.astype(np.{dtype})"
        if leaf.is_number:
            mine, self.advice = "a Python number", "let it be such an array before, as np.full(shape, number, dtype)"
        self.text = (
            f"{name!r} is {mine} before the loop and an array of {dtype} after its first turn, which computes in other "
            f"dtypes than later ones"
        )
        self._none = f"{self.text}; in this run there is none: {self.advice}"

    def left(self) -> LeftByRun:
        """Return what a run raises in which there is no turn."""
        return LeftByRun(self._none)


class FirstTurn:
    """The body of a loop as it is for the dtypes on entry.

    Parameters
    ----------
    variables : sequence of Variable
        The variables, with these.
    again : Retrace
        What the body showed.
    leaf : Leaf
        An array of which it changes the dtype.
    dtype
        To which.
    """

    def __init__(self, variables: Sequence[Variable], again: Retrace, leaf: Leaf, dtype: Any) -> None:
        self._count, self._graph, self._gives = _count(variables), again.graph, again.gives
        self._leaf, self._dtype = leaf, dtype
        #: numbers are such that the trace knows: who makes arrays of them sees whether they fit
        leaves = [one for variable in variables for one in variable.leaves]
        self._fits = not any(one.is_number and isinstance(one.init, Tensor) for one in leaves)

    def check_body(self, variables: Sequence[Variable], graph: Graph, gives: Sequence[Tensor]) -> None:
        """Raise unless a body does the same with what is cast to the dtypes that it has."""
        is_all = len(self._gives) == self._count == _count(variables)
        if not is_all or not same_steps(self._graph, self._gives, graph, gives[: self._count], self._fits):
            raise OtherFirstTurn(self._leaf, self._dtype)

    def check_test(self, graph: Graph) -> None:
        """Raise if the test looks at an array of another dtype."""
        both = zip(self._graph.inputs[: self._count], graph.inputs, strict=False)
        changed = {other for one, other in both if one.dtype != other.dtype}
        if any(one in changed for node in graph.nodes for one in node.inputs):
            raise OtherFirstTurn(self._leaf, self._dtype)


def first_turn(variables: Sequence[Variable], again: Retrace) -> FirstTurn | None:
    """Return the first turn of a loop that changes the dtype of an array; None if it changes none."""
    for variable, new in zip(variables, again.variables, strict=True):
        for leaf, now in zip(variable.leaves, new.leaves, strict=False):
            if not (leaf.is_number or _is_array(leaf)) or now.is_number or not _is_array(now):
                continue
            if leaf.is_number or now.tensors[0].dtype != leaf.tensors[0].dtype:
                return FirstTurn(variables, again, leaf, now.tensors[0].dtype)
    return None


def _count(variables: Sequence[Variable]) -> int:
    """Return how many tensors a loop carries for its variables."""
    return sum(len(variable.loop_vars()) for variable in variables)


def _is_array(leaf: Leaf) -> bool:
    """Return whether a leaf is an array with axes: numbers tell by a tag of which type they are."""
    return leaf.kind == NAMES[ArrayTracer] and (leaf.shape or leaf.tensors[0].shape).rank != 0
