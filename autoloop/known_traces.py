"""The traces of a decorated function, by the keys of calls; those of a method are shared by the instances of a class.

A trace is made for one instance, and fits another of which all guards hold: what it reads and writes is found from the
instance.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from autoloop_runtime.base.config import is_switched, switches, tell_switched
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.ir.op import call
from autoloop_runtime.ir.recorders import recorders

from .concrete import CalledPlain, ConcreteFunction
from .errors import let_through
from .keys import OBJECTS, Number, class_key, is_input, leaf_key
from .parameters import Parameters
from .plain_python import PlainPython, as_called, with_graph
from .state.stateful import TRACING, StatefulFunction, Variant, with_variant

if TYPE_CHECKING:
    from .call_form import CallForm
    from .lowering_ahead import Lowered
    from .state.known_refusals import KnownRefusals
    from .state.retrials import Request

#: what a call runs
Trace: TypeAlias = ConcreteFunction | StatefulFunction

#: takes the arguments of any call
Call: TypeAlias = Callable[[tuple[Any, ...], dict[str, Any]], Any]

#: after so many calls there is a fast path for their kind; the next takes twice as many
FIRST_WAIT = 16
#: the same where machine code is asked for: the first call has taken so long that others are to come
FIRST_OF_CODE = 3
#: so many ways to name arguments have fronts, see ``named_calls``
MOST_FRONTS = 4
#: of so many keys it is remembered that their calls raise
MOST_RAISING = 64
#: so many kinds of calls have fast paths, which are asked one after the other
MOST_PATHS = 4


def inputs_of(leaves: Sequence[Any]) -> list[Any]:
    """Return the leaves of a call that are inputs of its graph."""
    return [leaf for leaf in leaves if is_input(leaf)]


def first_wait(executor: str | None) -> int:
    """Return after how many calls there is a fast path."""
    return FIRST_OF_CODE if executor == "native" else FIRST_WAIT


class KnownTraces:
    """The traces of one function, or of the method of one instance.

    Parameters
    ----------
    name : str
    instance : callable or None
        Gives the instance of a method.
    of_class : KnownTraces, optional
        Those of the function that is the method.
    """

    def __init__(
        self, name: str, instance: Callable[[], Any] | None = None, of_class: KnownTraces | None = None
    ) -> None:  # fmt: skip
        self._name, self._instance = name, instance
        #: only added to under the function's lock; read without (a lookup in a dict is atomic, also without a GIL)
        self._made: dict[Any, Trace] = {}
        #: class of the instance, and keys with the classes of objects in their place -> the traces that all of these
        #: may use; guarded by ``TRACING``
        self._shared: dict[Any, StatefulFunction] = {} if of_class is None else of_class._shared
        #: the same -> what stands for traces where plain Python runs such calls
        self._left: dict[Any, PlainPython] = {} if of_class is None else of_class._left
        #: of these, those with the instance that is asked for; of no method they are the same
        self._of_classes: dict[Any, StatefulFunction] = {}
        #: the keys of calls of which the latest has raised what the function raises: while it was traced, or in Python
        self._raising: set[Any] = set()
        #: those that machine code is not made for; there once such is asked for
        self._refused: KnownRefusals | None = None

    def unless_raising(self, key: Any, request: Request) -> AbstractContextManager[None]:
        """Let a call be traced, unless the one before, of the same key, was stopped by the function's own exception:
        the trace would be, too. Plain Python runs that one; where it is not stopped the next call is traced again.

        One that was refused is refused again.
        """
        if request.executor != "native":
            return self._unless_raising(key, request.raised)
        if self._refused is None:
            with undivided():
                from .state.known_refusals import KnownRefusals

            self._refused = KnownRefusals()
        self._refused.raise_known(key, request)
        return self._refused.noted(key, request, self._unless_raising(key, request.raised))

    @contextmanager
    def _unless_raising(self, key: Any, raised: Collection[int]) -> Iterator[None]:
        """Do so, of a call that machine code may be made for. ``raised``: by id, the exceptions of the trace that are
        the function's own."""
        if key in self._raising and not recorders():
            raise CalledPlain(lambda: self._watched(key))
        try:
            yield
        except Exception as error:
            if id(error.__cause__ if isinstance(error, CalledPlain) else error) in raised:
                if len(self._raising) >= MOST_RAISING:
                    self._raising.clear()
                self._raising.add(key)
            raise

    @contextmanager
    def asked_for(self) -> Iterator[None]:
        """Let a trace be made, also of a call that raises; what is raised is why there is none."""
        self._raising.clear()
        try:
            yield
        except CalledPlain as plain:
            raise plain.__cause__ or plain from None

    @contextmanager
    def _watched(self, key: Any) -> Iterator[None]:
        yield
        self._raising.discard(key)

    def found(self, key: Any, call: tuple[Any, ...], leaves: Sequence[Any]) -> Trace | None:
        """Return the trace of a key, if there is one for what the call finds in the world."""
        known = self._made.get(key)
        if known is not None and not isinstance(known, StatefulFunction):
            return known
        place, alike = self._places(key)
        left, pool = self._left.get(place), self._shared.get(alike)
        if left is not None or known is pool is None:
            return left
        with TRACING:
            values = inputs_of(leaves)
            both = (self._of_classes.get(alike), known)
            # not a loop, from whose turns Ctrl-C leaves the lock held since Python 3.12
            fitting = next((one for one in both if one is not None and one.fits(call, values)), None)
            if fitting is not None:
                return fitting
            if pool is None or self._instance is None:
                return None
            return self._of_another_instance(alike, pool, call, values)

    def is_quick(self, trace: Trace, leaves: Sequence[Any], given: Sequence[Any]) -> bool:
        """Return whether a trace takes leaves as they are given, and may be that of all calls with their ``quick_key``:
        with objects among them, only one that these share."""
        if not all(one is its or type(one) is type(its) is Number for one, its in zip(leaves, given)):
            return False
        has_objects = any(isinstance(leaf_key(one), OBJECTS) for one in leaves)
        return not has_objects or any(trace is one for one in (*self._of_classes.values(), *self._left.values()))

    def _places(self, key: Any) -> tuple[Any, Any]:
        """Return under which keys there is what stands for traces, and the traces, of other objects of the same classes
        and other instances."""
        kind = None if self._instance is None else type(self._instance())
        every = class_key(key) if self._left or self._shared else None
        if every is None:
            return (kind, key), (kind, key)
        return (kind, every), (kind, class_key(key, False) or key)

    def _of_another_instance(
        self, alike: Any, pool: StatefulFunction, call: tuple[Any, ...], values: Sequence[Any]
    ) -> Trace | None:  # fmt: skip
        assert self._instance is not None
        instance = self._instance()
        fitting = next((one for one in pool.variants if one.found(call, instance, values) is not None), None)
        return None if fitting is None else self._with_of_classes(alike, fitting)

    def variants(self, key: Any) -> tuple[Sequence[Variant], Sequence[Variant]]:
        """Return the traces of a key that depend on the world, and those of other instances."""
        known, pool = self._made.get(key), self._shared.get(self._places(key)[1])
        return tuple([one.variants if isinstance(one, StatefulFunction) else () for one in (known, pool)])  # type: ignore[return-value]

    def every(self) -> list[ConcreteFunction]:
        """Return the traces that there are."""
        made = [*self._made.values(), *self._of_classes.values()]
        several = [reversed(one.variants) if isinstance(one, StatefulFunction) else [one] for one in made]
        return [one.concrete if isinstance(one, Variant) else one for ones in several for one in ones]

    def key_of(self, trace: Trace) -> Any:
        """Return what a trace was made for; None if it is none of these."""
        found = next((key for key, one in self._made.items() if one is trace), None)
        return found or next((key[1] for key, one in self._of_classes.items() if one is trace), None)

    def add(self, key: Any, made: ConcreteFunction | Variant) -> Trace:
        """Take in a trace that was just made, and return what a call runs."""
        kind = None if self._instance is None else type(self._instance())
        if isinstance(made, PlainPython):
            self._left[kind, class_key(key) or key] = made
        elif isinstance(made, Variant) and made.is_shared:
            alike = kind, class_key(key, False) or key
            self._shared[alike] = pool = with_variant(self._shared.get(alike), made, self._name, None)
            pool.are_of_classes = True
            return self._with_of_classes(alike, made)
        if isinstance(made, Variant):
            known = self._made.get(key)
            known = known if isinstance(known, StatefulFunction) else None
            self._made[key] = concrete = with_variant(known, made, self._name, self._instance)
            return concrete
        self._made[key] = made
        return made

    def _with_of_classes(self, alike: Any, variant: Variant) -> StatefulFunction:
        """Return the traces that serve all objects of the same classes, with one more; of a method, with its
        instance."""
        if self._instance is None:
            self._of_classes[alike] = self._shared[alike]
        else:
            known = self._of_classes.get(alike)
            self._of_classes[alike] = known = with_variant(known, variant, self._name, self._instance)
            known.are_of_classes = True
        return self._of_classes[alike]


class _Chain:
    """Fast paths that are asked one after the other, the newest first, and then what takes any call."""

    def __init__(self, usual: Call, wait: int) -> None:
        self.usual = self.newest = usual
        self._count = 0
        self._wait = self._left = wait

    def is_due(self) -> bool:
        """Note a call, and return whether there were enough for another path."""
        self._left -= 1
        if self._left > 0:
            return False
        self._wait *= 2
        self._left = self._wait
        return True

    @property
    def otherwise(self) -> Call:
        """What takes the calls that another path does not take."""
        return self.usual if self._count == MOST_PATHS else self.newest

    def add(self, made: Call) -> None:
        """Let a path be asked first."""
        self._count = 1 if self._count == MOST_PATHS else self._count + 1
        self.newest = made


#: by id, the paths of all functions that callers take; set, and popped when they go, one item at a time, which needs no
#: lock
_OPEN: dict[int, weakref.ref[FastPaths]] = {}


class FastPaths:
    """The fast paths that the calls of one function take, see ``fast_path``; races make one twice, or later.

    Parameters
    ----------
    entry : callable
        What callers call.
    usual : callable
        What takes any call: its arguments and its keyword arguments.
    placed : callable
        The same of calls in canonical form, see ``Parameters``, without keyword arguments.
    python_function : callable
        The undecorated function.
    executor : str or None
        The function's own.
    """

    def __init__(
        self, entry: Callable[..., Any], usual: Call, placed: Call, python_function: Callable[..., Any],
        executor: str | None,
    ) -> None:  # fmt: skip
        self._entry, self._python_function = entry, python_function
        self._main = self._placed = _Chain(usual, first_wait(executor))
        #: whether other executors may run its calls
        self._follows = executor is None
        #: what takes calls in canonical form; of its own where callers cannot make them
        self._usual_of_placed = placed
        #: fronts of calls that name arguments, the last first; what these name -> how many calls there were
        self._fronts: list[Callable[..., Any]] = []
        self._named: dict[Any, int] = {}

    def named(self, parameters: Parameters, count: int, names: Iterable[str]) -> None:
        """Note a call with ``count`` positional arguments and others by their names, and make a front for its kind if
        there were enough."""
        kind = count, frozenset(names)
        if len(self._fronts) >= MOST_FRONTS or len(self._named) >= 2 * MOST_FRONTS:
            return
        self._named[kind] = calls = self._named.get(kind, 0) + 1
        if calls != FIRST_OF_CODE:
            return
        with undivided():
            from .named_calls import front

        if parameters.plain < 0 and self._placed is self._main:
            self._placed = _Chain(self._usual_of_placed, FIRST_OF_CODE)
        first = self._fronts[0] if self._fronts else self._main.newest
        made = front(self._python_function, parameters, count, sorted(kind[1]), self._placed.newest, first)
        if made is not None:
            self._fronts.insert(0, made)
            self._lead(made)

    def passed(
        self, count: int, trace: Trace, given: Sequence[Any], leaves: Sequence[Any], parameters: Parameters,
        instance: Callable[[], Any] | None,
    ) -> None:  # fmt: skip
        """Note a call that went the usual way, and make a fast path for its kind if there were enough.

        Parameters
        ----------
        count : int
            How many positional arguments it had, before the defaults of the others; -1 if these were no defaults.
        trace : ConcreteFunction or StatefulFunction
            What runs it.
        given : sequence
            Its arguments, with the defaults.
        leaves : sequence
            What of these the trace takes.
        parameters : Parameters
            Of the function, or of the method.
        instance : callable or None
            Gives the instance of a method.
        """
        chain, is_apart = self._main, False
        if count < 0 and self._placed is not chain:
            chain, is_apart, count = self._placed, True, len(given)
        if count < 0 or not chain.is_due():
            return
        with undivided():
            from .fast_path import fast_path
            from .path_text import Way

        plain = self._python_function
        if instance is not None or is_apart:
            plain = _called_in_place(plain, parameters if is_apart else None, instance)
        made = fast_path(Way(trace, plain, chain.usual, chain.otherwise), count, given, leaves)
        if made is None:
            return
        chain.add(made)
        first = self._main.newest
        for front in reversed(self._fronts):
            front.__globals__.update(placed=self._placed.newest, otherwise=first)
            first = front
        self._lead(first)

    def _lead(self, first: Callable[..., Any]) -> None:
        """Let callers take these paths, from now on."""
        key = id(self)
        if key not in _OPEN:
            _OPEN[key] = weakref.ref(self, lambda _: _OPEN.pop(key, None) and None)
        let_through(self._entry, first)
        if self._is_closed:  # asked afterwards: what closes them meanwhile finds them
            let_through(self._entry, self._main.usual)

    @property
    def _is_closed(self) -> bool:
        """Whether callers go the usual way whatever paths there are."""
        return switches()[self._follows]

    def close(self) -> None:
        """Let callers go the usual way, or take the paths again."""
        let_through(self._entry, self._main.usual if self._is_closed else (*self._fronts, self._main.newest)[0])


def _close_all(*_: bool) -> None:
    """Let the calls of all functions go the usual way, or take their fast paths again."""
    for one in list(_OPEN.values()):
        if (paths := one()) is not None:
            paths.close()


tell_switched(_close_all)


def _called_in_place(
    f: Callable[..., Any], parameters: Parameters | None, instance: Callable[[], Any] | None
) -> Callable[..., Any]:
    """Return what calls a function with the arguments of a call: in canonical form, if there are ``parameters``."""

    def plain(*args: Any) -> Any:
        positional, named = (args, {}) if parameters is None else parameters.split(args)
        return f(*(() if instance is None else (instance(),)), *positional, **named)

    return plain


class TracesAskedFor:
    """What a decorated function gives those who ask for its traces."""

    __slots__ = ()

    input_signature: tuple[Any, ...] | None
    known_traces: KnownTraces
    name: str
    _parameters: Parameters
    _conform: Callable[..., Any]
    _bind: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]
    _lookup: Callable[[tuple[Any, ...]], tuple[Trace, list[Any]]]

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Trace:
        """Return the trace for these arguments (``TensorSpec`` allowed), made if need be."""
        trace, form = self.trace_and_form(args, kwargs)
        made = trace.alone
        made.called_as = form
        return made

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Return the function as it is traced for these arguments, to be read, weighed and compiled."""
        made: Lowered = call("lowered_of", self, args, kwargs)
        return made

    def trace_for(self, *args: Any, **kwargs: Any) -> Trace:
        """Return the trace for these arguments, or what stands for it where plain Python runs."""
        return self._trace_asked_for(args, kwargs)[0]

    def trace_and_form(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Trace, CallForm]:
        """Return a trace, and how it is called."""
        trace, call, leaves = self._trace_asked_for(args, kwargs)
        made = with_graph(trace)
        with undivided():
            from .call_form import form_of_call

        return made, form_of_call(self._parameters, call, leaves, made.graph.inputs)

    def _trace_asked_for(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Trace, tuple[Any, ...], list[Any]]:
        if is_switched():
            with undivided():
                from .switched_calls import otherwise

            other: Any = otherwise(cast(Any, self), None)
            if other is not None:
                return other._trace_asked_for(args, kwargs)  # type: ignore[no-any-return]
        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        with self.known_traces.asked_for():
            call = self._bind(args, kwargs)
            if self.input_signature is not None:
                call = self._conform(call, self.input_signature, self._parameters, self.name)
            call = as_called(cast(Any, self), call)
            return (found := self._lookup(call))[0], call, found[1]
