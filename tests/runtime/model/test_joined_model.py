"""Every order in which batches, turns and loops that are one step can begin and end, with all that travels in bundles:
the answer of single steps, and nothing lost, doubled or kept."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest
from api import MISSING, Executable, Kind, SeededExecutor, State, batch_step, loop_walk, machine_kernels
from each_case import each
from executors import needs_native
from explorer import Wrong
from frames_model import Model, seen
from joined_programs import (
    BUILDS,
    LARGE,
    fails_before_a_loop,
    fails_in_a_turn,
    fails_in_what_waits,
    joined,
    late,
    loop_of_batches,
    made,
    numbers,
    turn,
    untaken_loop_of_batches,
)
from test_batches import lowered_of
from test_machine_kernels import at_once  # noqa: F401

WINDOWS = (1, 2, 3)
FAILURES = [(fails_in_a_turn, "out of"), (fails_before_a_loop, "what takes long")]


def kinds(plan):
    return {step.flat.kind for frame in plan.frames for step in frame.steps}


@contextmanager
def first(item_by_item):
    """How batches and loops are done: as long as they have not run often, or later."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (batch_step, loop_walk):
            patch.setattr(module, "FIRST", 1 << 40 if item_by_item else 0)
        yield


def one_answer(build, window, workers=3, item_by_item=False, state=State):
    """Explore all orders of what is joined; gives how many states there are."""
    lowered = made(build, window)
    with first(item_by_item):
        plan = joined(lowered)
        assert Kind.BATCH in kinds(plan)
        assert build in LARGE or any(step.flat.value.doors.bundles for step in batches_of(plan))
        explored = Model(plan, [np.int32(3)], workers, state).explored()
    found = {seen(end.tokens.results) for end in explored.finals}
    assert found == {seen(SeededExecutor(lowered).run([np.int32(3)]))}
    return explored.states


def batches_of(plan):
    return [step for frame in plan.frames for step in frame.steps if step.flat.kind is Kind.BATCH]


@each([(build, window, how) for window in WINDOWS for how in (False, True) for build in BUILDS], one_in=3)
def test_every_order_of_what_is_joined_gives_the_answer_of_single_steps(build, window, how):
    assert one_answer(build, window, item_by_item=how) >= 20


@each([(build, how) for build in LARGE for how in (False, True)])
def test_every_order_of_loops_in_loops_does(build, how):
    assert one_answer(build, 1, item_by_item=how) > 100


@pytest.mark.nightly
@each([(build, window, workers) for build in LARGE for window, workers in ((2, 2), (2, 3), (3, 2), (3, 3))], parts=12)
def test_every_order_of_overlapping_loops_in_loops_does(build, window, workers):
    assert one_answer(build, window, workers) > 1000


# -- failures ---------------------------------------------------------------------------------------------


def told_of(build, window, light, long, item_by_item, model=Model):
    """The failures that all orders end with, and how often each kind of move was made."""
    with first(item_by_item):
        plan = joined(lowered_of(lambda n: build(n, window, light, long), "int32"))
        assert Kind.BATCH in kinds(plan)
        explored = model(plan, [np.int32(3)], 3).explored()
    assert all(end.failure is not None for end in explored.finals), "a failure was lost"
    return {(str(end.failure.error), end.failure._order) for end in explored.finals}, explored.moves


WHEN = ((0, 0), (0, 1), (1, 0), (1, 1), (1, 2))


@each([(*build, window, *when, how) for window in (1, 2) for when in WHEN for how in (False, True)
       for build in FAILURES], one_in=3)  # fmt: skip
def test_of_two_failures_the_first_in_the_program_is_told(build, together, window, light, long, how):
    found, moves = told_of(build, window, light, long, how)
    [(told, _)] = found
    want = together if light == long else "out of" if light < long else "what takes long"
    assert want in told


def test_a_loop_that_nobody_waits_for_ends_wherever_it_is():
    for window in (1, 2):
        found, moves = told_of(fails_before_a_loop, window, 5, 1, False)
        assert [told for told, _ in found] == ["what takes long"] and moves["give"] > 0


@each([False, True])
def test_what_stands_before_a_failure_in_a_batch_that_waits_for_it_is_done(how):
    for light, want in ((0, "out of"), (1, "what takes long")):
        found, moves = told_of(fails_in_what_waits, 1, light, 1, how)
        assert moves["go"] > 0 and len(found) == 1 and all(want in told for told, _ in found)


# -- machine code -----------------------------------------------------------------------------------------


def replaced(build, window):
    """A graph, and the plan of its runs before and after faster kernels have taken their places."""
    lowered = made(build, window)
    executable = Executable(lowered, faster=machine_kernels.machine_kernels)
    before = executable.plan
    for _ in range(3):
        executable.run([np.int32(3)])
    assert executable.plan is not before
    return lowered, before, executable.plan


def packs(plan):
    return any(step.flat.value.packs for step in batches_of(plan))


@needs_native
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("build", [numbers, loop_of_batches, untaken_loop_of_batches], ids=lambda f: f.__name__)
def test_every_order_of_machine_code_gives_that_answer(build, window, at_once):  # noqa: F811
    lowered, before, after = replaced(build, window)
    assert packs(after) if build is numbers else Kind.WHOLE in kinds(after)
    want = SeededExecutor(lowered).run([np.int32(3)])
    for plan in (before, after) if window < 3 else (after,):
        explored = Model(plan, [np.int32(3)], 2).explored()
        assert len({seen(end.tokens.results) for end in explored.finals}) == 1
        for one, other in zip(explored.finals[0].tokens.results, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@needs_native
def test_a_loop_of_batches_that_nobody_waits_for_ends(at_once):  # noqa: F811
    plan = replaced(loop_of_batches, 2)[2]
    explored = Model(plan, [np.int32(9)], 2).explored()
    assert {type(end.failure.error) for end in explored.finals} == {IndexError}
    assert explored.moves["give"] > 0


# -- what the checks are worth ----------------------------------------------------------------------------


class GivesOnBothSides(State):
    """What a turn has made for an iteration that there is not goes on, too."""

    def complete(self, it, step, out, light, heavy):
        if step.flat.kind is Kind.BATCH and step.flat.value.doors.predicate is not None:
            counts = step.flat.value.doors.made
            also = [np.int32(0) if count == 1 else (np.int32(0),) * count for count in counts]
            out = tuple([other if value is MISSING else value for value, other in zip(out, also)])
        super().complete(it, step, out, light, heavy)


class LosesATokenOfATurn(State):
    """The last one that it gives."""

    def complete(self, it, step, out, light, heavy):
        if step.flat.kind is Kind.BATCH and it.index == 1:
            out = (*out[:-1], MISSING)
        super().complete(it, step, out, light, heavy)


class HoldsABatch(State):
    """Its inputs stay in their slots."""

    def complete(self, it, step, out, light, heavy):
        super().complete(it, step, out, light, heavy)
        if step.flat.kind is Kind.BATCH:
            it.values[step.first : step.last] = (np.int32(1),) * step.width


class ClosesOnlyTheFirst(State):
    """What is given up keeps the iterations of loops."""

    def close(self):
        self.finished = True
        super().close()


@each([
    (GivesOnBothSides, turn, "Wrong|over|twice|not as on the way"),
    (LosesATokenOfATurn, turn, "lost"),
    (HoldsABatch, late, "kept after its last use|over"),
    (ClosesOnlyTheFirst, turn, "over holds"),
])  # fmt: skip
def test_a_state_that_is_wrong_is_found(wrong, build, told):
    with pytest.raises(Wrong, match=told):
        one_answer(build, 2, state=wrong)


class GivesUpAtOnce(Model):
    """Parts of batches that stand before a failure are not done."""

    def go_on(self, at):
        return iter(())


def test_parts_that_are_not_done_are_missed():
    found, _ = told_of(fails_in_what_waits, 1, 0, 1, False, GivesUpAtOnce)
    assert not all("out of" in told for told, _ in found)
