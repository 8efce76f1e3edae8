"""Variables of 1.x: made in the default graph, put into its collections, initialised and changed by operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.collections import variable_scatters, variables
from autoloop_runtime.collections.variables import group
from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor

from .building import after, building, default_root, refuse
from .graph_keys import GraphKeys, global_variables, local_variables

__all__ = [
    "Variable", "assert_variables_initialized", "assign", "assign_add", "assign_sub", "count_up_to",
    "global_variables_initializer", "initialize_all_variables", "initialize_local_variables",
    "initialize_variables", "is_variable_initialized", "local_variables_initializer",
    "report_uninitialized_variables", "scatter_add", "scatter_div", "scatter_max", "scatter_min", "scatter_mul",
    "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update",
    "variables_initializer",
]  # fmt: skip


class _Kind(type):
    """Of a class whose instances are all the variables there are."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, variables.Variable)


class Variable(variables.Variable, metaclass=_Kind):
    """A variable of the default graph; see ``autoloop.Variable`` for what it can do.

    Parameters
    ----------
    initial_value : tensor-like, or callable giving one
    trainable : bool, optional
        Whether optimizers change it: yes, by default.
    collections : list of str, optional
        Where it is put besides those of the variables that are trainable: by default with the global variables.
    validate_shape : bool
        False: a value of any shape can be assigned.
    name : str, optional
    dtype : dtype-like, optional
    shape, expected_shape : shape-like, optional
        The second must be that of the initial value.

    Raises
    ------
    TypeError
        If another argument asks for something.
    """

    def __init__(
        self, initial_value: Any = None, trainable: bool | None = None, collections: Sequence[str] | None = None,
        validate_shape: bool = True, caching_device: Any = None, name: str | None = None, variable_def: Any = None,
        dtype: Any = None, expected_shape: Any = None, import_scope: Any = None, constraint: Any = None,
        use_resource: Any = None, synchronization: Any = 0, aggregation: Any = 0, shape: Any = None,
    ) -> None:  # fmt: skip
        refuse("Variable", variable_def=variable_def, import_scope=import_scope, constraint=constraint)
        is_trained = trainable is None or bool(trainable)
        within = shape if validate_shape else TensorShape(None)
        building(super().__init__)(initial_value, is_trained, name, dtype, within)
        if expected_shape is not None and not self.shape.is_compatible_with(TensorShape(expected_shape)):
            raise ValueError(
                f"{self.name}: expected shape {expected_shape}, the initial value has {self.shape} [AL911]"
            )
        root = default_root()
        keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if GraphKeys.GLOBAL_VARIABLES in keys:
            keys.remove(GraphKeys.GLOBAL_VARIABLES)
        else:
            root.get_collection_ref(GraphKeys.GLOBAL_VARIABLES).pop()  # where it has been put
        if is_trained and GraphKeys.TRAINABLE_VARIABLES not in keys:
            keys.append(GraphKeys.TRAINABLE_VARIABLES)
        root.add_to_collections(keys, self)

    def eval(self, session: Any = None, feed_dict: Any = None) -> Any:  # type: ignore[override]
        """Return the value in ``session`` or the default session."""
        return super().eval(feed_dict, session)

    def count_up_to(self, limit: int) -> Tensor:
        """Return the value of an integer variable before 1 is added; fails when it has come to ``limit``."""
        return count_up_to(self, limit)


nest.opaque(Variable)

# -- initialisers -----------------------------------------------------------------------------------------


@building
def variables_initializer(var_list: Iterable[Any], name: str = "init") -> Any:
    """Return one operation that initialises the variables of a list."""
    return group(*[variable.initializer for variable in var_list], name=name)


def global_variables_initializer() -> Any:
    """Return one operation that initialises every global variable of the default graph."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Any:
    """Return one operation that initialises every local variable of the default graph."""
    return variables_initializer(local_variables(), "init_1")


initialize_variables = variables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer


@building
def is_variable_initialized(variable: Any) -> Tensor:
    """Return whether a variable has a value in the session."""
    made: Tensor = variable.is_initialized()
    return made


@building
def report_uninitialized_variables(
    var_list: Sequence[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """Return the names of the variables that have no value in the session, a vector of strings."""
    asked = [*global_variables(), *local_variables()] if var_list is None else list(var_list)
    if not asked:
        return convert_to_tensor(np.array([], dtype="S"))
    names = np.array([variable.op.name.encode() for variable in asked])
    return ops.boolean_mask(convert_to_tensor(names), ~ops.stack([variable.is_initialized() for variable in asked]))


@building
def assert_variables_initialized(var_list: Sequence[Any] | None = None) -> Any:
    """Return an operation that fails if a variable has no value in the session; None if there is none."""
    asked = [*global_variables(), *local_variables()] if var_list is None else list(var_list)
    return group(*[variable.read_value() for variable in asked]) if asked else None


# -- changes ----------------------------------------------------------------------------------------------


@building
def assign(
    ref: Any, value: ArrayLike, validate_shape: bool | None = None, use_locking: bool | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return the new value of a variable, after it is set.

    Raises
    ------
    TypeError
        If ``validate_shape`` is False: a variable made with ``validate_shape=False`` takes values of any shape.
    """
    refuse("assign", validate_shape=None if validate_shape in (None, True) else "False")
    made: Tensor = ref.assign(value, name=name)
    return made


@building
def assign_add(ref: Any, value: ArrayLike, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Return the new value of a variable, after ``value`` is added."""
    made: Tensor = ref.assign_add(value, name=name)
    return made


@building
def assign_sub(ref: Any, value: ArrayLike, use_locking: bool | None = None, name: str | None = None) -> Tensor:
    """Return the new value of a variable, after ``value`` is subtracted."""
    made: Tensor = ref.assign_sub(value, name=name)
    return made


@building
def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """Return the value of an integer variable before 1 is added; fails when it has come to ``limit``."""
    changed = ref.assign_add(convert_to_tensor(1, ref.dtype))
    with after(ops.Assert(changed <= limit, [f"Reached limit of {limit}"])):
        return ops.subtract(changed, 1, name=name)


def _scattering(way: variable_scatters.Way, words: str, nd: bool = False, locks: bool = False) -> Callable[..., Tensor]:
    @building
    def change(
        ref: Any, indices: ArrayLike, updates: ArrayLike, use_locking: bool = locks, name: str | None = None
    ) -> Tensor:
        return variable_scatters.scatter(ref, indices, updates, way, name, nd)

    what = "elements or parts" if nd else "rows"
    change.__doc__ = f"Return the new value of a variable, after ``updates`` are {words} the {what} ``indices``."
    change.__name__ = change.__qualname__ = f"scatter_nd_{way.name}" if nd else f"scatter_{way.name}"
    return change


scatter_update = _scattering(variable_scatters.UPDATE, "put at", locks=True)
scatter_add = _scattering(variable_scatters.ADD, "added to")
scatter_sub = _scattering(variable_scatters.SUBTRACT, "subtracted from")
scatter_mul = _scattering(variable_scatters.MULTIPLY, "multiplied into")
scatter_div = _scattering(variable_scatters.DIVIDE, "taken as divisors of")
scatter_max = _scattering(variable_scatters.GREATEST, "put where they are greater at")
scatter_min = _scattering(variable_scatters.LEAST, "put where they are less at")
scatter_nd_update = _scattering(variable_scatters.UPDATE, "put at", nd=True, locks=True)
scatter_nd_add = _scattering(variable_scatters.ADD, "added to", nd=True)
scatter_nd_sub = _scattering(variable_scatters.SUBTRACT, "subtracted from", nd=True)
