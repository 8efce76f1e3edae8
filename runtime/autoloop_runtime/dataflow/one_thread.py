"""A run of a plan on one thread, the one that calls: kernel by kernel, to the end; and which runs go by that."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ..base.forks import undivided
from ..ir.run_state import RunState
from .execution_plan import MISSING, Plan
from .frames import Item, State
from .kernels import TimeIsOver, Watch, call

if TYPE_CHECKING:
    from .memory_limit import Budget

Way = Callable[[State, list[Any], RunState, "Watch | None", "Budget | None"], None]


def run_alone(
    tokens: State, feeds: list[Any], state: RunState, watch: Watch | None, budget: Budget | None = None,
    threads: int = 1,
) -> None:  # fmt: skip
    """Run on the calling thread alone, without a lock: light kernels first, of each kind the oldest first. A loop that
    shares its iterations out may have several ``threads``.

    So a counter runs ahead of a heavy chain here too, and iterations have their effects in order where data lets them.
    Under a limit to memory what makes arrays runs in program order.
    """
    heavy: Any = deque() if budget is None else budget.heavy(deque())
    light: deque[Item] = deque() if budget is None else budget.light(heavy)
    if budget is None and tokens.plan.makes:
        with undivided():
            from .ready_kernels import waiting_alone
        heavy = waiting_alone()
    tokens.start(feeds, light, heavy)
    feeds.clear()
    go_on(tokens, light, heavy, state, watch, budget, threads)


def go_on(
    tokens: State, light: deque[Item], heavy: Any, state: RunState, watch: Watch | None, budget: Budget | None,
    threads: int = 1,
) -> None:  # fmt: skip
    """Run what is ready, and all that follows."""
    deliver, complete = tokens.deliver, tokens.complete
    while light or heavy:
        it, step = light.popleft() if light else heavy.popleft()
        try:
            if watch is None and not step.is_special:
                assert step.call is not None
                out = step.call(*it.values[step.first : step.last])
            else:
                out = call(it, step, state, watch, None, threads)
        except Exception as error:
            with undivided():
                from .batch_parts import BatchParts
                from .first_failure import FirstFailure, first_failure

            raise first_failure(  # noqa: B904
                FirstFailure(error, it, step), tokens, BatchParts(tokens), deque([*light, *heavy]), state, watch
            ).explained()
        if step.blank:
            it.values[step.first : step.last] = step.blank
        if budget is not None and step.allocates:
            budget.note(step, out)
        if step.outs is None:
            deliver(it, [(it, step.edges, out)], light, heavy)
        else:
            complete(it, step, out, light, heavy)
        del out
        if watch is not None:
            watch.look(tokens, len(light) + len(heavy))


def by_itself(plan: Plan, feeds: list[Any], state: RunState, watch: Watch, most: int = 0) -> list[Any]:
    """Return what a plan gives that is run on this thread; ``most``: bytes of what goes ahead, if there is a limit."""
    tokens = State(plan)
    try:
        run_alone(tokens, feeds, state, watch, _budget(most))
        return results_of(tokens)
    finally:
        tokens.close()


def by_itself_from(
    tokens: State, ready: deque[Item], state: RunState, watch: Watch, most: int = 0
) -> list[Any]:  # fmt: skip
    """Return what a run gives that goes on with what is ready, on this thread; ``most``: see ``by_itself``."""
    budget, light = _budget(most), ready
    heavy: Any = deque()
    if budget is not None:
        heavy = budget.heavy(heavy)
        light = budget.light(heavy)
        for item in ready:
            light.append(item)
    go_on(tokens, light, heavy, state, watch, budget)
    return results_of(tokens)


def _budget(most: int) -> Budget | None:
    if not most:
        return None
    with undivided():
        from .memory_limit import MemoryLimit, budget_of

    return budget_of(MemoryLimit(2 * most), 0)


def results_of(tokens: State) -> list[Any]:
    """Return the fetched values of a run that has come to rest."""
    if not tokens.finished or any(value is MISSING for value in tokens.results):
        waiting = tokens.describe_waiting()
        raise RuntimeError(f"the run cannot go on, nothing is ready and not all results exist:\n{waiting} [AL610]")
    return tokens.results


def way_of_run(plan: Plan, threads: int, watch: Watch | None, budget: Budget | None) -> Way:
    """Return what runs a plan on several threads: where nothing but what is in one loop could run beside anything else,
    and that calls others itself, the calling thread alone."""
    if plan.sharing or plan.blas or budget is not None or (watch is not None and watch.seen is not None):
        return _shared(threads)
    return partial(run_alone, threads=threads)


def in_time(
    run: Callable[..., None], tokens: State, feeds: list[Any], state: RunState, watch: Watch | None,
    budget: Budget | None,
) -> None:  # fmt: skip
    """Run, and tell of a loop that has found that the time is over."""
    try:
        run(tokens, feeds, state, watch, budget)
    except TimeIsOver as over:
        assert watch is not None
        raise watch.timed_out(tokens, over) from None


def _shared(threads: int) -> Way:
    """Return what does as ``run_alone`` on several threads."""

    def run(tokens: State, feeds: list[Any], state: RunState, watch: Watch | None, budget: Budget | None) -> None:
        with undivided():
            if watch is not None and watch.seen is not None:
                from .seen_runs import SeenRun as Run
            else:
                from .workers import SharedRun as Run  # type: ignore[assignment]
        Run(tokens, state, watch, threads, budget).run(feeds)

    return run
