"""Iterators of Python's that are asked for elements which the run may not want.

A loop that a tensor ends is written out to its last element: each step is for the run to take or not, but the element
itself is made while tracing. That is right as long as making it changes nothing that anybody sees.
"""

from __future__ import annotations

import gc
import inspect
import types
from collections.abc import Iterator
from typing import Any

from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.graph import current_graph

from ...errors import is_refusal, passes_handlers
from ..mutation.heap_snapshot import has_changed, reached_from, snapshots
from ..mutation.outside_world import leave
from ..mutation.side_effects import restore
from ..staging.staged_blocks import in_staged_block

#: so deep iterators in iterators are looked at
_DEEPEST = 8
_END: Any = object()


def perhaps_wanted(iterator: Iterator[Any]) -> Iterator[Any]:
    """Yield the elements of an iterator, as long as what it does to make them is not seen outside of it.

    Raises
    ------
    LeftToPython
        If it is; the function runs as plain Python then.
    TypeError
        If it is in a loop or branch of the graph.
    """
    while True:
        if current_graph() is None:
            yield from iterator
            return
        roots = _roots(iterator, 0)
        before, variables = snapshots(roots, (), ())
        before = [one for one in before if not hasattr(type(one.value), "__next__")]
        arrays = [
            (storage, storage.version, name) for one, name in reached_from(roots).values() if (storage := kept(one))
        ]
        try:
            item = next(iterator, _END)
        except Exception as error:
            if not is_refusal(error):
                restore(before, variables)
                _refuse(iterator, f"raises {type(error).__name__} where the loop may be over")
            raise
        changed = [one.name for one in before if has_changed(one)]
        changed += [slot.name for slot, value in variables if slot.get() is not value]
        changed += [name for storage, version, name in arrays if storage.version != version]
        if changed:
            restore(before, variables)
            _refuse(iterator, f"changes {changed[0] or 'an array'!r}")
        if item is _END:
            return
        yield item


def _refuse(iterator: Iterator[Any], does: str) -> None:
    what = f"the {_kind(iterator)} that a loop or a test leaves when a tensor says so {does}"
    if not in_staged_block():
        leave(what, "")
    error = TypeError(f"{what}, as often as only the run knows: let each loop run over the values themselves")
    passes_handlers(error)
    raise error


def _kind(iterator: Any) -> str:
    return f"generator {iterator.__name__!r}" if isinstance(iterator, types.GeneratorType) else type(iterator).__name__


def _roots(value: Any, depth: int) -> list[Any]:
    """Return what an iterator may change: what its code names, and what it was given; not what it has made itself."""
    if depth > _DEEPEST:
        return []
    if isinstance(value, types.GeneratorType):
        if value.gi_frame is None:
            return []
        code, found = value.gi_code, value.gi_frame.f_locals
        rest = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
        count = code.co_argcount + code.co_kwonlyargcount + rest
        given = [found[name] for name in (*code.co_varnames[:count], *code.co_freevars) if name in found]
        closure = tuple([types.CellType(found.get(name)) for name in code.co_freevars])
        roots: list[Any] = [types.FunctionType(code, value.gi_frame.f_globals, closure=closure)]
        inner = [*found.values(), value.gi_yieldfrom]
    elif type(value).__module__ in ("builtins", "itertools") and hasattr(type(value), "__next__"):
        inner = [part for held in gc.get_referents(value) for part in (held if isinstance(held, tuple) else (held,))]
        roots, given = [], list(filter(callable, inner))
    else:
        return []
    roots += [one for one in given if not hasattr(type(one), "__next__")]
    return roots + [root for one in inner if hasattr(type(one), "__next__") for root in _roots(one, depth + 1)]
