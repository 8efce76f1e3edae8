"""Kernels of NumPy's that machine code calls: the arrays that they see are windows on its memory."""

from __future__ import annotations

import ctypes
from _thread import get_ident
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.dataclass import dataclass
from ...base.fp_warnings import restore, setting, silence
from ...ir.graph import Node

#: of so many calls that differ in where arrays are the windows are kept
MOST_KNOWN = 8


@dataclass(frozen=True)
class Window:
    """An array in the memory of machine code: its dtype, shape, and strides in bytes."""

    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def at(self, address: int, writable: bool) -> Any:
        """Return the array whose first element is at ``address``; it holds nothing."""
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        size = self.dtype.itemsize + sum((n - 1) * s for n, s in zip(self.shape, self.strides) if s > 0)
        before = sum((n - 1) * s for n, s in zip(self.shape, self.strides) if s < 0)
        memory = (ctypes.c_char * (size - before)).from_address(address + before)
        made: Any = np.ndarray(self.shape, self.dtype, memory, -before, self.strides)
        made.flags.writeable = writable
        return made


class CalledKernel:
    """The kernel of ``node`` as machine code calls it: with the address of words, the addresses of its operands and of
    its results, and one that says whether it has failed.

    The windows of a few calls are kept: machine code has its arrays mostly where it had them before. Calls of several
    threads have other addresses.

    An operand that is ``over`` is written to, and becomes the result.

    What draws random numbers is not asked twice: what it has raised is kept for who tells of it, by thread.
    """

    def __init__(
        self, node: Node, operands: Sequence[Window], results: Sequence[Window], over: int | None = None
    ) -> None:
        self._node, self._operands, self._results = node, tuple(operands), tuple(results)
        taking = node.op.taking
        self._over, self._kernel = over, node.op.kernel if over is None or taking is None else taking.kernel
        self._words = ctypes.c_int64 * (len(self._operands) + len(self._results) + 1)
        self._numbers = any(not w.shape for w in operands)
        self._known: dict[bytes, tuple[list[Any], list[Any]]] = {}
        self._raised: dict[int, BaseException] = {}

    def __call__(self, address: int) -> None:
        """Run; an exception of the kernel's is not raised, who asked for it runs it again to have it told."""
        try:
            self._run(address)
        except BaseException as error:
            # of a signal handler; frames of a kernel would keep windows on memory that is gone by then
            raise error.with_traceback(None) from None

    def _run(self, address: int) -> None:
        words = self._words.from_address(address)
        key = bytes(words)
        operands, results = self._known.get(key) or self._seen(key, words[:])
        if self._numbers:  # what has no axes is a number of NumPy's, as everywhere
            operands = [x if x.ndim else x[()] for x in operands]
        op = self._node.op
        before = setting()
        try:
            silence()
            made = self._kernel(*operands, **self._node.attrs)
            for into, value in zip(results, op.results(made, len(results))):
                if value is not into:
                    into[...] = value
        except Exception as error:
            if op.draws is not None:
                self._raised[get_ident()] = error.with_traceback(None)
            elif not self._fails(operands):  # it was a signal handler that raised
                raise
            words[len(words) - 1] = 1
        finally:
            restore(before)

    def keep(self, error: BaseException) -> None:
        """Take ``error`` down as what was raised by who asked for a number; what is no failure goes on."""
        if not isinstance(error, Exception):
            raise error.with_traceback(None) from None
        self._raised[get_ident()] = error.with_traceback(None)

    def raised(self) -> BaseException:
        """Return what the last call of this thread has raised."""
        return self._raised.pop(get_ident())

    def _fails(self, operands: list[Any]) -> bool:
        try:
            self._node.op.kernel(*operands, **self._node.attrs)
        except Exception:
            return True
        return False

    def _seen(self, key: bytes, places: list[int]) -> tuple[list[Any], list[Any]]:
        operands = [w.at(p, False) for w, p in zip(self._operands, places)]
        results = [w.at(p, True) for w, p in zip(self._results, places[len(operands) :])]
        if self._over is not None:
            operands[self._over] = results[0]
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[key] = operands, results
        return operands, results
