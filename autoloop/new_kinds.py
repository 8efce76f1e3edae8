"""Calls of which nearly each is of a kind of its own: plain Python does at once what each would be traced for.

Such are calls with objects of the user's classes that are made for the call, with lists that grow, and with numbers
and extents of which a trace needs the values. Once a function was traced for many kinds, the first call of a new one
runs as plain Python, and the second is traced: one that comes again has its trace, and one that does not costs nothing.

Where plain Python takes longer than a trace, many more kinds are traced before it is tried again.
"""

from __future__ import annotations

import time
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import code_of
from autoloop_runtime.ir.recorders import recorders
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import Tracer

from .concrete import CalledPlain
from .errors import user_stacklevel

#: for so many kinds of calls a function is traced at once
MOST_KINDS = 16
#: so many kinds are remembered of which plain Python has run a call
_MOST_WAITING = 256
_SAID = "the first call of a kind"
_OURS = ("autoloop", "autoloop_runtime")


class NewKinds:
    """What is known of the kinds of calls of one function; guarded by the lock of its traces.

    Parameters
    ----------
    function : callable
        The undecorated one.
    name : str
    told : set of str
        What the function has warned of.
    count : int
        For how many kinds it was traced.
    """

    def __init__(self, function: Callable[..., Any], name: str, told: set[str], count: int) -> None:
        self._name, self._told = name, told
        self._may_be_plain = not _names_ours(function)
        self._count, self._most = count, MOST_KINDS
        #: how long the latest traces have taken, and since when one is made
        self._seconds, self._begun = 0.0, time.perf_counter()
        self._waiting: dict[Any, None] = {}

    def traced(self, trace: Any) -> None:
        """Note a trace that was made for a new kind."""
        self._count += 1
        self._seconds = (self._seconds + time.perf_counter() - self._begun) / 2
        results = nest.flatten(getattr(trace, "structured_outputs", None))
        if any(isinstance(one, Tensor) and not isinstance(one, Tracer) for one in results):
            self._may_be_plain = False  # which plain Python would compute with at once: numbers come back otherwise

    def leave_first(self, key: Any, leaves: list[Any]) -> None:
        """Leave the first call of a kind to plain Python where there were many.

        Raises
        ------
        CalledPlain
        """
        self._begun = time.perf_counter()
        if self._count < self._most or not self._may_be_plain or recorders():
            return
        if any(_is_ours(type(leaf)) for leaf in leaves):  # tensors among them
            return
        if key in self._waiting:
            del self._waiting[key]
            return
        if len(self._waiting) >= _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[key] = None
        self._leave()

    def _leave(self) -> NoReturn:
        said = (
            f"{self._name} was traced for {self._count} kinds of arguments: where it is given others, the first call "
            f"runs as plain Python, and the second of the same kind is traced"
        )
        if _SAID not in self._told:
            warnings.warn(said, stacklevel=user_stacklevel())
            self._told.add(_SAID)
        raise CalledPlain(self._watched)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Look how long plain Python takes."""
        begun = time.perf_counter()
        yield
        if time.perf_counter() - begun > self._seconds:
            self._most = 2 * max(self._count, self._most)


def _names_ours(function: Callable[..., Any]) -> bool:
    """Return whether the code of a function names something of this library, which has other results in a trace."""
    code, names = code_of(function), getattr(function, "__globals__", {})
    if not isinstance(code, types.CodeType):
        return True
    values = [names.get(name) for name in _names(code)]
    return any(_is_ours(one) or _is_ours(type(one)) for one in values)


def _is_ours(value: Any) -> bool:
    """Return whether something is a module, class or function of this library."""
    module = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in _OURS


def _names(code: types.CodeType) -> set[str]:
    inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))
