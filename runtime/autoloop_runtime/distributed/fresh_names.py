"""Arrays are sent to a cluster under names that nobody else uses.

Dask names a task by the array that it makes, before it fuses tasks: two graphs that are sent one after the other may
have the same name for different ones, which the scheduler warns of, and may wait for ever. So here all are renamed.
What such a graph has in common with one that was sent before is taken from there, as long as somebody holds it.
"""

from __future__ import annotations

import importlib
import operator
import uuid
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from ..namespaces.chunk_kernels import dask_array
from .chunk_places import ChunkPlaces, largest_taken
from .fused_chunks import Source, fused, known_of
from .remote_cluster import check_open

#: how the names end, as a pattern
FRESH = r"-[pt][0-9a-f]{32}x\d+$"
#: what the future of a value is that is there no more
GONE = ("error", "cancelled", "lost")


class FreshNames:
    """Persists arrays on a cluster, each time under other names.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._array = dask_array().Array
        self._meta_of: Any = importlib.import_module("dask.array.utils").meta_from_array
        self._graphs: Any = importlib.import_module("dask.highlevelgraph")
        self._spec: Any = importlib.import_module("dask._task_spec")
        self._future: Any = importlib.import_module("distributed").Future
        try:
            self._expression: Any = getattr(importlib.import_module("dask._expr"), "LLGExpr", None)
        except ImportError:  # before dask 2025.4
            self._expression = None
        #: by the name of an array: what it was persisted as, while that is there
        self._made: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._places = ChunkPlaces(client)
        #: by worker, empty before it was asked; two threads that ask at once are told the same
        self._workers: dict[str, int] = {}

    @property
    def threads(self) -> int:
        """How many tasks the workers can do at once, those that were there when it was first asked."""
        self._workers = self._workers or self._client.nthreads()
        return sum(self._workers.values())

    def persist(self, collections: Sequence[Any]) -> list[Any]:
        """Return collections whose parts are futures."""
        if not collections:
            return []
        if not all(type(one) is self._array and hasattr(one.dask, "layers") for one in collections):
            return self._persisted(collections)
        graph = self._graphs.HighLevelGraph.merge(*[one.dask for one in collections])
        if any(layer.annotations for layer in graph.layers.values()):
            return self._persisted(collections)
        graph, there = self._with_what_is_there(graph)
        wanted = [_flat(one) for one in collections]
        names, known = [key for keys in wanted for key in keys], known_of(graph)
        tasks = optimised(graph, names, collections[0], known)
        tasks = fused(tasks, known, [key for key in names if key in tasks], self.threads)
        takes = largest_taken(tasks, known, there)
        for keys in wanted:
            left = [key for key in keys if key not in tasks]
            if len(left) < len(keys):  # else the whole array is there under its name
                tasks.update([(key, self._spec.Alias(key, key)) for key in left])
        numbers: dict[Any, int] = {}
        serial = f"p{uuid.uuid4().hex}"
        fresh: dict[Any, Any] = {}
        for key in tasks:
            name = key[0] if type(key) is tuple else key
            new = f"{str(name).split('-')[0]}-{serial}x{numbers.setdefault(name, len(numbers))}"
            # slices leave numbers of NumPy's in keys, which a client does not take
            fresh[key] = (new, *map(operator.index, key[1:])) if type(key) is tuple else new
        renamed = {
            fresh[key]: self._spec.Alias(fresh[key], key) if _is_loop(node) else node.substitute(fresh, key=fresh[key])
            for key, node in tasks.items()
        }
        made = [[fresh[key] for key in keys if key in fresh] for keys in wanted]
        futures = self.send(renamed, made, {fresh[key]: there[one] for key, one in takes.items()})
        return [self._rebuilt(one, those) if those else one for one, those in zip(collections, futures)]

    def _persisted(self, collections: Sequence[Any]) -> list[Any]:
        """Return what Dask itself makes of collections."""
        made = list(self._client.persist(list(collections)))
        check_open(self._client)
        return made

    def send(self, tasks: dict[Any, Any], keys: list[list[Any]], takes: Mapping[Any, Any]) -> list[list[Any]]:
        """Return the futures of some keys of a graph of tasks, which ``takes`` says the largest chunk of, by key."""
        # with a name of its own it is not made one of all that it contains
        graph = tasks if self._expression is None else self._expression(tasks, _determ_token=uuid.uuid4().hex)
        with self._places.preferring(takes if len(self._workers) > 1 else {}):
            futures: list[list[Any]] = self._client.get(graph, keys, sync=False)
        check_open(self._client)
        self._places.note([future for those in futures for future in those])
        return futures

    def _with_what_is_there(self, graph: Any) -> tuple[Any, dict[Any, Any]]:
        """Return a graph with futures in the place of arrays that were persisted before, and all futures by key."""
        layers, needed = dict(graph.layers), dict(graph.dependencies)
        futures = {
            node.key: node for layer in layers.values() if layer.is_materialized() for node in layer.values()
            if isinstance(node, self._future)
        }  # fmt: skip
        other = next((one.client for one in futures.values() if one.client is not self._client), None)
        if other is not None:  # Dask refuses it, too; here its chunks would be lost
            raise ValueError(
                f"an array was persisted with another client, {other!r}, than the one that the call runs on, "
                f"{self._client!r}: call it inside of that client, or compute the array before [AL620]"
            )
        for name in graph.layers:
            there = self._made.get(name)
            if there is None:
                continue
            parts = [there.dask[key] for key in _flat(there)]
            if any(part.status in GONE for part in parts):
                continue
            keys = [(name, *key[1:]) for key in _flat(there)]
            refs = {key: self._spec.TaskRef(part.key) for key, part in zip(keys, parts)}
            layers[name], needed[name] = self._graphs.MaterializedLayer(refs), set()
            futures.update([(part.key, part) for part in parts])
        return self._graphs.HighLevelGraph(layers, needed), futures

    def _rebuilt(self, array: Any, futures: Sequence[Any]) -> Any:
        parts = {future.key: future for future in futures}
        name = futures[0].key[0]
        made = self._array(parts, name, array.chunks, dtype=array.dtype, meta=self._meta_of(array))
        self._made[array.name] = made
        return made


def optimised(
    graph: Any, wanted: Sequence[Any], array: Any, known: dict[Any, Source] | None = None
) -> dict[Any, Any]:  # fmt: skip
    """Return the tasks of a graph as Dask would send them for arrays; ``array`` is one of them.

    What is ``known`` of keys is told of the other names, too, that some of them get.
    """
    spec: Any = importlib.import_module("dask._task_spec")
    core: Any = importlib.import_module("dask.core")
    tasks: dict[Any, Any] = spec.convert_legacy_graph(dict(array.__dask_optimize__(graph, list(wanted))))
    told: dict[Any, Source] = {} if known is None else known
    for key, task in tasks.items():
        if key in told and type(task) is spec.Alias:
            told[task.target] = told[key]
    resolve = getattr(spec, "resolve_aliases", None)
    if resolve is None:  # an older Dask
        return tasks
    resolved: dict[Any, Any] = resolve(tasks, set(wanted), core.reverse_dict(spec.DependenciesMapping(tasks)))
    return resolved


def _flat(array: Any) -> list[Any]:
    core: Any = importlib.import_module("dask.core")
    return list(core.flatten(array.__dask_keys__()))


def _is_loop(node: Any) -> bool:
    """Return whether a node stands for what is there under its own name."""
    return bool(getattr(node, "target", node) == getattr(node, "key", None))
