"""Machine code that is made on the background thread while something else runs the graph.

``executor="native"`` makes it at once and says no with an error; here nobody waits for it, and a refusal or a missing
extra is only a reason to go on as before. What calls take meanwhile is known here, too, and whose turn it is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from math import inf, prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..analysis.inside import count_nodes, first_line
from ..analysis.ownership import find_owned
from ..base import background, config
from ..base import native_extra as extra
from ..base.callbacks import listener, tell_waiting
from ..base.dataclass import dataclass
from ..base.forks import Kind, generation, undivided
from ..base.locations import Line
from ..base.profiler import active
from ..ir.graph import Graph

if TYPE_CHECKING:
    from ..analysis.shape_classes import Classes, Members
    from .rival import Rival
    from .trials import Trial

Shapes = tuple[tuple[int, ...], ...]
#: for what machine code is: certain shapes of the inputs, or all of a class
Served: TypeAlias = "Shapes | Members"
Run = Callable[..., list[Any]]

#: seconds that it takes to load the compiler, and to make code of a graph without nodes and of each node
LOADING, SMALLEST, PER_NODE = 0.1, 0.03, 0.002
#: how often code is asked for if what is to make it is lost each time
TRIES = 3
#: after so many sets of shapes code is made for all of a class
FEW_SHAPES = 2
#: for more sets of shapes than this no code is made: the next call would bring another one
MOST_SHAPES = 8
#: an array of the caller's of this many bytes is sorted where it is, by NumPy: a merge needs as much memory again
MOST_MERGED = 1 << 24


@dataclass(frozen=True)
class Made:
    """What became of the code for one set of shapes.

    Attributes
    ----------
    run : callable or None
        ``run(values, state, done=0)``; raises ``refused`` when only the values show that it cannot go on.
    refused : type
        The exception of a refusal; nothing that can be seen has happened then.
    why_not : str
        Why there is no code; empty while it is being made and when it is there.
    seconds : float
        How long it took.
    generation : int
        Of the process, see ``forks``.
    """

    run: Run | None
    refused: type[Exception]
    why_not: str = ""
    seconds: float = 0.0
    generation: int = 0

    @property
    def is_pending(self) -> bool:
        """True while it is being made."""
        return self.run is None and not self.why_not


def is_wanted() -> bool:
    """Return whether machine code may be made and can be."""
    return config.get_native() and not extra.remedy()


def price(nodes: int, graphs: int = 1) -> float:
    """Return seconds that making code of so many nodes takes, in so many graphs, roughly."""
    process = sys.modules.get("autoloop_runtime.native.toolchain.process")
    is_running = getattr(process, "is_running", None)  # not there yet while another thread imports the module
    loaded = is_running is not None and is_running()
    return (0.0 if loaded else LOADING) + SMALLEST * graphs + PER_NODE * nodes


class TierUp:
    """The machine code of one graph.

    Parameters
    ----------
    graph : callable
        Gives the graph; called in the background.
    subgraphs : sequence of Graph
        What the price is reckoned from.

    Notes
    -----
    ``_made`` is read without a lock, and entries are replaced as a whole; two threads that ask at the same time may at
    worst have the same code made twice.
    """

    def __init__(self, graph: Callable[[], Graph], subgraphs: Sequence[Graph]) -> None:
        self._graph = graph
        self._subgraphs = subgraphs
        self._made: dict[Served, Made] = {}
        self._nodes = 0
        self._lost = 0
        self._classes: Classes | None = None

    def price(self) -> float:
        """Return seconds that making the code takes, roughly."""
        if not self._nodes:
            self._nodes = 1 + sum(map(count_nodes, self._subgraphs))
        return price(self._nodes)

    def served(self, shapes: Shapes, known: int) -> Served:
        """Return for what code is made that serves ``shapes`` where so many others are *known*: for these alone, or for
        all of a class."""
        if known < FEW_SHAPES:
            return shapes
        if self._classes is None:
            with undivided():
                from ..analysis.shape_classes import Classes

            self._classes = Classes(self._graph().inputs)
        members = self._classes.of(shapes)
        if members is None:
            return shapes
        made = self._made.get(members)
        return members if made is None or not made.why_not else shapes

    @property
    def count(self) -> int:
        """For how many shapes, or classes of shapes, code was asked for."""
        return len(self._made)

    def find(self, shapes: Served) -> Made | None:
        """Return what became of the code for ``shapes``; ``None`` if nobody asked for it."""
        made = self._made.get(shapes)
        if made is not None and made.is_pending and made.generation != generation():
            return None  # the process that was making it is another one
        return made

    def ask(self, shapes: Served) -> None:
        """Let the code be made."""
        if len(self._made) >= MOST_SHAPES:
            self._made[shapes] = Made(None, Exception, "the shapes of its inputs change too often")
            return
        self._made[shapes] = Made(None, Exception, generation=generation())
        if not background.submit(partial(self._make, shapes)):
            self._made[shapes] = Made(None, Exception, "no thread could be started to make it")

    def give_up(self, shapes: Served, why: str) -> None:
        """Never use the code for ``shapes``."""
        self._made[shapes] = Made(None, Exception, why)

    def take_up(self, shapes: Served, made: Made) -> None:
        """Use code for ``shapes`` again that was given up."""
        self._made[shapes] = made

    def _make(self, shapes: Served) -> None:
        begin = time.perf_counter()
        try:
            made = _made(self._graph(), shapes)
        except Exception as error:
            if getattr(error, "may_pass", False):
                self._lost += 1
                if self._lost < TRIES:
                    self._made.pop(shapes, None)  # it is asked for again
                    return
            # whatever is wrong with it, the program runs without it
            made = Made(None, Exception, f"making it failed: {type(error).__name__}: {error}")
        seconds = time.perf_counter() - begin
        self._made[shapes] = Made(made.run, made.refused, made.why_not, seconds)

    def line(self) -> Line | None:
        """Return the user's line of what the code is for."""
        return first_line(*self._subgraphs)

    def why_not(self) -> str:
        """Return why there is no code for any set of shapes it was asked for; empty if there is, or may be."""
        found = list(self._made.values())
        return found[-1].why_not if found and all(made.why_not for made in found) else ""

    def would_take(self, shapes: Served) -> str:
        """Return why there can be no machine code, found out at once and without the extra; empty if there can be."""
        known = self.find(shapes)
        if known is not None and (known.run is not None or known.why_not):
            return known.why_not
        return _refusal(self._graph(), shapes)

    def never(self) -> str:
        """Return why there is no code, or can be none for shapes that are known beforehand; empty if there may be."""
        why = self.why_not()
        if why or self._made:
            return why
        inputs = self._graph().inputs
        if not all(x.shape.is_fully_defined() for x in inputs):
            return ""
        return self.would_take(tuple([x.shape.as_tuple() for x in inputs]))


def _made(graph: Graph, shapes: Served) -> Made:
    if _sorts_much_in_place(graph, shapes):
        return Made(None, Exception, "it would need memory to sort a large array in, which NumPy sorts where it is")
    with undivided():
        from ..native import NativeRefusal, make, make_for  # not small, and most programs never need it
        from ..native.writer.called import mostly_called

    called = mostly_called(graph)
    if called:
        return Made(None, NativeRefusal, called)
    try:
        run = make_for(graph, shapes) if not isinstance(shapes, Sequence) else make(graph, shapes)
        return Made(run, NativeRefusal)
    except NativeRefusal as refusal:
        return Made(None, NativeRefusal, refusal.told)


def _refusal(graph: Graph, shapes: Served) -> str:
    """Return why there can be no machine code for ``graph``; empty if there can be."""
    if lacking := extra.missing():
        return f"needs {lacking}"
    with undivided():
        from ..native import NativeRefusal, shapes_of, write_function
        from ..native.writer.called import mostly_called

    called = mostly_called(graph)
    if called:
        return called
    try:
        write_function(graph, shapes_of(shapes) if not isinstance(shapes, Sequence) else shapes, frozenset())
    except NativeRefusal as refusal:
        return refusal.told
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _sorts_much_in_place(graph: Graph, shapes: Served) -> bool:
    """Return whether a large array of the caller's is sorted in its own memory, for which machine code needs more."""
    known = shapes.largest if not isinstance(shapes, Sequence) else shapes
    if all(prod(known[k]) * graph.inputs[k].dtype.itemsize < MOST_MERGED for k in graph.donated):
        return False
    return any(node.op.taking is not None and node.op.taking.beside for node in find_owned(graph).in_place)


_TIMES = Kind(
    "CallTimes.lock", "a time is added by one call, and a verdict is one reference; a verdict not reached comes later"
)

#: calls after whose refusal machine code for a class of shapes is given up: others of the class it may take
MOST_REFUSALS = 8


class CallTimes:
    """What is known of the calls with one set of shapes.

    ``lock`` guards a trial. ``calls`` and ``spent`` may lose what two threads add at the same time: they only say
    roughly when to do something.
    """

    def __init__(self, shapes: Served, look: float) -> None:
        self.shapes = shapes
        #: how often machine code for a class of shapes has refused a call
        self.refusals = 0
        #: seconds of calls after which there is more to do than to add them up
        self.look = look
        self.lock = _TIMES.lock()
        self.calls = 0
        self.spent = 0.0
        #: what was spent, and a call took, before machine code was asked for
        self.asked = self.mean = 0.0
        #: whether calls would go to machine code without Python in between
        self.is_entered = False
        #: what calls take with machine code and without, and seconds above which a call speaks for another trial
        self.trial: Trial | None = None
        self.most = inf
        #: machine code, once it has proved faster
        self.settled: Made | None = None
        #: what is known of plain Python, where that may run calls
        self.rival: Rival | None = None

    def is_refused(self) -> bool:
        """Note that machine code has refused a call; return whether it is no use then."""
        self.refusals += 1
        return self.refusals > MOST_REFUSALS or isinstance(self.shapes, tuple)

    def tried(self) -> Trial:
        """Return the trial, which begins if there is none."""
        if self.trial is None:
            with undivided():
                from .trials import Trial  # with machine code only

            self.trial = Trial()
        return self.trial


def judge(tier_up: TierUp, times: CallTimes, trial: Trial, made: Made) -> None:
    """End the trial when it is plain which is faster."""
    verdict = trial.is_won(times.mean)
    if verdict is None or tier_up.find(times.shapes) is not made:
        return
    native, before = min(trial.native), trial.usual(times.mean)
    if (logs := listener()) is not None:
        faster = "is faster: it runs the calls, in" if verdict else "was slower:"
        said = f"machine code {faster} {1e3 * native:.3g} ms, not {1e3 * before:.3g} ms"
        logs.detail("running", lambda: said, tier_up.line())
    if verdict:
        times.settled = made
        return
    trial.lose(made, times.mean)
    tier_up.give_up(times.shapes, f"it was slower: {1e3 * native:.3g} ms a call, not {1e3 * before:.3g} ms")
    times.most = trial.most


def look_again(tier_up: TierUp, times: CallTimes) -> None:
    """Note a call that took much longer than those of the last trial; after several there is another."""
    assert times.trial is not None
    with times.lock:
        if times.most == inf or (made := times.trial.again()) is None:
            return
        times.most, times.look = inf, 0.0
        tier_up.take_up(times.shapes, made)


class BesidePython:
    """What runs a graph, where the undecorated function may do it as well."""

    _tier_up: TierUp
    _look: float
    #: only added to, one entry per set of shapes, or class of sets
    _times: dict[Served, CallTimes]
    #: of the only one there can be
    _only: CallTimes | None

    def _times_for(self, values: Sequence[Any]) -> CallTimes:
        """Return what is known of calls with the shapes of ``values``; nothing of those whose shapes always change."""
        shapes: Shapes = tuple([np.shape(v) for v in values])
        times = self._times.get(shapes)
        if times is None:
            served = self._tier_up.served(shapes, len(self._times))
            times = self._times.get(served) or CallTimes(served, self._look)
            if len(self._times) < MOST_SHAPES:
                times = self._times.setdefault(served, times)
        return times

    def is_taken_over(self) -> bool:
        """Return whether machine code goes on with loops that have begun."""
        raise NotImplementedError

    def found(self, times: CallTimes) -> Made | None:
        """Return the machine code if it is there, or being made; ask for it once that pays."""
        raise NotImplementedError

    def plain_turn(self, values: Sequence[Any]) -> Callable[[float], None] | None:
        """Return what is to be told how many seconds a call of the undecorated function takes, if that is to run this
        call; None if a run is, for the first call, or machine code, or as that has proved faster."""
        times = self._only or self._times_for(values)
        rival = times.rival
        if rival is None:
            with undivided():
                from .rival import Rival  # with functions that the user has written

            rival = times.rival = Rival()
        if times.settled is not None or not rival.is_turn(values) or active() is not None:
            return None
        if times.spent >= times.look and (made := self.found(times)) is not None and made.run is not None:
            trial = times.tried()
            if len(trial.native) <= len(trial.before):
                return None
        return partial(self._ran_plain, times, rival)

    def _ran_plain(self, times: CallTimes, rival: Rival, seconds: float) -> None:
        times.calls += 1
        times.spent += seconds
        rival.ran_plain(seconds)
        made = self._tier_up.find(times.shapes) if times.spent >= times.look else None
        if made is not None and made.run is not None and times.settled is None:
            with times.lock:
                trial = times.tried()
                trial.before.append(seconds)
                judge(self._tier_up, times, trial, made)
            tell_waiting()
        elif seconds > times.most:
            look_again(self._tier_up, times)

    def note_graph(self, rival: Rival | None, seconds: float) -> None:
        """Note what a call took in which no machine code has taken over."""
        if rival is not None and not self.is_taken_over():
            rival.ran_graph(seconds)
