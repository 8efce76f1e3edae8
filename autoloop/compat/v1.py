"""The 1.x names of the reference documents.

Here ops build instead of compute: without a default graph they go into the implicit one, which ``Session()``
runs. ``while_loop`` has the 1.x return convention, and ``Print`` writes to ``sys.stderr`` whenever its value is
computed.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from autoloop_runtime import ops
from autoloop_runtime.base import dtypes, nest
from autoloop_runtime.base.callbacks import calls_back
from autoloop_runtime.base.contexts import Setting
from autoloop_runtime.base.doors import listing
from autoloop_runtime.base.dtypes import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from autoloop_runtime.base.shapes import ShapeLike, TensorShape
from autoloop_runtime.collections import sparse, variables
from autoloop_runtime.collections.sparse import IndexedSlices, IndexedSlicesSpec, SparseTensor, SparseTensorSpec
from autoloop_runtime.collections.tensor_array import TensorArray
from autoloop_runtime.collections.variables import awaited, global_variables_initializer, group
from autoloop_runtime.control import map_scan as functional
from autoloop_runtime.control import vectorized_map as vectorize
from autoloop_runtime.control import while_loop as control_flow
from autoloop_runtime.gradients import GradientTape, custom_gradient, gradients
from autoloop_runtime.ir.convert import constant, convert_to_tensor
from autoloop_runtime.ir.graph import CONST as _CONST
from autoloop_runtime.ir.graph import Graph, Node, current_graph
from autoloop_runtime.ir.tensor_spec import TensorSpec
from autoloop_runtime.running.session import (
    Session,
    get_default_graph,
    get_default_session,
    placeholder,
    reset_default_graph,
)
from autoloop_runtime.running.sparse_placeholder import sparse_placeholder

if TYPE_CHECKING:  # what the loops at the end put in
    from autoloop_runtime.ops import *  # noqa: F403

    from ..spellings import *  # noqa: F403

P = ParamSpec("P")
R = TypeVar("R")
Operation = Node
Dimension = int
bool = bool_
#: what ``tf.compat.v1`` finds under ``import autoloop.compat.v1 as tf``
compat = types.SimpleNamespace(v1=sys.modules[__name__])


def _building(f: Callable[P, R]) -> Callable[P, R]:
    """Return ``f``, to be called in the implicit default graph where no other is active."""

    @functools.wraps(f)
    def build(*args: P.args, **kwargs: P.kwargs) -> R:
        if current_graph() is not None:
            return f(*args, **kwargs)
        with get_default_graph().as_default():
            return f(*args, **kwargs)

    return build


@calls_back("cond", "body")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: Any = True,
    swap_memory: Any = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: Any = False,
) -> Any:
    """Repeat ``body`` while ``cond`` is true, as ``autoloop.while_loop`` does, with the result convention of 1.x.

    Returns
    -------
    Tensor, TensorArray or list
        The one variable by itself; else a list where ``loop_vars`` and the body's value are lists, else the
        body's structure. With ``return_same_structure`` the structure of ``loop_vars``.
    """
    seen: list[Any] = []

    @functools.wraps(body)
    def recording(*args: Any) -> Any:
        seen.append(body(*args))
        return seen[-1]

    result = _building(control_flow.while_loop)(
        cond, recording if callable(body) else body, loop_vars, shape_invariants, parallel_iterations,
        back_prop, swap_memory, maximum_iterations, name,
    )  # fmt: skip
    if return_same_structure or not isinstance(result, (list, tuple)):
        return result
    if len(result) == 1:
        return result[0]
    made = seen[-1]
    if hasattr(made, "_fields"):
        return type(made)(*result)
    return type(made)(result)


class FileWriter:
    """Writes graphs where TensorBoard finds them: ``tensorboard --logdir DIR``. It needs the extra ``viewer``.

    Parameters
    ----------
    logdir : path
        A folder, made if it is not there; each writer writes a new file in it.
    graph : Graph, optional
        Written at once.

    Raises
    ------
    ImportError
        If TensorBoard is not installed.
    """

    def __init__(self, logdir: str, graph: Graph | None = None) -> None:
        from ..viewing.tensorboard_graph import EventFile

        self._logdir, self._file = logdir, EventFile(logdir)
        if graph is not None:
            self.add_graph(graph)

    def add_graph(self, graph: Graph) -> None:
        """Write a graph."""
        self._file.add(graph)

    def get_logdir(self) -> str:
        """Return the folder."""
        return self._logdir

    def flush(self) -> None:
        """Write what there is to the file."""
        self._file.flush()

    def close(self) -> None:
        """Write what there is, and close the file."""
        self._file.close()

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


summary = types.SimpleNamespace(FileWriter=FileWriter)


# -- variables --------------------------------------------------------------------------------------------


def ones_initializer(dtype: Any = float32) -> Callable[..., Any]:
    """Initialise with ones."""
    return lambda shape, dtype=dtype: ops.ones(shape, dtype)


def zeros_initializer(dtype: Any = float32) -> Callable[..., Any]:
    """Initialise with zeros."""
    return lambda shape, dtype=dtype: ops.zeros(shape, dtype)


def constant_initializer(value: Any = 0, dtype: Any = float32) -> Callable[..., Any]:
    """Initialise with ``value``."""
    return lambda shape, dtype=dtype: ops.broadcast_to(convert_to_tensor(value, dtype), shape)


def random_normal_initializer(
    mean: float = 0.0, stddev: float = 1.0, seed: Any = None, dtype: Any = float32
) -> Callable[..., Any]:
    """Initialise with normally distributed numbers."""
    key = None if seed is None else ops.random.key(seed)
    return lambda shape, dtype=dtype: ops.random.normal(shape, mean, stddev, dtype, key)


def random_uniform_initializer(
    minval: float = 0.0, maxval: float = 1.0, seed: Any = None, dtype: Any = float32
) -> Callable[..., Any]:
    """Initialise with uniformly distributed numbers."""
    key = None if seed is None else ops.random.key(seed)
    return lambda shape, dtype=dtype: ops.random.uniform(shape, minval, maxval, dtype, key)


AUTO_REUSE = "auto"
_scope: ContextVar[tuple[str, Any]] = ContextVar("autoloop_variable_scope", default=("", None))


def variable_scope(name: str, reuse: Any = None) -> Setting[None]:
    """Prefix the names of ``get_variable`` and say whether it may give an existing variable."""
    outer, outer_reuse = _scope.get()
    return Setting(None, (_scope, (f"{outer}/{name}" if outer else name, reuse or outer_reuse)))


@_building
def get_variable(
    name: str, shape: ShapeLike = None, dtype: Any = None, initializer: Any = None,
    regularizer: Any = None, trainable: Any = True, **more: Any,
) -> variables.Variable:  # fmt: skip
    """Return a variable of the default graph, by name.

    Raises
    ------
    ValueError
        If it exists and the variable scope does not say ``reuse``.
    """
    _refuse_arguments("get_variable", more)
    graph = get_default_graph().root
    prefix, reuse = _scope.get()
    full = f"{prefix}/{name}" if prefix else name
    known: dict[str, variables.Variable] = {v.name.partition(":")[0]: v for v in graph.collections.get("variables", [])}
    if full in known:
        if not reuse:
            raise ValueError(f"variable {full!r} exists already; use variable_scope(..., reuse=True) to get it [AL901]")
        return known[full]
    if reuse is True:
        raise ValueError(f"variable {full!r} does not exist, and reuse=True does not make one [AL901]")
    if initializer is None:
        initializer = zeros_initializer()
    if isinstance(initializer, type):
        initializer = initializer()
    dtype = dtypes.as_dtype(dtype or float32)
    if callable(initializer):
        if shape is None:
            raise ValueError(f"get_variable({name!r}) needs a shape for its initializer [AL901]")
        make = functools.partial(initializer, TensorShape(shape).as_list(), dtype=dtype)
    else:
        make = functools.partial(convert_to_tensor, initializer)
    return variables.Variable(make, trainable, full)


@_building
def Variable(initial_value: Any = None, trainable: Any = True, **kwargs: Any) -> variables.Variable:
    """Return a variable of the default graph."""
    names = {"name", "dtype", "shape"}
    _refuse_arguments("Variable", {k: v for k, v in kwargs.items() if k not in names})
    return variables.Variable(initial_value, trainable, **{k: v for k, v in kwargs.items() if k in names})


def _refuse_arguments(name: str, arguments: dict[str, Any]) -> None:
    """Refuse what asks for something; where a variable is kept is nothing to us."""
    for argument, value in arguments.items():
        if value is not None and argument not in ("use_resource", "caching_device"):
            raise TypeError(f"{name} does not take the argument {argument!r}; leave it out [AL902]")


def global_variables() -> list[variables.Variable]:
    """Return the variables of the default graph."""
    return list(get_default_graph().collections.get("variables", []))


def trainable_variables() -> list[variables.Variable]:
    """Return the variables of the default graph that were not made with ``trainable=False``."""
    return [v for v in global_variables() if v.trainable]


def local_variables_initializer() -> Any:
    """Return an operation that does nothing: there are no local variables."""
    return no_op()


initialize_all_variables = global_variables_initializer


@_building
def no_op(name: str | None = None) -> Any:
    """Return an operation that does nothing."""
    return group(name=name or "no_op")


def assign(ref: variables.Variable, value: Any, name: str | None = None) -> Any:
    """Return ``ref.assign(value)``."""
    return ref.assign(value, name=name)


def assign_add(ref: variables.Variable, value: Any, name: str | None = None) -> Any:
    """Return ``ref.assign_add(value)``."""
    return ref.assign_add(value, name=name)


def assign_sub(ref: variables.Variable, value: Any, name: str | None = None) -> Any:
    """Return ``ref.assign_sub(value)``."""
    return ref.assign_sub(value, name=name)


# -- graph building ---------------------------------------------------------------------------------------


def control_dependencies(control_inputs: Sequence[Any] | None) -> Any:
    """Let what is made inside run only after ``control_inputs`` (operations or tensors); ``None``:
    after nothing."""
    graph = get_default_graph()
    return graph.control_dependencies(None if control_inputs is None else awaited(list(control_inputs)))


def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> Any:
    """Prefix the names of what is made inside."""
    return get_default_graph().name_scope(name or default_name or "scope")


def placeholder_with_default(input: Any, shape: ShapeLike = None, name: str | None = None) -> Any:
    """Return ``input`` unless something else is fed."""
    tensor = _building(ops.identity)(input)
    assert tensor.op.op is not _CONST
    return tensor


@_building
def py_func(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: Any = True, name: str | None = None
) -> Any:
    """Return ``py_function`` under its 1.x name."""
    return ops.py_function(func, inp, Tout, name=name)


class SparseTensorValue(NamedTuple):
    """The parts of a SparseTensor as arrays, to be fed."""

    indices: Any
    values: Any
    dense_shape: Any


def ConfigProto(**settings: Any) -> dict[str, Any]:
    """Accept settings for compatibility; they have no effect."""
    return settings


def disable_v2_behavior() -> None:
    """Do nothing: this namespace is 1.x already."""


disable_eager_execution = disable_control_flow_v2 = disable_v2_behavior


def _cast_to(dtype: Any) -> Callable[..., Any]:
    return lambda x, name=None: _building(ops.cast)(x, dtype, name=name)


to_float, to_double, to_int32, to_int64 = (_cast_to(d) for d in (float32, float64, int32, int64))

for _name in ops.__all__:  # type: ignore[attr-defined]  # which checkers are not shown
    _value = getattr(ops, _name)
    globals().setdefault(_name, _building(_value) if isinstance(_value, types.FunctionType) else _value)
for _name, _value in ops.ALIASES.items():
    globals().setdefault(_name, _building(getattr(ops, _value)))
cond, case = _building(control_flow.cond), _building(control_flow.case)
switch_case = _building(control_flow.switch_case)
map_fn, scan = _building(functional.map_fn), _building(functional.scan)
foldl, foldr = _building(functional.foldl), _building(functional.foldr)
vectorized_map = _building(vectorize.vectorized_map)
sparse_add, sparse_reduce_sum = _building(sparse.add), _building(sparse.reduce_sum)
sparse_reorder, sparse_retain = _building(sparse.reorder), _building(sparse.retain)
sparse_slice, sparse_transpose = _building(sparse.slice), _building(sparse.transpose)
sparse_tensor_dense_matmul, sparse_tensor_to_dense = _building(sparse.matmul), _building(sparse.to_dense)
constant, convert_to_tensor = _building(constant), _building(convert_to_tensor)

__all__ = [  # noqa: F405  (some are put in by the loops above; Python's names are taken, as by TensorFlow's star)
    "AUTO_REUSE", "Assert", "ConfigProto", "Dimension", "FileWriter", "GradientTape", "Graph", "IndexedSlices",
    "IndexedSlicesSpec", "Operation", "Print", "Session", "SparseTensor", "SparseTensorSpec", "SparseTensorValue",
    "TensorArray", "TensorShape", "TensorSpec", "Variable", "abs", "acos", "acosh", "add", "add_at", "all",
    "allclose", "angle", "any", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "argmax", "argmin", "argsort", "argwhere", "array_equal", "asin", "asinh", "assert_true", "assign",
    "assign_add", "assign_sub", "atan", "atan2", "atanh", "average", "bincount", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool", "bool_", "boolean_mask",
    "broadcast_to", "case", "cast", "cbrt", "ceil", "cholesky", "clip", "clip_by_value", "compat", "complex",
    "complex64", "complex128", "concat", "concatenate", "cond", "conj", "constant", "constant_initializer",
    "control_dependencies", "convert_to_tensor", "copysign", "cos", "cosh", "count_nonzero", "cross", "cumprod",
    "cumsum", "custom_gradient", "det", "diag", "diag_part", "diagonal", "diff", "disable_control_flow_v2",
    "disable_eager_execution", "disable_v2_behavior", "div", "divide", "dot", "einsum", "ensure_shape", "equal",
    "erf", "exp", "exp2", "expand_dims", "expm1", "eye", "fill", "flatten", "flip", "float16", "float32",
    "float64", "floor", "floor_divide", "floordiv", "floormod", "foldl", "foldr", "format_string", "full",
    "full_like", "gather", "gather_nd", "get_default_graph", "get_default_session", "get_variable", "getitem",
    "global_variables", "global_variables_initializer", "gradients", "greater", "greater_equal", "group",
    "hstack", "hypot", "identity", "imag", "index_add", "initialize_all_variables", "inner", "int8", "int16",
    "int32", "int64", "inv", "invert", "is_close", "is_finite", "is_inf", "is_nan", "isclose", "isfinite",
    "isinf", "isnan", "left_shift", "less", "less_equal", "linspace", "local_variables_initializer", "log",
    "log1p", "log2", "log10", "log_softmax", "logaddexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logsumexp", "map_fn", "matmul", "matrix_determinant", "matrix_inverse", "matrix_solve", "max",
    "maximum", "mean", "meshgrid", "min", "minimum", "mod", "moveaxis", "mul", "multiply", "name_scope",
    "nan_to_num", "neg", "negative", "nest", "no_op", "nonzero", "norm", "not_equal", "one_hot", "ones",
    "ones_initializer", "ones_like", "outer", "pad", "permute_dims", "placeholder", "placeholder_with_default",
    "pow", "print", "prod", "ptp", "py_func", "py_function", "raise_error", "random", "random_normal_initializer",
    "random_uniform_initializer", "range", "rank", "ravel", "real", "reciprocal", "reduce_all", "reduce_any",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum",
    "reduce_variance", "relu", "remainder", "repeat", "reset_default_graph", "reshape", "reverse", "right_shift",
    "rint", "roll", "round", "rsqrt", "scan", "scatter", "scatter_add", "scatter_nd", "scatter_update",
    "searchsorted", "set_item", "shape", "sigmoid", "sign", "sin", "sinh", "size", "softmax", "softplus", "solve",
    "sort", "sparse", "sparse_add", "sparse_placeholder", "sparse_reduce_sum", "sparse_reorder", "sparse_retain",
    "sparse_slice", "sparse_tensor_dense_matmul", "sparse_tensor_to_dense", "sparse_transpose", "split", "sqrt",
    "square", "squeeze", "stack", "std", "stop_gradient", "string", "sub", "subtract", "sum", "summary",
    "swapaxes", "switch_case", "take", "take_along_axis", "tan", "tanh", "tensor_scatter_nd_add",
    "tensor_scatter_nd_update", "tensordot", "tile", "to_double", "to_float", "to_int32", "to_int64", "top_k",
    "trace", "trainable_variables", "transpose", "tril", "triu", "truediv", "trunc", "uint8", "uint16", "uint32",
    "uint64", "unique", "unstack", "var", "variable_scope", "vdot", "vectorized_map", "vstack", "where",
    "while_loop", "zeros", "zeros_initializer", "zeros_like",
]  # fmt: skip
__dir__ = listing(globals())
