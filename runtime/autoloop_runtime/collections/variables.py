"""Variables: named values that last between runs.

A variable made eagerly or by a function keeps its value itself. One made in a 1.x graph belongs to that graph,
and its value to each session, where its initialiser must run first. Reads and assignments are ops with an
effect, so inside a function they happen in program order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base import dtypes, nest
from ..base.shapes import ShapeLike, TensorShape
from ..ir.apply import apply
from ..ir.argument_types import ArrayLike
from ..ir.array_kinds import LATER
from ..ir.convert import convert_to_tensor
from ..ir.graph import Graph, Node, current_graph, eager
from ..ir.op import Op, call, function, numpys_alone, register, ruled_in
from ..ir.run_state import MadeVariables, RunState, Storage, Stored
from ..ir.tensor import Tensor
from ..ir.tensor_operators import Operators
from ..ir.traits import NO_GRADIENT, NO_RULE, OPAQUE, NoRule


def _read(*, variable: Variable, state: RunState) -> Any:
    value = state.storage(variable).value
    if value is None:
        raise RuntimeError(
            f"variable {variable.name!r} is not initialised in this session; run its initializer, or "
            f"global_variables_initializer(), first [AL321]"
        )
    return value


def checked(value: Any, variable: Variable) -> Any:
    """Return what a variable keeps of ``value``.

    Raises
    ------
    ValueError
        If it has not the variable's shape.
    """
    if not variable.shape.matches(np.shape(value)):
        raise ValueError(
            f"variable {variable.name!r} of shape {variable.shape} cannot be assigned a value of shape "
            f"{TensorShape(np.shape(value))} [AL322]"
        )
    # an array of its own: this one may be the caller's, or a small part of a large one
    return value.copy() if isinstance(value, np.ndarray) else value


def _is_there(*, variable: Variable, state: RunState) -> Any:
    return np.bool_(state.storage(variable).value is not None)


def _or_first(first: Any, *, variable: Variable, state: RunState) -> Any:
    value = state.storage(variable).value
    return first if value is None else value


def _assign(value: Any, *, variable: Variable, state: RunState) -> Any:
    state.storage(variable).put(checked(value, variable))
    return value


def _update(kernel: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def update(delta: Any, *, variable: Variable, state: RunState) -> Any:
        storage = state.storage(variable)
        with storage.lock:
            while True:
                changes = storage.changes
                value = kernel(_read(variable=variable, state=state), delta)
                if storage.exchange(changes, checked(value, variable)):
                    return value

    return update


def _spec(*_: Tensor, variable: Variable) -> Any:
    return variable.dtype, variable.shape


def _checked_spec(value: Tensor, variable: Variable) -> Any:
    if not value.shape.is_compatible_with(variable.shape):
        raise ValueError(
            f"variable {variable.name!r} of shape {variable.shape} cannot be assigned a value of shape {value.shape}"
            " [AL322]"
        )
    return variable.dtype, variable.shape


def _variable_op(
    name: str, infer: Callable[..., Any], kernel: Callable[..., Any], vjp: NoRule = NO_RULE, only_looks: bool = False
) -> Op:
    return register(Op(name, infer, kernel, vjp, traits=OPAQUE, effect=True, stateful=True, only_looks=only_looks))


READ = _variable_op("ReadVariable", _spec, _read, NO_GRADIENT, only_looks=True)
ASSIGN = _variable_op("AssignVariable", _checked_spec, _assign)
ASSIGN_ADD = _variable_op("AssignAddVariable", _spec, _update(np.add))
ASSIGN_SUB = _variable_op("AssignSubVariable", _spec, _update(np.subtract))
IS_INITIALIZED = register(
    Op(
        "IsVariableInitialized", lambda variable: (dtypes.bool_, TensorShape(())), _is_there, NO_GRADIENT,
        traits=OPAQUE, effect=True, stateful=True,
    )
)  # fmt: skip
READ_OR_FIRST = _variable_op("ReadVariableOrInitial", _spec, _or_first, NO_GRADIENT)
GROUP = register(Op("NoOp", list, tuple, NO_GRADIENT, effect=True, several=True, traits=OPAQUE))


class VariableHandle(NamedTuple):
    """What is known of the operation that would hold a variable in 1.x: this library has none."""

    name: str
    type: str = "VariableV2"


if TYPE_CHECKING:

    class _ReadAsTensor(Stored, Operators):
        """What a variable hands on to its value: in the loop below, and by ``__getattr__``."""

        __hash__ = object.__hash__

        def __bool__(self) -> bool: ...
        def __float__(self) -> float: ...
        def __int__(self) -> int: ...
        def __len__(self) -> int: ...
        def __iter__(self) -> Iterator[Tensor]: ...

        T: Tensor
        ndim: int
        size: int
        astype: Callable[..., Tensor]
        max: Callable[..., Tensor]
        mean: Callable[..., Tensor]
        min: Callable[..., Tensor]
        reshape: Callable[..., Tensor]
        sum: Callable[..., Tensor]
else:
    _ReadAsTensor = Stored


class Variable(_ReadAsTensor):
    """A named, mutable tensor.

    Parameters
    ----------
    initial_value : tensor-like, or callable giving one
    trainable : bool
    name : str, optional
    dtype : dtype-like, optional
    shape : shape-like, optional
        May be less specific than that of the initial value, which then may change shape.

    Raises
    ------
    ValueError
        If made by a function on a trace after its first (the value would be lost between calls).

    Examples
    --------
    >>> v = al.Variable(1.0)
    >>> _ = v.assign_add(2.0)
    >>> print(v.numpy())
    3.0
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        shape: ShapeLike = None,
    ) -> None:
        if initial_value is None:
            raise ValueError("a Variable needs an initial_value [AL322]")
        graph = current_graph()
        self.trainable = trainable
        #: the 1.x graph this variable belongs to; None when the value is the variable's own
        self.graph: Graph | None = None
        self.own_storage = Storage()
        self.initializer: Node | None = None
        #: of a 1.x graph: what the initialiser assigns
        self.initial_value: Tensor | None = None
        self.fetch: Tensor | None = None
        if graph is not None and not graph.root.ordered:
            self._in_graph(graph, initial_value, name, dtype, shape)
            return
        if graph is not None and graph.root.no_new_variables:
            raise ValueError(
                "a function may create variables only on its first trace; create the Variable outside, or "
                "keep it: if self.v is None: self.v = Variable(...) [AL323]"
            )
        with eager():
            value = initial_value() if callable(initial_value) else initial_value
            tensor = convert_to_tensor(value, dtype)
        _refuse_elsewhere(tensor, name or "Variable")
        self.name = f"{name or 'Variable'}:0"
        self.dtype = tensor.dtype
        self.shape = tensor.shape if shape is None else TensorShape(shape)
        if not tensor.is_symbolic:
            self.own_storage.value = tensor.value
        if graph is not None:  # a function is traced: each run that comes here begins with this value, as plain Python
            graph.root.record(MadeVariables).append(self)
            self.assign(tensor)

    def made_again(self, value: Any) -> Variable:
        """Return the variable that a run has made and left with ``value``: each makes one of its own."""
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made.own_storage = Storage(value)
        return made

    def _in_graph(self, graph: Graph, initial_value: Any, name: str | None, dtype: Any, shape: ShapeLike) -> None:
        self.graph = graph.root
        with graph.root.as_default():
            value = initial_value() if callable(initial_value) else initial_value
            tensor = convert_to_tensor(value, dtype)
            self.name = f"{graph.root.unique_name(name or 'Variable')}:0"
            self.dtype = tensor.dtype
            self.shape = tensor.shape if shape is None else TensorShape(shape)
            base = self.name.partition(":")[0]
            self.initial_value = tensor
            # in which scope and after what it is made is nobody's business: its name is one of the graph already
            with graph.root.name_scope(None), graph.root.control_dependencies(None):
                self.initializer = apply(ASSIGN, [tensor], {"variable": self}, f"{base}/Assign").op
            #: what a session fetches for the variable itself; made now, since the graph may be finished then
            with graph.root.control_dependencies(None):
                self.fetch = self.read_value()
        graph.root.collections.setdefault("variables", []).append(self)

    # -- reading ------------------------------------------------------------------------------------------

    def read_value(self) -> Tensor:
        """Return the current value as a tensor."""
        if self.graph is not None and current_graph() is None:
            with self.graph.as_default():
                return self.read_value()
        tensor: Tensor = apply(READ, [], {"variable": self}, self._name_of_read())
        return tensor

    value = read_value

    def _name_of_read(self) -> str:
        return f"{self.name.partition(':')[0].rpartition('/')[2]}/Read"

    def read_in(self, graph: Graph) -> Tensor:
        """Return the current value as a tensor of a graph of 1.x that waits for nothing; another thread may build."""
        return graph.add(READ, (), {"variable": self}, self._name_of_read(), waits=False).results[0]

    def __autoloop_tensor__(self) -> Tensor:
        return self.read_value()

    def numpy(self) -> Any:
        """Return the current value as an array (not for variables of a 1.x graph)."""
        if self.graph is not None:
            raise TypeError(f"variable {self.name!r} belongs to a graph; get its value with Session.run [AL324]")
        return Tensor(self.own_storage.value).numpy()

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Return the value in ``session`` or the default session (1.x)."""
        return call("eval", self.read_value() if self.graph is None else self, feed_dict, session)

    def load(self, value: ArrayLike, session: Any = None) -> None:
        """Set the value in ``session`` or the default session, without an operation that does it (1.x)."""
        if self.initializer is None:
            self.assign(value)
            return
        self.initializer.run({self.initializer.inputs[0]: value}, session)

    def get_shape(self) -> TensorShape:
        """Return the same as ``shape``."""
        return self.shape

    def initialized_value(self) -> Tensor:
        """Return the current value; in a session where the initialiser has not run, the initial value."""
        if self.graph is None or self.initial_value is None:
            return self.read_value()
        with self.graph.as_default():
            return apply(READ_OR_FIRST, [self.initial_value], {"variable": self}, "initialized_value")

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Return whether there is a value."""
        if self.graph is not None and current_graph() is None:
            with self.graph.as_default():
                return self.is_initialized(name)
        return apply(IS_INITIALIZED, [], {"variable": self}, name or "IsVariableInitialized")

    @property
    def op(self) -> VariableHandle:
        """What 1.x code asks for the name of a variable without ``:0``."""
        return VariableHandle(self.name.partition(":")[0])

    # -- changing -----------------------------------------------------------------------------------------

    def assign(self, value: ArrayLike, name: str | None = None) -> Tensor:
        """Set the value; gives the new value."""
        return self._change(ASSIGN, value, name)

    def assign_add(self, delta: ArrayLike, name: str | None = None) -> Tensor:
        """Add ``delta``, without another change in between; gives the new value."""
        return self._change(ASSIGN_ADD, delta, name)

    def assign_sub(self, delta: ArrayLike, name: str | None = None) -> Tensor:
        """Subtract ``delta``; gives the new value."""
        return self._change(ASSIGN_SUB, delta, name)

    def _change(self, op: Op, value: ArrayLike, name: str | None) -> Tensor:
        if self.graph is not None and current_graph() is None:
            with self.graph.as_default():
                return self._change(op, value, name)
        if isinstance(value, (int, float, complex)) and not isinstance(value, np.generic):
            value = convert_to_tensor(value, self.dtype)
        tensor = convert_to_tensor(value)
        _refuse_elsewhere(tensor, self.name)
        if tensor.dtype != self.dtype:
            raise TypeError(
                f"variable {self.name!r} has dtype {self.dtype}, the value has {tensor.dtype}; "
                f"use cast(x, {self.dtype}) [AL322]"
            )
        return apply(op, [tensor], {"variable": self}, name)

    # -- Python's protocols -------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.read_value().__array__(dtype, copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*_read_all(inputs), **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func(*_read_all(args), **_read_all(kwargs))

    def __copy__(self) -> Variable:
        # a copy would share the value, and be another variable to whoever differentiates
        return self

    def __deepcopy__(self, memo: Any) -> Variable:
        kind, made_of = self.__reduce__()
        return kind(*made_of)

    def __reduce__(self) -> tuple[type[Variable], tuple[Any, ...]]:
        if self.graph is not None or current_graph() is not None:
            raise TypeError(
                f"variable {self.name!r} is not copied or pickled in a graph; take its value, read_value() [AL324]"
            )
        return Variable, (self.numpy(), self.trainable, self.name.partition(":")[0], self.dtype, self.shape)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in ("T", "astype", "reshape", "sum", "mean", "max", "min", "ndim", "size"):
                raise AttributeError(f"'Variable' object has no attribute {name!r}")
            return getattr(self.read_value(), name)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        text = f"<Variable {self.name!r} shape={self.shape} dtype={self.dtype}"
        return text + (">" if self.graph is not None else f", numpy={self.own_storage.value!r}>")


def _refuse_elsewhere(tensor: Tensor, name: str) -> None:
    if type(tensor) in LATER:
        raise TypeError(
            f"variable {name!r} holds its value in this process's memory, and the array given is elsewhere: give its "
            "elements, x.compute() or np.asarray(x) [AL322]"
        )


nest.opaque(Variable)


def _read_all(value: Any) -> Any:
    """Return ``value`` with the variables in it, and in the lists, tuples and dictionaries it is made of, read."""
    if isinstance(value, Variable):
        return value.read_value()
    if isinstance(value, dict):
        return {key: _read_all(one) for key, one in value.items()}
    return type(value)(map(_read_all, value)) if type(value) in (list, tuple) else value


def _delegate(dunder: str) -> Callable[..., Any]:
    def method(self: Variable, *args: Any) -> Any:
        read = [a.read_value() if isinstance(a, Variable) else a for a in args]
        return getattr(self.read_value(), dunder)(*read)

    return method


for _name in dict.fromkeys(d for c in Tensor.__mro__[:-1] for d in vars(c) if d.startswith("__")):
    if _name in vars(Variable) or _name in (
        "__init__", "__new__", "__slots__", "__doc__", "__module__", "__weakref__", "__copy__", "__deepcopy__",
        "__str__", "__array_priority__", "__array_function__", "__annotations__", "__static_attributes__",
        "__firstlineno__", "__init_subclass__",
    ):  # fmt: skip
        continue
    setattr(Variable, _name, _delegate(_name))


def awaited(operations: Any) -> list[Tensor | Node]:
    """Return the operations and tensors in a nested structure of them, parts of composites among them,
    to be waited for."""
    leaves = nest.flatten(operations, expand_composites=True)
    return [leaf if isinstance(leaf, Node) else convert_to_tensor(leaf) for leaf in leaves]


def group(*operations: Any, name: str | None = None) -> Any:
    """Return one operation that runs after all the given ones, which may be in lists (1.x);
    does nothing outside a graph."""
    graph = current_graph()
    if graph is None:
        return None
    with graph.control_dependencies(awaited(operations)):
        return graph.add(GROUP, [], {}, name or "group")


def global_variables_initializer() -> Any:
    """Return one operation that initialises every variable of the default graph (1.x)."""
    graph = call("get_default_graph")
    with graph.as_default():
        return group(*[v.initializer for v in graph.collections.get("variables", [])], name="init")


function("group", group)


ruled_in("variable_rules", READ, ASSIGN, ASSIGN_ADD, ASSIGN_SUB)


numpys_alone(
    "a variable holds an array of NumPy's", READ, ASSIGN, ASSIGN_ADD, ASSIGN_SUB, IS_INITIALIZED, READ_OR_FIRST
)  # fmt: skip
