"""The form of a file: a preamble of fixed size, a header of JSON, and the elements of arrays as they lie in memory.

All numbers are little-endian::

    0   8 bytes    b"autoloop"
    8   uint32     version of the format
    12  uint32     0
    16  uint64     bytes of the header
    24  uint64     bytes of the elements
    32  32 bytes   SHA-256 of all that follows
    64             the header, UTF-8
    ...            zeros up to a multiple of 64 from the beginning of the file
    ...            the elements of the arrays, each in C order from a multiple of 64 on

The checksum finds damage. It says nothing about who wrote a file, so nothing rests on it but that.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from .load_errors import damaged, refused, unsaid, unsavable

#: where a file is: its name, or the open file
FilePath: TypeAlias = str | os.PathLike[str] | BinaryIO

MAGIC = b"autoloop"
VERSION = 1
_PREAMBLE = struct.Struct("<8sIIQQ32s")
_ALIGNED = 64
#: no header is longer: what JSON makes of it takes some thirty times the memory
MOST_HEADER = 32 << 20
#: no array has more axes, as in NumPy
_MOST_AXES = 64
#: no text in an array is longer
MOST_TEXT = 1 << 20
_TEXT = re.compile("U[0-9]{1,7}", re.ASCII)
#: no array has more elements
_MOST = 1 << 46
#: the dtypes of arrays, besides texts: of the same bytes on all machines
DTYPES = frozenset(
    np.dtype(one).str.lstrip("<>=|")
    for one in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
)


def dtype_text(dtype: np.dtype[Any]) -> str:
    """Return how a dtype is written; ``SaveError`` if arrays of it are no bytes, or others on other machines."""
    text = dtype.str.lstrip("<>=|")
    if text not in DTYPES and dtype.kind != "U":
        raise unsaid(f"an array of dtype {dtype} cannot be saved: its elements are not the same bytes everywhere")
    return text


def dtype_of(text: Any) -> np.dtype[Any]:
    """Return the dtype of this machine that a text says."""
    if isinstance(text, str):
        if text in DTYPES:
            return np.dtype(text)
        if _TEXT.fullmatch(text) and int(text[1:]) <= MOST_TEXT:
            return np.dtype(text)
    raise damaged(f"{str(text)[:40]!r} is no dtype")


def is_count(value: Any) -> bool:
    """Return whether a value is an integer that may be an extent or a place."""
    return type(value) is int and 0 <= value < 1 << 62


class Arrays:
    """The arrays of a file that is being made; one that stands in several places is written once."""

    def __init__(self) -> None:
        self._kept: list[np.ndarray[Any, Any]] = []
        #: identity -> number; of what was given, which is kept alive
        self._known: dict[int, int] = {}
        self._given: list[Any] = []

    def add(self, value: Any) -> int:
        """Return the number of an array, or of a scalar of NumPy's."""
        known = self._known.get(id(value))
        if known is None:
            array = np.asarray(value)
            dtype_text(array.dtype)
            if not array.dtype.itemsize:  # empty texts
                array = array.astype("U1")
            known = self._known[id(value)] = len(self._kept)
            self._given.append(value)
            self._kept.append(array)
        return known

    def written(self) -> tuple[list[list[Any]], list[bytes]]:
        """Return what the header says of the arrays, and their elements."""
        rows, pieces, position = [], [], 0
        for array in self._kept:
            little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
            piece = little.tobytes("C")
            rows.append([dtype_text(array.dtype), list(array.shape), position])
            fill = -len(piece) % _ALIGNED
            pieces += [piece, b"\0" * fill]
            position += len(piece) + fill
        return rows, pieces


def packed(header: Mapping[str, Any], arrays: Arrays) -> bytes:
    """Return the bytes of a file."""
    rows, pieces = arrays.written()
    text = json.dumps({**header, "arrays": rows}, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    head = text.encode("utf-8")
    if len(head) > MOST_HEADER:
        raise unsavable(f"a graph of that many operations cannot be saved: {len(head)} bytes, {MOST_HEADER} at most")
    fill = b"\0" * (-(_PREAMBLE.size + len(head)) % _ALIGNED)
    rest = b"".join([head, fill, *pieces])
    size = sum(map(len, pieces))
    return _PREAMBLE.pack(MAGIC, VERSION, 0, len(head), size, hashlib.sha256(rest).digest()) + rest


def written(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file as a whole: whoever reads at that path finds the file before, or this one."""
    path = os.fspath(path)
    handle, beside = tempfile.mkstemp(prefix=".autoloop-", dir=os.path.dirname(os.path.abspath(path)))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if os.name == "posix":  # as open() would have made it
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(beside, 0o666 & ~mask)
        os.replace(beside, path)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def content_of(source: FilePath | bytes) -> bytes:
    """Return the bytes of a file that is named, or open, or of what are bytes already.

    Raises
    ------
    LoadError
        If it is none of ours, or not whole.
    OSError
        If it cannot be read.
    """
    if isinstance(source, bytes):
        return source
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return _read(file)
    return _read(source)


def _read(file: BinaryIO) -> bytes:
    """Return the bytes of a file, of which the preamble tells how many there are to be."""
    head = file.read(_PREAMBLE.size)
    size = _size(head)
    return head + file.read(size - len(head) + 1)


def _size(head: bytes) -> int:
    if len(head) < _PREAMBLE.size or head[:8] != MAGIC:
        raise damaged("this is no file that autoloop.save has written")
    _, version, zero, header, elements, _ = _PREAMBLE.unpack(head)
    if version != VERSION:
        raise damaged(f"the file has version {version} of the format, this autoloop reads version {VERSION}")
    if zero or header > MOST_HEADER or elements >= 1 << 62:
        raise damaged("the beginning of the file is damaged")
    size: int = _PREAMBLE.size + header + -(_PREAMBLE.size + header) % _ALIGNED + elements
    return size


def unpacked(content: bytes) -> tuple[dict[str, Any], list[np.ndarray[Any, Any]]]:
    """Return the header and the arrays of a file; the arrays cannot be written to.

    Raises
    ------
    LoadError
        If it is none of ours, or not whole.
    """
    head = content[: _PREAMBLE.size]
    size = _size(head)
    _, _, _, header, elements, digest = _PREAMBLE.unpack(head)
    if len(content) != size:
        what = "is cut off" if len(content) < size else "goes on after its end"
        raise damaged(f"the file {what}: it says that it has {size} bytes")
    if hashlib.sha256(memoryview(content)[_PREAMBLE.size :]).digest() != digest:
        raise damaged("the file is damaged: its checksum is another")
    start = _PREAMBLE.size
    with refused("the header is no JSON"):
        made = json.loads(content[start : start + header].decode("utf-8"), parse_constant=_no_number)
    if not isinstance(made, dict) or not isinstance(made.get("arrays"), list):
        raise damaged("the header is no table with a list of arrays")
    first = size - elements
    return made, [_array(row, content, first, elements) for row in made["arrays"]]


def _no_number(text: str) -> Any:
    raise damaged(f"the header holds {text}, which JSON has not")


def _array(row: Any, content: bytes, first: int, elements: int) -> np.ndarray[Any, Any]:
    if not isinstance(row, list) or len(row) != 3 or not isinstance(row[1], list) or not is_count(row[2]):
        raise damaged("the header does not say what an array is")
    dtype, shape, position = dtype_of(row[0]), row[1], row[2]
    if not dtype.itemsize:
        raise damaged("an array has elements of no size")
    if len(shape) > _MOST_AXES or not all(map(is_count, shape)):
        raise damaged("an array has no such shape")
    count = 1
    for extent in shape:
        count *= extent
    if position % _ALIGNED or position + count * dtype.itemsize > elements or math.prod(filter(None, shape)) > _MOST:
        raise damaged("an array does not lie in the file")
    little = dtype.newbyteorder("<")
    flat = np.frombuffer(content, np.uint8, count * dtype.itemsize, first + position)
    _check_elements(dtype, flat)
    if not count:
        array = np.zeros(tuple(shape), dtype)
    else:
        array = flat.view(little).reshape(shape)
        array = array if sys.byteorder == "little" else array.astype(dtype)
    array.flags.writeable = False
    return array


def _check_elements(dtype: np.dtype[Any], flat: np.ndarray[Any, Any]) -> None:
    """Refuse bytes that are no booleans, or no characters: NumPy relies on it."""
    if dtype.kind == "b" and flat.size and flat.max() > 1:
        raise damaged("an array of booleans holds other bytes")
    if dtype.kind == "U" and flat.size and flat.view("<u4").max() > 0x10FFFF:
        raise damaged("an array of texts holds what is no character")


def values_of(rows: Sequence[Any], what: str, count: int) -> Sequence[Any]:
    """Return a list of the header that is to have so many entries."""
    if not isinstance(rows, list) or len(rows) != count:
        raise damaged(f"{what}: the header does not say what it is")
    return rows
