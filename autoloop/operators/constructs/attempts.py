"""``try`` and ``with`` around what may fail only when the graph runs, where no handler is left to see it.

A handler that would have caught it, a ``finally`` that would have been run, a manager that would have been told: each
would silently be passed by. So the nodes that a ``try`` has made are looked at when it ends.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import types
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np
from autoloop_runtime.analysis.failure import can_fail
from autoloop_runtime.analysis.inside import Made
from autoloop_runtime.base.callbacks import module_of
from autoloop_runtime.base.locations import is_library_file
from autoloop_runtime.ir.array_storage import Block
from autoloop_runtime.ir.graph import Node, current_graph
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ops.gathering import SCATTER
from autoloop_runtime.ops.python_functions import DRAW, KNOWN_CALL, PY_FUNCTION

from ...conversion.callables import is_users_class
from ...errors import ConversionError, NeverReturnsError, is_refusal
from ...left_to_python import LeftToPython, is_followed, leave_unknown
from ..mutation.outside_world import leave
from ..staging.raising import Raising, catches, flat_kinds
from ..staging.staged_blocks import StagedRaise
from ..staging.users_methods import method_of
from .stateful_calls import entered

_NUMBERS = "biufc"
#: steps of code that ask what an exception is, and that give what is known
_CATCHING = ("CHECK_EXC_MATCH", "CHECK_EG_MATCH")
_CONSTANTS = ("LOAD_CONST", "RETURN_CONST")
#: of each kind of dtype, values of which functions of Python's may make no text, or another than of 1
_EXAMPLES: dict[str, tuple[Any, ...]] = {
    "b": (True, False), "i": (1, -1, 2**62, 0), "u": (1, 255, 0), "f": (1.0, -np.inf, np.nan, 0.0),
    "c": (1.0, -np.inf, np.nan, 0.0), "U": ("1", "", "a b"),
}  # fmt: skip
_MOST_EXAMPLES = 4
_ELSEWHERE = "catch it around the call, and do that there"


class attempt:
    """The body of a ``try``; a class, to leave no frames in tracebacks.

    Parameters
    ----------
    caught : callable, optional
        Gives what the ``except`` clauses catch.

    Raises
    ------
    ConversionError
        At the end, if a clause would catch what only the run raises.
    """

    def __init__(self, caught: Callable[[], tuple[Any, ...]] | None = None) -> None:
        self._caught = caught
        self.said: Node | None = None  # a ``raise`` or an ``assert``
        self.failing: Node | None = None  # that, or whatever else may raise in the run

    def __enter__(self) -> None:
        self._made = Made()

    def __exit__(self, kind: Any, error: BaseException | None, traceback: TracebackType | None) -> None:
        if error is not None and not isinstance(error, NeverReturnsError) and is_refusal(error):
            return
        if isinstance(error, StagedRaise) and catches(self._caught, error.error):
            raise error.thrown()  # in the same block, be it by a helper: as in Python, then
        nodes = list(self._made.nodes())
        self.said = next((node for node in nodes if node.op.ends_run), None)
        self.failing = self.said or next((node for node in nodes if _raised_by(node)), None)
        kinds = flat_kinds(self._caught()) if self._caught is not None and nodes else []
        raising = ((node, one) for node in (nodes if kinds else ()) for one in _raised_by(node))
        met = [(node, one) for node, one in raising if any(_meet(one, kind) for kind in kinds)]
        if not met:
            return
        # a ``raise`` or an ``assert`` is refused, whatever else may raise beside it
        node, raised = next((one for one in met if one[0].op.ends_run), met[0])
        what = f"{_what(node, raised)}, and cannot be caught by an `except` in the converted function"
        leave_unknown(what)
        raise ConversionError(f"{what}: catch it around the call, or ask before by `if` [AL004]")

    def last(self) -> _Last:
        """Return the manager for what is done after the body, whatever became of that: a ``finally``, ``__exit__``."""
        return _Last(self.failing)


class _Last:
    """What is done last, after a body: what that adds to a graph is not run where the body has raised in the run."""

    def __init__(self, said: Node | None) -> None:
        self._said = said

    def __enter__(self) -> None:
        self._made, graph = Made(), current_graph()
        self._block = None if self._said is None or graph is None else Block(graph, every=True)
        if self._block is not None:
            self._block.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._block is not None:
            self._block.__exit__()
        if self._said is None or (error is not None and not isinstance(error, NeverReturnsError)):
            return
        raised = f"{_what(self._said)}, and what comes last, `finally` or `__exit__`,"
        if self._block is not None and any(one.is_of_the_caller for one in self._block.written):
            _leave(f"{raised} writes to an array of the caller's", f"it would not be written then; {_ELSEWHERE}")
        if any(node.op.effect for node in self._made.nodes()):
            _leave(f"{raised} does what others see", f"it would not be done then; {_ELSEWHERE}")


class managed:
    """The manager of a ``with`` statement, told of what only the run raises by a refusal.

    Parameters
    ----------
    manager : object
        The user's.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def __enter__(self) -> Any:
        manager, kind = self._manager, type(self._manager)
        if not hasattr(kind, "__enter__") or not hasattr(kind, "__exit__"):
            with manager:  # raises what Python raises
                raise AssertionError("unreachable")
        value = (method_of(entered(manager), "__enter__") or functools.partial(kind.__enter__, manager))()
        self._body = attempt(lambda: getattr(manager, "_exceptions", ()) if _suppresses(manager) else ())
        self._body.__enter__()
        return value

    def __exit__(self, kind: Any, error: BaseException | None, traceback: TracebackType | None) -> Any:
        manager = self._manager
        if isinstance(error, StagedRaise):  # raised in the same block: as in Python, it may end here
            error = error.thrown()
            kind, traceback = type(error), error.__traceback__
        if error is not None and not isinstance(error, NeverReturnsError) and is_refusal(error):
            type(manager).__exit__(manager, kind, error, traceback)
            return False  # whatever it does with exceptions: plain Python would not raise this one
        try:
            self._body.__exit__(kind, error, traceback)
            self._tell(manager)
        except (ConversionError, LeftToPython, TypeError) as refusal:
            type(manager).__exit__(manager, type(refusal), refusal, refusal.__traceback__)
            raise
        with self._body.last():
            method = method_of(manager, "__exit__") or functools.partial(type(manager).__exit__, manager)
            return method(kind, error, traceback)

    def _tell(self, manager: Any) -> None:
        """Refuse what the manager would not be told of, or let plain Python tell it."""
        said, failing = self._body.said, self._body.failing
        if said is not None and _is_users(manager):
            what = f"{_what(said)}, of which {type(manager).__name__!r} would not be told when the "
            leave_unknown(f"{what}`with` statement is left")
            raise ConversionError(
                f"{what}`with` statement is left: catch it around the call, or raise it behind the statement [AL004]"
            )
        if failing is not None and is_followed() and _looks_at_exceptions(manager):
            _leave(
                f"{_what(failing)}, at which {type(manager).__name__!r} looks when the `with` statement is left",
                "it would not be told of it; catch it around the call, or ask before by `if`",
            )


def _leave(what: str, otherwise: str) -> None:
    """Let plain Python run the function, which knows what is raised; refuse it where it cannot."""
    leave_unknown(what)
    leave(what, otherwise)


def _suppresses(manager: Any) -> bool:
    return isinstance(manager, contextlib.suppress)


def _is_users(manager: Any) -> bool:
    """Return whether a manager does what the user has written, or called back, when it is left."""
    if isinstance(manager, contextlib.ExitStack):
        return True
    generator = getattr(manager, "gen", None)  # of a function marked by ``contextlib.contextmanager``
    if isinstance(generator, types.GeneratorType):
        return not is_library_file(generator.gi_code.co_filename)
    return is_users_class(type(manager))


def _looks_at_exceptions(manager: Any) -> bool:
    """Return whether what the user has written for the end of a ``with`` statement asks what was raised in it."""
    generator, leaving = getattr(manager, "gen", None), getattr(type(manager), "__exit__", None)
    if isinstance(generator, types.GeneratorType):
        code = generator.gi_code
        return not is_library_file(code.co_filename) and any(one.opname in _CATCHING for one in dis.Bytecode(code))
    if not isinstance(leaving, types.FunctionType) or is_library_file(leaving.__code__.co_filename):
        return False
    code, last = leaving.__code__, None
    given = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)]
    for step in dis.Bytecode(code):
        if step.opname.startswith("LOAD_") and step.argval in given:
            return True
        said = last if step.opname == "RETURN_VALUE" else step if step.opname == "RETURN_CONST" else None
        if said is not None and (said.opname not in _CONSTANTS or said.argval):
            return True  # which swallows it, perhaps
        last = step
    return False


def _raised_by(node: Node) -> tuple[type, ...]:
    """Return what a node may raise in the run, of what a program would expect."""
    op, raises = node.op, node.op.traits.raises
    every = raises if isinstance(raises, tuple) else (raises,)
    if op.ends_run:
        factory = node.attrs.get("factory")
        return (factory.kind,) if isinstance(factory, Raising) else every
    if op in (PY_FUNCTION, DRAW):
        return every
    if op is KNOWN_CALL:
        return (Warning,) if node.attrs["call"].__name__ == "warn" else ()
    if op.effect or op.stateful or node.subgraphs:
        return ()
    if raises is IndexError:
        return every if _may_be_outside(node) else ()
    kinds = {t.dtype.kind for t in (*node.inputs, *node.outputs)}
    if "U" in kinds:
        return (Exception,) if _may_have_no_text(node) else ()
    return every if kinds.issubset(_NUMBERS) and can_fail(node) else ()


def _may_have_no_text(node: Node) -> bool:
    """Return whether what Python does with texts, or to make one, fails for some values: ``'%d' % nan``, ``'ab'[2]``.

    It is tried with values at which it may fail: most never do.
    """
    function = node.attrs.get("function")
    if isinstance(function, type):
        return function in (int, float, complex)
    if module_of(function) == "numpy":  # it may call what the user has written
        return False
    kinds = [_EXAMPLES.get(one.dtype.kind) for one in node.inputs]
    for k in range(_MOST_EXAMPLES if all(kinds) else 0):
        values = [_example(one, values[k % len(values)]) for one, values in zip(node.inputs, kinds) if values]
        try:
            node.op.kernel(*values, **node.attrs)
        except Exception:
            return True
    return False


def _example(one: Tensor, value: Any) -> Any:
    """Return a value like those of ``one``, or a few."""
    extents = [] if one.shape.rank is None else [min(extent or 1, 2) for extent in one.shape.known]
    made = np.broadcast_to(value, extents)[()]
    return made if one.dtype.kind == "U" else made.astype(one.dtype)


def _may_be_outside(node: Node) -> bool:
    """Return whether an index may be out of bounds:
    constant ones of known shapes were looked at when the node was made."""
    array, *given = node.inputs
    given += [array] if node.op is SCATTER else []  # here there is no array yet, the indices come first
    if array.dtype.kind not in _NUMBERS or not array.shape.is_fully_defined():
        return True
    return any(one.dtype.kind in "iu" and one.constant_value() is None for one in given)


def _meet(raised: type, caught: type) -> bool:
    return issubclass(raised, caught) or issubclass(caught, raised)


def _what(node: Node, raised: type | None = None) -> str:
    raised = raised or next(iter(_raised_by(node)), None)
    name = "an exception" if raised is None or raised is Exception else raised.__name__
    place = f" (line {node.location[-1].lineno})" if node.location else ""
    return f"{name} may be raised{place} at run time, when the graph decides"
