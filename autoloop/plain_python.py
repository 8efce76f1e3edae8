"""Functions that do what no graph can do again: they run as plain Python, at each call, and one warning says why.

That is found while they are traced, before it is done. The trace is given up then and the world is put back, so that
what the plain function does it does once.
"""

from __future__ import annotations

import functools
import time
import types
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NoReturn, TypeVar

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import listener, module_of
from autoloop_runtime.base.dataclass import Protocol
from autoloop_runtime.base.dtypes import is_own, own_dtype, strange_dtype
from autoloop_runtime.base.error_codes import coded
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.base.locations import Line
from autoloop_runtime.base.stand_ins import ShownByRun
from autoloop_runtime.ir.array_kinds import LATER, is_labelled, strangeness
from autoloop_runtime.ir.recorders import recorders

from .bound_function import BoundFunction
from .concrete import CalledPlain, ConcreteFunction
from .errors import user_stacklevel, users_call
from .given_arrays import may_be_foreign, taken
from .left_to_python import LeftToPython, NoGradientError, with_effort
from .parameters import Named, Parameters
from .sent_by_name import SentByName

T = TypeVar("T")
#: so many times as much a trace may take where plain Python takes longer than it has
_MORE = 16
#: for so many kinds of calls plain Python is found to run them, before it is taken for all with such arguments, or all
_MOST_LEFT, _MOST_LEFT_OF_ALL = 2, 4
#: so many values are looked at, of what a call gives
_MOST_LOOKED_AT = 64
_OURS = ("autoloop", "autoloop_runtime")
#: what holds nothing
_BARE = frozenset({bool, int, float, complex, str, bytes, type(None), np.ndarray, np.float64, np.int64, np.bool_})


class Waits(CalledPlain):
    """A call runs as plain Python: its kind has not come often enough to be traced."""


class PlainPython(ConcreteFunction):
    """What stands for the trace of a function that runs as plain Python.

    Attributes
    ----------
    reason : str
        What it does that no graph can.
    line : Line or None
        Where.
    instead : str
        What to do about it, as far as that is known.
    of_values : bool
        Whether it asks what only the run knows.
    told : set of str
        What the function has warned of, for any kind of arguments.
    is_recursive : bool
        Whether that is to call itself: with arrays of other shapes, and other numbers, it will do so, too.
    """

    places = ()
    weight = 8  # for it saves nothing

    def __init__(self, name: str, left: LeftToPython, told: set[str]) -> None:
        self.name, self.reason, self.line, self.told = name, left.reason, left.line, told
        self.instead, self.of_values = left.instead, left.of_values
        self.is_recursive = left.is_shown

    def run(
        self, values: list[Any], arrays: Sequence[np.ndarray[Any, Any]] = (), call: tuple[Any, ...] = ()
    ) -> NoReturn:
        """Let the undecorated function be called, and warn of that once."""
        self.warn()
        raise CalledPlain

    def warn(self) -> None:
        """Tell the user once that plain Python runs the function."""
        said = what_and_where(self)
        if said not in self.told:
            _warn(f"{self.name} runs as plain Python, at each call: {said}", said, self.told)

    def run_recorded(self, leaves: Sequence[Any]) -> NoReturn:
        """Let the undecorated function be called: whoever records sees what it does."""
        self.run([])

    def __repr__(self) -> str:
        return f"<PlainPython {self.name}: {self.reason}>"


def _warn(said: str, why: str, told: set[str]) -> None:
    """Warn, once for each reason, that plain Python runs a function, and tell ``logging`` so."""
    said = coded("AL010", said)
    warnings.warn(said, stacklevel=user_stacklevel())
    told.add(why)
    if (logs := listener()) is not None:
        logs.news("tracing", lambda: said, users_call())


class Told(set[str]):
    """Why plain Python is called in place of a function, of which that has warned.

    Attributes
    ----------
    recursive : dict
        What stands for the traces of calls that call the function again, or take much to trace, by what those have in
        common.
    patience : dict
        How many times as much as others the traces of calls may take, for which plain Python takes longer than that.
    """

    def __init__(self) -> None:
        super().__init__()
        self.recursive: dict[Hashable, PlainPython] = {}
        self.patience: dict[Hashable, int] = {}

    @contextmanager
    def weighed(self, kind: Hashable, made: PlainPython, seconds: float) -> Iterator[None]:
        """Look whether plain Python takes longer than a trace has that was given up: the next may take much more."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            if time.perf_counter() - begun > seconds:
                self.patience[kind] = _MORE * self.patience.get(kind, 1)
            else:
                self.recursive[kind] = made


class Spent:
    """What the traces of one function have taken, and what for.

    Attributes
    ----------
    weight, count : int
        What they weigh, see ``ConcreteFunction.weight``, and how many there are.
    served : int
        How many calls they have run, but for the quickest.
    seconds : float
        How long the latest have taken.
    is_alike : bool
        Whether plain Python does the same as each of them.
    is_over : bool
        Whether plain Python runs every call that it may run, without a look for a trace.
    left : set
        Else, what types the arguments of such calls have.
    """

    #: how long all attempts to trace have taken, of all functions
    total = 0.0
    __slots__ = ("_by_types", "count", "is_alike", "is_over", "left", "seconds", "served", "weight")

    def __init__(self) -> None:
        self.weight = self.count = self.served = 0
        self.seconds, self.is_alike = 0.0, True
        self.is_over = False
        self.left: set[Any] = set()
        #: types of arguments -> why plain Python runs calls with these, and of how many that was found
        self._by_types: dict[Any, Any] = {}

    def add(self, trace: Any, seconds: float) -> None:
        """Take in a trace."""
        self.weight += trace.weight
        self.count += 1
        self.seconds = (self.seconds + seconds) / 2
        if not (trace.is_alike or isinstance(trace, PlainPython)):
            self.is_alike = self.is_over = False
            self.left.clear()

    def note_types(self, trace: Any, receiver: tuple[Any, ...], call: tuple[Any, ...]) -> None:
        """Leave calls with arguments of these types to plain Python if that was found of several, for the same reason;
        all calls if it was of many, and for no other."""
        kinds, why = types_of(receiver, call), (trace.reason, trace.line) if isinstance(trace, PlainPython) else None
        for key, most in ((kinds, _MOST_LEFT), (None, _MOST_LEFT_OF_ALL)):
            known, count = self._by_types.get(key, (why, 0))
            self._by_types[key] = (why, count + 1) if why == known else (None, 0)
            if why is None or self._by_types[key] != (why, max(count + 1, most)) or not self.is_alike:
                continue
            self.left.add(kinds)
            self.is_over = self.is_over or key is None

    def leaves(self, receiver: tuple[Any, ...], call: tuple[Any, ...]) -> bool:
        """Return whether plain Python runs a call: unless something of this library is given or somebody records."""
        if not (self.is_over or types_of(receiver, call) in self.left) or recorders():
            return False
        return not has_ours((*receiver, *call))


def types_of(receiver: tuple[Any, ...], call: tuple[Any, ...]) -> Any:
    """Return the types of what a call in canonical form is given."""
    if call and type(call[-1]) is Named:
        return *map(type, receiver), *map(type, call), tuple(call[-1]), *map(type, call[-1].values())
    return *map(type, receiver), *map(type, call)


def has_ours(values: Iterable[Any]) -> bool:
    """Return whether there is something of this library among values, or in what they hold, as far as that is near."""
    todo = list(values)
    for count, one in enumerate(todo):  # grows as it is walked
        kind = type(one)
        if kind in _BARE or isinstance(one, SentByName | BoundFunction):
            continue
        if kind is not Named and is_ours(kind):
            return True
        if count > _MOST_LOOKED_AT:
            return False
        if isinstance(one, (list, tuple)):
            todo += one
        elif isinstance(one, dict):
            todo += one.values()
        elif type(held := getattr(one, "__dict__", None)) is dict and not isinstance(one, types.ModuleType):
            todo += held.values()
    return False


def is_ours(value: Any) -> bool:
    """Return whether something is a module, class or function of this library."""
    module = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in _OURS


def traced_or_plain(
    trace: Callable[[], T], function: NamedFunction, has_numbers: bool, size: tuple[Hashable, int], theirs: Any = None
) -> T | PlainPython:
    """Return a trace, or what stands for it, and all of its kind, if plain Python has to run the function.

    ``size`` is its kind and its magnitude: what takes much to trace does so at one size. Arrays of another library
    among its arguments are *theirs*.

    Raises
    ------
    TypeError
        If the executor, or a gradient, needs a graph, or a trace might do in which numbers of the call are no inputs.
        Where each call would need another graph there is none: of a gradient, what runs then is the derivative of the
        plain function.
    """
    begun, is_wanted = time.perf_counter(), function.needs_graph or function.executor == "native"
    try:
        with with_effort(None if is_wanted else function.told.patience.get(size, 1)):
            return trace()
    except LeftToPython as left:
        if left.of_values and has_numbers:
            raise TypeError(left.reason) from None
        name = function.name
        if function.keeps_checkpoints and not left.is_endless:
            raise TypeError(coded("AL711", f"{name} has no checkpoints: {what_and_where(left)}")) from None
        if function.needs_graph and not left.is_endless:
            raise NoGradientError(coded("AL405", f"{name} has no gradient: {what_and_where(left)}")) from None
        if function.executor == "native" and not left.is_endless:
            raise refused(coded("AL602", f"executor='native' cannot run {name}: {what_and_where(left)}")) from None
        if theirs is not None and function.executor == "dataflow":
            library = theirs.namespace.name
            said = f"executor='dataflow' cannot run {name} over arrays of {library}: {what_and_where(left)}"
            raise refused(coded("AL615", said)) from None
        made = PlainPython(name, left, function.told)
        _not_twice(made, function)
        if left.is_once:
            raise CalledPlain from no_graph(made)
        if left.is_costly:
            made.warn()
            weighed = functools.partial(function.told.weighed, size, made, time.perf_counter() - begun)
            raise CalledPlain(weighed) from no_graph(made)
        if made.is_recursive:
            function.told.recursive[size[0]] = made
        return made


def no_graph(made: PlainPython) -> TypeError:
    """Return what tells who needs a graph that there is none; ``plain`` is what stands in its place."""
    error = TypeError(coded("AL010", f"{made.name} has no graph: {what_and_where(made)}"))
    error.plain = made  # type: ignore[attr-defined]
    return error


def refused(said: str) -> TypeError:
    """Return what is raised where an executor is asked for that cannot run a function; ``told`` as of machine code."""
    error = TypeError(said)
    error.told = said  # type: ignore[attr-defined]
    return error


class NamedFunction(Protocol):
    """What is known of a function whose call is left to plain Python."""

    python_function: Callable[..., Any]
    name: str
    executor: str
    told: Told
    needs_graph: bool
    keeps_checkpoints: bool
    input_signature: tuple[Any, ...] | None
    _parameters: Parameters


def flattened_or_left(function: NamedFunction, call: tuple[Any, ...]) -> tuple[list[Any], Any]:
    """Return the leaves of a call and its structure; leave the call to plain Python where an argument holds itself.

    Raises
    ------
    CalledPlain
    HoldsItself
        If the executor, or a derivative, needs a graph.
    """
    try:
        return nest.flatten_with_structure(call, expand_composites=True)
    except nest.HoldsItself as endless:
        if function.executor == "native" or function.needs_graph or recorders():
            raise
        said = str(endless)
    if said not in function.told:
        _warn(f"{function.name} runs as plain Python: {said}", said, function.told)
    raise CalledPlain


def taken_or_left(function: NamedFunction, leaves: list[Any], call: tuple[Any, ...]) -> list[Any]:
    """Return the leaves of a call as a trace takes them, see :func:`taken`; leave the call to plain Python where an
    argument is an array of another byte order, as are its parts and copies, or has labels.

    Parameters
    ----------
    function : Function
        Who is called, and of which such arguments it has warned.
    leaves : list
    call : tuple
        The arguments, of which these are the leaves.

    Raises
    ------
    CalledPlain
    TypeError
        If the executor needs a graph, and of what is refused.
    """
    names = functools.partial(function._parameters.leaf_names, call)
    if not _BARE.issuperset(map(type, leaves)):
        leaves = _with_foreign(function, leaves, names)
        is_wanted = function.needs_graph or function.input_signature is not None or bool(recorders())
        for place, leaf in enumerate(() if is_wanted else leaves):
            if type(leaf) not in _BARE and is_labelled(leaf):
                _leave_given(function, names()[place], f"{strangeness(leaf)}")
    made = taken(function.name, leaves, names)
    if made is leaves or function.needs_graph or recorders():  # derivatives are taken of a copy
        return made
    for name, one in zip(names(), leaves):
        if isinstance(one, (np.ndarray, np.generic)) and not is_own(one.dtype):
            is_of, like = strange_dtype(one.dtype), own_dtype(one.dtype)
            _leave_given(
                function, name, f"of {is_of}, and so are its parts and copies; give a copy, {name}.astype({like})"
            )
    return made


def as_called(function: NamedFunction, call: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments of a call of which a trace is asked for, arrays of other libraries as that takes them."""
    leaves, structure = nest.flatten_with_structure(call, expand_composites=True)
    with suppress(CalledPlain):  # what stands for a trace says why there is none
        made = _with_foreign(function, leaves, functools.partial(function._parameters.leaf_names, call))
        return call if made is leaves else nest.unflatten(structure, made)
    return call


def _with_foreign(
    function: NamedFunction, leaves: list[Any], names: Callable[[], Sequence[str]]
) -> list[Any]:  # fmt: skip
    """Return the leaves of a call with those that are arrays of other libraries as a trace takes them."""
    if LATER and not recorders() and not LATER.isdisjoint(map(type, leaves)):
        are_held = [type(leaf) in LATER and may_be_foreign(type(leaf.held)) for leaf in leaves]
        if True in are_held and not function.needs_graph and function.executor != "dataflow":
            kind = f"a tensor that holds an array of {module_of(type(leaves[are_held.index(True)].held))}"
            _leave_given(function, names()[are_held.index(True)], f"{kind}, of which the function gives tensors")
        leaves = [leaf.held if is_held else leaf for leaf, is_held in zip(leaves, are_held)]
    if function.input_signature is not None or recorders() or not any(may_be_foreign(type(leaf)) for leaf in leaves):
        return leaves
    with undivided():  # which few programs need
        from .foreign_calls import as_foreign
    leave = functools.partial(_leave_given, function, is_foreign=True)
    return as_foreign(function.name, function.executor, leaves, names, leave)


def _leave_given(function: NamedFunction, name: str, kind: str, is_foreign: bool = False) -> NoReturn:
    """Leave a call to plain Python for one of its arguments, and tell once of which kind that is."""
    said = f"argument {name!r} is {kind}"
    if function.executor == "native":
        raise TypeError(coded("AL602", f"executor='native' cannot run {function.name}: {said}"))
    if is_foreign and (function.executor == "dataflow" or function.needs_graph):
        what = f"{function.name} has no gradient" if function.needs_graph else "executor='dataflow' cannot run it"
        raise TypeError(coded("AL615", f"{function.name}: {said}: {what}"))
    if name not in function.told:
        _warn(f"{function.name} runs as plain Python: {said}", name, function.told)
    raise CalledPlain


def _not_twice(made: PlainPython, function: NamedFunction) -> None:
    """Warn of no reason why a function runs as plain Python that has no source: one warning has said so."""
    with undivided():
        from .conversion.pipeline import is_sourceless

    if is_sourceless(function.python_function):
        made.told.add(what_and_where(made))


def unless_in_graph(plain: CalledPlain, needs_graph: bool, executor: str) -> AbstractContextManager[None]:
    """Raise why plain Python has to run a call where that is no way; return in what the function is called."""
    why = plain.__cause__
    if why is not None and (needs_graph or (executor == "native" and isinstance(why, ShownByRun))):
        raise why from None
    return plain.watched()


def with_graph(made: T) -> T:
    """Return a trace; ``TypeError`` if plain Python stands in its place."""
    if isinstance(made, PlainPython):
        raise no_graph(made)
    return made


def what_and_where(left: LeftToPython | PlainPython) -> str:
    """Return why a function runs as plain Python, for messages."""
    return f"{left.reason}{_place(left.line)}, which no graph can do again at each call"


def _place(line: Line | None) -> str:
    return "" if line is None else f" ({line.short})"
