"""Staged blocks, which run under a condition or more than once, and what they raise: as the run comes to it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from itertools import islice
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.analysis.failure import can_fail
from autoloop_runtime.analysis.inside import nodes_inside
from autoloop_runtime.base import nest
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.base.locations import raised_at
from autoloop_runtime.ir.graph import Graph, current_graph
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import Tracer

from ...errors import EndlessRecursionError, NeverReturnsError, is_programs_own, is_refusal, passes_handlers
from ...left_to_python import leave_unknown
from .raising import Raising
from .standins import Face, StandIn, opened
from .users_methods import says_itself

_OF_THE_RUN = (NameError, LookupError, ZeroDivisionError)
_OF_VALUES = (TypeError, ValueError, AttributeError, ArithmeticError)
# How many staged loops and branches are being traced around the present point, per thread and task.
_DEPTH: ContextVar[int] = ContextVar("autoloop_staged_depth", default=0)
_MAXIMUM_DEPTH = 64
# Blocks inside as many others are those of a recursion, and each of its calls may begin several: so many are traced.
_DEEP = 12
_MOST_DEEP = 2_000


class _DeepBlocks:
    """How many deep blocks have been traced, kept with the graph around all of them; its thread traces alone."""

    __slots__ = ("count",)

    def __init__(self, count: int = 0) -> None:
        self.count = count

    def copy(self) -> _DeepBlocks:
        return _DeepBlocks(self.count)


class StagedRaise(BaseException):
    """Carries the user's exception from a ``raise`` statement to the staged branch it stands in.

    Not an ``Exception``, so that the user's own handlers, which would only see the trace, let it pass.
    """

    def __init__(self, error: Any) -> None:
        self.error = error


def staged_block() -> Setting[None]:
    """Mark that what is traced inside runs under a condition.

    Raises
    ------
    RecursionError
        If staged blocks are nested too deep, or too many are nested deep: a recursion that only a tensor would stop.
    """

    depth = _DEPTH.get()
    if depth >= _MAXIMUM_DEPTH or (depth >= _DEEP and _are_too_many()):
        what = "a function calls itself under a tensor condition"
        leave_unknown(what)
        raise EndlessRecursionError(
            f"{what}; tracing follows both branches and never ends: write the recursion as a loop, or let a Python "
            f"value stop it"
        )
    return Setting(None, (_DEPTH, depth + 1))


def _are_too_many() -> bool:
    """Return whether one deep block more would be one too many."""
    graph = current_graph()
    if graph is None:
        return False
    blocks = graph.root.record(_DeepBlocks)
    blocks.count += 1
    return blocks.count > _MOST_DEEP


def in_staged_block() -> bool:
    """Return whether what is traced now runs under a condition, or more than once."""
    return _DEPTH.get() > 0


def raise_at_run_time(error: BaseException) -> None:
    """Add the operation that raises what a staged block raised while it was traced."""
    if isinstance(error, NeverReturnsError):
        return  # the operations that raise are there
    if isinstance(error, StagedRaise):
        user_error = error.error
        factory, values = _factory(user_error)
        if error.__suppress_context__:
            factory = _with_cause(factory, error.__cause__)
    elif is_run_time_error(error):
        user_error = error
        factory, values = _factory(error)
    else:
        raise error
    kind = user_error if isinstance(user_error, type) else type(user_error)
    ops.raise_error(Raising(kind, factory), *values, location=raised_at(error.__traceback__))


def raise_when_run(error: BaseException) -> bool:
    """Leave it to the run to raise an exception that holds what only the run knows; return whether the run raises."""
    if isinstance(error, NeverReturnsError):
        return True
    graph = current_graph()
    leaves = nest.flatten(error.args)
    symbolic = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.node is not None]
    if any(tensor.node.graph is not graph for tensor in symbolic if tensor.node is not None):
        return False
    if not symbolic and not any(isinstance(leaf, StandIn) for leaf in leaves) and not _comes_behind(error, graph):
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


def _with_cause(make: Callable[..., BaseException], cause: BaseException | None) -> Callable[..., BaseException]:
    """Return what makes an exception that is raised ``from cause``."""

    def made(*values: Any) -> BaseException:
        error = make(*values)
        error.__cause__ = cause  # sets `__suppress_context__`, too
        return error

    return made


def is_run_time_error(error: BaseException) -> bool:
    """Return whether an exception that left a staged block belongs to the run and not to the trace.

    What Python raises for a missing name, item or divisor, or for values that an operator or function does not take, it
    raises only if the block is reached. Any other exception is no business of handlers around the block: they would run
    whether it is reached or not.
    """
    belongs = isinstance(error, (StagedRaise, NeverReturnsError, *_OF_THE_RUN)) or (
        isinstance(error, _OF_VALUES) and is_programs_own(error) and not speaks_of_tracers(error)
    )
    belongs = belongs and not is_refusal(error)
    if not belongs and isinstance(error, Exception):
        passes_handlers(error)
    return belongs or isinstance(error, NeverReturnsError)


def speaks_of_tracers(error: BaseException) -> bool:
    """Return whether a message names a type of ours: what that lacks the value that it stands for may have."""
    if isinstance(error, AttributeError) and isinstance(error.obj, Tracer | StandIn):
        return True
    kinds, text = [Tracer, StandIn], str(error)
    for kind in kinds:
        kinds += kind.__subclasses__()
    return any(f"{kind.__name__!r}" in text for kind in kinds if not issubclass(kind, Face))


def _factory(error: Any) -> tuple[Callable[..., BaseException], list[Any]]:
    """Return a function that makes the user's exception of the values of the tensors in its arguments."""
    if isinstance(error, type):
        return (lambda: error()), []
    if not isinstance(error, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    leaves, structure = nest.flatten_with_structure(tuple(error.args))
    for leaf in leaves:
        refuse_untold_text(leaf)
    parts = [_parts(leaf) for leaf in leaves]
    tensors = [tensor for mine, _ in parts for tensor in mine]
    if not tensors:
        refuse_untold_text(error)
        return (lambda: error), []

    def make(*values: Any) -> BaseException:
        remaining = iter(values)
        filled = [rebuilt(*islice(remaining, len(mine))) for mine, rebuilt in parts]
        return type(error)(*nest.unflatten(structure, filled))

    return make, tensors


def refuse_untold_text(value: Any) -> None:
    """Refuse an object whose text the caller may ask for, if only the run knows that."""
    if says_itself(value):
        str(value), repr(value)  # whoever is asked for a text in there refuses


def _parts(leaf: Any) -> tuple[list[Any], Callable[..., Any]]:
    """Return the tensors that a part of an exception is made of, and what makes it of their values."""
    if isinstance(leaf, StandIn):
        parts: tuple[list[Any], Callable[..., Any]] = opened(leaf).parts()
        return parts
    if not isinstance(leaf, Tensor):
        return [], lambda: leaf
    if number_type(leaf) is not None:
        return [leaf], lambda value: np.asarray(value).item()
    return [leaf], lambda value: str(value) if getattr(value, "dtype", None) and value.dtype.kind == "U" else value
