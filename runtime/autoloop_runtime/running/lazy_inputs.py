"""Loops and functions that are computed at once, outside of any function, over arrays that are computed later or lie on
another device: these are inputs of a graph, and what comes of them is their library's, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.dtypes import variant
from ..base.shapes import SCALAR, TensorShape
from ..ir.foreign_dtypes import ForeignDtypes
from ..ir.graph import Graph
from ..ir.later_tensors import LaterTensor
from ..ir.tensor import Tensor
from ..namespaces import Namespace, namespace_of
from ..namespaces.foreign_arrays import ForeignArray


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
        #: whether all that were taken are held by tensors
        self._are_tensors = True
        #: by id, the arrays and what stands for them; by the one thread that builds the graph
        self._taken: dict[int, tuple[Any, Tensor]] = {}

    @property
    def namespace(self) -> Namespace:
        """The library of those that were taken."""
        assert self._namespace is not None
        return self._namespace

    def take(self, value: Any, is_tensor: bool = False) -> Tensor | None:
        """Return what stands for an array, or for a tensor of one; None if nobody knows its library.

        Raises
        ------
        NotImplementedError
            If its extents are not known, or it is of another library than one before.
        """
        self._are_tensors &= is_tensor
        if id(value) not in self._taken:
            namespace = value.namespace if isinstance(value, ForeignArray) else namespace_of(value)
            if namespace is None:
                return None
            dtype, shape = (variant, ()) if isinstance(value, ForeignArray) else namespace.spec(value)
            if None in shape:
                raise _refusal(namespace, "the length of chunks is not known; x.compute_chunk_sizes() finds it")
            before = self._namespace or namespace
            if (before.name, before.device) != (namespace.name, namespace.device):
                there = f" on {before.device}" if before.name == namespace.name else ""
                raise _refusal(namespace, f"one of {before.name}{there} is beside it")
            self._namespace = namespace
            self._taken[id(value)] = value, self._graph.parameter(dtype, TensorShape(shape), "array")
        return self._taken[id(value)][1]

    def let_be_theirs(self) -> list[Any]:
        """Let the graph, when it is built, be one over arrays of their library; return the values of its inputs."""
        self._graph.theirs = theirs = ForeignDtypes(self.namespace)
        theirs.known.update((tensor, True) for _, tensor in self._taken.values())
        return [value for value, _ in self._taken.values()]

    def given_back(self, value: Any) -> Any:
        """Return what a run gives as the caller gets it: an array of theirs as that, in a tensor if no other was given,
        all else as tensors."""
        assert self._namespace is not None
        if isinstance(value, ForeignArray) or (self._are_tensors and self._namespace.holds(value)):
            return later_of(value, self._namespace)
        if self._namespace.holds(value):
            return value
        return Tensor(value if hasattr(value, "dtype") else np.asarray(value))

    def __bool__(self) -> bool:
        return bool(self._taken)


def later_of(value: Any, namespace: Namespace) -> LaterTensor:
    """Return a tensor of an array that is elsewhere, or of the value of a TensorArray that has such elements."""
    if isinstance(value, ForeignArray):
        return LaterTensor(value, variant, SCALAR)
    dtype, shape = namespace.spec(value)
    if None in shape:
        raise _refusal(namespace, "the length of chunks is not known; x.compute_chunk_sizes() finds it")
    return LaterTensor(value, dtype, TensorShape(shape))


def _refusal(namespace: Namespace, why: str) -> NotImplementedError:
    return NotImplementedError(
        f"what is computed outside of decorated functions cannot go on with an array of {namespace.name}: {why} [AL622]"
    )
