"""Loops that are built and run at once, outside of any function, over arrays that are computed later: these are inputs
of the graph, and what comes of them is computed later, too.
"""

from __future__ import annotations

from typing import Any

from ..base.shapes import TensorShape
from ..ir.foreign_dtypes import ForeignDtypes
from ..ir.graph import Graph
from ..ir.tensor import Tensor
from ..namespaces import Namespace, namespace_of


class LazyInputs:
    """The arrays that are inputs of a graph.

    Parameters
    ----------
    graph : Graph
        Empty as yet.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._namespace: Namespace | None = None
        #: by id, the arrays and what stands for them; by the one thread that builds the graph
        self._taken: dict[int, tuple[Any, Tensor]] = {}

    def take(self, value: Any) -> Tensor:
        """Return what stands for an array.

        Raises
        ------
        NotImplementedError
            If its extents are not known.
        """
        if id(value) not in self._taken:
            namespace = namespace_of(value)
            assert namespace is not None
            dtype, shape = namespace.spec(value)
            if None in shape:
                raise NotImplementedError(
                    "a loop outside of decorated functions cannot go on with an array of dask.array: the length of "
                    "chunks is not known; x.compute_chunk_sizes() finds it [AL622]"
                )
            self._namespace = namespace
            self._taken[id(value)] = value, self._graph.parameter(dtype, TensorShape(shape), "array")
        return self._taken[id(value)][1]

    def let_be_theirs(self) -> list[Any]:
        """Let the graph, when it is built, be one over arrays of their library; return the values of its inputs."""
        assert self._namespace is not None
        self._graph.theirs = theirs = ForeignDtypes(self._namespace)
        theirs.known.update((tensor, True) for _, tensor in self._taken.values())
        return [value for value, _ in self._taken.values()]

    def holds(self, value: Any) -> bool:
        """Return whether what a run gives is an array of theirs."""
        return self._namespace is not None and self._namespace.holds(value)

    def __bool__(self) -> bool:
        return bool(self._taken)
