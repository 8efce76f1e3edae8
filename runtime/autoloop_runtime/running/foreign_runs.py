"""Graphs that run over arrays of another library: on the scheduler, kernel by kernel, with that library's functions."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..base.forks import undivided
from ..dataflow.executable import Executable
from ..dataflow.flat_graph import Lowered
from ..dataflow.lowering import lower
from ..ir.graph import Graph
from ..ir.run_state import EAGER, RunState
from ..namespaces import NamespaceRefusal, check_promotions, in_namespace
from .standing import Standing

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..namespaces import Namespace


class ForeignRun:
    """What runs a graph some inputs of which are arrays of another library; none of them is written to.

    Parameters
    ----------
    graph : Graph
        After the passes.
    namespace : Namespace
        The library.
    foreign : collection of int
        Which inputs are its arrays.
    """

    def __init__(self, graph: Graph, namespace: Namespace, foreign: Collection[int]) -> None:
        self.namespace = namespace
        lowered = in_namespace(lower(graph, graph.outputs, graph.inputs), namespace, foreign)
        self._run = functools.partial(_lazily, lowered) if namespace.is_lazy else Executable(lowered).run
        #: why it cannot be: what a run has found holds for the next; threads that find it find the same
        self.refused: NamespaceRefusal | None = None
        self._is_told = False

    def __call__(self, values: list[Any], state: RunState = EAGER) -> list[Any]:
        """Return the outputs for the values of the inputs.

        Raises
        ------
        NamespaceRefusal
            If the library computes something else than NumPy.
        """
        if self.refused is not None:
            raise self.refused.with_traceback(None)
        try:
            return self._run(values, state)
        except NamespaceRefusal as refusal:
            self.refused = refusal
            raise

    def is_first(self) -> bool:
        """Return whether nobody has been told of the refusal; that is done then."""
        was_told, self._is_told = self._is_told, True
        return not was_told


def _lazily(lowered: Lowered, values: list[Any], state: RunState) -> list[Any]:
    """Run a graph over arrays that are computed later: what a loop hands on is, and its conditions are fetched."""
    with undivided():  # whoever has such arrays has Dask
        from ..distributed.engine import run
    return run(lowered, values, state=state)


def check_dtypes(graph: Graph) -> None:
    """Raise ``NamespaceRefusal`` where the library brings operands of a traced graph to other dtypes than NumPy."""
    theirs = graph.root.theirs
    assert theirs is not None
    check_promotions(graph, theirs.namespace, lambda tensor: theirs.of(tensor) is not False)


def said_of(namespace: Namespace) -> Standing:
    """Return what runs a graph over arrays of a library, and why."""
    return Standing("dataflow", f"arrays of {namespace.name} are among the arguments: kernels are its functions")
