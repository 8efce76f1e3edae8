"""Arrays of Dask in checkpoints: each chunk is a file, written and read by the worker that has it.

The folder is one that all of them see: the workers' own machine, or a file system that they share.
"""

from __future__ import annotations

import importlib
import itertools
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..collections.versioned_array import ArrayValue
from ..namespaces.array_namespace import Namespace
from ..namespaces.chunk_kernels import dask_array
from ..namespaces.foreign_arrays import ForeignArray
from ..saving.chunk_records import chunk_row, read_chunk, write_chunk
from ..saving.file_form import dtype_of, dtype_text, is_count
from ..saving.load_errors import damaged, unsaid
from ..saving.loop_checkpoints import FOREIGN
from .apart_errors import apart
from .remote_cluster import dask_client

_PART = ".part"


class DaskChunks:
    """Writes and reads arrays of Dask's, see ``ForeignValues``.

    Parameters
    ----------
    namespace : Namespace
        Dask's.
    """

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    def takes(self, value: Any) -> bool:
        """Return whether a value is such an array."""
        return hasattr(type(value), "__dask_graph__") and hasattr(value, "chunks")

    def told(self, value: Any) -> str:
        """Return what tells it from others: its name, which is made of what it is computed from, and its chunks."""
        return f"{value.name} {value.chunks} {value.dtype}"

    def write(self, folder: str, values: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
        """Write the chunks of values to files, each where it is, all at once."""
        delayed: Any = importlib.import_module("dask").delayed(_write, pure=False)
        rows: list[dict[str, Any]] = []
        names, tasks = [], []
        for stem, value in values:
            if any(extent != extent for sizes in value.chunks for extent in sizes):
                raise unsaid("an array of Dask's whose chunks have no known size")
            those = ["-".join(map(str, (stem, *place))) or stem for place in _places(value.chunks)]
            those = [f"{name}-0.npy" if name == stem else f"{name}.npy" for name in those]
            chunks = value.to_delayed(optimize_graph=False).ravel()
            tasks += [delayed(os.path.join(folder, name), chunk) for name, chunk in zip(those, chunks)]
            names += those
            sizes = [list(map(int, axis)) for axis in value.chunks]
            rows.append({"dtype": dtype_text(value.dtype), "chunks": sizes, "files": those})
        told = dict(zip(names, importlib.import_module("dask").compute(*tasks)))
        there = set(os.listdir(folder))
        for name in there:  # of workers that have died meanwhile
            if name.endswith(_PART):
                with suppress(FileNotFoundError):  # of one that is not dead
                    os.unlink(os.path.join(folder, name))
        if not there.issuperset(names):
            raise unsaid(f"workers have written to {folder!r}, which is another folder there than here: share it")
        return [{**row, "files": [[name, *told[name]] for name in row["files"]]} for row in rows]

    def read(self, folder: str, row: Mapping[str, Any]) -> Any:
        """Return the array of which the files are the chunks; they are read when it is computed."""
        da = dask_array()
        task: Any = importlib.import_module("dask._task_spec").Task
        dtype, chunks, files = dtype_of(row.get("dtype")), row.get("chunks"), row.get("files")
        if not isinstance(chunks, list) or not all(isinstance(one, list) and all(map(is_count, one)) for one in chunks):
            raise damaged("the manifest of the checkpoint does not say what the chunks of an array are")
        places = list(_places(chunks))
        if not isinstance(files, list) or len(files) != len(places):
            raise damaged("the manifest of the checkpoint names another number of chunks than there are")
        name = f"checkpoint-{os.urandom(8).hex()}"
        graph = {}
        for place, file in zip(places, files):
            path, count, digest = chunk_row(file, folder)
            shape = tuple([sizes[k] for k, sizes in zip(place, chunks)])
            if not os.path.exists(path):
                raise damaged(f"the checkpoint has no file {os.path.basename(path)!r} any more")
            key = (name, *place)
            graph[key] = task(key, read_chunk, path, dtype_text(dtype), shape, count, digest)
        made = da.Array(
            graph, name, tuple(map(tuple, chunks)), dtype=dtype
        ).persist()  # the files go with the checkpoint
        if dask_client() is not None:
            distributed: Any = importlib.import_module("distributed")
            distributed.wait(made)
            wrong = next((one for one in distributed.futures_of(made) if one.status == "error"), None)
            if wrong is not None:
                raise apart(wrong.exception())
        return made

    def lists(self, value: ArrayValue) -> bool:
        """Return whether the elements of a list may be such arrays."""
        return isinstance(value, ForeignArray) and value.namespace == self._namespace

    def listed(self, value: ArrayValue) -> ArrayValue:
        """Return the same list, whose elements may be such arrays."""
        return ForeignArray.over(value, self._namespace, None)


def _places(chunks: Sequence[Sequence[int]]) -> Any:
    return itertools.product(*[range(len(sizes)) for sizes in chunks])


def _write(path: str, chunk: Any) -> tuple[int, str]:
    """Write a chunk; whoever does so a second time, as the first has died, writes the same."""
    part = f"{path}-{os.urandom(8).hex()}{_PART}"
    said = write_chunk(part, chunk)
    os.replace(part, path)
    return said


def register(namespace: Namespace) -> None:
    """Let checkpoints hold arrays of Dask's."""
    FOREIGN.setdefault("dask", DaskChunks(namespace))
