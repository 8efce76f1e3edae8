"""Arrays of other libraries in checkpoints: NumPy's with the same elements are written, and theirs is made of what is
read, on the device that it lay on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..collections.versioned_array import ArrayValue
from ..saving.chunk_records import chunk_row, read_chunk, write_chunk
from ..saving.file_form import dtype_of, dtype_text, is_count
from ..saving.load_errors import damaged, unsaid
from ..saving.loop_checkpoints import FOREIGN
from .array_namespace import Namespace
from .foreign_arrays import ForeignArray


class KeptArrays:
    """Writes and reads the arrays of a library that lie on one device, see ``ForeignValues``."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    def takes(self, value: Any) -> bool:
        """Return whether a value is such an array."""
        namespace = self._namespace
        return namespace.holds(value) and (namespace.device is None or value.device == namespace.device)

    def told(self, value: Any) -> str:
        """Return what tells it from others: its library and its content."""
        array = self._numpys(value)
        return f"{self._namespace.name} {array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"

    def write(self, folder: str, values: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
        """Write the elements of each to a file."""
        return [self._written(folder, stem, value) for stem, value in values]

    def _written(self, folder: str, stem: str, value: Any) -> dict[str, Any]:
        array = self._numpys(value)
        name = f"{stem}-0.npy"
        said = write_chunk(os.path.join(folder, name), array)
        return {"dtype": dtype_text(array.dtype), "shape": list(array.shape), "chunk": [name, *said]}

    def read(self, folder: str, row: Mapping[str, Any]) -> Any:
        """Return the array whose elements are in the file."""
        shape = row.get("shape")
        if not isinstance(shape, list) or not all(map(is_count, shape)):
            raise damaged("the manifest of the checkpoint says no shape")
        path, count, digest = chunk_row(row.get("chunk"), folder)
        return self._namespace.asarray(read_chunk(path, dtype_text(dtype_of(row.get("dtype"))), shape, count, digest))

    def lists(self, value: ArrayValue) -> bool:
        """Return whether the elements of a list may be such arrays."""
        return isinstance(value, ForeignArray) and value.namespace == self._namespace

    def listed(self, value: ArrayValue) -> ArrayValue:
        """Return the same list, whose elements may be such arrays."""
        return ForeignArray.over(value, self._namespace, None)

    def _numpys(self, value: Any) -> np.ndarray[Any, Any]:
        """Return an array of NumPy's with the same elements."""
        with suppress(TypeError, ValueError, RuntimeError):  # what lies on another device does not come by itself
            array = np.asarray(value)
            if array.dtype != object:
                return array
        try:
            return np.from_dlpack(value, device="cpu")
        except Exception as error:  # what libraries raise where they cannot is their own matter
            said = f"an array of {self._namespace.name} on {self._namespace.device} does not come to NumPy: {error}"
            raise unsaid(said) from None


def register(namespace: Namespace) -> None:
    """Let checkpoints hold arrays of a library."""
    where = "" if namespace.device is None else f" on {namespace.device}"
    FOREIGN.setdefault(f"{namespace.name}{where}", KeptArrays(namespace))
