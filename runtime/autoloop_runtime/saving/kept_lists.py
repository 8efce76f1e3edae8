"""TensorArrays and lists that grow in loops, in checkpoints: their elements in one array, or one by one."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..collections.array_buffer import ArraySpec, Buffer
from ..collections.versioned_array import ArrayValue
from .file_form import Arrays, is_count
from .load_errors import damaged, refused
from .value_form import ValueReader, ValueWriter

#: writes a part of a value: its number, the value; reads one: its number, its row
Write = Callable[[str, Any], Any]
Read = Callable[[str, Any], Any]


def list_row(
    value: ArrayValue, write: Write, write_rows: Callable[[Any], list[list[Any]]], arrays: Arrays
) -> dict[str, Any]:
    """Return what a manifest says of a list, whose elements are written by ``write``, or together by ``write_rows``."""
    made, size = value.forked(), value.size
    writer = ValueWriter()
    row: dict[str, Any] = {
        "size": size, "spec": writer.form(made.spec, "what a list holds"), "cleared": sorted(made.cleared),
        "there": arrays.add(np.array([bool(stamp) for stamp in made.stamps[:size]], bool)),
        "form": None if made.shape is None else [*map(int, made.shape)],
    }  # fmt: skip
    if made.rows is not None:
        return {**row, "parts": write_rows(made.rows[:size])}
    items = [*made.items[:size], *[None] * (size - len(made.items))]
    return {**row, "items": [None if one is None else write(f"{k}", one) for k, one in enumerate(items)]}


def list_of(row: Mapping[str, Any], read: Read, arrays: list[np.ndarray[Any, Any]]) -> ArrayValue:
    """Return the list of which a manifest says so much."""
    with refused("a list in the checkpoint"):
        spec, size, there = ValueReader(arrays, []).value(row["spec"]), row["size"], arrays[row["there"]]
        cleared, form = row["cleared"], row["form"]
        sound = isinstance(spec, ArraySpec) and is_count(size) and there.dtype == bool and there.shape == (size,)
        if not sound or not all(map(is_count, [*cleared, *(form or ())])):
            raise damaged("it is none")
        if not there.any():
            made = Buffer(spec, size)
            made.cleared = set(cleared)
            if form is not None:
                made.shape, made.rows, made.items = tuple(form), None, [None] * size
            return ArrayValue(made, 1, size)
        made = Buffer(spec, 0)
        made.stamps, made.cleared = array("q", there.astype(np.int64).tobytes()), set(cleared)
        made.shape, made.rows, made.items = None if form is None else tuple(form), None, []
        if "parts" in row:
            rows = _joined([(count, read(f"{k}", one)) for k, (count, _, one) in enumerate(row["parts"])])
            if type(rows) is not np.ndarray or rows.shape[:1] != (size,) or rows.dtype.kind != spec.dtype.kind:
                raise damaged("its elements are none")
            made.rows = rows
        else:
            made.items = [None if one is None else read(f"{k}", one) for k, one in enumerate(row["items"])]
            if len(made.items) not in (0, size):
                raise damaged("it has another number of elements")
        return ArrayValue(made, 1, size)


def _joined(parts: Sequence[tuple[int, Any]]) -> Any:
    """Return the parts of a list as one array."""
    if not parts or any(type(rows) is not np.ndarray or rows.shape[:1] != (count,) for count, rows in parts):
        raise damaged("its parts are none")
    return np.concatenate([rows for _, rows in parts]) if len(parts) > 1 else parts[0][1]
