"""Runs of machine code that reads and assigns variables: given their values, and done again if others changed them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..collections.variables import READ, checked
from ..ir.run_state import RunState, Storage
from .native_function import Function

#: gives the outputs for the inputs, those of variables behind the others
Run = Callable[[Sequence[Any]], list[Any]]


def run_with_variables(run: Run, function: Function, values: Sequence[Any], state: RunState) -> list[Any]:
    """Return the outputs of ``function`` for ``values``, and have the variables changed that it assigns."""
    stores = {id(s): s for s in [state.storage(v) for v in function.assigned]}
    return _alone([stores[key] for key in sorted(stores)], run, function, values, state)


def _alone(
    stores: list[Storage], run: Run, function: Function, values: Sequence[Any], state: RunState
) -> list[Any]:  # fmt: skip
    """Run with the locks of ``stores``: of several runs that change a variable each sees what the last one left."""
    if stores:
        with stores[-1].lock:
            return _alone(stores[:-1], run, function, values, state)
    changed = [state.storage(v) for v in function.assigned]
    while True:
        changes = [s.changes for s in changed]
        held = [READ.kernel(variable=v, state=state) for v in function.variables]
        results = run([*values, *held])
        count = len(results) - len(function.assigned)
        made = [checked(value, v) for v, value in zip(function.assigned, results[count:])]
        # a signal handler may have changed the first, all else is seen by then
        if not made or changed[0].exchange(changes[0], made[0]):
            for store, value in zip(changed[1:], made[1:]):
                store.put(value)
            return results[:count]
