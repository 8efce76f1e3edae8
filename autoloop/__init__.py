"""Python loops over NumPy-like tensors, converted to dataflow graphs.

Write an ordinary function, decorate it with ``function``, and its ``while``, ``for``, ``if``, ``break``,
``continue`` and ``return`` on tensor values become graph loops that run in parallel.

``import x as x`` tells checkers that a name is public.
"""

from __future__ import annotations

import math as _math
import os as _os
import sys as _sys
import typing as _typing

from autoloop_runtime.base.collector import NoCollection as _NoCollection

with _NoCollection():  # NumPy comes with the first of these, where it is not there yet
    from autoloop_runtime.base.kept_modules import find_kept as _find_kept
    from autoloop_runtime.base.kept_modules import named as _named

    _kept = _find_kept()

    from autoloop_runtime import ops as _ops
    from autoloop_runtime.base import locations as _locations
    from autoloop_runtime.base import nest as nest
    from autoloop_runtime.base.callbacks import WATCHES as _WATCHES
    from autoloop_runtime.base.config import config as config
    from autoloop_runtime.base.doors import door as _door
    from autoloop_runtime.base.doors import listing as _listing
    from autoloop_runtime.base.dtypes import as_dtype as as_dtype
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
    from autoloop_runtime.base.native_extra import UnusableCacheWarning as UnusableCacheWarning
    from autoloop_runtime.base.shapes import TensorShape as TensorShape
    from autoloop_runtime.ir.convert import constant as constant
    from autoloop_runtime.ir.convert import convert_to_tensor as convert_to_tensor
    from autoloop_runtime.ir.graph import Graph as Graph
    from autoloop_runtime.ir.op import function as _named_function
    from autoloop_runtime.ir.standard_protocols import offer_namespace as _offer_namespace
    from autoloop_runtime.ir.tensor import Tensor as Tensor
    from autoloop_runtime.ir.tensor_spec import TensorSpec as TensorSpec
    from autoloop_runtime.ops import later_rows as _later_rows

    from .concrete import ConcreteFunction as ConcreteFunction
    from .function import Function as Function
    from .function import function as function

if _typing.TYPE_CHECKING:
    from autoloop_runtime.collections import sparse as sparse
    from autoloop_runtime.collections.sparse import IndexedSlices as IndexedSlices
    from autoloop_runtime.collections.sparse import IndexedSlicesSpec as IndexedSlicesSpec
    from autoloop_runtime.collections.sparse import SparseTensor as SparseTensor
    from autoloop_runtime.collections.sparse import SparseTensorSpec as SparseTensorSpec
    from autoloop_runtime.collections.tensor_array import TensorArray as TensorArray
    from autoloop_runtime.collections.variables import Variable as Variable
    from autoloop_runtime.control.map_scan import foldl as foldl
    from autoloop_runtime.control.map_scan import foldr as foldr
    from autoloop_runtime.control.map_scan import map_fn as map_fn
    from autoloop_runtime.control.map_scan import scan as scan
    from autoloop_runtime.control.vectorized_map import vectorized_map as vectorized_map
    from autoloop_runtime.control.while_loop import case as case
    from autoloop_runtime.control.while_loop import cond as cond
    from autoloop_runtime.control.while_loop import switch_case as switch_case
    from autoloop_runtime.control.while_loop import while_loop as while_loop
    from autoloop_runtime.ops import *  # noqa: F403  (the array functions: ops.__all__ is their list)
    from autoloop_runtime.running.automatic import MissingNativeWarning as MissingNativeWarning
    from autoloop_runtime.running.session import Session as Session
    from autoloop_runtime.running.session import get_default_graph as get_default_graph
    from autoloop_runtime.running.session import placeholder as placeholder

    from . import compat as compat
    from . import debugging as debugging
    from . import errors as errors
    from . import fft as fft
    from . import linalg as linalg
    from . import profiler as profiler
    from . import typing as typing
    from .array_api import __array_namespace_info__ as __array_namespace_info__
    from .array_api import asarray as asarray
    from .array_api import astype as astype
    from .array_api import broadcast_arrays as broadcast_arrays
    from .array_api import can_cast as can_cast
    from .array_api import cumulative_prod as cumulative_prod
    from .array_api import cumulative_sum as cumulative_sum
    from .array_api import empty as empty
    from .array_api import empty_like as empty_like
    from .array_api import finfo as finfo
    from .array_api import from_dlpack as from_dlpack
    from .array_api import iinfo as iinfo
    from .array_api import isdtype as isdtype
    from .array_api import matrix_transpose as matrix_transpose
    from .array_api import nextafter as nextafter
    from .array_api import positive as positive
    from .array_api import result_type as result_type
    from .array_api import signbit as signbit
    from .array_api import unique_all as unique_all
    from .array_api import unique_counts as unique_counts
    from .array_api import unique_inverse as unique_inverse
    from .array_api import unique_values as unique_values
    from .array_api import vecdot as vecdot
    from .batching import fori_loop as fori_loop
    from .batching import hessian as hessian
    from .batching import jacfwd as jacfwd
    from .batching import jacrev as jacrev
    from .batching import vmap as vmap
    from .conversion.pipeline import convert as convert
    from .conversion.pipeline import do_not_convert as do_not_convert
    from .differentiation import GradientTape as GradientTape
    from .differentiation import custom_gradient as custom_gradient
    from .differentiation import grad as grad
    from .differentiation import gradients as gradients
    from .differentiation import hessian_vector_product as hessian_vector_product
    from .differentiation import jacobian as jacobian
    from .differentiation import jvp as jvp
    from .differentiation import value_and_grad as value_and_grad
    from .differentiation import vjp as vjp
    from .explanation import explain as explain
    from .kept_checkpoints import CheckpointError as CheckpointError
    from .kept_checkpoints import keep_checkpoints as keep_checkpoints
    from .onnx_export import export_onnx as export_onnx
    from .operators import set_loop_options as set_loop_options
    from .rematerialised import checkpoint as checkpoint
    from .rematerialised import remat as remat
    from .saving import LoadedFunction as LoadedFunction
    from .saving import LoadError as LoadError
    from .saving import SaveError as SaveError
    from .saving import load as load
    from .saving import save as save
    from .spellings import *  # noqa: F403
    from .versions import show_versions as show_versions
    from .viewing import Drawing as Drawing
    from .viewing import draw as draw
    from .viewing import to_code as to_code
    from .viewing.magics import load_ipython_extension as load_ipython_extension
    from .viewing.report import Report as Report
    from .viewing.report import report as report
else:
    globals().update({_name: vars(_ops)[_name] for _name in _ops.AT_ONCE})

#: what watches functions that are called with tensors, and what shows values: few programs need these at once
_watching: dict[str, _typing.Any] = {"__name__": __name__}
_WATCHER = "no_tensors_left"
_SHOWER = "html_of"  # of notebooks
_DEFINER = "graph_definition"  # of graphs of 1.x
_LOWERER = "lowered_of"
_watcher = _door(
    _watching,
    {
        _WATCHER: "autoloop.operators.mutation.left_tensors",
        _SHOWER: "autoloop.viewing.notebook",
        _DEFINER: "autoloop.compat.graph_definition",
        _LOWERER: "autoloop.lowering_ahead",
    },
)
_WATCHES.append(lambda *given: (_watching.get(_WATCHER) or _watcher(_WATCHER))(*given))

_named_function(_DEFINER, lambda graph: (_watching.get(_DEFINER) or _watcher(_DEFINER))(graph))
_named_function(_SHOWER, lambda value: (_watching.get(_SHOWER) or _watcher(_SHOWER))(value))
_named_function(_LOWERER, lambda *given: _watcher(_LOWERER)(*given))

_named(nest)
_locations.mark_internal(_os.path.dirname(__file__))
bool = bool_  # the dtype, under the name the field uses
for _alias, _name in _ops.ALIASES.items():
    globals().setdefault(_alias, getattr(_ops, _name))

e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
pi = _math.pi

__version__ = "0.2.0"
#: of the array API standard
__array_api_version__ = "2024.12"
_offer_namespace(_sys.modules[__name__])

#: modules that many programs do without: imported when one of these names is first asked for. Of a package always the
#: whole: two threads that import different modules of it first wait for each other in a circle
_LATER = {
    "autoloop.array_api": (
        "__array_namespace_info__", "asarray", "astype", "broadcast_arrays", "can_cast", "cumulative_prod",
        "cumulative_sum", "empty", "empty_like", "finfo", "from_dlpack", "iinfo", "isdtype", "matrix_transpose",
        "nextafter", "positive", "result_type", "signbit", "unique_all", "unique_counts", "unique_inverse",
        "unique_values", "vecdot",
    ),
    "autoloop.batching": ("fori_loop", "hessian", "jacfwd", "jacrev", "vmap"),
    "autoloop.conversion.pipeline": ("convert", "do_not_convert"),
    "autoloop.differentiation": (
        "GradientTape", "custom_gradient", "grad", "gradients", "hessian_vector_product", "jacobian", "jvp",
        "value_and_grad", "vjp",
    ),
    "autoloop.explanation": ("explain",),
    "autoloop.kept_checkpoints": ("CheckpointError", "keep_checkpoints"),
    "autoloop.onnx_export": ("export_onnx",),
    "autoloop.operators": ("set_loop_options",),
    "autoloop.rematerialised": ("checkpoint", "remat"),
    "autoloop.saving": ("LoadError", "LoadedFunction", "SaveError", "load", "save"),
    "autoloop.viewing": ("Drawing", "draw", "to_code"),
    "autoloop.viewing.magics": ("load_ipython_extension",),
    "autoloop.versions": ("show_versions",),
    "autoloop.viewing.report": ("Report", "report"),
    "autoloop_runtime.collections.sparse": ("IndexedSlices", "IndexedSlicesSpec", "SparseTensor", "SparseTensorSpec"),
    "autoloop_runtime.collections.tensor_array": ("TensorArray",),
    "autoloop_runtime.collections.variables": ("Variable",),
    "autoloop_runtime.control.map_scan": ("foldl", "foldr", "map_fn", "scan"),
    "autoloop_runtime.control.vectorized_map": ("vectorized_map",),
    "autoloop_runtime.control.while_loop": ("case", "cond", "switch_case", "while_loop"),
    "autoloop_runtime.running.automatic": ("MissingNativeWarning",),
    "autoloop_runtime.running.session": ("Session", "get_default_graph", "placeholder"),
}  # fmt: skip
#: the same of modules that are names themselves
_LATER_MODULES = {
    "compat": "autoloop.compat", "debugging": "autoloop.debugging", "errors": "autoloop.errors", "fft": "autoloop.fft",
    "linalg": "autoloop.linalg", "profiler": "autoloop.profiler", "random": "autoloop_runtime.ops.random",
    "sparse": "autoloop_runtime.collections.sparse", "typing": "autoloop.typing",
}  # fmt: skip
_MODULE_OF = {
    **_LATER_MODULES,
    **{name: module for module, names in _LATER.items() for name in names},
    **_later_rows.MODULE_OF,
    **{alias: _later_rows.MODULE_OF[name] for alias, name in _later_rows.SPELLED.items()},
}
if not _typing.TYPE_CHECKING:  # which are told of each name above
    __getattr__ = _door(globals(), _MODULE_OF, _LATER_MODULES, _later_rows.SPELLED)

__all__ = [  # noqa: F405  (a test compares it with what there is; a star takes no name from Python's builtins)
    "Assert", "CheckpointError", "ConcreteFunction", "Drawing", "Function", "GradientTape", "Graph", "IndexedSlices",
    "IndexedSlicesSpec", "LoadError", "LoadedFunction", "MissingNativeWarning", "Print", "Report", "SaveError",
    "Session", "SparseTensor", "SparseTensorSpec", "Tensor", "TensorArray", "TensorShape", "TensorSpec",
    "UnusableCacheWarning", "Variable", "acos", "acosh", "add", "add_at", "allclose", "angle", "arange",
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "argmax", "argmin", "argsort", "argwhere", "array_equal", "as_dtype", "asarray", "asin", "asinh",
    "assert_true", "astype", "atan", "atan2", "atanh", "average", "bincount", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool_", "boolean_mask",
    "broadcast_arrays", "broadcast_to", "can_cast", "case", "cast", "cbrt", "ceil", "checkpoint", "cholesky",
    "clip",
    "clip_by_value", "compat", "complex64", "complex128", "concat", "concatenate", "cond", "config", "conj",
    "constant", "convert", "convert_to_tensor", "copysign", "cos", "cosh", "count_nonzero", "cross", "cumprod",
    "cumsum", "cumulative_prod", "cumulative_sum", "custom_gradient", "debugging", "det", "diag", "diag_part",
    "diagonal", "diff", "div", "divide", "do_not_convert", "dot", "draw", "e", "einsum", "empty", "empty_like",
    "ensure_shape", "equal", "erf", "exp", "exp2", "expand_dims", "explain", "expm1", "export_onnx", "eye",
    "fft", "fill",
    "finfo", "flatten", "flip", "float16", "float32", "float64", "floor", "floor_divide", "floordiv", "floormod",
    "foldl", "foldr", "fori_loop", "format_string", "from_dlpack", "full", "full_like", "function", "gather",
    "gather_nd",
    "get_default_graph", "getitem", "grad", "gradients", "greater", "greater_equal", "hessian",
    "hessian_vector_product",
    "hstack", "hypot", "identity", "iinfo", "imag", "index_add", "inf", "inner", "int8", "int16", "int32",
    "int64", "inv", "invert", "is_close", "is_finite", "is_inf", "is_nan", "isclose", "isdtype", "isfinite",
    "isinf", "isnan", "jacfwd", "jacobian", "jacrev", "jvp", "keep_checkpoints",
    "left_shift", "less", "less_equal", "linalg", "linspace",
    "load", "load_ipython_extension", "log", "log1p", "log2", "log10", "log_softmax", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logsumexp", "map_fn", "matmul", "matrix_determinant",
    "matrix_inverse", "matrix_solve", "matrix_transpose", "maximum", "mean", "meshgrid", "minimum", "mod",
    "moveaxis", "mul", "multiply", "nan", "nan_to_num", "neg", "negative", "nest", "newaxis", "nextafter",
    "nonzero", "norm", "not_equal", "one_hot", "ones", "ones_like", "outer", "pad", "permute_dims", "pi",
    "placeholder", "positive", "prod", "profiler", "ptp", "py_function", "raise_error", "random", "rank", "ravel",
    "real", "reciprocal", "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean",
    "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "relu", "remainder", "remat",
    "repeat",
    "report", "reshape", "result_type", "reverse", "right_shift", "rint", "roll", "rsqrt", "save", "scan", "scatter",
    "scatter_add", "scatter_nd", "scatter_update", "searchsorted", "set_item", "set_loop_options", "shape",
    "show_versions",
    "sigmoid", "sign", "signbit", "sin", "sinh", "size", "softmax", "softplus", "solve", "sort", "sparse",
    "split", "sqrt", "square", "squeeze", "stack", "std", "stop_gradient", "string", "sub", "subtract",
    "swapaxes", "switch_case", "take", "take_along_axis", "tan", "tanh", "tensor_scatter_nd_add",
    "tensor_scatter_nd_update", "tensordot", "tile", "to_code", "top_k", "trace", "transpose", "tril", "triu",
    "truediv", "trunc", "uint8", "uint16", "uint32", "uint64", "unique", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "unstack", "value_and_grad", "var", "vdot", "vecdot", "vectorized_map",
    "vjp", "vmap", "vstack", "where", "while_loop", "zeros", "zeros_like",
]  # fmt: skip
#: public, too
_NOT_OF_A_STAR = (
    "__array_api_version__", "__array_namespace_info__", "__version__", "abs", "all", "any", "bool", "complex",
    "errors", "max", "min", "pow", "print", "range", "round", "sum", "typing",
)  # fmt: skip
if _typing.TYPE_CHECKING:
    MYPY = False  # which mypy takes for true; pyright counts names of another package's star as private if not listed
    if not MYPY:
        __all__ += ["abs", "all", "any", "complex", "max", "min", "pow", "print", "range", "round", "sum"]
__dir__ = _listing(globals(), *_NOT_OF_A_STAR)

if _kept is not None:
    _kept.end_of_import()
