"""The driver: one thread moves the tokens, and sends what is to be computed when nothing else is left to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..dataflow.execution_plan import Plan, Step, kernel_of
from ..dataflow.flat_graph import Lowered
from ..dataflow.frames import Item, Iteration, State
from ..dataflow.kernels import explained
from ..dataflow.one_thread import results_of
from ..ir.graph import eager
from ..ir.run_state import EAGER, RunState
from ..namespaces.foreign_collections import KEEPING
from .blamed_calls import told
from .crossings import AWAIT, COME, CROSS, FETCH, with_crossings
from .fetched_conditions import Conditions, conclude, recall, remember, value_of
from .kept_cuts import KeptCuts
from .known_calls import Known, KnownCalls
from .laters import Call, Later, calls_of, unwrapped
from .mailbox import Mailbox
from .on_cluster import OnCluster
from .read_arrays import ReadArrays
from .remote_cluster import dask_client
from .stopped_runs import current_stop
from .submissions import Done, Fetched, Locally, Sender, Statistics, Submission, find_parts
from .task_templates import Templates, Use
from .windows import Windows


class DaskExecutable:
    """A lowered graph ready to run over collections of Dask, any number of times.

    Parameters
    ----------
    lowered : Lowered
        Its kernels take collections, by NumPy's protocols or of their own.
    """

    def __init__(self, lowered: Lowered) -> None:
        self.plan = Plan(with_crossings(lowered))
        self.known, self.templates = KnownCalls(), Templates()
        self.kernels: dict[Step, Callable[..., Any]] = {}

    def kernel(self, step: Step) -> Callable[..., Any]:
        """Return what is called for a step, which writes to nothing that it is given."""
        found = self.kernels.get(step)
        if found is None:
            found = kernel_of(step.flat)
            assert found is not None
            self.kernels[step] = found
        return found

    def run(
        self, feeds: Sequence[Any], *, client: Any = None, parallel: int | None = None, state: RunState = EAGER,
        statistics: Statistics | None = None, templates: bool = True,
    ) -> list[Any]:  # fmt: skip
        """Return the fetches.

        Loops run until their conditions say so: those of collections are fetched, and besides only what becomes an
        array of NumPy's by the user's own words. What loops hand over is computed, by the cluster of ``client`` or
        here; what is computed after the last loop stays lazy.

        Parameters
        ----------
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
        templates : bool
            Write task graphs by templates where that can be done.

        Raises
        ------
        BaseException
            What a kernel raised, here or on a worker, with the user's own lines in its traceback.
        """
        found = dask_client(client)
        sender: Sender = Locally() if found is None else OnCluster(found)
        driver = _Driver(self, sender, Windows(parallel), state, statistics or Statistics(), templates)
        with eager():
            return driver.run(feeds)


def run(lowered: Lowered, feeds: Sequence[Any], **options: Any) -> list[Any]:
    """Return the fetches of a graph that is run once; see ``DaskExecutable``, which remembers how tasks are written."""
    return DaskExecutable(lowered).run(feeds, **options)


class _Driver:
    """One run."""

    def __init__(
        self, executable: DaskExecutable, sender: Sender, windows: Windows, state: RunState, statistics: Statistics,
        templates: bool,
    ) -> None:  # fmt: skip
        self._executable, self._sender, self._windows = executable, sender, windows
        self._state, self._statistics = state, statistics
        self._templates = executable.templates if templates and executable.known.usable else None
        self._cuts, self._reads = KeptCuts(executable.known), ReadArrays(executable.known)
        self._tokens = State(executable.plan)
        self._ready: deque[Item] = deque()
        #: how many calls were noted
        self._calls = 0
        #: marks whose conditions are to be sent, and what waits for its loop or for its values
        self._asked: list[tuple[Item, Later]] = []
        self._conditions = Conditions()
        self._held: deque[Item] = deque()
        #: in the order in which they were sent, and which of them have failed
        self._flying: list[Submission] = []
        self._failed: dict[Submission, BaseException] = {}
        #: what somebody is to be told of
        self._mailbox, self._stop = Mailbox(), current_stop()

    def run(self, feeds: Sequence[Any]) -> list[Any]:
        """Return the fetches."""
        tokens, later, stop = self._tokens, self._executable.known.later, self._stop
        try:
            if stop is not None:
                stop.enter(self._mailbox)
            given = [later(value) for value in feeds]
            for value in given:
                if type(value) is Later:
                    recall(value)
            tokens.start(given, self._ready, None)
            while True:
                if stop is not None:
                    stop.check()
                self._compute_ready()
                if tokens.finished and not self._flying:
                    break
                sent = not self._failed and self._send()
                self._read(self._mailbox.take(wait=not sent))
                self._check()
            results = results_of(tokens)
            for value in results:
                if type(value) is Later:
                    remember(value)
            return [unwrapped(value) for value in results]
        except BaseException:
            self._sender.cancel(self._flying)
            raise
        finally:
            if stop is not None:
                stop.leave(self._mailbox)
            for submission in self._flying:
                submission.clear()
            statistics, templates = self._statistics, self._executable.templates
            statistics.widest = self._windows.widest
            statistics.written, statistics.reused = templates.written, templates.reused
            for left in (self._ready, self._held, self._asked, self._flying, self._failed, self._conditions):
                left.clear()
            tokens.results = []
            tokens.close()
            self._windows.clear()
            self._reads.clear()

    # -- kernels ------------------------------------------------------------------------------------------

    def _compute_ready(self) -> None:
        while self._ready and not self._failed:
            it, step = self._ready.popleft()
            op = step.flat.op
            if (op is AWAIT or op is FETCH) and type(it.values[step.first]) is Later:
                self._ask(it, step)
            elif op is CROSS:
                self._cross(it, step)
            elif op is COME:
                self._cuts.enter(step, it.values[step.first])
                self._give(it, step, it.values[step.first])
            elif not self._is_kept_waiting(it, step):
                self._call(it, step)

    def _call(self, it: Iteration, step: Step) -> None:
        """Call a kernel, or note that it is to be called."""
        kernel = self._executable.kernel(step)
        args: Sequence[Any] = it.values[step.first : step.last]
        is_lazy = Later in map(type, args)
        if is_lazy:
            args = self._reads.of(step.flat.op, args, it)
        if is_lazy and self._templates is not None:
            known = self._executable.known.known(step, kernel, args)
            if known is not None:
                outs = self._note(kernel, args, known, it, step)
                self._give(it, step, outs[0] if step.outs is None else outs)
                return
        try:
            values = [unwrapped(value) for value in args]
            out = kernel(*values, state=self._state) if step.stateful else kernel(*values)
        except Exception as error:
            raise explained(error, it, step)  # noqa: B904
        self._give(it, step, self._carried(out) if step.outs is None else [self._carried(value) for value in out])

    def _carried(self, value: Any) -> Any:
        """Return what a token carries for what a kernel gave; what was kept somewhere may be computed already."""
        later = self._executable.known.later(value)
        if type(later) is Later:
            find_parts(later, self._sender)
        return later

    def _is_kept_waiting(self, it: Iteration, step: Step) -> bool:
        """Return whether a step of a loop would keep, for later iterations, what is not sent to be computed yet.

        It is sent with what the iteration hands over. Were it kept as what it is to be computed from, whoever reads it
        would compute that again, and what that is made of had to be held.
        """
        if step.frame is self._executable.plan.root or step.flat.op not in KEEPING:
            return False
        lazy = [v for v in it.values[step.first : step.last] if type(v) is Later and not v.is_sent]
        for later in lazy:
            later.is_due = True
        if lazy:
            self._held.append((it, step))
        return bool(lazy)

    def _note(
        self, kernel: Callable[..., Any], args: Sequence[Any], known: Known, it: Iteration, step: Step
    ) -> list[Later]:
        """Note that a kernel is to be called; returns what it will give."""
        call = Call(kernel, tuple(args), known, it, step, self._calls)
        self._calls += 1
        places = enumerate(zip(known.forms, known.handed_on))
        outs = [Later(None, form, call, k) if place is None else args[place] for k, (form, place) in places]
        if known.handed_on == (None,):
            conclude(outs[0], call)
        return outs

    def _give(self, it: Iteration, step: Step, out: Any) -> None:
        """Let go of what a step was given, and hand on what it gives."""
        it.values[step.first : step.first + step.width] = [None] * step.width
        self._tokens.complete(it, step, out, self._ready, None)

    # -- marks --------------------------------------------------------------------------------------------

    def _ask(self, it: Iteration, step: Step) -> None:
        """Have a condition fetched, or an array; what can be no condition is refused by the check behind."""
        later = it.values[step.first]
        if step.flat.op is FETCH:
            self._asked.append(((it, step), later))
        elif later.dtype.kind != "b" or later.shape != ():
            self._give(it, step, later.collection)
        elif (value := value_of(later)) is not None:
            self._give(it, step, value)
        elif (source := self._conditions.ask((it, step), later)) is not None:
            self._asked.append(((it, step), source))

    def _cross(self, it: Iteration, step: Step) -> None:
        """Hand a value on to the next iteration, if there may be one more under way."""
        value = it.values[step.first]
        if type(value) is Later:
            value = it.values[step.first] = self._cuts.kept(it, step, value, self._note)
            if not self._windows.admits(it, value, not (self._flying or self._sender.blocks)):
                self._held.append((it, step))
                return
            value.is_due = not value.is_sent
        self._give(it, step, value)

    def _try_again(self) -> None:
        """Let go on what waits for its loop to be less far ahead, if it may now."""
        self._ready.extend(self._held)
        self._held.clear()

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
        calls = calls_of(targets)
        laters = list(dict.fromkeys([*targets, *_needed_again(targets, calls, waiting)]))
        origins = {v: (v.call, v.number) for v in laters if v.call is not None}
        use = None  # of nothing: a condition that was computed before, as a way back of a gradient asks for again
        if self._templates is not None and laters:
            use = self._templates.of(laters, self._sender.threads)
            use = None if use is not None and _would_compute_more(use, calls) else use
        besides = _made_of_again(laters if use is None else use.given, waiting)
        submission = Submission(laters, self._asked, self._windows.send(), calls, origins, use, besides)
        self._asked = []
        self._flying.append(submission)
        self._statistics.submissions += 1
        self._statistics.iterations += sum(submission.iterations.values())
        self._statistics.tasks += self._sender.send(submission, self._mailbox)
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

    def _read(self, letters: Sequence[Fetched | Done | None]) -> None:
        for letter in letters:
            if letter is None:  # it is to stop
                continue
            submission = letter.submission
            if isinstance(letter, Fetched):
                self._statistics.fetches += len(letter.values)
                for ((it, step), later), value in zip(submission.asked, letter.values):
                    if step.flat.op is FETCH:
                        self._give(it, step, value)
                        continue
                    for (one, mark), answer in self._conditions.come(later, value):
                        self._give(one, mark, answer)
                submission.asked.clear()
            elif letter.error is not None:
                self._failed[submission] = letter.error
            else:
                self._flying.remove(submission)
                self._windows.done(submission.iterations)
                self._try_again()

    def _check(self) -> None:
        """Raise what has failed.

        Not where letters are read: those have the error, whose traceback would have them, and all that the frames below
        hold would stay on the cluster until Python looks for cycles.
        """
        if self._failed and self._flying[0] in self._failed:  # what was sent before it has not failed
            first = self._flying[0]
            raise told(self._failed[first], first, self._sender)


def _would_compute_more(use: Use, calls: Sequence[Call]) -> bool:
    """Return whether a template is given arrays, which are computed as wholes, and no loop needs more than parts."""
    is_in_part = any(not use.given[k].is_sent for k in use.template.in_part)
    return is_in_part and all(call.it.frame.parent is None for call in calls)


def _made_of_again(laters: Sequence[Later], waiting: Sequence[Later]) -> list[Later]:
    """Return the values that others wait for as well, and that some are made of whose kernels were called at once: each
    iteration would compute them again, from the beginning."""
    lazy = [later for later in laters if later.call is None and not later.is_sent]
    names = {name for later in lazy for name in later.collection.dask.layers}
    mine = {later.collection.name for later in lazy}
    others = [v for v in dict.fromkeys(waiting) if v.call is None and not v.is_sent] if lazy else []
    return [v for v in others if (name := getattr(v.collection, "name", None)) in names and name not in mine]


def _needed_again(targets: Sequence[Later], calls: Sequence[Call], waiting: Sequence[Later]) -> list[Later]:
    """Return the values that are computed for ``targets`` and that others, which wait, are or will be made of."""
    if not calls:
        names = {name for later in targets for name in later.collection.dask.layers}
        return [v for v in waiting if not v.is_sent and getattr(v.collection, "name", None) in names]
    made = {call.serial for call in calls}
    found: list[Later] = []
    todo, seen = [v for v in waiting if v.call is not None], set()
    while todo:
        later = todo.pop()
        if later in seen or later.call is None:
            continue
        seen.add(later)
        if later.call.serial in made:
            found.append(later)
        else:
            todo += [v for v in later.call.args if type(v) is Later]
    return found
