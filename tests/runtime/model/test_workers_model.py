"""Whatever threads do between each other's locks: nobody waits for ever, nobody works on a run that is over."""

from __future__ import annotations

from dataclasses import replace

import pytest
from api import running_loops, threads, workers
from each_case import each
from explorer import Wrong
from workers_model import Machine, Tasks, Thread


def tasks(needs, light="", **special):
    """``needs``: a word for each task, the letters of those before it."""
    names = [chr(ord("a") + k) for k in range(len(needs))]
    found = tuple([frozenset(map(names.index, word.strip("-"))) for word in needs])
    heavy = frozenset([k for k, name in enumerate(names) if name not in light])
    return Tasks(found, heavy, **{what: frozenset(map(names.index, which)) for what, which in special.items()})


ALONE = ["-"] * 3
FORK = ["-", "-", "ab"]
DIAMOND = ["-", "a", "a", "bc"]
CHAINS = ["-", "-", "a", "b"]


@each([
    (tasks(ALONE), {}),
    (tasks(FORK), {}),
    (tasks(DIAMOND), {}),
    (tasks(CHAINS), {}),
    (tasks(CHAINS, light="c"), {}),
    (tasks(DIAMOND, light="ad"), {}),
    (tasks(ALONE, failing="b"), {}),
    (tasks(CHAINS, failing="cd"), {}),
    (tasks(FORK, broken="b"), {}),
    (tasks(ALONE, large="ac"), {}),
    (tasks(CHAINS, large="bc", failing="b"), {}),
    (tasks(FORK, large="abc"), {"timed": True, "interrupts": 1}),
    (tasks(CHAINS, light="c"), {"others": True}),
    (tasks(CHAINS, light="cd"), {"others": True, "timed": True}),
    (tasks(ALONE, failing="b"), {"others": True, "interrupts": 1}),
    (tasks(ALONE, failing="a", endless="c"), {}),
    (tasks(ALONE, failing="a", endless="bc"), {"interrupts": 1}),
    (tasks(ALONE, endless="b"), {"interrupts": 1}),
    (tasks(FORK, broken="b", endless="a"), {"interrupts": 1}),
    (tasks(FORK), {"timed": True}),
    (tasks(ALONE, failing="b"), {"timed": True}),
    (tasks(ALONE), {"interrupts": 1}),
    (tasks(FORK), {"interrupts": 2}),
    (tasks(FORK, failing="a"), {"interrupts": 1, "timed": True}),
], one_in=3)  # fmt: skip
def test_nobody_waits_for_ever(what, options):
    explored = Machine(what, 2, **options).explored()
    assert explored.states > 20 and explored.moves["drain"]


@pytest.mark.nightly
@each([
    (tasks(["-", "-", "a", "b", "cd", "-"]), {}),
    (tasks(["-", "a", "a", "a", "bcd"]), {"interrupts": 1}),
    (tasks(CHAINS, failing="bc"), {"timed": True, "interrupts": 1}),
    (tasks(CHAINS, light="b", broken="d"), {"timed": True}),
])  # fmt: skip
def test_nobody_waits_for_ever_with_three_workers(what, options):
    assert Machine(what, 3, **options).explored().states > 400


def test_moves_bear_the_names_of_what_makes_them():
    """A machine of something else proves nothing: these are there to be compared with it."""
    for name in ("run", "work", "assist", "_take", "_leave", "_fail", "_wake_caller", "_sleep", "_drain"):
        assert hasattr(workers.SharedRun, name)
    assert hasattr(running_loops.RunningLoops, "end")
    for name in ("call", "forget", "_next"):
        assert hasattr(threads.Pool, name)
    fields = vars(workers.SharedRun)["__init__"].__code__.co_names
    assert {"openings", "present", "waiting", "wake", "stopped", "failure", "error", "heavy"} <= set(fields)


# -- what the checks are worth ----------------------------------------------------------------------------


class LooksWithoutTheLock(Machine):
    """The caller says that it waits after somebody else may have seen that it does not."""

    def look(self, run, me, member):
        after, mine = super().look(run, me, member)
        return (run, Thread("says_so")) if mine.at == "sleep" else (after, mine)

    def says_so(self, run, me, member):
        return replace(run, waiting=True), Thread("sleep")


class WakesNobody(Machine):
    """The last worker leaves without a word."""

    def _leave(self, run, member):
        return replace(run, present=run.present - 1, openings=run.openings + 1) if member else run


class WakesTooSeldom(Machine):
    """Only who ends the run wakes the caller."""

    def _leave(self, run, member):
        after = super()._leave(run, member)
        return after if self.finished(run) else replace(after, waiting=run.waiting, wake=run.wake)


class JoinsWhatIsOver(Machine):
    """A worker that was called joins whether or not the run has ended."""

    def assist(self, run, me, member):
        return replace(run, present=run.present + 1), Thread("take")


class PromisesTwice(Machine):
    """Those that were called for are not counted off."""

    def take(self, run, me, member):
        for after, mine in super().take(run, me, member):
            yield replace(after, openings=after.openings + mine.wanted), mine


class ForgetsToStop(Machine):
    """``_drain`` looks who is there before it closes the door."""

    def drain(self, run, me, member):
        return replace(run, heavy=()), Thread("forget")


class KeepsAnOldRelease(Machine):
    """``_drain`` does not take back a release that nobody has taken."""

    def drain_look(self, run, me, member):
        after, mine = super().drain_look(run, me, member)
        return replace(after, wake=run.wake), mine


class LooksOnlyOnce(Machine):
    """What waits for room is not looked at again when room is made."""

    def startable(self, run):
        return 0 if run.filling == 0 and run.begun & self.tasks.large else super().startable(run)


class TakesItsTasksAlong(Machine):
    """Who goes to others leaves nobody the light tasks that it had."""

    def complete(self, run, me, member):
        for after, mine in super().complete(run, me, member):
            light = set(after.heavy) - set(run.heavy) - self.tasks.heavy if mine.at == "come_back" else set()
            yield replace(after, heavy=tuple([t for t in after.heavy if t not in light])), mine


class AsksTooEarly(Machine):
    """A loop asks whether it is wanted before it is noted down."""

    def note(self, run, me, member):
        return run, replace(me, at="noted", told=self._is_unwanted(run, me.item))

    def noted(self, run, me, member):
        return run, replace(me, at="kernel", noted=True)

    INSIDE = (*Machine.INSIDE, "noted")


class TellsLoopsNothing(Machine):
    """Who ends a run does not say so to the loops that are under way."""

    def _end_loops(self, run):
        return run


@each([
    (AsksTooEarly, {"failing": "a", "endless": "d"}, "for ever|not done"),
    (TellsLoopsNothing, {"endless": "b", "interrupts": 1}, "for ever"),
    (LooksWithoutTheLock, {}, "waits for ever"),
    (WakesNobody, {}, "waits for ever"),
    (WakesTooSeldom, {"failing": "b"}, "waits for ever"),
    (JoinsWhatIsOver, {"failing": "b"}, "somebody works on it"),
    (PromisesTwice, {}, "lost or doubled"),
    (ForgetsToStop, {"failing": "a"}, "lost or doubled"),
    (LooksOnlyOnce, {"large": "ab"}, "was not done"),
    (TakesItsTasksAlong, {"light": "cd", "others": True}, "not done"),
    (KeepsAnOldRelease, {"interrupts": 1}, "released for one who has not waited"),
], one_in=2)  # fmt: skip
def test_a_protocol_that_is_wrong_is_found(machine, options, told):
    special = {name: which for name, which in options.items() if isinstance(which, str)}
    general = {name: which for name, which in options.items() if name not in special}
    with pytest.raises(Wrong, match=told):
        machine(tasks(CHAINS, **special), 2, **general).explored()
