"""Tests of ``while`` loops that change something: a graph has no place for what its condition would leave.

A test is asked once before it is known that the graph has to ask it, and once for the graph. If it has changed what is
around it, the first is undone, and the loop is built as one whose body asks the test at its end.
"""

from __future__ import annotations

import builtins
import dis
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime.base.callbacks import code_of
from autoloop_runtime.ir.tensor import Tensor

from ... import operators
from ...conversion.cells import value_in
from ..mutation.heap_snapshot import snapshots
from ..mutation.held_before import has_changed, restore
from ..mutation.side_effects import Outside
from ..staging.staged_blocks import TestChanges
from ..staging.undefined import Undefined

#: what a test may look at, and call of ``operators``, without a change to anything
_PLAIN = (int, float, Tensor, np.ndarray, np.generic)
_CALLED = {"attribute", "call", "item"}


def asks_plainly(test: Callable[..., Any], values: Sequence[Any]) -> bool:
    """Return whether nobody notices how often a test is asked: it compares numbers, lengths and shapes of arrays."""
    code = code_of(test)
    if code is None or any(isinstance(one, types.CodeType) for one in code.co_consts):
        return False
    known = {name: getattr(builtins, name, None) for name in code.co_names if name not in _CALLED}
    known |= {name: test.__globals__[name] for name in code.co_names if name in test.__globals__}
    held = [value_in(cell) for cell in test.__closure__ or ()]
    given = _looked_at(code, values)
    return all(one is len or one is operators or isinstance(one, _PLAIN) for one in (*given, *held, *known.values()))


def _looked_at(code: types.CodeType, values: Sequence[Any]) -> list[Any]:
    """Return the arguments that the code of a function names, of those it is given by position."""
    named: set[str] = set()
    for one in dis.get_instructions(code):
        if "FAST" in one.opname:  # of some there are two in one instruction
            named.update(one.argval if isinstance(one.argval, tuple) else (one.argval,))
    return [value for name, value in zip(code.co_varnames, values) if name in named]


class ChangingTest:
    """What a test of the graph that changes something has answered: it has to be asked again."""


class Asking:
    """What a test finds, before it is asked.

    Parameters
    ----------
    test : callable
    values : sequence
        What it is given.
    """

    def __init__(self, test: Callable[..., Any], values: Sequence[Any]) -> None:
        found = None if asks_plainly(test, values) else snapshots(Outside((test,), (), None, values).roots, values, ())
        self._before, self._variables = found or ([], [])

    def undo(self) -> bool:
        """Put back what the test has changed; return whether that is anything."""
        changed = [one for one in self._before if has_changed(one)]
        set_anew = [slot for slot, value in self._variables if _is_another(slot.get(), value)]
        if changed or set_anew:
            restore(changed, self._variables)
        return bool(changed or set_anew)


def _is_another(now: Any, before: Any) -> bool:
    return now is not before and not (type(now) is type(before) is Undefined)


def asking_only(test: Callable[..., Any]) -> Callable[..., Any]:
    """Return a test for a graph to ask.

    It raises :class:`TestChanges` if it changes something.
    """

    def asked(*values: Any) -> Any:
        asking = Asking(test, values)
        answer = test(*values)
        if asking.undo():
            raise TestChanges
        return answer

    return asked
