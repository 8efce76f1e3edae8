"""What is sent to Dask at once, and who sends it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..base.dataclass import dataclass, field
from ..dataflow.frames import Frame, Item
from ..namespaces.chunk_kernels import dask_array
from .known_calls import chunk_keys
from .laters import Call, Later
from .mailbox import Mailbox
from .remote_cluster import LostCluster
from .task_templates import Use


@dataclass(slots=True)
class Statistics:
    """What a run did.

    Attributes
    ----------
    submissions : int
        How often something was sent to be computed.
    iterations : int
        How many iterations of loops handed over collections.
    fetches : int
        How many values came back: conditions, and what becomes an array of NumPy's.
    widest : int
        How many iterations of one loop were under way at a time, at the most.
    tasks : int
        How many tasks were sent by templates.
    written, reused : int
        How many templates were written, and how often one was used again.
    """

    submissions: int = 0
    iterations: int = 0
    fetches: int = 0
    widest: int = 0
    tasks: int = 0
    written: int = 0
    reused: int = 0


@dataclass(slots=True, eq=False)
class Submission:
    """Some values that are computed together.

    Attributes
    ----------
    laters : list of Later
        What becomes futures.
    asked : list of (Item, Later)
        The conditions among them and the arrays that are fetched, and the marks that wait for them.
    iterations : dict of Frame to int
        How many iterations of which loops it computes.
    calls : list of Call
        The kernels that it runs, as far as they are noted.
    origins : dict of Later to (Call, int)
        Which of them, and which output of that, gives each of the values.
    use : Use or None
        The template that it is written by.
    besides : list of Later
        What else becomes futures, as others will be made of it.
    sources : list
        Collections that were persisted, as they were before. The futures in them are wanted until the scheduler has
        read the graph, which takes it some time: what is let go of meanwhile is lost to what needs it.
    """

    laters: list[Later]
    asked: list[tuple[Item, Later]]
    iterations: dict[Frame, int]
    calls: list[Call]
    origins: dict[Later, tuple[Call, int]]
    use: Use | None = None
    besides: list[Later] = field(default_factory=list)
    sources: list[Any] = field(default_factory=list)

    def clear(self) -> None:
        """Let go of everything: the traceback of a failure may hold this for long."""
        for left in (self.laters, self.asked, self.iterations, self.calls, self.origins, self.besides, self.sources):
            left.clear()
        self.use = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """The letter that the conditions of a submission have come, and its arrays that are fetched."""

    submission: Submission
    values: list[Any]


@dataclass(frozen=True, slots=True)
class Done:
    """The letter that a submission is computed, or why it is not."""

    submission: Submission
    error: BaseException | None = None


class Sender(Protocol):
    """Sends submissions, and puts letters about them into a mailbox.

    Attributes
    ----------
    blocks : bool
        What is sent is computed when ``send`` returns.
    """

    blocks: bool

    @property
    def threads(self) -> int:
        """How many tasks can be done at once."""

    def persist(self, collections: list[Any]) -> list[Any]:
        """Have Dask compute collections; returns what it gives for them at once."""

    def failure(self, collections: list[Any]) -> BaseException | None:
        """Wait until collections are computed; returns what a task has raised."""

    def parts(self, collection: Any) -> dict[Any, Any]:
        """Return what holds each chunk of a collection that was persisted, by its key."""

    def is_part(self, node: Any) -> bool:
        """Return whether what stands in a graph holds a chunk that is computed, or being computed."""

    def send(self, submission: Submission, mailbox: Mailbox) -> int:
        """Have all values of ``submission`` computed, and put in their places what Dask gives for them.

        Returns how many tasks that are, of a template.
        """

    def cancel(self, submissions: Sequence[Submission]) -> None:
        """Stop what is not computed of these; their results are not wanted any more."""


class Locally:
    """Dask's own threads, in this process, or whatever scheduler is set; sending is computing."""

    blocks = True

    def __init__(self) -> None:
        self._dask: Any = importlib.import_module("dask")
        self._base: Any = importlib.import_module("dask.base")
        self._array = dask_array().Array
        self._spec: Any = importlib.import_module("dask._task_spec")

    @property
    def threads(self) -> int:
        """See ``Sender``."""
        return int(importlib.import_module("dask.system").CPU_COUNT)

    def persist(self, collections: list[Any]) -> list[Any]:
        """See ``Sender``."""
        return list(self._dask.persist(*collections))

    def failure(self, collections: list[Any]) -> BaseException | None:
        """See ``Sender``: they are computed, or ``persist`` has failed."""
        return None

    def parts(self, collection: Any) -> dict[Any, Any]:
        """See ``Sender``."""
        return {key: getattr(node, "value", node) for key, node in dict(collection.dask).items()}

    def is_part(self, node: Any) -> bool:
        """See ``Sender``."""
        return isinstance(node, (np.ndarray, np.generic, self._spec.DataNode))

    def send(self, submission: Submission, mailbox: Mailbox) -> int:
        """See ``Sender``."""
        count = 0
        try:
            if submission.use is None:
                persist_all(submission, self)
            else:
                count = self._compute(submission, submission.use)
            values = [self._value(later) for _, later in submission.asked]
        except Exception as error:
            mailbox.put(Done(submission, _of_cluster(submission) or error))
            return count
        if values:
            mailbox.put(Fetched(submission, values))
        mailbox.put(Done(submission))
        return count

    def _compute(self, submission: Submission, use: Use) -> int:
        hold(use.given, self, submission)
        graph, keys, _ = use.template.used([later.keys for later in use.given], use.scalars)
        count, node = len(graph), self._spec.DataNode
        for later in use.given:
            graph.update([(key, node(key, part)) for key, part in zip(later.keys, later.parts)])
        get = self._base.get_scheduler(cls=self._array) or self._array.__dask_scheduler__
        for later, those, made in zip(submission.laters, keys, get(graph, keys)):
            later.become_parts(those, list(made), array_of)
        return count

    def _value(self, later: Later) -> Any:
        if later.parts:
            return joined(later.parts, later.blocks)
        return self._dask.compute(later.collection, scheduler="synchronous")[0]

    def cancel(self, submissions: Sequence[Submission]) -> None:
        """See ``Sender``; nothing is left behind by what has failed here."""


def _of_cluster(submission: Submission) -> BaseException | None:
    """Return what is said of what was to be computed here and is on a cluster: its client was closed meanwhile."""
    future = getattr(sys.modules.get("distributed"), "Future", None)
    given = [*submission.sources, *(later.collection for later in (submission.use.given if submission.use else ()))]
    nodes = [node for one in given for layer in one.dask.layers.values() for node in dict(layer).values()]
    if future is None or not any(isinstance(node, future) for node in nodes):
        return None
    return LostCluster("the client of the cluster that has what is computed next was closed [AL616]")


def persist_all(submission: Submission, sender: Sender) -> None:
    """Have Dask compute the values of a submission, each with the graph that it has."""
    laters = [*submission.laters, *submission.besides]
    submission.sources += [later.collection for later in laters]
    for later, collection in zip(laters, sender.persist(list(submission.sources))):
        later.become(collection)


def hold(laters: Sequence[Later], sender: Sender, submission: Submission) -> None:
    """Have the parts of values that a template is given; of those that are lazy yet, have them computed together."""
    lazy = [later for later in (*laters, *submission.besides) if not later.is_sent]
    sources = [later.collection for later in lazy]
    submission.sources += sources
    for later, made in zip(lazy, sender.persist(sources) if sources else ()):
        later.become(made)
    for later in laters:
        if not later.parts:
            parts = sender.parts(later.collection)
            assert later.form is not None
            keys = chunk_keys(later.collection.name, later.form)
            later.keys, later.parts = keys, [parts[key] for key in keys]


def find_parts(later: Later, sender: Sender) -> None:
    """Let a value have its parts, if it is an array of nothing but chunks that are computed, or being computed."""
    layers = later.collection.dask.layers
    if later.form is None or len(layers) != 1:
        return
    (nodes,) = layers.values()
    keys = chunk_keys(later.collection.name, later.form)
    if len(nodes) == len(keys) and all(sender.is_part(nodes.get(key)) for key in keys):
        parts = [getattr(nodes[key], "value", nodes[key]) for key in keys]
        later.keys, later.parts = [getattr(part, "key", key) for key, part in zip(keys, parts)], parts
        later.is_sent = True


def joined(chunks: Sequence[Any], blocks: Sequence[int]) -> Any:
    """Return the chunks of an array, of which there are so many along each axis, as one."""
    if not blocks:
        return chunks[0]
    size = len(chunks) // blocks[0] if blocks[0] else 0
    parts = [joined(chunks[k * size : (k + 1) * size], blocks[1:]) for k in range(blocks[0])]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-len(blocks))


def array_of(later: Later) -> Any:
    """Return an array of Dask's over what holds its chunks."""
    da = dask_array()
    form, name = later.form, later.keys[0]
    assert form is not None
    name = name if isinstance(name, str) else name[0]
    graph = dict(zip(chunk_keys(name, form), later.parts))
    return da.Array(graph, name, form.chunks, dtype=form.dtype, meta=form.meta)
