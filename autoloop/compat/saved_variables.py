"""Files of the values of variables: read without running anything that is in them, written whole or not at all.

A file is a line that says what it is, the length of a table, the table (JSON: for each name the dtype, the shape, where
the bytes begin, and their checksum), and the bytes of all arrays, in the order of rows, the lowest byte of a number
first.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

#: behind the path that a user names
ENDING = ".variables"
_FIRST_LINE = b"autoloop variables 1\n"
_WORD = 8
_CODE = " [AL909]"
#: kinds of dtypes that are kept, with their sizes
_KINDS = frozenset(["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"])


class NotOurs(ValueError):
    """A file is no file of variables, or is damaged."""


def _kind(dtype: np.dtype[Any]) -> str:
    name = dtype.kind + str(dtype.itemsize)
    if name not in _KINDS and dtype.kind not in "SU":
        raise TypeError(f"a variable of dtype {dtype} cannot be saved [AL909]")
    return name


def write(path: str, values: Mapping[str, Any]) -> None:
    """Write arrays under their names; what was there stays until all of it is written."""
    table: dict[str, Any] = {}
    parts, at = [], 0
    for name, value in values.items():
        array = np.asarray(value)
        kind = _kind(array.dtype)
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        table[name] = [kind, list(array.shape), at, len(data), zlib.crc32(data)]
        parts.append(data)
        at += len(data)
    head = json.dumps(table).encode()
    folder = os.path.dirname(os.path.abspath(path))
    handle, there = tempfile.mkstemp(prefix=".", suffix=ENDING, dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_FIRST_LINE + len(head).to_bytes(_WORD, "little") + head)
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(there, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(there)
        raise


class Values:
    """The arrays of a file, each read when it is asked for.

    Raises
    ------
    NotOurs
        If it is no such file, or is damaged.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        whole = os.path.getsize(path)
        with open(path, "rb") as file:
            first = file.read(len(_FIRST_LINE) + _WORD)
            length = int.from_bytes(first[len(_FIRST_LINE) :], "little")
            self._begin = len(first) + length
            if not first.startswith(_FIRST_LINE) or self._begin > whole:
                raise NotOurs(f"{path} is not a file of variables [AL909]")
            try:
                table = json.loads(file.read(length))
                self._table = {str(name): _checked(entry, whole - self._begin) for name, entry in table.items()}
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                raise NotOurs(f"{path} is damaged: {str(error).removesuffix(_CODE)}{_CODE}") from None

    def names(self) -> list[str]:
        """Return the names."""
        return list(self._table)

    def read(self, name: str) -> Any:
        """Return an array.

        Raises
        ------
        KeyError
            If there is none of that name.
        """
        if name not in self._table:
            raise KeyError(f"Key {name} not found in checkpoint {self._path} [AL909]")
        kind, shape, at, length, check = self._table[name]
        with open(self._path, "rb") as file:
            file.seek(self._begin + at)
            data = file.read(length)
        if len(data) != length or zlib.crc32(data) != check:
            raise NotOurs(f"{self._path} is damaged: the bytes of {name!r} are not those that were written [AL909]")
        given = np.dtype("U" + str(int(kind[1:]) // 4) if kind[0] == "U" else kind)
        return np.frombuffer(data, given.newbyteorder("<")).reshape(shape).astype(given)


def _checked(entry: Any, room: int) -> tuple[str, tuple[int, ...], int, int, int]:
    kind, shape, at, length, check = entry
    is_text = isinstance(kind, str) and kind[:1] in ("S", "U") and kind[1:].isdigit() and int(kind[1:]) > 0
    if not (is_text or kind in _KINDS) or not all(type(n) is int and n >= 0 for n in (*shape, at, length, check)):
        raise ValueError("the table is not understood [AL909]")
    if at + length > room or math.prod(shape) * int(kind[1:]) != length or len(shape) > 64:
        raise ValueError("a value is longer than the file, or not as long as its shape says [AL909]")
    return kind, tuple(shape), at, length, check
