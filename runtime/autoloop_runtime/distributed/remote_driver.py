"""Runs a graph whose regions may go to a cluster: one thread over the tokens of ``dataflow.frames``.

What a region gives that was sent is a ``Held``: it stays where it was computed, and goes on as a token at once. So the
scheduler runs ahead, as far as the windows of loops let it: an iteration is not done before its tasks are. Held values
come here when something that stays here needs them, conditions above all; then other work goes on meanwhile.

A region is sent where the work is worth the way, or where what it needs lies there and is more to move than a task.
Arrays of this process are sent once a run. How long a region takes that only a run can tell is learnt here first, and
again where the workers have enough to do: machine code may have come meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..analysis.observable import may_repeat
from ..analysis.sizes import LARGE
from ..base.fp_warnings import asked, restore, setting, silence
from ..dataflow.executable import results_of
from ..dataflow.execution_plan import CONTROL, ENTER, EXIT, FETCH, INHERIT, NEXT, Edges, Plan, Step
from ..dataflow.first_failure import FirstFailure
from ..dataflow.frames import Item, Iteration, State, loops_around
from ..dataflow.kernels import call
from ..dataflow.lowering import lower
from ..ir.failures import annotate_further, is_annotated, user_traceback
from ..ir.graph import Graph, eager
from ..ir.run_state import EAGER, RunState
from .mailbox import Mailbox
from .remote_cluster import Cluster, LostCluster, current, is_in_task
from .remote_regions import Region
from .remote_tasks import run_region, told

#: a region is sent if it takes so many times what sending it does
WORTH = 2.0
#: arrays that enter loops are sent once for so many iterations, it is taken
REUSED = 8
#: what is fetched in less than this part of the latency is fetched
LITTLE = 0.25
#: so many tasks for each thread of the workers are in flight before this process does some of the work
AHEAD = 2
#: seconds that a region takes at least to be thought of
LEAST = 2e-4
#: how often a run is begun that has lost what was computed, where nobody notices that
BEGUN = 3


class Held:
    """A value that lies on a worker.

    Attributes
    ----------
    future : distributed.Future
    place : int or None
        Which one of the tuple that the task has given.
    nbytes : int
        About how large it is.
    """

    __slots__ = ("future", "nbytes", "place")

    def __init__(self, future: Any, place: int | None, nbytes: int) -> None:
        self.future, self.place, self.nbytes = future, place, nbytes

    def of(self, result: Any) -> Any:
        """Return the value, of what the task has given."""
        return _own(result if self.place is None else result[self.place])


class RemoteGraph:
    """A graph with regions, ready to run any number of times.

    Parameters
    ----------
    graph : Graph
        See ``remote_regions.with_remote_regions``.
    local : callable
        Runs the same graph here.
    """

    def __init__(self, graph: Graph, local: Callable[[list[Any], RunState], list[Any]]) -> None:
        self._plan = Plan(lower(graph, graph.outputs, graph.inputs))
        self._may_repeat = may_repeat(graph)
        self._local = local
        #: which steps are regions, and which of their outputs decide something here
        self._regions: dict[Step, Region] = {}
        for step in self._plan.steps.values():
            kernel = None if step.flat.op is None else step.flat.op.kernel
            if isinstance(kernel, Region):
                self._regions[step] = kernel
        self._decides = {step: _decides(_edges_of(step), set()) for step in self._regions}

    def regions(self) -> list[Region]:
        """Return the regions there are."""
        return list(self._regions.values())

    def run(self, values: list[Any], state: RunState = EAGER) -> list[Any]:
        """Compute the outputs."""
        if is_in_task():
            return self._local(values, state)
        cluster, begun = current(), 1
        while True:
            try:
                return self._once(cluster, values, state)
            except LostCluster:
                if begun == BEGUN or not self._may_repeat or cluster.client.status != "running":
                    raise
                begun += 1

    def _once(self, cluster: Cluster, values: list[Any], state: RunState) -> list[Any]:
        is_silent, before = not asked(), setting()
        run = _Run(self._plan, self._regions, self._decides, state, cluster)
        try:
            if is_silent:
                silence()
            with eager():
                return run.whole(values)
        except Exception as error:
            lost = error if is_annotated(error) else told(error)
            if lost is error:
                raise
            raise lost from None
        finally:
            restore(before)
            run.close()


class _Run:
    """One run."""

    def __init__(
        self, plan: Plan, regions: dict[Step, Region], decides: dict[Step, bool], state: RunState, cluster: Cluster
    ) -> None:  # fmt: skip
        self._regions, self._decides, self._state = regions, decides, state
        self._tokens = State(plan)
        self._cluster = cluster
        self._light: deque[Item] = deque()
        self._heavy: deque[Item] = deque()
        #: regions that run here, when nothing else is to be done
        self._here: deque[Item] = deque()
        #: what comes from the cluster: each task in flight and each value that is fetched puts one letter
        self._mail = Mailbox()
        #: tasks in flight -> their futures, where they belong, and whether tokens wait for them
        self._flying: dict[Any, tuple[Any, Iteration, Step, bool]] = {}
        #: kernels that wait for values, and how many each waits for
        self._parked: dict[Any, list[list[Any]]] = {}
        #: arrays that were sent, by ``id``; the arrays are kept, so that no other has that
        self._sent: dict[int, tuple[Any, Any]] = {}
        self._failure: FirstFailure | None = None
        self._failed_at: tuple[Iteration, Step] | None = None

    # -- the loop -------------------------------------------------------------------------------------------

    def whole(self, values: list[Any]) -> list[Any]:
        """Run from the beginning to the end."""
        self._tokens.start(values, self._light, self._heavy)
        while True:
            for letter in self._mail.take(wait=False):
                self._take(letter)
            ready = self._light or self._heavy or self._here
            if ready:
                item = ready.popleft()
                if self._failure is None or self._failure.comes_behind(item):
                    self._step(item, is_last=ready is self._here)
            elif self._is_waiting():
                for letter in self._mail.take():
                    self._take(letter)
            else:
                break
        if self._failure is not None:
            raise self._explained(self._failure)
        return self._fetched(results_of(self._tokens))

    def _is_waiting(self) -> bool:
        """Return whether something comes that this run needs; after a failure, what stands before that."""
        failure = self._failure
        if failure is None:
            return bool(self._flying or self._parked)
        return any(failure.comes_behind((it, step)) for _, it, step, _ in self._flying.values()) or any(
            failure.comes_behind(waiting[0]) for those in self._parked.values() for waiting in those
        )

    def _take(self, letter: _Letter) -> None:
        """Do what is to be done when a task is done, or a value has come."""
        key, is_value, error, result = letter
        if error is not None:
            error = told(error)
            if isinstance(error, LostCluster) or not isinstance(error, Exception):
                raise error
        if is_value:
            self._unpark(key, error, result)
            return
        _, it, step, waits = self._flying.pop(key)
        if error is not None:
            self._failed(error, it, step)
        elif not waits:
            self._tokens.deliver(it, [], self._light, self._heavy)  # it has one thing less outstanding
        else:
            self._complete(it, step, _own(result) if step.outs is None else tuple(map(_own, result)))

    def _unpark(self, key: Any, error: Exception | None, result: Any) -> None:
        for waiting in self._parked.pop(key):
            (it, step), count = waiting
            if error is not None:
                self._failed(error, it, step)
                continue
            cells = it.values
            for k in range(step.first, step.last):
                if type(cells[k]) is Held and cells[k].future.key == key:
                    cells[k] = cells[k].of(result)
            waiting[1] = count - 1
            if count == 1:
                self._light.append((it, step))

    def _failed(self, error: Exception, it: Iteration, step: Step) -> None:
        """Note a failure; the one that stands first in the program is told."""
        found = FirstFailure(error, it, step)
        if self._failure is None or self._failure.earlier(found) is found:
            self._failure, self._failed_at = found, (it, step)

    def _explained(self, failure: FirstFailure) -> BaseException:
        """Return a failure, told in terms of the user's program."""
        error = failure.error
        assert self._failed_at is not None
        it, step = self._failed_at
        region = self._regions.get(step)
        if region is None or not is_annotated(error):
            return failure.explained()
        found = region.culprit(error)
        place = step.flat.source if found is None else found[0]
        assert place is not None
        return annotate_further(error, loops_around(it)).with_traceback(user_traceback(place.location, None))

    def _step(self, item: Item, is_last: bool) -> None:
        it, step = item
        region = self._regions.get(step)
        values = it.values[step.first : step.last]
        if region is not None:
            if self._goes(region, values, it):
                self._send(it, step, region, values)
                return
            if not is_last:
                self._here.append(item)
                return
        if any(type(value) is Held for value in values):
            self._park(item, values)
            return
        begin = perf_counter()
        try:
            out = call(it, step, self._state, None)
        except Exception as error:
            self._failed(error, it, step)
            return
        if region is not None:
            region.learn(perf_counter() - begin)
        if step.blank:
            it.values[step.first : step.last] = step.blank
        self._complete(it, step, out)

    def _complete(self, it: Iteration, step: Step, out: Any) -> None:
        if step.outs is None:
            self._tokens.deliver(it, [(it, step.edges, out)], self._light, self._heavy)
        else:
            self._tokens.complete(it, step, out, self._light, self._heavy)

    # -- what goes where --------------------------------------------------------------------------------------

    def _goes(self, region: Region, values: Sequence[Any], it: Iteration) -> bool:
        """Return whether a region is sent."""
        there = sum([value.nbytes for value in values if type(value) is Held])
        if not there and (region.seconds is None or region.seconds < LEAST):
            return False
        network = self._cluster.network
        here = sum([_size(value) for value in values if type(value) is not Held and id(value) not in self._sent])
        if it.frame.parent is not None:
            here //= REUSED
        sending = network.overhead + network.moving(here)
        if there and network.moving(there) > max(sending, LITTLE * network.latency):
            return region.program.content is not None
        if region.seconds is None or region.seconds < WORTH * (sending + network.moving(region.nbytes)):
            return False
        if not there and len(self._flying) >= AHEAD * network.slots:
            return False  # the workers have enough to do, and this process nothing: so it learns how long it takes, too
        return region.program.content is not None

    def _send(self, it: Iteration, step: Step, region: Region, values: Sequence[Any]) -> None:
        """Send a region; what it gives goes on as a token at once, unless something here waits for the end of it."""
        cluster = self._cluster
        places = tuple([value.place if type(value) is Held else None for value in values])
        args = [value.future if type(value) is Held else self._there(cluster, value) for value in values]
        future = cluster.submit(step.flat.name, run_region, region.program, places, *args)
        waits = self._decides[step]
        self._flying[future.key] = future, it, step, waits
        future.add_done_callback(_teller(self._mail, False, waits))
        it.values[step.first : step.last] = [None] * (step.last - step.first)
        if waits:
            return
        it.outstanding += 1
        outputs = region.graph.outputs
        if step.outs is None:
            self._complete(it, step, Held(future, None, region.nbytes))
        else:
            each = region.nbytes // max(len(outputs), 1)
            self._complete(it, step, tuple([Held(future, k, each) for k in range(len(outputs))]))

    def _there(self, cluster: Cluster, value: Any) -> Any:
        """Return what stands for a value of this process in a task: a large array is sent once."""
        if _size(value) < LARGE:
            return value
        known = self._sent.get(id(value))
        if known is None:
            known = self._sent[id(value)] = value, cluster.put(value)
        return known[1]

    def _park(self, item: Item, values: Sequence[Any]) -> None:
        """Let a kernel wait for the values that it needs here."""
        futures = {value.future.key: value.future for value in values if type(value) is Held}
        waiting: list[Any] = [item, len(futures)]
        for key, future in futures.items():
            if key not in self._parked:
                self._parked[key] = []
                future.add_done_callback(_teller(self._mail, True, True))
            self._parked[key].append(waiting)

    def _fetched(self, results: list[Any]) -> list[Any]:
        """Return the results, those that lie elsewhere fetched all at once."""
        futures = {value.future.key: value.future for value in results if type(value) is Held}
        if futures:
            keys = list(futures)
            try:
                found = dict(zip(keys, self._cluster.client.gather([futures[key] for key in keys])))
            except BaseException as error:
                raise told(error) from None
            results = [value.of(found[value.future.key]) if type(value) is Held else value for value in results]
        return list(map(_own, results))

    def close(self) -> None:
        """Let go of everything; what is still in flight is released, as nobody else has a future of it.

        ``Client.cancel`` would end the connection where tasks depend on a key that no client wants.
        """
        for future, *_ in self._flying.values():
            future.release()
        self._flying.clear()
        self._parked.clear()
        self._sent.clear()
        self._tokens.close()


#: the key of a task, whether its value was asked for, what was raised, the value
_Letter = tuple[Any, bool, BaseException | None, Any]


def _teller(mail: Mailbox, is_value: bool, is_wanted: bool) -> Callable[[Any], None]:
    """Return what puts what becomes of a task, with its value if that is wanted; it runs on a thread of Dask's."""

    def tell(future: Any) -> None:
        result, error = None, None
        try:
            if is_wanted or future.status != "finished":
                result = future.result()
        except BaseException as raised:
            error = raised
        mail.put((future.key, is_value, error, result))

    return tell


def _own(value: Any) -> Any:
    """Return an array that may be written to: one that came over the network may lie in a message."""
    if type(value) is np.ndarray and not value.flags.writeable:
        return value.copy()
    return value


def _size(value: Any) -> int:
    return int(getattr(value, "nbytes", 0))


def _edges_of(step: Step) -> Iterator[Edges]:
    yield from (step.edges,) if step.outs is None else step.outs


def _decides(those: Iterator[Edges], seen: set[int]) -> bool:
    """Return whether a value that takes these edges decides where others go, or something waits for it to be there."""
    left = list(those)
    while left:
        edges = left.pop()
        if id(edges) in seen:
            continue
        seen.add(id(edges))
        for slot, _, step in edges.plain:
            if step.call is None:
                if step.otherwise is not None and slot == step.first + 1:
                    return True
                left += [step.edges] if step.otherwise is None else [step.edges, step.otherwise]
        for what, arg in edges.rest:
            if what == CONTROL:
                return True
            if what in (NEXT, EXIT):
                left.append(arg)
            elif what == ENTER:
                left.append(arg[1])
            elif what == INHERIT:
                left.append(arg[2])
            else:
                assert what == FETCH
    return False
