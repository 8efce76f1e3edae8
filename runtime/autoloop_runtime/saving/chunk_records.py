"""Arrays, or chunks of them, in files of their own: as NumPy writes them, with a checksum that stands elsewhere."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from .file_form import dtype_of, dtype_text, is_count
from .load_errors import damaged, refused

_CHUNK = re.compile(r"[0-9]{1,6}(-[0-9]{1,9}){1,64}\.npy", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


def write_chunk(path: str, array: Any) -> tuple[int, str]:
    """Write an array to a file that is not there yet, to the disk; return its bytes and its checksum."""
    array = np.asarray(array)
    dtype_text(array.dtype)
    with open(path, "xb") as file:
        summed = _Summed(file)
        np.lib.format.write_array(summed, array, version=(1, 0), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
    return summed.count, summed.digest()


def digest_of(array: Any) -> tuple[int, str]:
    """Return what ``write_chunk`` would of an array."""
    summed = _Summed(None)
    np.lib.format.write_array(summed, np.asarray(array), version=(1, 0), allow_pickle=False)
    return summed.count, summed.digest()


def read_chunk(path: str, dtype: str, shape: Sequence[int], count: int, digest: str) -> np.ndarray[Any, Any]:
    """Return the array in a file that ``write_chunk`` has made.

    Raises
    ------
    LoadError
        If there is anything else in it.
    """
    name = os.path.basename(path)
    try:
        with open(path, "rb") as file:
            content = file.read(count + 1)
    except OSError as error:
        raise damaged(f"the checkpoint has no file {name!r} any more: {error.strerror}") from None
    if len(content) != count or hashlib.sha256(content).hexdigest() != digest:
        raise damaged(f"the file {name!r} of the checkpoint is damaged: its checksum or size is another")
    with refused(f"the file {name!r} of the checkpoint"):
        array: np.ndarray[Any, Any] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    if array.dtype != dtype_of(dtype) or array.shape != tuple(shape):
        raise damaged(f"the file {name!r} of the checkpoint holds another array than its manifest says")
    return array


class _Summed:
    """A file that is written to, or none, and the checksum of what was."""

    def __init__(self, file: Any) -> None:
        self._file, self._sum, self.count = file, hashlib.sha256(), 0

    def write(self, data: Any) -> int:
        if self._file is not None:
            self._file.write(data)
        self._sum.update(data)
        self.count += memoryview(data).nbytes
        return self.count

    def digest(self) -> str:
        return self._sum.hexdigest()


def chunk_row(row: Any, folder: str) -> tuple[str, int, str]:
    """Return path, bytes and checksum of a chunk, of which a manifest says so much."""
    if not isinstance(row, list) or len(row) != 3 or not is_count(row[1]):
        raise damaged("the manifest of the checkpoint does not say what a chunk is")
    name, count, digest = row
    if not isinstance(name, str) or not _CHUNK.fullmatch(name) or not _DIGEST.fullmatch(str(digest)):
        raise damaged("the manifest of the checkpoint names a chunk as none is named")
    return os.path.join(folder, name), count, digest
