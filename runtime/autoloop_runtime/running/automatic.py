"""``executor="auto"``: which executor runs a graph, decided again as running it shows what things cost.

It begins with what the cost model says: generated Python, or the scheduler where heavy work can overlap. Neither needs
a compiler, so the first result is never later than without one. Machine code is made in the background, and only for
what has already run for about as long as making it takes:

* a long loop of generated Python hands its state over between two iterations (``on_stack_replacement``);
* a long loop that saves values for its gradient cannot: where nobody notices it, the call is given up between two
  iterations and made again in machine code, from the beginning;
* a function that is called again and again gets machine code for the whole of it. The next calls try both, and the
  faster one stays, until calls come to take much longer than those that were tried (``trials``).

What machine code cannot take stays where it is; ``explain`` says why.
"""

from __future__ import annotations

import warnings
from _thread import get_ident
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from time import perf_counter
from typing import Any

from ..analysis.cost import Choice
from ..analysis.inside import loops_inside
from ..analysis.observable import may_repeat
from ..base import background, config
from ..base import native_extra as extra
from ..base.callbacks import tell_waiting
from ..base.dataclass import dataclass
from ..base.forks import undivided
from ..base.profiler import active, boards
from ..ir.graph import Graph
from ..ir.run_state import EAGER, RunState
from ..ir.structured import WHILE
from ..python_code.compile_python import Generated, compile_graph, compile_region
from .on_stack_replacement import Restart, Site, Sites, is_replaceable
from .standing import Entry, Standing, Straight
from .tier_up import (
    SMALLEST,
    BesidePython,
    CallTimes,
    Made,
    Served,
    Shapes,
    TierUp,
    is_wanted,
    judge,
    look_again,
)

Run = Callable[..., list[Any]]

#: seconds of generated Python in one function after which it is said, once in a process, that the extra is missing
NOTICE = 3.0
#: seconds of a call for which it pays to spare a microsecond, and not to time each
SHORT = 50e-6
#: seconds that a call takes beside machine code that is called without Python in between
ENTERING = 0.5e-6


class MissingNativeWarning(UserWarning):
    """A loop ran long that machine code would take, and the extra ``native`` is missing or too old; said once.

    Examples
    --------
    >>> issubclass(al.MissingNativeWarning, UserWarning)
    True
    """


@dataclass(frozen=True)
class _Call:
    """A call that began at ``begin``."""

    times: CallTimes
    begin: float


class Automatic(BesidePython):
    """A graph and what runs it.

    Parameters
    ----------
    graph : Graph
        After the passes.
    choice : Choice
        What was chosen for it, as long as there is no machine code; it may gain by that.
    """

    def __init__(self, graph: Graph, choice: Choice) -> None:
        self.graph = graph
        self.choice = choice
        self.sites = Sites(self._look_for_code if _may_restart(graph) else None)
        #: the calls in generated Python that may be given up, by thread
        self._running: dict[int, _Call] = {}
        self._wanted = is_wanted()
        self.base: Run
        if self.choice.executor == "dataflow":
            with undivided():
                from ..dataflow.compile_dataflow import compile_dataflow
                from ..passes.regions import form_regions

            runs = form_regions(graph, partial(compile_region, shown=graph.shows_progress))
            runs.donated = graph.donated
            self.base = compile_dataflow(runs, runs.outputs, runs.inputs)
        else:
            self.base = compile_graph(graph, self.sites if self._wanted else None)
        self._tier_up = TierUp(lambda: graph, [graph])
        self._look = SMALLEST if self._wanted else inf
        #: seconds of calls after which it is said that the extra is missing
        self._notable = inf if not config.get_native() or not extra.remedy() else NOTICE
        self._times = {}
        self._only = None
        if all(t.shape.is_fully_defined() for t in graph.inputs):
            self._only = CallTimes(tuple([t.shape.as_tuple() for t in graph.inputs]), self._look)

    def __call__(self, values: Sequence[Any], state: RunState = EAGER) -> list[Any]:
        """Run."""
        times = self._only or self._times_for(values)
        settled = times.settled
        if settled is not None:
            return self._in_native(settled, times, values, state)
        if times.spent >= times.look:
            return self._measured(times, values, state)
        begin = perf_counter()
        results = self.base(values, state) if self.sites.look is None else self._in_python(times, values, state)
        seconds = perf_counter() - begin
        times.calls += 1
        times.spent += seconds
        if times.rival is not None:
            self.note_graph(times.rival, seconds)
        if times.spent >= self._notable:
            self._notice(times.shapes)
        if seconds > times.most:
            look_again(self._tier_up, times)
        return results

    def _in_native(self, made: Made, times: CallTimes, values: Sequence[Any], state: RunState) -> list[Any]:
        if active() is not None:  # machine code has no timeline
            return self.base(values, state)
        assert made.run is not None
        try:
            return made.run(values, state)
        except made.refused as refusal:  # it has changed nothing
            if times.is_refused():
                self._tier_up.give_up(times.shapes, getattr(refusal, "told", str(refusal)))
                times.settled = None
            return self.base(values, state)

    def _measured(self, times: CallTimes, values: Sequence[Any], state: RunState) -> list[Any]:
        """Run, look how long it takes, and decide what to do about it."""
        made = self.found(times)
        ready = made is not None and made.run is not None
        trial = times.tried() if ready else None
        native = trial is not None and len(trial.native) <= len(trial.before)
        begin = perf_counter()
        if native:
            assert made is not None
            results = self._in_native(made, times, values, state)
        else:
            results = self._in_python(times, values, state)
        seconds = perf_counter() - begin
        times.calls += 1
        times.spent += seconds
        if trial is not None and made is not None:
            if native and times.is_entered:
                seconds = min(seconds, getattr(made.run, "inside", inf) + ENTERING)
            with times.lock:
                (trial.native if native else trial.before).append(seconds)
                judge(self._tier_up, times, trial, made)
            tell_waiting()
        elif made is not None and made.is_pending:
            background.give_way()
            self.note_graph(times.rival, seconds)
        elif seconds > times.most:
            look_again(self._tier_up, times)
        return results

    def found(self, times: CallTimes) -> Made | None:
        """Return the machine code if it is there, or being made; ask for it once that pays."""
        shapes = times.shapes
        made = self._tier_up.find(shapes)
        if made is None:
            price = self._tier_up.price()
            if times.spent >= price:
                times.asked, times.mean = times.spent, times.spent / max(times.calls, 1)
                self._tier_up.ask(shapes)
            else:
                times.look = price
        elif made.why_not:
            refused = self._only is not None and self.sites.are_refused()
            times.look = 2 * times.spent if refused is None else inf
            if refused:
                self.base = compile_graph(self.graph)  # without the chunks of iterations
        return made

    def straight(self) -> Straight | None:
        """Return the shortest way through the graph; None where calls take long, or something is to be decided."""
        times, run = self._only, self.base
        if times is None or times.settled is not None or not isinstance(run, Generated) or run.stateful:
            return None
        if self.sites.look is not None or times.spent > SHORT * times.calls:
            return None
        return Straight(run.function, run.explained, times)

    def entry(self, shapes: Shapes, is_taken: bool) -> Entry:
        """Return the machine code that runs the graph for inputs of such shapes, once that is settled."""
        known = self._times
        times = self._only or known.get(shapes) or known.get(self._tier_up.served(shapes, len(known)))
        made = None if times is None else times.settled
        if times is not None:
            times.is_entered = is_taken
        return Entry(None if made is None else made.run.entered, times, made)  # type: ignore[union-attr]

    def is_taken_over(self) -> bool:
        """Return whether machine code goes on with loops that have begun."""
        return any(site.trusted for site in self.sites.values())

    # -- asked from outside -------------------------------------------------------------------------------

    @property
    def is_declined(self) -> bool:
        """True if machine code was asked for, and there is none for any set of shapes."""
        return bool(self._tier_up.why_not())

    def in_machine_code(self, shapes: Shapes) -> bool | None:
        """Return whether there is machine code for ``shapes``, False if there will be none;
        else it is being made from now."""
        if not self._wanted:
            return False
        made = self._tier_up.find(shapes)
        if made is None:
            self._tier_up.ask(shapes)
        elif not made.is_pending:
            return made.run is not None
        return None

    # -- a call that is given up ----------------------------------------------------------------------------

    def _in_python(self, times: CallTimes, values: Sequence[Any], state: RunState) -> list[Any]:
        """Run in generated Python, from the beginning in machine code if that comes to be there before the end."""
        if self.sites.look is None:
            return self.base(values, state)
        me = get_ident()
        outer, call = self._running.get(me), _Call(times, perf_counter())
        self._running[me] = call
        try:
            return self.base(values, state)
        except Restart:
            elapsed = perf_counter() - call.begin
            _show_anew(me)
        finally:
            if outer is None:
                del self._running[me]
            else:
                self._running[me] = outer
        made = self._tier_up.find(times.shapes)
        assert made is not None
        begin = perf_counter()
        results = self._in_native(made, times, values, state)
        seconds = perf_counter() - begin
        with times.lock:
            trial = times.tried()
            trial.native.append(seconds)
            if trial.is_plainly_less(seconds, elapsed):  # and it was not at its end
                trial.before.append(elapsed)
                judge(self._tier_up, times, trial, made)
        tell_waiting()
        return results

    def _look_for_code(self) -> None:
        """Give the call up that this thread is in if machine code is there; ask for it once that pays."""
        call = self._running.get(get_ident())
        if call is None:
            return
        times, shapes = call.times, call.times.shapes
        made = self._tier_up.find(shapes)
        if made is None:
            spent = times.spent + perf_counter() - call.begin
            if spent >= self._tier_up.price():
                times.asked, times.mean = spent, spent / (times.calls + 1)
                self._tier_up.ask(shapes)
        elif made.is_pending:
            background.give_way()
        elif made.run is not None and active() is None and perf_counter() - call.begin > times.tried().enough():
            raise Restart

    def _notice(self, shapes: Served) -> None:
        """Say once that the extra is missing, at the loop that ran long, if it would have helped."""
        global _noticed
        self._notable = inf
        loop = next((n for n in self.graph.nodes if n.op is WHILE), None)
        if _noticed or loop is None or self._tier_up.would_take(shapes):
            return
        _noticed = True
        line = loop.location[-1] if loop.location else None
        warnings.warn_explicit(
            f"the loop {loop.name!r} ran for more than {NOTICE:.0f} seconds in generated Python; as machine code it "
            f"would be much faster, but {extra.why_not()}: {extra.remedy()} (or set AUTOLOOP_NATIVE=0, and nothing is "
            "said) [AL608]",
            MissingNativeWarning, line.filename if line else __name__, line.lineno if line else 0,
        )  # fmt: skip

    # -- telling ------------------------------------------------------------------------------------------

    def standing(self) -> Standing:
        """Return what runs the graph now, for the shapes it was called with last if they differ."""
        times = self._only or next(reversed(self._times.values()), None)
        if times is not None and times.settled is not None:
            made, trial = times.settled, times.tried()
            gain = trial.usual(times.mean) / max(min(trial.native), 1e-9)
            told = (
                f"machine code, made in {1e3 * made.seconds:.0f} ms in the background after the first "
                f"{1e3 * times.asked:.0f} ms; {gain:.3g} times as fast as before"
            )
            return Standing("native", told)
        told = "machine code may follow once it has been called" if times is None else _prospect(self._tier_up, times)
        return Standing(self.choice.executor, f"{self.choice.reason}; {told}")

    def loops(self) -> dict[str, Standing]:
        """Return what runs each loop of the graph now, by the name of its node."""
        whole, found = self.standing(), dict[str, Standing]()
        sites = {node.name: site for node, site in self.sites.items()}  # of another version of the graph, perhaps
        for node in loops_inside(self.graph):
            mine = _site_standing(sites[node.name], whole) if node.name in sites else found.get(node.name, whole)
            inner = loops_inside(*node.subgraphs)
            found.update((n.name, whole if whole.executor == "native" else mine) for n in (node, *inner))
        return found


def _show_anew(thread: int) -> None:
    """Let what is shown of a run of a thread, if it is, begin anew."""
    if (board := boards.get(thread)) is not None:
        board.restart()


def _prospect(tier_up: TierUp, times: CallTimes) -> str:
    """Return what is to be said of machine code for a graph that does not run in it."""
    if times.rival is not None and times.rival.is_faster():
        graph, plain = 1e3 * min(times.rival.graph), 1e3 * min(times.rival.plain)
        return f"plain Python runs the calls, in {plain:.3g} ms, not {graph:.3g} ms; {_of_machine_code(tier_up, times)}"
    return _of_machine_code(tier_up, times)


def _of_machine_code(tier_up: TierUp, times: CallTimes) -> str:
    if not config.get_native():
        return "machine code is switched off (AUTOLOOP_NATIVE=0 or config.set_native(False))"
    shapes = times.shapes
    why = tier_up.would_take(shapes)
    if why:
        return f"machine code {why}"
    if extra.remedy():
        return f"machine code would take it: {extra.remedy()}"
    if tier_up.find(shapes) is not None:
        return "machine code is being made, or tried"
    return f"machine code follows when calls have taken {tier_up.price():.2g} s (so far {times.spent:.2g} s)"


def _site_standing(site: Site, whole: Standing) -> Standing:
    """Return what runs a loop that may be handed over."""
    if site.trusted:
        gain = next(reversed(site.trusted.values()))
        return Standing("native", f"machine code takes it over from generated Python, {gain:.3g} times as fast")
    why = site.tier_up.never()
    if why:
        return Standing(whole.executor, f"machine code {why}")
    spent, price = site.spent / 1e9, site.tier_up.price()
    told = f"machine code takes it over once it has run for {price:.2g} s, now or in later calls (so far {spent:.2g} s)"
    return Standing(whole.executor, told)


def _may_restart(graph: Graph) -> bool:
    """Return whether nobody notices that ``graph`` runs twice, and a loop in it cannot be handed over instead."""
    return not graph.donated and may_repeat(graph) and any(not is_replaceable(loop) for loop in loops_inside(graph))


#: the notice is said once; two threads that come to it at the same time may both say it
_noticed = False
