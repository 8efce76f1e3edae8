"""Some tasks that a worker runs as one: what is in between never becomes a result that the cluster keeps."""

from __future__ import annotations

import functools
import importlib
import pickle
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

_Key = TypeVar("_Key", bound=Hashable)

#: bytes: a program is sent with each of its tasks, and what is written of a task is mostly the same words again
WORTH_PACKING = 512
#: what a pickle begins with, and nothing that is packed
_PICKLED = pickle.PROTO

#: the number of a value, the task that gives it, and the values that nobody takes after it
Step: TypeAlias = tuple[int, Any, tuple[int, ...]]


class Program:
    """Tasks in the order in which they are done, over values that have numbers: first those that are given.

    It is sent as bytes, packed ones, which a worker reads once, and the scheduler never.

    Parameters
    ----------
    steps : sequence of (int, task, tuple of int)
    outs : int or tuple of int
        What it gives.
    """

    __slots__ = ("_data", "_read")

    def __init__(self, steps: Sequence[Step], outs: int | tuple[int, ...]) -> None:
        self._read: tuple[Sequence[Step], Any] | None = (tuple(steps), outs)
        self._data = _written(self._read)

    def __call__(self, *given: Any) -> Any:
        if self._read is None:
            self._read = _read(self._data)
        steps, outs = self._read
        values = dict(enumerate(given))
        del given
        for number, task, ends in steps:
            values[number] = task(values)
            for end in ends:
                del values[end]
        return tuple([values[out] for out in outs]) if type(outs) is tuple else values[outs]

    @property
    def data(self) -> bytes:
        """The whole, written down: equal ones are the same program."""
        return self._data

    def __dask_tokenize__(self) -> Any:
        return ("autoloop", self._data)

    def __reduce__(self) -> Any:
        return _received, (self._data,)


def _received(data: bytes) -> Program:
    made = Program.__new__(Program)
    made._data, made._read = data, None
    return made


@functools.lru_cache(maxsize=512)
def _read(data: bytes) -> Any:
    return pickle.loads(data if data.startswith(_PICKLED) else zlib.decompress(data))


def _written(value: Any) -> bytes:
    try:
        data = pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):  # a function that has no name in a module
        data = importlib.import_module("cloudpickle").dumps(value)
    return zlib.compress(data, 1) if len(data) >= WORTH_PACKING else data


def program(tasks: Mapping[Any, Any], outs: Sequence[Any], given: Sequence[Any]) -> Program:
    """Return tasks as one.

    Parameters
    ----------
    tasks : mapping of key to task
        In an order in which they can be done.
    outs : sequence of key
        What is given back: one value, or several as a tuple.
    given : sequence of key
        What they take of others, in the order in which it is handed over.
    """
    writer = _Writer(len(given))
    names: dict[Any, int] = {key: number for number, key in enumerate(given)}
    for key, task in tasks.items():
        names[key] = writer.add(task, names)
    kept = tuple([names[key] for key in outs])
    return Program(writer.with_ends(kept), kept if len(kept) > 1 else kept[0])


def depth_first(outs: Iterable[_Key], needed: Callable[[_Key], Iterable[_Key]]) -> list[_Key]:
    """Return keys and all that they need, each after what it needs: what is begun is brought to its end first."""
    found: dict[_Key, None] = {}
    todo: list[tuple[_Key, bool]] = [(key, False) for key in outs][::-1]
    while todo:
        key, is_open = todo.pop()
        if is_open:
            found[key] = None
        elif key not in found:
            todo.append((key, True))
            todo += [(one, False) for one in needed(key) if one not in found]
    return list(found)


class _Writer:
    """Gives numbers to values, those inside of tasks that are several already among them."""

    def __init__(self, count: int) -> None:
        self._spec: Any = importlib.import_module("dask._task_spec")
        self._inside = getattr(self._spec, "_execute_subgraph", None)
        self._count = count
        self._tasks: list[tuple[int, Any]] = []
        #: numbers of arrays by what is in them: each iteration of a loop has its own of those that all read
        self._arrays: dict[Any, int] = {}

    def add(self, task: Any, names: Mapping[Any, int]) -> int:
        """Return the number of what a task gives, whose inputs have ``names``."""
        if type(task) is self._spec.Alias:
            return names[task.target]
        if type(task) is self._spec.Task and task.func is self._inside and self._inside is not None:
            return self._opened(task, names)
        number = self._count
        if type(task) is self._spec.DataNode and type(task.value) is np.ndarray and not task.value.dtype.hasobject:
            value = task.value
            number = self._arrays.setdefault((value.dtype, value.shape, value.tobytes()), number)
            if number != self._count:
                return number
        self._count += 1
        self._tasks.append((number, task.substitute(names, key=number)))
        return number

    def _opened(self, task: Any, names: Mapping[Any, int]) -> int:
        """Add what is inside of a task."""
        inside, out, keys, *values = task.args
        own: dict[Any, int] = {}
        for key, value in zip(keys, values):
            node = value if isinstance(value, (self._spec.TaskRef, self._spec.GraphNode)) else None
            if isinstance(node, self._spec.TaskRef):
                own[key] = names[node.key]
            else:
                own[key] = self.add(self._spec.DataNode(None, value) if node is None else node, names)
        for key in depth_first([out], lambda key: [one for one in inside[key].dependencies if one in inside]):
            own[key] = self.add(inside[key], own)
        return own[out]

    def with_ends(self, kept: tuple[int, ...]) -> list[Step]:
        """Return the steps, each with what it is the last to take."""
        seen, steps = set(kept), []
        for number, task in reversed(self._tasks):
            if number not in seen:
                continue  # nobody takes it
            ends = tuple(sorted({*task.dependencies} - seen))
            seen.update(ends)
            steps.append((number, task, ends))
        return steps[::-1]
