"""What a checkpoint need not write again: files of the one before that hold the same.

A file that both hold has a name in each folder, a link. So each folder is whole by itself, and the content stays while
one of them does. A list that grows lies in *parts*: of eight that are as long one is made, so that a list that was
kept n times has some log n parts, and an element is written some log n times.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from .chunk_records import digest_of
from .file_form import is_count

#: how many parts of one level become one of the next
PARTS = 8
#: length, level, and what the manifest says of its elements
Part = tuple[int, int, dict[str, Any]]


class Before:
    """A checkpoint that is whole, and what of it the next one may hold, too.

    Belongs to one run, which keeps its checkpoints one after the other.

    Attributes
    ----------
    path : str
        Its folder.
    parts : dict
        Of each list, by the stem of its files.
    rows : dict
        What the manifest says of a large array in a list, by the stem of its file.
    theirs : dict
        The same of arrays of other libraries, by their kind and what tells them from others.
    """

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.parts: dict[str, Sequence[Part]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        self.theirs: dict[tuple[str, str], dict[str, Any]] = {}

    def linked_row(self, folder: str, stem: str, row: dict[str, Any]) -> dict[str, Any] | None:
        """Let a folder have the files of a row, too; return the row there, None if that cannot be."""
        files = [row["chunk"]] if "chunk" in row else row.get("files", ())
        made: list[list[Any]] = []
        for k, (name, *said) in enumerate(files):
            path = os.path.join(folder, f"{stem}-{k}.npy")
            try:
                os.link(os.path.join(self.path, name), path)
            except OSError:  # a file system that has no links, or somebody has removed it
                for one, *_ in made:
                    os.unlink(os.path.join(folder, one))
                return None
            made.append([os.path.basename(path), *said])
        return {**row, "chunk": made[0]} if "chunk" in row else {**row, "files": made}

    def note_parts(self, stem: str, rows: Any) -> None:
        """Note the parts that a manifest, which was read, says of a list."""
        if rows:
            self.parts[stem] = [(count, level, row) for count, level, row in rows if is_count(level)]

    def holds(self, row: dict[str, Any], array: np.ndarray[Any, Any]) -> bool:
        """Return whether a file holds just this array."""
        chunk = row.get("chunk")
        return chunk is not None and tuple(chunk[1:]) == digest_of(array)

    def same_parts(self, stem: str, rows: np.ndarray[Any, Any]) -> tuple[list[Part], int, int]:
        """Return the parts of a list that stay, the length of them together, and the level of what is written now."""
        kept: list[Part] = []
        at = 0
        for part in self.parts.get(stem, ()):
            if at + part[0] > len(rows) or not self.holds(part[2], rows[at : at + part[0]]):
                break
            kept.append(part)
            at += part[0]
        level = 0
        while at < len(rows) and len(kept) >= PARTS - 1 and all(one[1] == level for one in kept[1 - PARTS :]):
            at -= sum(one[0] for one in kept[1 - PARTS :])
            del kept[1 - PARTS :]
            level += 1
        return kept, at, level
