"""What a page shows of ``session.run(fetches, feed_dict)``, of a graph of the 1.x API: it was built by no function."""

from __future__ import annotations

from types import MethodType
from typing import Any

from autoloop_runtime.passes.quiet import quiet
from autoloop_runtime.running.session import Session

from ...drawing import dataflow_picture, structured_picture
from .replayed_loops import replay_of_graph
from .run_timelines import timeline_of_graph
from .seen_stages import Source, graph_stage, source_data


def is_run_of_session(f: Any) -> bool:
    """Return whether something is the ``run`` of a session."""
    return isinstance(f, MethodType) and isinstance(f.__self__, Session) and f.__name__ == "run"


def session_data(run: Any, fetches: Any, feed_dict: Any = None) -> dict[str, Any]:
    """Return what a page shows of a run."""
    session: Session = run.__self__
    tensors, feeds, state = session.looked_up(fetches, feed_dict)
    graph = session.graph
    structured = structured_picture(graph, tensors)
    unheard, both = quiet(graph, [*tensors, *feeds])
    fetched, fed = both[: len(tensors)], both[len(tensors) :]
    source = Source.around([box.location for box in structured.boxes])
    return {
        "title": f"session.run({', '.join(tensor.name for tensor in tensors)})",
        "note": "",
        "source": source_data(source),
        "stages": [
            graph_stage("structured", structured, source),
            graph_stage("lowered", dataflow_picture(graph, tensors, list(feeds)), source),
        ],
        "timeline": timeline_of_graph(unheard, fetched, fed, list(feeds.values()), state, source),
        "replay": replay_of_graph(unheard, fetched, fed, list(feeds.values()), state, source),
        "memory": None,
    }
