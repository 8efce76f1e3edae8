"""Calls while nan and inf are hunted, see ``debugging.check_numerics``.

They run as ever, and it is looked only at what they give and write. If that holds a bad number the same call is made
once more, from the same values, operation by operation: the first that makes a bad number is told. What can't be done
twice, as it prints or the like, is run operation by operation at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.fp_warnings import restore, setting, silence
from autoloop_runtime.ir.numbers_held import bad_number, shown
from autoloop_runtime.ir.run_state import RunState

if TYPE_CHECKING:
    from collections.abc import Callable

    from .concrete import ConcreteFunction


class HuntedRuns:
    """What runs one trace while nan and inf are hunted.

    Parameters
    ----------
    trace : ConcreteFunction
    """

    def __init__(self, trace: ConcreteFunction) -> None:
        self._trace = trace
        runner = trace.runner
        self._may_repeat = runner.may_repeat or bool(runner.noting)
        #: copies of arrays that are not needed any more, the first last; replaced as a whole, and taken from by ``pop``
        self._spare: list[Any] = []
        self._checked: Callable[..., list[Any]] | None = None  # made when it is needed; races make it twice

    def run(self, values: list[Any], state: RunState) -> list[Any]:
        """Return what a run gives.

        Raises
        ------
        FloatingPointError
            If that holds nan or inf, and an operation has made it, or nan was given.
        """
        runner, written = self._trace.runner, self._trace.written
        if not self._may_repeat:
            return self._operation_by_operation(values, state)
        kept = list(values)
        for k in written:
            kept[k] = self._copy(values[k])
        put_back = runner.noted()
        results = _silent(runner.run, values, state)
        if all(bad_number(one) is None for one in results):
            self._spare = [kept[k] for k in reversed(written)]
            return results
        put_back()
        self._operation_by_operation(kept, state)
        for one, parameter in zip(kept, self._trace.inputs):
            if (bad := bad_number(one)) is not None and bad.is_nan:
                _refuse(self._trace.name, parameter.op.name, bad.place, one)
        return results

    def _copy(self, value: Any) -> Any:
        """Return a copy of an array, in memory that an earlier call has left if there is such."""
        if not isinstance(value, np.ndarray):
            return value
        try:
            into = self._spare.pop()
        except IndexError:
            return value.copy()
        if into.shape != value.shape or into.dtype != value.dtype:
            return value.copy()
        np.copyto(into, value)
        return into

    def _operation_by_operation(self, values: Sequence[Any], state: RunState) -> list[Any]:
        if self._checked is None:
            with undivided():
                from autoloop_runtime.dataflow.checked_kernels import compile_checked

            self._checked = compile_checked(self._trace.graph)
        return _silent(self._checked, values, state)


def _silent(run: Callable[..., list[Any]], values: Sequence[Any], state: RunState) -> list[Any]:
    """Run with NumPy's own checks off, as runs are that nobody looks at."""
    before = setting()
    try:
        silence()
        return run(values, state)
    finally:
        restore(before)


def _refuse(function: str, name: str, place: tuple[int, ...], value: Any) -> NoReturn:
    where = f" holds nan at {list(place)} of {shown(value)}" if place else " is nan"
    raise FloatingPointError(f"{function}: {name!r}, which it is given,{where} [AL607]")
