"""Names of nodes: each is given out once in a root graph and all that is inside it; 1.x finds nodes by them.

And what else 1.x asks of a graph: what is collected under names, scopes, devices, the whole as data.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..base.forks import Kind
from .node import Node
from .op import call
from .tensor import Tensor

_KIND = Kind("Names", "a name that a thread of the parent was about to get is nobody's")


class Names:
    """The names given out so far.

    One thread builds a graph; but passes over it may run on others, and sessions that read variables.
    """

    __slots__ = ("_counts", "_lock")

    def __init__(self) -> None:
        #: guards ``_counts``
        self._lock = _KIND.lock()
        #: name -> how often it was asked for
        self._counts: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._counts)

    def unique(self, name: str) -> str:
        """Return ``name``, or with a number if it was given out: ``add``, ``add_1``, ..."""
        counts = self._counts
        with self._lock:
            count = counts.get(name, 0)
            counts[name] = count + 1
            if count == 0:
                return name
            candidate = f"{name}_{count}"
            while candidate in counts:
                count += 1
                candidate = f"{name}_{count}"
            counts[name] = count + 1
            counts[candidate] = 1
        return candidate


class NamedLookup:
    """What a graph can be asked by name."""

    nodes: list[Node]
    _names: Names

    def count_of_names(self) -> int:
        """Return how many names were given out: there are so many nodes, at least, in all graphs of a root."""
        return len(self._names)

    def get_operations(self) -> list[Node]:
        """Return the nodes in the order they were made."""
        return list(self.nodes)

    def get_operation_by_name(self, name: str) -> Node:
        """Return the node called ``name`` (``KeyError`` if there is none)."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(f"the graph has no operation named {name!r} [AL507]")

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Return the tensor called ``"operation:output"`` (``KeyError``/``ValueError`` if there is none)."""
        operation, colon, index = name.rpartition(":")
        if not colon or not index.isdigit():
            raise ValueError(f"a tensor's name is 'operation:output', e.g. 'add:0', not {name!r} [AL507]")
        node = self.get_operation_by_name(operation)
        if int(index) >= len(node.outputs):
            raise KeyError(f"operation {operation!r} has {len(node.outputs)} outputs, not {int(index) + 1} [AL507]")
        return node.outputs[int(index)]


class Collecting:
    """A graph in which things are collected."""

    collections: dict[str, list[Any]]
    root: Any

    def unique_name(self, name: str) -> str:
        """Return ``name`` below the prefix that is in force, made unique."""
        raise NotImplementedError

    def inner_scope(self, name: str | None) -> str:
        """Return the prefix in a scope: a new one, unless ``name`` ends with a slash or is none."""
        return (name or "/")[:-1] if not name or name.endswith("/") else self.unique_name(name)

    @property
    def finalized(self) -> bool:
        """Whether no further change is allowed."""
        return bool(self.root.frozen)

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Put ``value`` into a collection, which is made if it is not there."""
        self.get_collection_ref(name).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Put ``value`` into each of several collections; ``names`` may be one name."""
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """Return a collection itself, which is made if it is not there."""
        return self.collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """Return what is in a collection as a new list; with ``scope``, what has a name that it matches
        (``re.match``)."""
        found = self.collections.get(name, [])
        if scope is None:
            return list(found)
        return [one for one in found if re.match(scope, getattr(one, "name", None) or "\0")]

    def get_all_collection_keys(self) -> list[Any]:
        """Return the names of the collections that there are."""
        return [name for name in self.collections if isinstance(name, str)]

    def clear_collection(self, name: Any) -> None:
        """Forget a collection."""
        self.collections.pop(name, None)

    def device(self, device_name_or_function: Any) -> AbstractContextManager[None]:
        """Accept where operations are to run: there is one machine, and nothing is placed."""
        return nullcontext()

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """Return the nodes, lowered as TensorFlow's are, as data; see ``compat.v1``."""
        return call("graph_definition", self)
