"""One run of a graph with loops, token by token, as the page shows it: the lowered graph and where everything stands in
it, the events of a run (``dataflow.token_replay``), and a line of plain words for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from autoloop_runtime.dataflow.flat_graph import Kind
from autoloop_runtime.dataflow.lowering import lower
from autoloop_runtime.dataflow.token_replay import Enough, TokenReplay
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.run_state import ApartState, RunState
from autoloop_runtime.ir.structured import WHILE
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.runner import Runner

from ...bound_function import BoundFunction
from ...concrete import ConcreteFunction
from ...drawing.dataflow_picture import lowered_picture
from ...drawing.layout import Rect, lay_out
from ...drawing.picture import Picture
from ...drawing.svg import path_of
from ...function import Function
from .runs_apart import copies_of, run_apart, unnoticed
from .seen_stages import Source, graph_stage
from .told_events import words_of

#: so many events are shown, those of so many seconds, of graphs of so many nodes
MOST_EVENTS, MOST_SECONDS, MOST_NODES = 2000, 10.0, 800
#: arrays with up to so many elements are shown whole
_MOST_ELEMENTS = 6


def replay_of(
    function: Function | BoundFunction, args: Sequence[Any], kwargs: dict[str, Any], source: Source
) -> dict[str, Any] | None:
    """Return what the page shows of how the loops of a call are run; None where none is, or there are no arguments.

    Nothing is changed but by what a run is given by Python (``py_function``), which is called.
    """

    def run(
        concrete: ConcreteFunction, graph: Graph, _: Runner, values: Sequence[Any], state: RunState
    ) -> dict[str, Any] | None:
        if not any(node.op is WHILE for node in graph.nodes):
            return None
        # what says which arrays the results are is the library's own
        results, more = len(concrete.outputs), concrete.counted - len(concrete.written)
        fetches = [*graph.outputs[:results], *graph.outputs[more:]]
        return replay_of_graph(graph, fetches, graph.inputs, values, state, source)

    return run_apart(function, args, kwargs, "dataflow", run)


def replay_of_graph(
    graph: Graph, fetches: Sequence[Tensor], feeds: Sequence[Tensor], values: Sequence[Any], state: RunState,
    source: Source,
) -> dict[str, Any] | None:  # fmt: skip
    """Return what the page shows of how loops are run to compute ``fetches``; None where there are none, or too much.

    Arrays, generators, and the variables that are in ``state``, stay what they are.
    """
    lowered = lower(graph, fetches, feeds, keep_variables=True)
    if len(lowered.nodes) > MOST_NODES or not lowered.frames[1:]:
        return None
    replay = TokenReplay(lowered, value_text, MOST_EVENTS, MOST_SECONDS)
    failure = ""
    try:
        with unnoticed(graph):
            replay.run(copies_of(values), ApartState(state))
    except Enough:
        pass
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    picture = lowered_picture(lowered, fetches, feeds)
    return {
        "graph": placed(picture, source),
        "results": [box.id for box in picture.boxes if box.style == "result"],
        "frames": [{"name": one.name, "window": one.parallel_iterations} for one in lowered.frames],
        "nodes": [one.name if one.kind is not Kind.CONST else "" for one in lowered.nodes],
        "iterations": [[one.frame, one.parent, one.index] for one in replay.iterations],
        "events": [
            [one.what, one.node, one.at, one.to, one.port, "\n".join(one.made), words]
            for one, words in zip(replay.events, words_of(replay, picture))
        ],
        "cut": replay.is_cut,
        "failure": failure,
    }


def value_text(value: Any) -> str:
    """Return a value in a few words: what it is, and of an array with few elements these."""
    if not isinstance(value, (np.ndarray, np.generic, int, float, complex, str)):
        return type(value).__name__  # a stack, a file, whatever a program keeps
    array = np.asarray(value)
    if array.dtype == object:
        return "object" if array.ndim == 0 else f"object[{','.join(map(str, array.shape))}]"
    if array.ndim == 0:
        text = str(array[()])
        return text if len(text) <= 40 else f"{text[:39]}…"
    if array.size <= _MOST_ELEMENTS:
        return np.array2string(array, separator=", ", precision=4).replace("\n", "")
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"


def placed(picture: Picture, source: Source) -> dict[str, Any]:
    """Return a picture as the page draws it, and where everything stands in it."""
    graph, layout = graph_stage("lowered", picture, source), lay_out(picture)
    for made, box in zip(graph["boxes"], picture.boxes):
        made["at"] = _middle(layout.boxes[box.id])
    for made, edge, route in zip(graph["edges"], picture.edges, layout.routes):
        made |= {"port": edge.tail[0], "path": path_of(route)}
    for made, cluster in zip(graph["clusters"], picture.clusters):
        made["at"] = _corner(layout.clusters[cluster.index])
    return graph


def _middle(rect: Rect) -> list[float]:
    return [round(one, 1) for one in (rect.x + rect.width / 2, rect.y + rect.height / 2, rect.width, rect.height)]


def _corner(rect: Rect) -> list[float]:
    return [round(one, 1) for one in (rect.x, rect.y, rect.width, rect.height)]
