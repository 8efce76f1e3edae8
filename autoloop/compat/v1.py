"""The 1.x names: what programs of loops and variables in graphs use. ``docs/names-of-1.x.md`` lists them.

Here ops build instead of compute: without a default graph they go into the implicit one, which ``Session()``
runs. ``while_loop`` has the 1.x return convention, and ``Print`` writes to ``sys.stderr`` whenever its value is
computed.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

from autoloop_runtime import ops
from autoloop_runtime.base import nest as nest
from autoloop_runtime.base.doors import listing
from autoloop_runtime.base.dtypes import bool_ as bool_
from autoloop_runtime.base.dtypes import complex64 as complex64
from autoloop_runtime.base.dtypes import complex128 as complex128
from autoloop_runtime.base.dtypes import float16 as float16
from autoloop_runtime.base.dtypes import float32 as float32
from autoloop_runtime.base.dtypes import float64 as float64
from autoloop_runtime.base.dtypes import int8 as int8
from autoloop_runtime.base.dtypes import int16 as int16
from autoloop_runtime.base.dtypes import int32 as int32
from autoloop_runtime.base.dtypes import int64 as int64
from autoloop_runtime.base.dtypes import string as string
from autoloop_runtime.base.dtypes import uint8 as uint8
from autoloop_runtime.base.dtypes import uint16 as uint16
from autoloop_runtime.base.dtypes import uint32 as uint32
from autoloop_runtime.base.dtypes import uint64 as uint64
from autoloop_runtime.base.shapes import TensorShape as TensorShape
from autoloop_runtime.collections import sparse
from autoloop_runtime.collections.sparse import IndexedSlices as IndexedSlices
from autoloop_runtime.collections.sparse import IndexedSlicesSpec as IndexedSlicesSpec
from autoloop_runtime.collections.sparse import SparseTensor as SparseTensor
from autoloop_runtime.collections.sparse import SparseTensorSpec as SparseTensorSpec
from autoloop_runtime.collections.tensor_array import TensorArray as TensorArray
from autoloop_runtime.gradients import GradientTape as GradientTape
from autoloop_runtime.gradients import custom_gradient as custom_gradient
from autoloop_runtime.ir import convert
from autoloop_runtime.ir.graph import Graph as Graph
from autoloop_runtime.ir.graph import Node
from autoloop_runtime.ir.tensor import Tensor as Tensor
from autoloop_runtime.ir.tensor_spec import TensorSpec as TensorSpec
from autoloop_runtime.running.interactive_session import InteractiveSession as InteractiveSession
from autoloop_runtime.running.session import Session as Session
from autoloop_runtime.running.session import get_default_graph as get_default_graph
from autoloop_runtime.running.session import get_default_session as get_default_session
from autoloop_runtime.running.session import placeholder as placeholder
from autoloop_runtime.running.session import reset_default_graph as reset_default_graph
from autoloop_runtime.running.sparse_placeholder import sparse_placeholder as sparse_placeholder

from . import app as app
from . import flags as flags
from . import nn as nn
from . import train as train
from .arrays_of_1x import *
from .building import Names, building, missing
from .clipping import *
from .creation_of_1x import *
from .graph_building import *
from .graph_keys import *
from .graph_variables import *
from .initializers import *
from .loops_of_1x import *
from .numeric_checks import *
from .reductions_of_1x import *
from .run_notes import *
from .seeds import *
from .session_parts import *
from .variable_scopes import *

if TYPE_CHECKING:  # what the loops at the end put in
    from .same_names import *

Operation = Node
Dimension = int
bool = bool_
#: what ``tf.compat.v1`` finds under ``import autoloop.compat.v1 as tf``
compat = types.SimpleNamespace(v1=sys.modules[__name__])
#: the random functions by their newer names, and the initialisers by their shorter ones
random: Any = Names(
    "v1.random",
    normal=random_normal,
    uniform=random_uniform,
    truncated_normal=truncated_normal,
    shuffle=random_shuffle,
    multinomial=multinomial,
    set_random_seed=set_random_seed,
    get_seed=get_seed,
)
initializers = Names(
    "v1.initializers",
    constant=constant_initializer,
    glorot_normal=glorot_normal_initializer,
    glorot_uniform=glorot_uniform_initializer,
    ones=ones_initializer,
    random_normal=random_normal_initializer,
    random_uniform=random_uniform_initializer,
    truncated_normal=truncated_normal_initializer,
    variance_scaling=variance_scaling_initializer,
    zeros=zeros_initializer,
    variables=variables_initializer,
    global_variables=global_variables_initializer,
    local_variables=local_variables_initializer,
)


for _name in ops.__all__:  # type: ignore[attr-defined]  # which checkers are not shown
    _value = getattr(ops, _name)
    globals().setdefault(_name, building(_value) if isinstance(_value, types.FunctionType) else _value)
for _name, _value in ops.ALIASES.items():
    globals().setdefault(_name, building(getattr(ops, _value)))
sparse_add, sparse_reduce_sum = building(sparse.add), building(sparse.reduce_sum)
sparse_reorder, sparse_retain = building(sparse.reorder), building(sparse.retain)
sparse_slice, sparse_transpose = building(sparse.slice), building(sparse.transpose)
sparse_tensor_dense_matmul, sparse_tensor_to_dense = building(sparse.matmul), building(sparse.to_dense)
convert_to_tensor = building(convert.convert_to_tensor)


__all__ = [
    "AUTO_REUSE", "Assert", "ConfigProto", "Dimension", "GPUOptions", "GradientTape", "Graph", "GraphKeys",
    "IndexedSlices", "IndexedSlicesSpec", "IndexedSlicesValue", "InteractiveSession", "Operation", "Print",
    "RunMetadata", "RunOptions", "Session", "SparseTensor", "SparseTensorSpec", "SparseTensorValue", "Tensor",
    "TensorArray", "TensorShape", "TensorSpec", "UnconnectedGradients", "Variable", "VariableScope", "abs", "acos",
    "acosh", "add", "add_at", "add_n", "add_to_collection", "add_to_collections", "all", "all_variables",
    "allclose", "angle", "any", "app", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "argmax", "argmin", "argsort", "argwhere", "array_equal", "asin", "asinh", "assert_equal",
    "assert_greater", "assert_greater_equal", "assert_integer", "assert_less", "assert_less_equal", "assert_near",
    "assert_negative", "assert_non_negative", "assert_non_positive", "assert_none_equal", "assert_positive",
    "assert_proper_iterable", "assert_rank", "assert_rank_at_least", "assert_rank_in", "assert_scalar",
    "assert_true", "assert_type", "assert_variables_initialized", "assign", "assign_add", "assign_sub", "atan",
    "atan2", "atanh", "average", "bincount", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bool", "bool_", "boolean_mask", "broadcast_to", "case", "cast", "cbrt",
    "ceil", "check_numerics", "cholesky", "clip", "clip_by_average_norm", "clip_by_global_norm", "clip_by_norm",
    "clip_by_value", "compat", "complex", "complex64", "complex128", "concat", "concatenate", "cond", "conj",
    "constant", "constant_initializer", "control_dependencies", "convert_to_tensor", "copysign", "cos", "cosh",
    "count_nonzero", "count_up_to", "cross", "cumprod", "cumsum", "custom_gradient", "det", "device", "diag",
    "diag_part", "diagonal", "diff", "disable_control_flow_v2", "disable_eager_execution",
    "disable_resource_variables", "disable_v2_behavior", "div", "divide", "dot", "einsum", "ensure_shape", "equal",
    "erf", "executing_eagerly", "exp", "exp2", "expand_dims", "expm1", "eye", "fill", "flags", "flatten", "flip",
    "float16", "float32", "float64", "floor", "floor_divide", "floordiv", "floormod", "foldl", "foldr",
    "format_string", "full", "full_like", "gather", "gather_nd", "get_collection", "get_collection_ref",
    "get_default_graph", "get_default_session", "get_local_variable", "get_seed", "get_variable",
    "get_variable_scope", "getitem", "global_norm", "global_variables", "global_variables_initializer",
    "glorot_normal_initializer", "glorot_uniform_initializer", "gradients", "greater", "greater_equal", "group",
    "hessians", "hstack", "hypot", "identity", "imag", "index_add", "initialize_all_variables",
    "initialize_local_variables", "initialize_variables", "initializers", "inner", "int8", "int16", "int32",
    "int64", "inv", "invert", "invert_permutation", "is_close", "is_finite", "is_inf", "is_nan",
    "is_variable_initialized", "isclose", "isfinite", "isinf", "isnan", "left_shift", "less", "less_equal",
    "lin_space", "linspace", "local_variables", "local_variables_initializer", "log", "log1p", "log2", "log10",
    "log_softmax", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "map_fn",
    "matmul", "matrix_determinant", "matrix_inverse", "matrix_solve", "max", "maximum", "mean", "meshgrid", "min",
    "minimum", "mod", "model_variables", "moveaxis", "mul", "multinomial", "multiply", "name_scope", "nan_to_num",
    "neg", "negative", "nest", "nn", "no_op", "no_regularizer", "nonzero", "norm", "not_equal", "one_hot", "ones",
    "ones_initializer", "ones_like", "outer", "pad", "permute_dims", "placeholder", "placeholder_with_default",
    "pow", "print", "prod", "ptp", "py_func", "py_function", "raise_error", "random", "random_normal",
    "random_normal_initializer", "random_shuffle", "random_uniform", "random_uniform_initializer", "range", "rank",
    "ravel", "real", "realdiv", "reciprocal", "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max",
    "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "relu", "remainder",
    "repeat", "report_uninitialized_variables", "reset_default_graph", "reshape", "reverse", "right_shift", "rint",
    "roll", "round", "rsqrt", "scan", "scatter", "scatter_add", "scatter_div", "scatter_max", "scatter_min",
    "scatter_mul", "scatter_nd", "scatter_nd_add", "scatter_nd_sub", "scatter_nd_update", "scatter_sub",
    "scatter_update", "searchsorted", "sequence_mask", "set_item", "set_random_seed", "shape", "sigmoid", "sign",
    "sin", "sinh", "size", "slice", "softmax", "softplus", "solve", "sort", "sparse_add", "sparse_placeholder",
    "sparse_reduce_sum", "sparse_reorder", "sparse_retain", "sparse_slice", "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense", "sparse_transpose", "split", "sqrt", "square", "squared_difference", "squeeze",
    "stack", "std", "stop_gradient", "string", "sub", "subtract", "sum", "summary", "swapaxes", "switch_case",
    "take", "take_along_axis", "tan", "tanh", "tensor_scatter_nd_add", "tensor_scatter_nd_update", "tensordot",
    "tile", "to_double", "to_float", "to_int32", "to_int64", "top_k", "trace", "train", "trainable_variables",
    "transpose", "tril", "triu", "truediv", "trunc", "truncated_normal", "truncated_normal_initializer",
    "truncatediv", "tuple", "uint8", "uint16", "uint32", "uint64", "unique", "unstack", "var", "variable_scope",
    "variables_initializer", "variance_scaling_initializer", "vdot", "vectorized_map", "verify_tensor_all_finite",
    "vstack", "where", "while_loop", "zeros", "zeros_initializer", "zeros_like",
]  # fmt: skip
__dir__ = listing(globals())

if not TYPE_CHECKING:  # who would take every name for one that is there

    def __getattr__(name: str) -> Any:
        missing("v1", name, {
            "layers": "make the variables with get_variable, and multiply", "contrib": "of it nothing is there",
            "estimator": "write the loop of training with a Session", "data": "feed arrays",
            "keras": "make the variables with get_variable, and multiply", "losses": "write the loss out, or see nn",
            "get_session_handle": "a run gives arrays, which can be fed again",
            "errors": "a run raises Python's own, a RuntimeError for a variable without a value, an IndexError, ...",
            "enable_eager_execution": "use the names of autoloop itself",
        })  # fmt: skip
