"""Arrays of NumPy's that the kernels of a loop read: numbers where that is all they say, and else sent once.

A task graph would hold them, for each chunk and each iteration, and they would go to the scheduler and to a worker with
each task. A gradient has such arrays as large as Dask's: a mean's is the same number everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..collections.accumulators import ACCUMULATE
from ..ir.op import Op
from ..namespaces.chunk_kernels import as_dask
from ..ops.linalg import DOT, MATMUL
from .known_calls import KnownCalls
from .laters import Later

#: bytes: what is smaller goes with its tasks
LEAST = 1 << 10
#: take an array of NumPy's as the array of Dask's that has it in one chunk
_PRODUCTS = (MATMUL, DOT)
#: how many arrays are looked at once, not each time that they are read
MOST = 256


class ReadArrays:
    """Those of one run.

    Parameters
    ----------
    known : KnownCalls
    """

    def __init__(self, known: KnownCalls) -> None:
        self._known = known
        #: by identity: the array, and the number that it says or what was made of it; it must not go meanwhile
        self._numbers: dict[int, tuple[Any, Any]] = {}
        self._sent: dict[int, tuple[Any, Later]] = {}

    def of(self, op: Op | None, args: Sequence[Any], is_in_loop: bool) -> Sequence[Any]:
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
            if op not in _PRODUCTS and _is_covered(value, args):
                number = self._number(value)
                if number is not None:
                    found[k] = number
                    continue
            if is_in_loop and not is_sum:
                found[k] = self._later(value)
        return found

    def _number(self, value: Any) -> Any:
        """Return the number that an array has everywhere, if it has."""
        if not any(value.strides):
            return value[(0,) * value.ndim]
        there = self._numbers.get(id(value))
        if there is None:
            if len(self._numbers) >= MOST:
                self._numbers.clear()
            there = self._numbers[id(value)] = value, _only_number(value)
        return there[1]

    def _later(self, value: Any) -> Later:
        there = self._sent.get(id(value))
        if there is None:
            if len(self._sent) >= MOST:
                self._sent.clear()
            made = self._known.later(as_dask(value))
            there = self._sent[id(value)] = value, made
        return there[1]

    def clear(self) -> None:
        """Let go of all."""
        self._numbers.clear()
        self._sent.clear()


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
