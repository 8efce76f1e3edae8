"""Runs whose loops are kept in a folder every so many iterations, and go on from there.

Nothing of it is in the executors: see ``segmented_run``. So all executors can, and a run of which nobody wants
checkpoints knows nothing of them.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from ..analysis.inside import loops_inside, nodes_inside
from ..base.asked_checkpoints import AskedCheckpoints, asked_checkpoints
from ..base.dtypes import variant
from ..collections import tensor_array_ops as arrays
from ..ir.graph import CONST, PARAMETER, Graph, Node
from ..ir.run_state import EAGER, RunState
from ..ir.structured import COND, WHILE
from ..ir.tensor import Tensor
from ..saving.file_form import Arrays, packed
from ..saving.graph_form import GraphWriter
from ..saving.kept_outside import form_of
from ..saving.known_functions import MadeException
from ..saving.load_errors import SaveError, unsavable
from ..saving.loop_checkpoints import FOREIGN, CheckpointError, CheckpointFolder
from .outside_state import OutsideState
from .segmented_run import Run, SegmentedRun, Segments

#: what gives a list that a file can hold
_LISTS = frozenset(
    (arrays.NEW, arrays.WRITE, arrays.REPLACE, arrays.INSERT, arrays.DROP, arrays.REMOVE, arrays.UNSTACK,
     arrays.SCATTER, arrays.SPLIT)
)  # fmt: skip


class CheckpointedRuns:
    """The runs of one graph.

    Parameters
    ----------
    graph : Graph
        After the passes.
    made : callable
        Makes what runs a graph.
    recovered : callable, optional
        See ``SegmentedRun``.

    Raises
    ------
    SaveError
        If a run may depend on more than a checkpoint can hold.
    """

    def __init__(
        self, graph: Graph, made: Callable[[Graph], Run], recovered: Callable[[list[Any], int], Any] | None = None
    ) -> None:  # fmt: skip
        self._graph, self._recovered = graph, recovered
        self._outside = OutsideState(graph)
        self._fingerprint = b""
        if graph.keeps_checkpoints:
            self._fingerprint = _fingerprint(graph)
            _check_lists(graph)
        self._segments = Segments(graph, made)

    def __call__(self, values: list[Any], state: RunState = EAGER) -> list[Any]:
        """Return the outputs for the values of the inputs."""
        asked = asked_checkpoints() if self._fingerprint else None
        if asked is None:  # whoever asked for them has kept the trace
            return SegmentedRun(self._segments, state, self._outside, self._recovered).outputs(values)
        self._tell_unkept(asked)
        name, run = asked.next_call(), self._run_of(values, state)
        with ExitStack() as stack:
            folder = stack.enter_context(CheckpointFolder(os.path.join(asked.folder, name), run))
            kept = None
            if asked.resume_from == asked.folder:
                kept = folder.newest()
            elif folder.numbers():
                raise CheckpointError(
                    f"there are checkpoints in {folder.path!r} already; go on from them with resume=True, or remove "
                    "them [AL715]"
                )
            elif asked.resume_from is not None:
                kept = CheckpointFolder(os.path.join(asked.resume_from, name), run).newest()
            once = SegmentedRun(self._segments, state, self._outside, self._recovered, folder, asked.every)
            results = once.outputs(values, kept)
            folder.clear()
        return results

    def _run_of(self, values: Sequence[Any], state: RunState) -> str:
        """Return what tells this run from those of other graphs, other inputs, and another state of the program."""
        found = hashlib.sha256(self._fingerprint)
        try:
            outside = self._outside.now(state)
            for value in (*values, *outside.values):
                found.update(_said_of(value))
            if outside.states:
                written = Arrays()
                found.update(packed({"states": [form_of(one, written) for one in outside.states]}, written))
        except SaveError as error:
            raise unsavable(str(error), *[node.location for node in loops_inside(self._graph)[:1]]) from None
        return found.hexdigest()

    def _tell_unkept(self, asked: AskedCheckpoints) -> None:
        """Warn of a loop that is long enough for checkpoints, and has none as Python has run it while tracing."""
        for one in self._graph.written_out:
            if one.count >= asked.every and one.line is not None:
                warnings.warn_explicit(
                    f"no checkpoint is kept in a `{one.kind}` loop of {one.count} iterations ({one.line}), which is "
                    f"written out: {one.reason}. A loop whose end an argument says, np.int64(n), is kept [AL716]",
                    RuntimeWarning, one.line.filename, one.line.lineno,
                )  # fmt: skip
                return


def _check_lists(graph: Graph) -> None:
    """Refuse loops whose state no file can hold: what is saved for gradients.

    Of loops inside others there need not be any: an iteration of the outer one is kept as a whole.
    """
    others = [
        node for node in nodes_inside(graph)
        if not node.op.graphs and node.op not in (CONST, PARAMETER) and node.op not in _LISTS
        and any(t.dtype == variant for t in node.outputs)
    ]  # fmt: skip
    for node in _outermost(graph):
        n = int(node.attrs["n_vars"])
        for name, tensor in zip(node.attrs["names"], node.inputs[:n]):
            if (tensor.dtype == variant and others and not _is_list(tensor)) or (
                tensor.dtype.kind == "O" and tensor.dtype != variant
            ):
                raise unsavable(
                    f"{name!r} is what is saved for a gradient: a checkpoint holds arrays, numbers and lists of them",
                    node.location,
                )


def _is_list(tensor: Tensor) -> bool:
    """Return whether a value is a list: made as one, or what a loop or a branch has made of one."""
    node = tensor.op
    if node.op is WHILE:
        return _is_list(node.inputs[node.outputs.index(tensor)])
    if node.op is COND:
        k = node.outputs.index(tensor)
        return all(_is_list(side.outputs[k]) for side in node.subgraphs)
    return node.op in _LISTS


def _outermost(graph: Graph) -> Iterator[Node]:
    """Yield the loops of a graph that are in no other one."""
    for node in graph.nodes:
        if node.op is WHILE:
            yield node
        elif node.op.graphs:
            for sub in node.subgraphs:
                yield from _outermost(sub)


class _Teller(GraphWriter):
    """Tells graphs from one another: also those that draw random numbers."""

    def _attributes(self, node: Node) -> dict[str, Any]:
        draw, what = node.attrs.get("draw"), f"{node.name!r}"
        if node.op.draws is None or draw is None:
            return super()._attributes(node)
        given = [np.dtype(one) if isinstance(one, type) else one for one in draw.given]
        said = [self.values.form(one, what, node.location) for one in given]
        return {"draw": [draw.__name__, said], "specs": self.values.form(node.attrs["specs"], what, node.location)}

    def _sayable(self, node: Node, name: str, value: Any) -> Any:
        """Return what can be said; of an exception that no file could say, that tells it from others: none is read."""
        try:
            return super()._sayable(node, name, value)
        except SaveError:
            kind = getattr(value, "kind", type(value))
            return MadeException(Exception, (f"{kind.__module__}.{kind.__qualname__}",))


def _fingerprint(graph: Graph) -> bytes:
    """Return what tells a graph from others that compute something else; ``SaveError`` if nothing can."""
    writer = _Teller()
    form = _without_places(writer.form(graph))
    return hashlib.sha256(packed({"graph": form}, writer.values.arrays)).digest()


def _without_places(form: Any) -> Any:
    """Return the form of a graph without the user's lines, which move when something else is written above."""
    if isinstance(form, dict):
        return {key: _without_places(value) for key, value in form.items() if key != "at"}
    return [_without_places(one) for one in form] if isinstance(form, list) else form


def _said_of(value: Any) -> bytes:
    """Return what tells an input from others: the content of NumPy's, what is known of any other without computing."""
    for foreign in [*FOREIGN.values()]:  # another thread may add to it meanwhile
        if foreign.takes(value):
            return foreign.told(value).encode()
    arrays = Arrays()
    arrays.add(np.asarray(value))
    head: Mapping[str, Any] = {}
    return hashlib.sha256(packed(head, arrays)).digest()
