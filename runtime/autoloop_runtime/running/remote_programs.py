"""What is sent of a part of a graph to a worker, and kept there: made ready once, machine code included.

A program goes as the bytes of a saved graph and their digest. Where it arrives, the digest is looked up first: so of
all tasks with one program only the first reads the graph and compiles it.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..analysis.cost import choose
from ..base import config
from ..base.collector import NoCollection
from ..base.forks import Kind, undivided
from ..ir.graph import Graph
from ..ir.run_state import EAGER, RunState
from ..passes.optimize import optimize
from ..saving.graph_form import GraphWriter
from ..saving.load_errors import SaveError
from ..saving.saved_graph import loaded, saved
from .automatic import Automatic

#: so many programs are kept, those that ran last
_MOST = 256
_lock = Kind("programs of regions", "an entry is complete when it is added").lock()
#: guarded by ``_lock``
_programs: OrderedDict[str, Program] = OrderedDict()


class Program:
    """The graph of a region, ready to run here, or to be sent.

    Parameters
    ----------
    graph : Graph
        Without effects.
    threads : int, optional
        How many threads a run uses; by default as here.
    """

    def __init__(self, graph: Graph, threads: int | None = None) -> None:
        self._graph, self._threads = graph, threads
        # made when they are first wanted; two threads may make them twice
        self._content: bytes | None = None
        self._is_packed = False
        self._run: Automatic | None = None

    @property
    def content(self) -> bytes | None:
        """What is sent; None if the graph holds what cannot be."""
        if not self._is_packed:
            with suppress(SaveError):
                self._content = saved(self._graph, GraphWriter(), {}, "autoloop")
            self._is_packed = True
        return self._content

    def __call__(self, *values: Any) -> Any:
        """Return what the graph gives: a value, or a tuple of them."""
        if self._run is None:
            with NoCollection():
                graph = optimize(self._graph, {})
                self._run = Automatic(graph, choose(graph))
        if self._threads is None:
            results = self._run(values, EAGER)
        else:
            with config(num_threads=self._threads):  # type: ignore[operator]
                results = self._run(values, EAGER)
        return results[0] if len(results) == 1 else tuple(results)

    def __reduce__(self) -> tuple[Any, ...]:
        digest = hashlib.blake2b(self.content or b"", digest_size=16).hexdigest()
        return arrived, (digest, self.content)


def arrived(digest: str, content: bytes) -> Program:
    """Return the program of a graph that has arrived; one that came before stays."""
    with _lock:
        known = _programs.get(digest)
        if known is not None:
            _programs.move_to_end(digest)
            return known
    made = Program(loaded(content).graph, threads=1)  # the worker has other tasks for its other processors
    with _lock:
        made = _programs.setdefault(digest, made)
        if len(_programs) > _MOST:
            _programs.popitem(last=False)
    return made


def compiled_remote(
    graph: Graph, local: Callable[[list[Any], RunState], list[Any]]
) -> Callable[[list[Any], RunState], list[Any]] | None:
    """Return what runs a graph whose heavy parts may go to a cluster; None if it has none that may.

    Parameters
    ----------
    graph : Graph
    local : callable
        Runs it here, for calls inside of tasks.
    """
    with undivided():
        from ..distributed.remote_regions import with_remote_regions

    regions = with_remote_regions(graph, Program)
    if regions is None:
        return None
    with undivided():
        from ..distributed.remote_driver import RemoteGraph

    return RemoteGraph(regions, local).run
