"""The door between converted code and everything else: no stand-in goes through it.

Stand-ins leave as results, in what is printed or raised, as arguments of functions that are not converted, or by being
left in something that outlives the trace: attributes, items, globals, closures. For each of these ways there is one
function here.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import attribute_of
from autoloop_runtime.base.locations import is_library_file, is_own_file
from autoloop_runtime.ir.composite import composite_of
from autoloop_runtime.ir.tensor import Tensor

from ...conversion.callables import is_converted
from ..mutation.heap_snapshot import is_random, snapshots, stand_ins
from ..mutation.held_before import has_changed, restore
from ..mutation.outside_world import leave
from ..staging.numbers_or_arrays import as_result
from ..staging.staged_blocks import in_staged_block
from ..staging.standins import StandIn, opened


def guarded(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is not converted, but neither gets to see a stand-in nor changes what a graph must carry.

    Were such a change carried, the function would find tensors, and lists that grow, in its own variables.
    """

    def call_outside(*args: Any, **kwargs: Any) -> Any:
        _check_arguments(args, kwargs)
        roots = (f, *args, *kwargs.values())
        who = f"{getattr(f, '__name__', 'a function')!r}, which is not converted,"
        for one, name in stand_ins(roots)[0]:
            one.refuse_leaving(f"{who} would find" + (f", as {name!r}," if name else ""))
        if not in_staged_block():
            return f(*args, **kwargs)
        threshold = Threshold(roots)
        result = f(*args, **kwargs)
        if (changed := threshold.changed()) is not None:
            threshold.restore()
            raise TypeError(
                f"{who} changes {changed or 'an object'!r} in a loop or branch on tensors, which is traced once: let "
                f"it return a new value, and assign that to a variable [AL016]"
            )
        return result

    return call_outside


def shielded(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a library that is given no stand-in."""

    @functools.wraps(f)
    def call_library(*args: Any, **kwargs: Any) -> Any:
        _check_arguments(args, kwargs)
        return f(*args, **kwargs)

    return call_library


def _check_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise if there is a stand-in among arguments; they are handed on as they are, as lists may be changed."""
    for leaf in nest.flatten((args, kwargs)):
        if isinstance(leaf, StandIn):
            opened(leaf).leaving()


def is_outside(f: Any) -> bool:
    """Return whether a callable is a Python function of the user's that runs as it is."""
    function = attribute_of(f, "__func__", f)
    if not isinstance(function, types.FunctionType):
        return False
    code = function.__code__
    return not (is_converted(code) or is_own_file(code.co_filename) or is_library_file(code.co_filename))


class Threshold:
    """What functions and their arguments hold before something is done with them, to be compared and given back.

    Parameters
    ----------
    roots : sequence
        The functions and arguments.
    """

    def __init__(self, roots: Sequence[Any]) -> None:
        self._roots = roots
        self._before, self._variables = snapshots(roots, (), ())

    def changed(self) -> str | None:
        """Return the name of something that is not what it was; None if there is nothing."""
        for slot, value in self._variables:
            if slot.get() is not value:
                return slot.name
        return next((one.name for one in self._before if has_changed(one) and not is_random(one.value)), None)

    def restore(self) -> None:
        """Put back what containers, attributes and variables held."""
        restore(self._before, self._variables)


def result_of(value: Any) -> Any:
    """Return what a decorated function gives; what the run will make a value of may stay.

    Raises
    ------
    TypeError
        With what holds a stand-in that the result was left with.
    """
    value = nest.map_structure(_as_result, value)
    kept = [leaf for leaf in nest.flatten(value, True) if not isinstance(leaf, StandIn | Tensor)]
    held, symbolic = stand_ins(kept)
    for one, name in held:
        one.refuse_leaving(f"{name!r} would still hold" if name else "what the function gives, or changes, would hold")
    for _, name in symbolic:
        leave(f"{repr(name) if name else 'what it gives'} keeps a value that only a run knows", "return the value")
    return value


def _as_result(leaf: Any) -> Any:
    leaf = as_result(leaf)
    if not isinstance(leaf, StandIn) or composite_of(leaf) is not None:
        return leaf
    return nest.map_structure(_as_result, opened(leaf).leaving())
