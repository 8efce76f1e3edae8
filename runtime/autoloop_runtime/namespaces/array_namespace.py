"""Which library an array is of, and what of it the kernels use.

A library is never imported for that: who has one of its arrays has imported it. ``array_api_compat`` is, where it is
there, for libraries whose own functions are not those of the array API standard.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import numpy as np

from ..base.dataclass import dataclass
from ..base.dtypes import DType
from ..base.forks import undivided
from ..ir.argument_types import ArrayLike
from ..ir.tensor import Tensor
from .refused_calls import NamespaceRefusal

#: dtype of a library -> NumPy's; both are few, and threads that find one at the same time write the same
_NUMPYS: dict[Any, DType | None] = {}
#: library that ``array_api_compat`` makes the standard's functions for -> the name of its arrays' type
_WRAPPED = {"torch": "Tensor", "dask.array": "Array", "cupy": "ndarray"}
_COMPAT = "array_api_compat"


@dataclass(frozen=True)
class Namespace:
    """The functions of the library that an array is of.

    Attributes
    ----------
    name : str
        What the library is called: ``torch``, ``dask.array``, ``array_api_strict``, ...
    xp : module or object
        Its functions, by the names of the array API standard.
    array : type
        Of its arrays.
    device : Any
        Where the array lies, and what is made goes.
    is_lazy : bool
        Its functions build what is computed later: an array has a dtype and a shape, but no elements that could be
        looked at.
    """

    name: str
    xp: Any
    array: type
    device: Any = None
    is_lazy: bool = False

    @property
    def is_elsewhere(self) -> bool:
        """Whether arrays are not in this process's memory: functions that give tensors of others give theirs."""
        return self.is_lazy or (self.device is not None and "cpu" not in str(self.device).lower())

    def holds(self, value: Any) -> bool:
        """Return whether ``value`` is an array of this library."""
        return isinstance(value, self.array)

    def spec(self, value: Any) -> tuple[DType, tuple[int | None, ...]]:
        """Return the dtype, as NumPy calls it, and the shape of an array; an extent that is not known yet is None.

        Raises
        ------
        NamespaceRefusal
            For a dtype that NumPy does not have.
        """
        dtype = numpys_dtype(value.dtype)
        if dtype is None:
            raise NamespaceRefusal(f"an array of {self.name} of dtype {value.dtype}, which graphs do not have [AL613]")
        return dtype, tuple([_extent(n) for n in value.shape])

    def dtype(self, dtype: DType) -> Any:
        """Return what the library calls a dtype of NumPy's."""
        try:
            found = getattr(self.xp, dtype.name)
        except AttributeError:
            raise NamespaceRefusal(f"{self.name} has no dtype as {dtype} of NumPy is [AL613]") from None
        # some libraries have NumPy's names for these: what an array of theirs has is NumPy's dtype, no class
        return dtype if isinstance(found, type) and issubclass(found, np.generic) else found

    def asarray(self, value: ArrayLike) -> Any:
        """Return an array or number of NumPy's as an array of the library."""
        array = np.asarray(value)
        if not array.flags.writeable or any(step < 0 for step in array.strides):
            array = array.copy()  # some warn of what they cannot forbid to write to, or have no steps backwards
        return self.xp.asarray(array, dtype=self.dtype(array.dtype), **self.where)

    def of(self, value: Any) -> Any:
        """Return an array of the library's as it is, any other as one."""
        return value if isinstance(value, self.array) else self.asarray(value)

    def of_dtype(self, value: Any, dtype: DType) -> Any:
        """Return an array of the library as one of a dtype of NumPy's, a complex one's real part for a real dtype."""
        mine = self.dtype(dtype)
        if value.dtype == mine:
            return value
        if dtype.kind != "c" and numpys_dtype(value.dtype) in (np.dtype("c8"), np.dtype("c16")):
            value = self.xp.real(value)
        return value.astype(mine) if hasattr(value, "astype") else self.xp.astype(value, mine)

    @property
    def where(self) -> dict[str, Any]:
        """What functions that make arrays are told besides."""
        return {} if self.device is None else {"device": self.device}

    def function(self, name: str) -> Any:
        """Return the function of a name, maybe in a module (``special.erf``), None if the library has none."""
        found = self.xp
        for part in name.split("."):
            found = getattr(found, part, None)
        return found

    def __repr__(self) -> str:
        return f"Namespace({self.name!r}, device={self.device!r})"


def _extent(n: Any) -> int | None:
    return None if n is None or n != n else int(n)


def numpys_dtype(dtype: Any) -> DType | None:
    """Return NumPy's dtype of the name that a library's has, None if there is none."""
    if isinstance(dtype, np.dtype):
        return dtype if dtype.kind in "biufc" else None
    if dtype not in _NUMPYS:
        name = str(getattr(dtype, "__name__", dtype)).rpartition(".")[2]
        try:
            found: DType | None = np.dtype(name)
        except TypeError:
            found = None
        _NUMPYS[dtype] = found if found is not None and found.kind in "biufc" else None
    return _NUMPYS[dtype]


def namespace_of(value: Any) -> Namespace | None:
    """Return the namespace of an array of another library; None for NumPy's, for tensors, numbers and all else.

    Raises
    ------
    NamespaceRefusal
        For an array whose library needs ``array_api_compat``, if that is not installed; and for one that kernels could
        not compute with.
    """
    if isinstance(value, (np.ndarray, np.generic, int, float, complex, str, bytes, list, tuple, dict, type(None))):
        return None
    if isinstance(value, (Tensor, ModuleType, type)):
        return None
    for name, kind in _WRAPPED.items():
        module = sys.modules.get(name)
        array = None if module is None else getattr(module, kind, None)
        if array is not None and isinstance(value, array):
            return _wrapped(name, array, value)
    find = getattr(type(value), "__array_namespace__", None)
    if find is None or not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return None
    xp = find(value)
    return Namespace(getattr(xp, "__name__", type(xp).__name__), xp, type(value), getattr(value, "device", None))


def _wrapped(name: str, array: type, value: Any) -> Namespace:
    try:
        with undivided():
            xp = importlib.import_module(f"{_COMPAT}.{name}")
    except ImportError:
        raise NamespaceRefusal(
            f"arrays of {name} need array-api-compat: pip install array-api-compat [AL612]"
        ) from None
    if name == "dask.array":
        _check_chunks(value)
        return Namespace(name, xp, array, is_lazy=True)
    if name == "torch":
        _check_layout(value)
    return Namespace(name, xp, array, getattr(value, "device", None))


def _check_chunks(value: Any) -> None:
    meta = type(getattr(value, "_meta", None))
    if meta is not np.ndarray:
        raise NamespaceRefusal(f"the chunks of an array of dask.array are of {meta.__module__}, not NumPy's [AL612]")


def _check_layout(value: Any) -> None:
    if str(value.layout) != "torch.strided":
        raise NamespaceRefusal(
            f"a tensor of the layout {value.layout}, which is no array; give value.to_dense() [AL612]"
        )
    if value.requires_grad:
        raise NamespaceRefusal(
            "a tensor that requires a gradient, which torch itself follows; give value.detach(), or use al.grad [AL612]"
        )
