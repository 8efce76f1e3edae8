"""``@autoloop.function``: calling a Python function through a graph that is traced once per kind of arguments.

A call goes: arguments -> key -> concrete function (traced on the first such key) -> runner -> results. The key
holds dtype, shape and structure of tensors and arrays, and the value of everything else, so that the second
call with the same kinds of arguments does no tracing at all.
"""

from __future__ import annotations

import functools
import inspect
import operator
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from autoloop_runtime import dtypes, locations, nest
from autoloop_runtime.execution import Runner, check_executor, prepare, run_graph, set_outputs, wrap
from autoloop_runtime.graph import Graph, current_graph
from autoloop_runtime.recording import recorders
from autoloop_runtime.runstate import EAGER
from autoloop_runtime.shapes import TensorShape
from autoloop_runtime.structured import check_gradient_memory
from autoloop_runtime.tensor import Tensor, TensorSpec
from autoloop_runtime.values import convert_to_tensor
from autoloop_runtime.variables import Variable

from .conversion.pipeline import convert
from .errors import entry_point, user_stacklevel
from .operators.growing import Moved

_SCALARS = (bool, int, float, complex, str, bytes, type(None))
#: after how many traces of one function the user is told which argument keeps changing
RETRACE_WARNING = 5


class _Identity:
    """An argument that is compared by identity and not kept alive by the trace cache."""

    __slots__ = ("_hash", "_ref")

    def __init__(self, value: Any) -> None:
        self._hash = id(value)
        self._ref = weakref.ref(value)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        mine = self._ref()
        return isinstance(other, _Identity) and mine is not None and mine is other._ref()

    def __repr__(self) -> str:
        return f"object {self._ref()!r}"


def _leaf_key(leaf: Any) -> Any:
    """What of one argument a trace depends on."""
    if isinstance(leaf, (Tensor, np.ndarray)):
        return leaf.dtype, tuple(leaf.shape)
    if isinstance(leaf, np.generic):
        return leaf.dtype, ()
    if isinstance(leaf, TensorSpec):
        return leaf.dtype, leaf.shape
    if isinstance(leaf, _SCALARS):
        # repr tells 0.0 from -0.0 and makes nan equal to itself
        return type(leaf), repr(leaf) if isinstance(leaf, (float, complex)) else leaf
    if getattr(type(leaf), "__hash__", None) not in (object.__hash__, None):
        try:
            hash(leaf)
        except TypeError:
            pass
        else:
            return type(leaf), leaf
    try:
        return _Identity(leaf)
    except TypeError:
        return id(leaf), type(leaf)


class ConcreteFunction:
    """One trace of a function: a graph, and how arguments and results map to it.

    Attributes
    ----------
    graph : Graph
        The structured graph as traced.
    structured_outputs
        The value the Python function gave, symbolic tensors included.
    runner : Runner
        What runs it.
    """

    def __init__(self, name: str, graph: Graph, value: Any, executor: str) -> None:
        self.name = name
        self.graph = graph
        self.structured_outputs = value
        leaves, self._structure = nest.flatten_with_structure(value, expand_composites=True)
        tensors: list[Tensor] = []
        # per leaf of the result: a Python value to hand back as it is, or None and the next output
        self._fixed: list[tuple[bool, Any]] = []
        with graph.as_default():
            for leaf in leaves:
                if isinstance(leaf, (Tensor, Variable)):
                    tensors.append(convert_to_tensor(leaf))
                    self._fixed.append((False, None))
                else:
                    if isinstance(leaf, Moved):
                        leaf.refuse()
                    self._fixed.append((True, leaf))
        set_outputs(graph, tensors)
        self._single = len(leaves) == 1 and self._structure.is_leaf() and not self._fixed[0][0]
        graph.ended = True  # a tensor kept from the trace is refused later instead of growing a graph nobody runs
        self.runner: Runner = prepare(graph, executor)

    @property
    def inputs(self) -> list[Tensor]:
        """The parameters of the graph."""
        return list(self.graph.inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The result tensors of the graph."""
        return [t for (fixed, _), t in zip((f for f in self._fixed if not f[0]), self.graph.outputs)]

    def run(self, values: list[Any], arrays: Sequence[np.ndarray[Any, Any]] = ()) -> Any:
        """Run on raw values; results are copied where they share memory with the caller's ``arrays``."""
        results = self.runner.run(values, EAGER)
        if arrays:
            results = [_own(r, arrays) for r in results]
        if self._single:
            return wrap(results[0])
        return self._packed([wrap(r) for r in results])

    def run_recorded(self, leaves: Sequence[Any]) -> Any:
        """Run on tensors and arrays while somebody records."""
        return self._packed(run_graph(self.graph, self.runner, [convert_to_tensor(leaf) for leaf in leaves]))

    def _packed(self, results: Sequence[Tensor]) -> Any:
        made = iter(results)
        return nest.unflatten(self._structure, [v if fixed else next(made) for fixed, v in self._fixed])

    def __call__(self, *args: Any) -> Any:
        """Call with one value per graph input."""
        if len(args) != len(self.graph.inputs):
            raise TypeError(f"{self.name} takes {len(self.graph.inputs)} tensors, got {len(args)}")
        values = [convert_to_tensor(a, p.dtype).value for a, p in zip(args, self.graph.inputs)]
        for value, parameter in zip(values, self.graph.inputs):
            if not parameter.shape.matches(value.shape):
                raise ValueError(f"{self.name}: {parameter.name} has shape {parameter.shape}, got {value.shape}")
        return self.run(values, [v for v in values if isinstance(v, np.ndarray)])

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name}({', '.join(f'{t.dtype}{t.shape}' for t in self.graph.inputs)})>"


def _own(value: Any, arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
    if isinstance(value, np.ndarray) and any(np.may_share_memory(value, a) for a in arrays):
        return value.copy()
    return value


class Function:
    """What ``function`` makes of a Python function.

    Attributes
    ----------
    python_function : callable
        The undecorated function.
    tracing_count : int
        How many times it was traced.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Any = None,
        autograph: bool = True,
        executor: str = "auto",
        name: str | None = None,
        gradient_memory: str | int | None = None,
    ) -> None:
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.input_signature = None if input_signature is None else _checked_signature(input_signature)
        self.autograph = autograph
        self.executor = check_executor(executor)
        self.gradient_memory = check_gradient_memory(gradient_memory)
        self.name = str(name or getattr(python_function, "__name__", type(python_function).__name__))
        self._parameters(_parameters_of(python_function))
        #: gives the instance of a method; None for a plain function
        self._instance: Callable[[], Any] | None = None
        #: only added to under _lock; read without (a lookup in a dict is atomic, also without a GIL)
        self._cache: dict[Any, ConcreteFunction] = {}
        self._lock = threading.RLock()  # held while tracing; re-entrant because a trace may trace
        self._converted: Callable[..., Any] | None = None
        #: id of an instance -> (reference to it, its function); entries go when the instance does
        self._bound: dict[int, tuple[Callable[[], Any], Function]] = {}
        self.tracing_count = 0
        self._keys: list[Any] = []
        self.entry = entry_point(self._call, python_function)

    def _parameters(self, parameters: list[inspect.Parameter]) -> None:
        self._signature = inspect.Signature(parameters)
        #: number of arguments of a call that needs no binding; -1 if there is no such call
        self._plain = len(parameters) if all(p.kind in (0, 1) for p in parameters) else -1

    # -- calling ------------------------------------------------------------------------------------------

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    else:
        # No frame of this class stands in a traceback: the call goes straight to ``errors.entry_point``.
        __call__ = property(operator.attrgetter("entry"))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if current_graph() is not None:
            return self._inline(args, kwargs)
        if kwargs or len(args) != self._plain:
            args = self._bind(args, kwargs)
        concrete, leaves = self._lookup(args)
        values: list[Any] = []
        arrays: list[np.ndarray[Any, Any]] = []
        for leaf in leaves:
            if isinstance(leaf, Tensor):
                if leaf.node is not None:
                    with leaf.node.graph.as_default():
                        return self._inline(args, {})
                values.append(leaf.value)
            elif isinstance(leaf, np.ndarray):
                arrays.append(leaf)
                values.append(leaf[()] if leaf.ndim == 0 else leaf)
            elif isinstance(leaf, np.generic):
                values.append(leaf)
        if recorders():
            return concrete.run_recorded(
                [leaf for leaf in leaves if isinstance(leaf, (Tensor, np.ndarray, np.generic))]
            )
        return concrete.run(values, arrays)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments as ``(positional, keyword)`` in one canonical form."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        bound.apply_defaults()
        if self._plain >= 0:
            return bound.args
        return _Call((bound.args, bound.kwargs))

    def _lookup(self, args: tuple[Any, ...], *, keep_specs: bool = False) -> tuple[ConcreteFunction, list[Any]]:
        if self.input_signature is not None:
            args = self._conform(args)
        leaves, structure = nest.flatten_with_structure(tuple(args), expand_composites=True)
        if self.input_signature is not None:
            key: Any = "signature"
        else:
            key = (structure, tuple([_leaf_key(leaf) for leaf in leaves]))
        concrete = self._cache.get(key)
        if concrete is None:
            with self._lock:
                concrete = self._cache.get(key)
                if concrete is None:
                    concrete = self._trace(args, leaves, structure, key)
        return concrete, leaves

    def _conform(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments made to fit ``input_signature``; one that it does not list must have its default value."""
        signature = self.input_signature
        assert signature is not None
        count = len(signature)
        positional: tuple[Any, ...] = args[0] if isinstance(args, _Call) else args
        named: dict[str, Any] = args[1] if isinstance(args, _Call) else {}
        unlisted = [*zip(list(self._signature.parameters)[count:], positional[count:]), *named.items()]
        fits = count <= len(positional) and len(unlisted) == len(positional) - count + len(named)
        if not fits or not all(self._is_default(n, v) for n, v in unlisted):
            raise TypeError(
                f"{self.name} has an input_signature of {count} arguments, got {len(positional) + len(named)}; "
                f"an argument that it does not list must keep its default"
            )
        made = []
        for spec, arg in zip(signature, positional):
            specs, structure = nest.flatten_with_structure(spec)
            parts = structure.flatten_up_to(arg)
            made.append(nest.unflatten(structure, [self._fit(s, p) for s, p in zip(specs, parts)]))
        made.extend(positional[count:])
        return _Call((tuple(made), named)) if isinstance(args, _Call) else tuple(made)

    def _is_default(self, name: str, value: Any) -> bool:
        """True if an argument is what stands for it in the signature."""
        parameter = self._signature.parameters.get(name)
        if parameter is None:
            return False
        default = parameter.default
        return value is default or (isinstance(value, _SCALARS) and _leaf_key(value) == _leaf_key(default))

    def _fit(self, spec: TensorSpec, value: Any) -> Any:
        if isinstance(value, TensorSpec):
            return value
        if not isinstance(value, (Tensor, np.ndarray)):
            value = convert_to_tensor(value, spec.dtype)
        if not spec.is_compatible_with(value):
            raise (TypeError if value.dtype != spec.dtype else ValueError)(
                f"{self.name}: an argument of dtype {value.dtype} and shape {TensorShape(value.shape)} does not "
                f"fit its entry {spec} in input_signature"
            )
        return value

    def _inline(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call from inside another trace becomes part of that trace."""
        if isinstance(args, _Call):
            args, kwargs = args[0], args[1]
        return self._target()(*self._receiver(), *args, **kwargs)

    def _receiver(self) -> tuple[Any, ...]:
        """The instance, as the first arguments of the Python function."""
        return () if self._instance is None else (self._instance(),)

    # -- tracing ------------------------------------------------------------------------------------------

    def _target(self) -> Callable[..., Any]:
        if self._converted is None:
            self._converted = convert(self.python_function) if self.autograph else self.python_function
        return self._converted

    def _trace(self, args: tuple[Any, ...], leaves: list[Any], structure: Any, key: Any) -> ConcreteFunction:
        graph = Graph(ordered=True)
        if self.tracing_count:
            graph.collections["no_new_variables"] = [True]
        if self.gradient_memory is not None:
            graph.collections["gradient_memory"] = [self.gradient_memory]
        names = _leaf_names(self._signature, args)
        specs = nest.flatten(self.input_signature) if self.input_signature is not None else None
        target = self._target()
        with graph.as_default():
            symbolic = []
            for position, leaf in enumerate(leaves):
                if isinstance(leaf, (Tensor, TensorSpec, np.ndarray, np.generic)):
                    spec = specs[position] if specs is not None and position < len(specs) else leaf
                    symbolic.append(
                        graph.parameter(dtypes.as_dtype(spec.dtype), TensorShape(spec.shape), names[position])
                    )
                else:
                    symbolic.append(leaf)
            call = nest.unflatten(structure, symbolic)
            if isinstance(args, _Call):
                value = _trace_entry_(target, (*self._receiver(), *call[0]), call[1])
            else:
                value = _trace_entry_(target, (*self._receiver(), *call), {})
        concrete = ConcreteFunction(self.name, graph, value, self.executor)
        self._cache[key] = concrete
        self.tracing_count += 1
        self._keys.append(key)
        if self.tracing_count == RETRACE_WARNING + 1:
            self._warn_of_retracing()
        return concrete

    def _warn_of_retracing(self) -> None:
        keys = [k for k in self._keys[-RETRACE_WARNING:] if isinstance(k, tuple)]
        names = list(self._signature.parameters)
        changing = "an argument"
        for position, column in enumerate(zip(*[k[1] for k in keys])):
            if len(set(column)) > 1:
                name = names[position] if position < len(names) else f"argument {position}"
                shown = ", ".join(dict.fromkeys(_describe_key(k) for k in column))
                changing = f"argument {name!r} ({shown})"
                break
        warnings.warn(
            f"{self.name} was traced {self.tracing_count} times: {changing} is different each time. Python numbers are "
            f"compared by value: pass autoloop.constant(x) or an array instead; for changing shapes give "
            f"input_signature=[TensorSpec([None, ...], dtype)]",
            stacklevel=user_stacklevel(),
        )

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments (``TensorSpec`` allowed), made if need be."""
        if self.input_signature is not None and not args and not kwargs:
            args = self.input_signature
        bound = args if not kwargs and len(args) == self._plain else self._bind(args, kwargs)
        return self._lookup(bound)[0]

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
            known = self._bound[id(instance)] = self._bind_to(instance)
        return BoundFunction(known[1], instance)

    def _bind_to(self, instance: Any) -> tuple[Callable[[], Any], Function]:
        """A trace cache for one instance, which it does not keep alive where that can be helped."""
        key, bound = id(instance), self._bound
        reference: Callable[[], Any]
        try:
            reference = weakref.ref(instance, lambda _: bound.pop(key, None))
        except TypeError:  # a class with __slots__
            reference = lambda: instance  # noqa: E731
        made = Function(
            self.python_function, self.input_signature, self.autograph, self.executor, self.name, self.gradient_memory
        )  # fmt: skip
        made._instance = reference
        made._parameters(list(self._signature.parameters.values())[1:])
        made._converted = self._target()
        return reference, made

    def __repr__(self) -> str:
        return f"<autoloop.function {self.name} at {id(self):#x}>"


class BoundFunction:
    """A decorated method together with its instance; callable, and otherwise like its ``Function``."""

    __slots__ = ("__self__", "function")

    def __init__(self, function: Function, instance: Any) -> None:
        self.function = function
        self.__self__ = instance

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

    else:
        __call__ = property(operator.attrgetter("function.entry"))

    @property
    def python_function(self) -> Callable[..., Any]:
        """The undecorated method, bound."""
        method: Callable[..., Any] = self.function.python_function.__get__(self.__self__)
        return method

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __repr__(self) -> str:
        return f"<autoloop.function {self.function.name} of {self.__self__!r}>"


def _parameters_of(f: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of ``f``; any, for what has no Python signature (NumPy's functions, some builtins)."""
    if not isinstance(f, np.ufunc):
        try:
            return list(inspect.signature(f).parameters.values())
        except ValueError:
            pass
    return [
        inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL),
        inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
    ]


def _checked_signature(signature: Any) -> tuple[Any, ...]:
    """``signature`` if it is a sequence of structures of ``TensorSpec``."""
    if not isinstance(signature, (list, tuple)):
        raise TypeError(f"input_signature is a list of TensorSpec, one per argument, got {signature!r}")
    for leaf in nest.flatten(tuple(signature)):
        if not isinstance(leaf, TensorSpec):
            raise TypeError(f"input_signature holds TensorSpec, e.g. TensorSpec([None, 2], float32), not {leaf!r}")
    return tuple(signature)


class _Call(tuple[Any, ...]):
    """The arguments of a function with star parameters: ``(positional, keyword)``."""

    __slots__ = ()


def _trace_entry_(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The frame at which a node's chain of user lines begins (``locations.TRACE_ENTRY``)."""
    return f(*args, **kwargs)


assert _trace_entry_.__name__ == locations.TRACE_ENTRY


def _leaf_names(signature: inspect.Signature, args: tuple[Any, ...]) -> list[str]:
    """One readable name per leaf of the arguments."""
    parameters = list(signature.parameters)
    if isinstance(args, _Call):
        return ["arg"] * len(nest.flatten(tuple(args), expand_composites=True))
    out: list[str] = []
    for position, arg in enumerate(args):
        name = parameters[position] if position < len(parameters) else "arg"
        out.extend([name] * len(nest.flatten(arg, expand_composites=True)))
    return out


def _describe_key(key: Any) -> str:
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], np.dtype):
        return f"{key[0]}{list(key[1])}"
    if isinstance(key, tuple) and len(key) == 2:
        return str(key[1]) if key[0] in (float, complex) else repr(key[1])
    return repr(key)


def function(
    f: Callable[..., Any] | None = None,
    *,
    input_signature: Any = None,
    autograph: bool = True,
    executor: str = "auto",
    name: str | None = None,
    gradient_memory: str | int | None = None,
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
    executor : {"auto", "dataflow", "sequential", "native"}
        How the graph is run. All give the same values.
    name : str, optional
    gradient_memory : {"save", "checkpoint"} or int, optional
        What loops keep for gradients, unless they say it themselves; see ``while_loop``.

    Returns
    -------
    Function
        Callable like ``f``; gives concrete tensors in the structure that ``f`` returns.

    Notes
    -----
    The first call with a kind of arguments traces ``f``, later ones run the graph. Two calls are of one kind if

    * tensors, arrays and NumPy scalars have the same dtypes and shapes, whatever their values and however they
      are given: a NumPy array is a tensor of its dtype and shape;
    * Python numbers, strings and ``None`` are equal and of one type: ``1``, ``True`` and ``1.0`` are three kinds,
      so pass ``constant(x)`` where a number changes from call to call;
    * other objects are the same object, or equal if their class says so;
    * all of them stand in structures (tuples, lists, dicts, dataclasses) of the same form.

    A keyword argument counts as the positional one, a default that is left out as the default given. With
    ``input_signature`` there is one trace, and a dimension of ``None`` in it stands for every size.
    ``tracing_count`` tells how many traces there are, ``explain`` for which arguments; after five a warning names
    the argument that keeps changing.

    Examples
    --------
    >>> @function
    ... def triangle(n):
    ...     total = i = constant(0)
    ...     while i < n:
    ...         i += 1
    ...         total += i
    ...     return total
    >>> int(triangle(4))
    10
    """
    if f is None:
        return functools.partial(
            function, input_signature=input_signature, autograph=autograph, executor=executor, name=name,
            gradient_memory=gradient_memory,
        )  # fmt: skip
    if isinstance(f, Function):
        return f
    if isinstance(f, (staticmethod, classmethod)):
        return type(f)(function(f.__func__, input_signature=input_signature, autograph=autograph,
                                executor=executor, name=name, gradient_memory=gradient_memory))  # fmt: skip
    if not callable(f):
        raise TypeError(f"@autoloop.function decorates a function, got {f!r} of type {type(f).__name__}")
    return Function(f, input_signature, autograph, executor, name, gradient_memory)
