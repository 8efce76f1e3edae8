"""Which tensors of a trace are arrays of another library: found of each by what it is computed from."""

from __future__ import annotations

from typing import Any

from ..base.dataclass import Protocol
from .graph import PARAMETER
from .structured import COND, WHILE
from .tensor import Tensor


class Namespace(Protocol):
    """What is known here of ``namespaces.Namespace``."""

    @property
    def name(self) -> str: ...
    @property
    def array(self) -> type: ...
    def dtype(self, dtype: Any) -> Any: ...
    def spec(self, value: Any) -> tuple[Any, tuple[int | None, ...]]: ...
    def asarray(self, value: Any) -> Any: ...
    def holds(self, value: Any) -> bool: ...


class ForeignTensors:
    """The tensors of a root graph that are arrays of another library.

    Attributes
    ----------
    namespace : Namespace
        The library.
    known : dict
        Tensors -> whether they are; None if that is not known. Written by the one thread that traces.

    Parameters
    ----------
    namespace : Namespace
    """

    __slots__ = ("known", "namespace")

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self.known: dict[Tensor, bool | None] = {}

    def of(self, tensor: Tensor) -> bool | None:
        """Return whether a tensor is one; None if that is not known."""
        todo = [tensor]
        while todo:
            one = todo[-1]
            if one in self.known:
                todo.pop()
            elif (needs := [t for t in _sources(one) if t not in self.known]) and len(todo) < len(self.known) + 10_000:
                todo += needs
            else:
                todo.pop()
                self.known[one] = self._found(one)
        return self.known[tensor]

    def _found(self, tensor: Tensor) -> bool | None:
        node = tensor.node
        if node is None:
            return False
        sources = [self.known.get(t) for t in _sources(tensor)]
        if node.op is PARAMETER and not sources:
            return False if node.graph is node.graph.root else None
        if node.op is WHILE or node.op is COND:
            return sources[0] if all(one is sources[0] for one in sources) else None
        return True if True in sources else None if None in sources else False

    def holds(self, array: Any) -> bool | None:
        """Return whether an array of the user's is one; None if that is not known."""
        storage, found = getattr(array, "storage", None), None
        if storage is None:
            return self.of(array.plain)
        while storage is not None and (found := self.of(storage.tensor)) is None:
            storage = storage.before  # of a variable of a loop
        return found


def _sources(tensor: Tensor) -> list[Tensor]:
    """Return the tensors of which it hangs whether one is an array of theirs."""
    node = tensor.node
    if node is None:
        return []
    if node.op is PARAMETER:
        outer = node.graph.captured_from.get(tensor)
        return [] if outer is None else [outer]
    if node.op is COND:
        return [node.attrs[branch].outputs[tensor.index] for branch in ("then", "else")]
    if node.op.positions is None:
        return list(node.inputs)
    # an element has whatever kind the array has, also where the index is an array of theirs
    positions = range(len(node.inputs))[node.op.positions]
    return [value for k, value in enumerate(node.inputs) if k not in positions]
