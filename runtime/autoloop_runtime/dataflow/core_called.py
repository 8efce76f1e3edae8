"""Kernels that the workers of a run call from Python, whose tokens are moved in native memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from ..ir.run_state import RunState
from . import core_workers as cw
from . import token_core as tc
from .core_calls import CalledStep, Values, arguments, call, order_of
from .core_tables import LoopTables
from .kernels import Arguments, Unwanted

#: stands for what a kernel gives that has not been called
_NOT_BEGUN: Final = object()


class CalledKernels:
    """What ``CoreRun`` says of its fields holds."""

    tables: LoopTables
    values: Values
    most: int
    failures: list[tuple[Exception, int]]
    otherwise: list[tuple[int, Any]]
    ended: list[tuple[int, list[str]]]
    _inside: dict[int, tuple[tuple[int, ...], Arguments]]
    _seen: Any
    _state: RunState
    _unwanted: Sequence[bool]

    def _core(self, w: int, what: int) -> int:
        raise NotImplementedError

    def _end(self, w: int, behind: tuple[int, ...]) -> None:
        raise NotImplementedError

    def _call_kernels(self, w: int) -> None:
        """Call those that a worker has come back with, up to one that raises, or to where the run is to end."""
        words, called = self.values.words, self.tables.called
        record, size = words[w + tc.W_RECORDS], words[w + tc.W_RECORD]
        half = (size - tc.R_BUFFERS) >> 1
        for _ in range(words[w + tc.W_COUNT]):
            it, one = words[record + tc.R_IT], called[words[record + tc.R_STEP]]
            try:
                out = self._call(w, record, it, one)
            except Unwanted as error:  # it stands behind a failure, or nobody waits for this run
                self.ended.append((it, one.step.flat.value.reached(error)))
                self._core(w, cw.STOP)
                return
            except Exception as error:
                words[record + tc.R_DONE] = tc.GONE
                self.failures.append((error, record))
                self._end(w, self.order(record))
                return
            if out is _NOT_BEGUN:
                return
            if not self.values.take(record, half, one, out):
                words[record + tc.R_DONE] = tc.GONE
                self.otherwise.append((record, out))
                self._core(w, cw.STOP)
                return
            words[record + tc.R_DONE] = tc.DONE
            del out
            record += size

    def _call(self, w: int, record: int, it: int, one: CalledStep) -> Any:
        if one.is_loop:
            return self._call_loop(w, record, it, one)
        if self._is_to_end():
            return _NOT_BEGUN
        kernel, seen = partial(call, one, self.values.given(it, one), self._state), self._seen
        return kernel() if seen is None else seen.call(w, record, one, kernel)

    def _call_loop(self, w: int, record: int, it: int, one: CalledStep) -> Any:
        inside = None if self._seen is None else self._seen.inside(it, one)
        given = arguments((), self.most + 1, self._unwanted, inside)
        self._inside[record] = self.order(record), given
        try:
            if self._is_to_end():  # since before it was noted down
                return _NOT_BEGUN
            given.extend(self.values.given(it, one))
            return call(one, given, self._state)
        finally:
            self._inside.pop(record, None)

    def _is_to_end(self) -> bool:
        """Return whether no kernel may begin any more; one that has not may do so when somebody goes on from there."""
        return bool(self._unwanted or self.values.words[tc.STOPPED])

    def order(self, record: int) -> tuple[int, ...]:
        """Return what is less for a kernel that stands, or runs, earlier in the program."""
        words = self.values.words
        return order_of(words, words[record + tc.R_IT], self.tables.called[words[record + tc.R_STEP]])
