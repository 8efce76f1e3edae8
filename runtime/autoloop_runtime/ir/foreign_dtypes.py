"""Which dtypes and shapes another library tells of its arrays, where these are not as NumPy's are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..base.stand_ins import UnknownWhileTracing
from .foreign_tensors import ForeignTensors, Namespace
from .tensor import Tensor


class ForeignDtypes(ForeignTensors):
    """The dtypes of what is made of arrays of another library, in a root graph.

    Attributes
    ----------
    said : set of Tensor
        The casts that the user has written. Written by the one thread that traces.

    Parameters
    ----------
    namespace : Namespace
    """

    __slots__ = ("said",)

    def __init__(self, namespace: Namespace) -> None:
        super().__init__(namespace)
        self.said: set[Tensor] = set()

    def refuse(self, what: str) -> NoReturn:
        """Raise the error for what the library has its own answer to."""
        raise UnknownWhileTracing(f"{what} of an array of {self.namespace.name} is for that library to say")

    def dtype(self, array: Any) -> Any:
        """Return what ``x.dtype`` gives."""
        made = self.namespace.dtype(array.dtype)
        is_numpys = made is array.dtype or (isinstance(made, type) and issubclass(made, np.generic))
        if is_numpys or (found := self.holds(array)) is False:
            return array.dtype
        if found is None:
            self.refuse("the dtype, where only the run knows if it is one,")
        return made

    def shape(self, array: Any, extents: tuple[Any, ...]) -> Any:
        """Return what ``x.shape`` gives: extents, in a tuple of the library's."""
        if self.holds(array) is False:
            return extents
        kind = type(self.namespace.asarray(np.ones((1,) * len(extents), array.dtype)).shape)
        if kind is not tuple and any(isinstance(one, Tensor) for one in extents):
            self.refuse("x.shape, of which only the run knows some,")
        return extents if kind is tuple else kind(extents)

    def note_said(self, name: str, kwargs: Any, made: Any) -> Any:
        """Note which dtypes are what the user has said, in a call of this name, and not what operands are brought to;
        return what was made."""
        if hasattr(type(made), "storage") and _says_dtype(name, kwargs):
            tensor = made.storage.tensor
            self.said.update((tensor, *(() if tensor.node is None else tensor.node.operands)))
        return made

    def check_operands(self, one: Any, other: Any, divides: bool) -> None:
        """Refuse an operator where the library may have another dtype for the result than NumPy: of two dtypes, of an
        integer and a number that is none, and of integers that are divided."""
        if self.namespace.name in _AS_NUMPY or not any(self.may_hold(x) for x in (one, other)):
            return
        dtypes = {x.dtype for x in (one, other) if _is_array(x)}
        numbers = [np.result_type(number) for number in map(_number_of, (one, other)) if number is not None]
        dtype = next(iter(dtypes))
        wider = any(_ORDER.index(number.kind) > _ORDER.index(dtype.kind) for number in numbers)
        if len({one for one in dtypes if one.kind != "b"}) > 1 or wider or (divides and dtype.kind in "bui"):
            raise UnknownWhileTracing(_DTYPES.format(self.namespace.name))

    def check_result(self, name: str, kwargs: Any, arrays: Sequence[Any], made: Any) -> None:
        """Refuse what a function has made of arrays where the library may have another dtype for it than NumPy."""
        if self.namespace.name in _AS_NUMPY or not isinstance(made, (Tensor, np.ndarray)):
            return
        if _says_dtype(name, kwargs):
            return
        arrays = arrays[:1] if name in _TAKING else arrays  # the others say places
        dtypes = {x.dtype for x in arrays if x.dtype.kind != "b"}
        if len(dtypes) > 1 or (made.dtype.kind in "fc" and any(dtype.kind in "ui" for dtype in dtypes)):
            raise UnknownWhileTracing(_DTYPES.format(self.namespace.name))

    def may_hold(self, value: Any) -> bool:
        """Return whether a value may be an array of the library."""
        return hasattr(type(value), "storage") and self.holds(value) is not False


_DTYPES = "{} has rules of its own for the dtype of what is made of two dtypes, or of integers: cast them first"
#: functions whose other arrays say places
_TAKING = frozenset(("take", "take_along_axis"))
#: kinds of dtypes and of numbers, in the order in which the greater says the kind of the result
_ORDER = "buifc"
#: libraries whose operators give the dtypes that NumPy's give, or none
_AS_NUMPY = frozenset(("dask.array", "array_api_strict", "cupy"))


def _says_dtype(name: str, kwargs: Any) -> bool:
    return name == "astype" or kwargs.get("dtype") is not None


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) or (isinstance(value, Tensor) and _number_of(value) is None)


def _number_of(value: Any) -> Any:
    """Return a number of Python's of the type that a value has, None if that is none."""
    if getattr(type(value), "is_pythons", False):
        return {"b": False, "i": 0, "f": 0.0, "c": 0j}[value.dtype.kind]
    return type(value)() if type(value) in (bool, int, float, complex) else None
