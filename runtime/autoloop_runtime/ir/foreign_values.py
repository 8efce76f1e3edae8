"""Which values of a trace are arrays of another library, and where those are not as NumPy's are.

Some change in place as NumPy's do, and have parts that are views. But what has no axes is an array of theirs as well,
where NumPy has a scalar: that changes in place, and is a part of what it was taken from. Others never change in place:
``x += 1`` gives the name a new array. And a method of the name that NumPy's has may do something else.

What is neither surely theirs nor surely NumPy's, as a variable of a loop may be, is asked for nothing that would be
another thing for one of both: plain Python runs the function then.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

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
    def array(self) -> type: ...


#: methods and attributes that PyTorch's tensors have under a name of NumPy's, and that are something else there
_OTHERWISE = {
    "torch": frozenset((
        "data", "device", "flatten", "nonzero", "put", "repeat", "resize", "size", "sort", "std", "transpose", "var",
        "view",
    )),
}  # fmt: skip
#: the same, where they are given more than the array
_OTHERWISE_WITH = {"torch": frozenset(("max", "min", "round", "dot", "take", "argmax", "argmin"))}


class Theirs:
    """Which values of a trace are arrays of another library; of a root graph.

    Attributes
    ----------
    namespace : Namespace
        The library.
    known : dict
        Tensors -> whether they are; None if that is not known.
    """

    __slots__ = ("_are_fixed", "known", "namespace")

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        #: whether operators never change one in place
        self._are_fixed = not hasattr(namespace.array, "__iadd__")
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

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for what the library has its own answer to."""
        raise UnknownWhileTracing(f"{what} of an array of {self.namespace.name} is for that library to say")

    # -- in place, and parts ------------------------------------------------------------------------------

    def are_changed_anew(self, array: Any) -> bool:
        """Return whether ``x += y`` gives the name a new array, as it does of a scalar, and changes none in place."""
        found = self.holds(array)
        if found is False:
            return False
        if not self._are_fixed:
            return bool(array.is_scalar)
        if found is None:
            self.refuse("whether x += y changes it in place, where only the run knows if it is one,")
        return True

    def lose(self, array: Any) -> None:
        """Note that an array without axes has changed in place, for all that hold it but the name that has the new
        one."""
        if self._are_fixed:
            return
        storage = array.storage
        if storage.part_of is not None:
            self.refuse("an element that is changed in place")
        while storage is not None:
            storage.lose("it was changed in place under another name")
            storage = storage.before

    def are_apart(self, array: Any) -> bool:
        """Return whether parts of an array are no views that are written to along with it."""
        return self._are_fixed and self.holds(array) is not False

    def are_views(self, array: Any) -> bool:
        """Return whether an element of an array is a view of it."""
        return not self._are_fixed and self.holds(array) is not False

    # -- what is another thing under the same name --------------------------------------------------------

    def check_meaning(self, array: Any, name: str, has_arguments: bool = False) -> None:
        """Refuse a method or attribute that is another thing than of NumPy's arrays, or that these lack."""
        others = _OTHERWISE.get(self.namespace.name, ())
        is_other = name in others or (has_arguments and name in _OTHERWISE_WITH.get(self.namespace.name, ()))
        if (is_other or not hasattr(np.ndarray, name)) and self.holds(array) is not False:
            self.refuse(f"x.{name}")

    def check_class(self, array: Any) -> None:
        """Refuse to say of which class what may be an array of the library is."""
        if self.holds(array) is not False:
            self.refuse("the class")


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
    return list(node.inputs)
