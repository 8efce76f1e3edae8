"""What the standard lets a program ask about a namespace."""

from __future__ import annotations

from typing import TypeAlias, TypedDict

import numpy as np
from autoloop_runtime.base import dtypes
from autoloop_runtime.base.dtypes import DType
from autoloop_runtime.ir.standard_protocols import DEVICE, check_device

Capabilities = TypedDict(
    "Capabilities", {"boolean indexing": bool, "data-dependent shapes": bool, "max dimensions": int}
)
DefaultDTypes = TypedDict(
    "DefaultDTypes", {"real floating": DType, "complex floating": DType, "integral": DType, "indexing": DType}
)
_Kind: TypeAlias = str | tuple[str, ...] | None

_DTYPES: dict[str, DType] = {
    str(dtype): dtype
    for dtype in (
        dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16,
        dtypes.uint32, dtypes.uint64, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128,
    )
}  # fmt: skip


class NamespaceInfo:
    """The answers: what ``__array_namespace_info__()`` gives."""

    def capabilities(self) -> Capabilities:
        """Return what the namespace can do besides the least."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return the device that values are made on."""
        return DEVICE

    def devices(self) -> list[str]:
        """Return all devices."""
        return [DEVICE]

    def default_dtypes(self, *, device: str | None = None) -> DefaultDTypes:
        """Return the dtypes of Python numbers that meet nothing else, and of indices."""
        check_device(device, "default_dtypes")
        return {
            "real floating": dtypes.DEFAULTS[float],
            "complex floating": dtypes.complex_of(dtypes.DEFAULTS[float]),
            "integral": dtypes.DEFAULTS[int],
            "indexing": dtypes.int64,
        }

    def dtypes(self, *, device: str | None = None, kind: _Kind = None) -> dict[str, DType]:
        """Return the standard's dtypes by their names.

        Parameters
        ----------
        device : str, optional
        kind : str or tuple of str, optional
            See ``isdtype``; all by default.
        """
        check_device(device, "dtypes")
        return {name: dtype for name, dtype in _DTYPES.items() if kind is None or np.isdtype(dtype, kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """Return what may be asked about this namespace.

    Returns
    -------
    NamespaceInfo

    Examples
    --------
    >>> al.__array_namespace_info__().default_device()
    'cpu'
    """
    return NamespaceInfo()
