"""The task graph of what is computed together, written once and used again with the names of the day.

``Templates.of`` finds the template for some values that are to be computed: the calls that are noted for them, in
order, and how they hang together, are what it is known by. One that is not known is written: the kernels are called
with placeholders, and Dask optimises what they give, as it does when it is asked to persist arrays.
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Sequence
from typing import Any

from .chunk_places import largest_taken
from .fresh_names import optimised
from .fused_chunks import Source, fused, sources
from .known_calls import chunk_keys, parameter_form, placeholder
from .laters import Call, Later, calls_of

#: how many templates a plan keeps, and how many may be written one after the other of which none is used again
MOST = 128
IN_VAIN = 12
_SCALAR = "scalar"


class Template:
    """A task graph with places for what it is given.

    Attributes
    ----------
    nodes : list of (key, node)
        The tasks by the names that they have here.
    given : list of list of key
        The chunks of each array that it is given.
    scalars : list of key
        Those of the numbers.
    made : list of list of key
        The chunks of each array that it gives.
    takes : dict of key to key
        By task: the largest chunk that it takes of what is given, if that is large.
    """

    def __init__(
        self, graph: Any, given: list[list[Any]], scalars: list[Any], made: list[list[Any]], takes: dict[Any, Any]
    ) -> None:
        self.nodes = list(graph.items())
        self.given, self.scalars, self.made, self.takes = given, scalars, made, takes
        taken = {key for _, node in self.nodes for key in node.dependencies}
        #: which of the arrays that it is given it takes a part of
        self.in_part = [k for k, places in enumerate(given) if not taken.issuperset(places)]
        #: what each task does, by which Dask groups tasks
        self._kinds = [(key if isinstance(key, str) else key[0]).split("-")[0] for key, _ in self.nodes]
        self._data: Any = importlib.import_module("dask._task_spec").DataNode

    def used(
        self, given: Sequence[Sequence[Any]], scalars: Sequence[Any]
    ) -> tuple[dict[Any, Any], list[list[Any]], dict[Any, Any]]:
        """Return the task graph for arrays and numbers, the keys of the chunks that it gives, and by task the key of
        the largest chunk that it is given.

        Keys are strings, not tuples: of tuples each first entry would be a group of tasks to the scheduler, and with
        each graph that comes in it looks at all groups there are, those of all iterations that it remembers.
        """
        serial = f"t{uuid.uuid4().hex}"
        keys: dict[Any, Any] = {}
        for places, those in zip(self.given, given):
            keys.update(zip(places, those))
        for place, value in zip(self.scalars, scalars):
            keys[place] = self._data(None, value)
        for k, ((key, _), kind) in enumerate(zip(self.nodes, self._kinds)):
            keys[key] = f"{kind}-{serial}x{k}"
        tasks = {keys[key]: node.substitute(keys, key=keys[key]) for key, node in self.nodes}
        takes = {keys[key]: keys[one] for key, one in self.takes.items()}
        return tasks, [[keys[key] for key in those] for those in self.made], takes


class Use:
    """How some values are computed: a template, and what it is given today."""

    __slots__ = ("given", "scalars", "template")

    def __init__(self, template: Template, given: list[Later], scalars: list[Any]) -> None:
        self.template, self.given, self.scalars = template, given, scalars


class Templates:
    """The templates of one plan."""

    def __init__(self) -> None:
        self._known: dict[Any, Template] = {}
        self._in_vain = 0
        self.written = self.reused = 0

    def of(self, targets: Sequence[Later], threads: int) -> Use | None:
        """Return how values are computed, if that can be told; it is not where no two times are the same.

        Of as many ``threads``, that is.
        """
        if self._in_vain >= IN_VAIN or any(later.form is None or later.call is None for later in targets):
            return None
        calls = calls_of(targets)
        places: dict[int, int] = {call.serial: k for k, call in enumerate(calls)}
        given: dict[Later, int] = {}
        scalars: list[Any] = []
        signature: list[Any] = []
        for call in calls:
            refs = []
            for value in call.args:
                if type(value) is Later:
                    if value.call is not None:
                        refs.append((places[value.call.serial], value.number))
                    else:
                        refs.append((-1, given.setdefault(value, len(given))))
            scalars += [call.args[k] for k in call.known.parameters]
            signature.append((call.known, tuple(refs)))
        signature.append(tuple([(places[t.call.serial], t.number) for t in targets if t.call is not None]))
        signature.append(threads)
        key = tuple(signature)
        template = self._known.get(key)
        if template is None:
            if len(self._known) >= MOST:
                self._known.clear()
            template = self._known[key] = _written(calls, list(given), targets, threads)
            self.written, self._in_vain = self.written + 1, self._in_vain + 1
        else:
            self.reused, self._in_vain = self.reused + 1, 0
        return Use(template, list(given), scalars)


def _written(calls: Sequence[Call], given: Sequence[Later], targets: Sequence[Later], threads: int) -> Template:
    """Return a template, made by calling the kernels with placeholders."""
    stand_ins: dict[Later, Any] = {v: placeholder(v.form, f"given-{k}") for k, v in enumerate(given)}
    made: dict[int, tuple[Any, ...]] = {}
    scalars: list[Any] = []
    for call in calls:
        args = []
        for k, value in enumerate(call.args):
            if type(value) is Later:
                args.append(stand_ins[value] if value.call is None else made[value.call.serial][value.number])
            elif k in call.known.parameters:
                name = f"{_SCALAR}-{len(scalars)}"
                scalars.append((name,))
                args.append(placeholder(parameter_form(value), name))
            else:
                args.append(value)
        out = call.kernel(*args)
        made[call.serial] = (out,) if call.step.outs is None else tuple(out)
    arrays = [made[t.call.serial][t.number] for t in targets if t.call is not None]
    places = [chunk_keys(f"given-{k}", v.form) for k, v in enumerate(given) if v.form is not None]
    keys = [chunk_keys(array.name, later.form) for array, later in zip(arrays, targets) if later.form is not None]
    graphs: Any = importlib.import_module("dask.highlevelgraph")
    merged = graphs.HighLevelGraph.merge(*[array.dask for array in arrays])
    wanted = [key for those in keys for key in those]
    known: dict[Any, Source] = {}
    for call in calls:
        for array, form in zip(made[call.serial], call.known.forms):
            known.update(sources(form.chunks, form.dtype, chunk_keys(array.name, form)))
    for form, those in zip([v.form for v in given], places):
        if form is not None:
            known.update(sources(form.chunks, form.dtype, those))
    tasks = fused(optimised(merged, wanted, arrays[0], known), known, wanted, threads)
    takes = largest_taken(tasks, known, {key for those in places for key in those})
    return Template(tasks, places, scalars, keys, takes)
