"""Plain Python in place of a graph: when it may run the call that is traced, and how a trace lets it.

This is the one place that knows. Who meets what no graph can do, or what only the run knows, asks here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NoReturn, ParamSpec, TypeVar

from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.base.error_codes import coded
from autoloop_runtime.base.locations import Line, capture, users_line
from autoloop_runtime.base.stand_ins import ShownByRun
from autoloop_runtime.ir.graph import Graph, current_graph

E = TypeVar("E", bound=Exception)
R = TypeVar("R")
P = ParamSpec("P")

#: the world of the function that is traced (``operators.mutation.outside_world``); None where there is none
WORLD: ContextVar[Any] = ContextVar("autoloop_world", default=None)

#: so many nodes are traced for one call; as many as one branch or loop takes as long as
MOST_TRACED, _OF_BLOCK = 5_000, 8

_RAISED_ANYWAY = "__autoloop_raised_anyway__"
_RULED = "__autoloop_ruled__"
_TRACED_ANYWAY: ContextVar[bool] = ContextVar("autoloop_traced_anyway", default=False)

_EFFORT: ContextVar[Effort | None] = ContextVar("autoloop_trace_effort", default=None)

#: of a value that is looked for in a dict or set
KEY = "an element of a set, or a key of a dict, is for the run to tell"


#: what to do about what would be a large graph
SMALLER = (
    "let what is written out be loops of the graph: over an array, over range(n) of a NumPy scalar n, or with "
    "set_loop_options(unroll=False) as the first statement of the body"
)


class LeftToPython(BaseException):
    """What is traced does something that no graph can do again: the function has to run as plain Python, at each call.

    Raised before it is done. Not an ``Exception``, so that the user's own handlers let it pass.

    Attributes
    ----------
    reason : str
        What it does.
    line : Line or None
        Where.
    is_once : bool
        Whether the next call may be traced again: what plain Python does in this one is done then.
    is_endless : bool
        Whether a graph could do it, of which each call would need another.
    of_values : bool
        Whether a graph could do it that knows values which are inputs of this one.
    is_shown : bool
        Whether no other trace of the function would do, and none for other arguments.
    is_costly : bool
        Whether a graph could do it, which takes long to trace: where plain Python takes longer it is worth that.
    instead : str
        What to do about it; empty if that is what there is to do of most.
    """

    def __init__(
        self,
        reason: str,
        line: Line | None = None,
        is_once: bool = False,
        is_endless: bool = False,
        of_values: bool = False,
        is_shown: bool = False,
        is_costly: bool = False,
        instead: str = "",
    ) -> None:
        super().__init__(reason)
        self.reason, self.line, self.of_values, self.is_shown = reason, line, of_values, is_shown
        self.is_once, self.is_endless, self.is_costly = is_once, is_endless, is_costly
        self.instead = instead


class NoGradientError(TypeError):
    """A function has no gradient as a graph, found before anything was done: no graph can do again what it does."""


class LeftByRun(TypeError, ShownByRun):
    """What only the run has shown of arrays and lists: see :class:`ShownByRun`."""

    def __init__(self, message: str) -> None:
        super().__init__(coded("AL020", message))


def is_followed() -> bool:
    """Return whether a function is being traced whose calls have to change the world each time."""
    graph = current_graph()
    return graph is not None and graph.root.ordered and WORLD.get() is not None


def python_can_run() -> bool:
    """Return whether plain Python would give what the graph does, were it to run the call that is traced.

    With tensors among the arguments it would give other kinds of values: numbers that they decide come back as tensors.
    """
    return is_followed() and not (_TRACED_ANYWAY.get() or WORLD.get().takes_tensors())


@contextmanager
def traced_anyway() -> Iterator[None]:
    """Mark the time in which a function of ours is called that makes a graph of what it is given, also for Python."""
    with Setting(None, (_TRACED_ANYWAY, True)):
        try:
            yield
        except Exception as error:
            with suppress(AttributeError, TypeError):  # exceptions with __slots__
                setattr(error, _RAISED_ANYWAY, True)
            raise


def is_raised_anyway(error: BaseException) -> bool:
    """Return whether plain Python would meet an exception, too, of what a function of ours makes a graph of."""
    return hasattr(error, _RAISED_ANYWAY)


def ruled(refusal: E) -> E:
    """Return a refusal of what plain Python could run, but is asked to be written otherwise."""
    setattr(refusal, _RULED, True)
    return refusal


def is_ruled(error: BaseException) -> bool:
    """Return whether an exception stays a refusal where plain Python could run the function."""
    return hasattr(error, _RULED)


def leave_unknown(what: str, line: Line | None = None, is_shown: bool = False, instead: str = "") -> None:
    """Let plain Python run the function that is traced, if it can.

    Parameters
    ----------
    what : str
        What only the run knows.
    line : Line, optional
        Where that is asked for; the line that calls us if it is not given.
    is_shown : bool
        Whether no other trace of the function would do.
    instead : str, optional
        What to do about it.

    Raises
    ------
    LeftToPython
    """
    if python_can_run():
        raise LeftToPython(what, line or users_line(capture()), of_values=True, is_shown=is_shown, instead=instead)


def refuse_unknown(what: str, instead: str) -> NoReturn:
    """Let plain Python run the function if it can, see :func:`leave_unknown`; raise elsewhere.

    Parameters
    ----------
    what : str
        What only the run knows.
    instead : str
        What to do about it.

    Raises
    ------
    LeftToPython
    TypeError
    """
    leave_unknown(f"{what}; {instead}", instead=instead)
    raise TypeError(coded("AL030", f"{what}: {instead}"))


def unless_left(refusal: E) -> E:
    """Return why a loop or branch cannot be built, which is to be raised; let plain Python run the function if it can.

    Raises
    ------
    LeftToPython
    """
    leave_unknown(str(refusal))
    return refusal


def leaving(build: Callable[P, R], kinds: tuple[type[Exception], ...] = (TypeError,)) -> Callable[P, R]:
    """Return a function whose errors say why a loop or branch cannot be built, see :func:`unless_left`."""

    @functools.wraps(build)
    def built(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return build(*args, **kwargs)
        except kinds as error:
            raise unless_left(error)  # noqa: B904 - it is the same one

    return built


class Effort:
    """What has been traced for one call: nodes, and branches and loops. Written out loops and comprehensions, branches
    on tensors and recursion multiply one another, and each may be small by itself.

    Parameters
    ----------
    most : int
        So much at most in one attempt, and twice as much in all.
    """

    __slots__ = ("earlier", "most", "root", "seen", "spent")

    def __init__(self, most: int) -> None:
        self.most, self.earlier, self.spent, self.seen = most, 0, 0, 0
        self.root: Graph | None = None

    def note(self, root: Graph, blocks: int) -> bool:
        """Note how far the graph around all others has grown, and begun *blocks*; return whether that is too much."""
        count = root.count_of_names()
        if root is not self.root:
            self.earlier += self.spent
            self.root, self.seen, self.spent = root, 0, 0
        self.spent += count - self.seen + blocks * _OF_BLOCK
        self.seen = count
        return self.spent > self.most or self.earlier + self.spent > 2 * self.most


def with_effort(times: int | None) -> Setting[None]:
    """Return a context manager in which a call is traced, at so many times the effort; None: whatever that takes."""
    return Setting(None, (_EFFORT, None if times is None else Effort(times * MOST_TRACED)))


def mean_all() -> None:
    """Note that what the function has written out is meant to be: its trace may take as much as it does."""
    if (effort := _EFFORT.get()) is not None:
        effort.most = 2**62


def weigh_trace(blocks: int = 0) -> None:
    """Let plain Python run the function, if it can, where its trace takes too much; *blocks* are begun now.

    Raises
    ------
    LeftToPython
    """
    effort, graph = _EFFORT.get(), current_graph()
    if effort is None or graph is None or not effort.note(graph.root, blocks) or not python_can_run():
        return
    what = (
        f"its graph would have more than {effort.most:,} operations, a branch or loop on tensors counted as "
        f"{_OF_BLOCK}, with all of functions that call themselves and of loops and comprehensions that are written out"
    )
    raise LeftToPython(what, users_line(capture()), is_shown=True, is_costly=True, instead=SMALLER)
