"""Scopes of names: variables that are found again by their names, and prefixes of operations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

from autoloop_runtime.base import dtypes
from autoloop_runtime.base.dtypes import float32
from autoloop_runtime.base.parsing import signature_of
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.collections import variables
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.running.session import get_default_graph

from .building import building, default_root, refuse
from .graph_keys import GraphKeys
from .graph_variables import Variable
from .initializers import default_of

__all__ = [
    "AUTO_REUSE", "VariableScope", "get_local_variable", "get_variable", "get_variable_scope", "name_scope",
    "no_regularizer", "variable_scope",
]  # fmt: skip


class _Reuse:
    """Of a scope where a variable is found if it is there, and made if it is not."""

    def __repr__(self) -> str:
        return "<AUTO_REUSE>"


AUTO_REUSE = _Reuse()


class VariableScope:
    """What ``get_variable`` takes where its caller says nothing.

    Attributes
    ----------
    name : str
        Prefix of the names of variables.
    reuse : bool, None or AUTO_REUSE
        Whether variables are found (True), made (False, None), or one or the other.
    original_name_scope : str
        Prefix of the names of operations where the scope was made.
    """

    def __init__(
        self, reuse: Any, name: str = "", initializer: Any = None, regularizer: Any = None, dtype: Any = float32,
        original_name_scope: str = "",
    ) -> None:  # fmt: skip
        self.name, self.reuse, self.initializer, self.regularizer = name, reuse, initializer, regularizer
        self.dtype, self.original_name_scope = dtype, original_name_scope

    def reuse_variables(self) -> None:
        """Find variables from now on, and make none."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Set what variables begin with."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Set what adds to the losses of the graph for each variable that is made."""
        self.regularizer = regularizer

    def set_dtype(self, dtype: Any) -> None:
        """Set the dtype of variables."""
        self.dtype = dtype

    def get_collection(self, name: Any) -> list[Any]:
        """Return what is in a collection and has a name in this scope."""
        return default_root().get_collection(name, f"{self.name}/" if self.name else "")

    def trainable_variables(self) -> list[Any]:
        """Return the variables of this scope that optimizers change."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """Return the variables of this scope, but for local ones."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """Return the local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)


class _Known:
    """The variables of a graph by their names, its outermost scope, and how often each default name was given."""

    def __init__(self) -> None:
        self.variables: dict[str, variables.Variable] = {}
        self.counts: dict[str, int] = {}
        self.outermost = VariableScope(False)

    def copy(self) -> _Known:
        made = _Known()
        made.variables, made.counts, made.outermost = dict(self.variables), dict(self.counts), self.outermost
        return made

    def unused(self, outer: str, name: str) -> str:
        """Return ``name``, or with a number if that is a scope in ``outer`` already."""
        first = f"{outer}/{name}" if outer else name
        count = 0
        while self.counts.get(f"{first}_{count}" if count else first):
            count += 1
        return f"{name}_{count}" if count else name

    def entered(self, full: str) -> None:
        """Note that a scope was entered: default names in it begin anew."""
        for known in [one for one in self.counts if one.startswith(f"{full}/")]:
            del self.counts[known]
        self.counts[full] = self.counts.get(full, 0) + 1


#: the graph, and the scope that is in force in it
_current: ContextVar[tuple[Graph, VariableScope] | None] = ContextVar("autoloop_variable_scope", default=None)


def get_variable_scope() -> VariableScope:
    """Return the scope that is in force."""
    root, current = default_root(), _current.get()
    if current is not None and current[0] is root:
        return current[1]
    return root.record(_Known).outermost


@contextmanager
def _entered(scope: VariableScope, root: Graph) -> Iterator[VariableScope]:
    token = _current.set((root, scope))
    try:
        yield scope
    finally:
        _current.reset(token)


class variable_scope(AbstractContextManager[VariableScope]):
    """Prefix the names of variables and operations, and say what ``get_variable`` does inside.

    Parameters
    ----------
    name_or_scope : str or VariableScope
        A scope is gone back to.
    default_name : str, optional
        Taken where the first is None, with a number if it was taken in this scope.
    initializer, regularizer, dtype : optional
        What ``get_variable`` takes by default; those of the scope around are in force where nothing is said.
    reuse : bool or AUTO_REUSE, optional
        Find variables, or one or the other; inside of a scope that finds variables all do.
    auxiliary_name_scope : bool
        Whether operations get the prefix, too.

    Raises
    ------
    TypeError
        If there is no name, or another argument asks for something.
    """

    def __init__(
        self, name_or_scope: str | VariableScope | None, default_name: str | None = None, values: Any = None,
        initializer: Any = None, regularizer: Any = None, caching_device: Any = None, partitioner: Any = None,
        custom_getter: Any = None, reuse: Any = None, dtype: Any = None, use_resource: Any = None,
        constraint: Any = None, auxiliary_name_scope: bool = True,
    ) -> None:  # fmt: skip
        refuse("variable_scope", partitioner=partitioner, custom_getter=custom_getter, constraint=constraint)
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required [AL901]")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError(
                f"variable_scope: name_or_scope must be a string or VariableScope, not {name_or_scope!r} [AL901]"
            )
        self._of, self._default, self._names = name_or_scope, default_name, auxiliary_name_scope
        self._own = {"initializer": initializer, "regularizer": regularizer, "reuse": reuse, "dtype": dtype}
        self._stacks: list[ExitStack] = []

    def __enter__(self) -> VariableScope:
        outer, graph, root = get_variable_scope(), get_default_graph(), default_root()
        known, stack, back = root.record(_Known), ExitStack(), self._of
        around = outer if not isinstance(back, VariableScope) else back
        if isinstance(back, VariableScope):
            full, name = back.name, back.name.rpartition("/")[2]
        else:
            name = known.unused(outer.name, str(self._default)) if back is None else back
            full = f"{outer.name}/{name}" if outer.name else name
        prefix = around.original_name_scope
        if self._names and name:
            prefix = f"{stack.enter_context(graph.name_scope(name))}/"
        known.entered(full)
        made = VariableScope(
            self._own["reuse"] or around.reuse, full, self._own["initializer"] or around.initializer,
            self._own["regularizer"] or around.regularizer, self._own["dtype"] or around.dtype,
            around.original_name_scope if isinstance(back, VariableScope) else prefix,
        )  # fmt: skip
        stack.enter_context(_entered(made, root))
        self._stacks.append(stack)
        return made

    def __exit__(self, *exc: Any) -> None:
        self._stacks.pop().__exit__(*exc)


class name_scope(AbstractContextManager[str]):
    """Prefix the names of what is made inside; gives the prefix with a slash, by which it can be gone back to.

    Parameters
    ----------
    name : str, optional
        With a slash at its end it is taken as it stands; empty, or None without the next: no prefix.
    default_name : str, optional
        Taken where ``name`` is None.
    """

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None) -> None:
        if not isinstance(default_name, str | None):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass this into "
                f"the `values` kwarg. [AL901]"
            )
        self._name = default_name if name is None else name
        self._stacks: list[AbstractContextManager[str]] = []

    @property
    def name(self) -> str | None:
        """The name it was made with."""
        return self._name

    def __enter__(self) -> str:
        inner: AbstractContextManager[str] = get_default_graph().name_scope(self._name)
        prefix = inner.__enter__()
        self._stacks.append(inner)
        return f"{prefix}/" if prefix else ""

    def __exit__(self, *exc: Any) -> None:
        self._stacks.pop().__exit__(*exc)


@building
def get_variable(
    name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
    trainable: bool | None = None, collections: Sequence[str] | None = None, caching_device: Any = None,
    partitioner: Any = None, validate_shape: bool = True, use_resource: Any = None, custom_getter: Any = None,
    constraint: Any = None, synchronization: Any = 0, aggregation: Any = 0,
) -> variables.Variable:  # fmt: skip
    """Return the variable of this name in the scope that is in force: found, or made.

    Parameters
    ----------
    name : str
        Below the prefix of the scope.
    shape : shape-like, optional
    dtype : dtype-like, optional
        float32 by default.
    initializer : callable, class of initializers, or tensor-like, optional
        What it begins with: of floats by default random numbers (``glorot_uniform_initializer``), of others zeros.
    regularizer : callable, optional
        Gives for the variable what is put with the losses of the graph (``REGULARIZATION_LOSSES``).
    trainable, collections, validate_shape
        As of ``Variable``.

    Raises
    ------
    ValueError
        If it exists and the scope does not say ``reuse``, or the other way round; if one that exists has another
        shape or dtype; if there is no shape.
    TypeError
        If another argument asks for something.
    """
    refuse("get_variable", partitioner=partitioner, custom_getter=custom_getter, constraint=constraint)
    scope, root = get_variable_scope(), default_root()
    full = f"{scope.name}/{name}" if scope.name else name
    known = root.record(_Known).variables
    wanted = dtypes.as_dtype(scope.dtype if dtype is None else dtype)
    if full in known and not scope.reuse:
        raise ValueError(
            f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
            f"VarScope? [AL901]"
        )
    if full in known:
        return _fitting(known[full], full, shape, wanted)
    if scope.reuse is True:
        raise ValueError(
            f"Variable {full} does not exist, or was not created with tf.get_variable(). Did you mean to set "
            f"reuse=tf.AUTO_REUSE in VarScope? [AL901]"
        )
    first = _first_value(full, shape, wanted, scope.initializer if initializer is None else initializer)
    with root.name_scope(None):
        made = Variable(
            first, trainable, collections, validate_shape, name=full, dtype=None if callable(first) else wanted
        )
    known[full] = made
    adds = scope.regularizer if regularizer is None else regularizer
    loss = adds(made) if adds else None
    if loss is not None:
        root.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def get_local_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, **more: Any) -> Any:
    """Return a variable as ``get_variable`` does: one that is local, and that no optimizer changes."""
    more["trainable"] = False
    return get_variable(name, shape, dtype, initializer, collections=[GraphKeys.LOCAL_VARIABLES], **more)


def no_regularizer(_: Any) -> None:
    """Add nothing to the losses, where the scope around says otherwise."""


def _fitting(variable: variables.Variable, name: str, shape: Any, dtype: Any) -> variables.Variable:
    if shape is not None and not TensorShape(shape).is_compatible_with(variable.shape):
        raise ValueError(
            f"Trying to share variable {name}, but specified shape {TensorShape(shape)} and found shape "
            f"{variable.shape}. [AL901]"
        )
    if dtype != variable.dtype:
        raise ValueError(
            f"Trying to share variable {name}, but specified dtype {dtype} and found dtype {variable.dtype}. [AL901]"
        )
    return variable


def _first_value(name: str, shape: Any, dtype: Any, initializer: Any) -> Callable[[], Any]:
    """Return what gives the initial value.

    Raises
    ------
    ValueError
        If a shape is missing, or is given besides a value.
    """
    if initializer is None:
        initializer = default_of(dtype)
    elif not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape. [AL901]")
        return lambda: convert_to_tensor(initializer, dtype)
    if isinstance(initializer, type):
        initializer = initializer()
    extents = TensorShape(shape)
    if shape is not None and extents.is_fully_defined():
        return lambda: convert_to_tensor(_called(initializer, extents.as_list(), dtype), dtype)
    if not _parameters(initializer):
        return lambda: convert_to_tensor(initializer(), dtype)
    raise ValueError(
        f"Shape of a new variable ({name}) must be fully defined, but instead was "
        f"{'<unknown>' if shape is None else extents}. [AL901]"
    )


def _parameters(f: Callable[..., Any]) -> Sequence[str]:
    try:
        return list(signature_of(f).parameters)
    except (TypeError, ValueError):
        return ["shape"]


def _called(initializer: Callable[..., Any], shape: Any, dtype: Any) -> Any:
    """Return what an initializer gives; it need not take the parts of a variable that there are none of."""
    make = functools.partial(initializer, shape, dtype=dtype)
    return make(partition_info=None) if "partition_info" in _parameters(initializer) else make()
