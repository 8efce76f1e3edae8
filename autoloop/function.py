"""``@autoloop.function``: calling a Python function through a graph that is traced once per kind of arguments.

A call goes: arguments -> key -> concrete function (traced on the first such key) -> runner -> results. The key
holds dtype, shape and structure of tensors and arrays, and the value of everything else, so that the second
call with the same kinds of arguments does no tracing at all.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import attribute_of, named_as, tell_waiting
from autoloop_runtime.base.collector import NoCollection
from autoloop_runtime.base.config import is_switched
from autoloop_runtime.base.contexts import undisturbed
from autoloop_runtime.base.forks import Kind, undivided
from autoloop_runtime.ir.followers import as_arrays
from autoloop_runtime.ir.graph import default_graphs
from autoloop_runtime.ir.recorders import recorders
from autoloop_runtime.ir.structured import check_gradient_memory
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.prepare import check_executor, checked_progress

from .bound_function import BoundFunction, reference_to
from .concrete import CalledPlain, leave_if_asked
from .errors import entry_point
from .given_arrays import ForeignArray, give_back, namespace_among, with_copies
from .keys import Number, call_key, class_key, kind_of_leaf, kind_of_recursion, leaf_key, magnitude, quick_key
from .known_traces import FastPaths, KnownTraces, Trace, TracesAskedFor, inputs_of
from .number_inputs import ChangingInputs
from .parameters import Parameters, flattened, form_of, has_defaults_of, in_pythons_words, structure_of
from .plain_python import Told, flattened_or_left, taken_or_left, traced_or_plain, unless_in_graph
from .sent_by_name import SentByName, reloadable
from .state.stateful import OtherWorld, StatefulFunction, called_again, run_or_refused
from .written_arguments import OtherMemory, OverlappingArguments, in_order, lying_of, same_arrays

if TYPE_CHECKING:
    from .typing import Decorated

P = ParamSpec("P")
R = TypeVar("R")
_KIND = Kind("Function._lock", "a trace is added when it is there; one that was being made is made again")

#: how many keys of calls are remembered besides the traces: with an input_signature there is no end to them
MOST_QUICK = 256


class Function(SentByName, TracesAskedFor):
    """What ``function`` makes of a Python function.

    Attributes
    ----------
    python_function : callable
        The undecorated function.
    tracing_count : int
        How many times it was traced.

    Examples
    --------
    >>> @al.function
    ... def double(x):
    ...     return 2 * x
    >>> double(np.float64(3.0)), double.tracing_count
    (np.float64(6.0), 1)
    """

    def __init__(
        self, python_function: Callable[..., Any], input_signature: Any = None, autograph: bool = True,
        executor: str | None = None, name: str | None = None, gradient_memory: str | int | None = None,
        progress: bool | None = None,
    ) -> None:  # fmt: skip
        named_as(self, python_function)
        self.python_function = python_function
        self.input_signature: tuple[Any, ...] | None = None
        if input_signature is not None:
            with undivided():
                from .input_signature import checked_signature, conform

            self.input_signature, self._conform = checked_signature(input_signature), conform
        #: what it was decorated with; without it others may run it, see ``switched_calls``: executor -> this, likewise
        self.own_executor, self.by_executor = check_executor(executor), dict[str, Function]()
        self.executor, self.progress = executor or "auto", checked_progress(progress)
        self.gradient_memory, self.autograph = check_gradient_memory(gradient_memory), autograph
        self.name = str(name or attribute_of(python_function, "__name__", type(python_function).__name__))
        self._parameters = Parameters.of(python_function)
        self._instance: Callable[[], Any] | None = None  # of a method
        self.known_traces = KnownTraces(self.name)
        #: ``quick_key`` -> what ``known_traces`` has for the same arguments; only added to, by any thread, no lock
        self._quick: dict[Any, Trace] = {}
        self._lock = _KIND.lock()  # held while tracing; re-entrant because a trace may trace
        self._converted: Callable[..., Any] | None = None
        self._bound: dict[int, tuple[Callable[[], Any], Function]] = {}  # id of an instance -> reference, its function
        self.with_gradient: dict[Any, Function] = {}  # what is differentiated -> this and its gradient, likewise
        self.joined: dict[Any, Function] = {}  # what calls it with parts of the arrays that it is given, likewise
        # why plain Python is called, of which it has warned; and true of a gradient: the function does something else
        self.told, self.needs_graph = Told(), False
        self._changing = ChangingInputs(python_function, self.executor, self.name, self.told)
        # the latter: how many traces there were since the last that took changing numbers as inputs
        self._spent, self._retraces = self._changing.spent, 0
        self.traced_for: list[Any] = []  # what each trace was made for
        self.entry = entry_point(self._call, python_function)
        self._paths = FastPaths(self.entry, self._call, self._call_placed, python_function, self.own_executor)

    # -- calling ------------------------------------------------------------------------------------------

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    else:
        # No frame of this class stands in a traceback: the call goes straight to ``errors.entry_point``.
        __call__ = property(operator.attrgetter("entry"))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if default_graphs():
            return self._inline(args, kwargs)
        if is_switched() and (other := _otherwise(self, self._receiver())) is not None:
            return other(*args, **kwargs)
        call = args if not kwargs and len(args) == self._parameters.plain else self._bind(args, kwargs)
        if ((spent := self._spent).is_over or spent.left) and spent.leaves(self._receiver(), call):
            return self.python_function(*self._receiver(), *args, **kwargs)
        try:
            try:
                key, values, arrays = quick_key(call) or (None, [], [])
                if (concrete := self._quick.get(key)) is None or recorders():
                    return self._call_nested(call)
                count = self._parameters.plain if kwargs else len(args)
                self._paths.passed(count, concrete, call, call, self._parameters, self._instance)
                leave_if_asked(concrete, values)
                spent.served += 1
                return concrete.run(values, arrays, call)
            except OtherMemory as other:
                return called_again(call, self._call_nested, self._call_with_memory, other.exactly)
            except OtherWorld:
                return called_again(call, self._call_nested, self._call_with_memory)
        except OverlappingArguments as refusal:
            with contextlib.suppress(CalledPlain):
                return _called_joined(self, self._parameters, call, refusal)
            watched = CalledPlain().watched()
        except CalledPlain as plain:
            watched = unless_in_graph(plain, self.needs_graph, self.executor)
        with watched:
            return self.python_function(*self._receiver(), *args, **kwargs)

    def _call_placed(self, call: tuple[Any, ...], _: dict[str, Any]) -> Any:
        """Run a call in canonical form as the call that it stands for."""
        return self._call(*self._parameters.split(call))

    def _call_with_memory(self, call: tuple[Any, ...], exactly: bool) -> Any:
        """Run a call with a trace that is made for how its arrays lie in memory."""
        leaves, structure = flattened(call)
        same = same_arrays(leaves)
        key = (structure, tuple(map(leaf_key, leaves)), same, (lying_of if exactly else in_order)(leaves))
        try:
            with self._lock:
                concrete = self.known_traces.found(key, call, leaves)
                concrete = concrete or undisturbed(self._trace, call, leaves, structure, key, same)
        finally:
            tell_waiting()
        again = functools.partial(undisturbed, self._trace, call, leaves, structure, key, same)
        return run_or_refused(concrete, lambda one: _run_once(one, leaves, call), again)

    def _call_nested(self, call: tuple[Any, ...]) -> Any:
        """Run any call in canonical form; the next of its kind may be quicker."""
        given, structure = flattened_or_left(self, call)
        arrays_taken = taken_or_left(self, given, call)
        if arrays_taken is not given:
            result = with_copies(_given_again(self._call_nested, arrays_taken), call, given, arrays_taken)
            return give_back(self.name, given, arrays_taken, result)
        if (followed := as_arrays(given)) is not given:
            return _called_followed(self._lookup, given, followed, structure)
        quick = self._changing.taken(structure, given)
        key, values, arrays = quick_key(quick) or (None, [], [])
        if key is not None and not isinstance(structure, nest.Flat):
            concrete = self._quick.get(key := (form_of(call, structure), key))
            if concrete is not None and not recorders():
                leave_if_asked(concrete, values)
                self._spent.served += 1
                with contextlib.suppress(OtherWorld):
                    return concrete.run(values, arrays, call)
        concrete, leaves = self._lookup(call, True)
        symbolic = next((x.node for x in leaves if issubclass(type(x), Tensor) and x.node is not None), None)
        if symbolic is not None:
            with symbolic.graph.as_default():
                return self._inline(*self._parameters.split(call))
        if key is not None and len(self._quick) < MOST_QUICK and self.known_traces.is_quick(concrete, leaves, quick):
            self._quick[key] = concrete
        elif isinstance(structure, nest.Flat) and namespace_among(given) is None:
            self._paths.passed(self._parameters.plain, concrete, given, leaves, self._parameters, self._instance)
        else:
            self._changing.take(structure, given, leaves)
        return _run_once(concrete, leaves, call)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        try:
            made = self._parameters.bind(args, kwargs)
        except TypeError as error:
            refused = in_pythons_words(self.python_function, (*self._receiver(), *args), kwargs)
            raise refused or TypeError(f"{self.name}: {error}") from None
        if kwargs:
            self._paths.named(self._parameters, len(args), kwargs)
        return made

    def _lookup(self, call: tuple[Any, ...], may_be_plain: bool = False) -> tuple[Trace, list[Any]]:
        """Return the trace for a call in canonical form, made if need be, and the leaves as the trace takes them."""
        if self.input_signature is not None:
            call = self._conform(call, self.input_signature, self._parameters, self.name)
        leaves, structure = flattened(call)
        # with a signature, too, arrays and tensors have other results
        key: Any = call_key(structure, leaves) if self.input_signature is None else tuple(map(kind_of_leaf, leaves))
        concrete = self.known_traces.found(key, call, leaves)
        if concrete is None and self.is_new_here and self.has_come_again():
            return self._lookup(call, may_be_plain)
        if concrete is None:
            try:
                with self._lock:
                    concrete = self.known_traces.found(key, call, leaves)
                    if concrete is None and self.input_signature is None:
                        concrete, leaves = self._of_any(call, leaves, structure, may_be_plain)
                    if concrete is None:
                        concrete = undisturbed(self._trace, call, leaves, structure, key)
                        self._changing.traced(structure, leaves, concrete)
            finally:
                tell_waiting()
        else:
            self._spent.served += 1
        return concrete, leaves

    def _of_any(self, call: Any, leaves: list[Any], structure: Any, may_be_plain: bool) -> tuple[Any, list[Any]]:
        """Return the trace that takes what keeps changing as it comes, if there is such, and its leaves."""
        make = functools.partial(undisturbed, self._trace, call)
        look = self._changing.look(self.needs_graph, may_be_plain, self._receiver())
        return look(structure, leaves, lambda key, inputs: self.known_traces.found(key, call, inputs), make)

    def _inline(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call from inside another trace a part of that trace."""
        return _called(self.python_function, self._target(), *self._receiver(), *args, **kwargs)

    # -- tracing ------------------------------------------------------------------------------------------

    def _target(self) -> Callable[..., Any]:
        made, of = self._converted, self.python_function
        if made is None or not has_defaults_of(made, of):
            with undivided(), NoCollection():
                from .tracing import converted

            made = self._converted = converted(of) if self.autograph else of
        return made

    def _trace(
        self, call: tuple[Any, ...], leaves: list[Any], structure: Any, key: Any, same: Sequence[int] | None = None,
        given: Sequence[Any] | None = None,
    ) -> Trace:  # fmt: skip
        with undivided(), NoCollection():  # with all of the conversion, which no import of a program needs
            from .state.retrials import Request, trace
            from .tracing import RETRACE_WARNING, WORLD_WARNING, settings_of, tell_trace, warn_of_retracing

        begun, size = perf_counter(), ((kind := kind_of_recursion(structure, leaves)), magnitude(leaves))
        if (plain := self.told.recursive.get(kind) or self.told.recursive.get(size)) is not None:
            return self.known_traces.add(key, plain)
        specs = nest.flatten(self.input_signature, True) if self.input_signature is not None else given
        settings = settings_of(leaves, self.tracing_count, self.gradient_memory, self.progress, self.keeps_checkpoints,
                               self.needs_graph or self.executor != "auto")  # fmt: skip
        request = Request(self.name, self.executor, self.python_function, self._target(), self._parameters, call,
                          leaves, structure_of(structure), specs, same or (), self._instance, settings,
                          same is not None, self.needs_graph)  # fmt: skip
        has_numbers = given is not None or any(issubclass(type(leaf), Number) for leaf in leaves)
        with self.known_traces.unless_raising(key, request), self._changing.weighed() as weigh:
            made = traced_or_plain(lambda: trace(request, *self.known_traces.variants(key)), self, has_numbers, size,
                                   settings.get("theirs"))  # fmt: skip
            weigh(getattr(made, "concrete", made), self._receiver(), call)
        concrete = self.known_traces.add(key, made)
        self.traced_for.append(class_key(key) or key if getattr(made, "is_shared", False) else key)
        self._retraces = 0 if has_numbers else self._retraces + 1
        if self._retraces in (RETRACE_WARNING + 1, WORLD_WARNING + 1):
            warn_of_retracing(self.name, self._parameters.names, self.traced_for)
        tell_trace(self, self.traced_for, made, perf_counter() - begun)
        return concrete

    # -- as a method --------------------------------------------------------------------------------------

    @overload
    def __get__(self, instance: None, owner: Any = None) -> Function: ...
    @overload
    def __get__(self, instance: Any, owner: Any = None) -> BoundFunction: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        known = self._bound.get(id(instance))
        if known is None or known[0]() is not instance:
            reference = reference_to(instance, self._bound)
            known = self._bound[id(instance)] = reference, self._of(reference)
        return BoundFunction(known[1], instance)

    def _of(self, instance: Callable[[], Any]) -> Function:
        """Return a method with the traces of one instance."""
        made = Function(self.python_function, **self.options())
        made._instance, made._parameters, made._converted = instance, self._parameters.without_first(), self._target()
        made.known_traces = KnownTraces(self.name, instance, self.known_traces)
        made._changing, made._spent, made._lock, made.told = self._changing, self._spent, self._lock, self.told
        return made

    def __repr__(self) -> str:
        return f"<autoloop.function {self.name} at {id(self):#x}>"


def _otherwise(function: Function, receiver: tuple[Any, ...] | None) -> Callable[..., Any] | None:
    with undivided():
        from .switched_calls import otherwise

    return otherwise(function, receiver)


def _called_joined(function: Function, parameters: Parameters, call: tuple[Any, ...], refusal: Exception) -> Any:
    with undivided():
        from .joined_arguments import called_joined

    return called_joined(function, parameters, call, refusal)


def _given_again(function: Callable[[Any], Any], used: Sequence[Any]) -> Callable[[Any], Any]:
    with undivided():  # which few programs need
        from .given_containers import given_again

    return lambda call: given_again(function, call, used)


def _called(function: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
    with undivided():
        from .operators.staging.staged_blocks import called

    return called(function, target, *args, **kwargs)


def _called_followed(
    lookup: Callable[[tuple[Any, ...]], tuple[Trace, list[Any]]],
    given: Sequence[Any],
    arrays: Sequence[Any],
    structure: Any,
) -> Any:
    """Run a call with tensors that stand for arrays, at which a derivative is taken, as one with these arrays."""
    call = nest.unflatten(structure, arrays)
    concrete, leaves = lookup(call)
    followed = [tensor if leaf is array else leaf for leaf, array, tensor in zip(leaves, arrays, given)]
    return _run_once(concrete, followed, call)


def _run_once(concrete: Trace, leaves: list[Any], call: tuple[Any, ...]) -> Any:
    inputs = inputs_of(leaves)
    if recorders():
        more = (call,) if isinstance(concrete, StatefulFunction) else ()
        return concrete.run_recorded([x.value if isinstance(x, Number) else x for x in inputs], *more)[0]
    values = [_raw(leaf) for leaf in inputs]
    leave_if_asked(concrete, values)
    return concrete.run(values, [leaf for leaf in inputs if isinstance(leaf, np.ndarray)], call)


def _raw(leaf: Any) -> Any:
    """Return the array or NumPy scalar of a concrete tensor or array."""
    value = leaf.value if isinstance(leaf, (Tensor, Number, ForeignArray)) else leaf
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


@overload
def function(
    f: Callable[P, R],
    *,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    executor: str | None = None,
    name: str | None = None,
    gradient_memory: str | int | None = None,
    progress: bool | None = None,
) -> Decorated[P, R]: ...


@overload
def function(
    f: None = None,
    *,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    executor: str | None = None,
    name: str | None = None,
    gradient_memory: str | int | None = None,
    progress: bool | None = None,
) -> Callable[[Callable[P, R]], Decorated[P, R]]: ...


def function(
    f: Callable[..., Any] | None = None,
    *,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    executor: str | None = None,
    name: str | None = None,
    gradient_memory: str | int | None = None,
    progress: bool | None = None,
) -> Any:
    """Run a Python function as a graph: loops and branches on tensors become dataflow.

    Parameters
    ----------
    f : callable, optional
        The function; without it a decorator is returned.
    input_signature : sequence of TensorSpec, optional
        One trace for all calls; ``None`` dimensions make it serve all sizes.
    autograph : bool
        Convert the source; False when the function calls ``while_loop`` and ``cond`` itself.
    executor : {"auto", "dataflow", "sequential", "native", "dask"}, optional
        How the graph is run. All give the same values. By default as ``config`` says, at first "auto". "dask" sends
        heavy parts to a cluster, see ``autoloop.distributed``.
    name : str, optional
    gradient_memory : {"save", "checkpoint"} or int, optional
        What loops keep for gradients, unless they say it themselves; see ``while_loop``.
    progress : bool, optional
        Show how far the loops of a call are that takes long; by default as ``config.show_progress`` says.

    Returns
    -------
    Function
        Callable like ``f``; gives what ``f`` gives: of arrays arrays, NumPy scalars and Python numbers. What a tensor,
        a ``Variable`` or a function of this library takes part in is a tensor.

    Notes
    -----
    The first call with a kind of arguments traces ``f``, later ones run the graph. Two calls are of one kind if

    * tensors, arrays and NumPy scalars have the same dtypes and shapes, but after three traces that differ in extents
      above 1 of arrays one serves all, where it can; a scalar is an array, an array is no tensor;
    * Python numbers, strings and ``None`` are equal and of one type: ``1``, ``True`` and ``1.0`` are three kinds; an
      int or float is an input from its third value on, where no trace needs its value;
    * other objects are the same object, or equal if their class says so;
    * all of them stand in structures (tuples, lists, dicts, dataclasses) of the same form.

    Keyword arguments count as positional ones, defaults left out as given. With ``input_signature`` arrays and tensors
    have one trace each. ``tracing_count`` tells how many there are, ``explain`` for what, after five a warning.

    Examples
    --------
    >>> @al.function
    ... def triangle(n):
    ...     total = al.constant(0)
    ...     for i in range(n + 1):
    ...         total += i
    ...     return total
    >>> print(triangle(4))
    Tensor(10, shape=(), dtype=int32)
    """
    return _decorated(f, input_signature, autograph, executor, name, gradient_memory, progress)


def _decorated(f: Any, *options: Any) -> Any:
    if f is None:
        return lambda f: _decorated(f, *options)
    if isinstance(f, Function):
        return f
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(_decorated(f.__func__, *options))
    if not callable(f):
        raise TypeError(f"@autoloop.function decorates a function, got {f!r} of type {type(f).__name__} [AL001]")
    return reloadable(Function(f, *options))
