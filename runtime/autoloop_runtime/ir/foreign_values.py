"""Which values of a trace are arrays of another library, and where those are not as NumPy's are.

Some change in place as NumPy's do, and have parts that are views. But what has no axes is an array of theirs as well,
where NumPy has a scalar: that changes in place, and is a part of what it was taken from. Others never change in place:
``x += 1`` gives the name a new array. And a method of the name that NumPy's has may do something else.

What is neither surely theirs nor surely NumPy's, as a variable of a loop may be, is asked for nothing that would be
another thing for one of both: plain Python runs the function then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..base.dataclass import Protocol
from ..base.stand_ins import UnknownWhileTracing
from .graph import PARAMETER
from .op import call
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

    Parameters
    ----------
    namespace : Namespace
    names : callable
        Makes of this what stands for the library's names in the trace.
    make : callable
        Makes of a tensor what stands for an array.
    """

    __slots__ = ("_are_fixed", "_make", "_names", "known", "namespace")

    def __init__(
        self, namespace: Namespace, names: Callable[[Theirs], Any], make: Callable[[Tensor], Any]
    ) -> None:  # fmt: skip
        self.namespace = namespace
        self._names, self._make = names, make
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

    # -- the library's names ------------------------------------------------------------------------------

    def names(self, array: Any) -> Any:
        """Return what ``x.__array_namespace__()`` gives; None if that is NumPy's."""
        found = self.holds(array)
        if found is None:
            self.refuse("the namespace, where only the run knows if it is one,")
        return self._names(self) if found else None

    def dtype(self, array: Any) -> Any:
        """Return what ``x.dtype`` gives."""
        if self.namespace.dtype(array.dtype) is array.dtype or (found := self.holds(array)) is False:
            return array.dtype
        if found is None:
            self.refuse("the dtype, where only the run knows if it is one,")
        return self.namespace.dtype(array.dtype)

    def made(self, value: Any) -> Any:
        """Return an array of the library with these values of NumPy's, in the trace."""
        tensor: Tensor = call("identity", value)
        self.known[tensor] = True
        return self._make(tensor)

    def given(self, arguments: Sequence[Any], made: Any) -> Any:
        """Return what a function has made of arguments: an array of the library if one of these is, be it made of its
        shape alone."""
        if isinstance(made, (np.ndarray, np.generic)) and any(map(self.surely_holds, arguments)):
            return self.made(made)
        if self.holds_none(made) and any(map(self.surely_holds, arguments)):
            self.known[made.storage.tensor] = True
        return made

    def surely_holds(self, value: Any) -> bool:
        """Return whether a value is an array of the library."""
        return hasattr(type(value), "storage") and self.holds(value) is True

    def holds_none(self, value: Any) -> bool:
        """Return whether a value is what a graph computes, and not of such arrays."""
        return hasattr(type(value), "storage") and self.holds(value) is False

    # -- dtypes -------------------------------------------------------------------------------------------

    def check_operands(self, one: Any, other: Any, divides: bool) -> None:
        """Refuse an operator where the library may have another dtype for the result than NumPy: of two dtypes, of an
        integer and a number that is none, and of integers that are divided."""
        if self.namespace.name in _AS_NUMPY or not any(self.may_hold(x) for x in (one, other)):
            return
        dtypes = {x.dtype for x in (one, other) if _is_array(x)}
        numbers = [np.result_type(number) for number in map(_number_of, (one, other)) if number is not None]
        dtype = next(iter(dtypes))
        wider = any(_ORDER.index(number.kind) > _ORDER.index(dtype.kind) for number in numbers)
        if len(dtypes) > 1 or wider or (divides and dtype.kind in "bui"):
            raise UnknownWhileTracing(_DTYPES.format(self.namespace.name))

    def check_result(self, arrays: Sequence[Any], made: Any) -> None:
        """Refuse what a function has made of arrays where the library may have another dtype for it than NumPy."""
        if self.namespace.name in _AS_NUMPY or not isinstance(made, (Tensor, np.ndarray)):
            return
        dtypes = {x.dtype for x in arrays if x.dtype.kind != "b"}
        if len(dtypes) > 1 or (made.dtype.kind in "fc" and any(dtype.kind in "ui" for dtype in dtypes)):
            raise UnknownWhileTracing(_DTYPES.format(self.namespace.name))

    def may_hold(self, value: Any) -> bool:
        """Return whether a value may be an array of the library."""
        return hasattr(type(value), "storage") and self.holds(value) is not False

    # -- what is another thing under the same name --------------------------------------------------------

    def check_meaning(self, array: Any, name: str, has_arguments: bool = False) -> None:
        """Refuse a method or attribute that is another thing than of NumPy's arrays, or that these lack."""
        others = _OTHERWISE.get(self.namespace.name, ())
        is_other = name in others or (has_arguments and name in _OTHERWISE_WITH.get(self.namespace.name, ()))
        is_other = is_other or (name[0] != "_" and not hasattr(np.ndarray, name))
        if is_other and self.holds(array) is not False:
            self.refuse(f"x.{name}")

    def check_class(self, array: Any) -> None:
        """Refuse to say of which class what may be an array of the library is."""
        if self.holds(array) is not False:
            self.refuse("the class")


_DTYPES = "{} has rules of its own for the dtype of what is made of two dtypes, or of integers: cast them first"
#: kinds of dtypes and of numbers, in the order in which the greater says the kind of the result
_ORDER = "buifc"
#: libraries whose operators give the dtypes that NumPy's give, or none
_AS_NUMPY = frozenset(("dask.array", "array_api_strict", "cupy"))


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) or (isinstance(value, Tensor) and _number_of(value) is None)


def _number_of(value: Any) -> Any:
    """Return a number of Python's of the type that a value has, None if that is none."""
    if getattr(type(value), "is_pythons", False):
        return {"b": False, "i": 0, "f": 0.0, "c": 0j}[value.dtype.kind]
    return type(value)() if type(value) in (bool, int, float, complex) else None


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
