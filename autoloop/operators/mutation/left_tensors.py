"""What a function that nobody has decorated leaves in what it finds, where it is called with tensors of ours.

``grad`` calls it with what follows its values, ``map_fn`` and its like with symbolic tensors. What it then puts in a
global, an attribute or a list is a tensor. Where it has a value, and the function was given none, that is put there, as
plain Python would have; a symbolic one, which stands for the values of all rows or iterations, is refused.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import FOUND
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import ArrayTracer, Kind, kind_of, marked

from .heap_snapshot import Snapshot, without_arrays
from .held_before import has_attributes, has_changed, restore
from .kept_by_libraries import Libraries
from .slots import Attribute, Slot

Known = dict[int, tuple[Any, str]]

#: tensors, and what was given in their places, of all functions that are called now, one in the other
_SAME: ContextVar[list[tuple[Tensor, Any]] | None] = ContextVar("autoloop_given_in_place_of", default=None)


@contextmanager
def no_tensors_left(roots: Sequence[Any], same: Sequence[tuple[Tensor, Any]] = ()) -> Iterator[None]:
    """Let a function be called with tensors inside, and then have none of them in what it has found.

    Parameters
    ----------
    roots : sequence
        The function, and what it is called with.
    same : sequence of (Tensor, object), optional
        Tensors in its arguments, and what the caller has given there.

    Raises
    ------
    TypeError
        If a symbolic tensor is left in it; all is put back as it was then.
    """
    if current_graph() is not None or FOUND.get() is not None:  # whoever is around looks at it all
        if (around := _SAME.get()) is not None:
            around.extend(same)
        elif same:
            yield
            _Left(roots, {}, same).put_given()
            return
        yield
        return
    every = list(same)
    walk = without_arrays(roots)
    before, variables, known = walk.found, walk.variables, walk.known()
    libraries = Libraries(walk.libraries(), is_traced=False)

    def name_of(value: Any) -> str | None:
        found = known.get(id(value))
        return None if found is None else found[1]

    raised = True
    try:
        with Setting(None, (FOUND, name_of), (_SAME, every)):
            yield
        raised = False
    finally:
        kept = next(libraries.changed(), None)
        if kept or any(map(has_changed, before)) or any(slot.get() is not value for slot, value in variables):
            left = _Left(roots, known, every)
            symbolic = left.symbolic or libraries.symbolic()
            if symbolic is not None:
                restore(before, variables)
                libraries.put_back()
                if not raised:
                    _refuse(symbolic)
            else:
                given = nest.flatten(list(roots[1:]))
                left.put_values(kind_of(given, ArrayTracer) if given else Tensor, libraries)


def _refuse(name: str) -> None:
    raise TypeError(
        f"{name!r}, which the function finds, would hold a symbolic tensor afterwards: the function is called once, "
        f"with what stands for the values of all its calls. Let it return the value, or call this in a function that "
        f"is decorated with autoloop.function [AL016]"
    )


class _Left:
    """The tensors in what a function has found that were not there before."""

    def __init__(self, roots: Sequence[Any], known: Known, same: Sequence[tuple[Tensor, Any]]) -> None:
        self._known = known
        walk = without_arrays(roots)
        self._found, self._variables = walk.found, walk.variables
        self._is_trace = False
        self._values = {id(one): (one, given) for one, given in same}
        self.symbolic = next((name for name, one in self._held() if one.is_symbolic), None)

    def _held(self) -> Iterator[tuple[str, Tensor]]:
        for name, value in [(slot.name, slot.get()) for slot, _ in self._variables] + [
            (one.name or type(one.value).__name__, part) for one in self._found for part in _parts(one)
        ]:
            for leaf in _leaves(value):
                if id(leaf) not in self._known:
                    yield name, leaf

    def put_values(self, kind: Kind, libraries: Libraries | None = None) -> None:
        """Put values where tensors were left that have one."""
        for held, now in () if libraries is None else libraries.changed():
            is_dict = isinstance(now, dict)
            made = [self._plain(one, kind) for one in (now.values() if is_dict else now)]
            if not all(map(operator.is_, made, now.values() if is_dict else now)):
                held.hold(dict(zip(now, made, strict=True)) if is_dict else made, now)
        for slot, value in self._variables:
            self._put(slot, value, kind)
        for one in self._found:
            if has_attributes(one):
                for name, value in one.old.items():
                    self._put(Attribute(one.value, name), value, kind)
            elif isinstance(one.value, dict):
                for key, value in one.old.items():
                    if (new := self._plain(value, kind)) is not value:
                        dict.__setitem__(one.value, key, new)
            elif isinstance(one.value, set):
                for value in one.old:
                    if (new := self._plain(value, kind)) is not value:
                        set.discard(one.value, value)
                        set.add(one.value, new)  # what cannot be hashed has no plain function put there either
            elif isinstance(one.value, list | deque):
                plain: Any = list if isinstance(one.value, list) else deque  # no method of the user's is called
                for k, value in enumerate(one.old):
                    if (new := self._plain(value, kind)) is not value:
                        plain.__setitem__(one.value, k, new)

    def put_given(self) -> None:
        """Put what was given where a tensor in its place was left, and let all else be: the trace looks at it."""
        self._is_trace = True
        self.put_values(Tensor)

    def _put(self, slot: Slot, value: Any, kind: Kind) -> None:
        if (new := self._plain(value, kind)) is not value:
            slot.set(new)

    def _plain(self, value: Any, kind: Kind) -> Any:
        """Return what plain Python would have in place of ``value``: the same for the same tensor."""
        if isinstance(value, Tensor):
            if self._is_trace and id(value) in self._values:
                return self._values[id(value)][1]
            if self._is_trace or id(value) in self._known or value.is_symbolic:
                return value
            if id(value) not in self._values:
                self._values[id(value)] = value, marked(kind, marked(kind_of((value,)), value))
            plain = self._values[id(value)][1]
            return plain if plain is value else self._plain(plain, kind)
        if isinstance(value, tuple) and any(True for _ in _leaves(value)):
            parts = [self._plain(one, kind) for one in value]
            if all(map(operator.is_, parts, value)):
                return value
            return nest.like(value, parts)
        return value


def _parts(one: Snapshot) -> list[Any]:
    if isinstance(one.old, dict):
        return [*one.old, *one.old.values()]
    return list(one.old) if isinstance(one.old, list | set) else []


def _leaves(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple):
        for one in tuple.__iter__(value):
            yield from _leaves(one)
