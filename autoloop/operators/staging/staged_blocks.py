"""Staged blocks, which run under a condition or more than once, and what they raise: as the run comes to it."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

from autoloop_runtime import ops
from autoloop_runtime.analysis.failure import can_fail
from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.base.locations import capture, raised_at, users_line
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import Tracer

from ...errors import (
    EndlessRecursionError,
    NeverReturnsError,
    is_of_bounds,
    is_programs_own,
    is_refusal,
    passes_handlers,
    programs_own,
)
from ...left_to_python import SMALLER, LeftToPython, leave_unknown, python_can_run, weigh_trace
from .raising import Raising, caused, raised_kind, remade, unknown_parts
from .standins import Face, StandIn

_OF_THE_RUN = (NameError, LookupError, ZeroDivisionError, StopIteration, SystemExit)
_OF_VALUES = (TypeError, ValueError, AttributeError, ArithmeticError)
# How many staged loops and branches are being traced around the present point, per thread and task.
_DEPTH: ContextVar[int] = ContextVar("autoloop_staged_depth", default=0)
#: the graph of the body of the loop that is traced, what that finds when it begins, and the same of the loop around
LOOP: ContextVar[tuple[Graph, Any, Any] | None] = ContextVar("autoloop_staged_loop", default=None)
#: how the trace that is made decides on loops over Python's numbers
_LOOPS: ContextVar[Loops | None] = ContextVar("autoloop_loops", default=None)
_MAXIMUM_DEPTH = 64
# Blocks inside as many others are those of a recursion, and each of its calls may begin several: so many are traced.
_DEEP = 12
_MOST_DEEP = 2_000
#: so many blocks are traced, at any depth, where plain Python can run the function: each takes milliseconds
_MOST_BLOCKS = 2_000


#: what a function finds elsewhere may stop it, too: so many operations are traced in calls that are alike
_MOST_ALIKE = 150


class _Call(NamedTuple):
    """A call under a condition: of what, with what, how many operations there were before, and the call around."""

    function: Any
    given: tuple[Any, ...]
    begin: int
    around: _Call | None


_CALL: ContextVar[_Call | None] = ContextVar("autoloop_call_under_a_condition", default=None)


class _DeepBlocks:
    """How many deep blocks have been traced, kept with the graph around all of them; its thread traces alone."""

    __slots__ = ("count",)

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def copy(self) -> _DeepBlocks:
        return _DeepBlocks(self.count)


class _Blocks(_DeepBlocks):
    """The same of all blocks, those that are traced again and again included."""

    __slots__ = ()

    def copy(self) -> _Blocks:
        return _Blocks(self.count)


class TestChanges(Exception):
    """The condition of a loop of the graph changes something."""


class WrittenOut(BaseException):
    """A loop that was tried as one of the graph has left something behind: the trace is begun anew without trying."""


class TellArrays(BaseException):
    """Which array a loop or branch has left matters: the trace is begun anew as one in which each run tells."""


class ToldArrays:
    """What tells the arrays of a trace apart, if runs do: an ``Origins``; a record of a root graph."""

    def __init__(self, origins: Any = None) -> None:
        self.origins = origins

    def copy(self) -> ToldArrays:
        """Return the same, which later changes of this one do not reach."""
        return ToldArrays(self.origins and self.origins.copy())


def telling() -> Any:
    """Return what tells the arrays of the trace apart, an ``Origins``; None if runs do not."""
    graph = current_graph()
    found = None if graph is None else graph.root.records.get(ToldArrays)
    return None if found is None else found.origins


class Loops:
    """How one trace decides on loops that could be written out as well as be loops of the graph.

    Attributes
    ----------
    are_spared : bool
        Whether loops of the graph are only made of those that would be very long; what such a loop leaves may be known
        to fewer than what is written out leaves, and a trace that was refused something is made again without.
    are_written_out : bool
        Whether there are none.
    are_told : bool or None
        Whether runs tell which arrays loops and branches leave; None if the trace cannot be made again for that.
    are_wanted : bool
        Whether a graph is wanted however large it is: by the executor, or for a derivative.
    were_staged : bool
        Whether there was one.
    tried : int
        How many are being tried around the present point.
    """

    __slots__ = ("are_spared", "are_told", "are_wanted", "are_written_out", "tried", "were_staged")

    def __init__(
        self, are_spared: bool = False, are_written_out: bool = False, are_told: bool | None = False,
        are_wanted: bool = True,
    ) -> None:  # fmt: skip
        self.are_spared, self.are_written_out, self.are_told = are_spared, are_written_out, are_told
        self.are_wanted, self.were_staged, self.tried = are_wanted, False, 0

    def in_force(self) -> Setting[None]:
        """Return a context manager in which the trace is made."""
        return Setting(None, (_LOOPS, self))


def deciding() -> Loops:
    """Return how the trace that is made decides on loops; one that nobody makes again spares them."""
    return _LOOPS.get() or Loops(are_spared=True, are_told=None)


class StagedRaise(BaseException):
    """Carries the user's exception from a ``raise`` statement to the staged branch it stands in.

    Not an ``Exception``, so that the user's own handlers, which would only see the trace, let it pass.
    """

    def __init__(self, error: Any) -> None:
        self.error = error

    def thrown(self) -> BaseException:
        """Return the user's exception, to be raised in place of this one: something in the same block looks at it."""
        one: BaseException = self.error() if isinstance(self.error, type) else self.error
        if self.__suppress_context__:
            one.__cause__ = self.__cause__
        return one.with_traceback(self.__traceback__)


def staged_block() -> Setting[None]:
    """Mark that what is traced inside runs under a condition.

    Raises
    ------
    RecursionError
        If staged blocks are nested too deep, or too many are nested deep: a recursion that only a tensor would stop.
    """

    depth = _DEPTH.get()
    _leave_if_too_many()
    if depth >= _MAXIMUM_DEPTH or (depth >= _DEEP and (_are_too_many() or _fill_the_stack())):
        raise endless_recursion()
    return Setting(None, (_DEPTH, depth + 1))


def endless_recursion(is_shown: bool = False) -> EndlessRecursionError:
    """Return what is to be raised of a recursion that only a run stops; let plain Python run the function if it can.

    *Is it shown*, or is the recursion deep only: another trace, which knows more, may find its end then.

    Raises
    ------
    LeftToPython
    """
    what = "a function calls itself under a tensor condition"
    if not (is_shown or _calls_again()):
        what = f"{what}, or such conditions are nested too deep"
    instead = "write the recursion as a loop, or let a Python value stop it"
    leave_unknown(what, is_shown=is_shown, instead=instead)
    return EndlessRecursionError(f"{what}; tracing follows both branches and never ends: {instead} [AL025]")


def _calls_again() -> bool:
    """Return whether a function that is called under a condition was called again by what it calls."""
    call, seen = _CALL.get(), set()
    while call is not None and id(call.function) not in seen:
        seen.add(id(call.function))
        call = call.around
    return call is not None


def called(function: Any, run: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Return what ``run`` gives, which is called in place of a user's *function*.

    Raises
    ------
    RecursionError, LeftToPython
        If nothing that is known while tracing stops the function from calling itself.
    """
    graph = current_graph()
    weigh_trace()
    if graph is None or not in_staged_block():
        return _run(run, args, kwargs)
    given: tuple[Any, ...] = (args, [*kwargs], [*kwargs.values()])
    if isinstance(function, types.MethodType):
        function, given = function.__func__, (function.__self__, *given)
    here = _Call(function, given, graph.root.count_of_names(), _CALL.get())
    around = here.around
    while around is not None:
        if around.function is function and here.begin - around.begin > _MOST_ALIKE and _is_alike(around.given, given):
            raise endless_recursion(is_shown=True)
        around = around.around
    with Setting(None, (_CALL, here)):
        return _run(run, args, kwargs)


def _run(run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call what stands for a user's function; that it has no such parameters plain Python says, too."""
    try:
        return run(*args, **kwargs)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            programs_own(error)
        raise


def _is_alike(one: Any, other: Any) -> bool:
    """Return whether a trace knows the same of two values."""
    if isinstance(one, Tensor):
        return (
            type(one) is type(other) and one.dtype == other.dtype and one.shape.rank == other.shape.rank is not None
            and one.shape.known == other.shape.known
        )  # fmt: skip
    if type(one) in (tuple, list):
        return type(one) is type(other) and len(one) == len(other) and all(map(_is_alike, one, other))
    if type(one) in (bool, int, float, str):
        return type(one) is type(other) and one == other
    return one is other


def _leave_if_too_many() -> None:
    """Let plain Python run the function, if it can, where one block more would be one too many."""
    graph = current_graph()
    if graph is None:
        return
    weigh_trace(blocks=1)
    blocks = graph.root.record(_Blocks)
    blocks.count += 1
    if blocks.count > _MOST_BLOCKS and python_can_run():
        raise LeftToPython(
            f"it has more than {_MOST_BLOCKS:,} loops and branches on tensors, with those of functions that call "
            f"themselves and of loops that are written out",
            users_line(capture()), is_shown=True, instead=SMALLER,
        )  # fmt: skip


def _are_too_many() -> bool:
    """Return whether one deep block more would be one too many."""
    graph = current_graph()
    if graph is None:
        return False
    blocks = graph.root.record(_DeepBlocks)
    blocks.count += 1
    return blocks.count > _MOST_DEEP


def _fill_the_stack() -> bool:
    """Return whether so many calls are under way that Python will soon allow no more: tracing takes several for each
    of the user's, and ends in words of its own while there is room for that."""
    try:
        sys._getframe(sys.getrecursionlimit() * 2 // 3)
    except ValueError:
        return False
    return True


def looping(graph: Graph, found: Any) -> Setting[None]:
    """Mark that the body of a loop is traced, which finds something when it begins."""
    return Setting(None, (LOOP, (graph, found, LOOP.get())))


def in_staged_block() -> bool:
    """Return whether what is traced now runs under a condition, or more than once."""
    return _DEPTH.get() > 0


def raise_at_run_time(error: BaseException) -> None:
    """Add the operation that raises what a staged block raised while it was traced."""
    if isinstance(error, NeverReturnsError):
        return  # the operations that raise are there
    if isinstance(error, StagedRaise):
        user_error = error.error
        made = remade(user_error)
        if error.__suppress_context__:
            made = caused(made, error.__cause__)
    elif is_run_time_error(error):
        if is_of_bounds(error):  # plain Python's ints have none
            leave_unknown(str(error).partition(";")[0])
        user_error = error
        made = remade(error)
    else:
        raise error
    ops.raise_error(Raising(raised_kind(user_error), made.make), *made.tensors, location=raised_at(error.__traceback__))


def raise_when_run(error: BaseException) -> bool:
    """Leave it to the run to raise an exception that holds what only the run knows; return whether the run raises."""
    if isinstance(error, NeverReturnsError):
        return True
    graph = current_graph()
    unknown = unknown_parts(error)
    if any(one.node is not None and one.node.graph is not graph for one in unknown if isinstance(one, Tensor)):
        return False
    if not unknown and not _comes_behind(error, graph):
        return False
    staged = StagedRaise(error)
    staged.__cause__, staged.__suppress_context__ = error.__cause__, error.__suppress_context__
    raise_at_run_time(staged.with_traceback(error.__traceback__))
    return True


def _comes_behind(error: BaseException, graph: Graph | None) -> bool:
    """Return whether a name has no value where the run has done, or raised, something before.

    A branch that raises gives no value to the names that it sets: where the other does not set them, they have none.
    """
    if not isinstance(error, UnboundLocalError) or graph is None or not graph.ordered:
        return False
    return any(node.op.effect or can_fail(node) for node in nodes_inside(graph))


def is_run_time_error(error: BaseException) -> bool:
    """Return whether an exception that left a staged block belongs to the run and not to the trace.

    What Python raises for a missing name, item or divisor, at the end of a program, or for values that an operator or
    function does not take, it raises only if the block is reached, and what a line of the user's raises, too. Any other
    exception is no business of handlers around the block: they would run whether it is reached or not.
    """
    belongs = isinstance(error, (StagedRaise, NeverReturnsError, *_OF_THE_RUN)) or (
        isinstance(error, _OF_VALUES) and is_programs_own(error) and not speaks_of_tracers(error)
    )
    is_users = isinstance(error, Exception) and not isinstance(error, (*_OF_VALUES, RecursionError, MemoryError))
    belongs = belongs or (is_users and is_programs_own(error))
    belongs = belongs and not is_refusal(error) and not _is_of_a_tracer(error)
    if not belongs and isinstance(error, Exception):
        passes_handlers(error)
    return belongs or isinstance(error, NeverReturnsError)


def _is_of_a_tracer(error: BaseException) -> bool:
    """Return whether NumPy has been given what has no value yet: it says something else, and the cause says that.

    A cause that no function of Python has raised is NumPy's own, or what the program names in ``raise … from``.
    """
    cause = error.__cause__
    return cause is not None and (is_refusal(cause) or (cause.__traceback__ is not None and not is_programs_own(cause)))


def speaks_of_tracers(error: BaseException) -> bool:
    """Return whether a message names a type of ours: what that lacks the value that it stands for may have."""
    if isinstance(error, AttributeError) and isinstance(error.obj, Tracer | StandIn):
        return True
    kinds, text = [Tracer, StandIn], str(error)
    for kind in kinds:
        kinds += kind.__subclasses__()
    return any(f"{kind.__name__!r}" in text for kind in kinds if not issubclass(kind, Face))
