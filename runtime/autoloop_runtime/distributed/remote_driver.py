"""Runs a graph whose regions may go to a cluster: one thread over the tokens of ``dataflow.frames``.

What a region gives that was sent is a ``Held``: it stays where it was computed, and goes on as a token at once. So the
scheduler runs ahead, as far as the windows of loops let it: an iteration is not done before its tasks are. Held values
come here when something that stays here needs them, conditions above all; then other work goes on meanwhile.

A region is sent where the work is worth the way, or where what it needs lies there and is more to move than a task.
Arrays of this process are sent once a run. How long a region takes that only a run can tell is learnt here first, and
again where the workers have enough to do: machine code may have come meanwhile. What is not learnt yet is taken to be
like what is.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from ..analysis.observable import may_repeat
from ..analysis.sizes import LARGE
from ..base.dataclass import dataclass
from ..base.fp_warnings import asked, restore, setting, silence
from ..dataflow.execution_plan import MISSING, Edges, Plan, Step
from ..dataflow.first_failure import FirstFailure
from ..dataflow.frames import Item, Iteration, State, loops_around
from ..dataflow.kernels import call
from ..dataflow.lowering import lower
from ..dataflow.one_thread import results_of
from ..ir.failures import annotate_further, is_annotated, user_traceback
from ..ir.graph import Graph, eager
from ..ir.run_state import EAGER, RunState
from .apart_errors import apart, spent
from .mailbox import Mailbox
from .remote_cluster import Cluster, LostCluster, current, is_in_task
from .remote_costs import Costs, Ways, sizes_of
from .remote_regions import Region
from .remote_tasks import run_region, told
from .remote_values import Held, Sent, bring, own, size_of, tell_of
from .token_ends import edges_of
from .unwanted_tasks import forget_unwanted

#: how often a run is begun that has lost what was computed, where nobody notices that
BEGUN = 3


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
        plan = Plan(lower(graph, graph.outputs, graph.inputs))
        self._may_repeat = may_repeat(graph)
        self._local = local
        kernels = {step: None if step.flat.op is None else step.flat.op.kernel for step in plan.steps.values()}
        self._regions = {step: kernel for step, kernel in kernels.items() if isinstance(kernel, Region)}
        self._ways = Ways(plan, self._regions)

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
            except LostCluster as error:
                if cluster.client.status == "running":
                    forget_unwanted(cluster.client)
                if begun == BEGUN or not self._may_repeat or cluster.client.status != "running":
                    raise
                spent(error)
                begun += 1

    def _once(self, cluster: Cluster, values: list[Any], state: RunState) -> list[Any]:
        is_silent, before = not asked(), setting()
        run = _Run(self._ways, self._regions, state, cluster)
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

    def __init__(self, ways: Ways, regions: dict[Step, Region], state: RunState, cluster: Cluster) -> None:
        self._ways, self._regions, self._state = ways, regions, state
        self._tokens = State(ways.plan)
        self._cluster, self._costs = cluster, Costs(cluster, regions.values())
        self._light: deque[Item] = deque()
        self._heavy: deque[Item] = deque()
        #: regions that run here, when nothing else is to be done
        self._here: deque[Item] = deque()
        #: what comes from the cluster: each task in flight and each value that is fetched puts one letter
        self._mail = Mailbox()
        #: tasks in flight
        self._flying: dict[Any, _Flight] = {}
        self._loads = Counter[str | None]()
        #: what waits for values, by the keys of the futures that bring them
        self._parked: dict[Any, list[_Waiting]] = {}
        #: what letters will come of, whether with a value
        self._watched: dict[tuple[Any, bool], Any] = {}
        #: arrays that were sent, by ``id``; the arrays are kept, so that no other has that
        self._sent: dict[int, tuple[Any, Any]] = {}
        self._failure: FirstFailure | None = None
        self._failed_at: Item | None = None

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
        waiting = [waiting.item for those in self._parked.values() for waiting in those]
        return any(map(failure.comes_behind, [*[flight.item for flight in self._flying.values()], *waiting]))

    def _take(self, letter: _Letter) -> None:
        """Do what is to be done when a task is done, or a value has come."""
        key, is_value, error, result = letter
        self._watched.pop((key, is_value), None)
        if error is not None:
            error = told(error)
            if isinstance(error, LostCluster) or not isinstance(error, Exception):
                raise error
        flight = self._flying.pop(key, None)
        if flight is not None:
            self._loads[flight.worker] -= 1
            it, step = flight.item
            if error is not None:
                self._failed(error, it, step)
            else:
                self._regions[step].took_at_most(perf_counter() - flight.since)
                self._tokens.deliver(it, [], self._light, self._heavy)  # it has one thing less outstanding
        if is_value:
            for waiting in self._parked.pop(key, ()):
                self._arrived(waiting, key, error, result)

    def _arrived(self, waiting: _Waiting, key: Any, error: Exception | None, result: Any) -> None:
        it, step = waiting.item
        if error is not None:
            self._failed(error, it, step)
        elif waiting.held is not None:
            assert waiting.edges is not None
            self._tokens.deliver(it, [(it, waiting.edges, waiting.held.of(result))], self._light, self._heavy)
        else:
            cells = it.values
            for k in range(step.first, step.last):
                if type(cells[k]) is Held and cells[k].coming().key == key:
                    cells[k] = cells[k].of(result)
            waiting.count -= 1
            if not waiting.count:
                self._light.append(waiting.item)

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
            way = self._way(region, item, values)
            if way is not None:
                self._send(item, region, values, way)
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

    def _way(self, region: Region, item: Item, values: Sequence[Any]) -> float | None:
        """Return how long the way of a region takes that is sent; None if it stays."""
        it, step = item
        moves = [0.0 if id(value) in self._sent else self._ways.share(step, k, it) for k, value in enumerate(values)]
        back = [self._ways.share_back(step, k, it) for k in range(len(region.sizes))]
        way = self._costs.pays(region, values, moves, back, len(self._flying))
        return None if way is None or region.program.content is None else way

    def _send(self, item: Item, region: Region, values: Sequence[Any], way: float) -> None:
        """Send a region; what it gives goes on as a token at once, unless something here waits for what it is."""
        it, step = item
        begin = perf_counter()
        cluster, name = self._cluster, step.flat.name
        places = tuple([value.place if type(value) is Held else None for value in values])
        args = [value.sent.given() if type(value) is Held else self._there(cluster, value) for value in values]
        depth = 1 + max([value.sent.depth for value in values if type(value) is Held], default=-1)
        worker, is_free = self._place(values)
        future = cluster.submit(name, run_region, region.program, places, *args, worker=worker if is_free else None)
        sent = Sent(cluster, name, future, sizes_of(region, values), depth, worker)
        it.values[step.first : step.last] = [None] * (step.last - step.first)
        self._flying[future.key] = _Flight(item, worker, max(perf_counter(), begin + way))
        self._loads[worker] += 1
        those = edges_of(step)
        made: list[Any] = []
        for k, edges in enumerate(those):
            held = Held(sent, None if step.outs is None else k)
            if self._ways.decides(step, k):
                it.outstanding += 1
                self._watch(held.coming(), _Waiting(item, held=held, edges=edges))
                made.append(MISSING)
            else:
                made.append(held)
        if (future.key, True) not in self._watched:
            self._watch(future)
        it.outstanding += 1
        stack = [(it, edges, value) for edges, value in zip(those, made) if value is not MISSING]
        self._tokens.deliver(it, stack, self._light, self._heavy)

    def _place(self, values: Sequence[Any]) -> tuple[str | None, bool]:
        """Return the worker that is to run a region, and whether it is free to choose: where nothing large lies on one.

        Dask would give all that needs the same array of this process to the worker that it was sent to.
        """
        largest = max([value for value in values if type(value) is Held], key=size_of, default=None)
        if largest is not None and largest.nbytes >= LARGE:
            return largest.sent.worker, False
        workers = self._cluster.workers
        if len(workers) < 2:
            return None, False
        return min(workers, key=lambda one: self._loads[one] / max(workers[one], 1)), True

    def _there(self, cluster: Cluster, value: Any) -> Any:
        """Return what stands for a value of this process in a task: a large array is sent once."""
        if size_of(value) < LARGE:
            return value
        known = self._sent.get(id(value))
        if known is None:
            known = self._sent[id(value)] = value, cluster.put(value)
        return known[1]

    def _park(self, item: Item, values: Sequence[Any]) -> None:
        """Let a kernel wait for the values that it needs here."""
        futures = {future.key: future for future in [value.coming() for value in values if type(value) is Held]}
        waiting = _Waiting(item, len(futures))
        for future in futures.values():
            self._watch(future, waiting)

    def _watch(self, future: Any, waiting: _Waiting | None = None) -> None:
        """Have a letter put when a task is done; if something waits for its value, with that."""
        key, is_value = future.key, waiting is not None
        if waiting is not None:
            self._parked.setdefault(key, []).append(waiting)
        if (key, is_value) not in self._watched:
            self._watched[key, is_value] = future
            mail = self._mail
            tell_of(
                self._cluster.client,
                future,
                is_value,
                lambda done, error, result: mail.put((done, is_value, error, result)),
            )

    def _fetched(self, results: list[Any]) -> list[Any]:
        """Return the results, those that lie elsewhere fetched all at once."""
        try:
            return list(map(own, bring(self._cluster, results)))
        except BaseException as error:
            raise told(apart(error)) from None

    def close(self) -> None:
        """Let go of everything; what is still in flight is released, as nobody else has a future of it.

        ``Client.cancel`` would end the connection where tasks depend on a key that no client wants.
        """
        for future in self._watched.values():
            future.release()
        self._watched.clear()
        self._flying.clear()
        self._parked.clear()
        self._sent.clear()
        self._tokens.close()


#: the key of a task, whether its value was asked for, what was raised, the value
_Letter = tuple[Any, bool, BaseException | None, Any]


@dataclass(frozen=True, slots=True)
class _Flight:
    """A task: where it belongs, the worker that is likely to have it, and since when it is likely to run."""

    item: Item
    worker: str | None
    since: float


@dataclass(eq=False, slots=True)
class _Waiting:
    """What waits for values: a kernel, for ``count`` of them, or edges that ``held`` goes on by."""

    item: Item
    count: int = 1
    held: Held | None = None
    edges: Edges | None = None
