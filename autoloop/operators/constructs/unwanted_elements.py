"""Iterators of Python's that are asked for elements which the run may not want.

A loop that a tensor ends is written out to its last element: each step is for the run to take or not, but the element
itself is made while tracing. That is right as long as making it changes nothing that anybody sees.
"""

from __future__ import annotations

import gc
import inspect
import itertools
import operator
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from autoloop_runtime.base.callbacks import module_of
from autoloop_runtime.ir.array_storage import kept
from autoloop_runtime.ir.graph import current_graph

from ...errors import is_refusal, passes_handlers
from ..mutation.heap_snapshot import reached_from, snapshots
from ..mutation.held_before import has_changed, restore
from ..mutation.outside_world import leave
from ..staging.staged_blocks import in_staged_block

#: so deep iterators in iterators are looked at
_DEEPEST = 8
_END: Any = object()
Check = Callable[..., None] | None
_LEFT = "a loop or a test leaves when a tensor says so"
#: so many elements of what does not tell its length, and of what does, are made before a loop
_MOST_DRAWN, _MOST_TOLD = 10_000, 1_000_000


def perhaps_wanted(iterator: Iterator[Any], why: str = _LEFT) -> Iterator[Any]:
    """Yield the elements of an iterator, as long as what it does to make them is not seen outside of it.

    Parameters
    ----------
    iterator : iterator
    why : str
        Why the run may not want them, as messages say it.

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
        seen = _Seen(_roots(iterator, 0))
        what = f"the {_kind(iterator)} that {why}"
        try:
            item = next(iterator, _END)
        except Exception as error:
            if not is_refusal(error):
                seen.put_back()
                _refuse(f"{what} raises {type(error).__name__} where the loop may be over")
            raise
        if (changed := seen.changed()) is not None:
            seen.put_back()
            _refuse(f"{what} changes {changed!r}")
        if item is _END:
            return
        yield item


def drawn(iterable: Any, most: int | None = None, why: str = "is counted and") -> tuple[list[Any], Check]:
    """Return the elements of what Python runs over, made before a loop asks for them, if nobody can see that.

    Parameters
    ----------
    iterable : iterable
    most : int, optional
        So many are asked for, if that is known.
    why : str
        Why they are made before, as messages say it.

    Returns
    -------
    (list, callable or None)
        The elements; what is called before and behind a use of them, and raises if they would be others now.
    """
    iterator = iter(iterable)
    roots = _roots(iterator, 0)
    count = max(_MOST_DRAWN, min(operator.length_hint(iterator), _MOST_TOLD)) if most is None else most
    made = list(itertools.islice(perhaps_wanted(iterator, why) if roots else iterator, count))
    if most is None and len(made) == count and operator.length_hint(iterator, 1):
        _refuse(f"the {_kind(iterator)} that {why} gives more than {count} elements")
    if not roots:
        return made, None
    seen = _Seen(roots)

    def check(first: int = 0) -> None:
        if (changed := seen.changed()) is not None:
            _refuse(f"the {_kind(iterator)} that {why} may read {changed!r}, which a loop over it changes,")

    return made, check


def made_unseen(make: Callable[[], Any], functions: Sequence[Any], what: str) -> Any:
    """Return what functions of the user's make, which may be asked for once more than anybody gets to see it."""
    graph = current_graph()
    assert graph is not None
    seen, count = _Seen(list(functions)), len(graph.nodes)
    made = make()
    does = next((node.op.name for node in graph.nodes[count:] if node.op.effect), None)
    if (changed := seen.changed() or does) is not None:
        _refuse(f"{what} changes {changed!r}")
    return made


class _Seen:
    """What can be seen of the world from some objects: whether it has changed since."""

    def __init__(self, roots: list[Any]) -> None:
        before, self._variables = snapshots(roots, (), ())
        self._before = [one for one in before if not hasattr(type(one.value), "__next__")]
        self._arrays = [
            (storage, storage.version, name) for one, name in reached_from(roots).values() if (storage := kept(one))
        ]

    def changed(self) -> str | None:
        """Return what has changed; None if nothing has."""
        changed = [one.name for one in self._before if has_changed(one)]
        changed += [slot.name for slot, value in self._variables if slot.get() is not value]
        changed += [name for storage, version, name in self._arrays if storage.version != version]
        return (changed[0] or "what others see") if changed else None

    def put_back(self) -> None:
        """Let objects and variables hold what they held."""
        restore(self._before, self._variables)


def _refuse(what: str) -> NoReturn:
    if not in_staged_block():
        leave(what, "")
    error = TypeError(f"{what}, as often as only the run knows: let each loop run over the values themselves [AL018]")
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
    elif module_of(type(value)) in ("builtins", "itertools") and hasattr(type(value), "__next__"):
        inner = [part for held in gc.get_referents(value) for part in (held if isinstance(held, tuple) else (held,))]
        roots, given = [], list(filter(callable, inner))
    else:
        return []
    roots += [one for one in given if not hasattr(type(one), "__next__")]
    return roots + [root for one in inner if hasattr(type(one), "__next__") for root in _roots(one, depth + 1)]
