"""The driver: one thread moves the tokens, and sends what is to be computed when nothing else is left to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..dataflow.executable import results_of
from ..dataflow.execution_plan import Plan, Step, kernel_of
from ..dataflow.flat_graph import Lowered
from ..dataflow.frames import Item, Iteration, State
from ..dataflow.kernels import explained
from ..ir.graph import eager
from ..ir.run_state import EAGER, RunState
from .crossings import AWAIT, CROSS, with_crossings
from .laters import Later, unwrapped, wrapped
from .mailbox import Mailbox
from .on_cluster import OnCluster
from .submissions import Done, Fetched, Locally, Sender, Statistics, Submission, dask_client
from .windows import Windows


def run(
    lowered: Lowered, feeds: Sequence[Any], *, client: Any = None, parallel: int | None = None,
    state: RunState = EAGER, statistics: Statistics | None = None,
) -> list[Any]:  # fmt: skip
    """Return the fetches of a graph, some values of which are collections of Dask.

    Loops run until their conditions say so: those of collections are fetched, and nothing else is. What loops hand over
    is computed, by the cluster of ``client`` or here; what is computed after the last loop stays lazy.

    Parameters
    ----------
    lowered : Lowered
        Its kernels take collections, by NumPy's protocols or of their own.
    feeds : sequence
        Arrays, numbers and collections.
    client : distributed.Client, optional
        Default the current one; without one, Dask's local scheduler.
    parallel : int, optional
        A limit to how many iterations of a loop are under way, besides the ``parallel_iterations`` of the loops.
    state : RunState
        Handed to stateful kernels.
    statistics : Statistics, optional
        Filled in.

    Raises
    ------
    BaseException
        What a kernel raised, here or on a worker, with the user's own lines in its traceback.
    """
    found = dask_client(client)
    sender: Sender = Locally() if found is None else OnCluster(found)
    driver = _Driver(Plan(with_crossings(lowered)), sender, Windows(parallel), state, statistics or Statistics())
    with eager():
        return driver.run(feeds)


class _Driver:
    """One run."""

    def __init__(
        self, plan: Plan, sender: Sender, windows: Windows, state: RunState, statistics: Statistics
    ) -> None:  # fmt: skip
        self._plan, self._sender, self._windows = plan, sender, windows
        self._state, self._statistics = state, statistics
        self._tokens = State(plan)
        self._ready: deque[Item] = deque()
        #: marks whose conditions are to be sent, and those that wait until their loop is less far ahead
        self._asked: list[tuple[Item, Later]] = []
        self._held: deque[Item] = deque()
        self._flying: list[Submission] = []
        self._mailbox = Mailbox()
        self._kernels: dict[Step, Callable[..., Any]] = {}

    def run(self, feeds: Sequence[Any]) -> list[Any]:
        """Return the fetches."""
        tokens = self._tokens
        try:
            tokens.start([wrapped(value) for value in feeds], self._ready, None)
            while True:
                self._compute_ready()
                if tokens.finished and not self._flying:
                    break
                if not self._send():
                    self._read(self._mailbox.take())
                else:
                    self._read(self._mailbox.take(wait=False))
            return [unwrapped(value) for value in results_of(tokens)]
        except BaseException:
            self._sender.cancel(self._flying)
            raise
        finally:
            self._statistics.widest = self._windows.widest
            self._flying.clear()
            tokens.close()

    # -- kernels ------------------------------------------------------------------------------------------

    def _compute_ready(self) -> None:
        while self._ready:
            it, step = self._ready.popleft()
            op = step.flat.op
            if op is AWAIT and type(it.values[step.first]) is Later:
                self._ask(it, step)
            elif op is CROSS and type(it.values[step.first]) is Later:
                self._cross(it, step)
            else:
                self._call(it, step)

    def _call(self, it: Iteration, step: Step) -> None:
        kernel = self._kernels.get(step)
        if kernel is None:
            kernel = kernel_of(step.flat)
            assert kernel is not None
            self._kernels[step] = kernel
        args = [unwrapped(value) for value in it.values[step.first : step.last]]
        try:
            out = kernel(*args, state=self._state) if step.stateful else kernel(*args)
        except Exception as error:
            raise explained(error, it, step)  # noqa: B904
        self._give(it, step, wrapped(out) if step.outs is None else [wrapped(value) for value in out])

    def _give(self, it: Iteration, step: Step, out: Any) -> None:
        """Let go of what a step was given, and hand on what it gives."""
        it.values[step.first : step.first + step.width] = [None] * step.width
        self._tokens.complete(it, step, out, self._ready, None)

    # -- marks --------------------------------------------------------------------------------------------

    def _ask(self, it: Iteration, step: Step) -> None:
        """Have a condition fetched; one that can be none is refused by the check behind."""
        later = it.values[step.first]
        if later.dtype.kind != "b" or later.shape != ():
            self._give(it, step, later.collection)
        else:
            self._asked.append(((it, step), later))

    def _cross(self, it: Iteration, step: Step) -> None:
        """Hand a value on to the next iteration, if there may be one more under way."""
        later = it.values[step.first]
        if not self._windows.admits(it, later, not (self._flying or self._sender.blocks)):
            self._held.append((it, step))
            return
        later.is_due = not later.is_sent
        self._give(it, step, later)

    # -- sending and waiting ------------------------------------------------------------------------------

    def _send(self) -> bool:
        """Send what is due, if it is time for that; nothing is ready. Returns whether something was sent."""
        if not self._asked and self._flying and not self._windows.is_room_worth():
            return False
        waiting = list(self._waiting())
        due = [later for later in waiting if later.is_due]
        targets = [*due, *self._windows.newest(), *[later for _, later in self._asked]]
        targets = list(dict.fromkeys([later for later in targets if not later.is_sent]))
        if not targets and not self._asked:
            return False
        names = {name for later in targets for name in later.collection.dask.layers}
        again = [v for v in waiting if not v.is_sent and v.collection.name in names]
        laters = list(dict.fromkeys([*targets, *again]))
        submission = Submission(laters, self._asked, self._windows.send())
        self._asked = []
        for later in laters:
            later.is_sent, later.is_due = True, False
        self._flying.append(submission)
        self._statistics.submissions += 1
        self._statistics.iterations += sum(submission.iterations.values())
        self._sender.send(submission, self._mailbox)
        self._try_again()
        return True

    def _waiting(self) -> Iterator[Later]:
        """Yield the values that are needed again: those in slots, for steps or iterations to come, and results."""
        for it in self._tokens.iterations():
            frame = it.frame
            if it is frame.oldest:
                yield from [v for v in frame.template if type(v) is Later]
                yield from [v for _, v in frame.waiting if type(v) is Later]
            yield from [v for v in it.values if type(v) is Later]
        yield from [v for v in self._tokens.results if type(v) is Later]

    def _read(self, letters: Sequence[Fetched | Done]) -> None:
        for letter in letters:
            if isinstance(letter, Fetched):
                self._statistics.fetches += len(letter.values)
                for ((it, step), _), value in zip(letter.submission.asked, letter.values):
                    self._give(it, step, value)
                letter.submission.asked.clear()
            elif letter.error is not None:
                raise self._failure(letter.submission, letter.error)
            else:
                self._flying.remove(letter.submission)
                self._windows.done(letter.submission.iterations)
                self._try_again()

    def _try_again(self) -> None:
        """Let go on what waits for its loop to be less far ahead, if it may now."""
        self._ready.extend(self._held)
        self._held.clear()

    def _failure(self, submission: Submission, error: BaseException) -> BaseException:
        return error
