"""Where a loop of generated Python stops to look whether machine code may go on in its place.

The loop runs in chunks of iterations, each about a millisecond long, so looking costs nothing; between two chunks its
whole state is in its variables::

    turns = while_0()
    while turns.left:
        for iteration in turns.some:
            if i >= n:
                break
            i = i + 1
        else:
            (i,) = turns.boundary(None, i, n)
            continue
        break

The outermost loops are handed over that can be: not those that print or carry a TensorArray, but then the loops inside
them. Code is made once the loop has run for about as long as making it takes. It is tried for a few milliseconds, and
stays if it is at least as fast per iteration as Python was just before; if not it is tried again once iterations take
much longer. What it raises names the iteration as counted from the loop's own beginning.

What a loop has saved for its gradient is Python's and cannot be handed over. Between two chunks such a loop asks
whether there is machine code for the whole function by now (``Watch``), which then runs from the beginning
(``Restart``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.observable import may_go_on
from ..base import background
from ..base.callbacks import listener
from ..base.dtypes import variant
from ..base.forks import undivided
from ..ir.graph import Graph, Node
from ..ir.run_state import EAGER, RunState
from .tier_up import SMALLEST, Made, Served, Shapes, TierUp

if TYPE_CHECKING:
    from .trials import Trial

#: iterations of the first chunk, and nanoseconds of one that is long enough
FIRST, CHUNK = 16, 1e6
#: nanoseconds for which machine code is tried, and how often before it is given up
TRIAL, TRIALS = 4e6, 2
#: more iterations than any loop does
ALL = 1 << 62
#: nanoseconds that a call of machine code takes: a run that ends within them in Python needs none
CALL = 5e3
#: what machine code can be given; a loop may hold other values while it runs, such as sums that are changed in place
_ARRAYS = (np.ndarray, np.generic)


class Site:
    """A loop in the generated Python of one graph.

    ``spent`` and ``lost`` may lose what two threads add at the same time: they only say roughly when to do something.
    The rest is replaced as a whole; two threads that make it at the same time make the same.

    Attributes
    ----------
    node : Node
    owned : frozenset of int
        Loop variables whose arrays may be written to: nobody else sees them.
    variables : int
        How many loop variables the generated code knows: all but the effect token.
    spent : float
        Nanoseconds in Python so far, in all runs.
    trusted : dict
        For which shapes machine code proved faster, and how many times as fast.
    lost : dict
        How often it proved slower.
    first : range
        The iterations with which the next run begins in Python.
    """

    def __init__(self, node: Node, owned: Collection[int]) -> None:
        self.node = node
        self.owned = frozenset(owned)
        self.variables = _variables(node)
        self.spent = 0.0
        self.trusted: dict[Served, float] = {}
        self.lost: dict[Served, int] = {}
        self._trials: dict[Served, Trial] = {}
        #: its machine code
        self.tier_up = TierUp(lambda: _resumable(node, self.owned), node.subgraphs)
        self.first = range(FIRST)

    def __call__(self) -> Turns:
        """Return one run of the loop begins."""
        return Turns(self, self.first)

    def served(self, shapes: Shapes) -> Served:
        """Return for what code is made that serves ``shapes``: for the first only for these."""
        if shapes in self.trusted or self.tier_up.find(shapes) is not None:
            return shapes
        return self.tier_up.served(shapes, self.tier_up.count)

    def code(self, shapes: Served, rate: float) -> Made | None:
        """Return the code for ``shapes`` if it is there; asks for it once that pays.

        ``rate``: nanoseconds of an iteration in Python.
        """
        made = self.tier_up.find(shapes)
        trial = self._trials.get(shapes)
        if trial is not None and rate > trial.most and (again := trial.again()) is not None:
            self.lost[shapes], made = 0, again
            self.tier_up.take_up(shapes, again)
        if made is None and self.spent >= 1e9 * self.tier_up.price():
            self.tier_up.ask(shapes)
        if made is not None and made.is_pending:
            background.give_way()
        return made if made is not None and made.run is not None else None

    def compare(self, shapes: Served, python: float, native: float) -> bool:
        """Keep what a trial showed, in nanoseconds per iteration; True if machine code stays."""
        if native <= python:
            self.trusted[shapes] = python / max(native, 1e-3)
            self.first = range(int(CALL / python))
            if (logs := listener()) is not None:
                said = f"machine code takes the loop over, {self.trusted[shapes]:.3g} times as fast"
                logs.detail("running", lambda: said, self.tier_up.line())
            return True
        self.lost[shapes] = self.lost.get(shapes, 0) + 1
        if self.lost[shapes] >= TRIALS:
            self._lose(shapes, python)
            self.tier_up.give_up(
                shapes, f"it was slower: {native / 1e3:.3g} µs an iteration, not {python / 1e3:.3g} µs"
            )
        return False

    def _lose(self, shapes: Served, python: float) -> None:
        """Keep the code, for iterations that take longer."""
        if shapes not in self._trials:
            with undivided():
                from .trials import Trial

            self._trials[shapes] = Trial()
        self._trials[shapes].lose(self.tier_up.find(shapes), python)


def _resumable(node: Node, owned: Collection[int]) -> Graph:
    """Return the loop as a function that goes on from any iteration, and may write to the variables ``owned``."""
    with undivided():
        from ..passes.resume import resumable

    made = resumable(node)
    places = [1 + place for place, k in enumerate(made.variables) if k in owned]  # as input and as output
    made.graph.donated = dict(zip(places, places))
    return made.graph


def _variables(node: Node) -> int:
    """Return how many loop variables the generated code knows: all but the effect token."""
    return len(node.outputs) - (node.attrs["token"] is not None)


class Sites(dict[Node, Site]):
    """The loops of a function that may be handed over.

    Attributes
    ----------
    look : callable or None
        Raises ``Restart`` when machine code is there for the whole function, which is then called from the beginning.
    """

    def __init__(self, look: Callable[[], None] | None = None) -> None:
        super().__init__()
        self.look = look

    def replacing(self, node: Node, owned: Collection[int]) -> Site | None:
        """Return the site of the loop ``node``; None if machine code surely cannot go on with it."""
        if not is_replaceable(node):
            return None
        site = self[node] = Site(node, owned)
        return site

    def are_refused(self) -> bool | None:
        """Return whether no loop will ever be handed over; None if the code of one is still to come."""
        if not self or self.look is not None or any(site.trusted for site in self.values()):
            return False
        return True if all(site.tier_up.why_not() for site in self.values()) else None

    def watching(self, node: Node) -> Watch | None:
        """Return what looks for machine code of the whole function; None if nobody wants to know."""
        return Watch(self.look, _variables(node)) if self.look is not None else None


class Restart(BaseException):
    """The function that is running is given up, for machine code to run it from the beginning.

    Nothing that it did can be seen. No handler of the program's gets it: it never leaves ``Automatic``.
    """


class Watch:
    """A loop that machine code cannot go on with in the middle, as it saves values: between chunks, it may be given up.

    Parameters
    ----------
    look : callable
        See ``Sites``.
    variables : int
        How many loop variables the generated code knows.
    """

    def __init__(self, look: Callable[[], None], variables: int) -> None:
        self.look = look
        self.variables = variables

    def __call__(self) -> Watched:
        """Return one run of the loop begins."""
        return Watched(self)


class Watched:
    """One run of a loop; see ``Turns``."""

    __slots__ = ("_mark", "_watch", "left", "some")

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.left = True
        self.some = range(FIRST)
        self._mark = perf_counter_ns()

    def boundary(self, state: RunState | None, *values: Any) -> Sequence[Any]:
        """Return the values of the loop variables, as they are."""
        self._watch.look()
        done, count = self.some.stop, len(self.some)
        rate = max((perf_counter_ns() - self._mark) / max(count, 1), 1.0)
        self.some = range(done, done + min(4 * max(count, 1), int(CHUNK / rate) + 1))
        self._mark = perf_counter_ns()
        return values[: self._watch.variables]


class Turns:
    """One run of a loop.

    Attributes
    ----------
    left : bool
        False when machine code has brought it to its end.
    some : range
        The iterations of the next chunk.
    """

    __slots__ = ("_before", "_mark", "_site", "left", "some")

    def __init__(self, site: Site, first: range) -> None:
        self._site = site
        #: nanoseconds per iteration of the chunk before the last
        self._before = inf
        self.left = True
        self.some = first
        self._mark = perf_counter_ns()

    def boundary(self, state: RunState | None, *values: Any) -> Sequence[Any]:
        """Return the values of the loop variables with which it goes on, or, if nothing is ``left``, ended.

        Parameters
        ----------
        state : RunState, optional
            Of the run, if anything in it needs that.
        *values
            Of the loop variables, then of what it uses from outside.
        """
        site, done = self._site, self.some.stop
        count, spent = done - self.some.start, perf_counter_ns() - self._mark
        site.spent += spent
        rate = max(spent / count, 1.0) if count else 0.0
        made: Made | None = None
        shapes: Served = ()
        if site.spent >= 1e9 * SMALLEST and all(isinstance(v, _ARRAYS) for v in values):
            shapes = site.served(((), *[v.shape for v in values]))
            made = site.code(shapes, rate)
        if made is not None and (rate or shapes in site.trusted):
            # the faster one of two chunks: something else may have had the processor during the other
            done, values = self._replace(made, shapes, state or EAGER, values, min(rate, self._before))
        self._before = rate or inf
        size = min(4 * count, int(CHUNK / rate) + 1) if rate else FIRST
        if not site.trusted:
            site.first = range(size)
        self.some = range(done, done + size)
        self._mark = perf_counter_ns()
        return values[: site.variables]

    def _replace(
        self, made: Made, shapes: Served, state: RunState, values: tuple[Any, ...], rate: float
    ) -> tuple[int, tuple[Any, ...]]:
        """Go on in machine code, at first for a trial; gives the iterations that are done, and the values then."""
        site, done, run = self._site, self.some.stop, made.run
        assert run is not None
        trusted = shapes in site.trusted
        while True:
            limit = ALL if trusted else max(1, int(TRIAL / rate))
            begin = perf_counter_ns()
            try:
                turns, *found = run([np.int64(limit), *values], state, done)
            except made.refused as refusal:
                # it has changed nothing: the loop goes on in Python from the values it was given
                site.tier_up.give_up(shapes, str(refusal))
                return done, values
            done, values = done + int(turns), (*found, *values[site.variables :])
            self.left = bool(turns == limit)
            if not trusted and turns:
                trusted = site.compare(shapes, rate, (perf_counter_ns() - begin) / int(turns))
            if not (self.left and trusted):
                return done, values


def is_replaceable(node: Node) -> bool:
    """Return false if it is plain that machine code cannot go on with the loop ``node``."""
    if any(t.dtype == variant or t.dtype.kind == "O" for t in node.inputs):
        return False
    return all(map(may_go_on, node.subgraphs))
