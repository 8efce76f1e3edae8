"""Which tensors of a trace are arrays of another library: found of each by what it is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.dataclass import Protocol
from ..base.stand_ins import UnknownWhileTracing
from .graph import PARAMETER
from .structured import COND, WHILE
from .tensor import Tensor


class Namespace(Protocol):
    """What is known here of ``namespaces.Namespace``."""

    @property
    def name(self) -> str: ...
    @property
    def xp(self) -> Any: ...
    @property
    def array(self) -> type: ...
    @property
    def is_lazy(self) -> bool: ...
    @property
    def is_elsewhere(self) -> bool: ...
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

    __slots__ = ("known", "namespace", "told")

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self.known: dict[Tensor, bool | None] = {}
        #: of which variables of loops it was told that they are what they are on entry, and what that is; by the one
        #: thread that traces
        self.told: dict[Tensor, bool] = {}

    def forget(self) -> None:
        """Let go of the tensors of an earlier try of the trace, and so of its graph and all that it was traced with."""
        self.known.clear()
        self.told.clear()

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
        if node.op is WHILE:
            entry, end = sources[tensor.index], sources.pop()
            if entry is end and entry is not None:  # in each iteration, see ``settle_loop``
                return entry
        if node.op is WHILE or node.op is COND:
            return sources[0] if all(one is sources[0] for one in sources) else None
        return True if True in sources else None if None in sources else False

    def holds(self, array: Any) -> bool | None:
        """Return whether an array of the user's is one; None if that is not known."""
        first = storage = getattr(array, "storage", None)
        found = None
        if storage is None:
            return self.of(array.plain)
        while storage is not None and (found := self.of(storage.tensor)) is None:
            storage = storage.before  # of a variable of a loop
        if first is not None and found is not None and storage is not first:
            self.told[first.tensor] = found
        return found

    def settle_loop(
        self, begun: Sequence[Tensor], inside: Sequence[Tensor], left: Sequence[Tensor], asked: Sequence[Tensor]
    ) -> None:
        """Find out which variables of a loop are arrays of the library in each iteration, when its body is traced.

        Parameters
        ----------
        begun, inside, left, asked : sequence of Tensor
            What the variables are on entry, what stands for them in the body, what that leaves, and what stands for
            them in the condition.
        """
        before = self.known
        assumed = {k: found for k, one in enumerate(begun) if (found := self.of(one)) is not None}
        for k, one in enumerate(begun):  # a variable of the loop around, of which it is found out later
            if k not in assumed and inside[k] in self.told and not _is_made(one):
                assumed[k] = self.told[one] = self.told[inside[k]]
        while True:
            self.known = {one: found for one, found in before.items() if found is not None}
            self.known.update((inside[k], found) for k, found in assumed.items())
            stays = {k: found for k, found in assumed.items() if self.of(left[k]) is found}
            if len(stays) == len(assumed):
                break
            assumed = stays
        self.known.update((asked[k], found) for k, found in assumed.items())
        if any(one in self.told for k, one in enumerate(inside[: len(begun)]) if k not in assumed):
            raise UnknownWhileTracing(
                f"a variable of a loop is an array of {self.namespace.name} in some iterations, and in others it is not"
            )


def _is_made(tensor: Tensor) -> bool:
    """Return whether a tensor is no variable of a loop, and nothing that is captured."""
    return tensor.node is not None and tensor.node.op is not PARAMETER


def _sources(tensor: Tensor) -> list[Tensor]:
    """Return the tensors of which it hangs whether one is an array of theirs."""
    node = tensor.node
    if node is None:
        return []
    if node.op is PARAMETER:
        outer = node.graph.captured_from.get(tensor)
        return [] if outer is None else [outer]
    if node.op is WHILE:
        return [*node.inputs, node.attrs["body"].outputs[tensor.index]]
    if node.op is COND:
        return [node.attrs[branch].outputs[tensor.index] for branch in ("then", "else")]
    if node.op.positions is None:
        return list(node.inputs)
    # an element has whatever kind the array has, also where the index is an array of theirs
    positions = range(len(node.inputs))[node.op.positions]
    return [value for k, value in enumerate(node.inputs) if k not in positions]
