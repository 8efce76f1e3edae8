"""Arrays of NumPy's that the kernels of a loop read: numbers where that is all they say, and else sent once.

A task graph would hold them, for each chunk and each iteration, and they would go to the scheduler and to a worker with
each task. A gradient has such arrays as large as Dask's: a mean's is the same number everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ReferenceType, ref

import numpy as np

from ..collections.accumulators import ACCUMULATE
from ..dataflow.frames import Frame, Iteration
from ..ir.op import Op
from ..namespaces.chunk_kernels import as_dask
from ..ops.linalg import DOT, MATMUL
from ..ops.powers import POW, POW_IN_LOOP
from .known_calls import KnownCalls
from .laters import Later

#: bytes: what is smaller goes with its tasks
LEAST = 1 << 10
#: take an array of NumPy's as the array of Dask's that has it in one chunk
_PRODUCTS = (MATMUL, DOT)
#: to NumPy ``x ** 0.5`` is another function than a power by an array of 0.5: of -inf it is nan
_POWERS = (POW, POW_IN_LOOP)
#: how many arrays are looked at once, not each time that they are read
MOST = 256
#: iterations after which an array that was not read again is one of an iteration, and let go of
AGE = 12


class ReadArrays:
    """Those of one run.

    Parameters
    ----------
    known : KnownCalls
    """

    def __init__(self, known: KnownCalls) -> None:
        self._known = known
        #: by identity: the array, and the number that it says
        self._numbers: dict[int, tuple[ReferenceType[Any], Any]] = {}
        #: by identity: the array, it must not go meanwhile, what was made of it, and what loop and iteration read it
        self._sent: dict[int, tuple[Any, Later, Frame, int]] = {}

    def of(self, op: Op | None, args: Sequence[Any], it: Iteration) -> Sequence[Any]:
        """Return what a kernel is given in the place of ``args``, which have one of Dask's among them."""
        if op is None or np.ndarray not in map(type, args):
            return args
        is_sum = op is ACCUMULATE
        if not (is_sum or op.traits.elementwise or op in _PRODUCTS):
            return args
        found = list(args)
        for k, value in enumerate(args):
            if type(value) is not np.ndarray or value.nbytes < LEAST or value.dtype.kind not in "biufc":
                continue
            if op not in _PRODUCTS and not (k and op in _POWERS) and _is_covered(value, args):
                number = self._number(value)
                if number is not None:
                    found[k] = number
                    continue
            if it.frame.parent is not None and not is_sum:
                found[k] = self._later(value, it)
        return found

    def _number(self, value: Any) -> Any:
        """Return the number that an array has everywhere, if it has."""
        if not any(value.strides):
            return value[(0,) * value.ndim]
        there = self._numbers.get(id(value))
        if there is None or there[0]() is not value:
            if len(self._numbers) >= MOST:
                self._numbers.clear()
            there = self._numbers[id(value)] = ref(value), _only_number(value)
        return there[1]

    def _later(self, value: Any, it: Iteration) -> Later:
        there = self._sent.get(id(value))
        if there is None:
            if len(self._sent) >= MOST:
                self._sent.clear()
            for key in [key for key, (_, _, frame, index) in self._sent.items() if _is_past(frame, index, it)]:
                del self._sent[key]
            made: Later = self._known.later(as_dask(value))
        else:
            made = there[1]
        self._sent[id(value)] = value, made, it.frame, it.index
        return made

    def clear(self) -> None:
        """Let go of all."""
        self._numbers.clear()
        self._sent.clear()


def _is_past(frame: Frame, index: int, it: Iteration) -> bool:
    """Return whether what that iteration read last would have been read again, were it the same in all of them."""
    around: Iteration | None = it
    while around is not None and around.frame is not frame:
        around = around.frame.parent
    return around is None or index + AGE < around.index


def _is_covered(value: Any, args: Sequence[Any]) -> bool:
    """Return whether some array of Dask's has the same shape, and the dtype of the result does not hang on whether this
    one is an array: before NumPy 2 numbers give way to arrays."""
    whole = [v.form.dtype for v in args if type(v) is Later and v.form is not None and v.form.shape == value.shape]
    others = {v.form.dtype if type(v) is Later and v.form is not None else getattr(v, "dtype", None) for v in args}
    return value.dtype in whole or (bool(whole) and others <= {value.dtype, np.dtype(bool)})


def _only_number(value: Any) -> Any:
    first = value[(0,) * value.ndim]
    if value[(-1,) * value.ndim].tobytes() != first.tobytes():
        return None
    whole = np.ascontiguousarray(value).view(np.uint8).reshape(-1, value.itemsize)
    return first if bool((whole == np.frombuffer(first.tobytes(), np.uint8)).all()) else None
