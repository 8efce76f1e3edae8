"""What goes with sessions of 1.x: settings that are accepted, values that are fed, graphs written for TensorBoard."""

from __future__ import annotations

from typing import Any, NamedTuple

from autoloop_runtime.ir.graph import Graph

from .building import Names

__all__ = [
    "ConfigProto", "GPUOptions", "IndexedSlicesValue", "SparseTensorValue", "disable_control_flow_v2",
    "disable_eager_execution", "disable_resource_variables", "disable_v2_behavior", "executing_eagerly", "summary",
]  # fmt: skip


class SparseTensorValue(NamedTuple):
    """The parts of a SparseTensor as arrays, to be fed."""

    indices: Any
    values: Any
    dense_shape: Any


class IndexedSlicesValue(NamedTuple):
    """The parts of IndexedSlices as arrays, to be fed."""

    values: Any
    indices: Any
    dense_shape: Any


def ConfigProto(**settings: Any) -> dict[str, Any]:
    """Accept settings for compatibility; they have no effect."""
    return settings


def GPUOptions(**settings: Any) -> dict[str, Any]:
    """Accept settings for compatibility; they have no effect."""
    return settings


def disable_v2_behavior() -> None:
    """Do nothing: this namespace is 1.x already."""


disable_eager_execution = disable_control_flow_v2 = disable_resource_variables = disable_v2_behavior


def executing_eagerly() -> bool:
    """Return False: here ops build."""
    return False


class FileWriter:
    """Writes graphs where TensorBoard finds them: ``tensorboard --logdir DIR``. It needs the extra ``viewer``.

    Parameters
    ----------
    logdir : path
        A folder, made if it is not there; each writer writes a new file in it.
    graph : Graph, optional
        Written at once.

    Raises
    ------
    ImportError
        If TensorBoard is not installed.
    """

    def __init__(self, logdir: str, graph: Graph | None = None) -> None:
        from ..viewing.tensorboard_graph import EventFile

        self._logdir, self._file = logdir, EventFile(logdir)
        if graph is not None:
            self.add_graph(graph)

    def add_graph(self, graph: Graph) -> None:
        """Write a graph."""
        self._file.add(graph)

    def get_logdir(self) -> str:
        """Return the folder."""
        return self._logdir

    def flush(self) -> None:
        """Write what there is to the file."""
        self._file.flush()

    def close(self) -> None:
        """Write what there is, and close the file."""
        self._file.close()

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


summary = Names(
    "v1.summary",
    dict.fromkeys(
        ("scalar", "histogram", "merge", "merge_all"), "fetch the values themselves; a FileWriter writes graphs alone"
    ),
    FileWriter=FileWriter,
)
