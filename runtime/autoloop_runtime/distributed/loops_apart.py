"""Loops over arrays of Dask that need nothing of each other: each is run by a thread of its own, all at once.

The threads move tokens and send what is due; what is computed is on the cluster. Each loop has its anchors, and goes
back to them by itself when a worker dies. When one fails, or Ctrl-C comes, the others are stopped.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any

from ..base.dataclass import dataclass
from ..base.forks import Kind
from ..ir.graph import CONST
from ..ir.run_state import RunState
from ..ir.tensor import Tensor
from ..namespaces.chunk_kernels import dask_array
from ..passes.loop_strands import Strand
from .fresh_names import FreshNames
from .mailbox import Mailbox
from .remote_cluster import dask_client
from .stopped_runs import Stop, StoppedRun, set_stop

_KIND = Kind("loops apart", "the run that waits for them is the parent's")


@dataclass(frozen=True, eq=False)
class _End:
    """The letter that a strand has ended."""

    number: int
    values: Sequence[Any] = ()
    error: BaseException | None = None


class LoopsApart:
    """What runs a graph that is cut into strands.

    Parameters
    ----------
    strands : sequence of Strand
        Each behind those that it needs.
    runs : sequence of callable
        What runs each.
    inputs, outputs : sequence of Tensor
        Of the whole graph.
    """

    def __init__(
        self, strands: Sequence[Strand], runs: Sequence[Callable[[list[Any], RunState], list[Any]]],
        inputs: Sequence[Tensor], outputs: Sequence[Tensor],
    ) -> None:  # fmt: skip
        self.strands, self.runs, self.inputs, self.outputs = strands, runs, inputs, outputs

    def is_worth(self) -> bool:
        """Return whether there is a cluster whose workers may die."""
        return dask_client() is not None

    def __call__(self, values: Sequence[Any], state: RunState) -> list[Any]:
        """Return the outputs for the values of the inputs."""
        return _Run(self, values, state).outputs()


class _Run:
    """One run; only the thread that has called it is in here."""

    def __init__(self, of: LoopsApart, values: Sequence[Any], state: RunState) -> None:
        self._of, self._state = of, state
        self._known: dict[Tensor, Any] = dict(zip(of.inputs, values))
        self._made = {t for strand in of.strands for t in strand.gives}
        self._left, self._running = list(range(len(of.strands))), set[int]()
        self._threads: dict[int, Any] = {}
        self._mailbox, self._stop = Mailbox(), Stop()
        self._failed: dict[int, BaseException] = {}

    def outputs(self) -> list[Any]:
        """Return the outputs."""
        try:
            while self._left or self._running:
                self._begin()
                if self._running:
                    self._read()
                if self._failed:
                    self._end()
                    raise self._failed.pop(min(self._failed))
            return [self._value(tensor) for tensor in self._of.outputs]
        except BaseException:
            self._end()
            raise
        finally:
            self._known.clear()
            self._failed.clear()

    def _begin(self) -> None:
        """Begin what can be: on this thread if there is nothing else to do meanwhile."""
        ready = [k for k in self._left if self._is_ready(k)]
        ready = [k for k in ready if self._is_first(k)] or ready  # loops begin together
        if len(ready) > 1:
            self._share(ready)
        for k in ready:
            self._left.remove(k)
            strand, run = self._of.strands[k], self._of.runs[k]
            given = [self._value(tensor) for tensor in strand.takes]
            self._let_go(strand)
            if len(ready) == 1 and not self._running:
                self._note(k, run(given, self._state))
                continue
            context = contextvars.copy_context()
            self._running.add(k)
            thread = _KIND.thread(context.run, (self._on_thread, k, run, given), name=f"autoloop-loop-{k}")
            self._threads[k] = thread
            thread.start()
            del given

    def _on_thread(self, number: int, run: Callable[[list[Any], RunState], list[Any]], given: list[Any]) -> None:
        """Run a strand; the only method that other threads are in."""
        try:
            with set_stop(self._stop):
                end = _End(number, run(given, self._state))
        except BaseException as error:
            end = _End(number, error=error)
        self._mailbox.put(end)
        del end  # the traceback of an error has this frame

    def _is_ready(self, number: int) -> bool:
        return all(t in self._known or t not in self._made for t in self._of.strands[number].takes)

    def _is_first(self, number: int) -> bool:
        """Return whether a strand is what there is before all loops."""
        strand = self._of.strands[number]
        return not strand.is_loop and self._made.isdisjoint(strand.takes)

    def _value(self, tensor: Tensor) -> Any:
        if tensor.op.op is CONST:
            return tensor.op.attrs["value"]
        return self._known[tensor]

    def _let_go(self, strand: Strand) -> None:
        """Let go of what nobody else takes."""
        wanted = {t for k in self._left for t in self._of.strands[k].takes}.union(self._of.outputs)
        for tensor in strand.takes:
            if tensor not in wanted:
                self._known.pop(tensor, None)

    def _share(self, ready: Sequence[int]) -> None:
        """Have computed once what several loops begin with, or what they begin with is made of."""
        client, array = dask_client(), dask_array().Array
        by_loop = [
            [t for t in self._of.strands[k].takes if isinstance(self._known.get(t), array)]
            for k in ready if self._of.strands[k].is_loop
        ]  # fmt: skip
        made_of = [{name for t in takes for name in self._known[t].dask.layers} for takes in by_loop]
        shared = []
        for k, takes in enumerate(by_loop):
            others = set[str]().union(*made_of[:k], *made_of[k + 1 :])
            shared += [t for t in takes if not others.isdisjoint(self._known[t].dask.layers)]
        if shared and client is not None:
            shared = list(dict.fromkeys(shared))
            self._known.update(zip(shared, FreshNames(client).persist([self._known[t] for t in shared])))

    def _note(self, number: int, values: Sequence[Any]) -> None:
        self._known.update(zip(self._of.strands[number].gives, values))

    def _read(self, wait: bool = True) -> None:
        for end in self._mailbox.take(wait):
            self._running.discard(end.number)
            if end.error is None:
                self._note(end.number, end.values)
            elif not isinstance(end.error, StoppedRun):
                self._failed[end.number] = end.error

    def _end(self) -> None:
        """Stop what is running, and wait until it has ended; Ctrl-C ends the waiting.

        A thread may not have been begun, where there can be no more of them, or Ctrl-C came before it.
        """
        self._stop.stop()
        while self._running:
            is_alive = any(self._threads[k].is_alive() for k in self._running if k in self._threads)
            self._read(wait=is_alive)
            if not is_alive:
                break
