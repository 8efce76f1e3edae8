"""Python loops over NumPy-like tensors, converted to dataflow graphs.

Write an ordinary function, decorate it with ``function``, and its ``while``, ``for``, ``if``, ``break``,
``continue`` and ``return`` on tensor values become graph loops that run in parallel.
"""

from __future__ import annotations

import importlib as _importlib
import os as _os
import typing as _typing

from autoloop_runtime import ops as _ops
from autoloop_runtime.base import config, nest, profiler
from autoloop_runtime.base import locations as _locations
from autoloop_runtime.base.dtypes import (
    as_dtype,
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
from autoloop_runtime.base.native_extra import UnusableCacheWarning
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.collections import sparse
from autoloop_runtime.collections.sparse import IndexedSlices, IndexedSlicesSpec, SparseTensor, SparseTensorSpec
from autoloop_runtime.collections.tensor_array import TensorArray
from autoloop_runtime.collections.variables import Variable
from autoloop_runtime.control.map_scan import foldl, foldr, map_fn, scan
from autoloop_runtime.control.vectorized_map import vectorized_map
from autoloop_runtime.control.while_loop import case, cond, switch_case, while_loop
from autoloop_runtime.ir.convert import constant, convert_to_tensor
from autoloop_runtime.ir.graph import Graph
from autoloop_runtime.ir.tensor import Tensor, TensorSpec
from autoloop_runtime.ops import *  # noqa: F403  (the array functions: ops.__all__ is their list)
from autoloop_runtime.running.automatic import MissingNativeWarning
from autoloop_runtime.running.session import Session, get_default_graph, placeholder

from .concrete import ConcreteFunction
from .conversion.pipeline import convert, do_not_convert, to_code
from .function import Function, function
from .operators import set_loop_options

if _typing.TYPE_CHECKING:
    from . import compat
    from .differentiation import (
        GradientTape,
        custom_gradient,
        grad,
        gradients,
        hessian_vector_product,
        jacobian,
        jvp,
        value_and_grad,
        vjp,
    )
    from .explanation import explain

_locations.mark_internal(_os.path.dirname(__file__))
bool = bool_  # the dtype, under the name the field uses
for _alias, _name in _ops.ALIASES.items():
    globals().setdefault(_alias, getattr(_ops, _name))

__version__ = "0.1.0"

#: modules that many programs do without: imported when one of these names is first asked for
_LATER = {
    "autoloop.compat": (),
    "autoloop.differentiation": (
        "GradientTape", "custom_gradient", "grad", "gradients", "hessian_vector_product", "jacobian", "jvp",
        "value_and_grad", "vjp",
    ),
    "autoloop.explanation": ("explain",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _LATER.items() for name in names or (module.rpartition(".")[2],)}
if not _typing.TYPE_CHECKING:  # checkers take every public name of this file, which is the same
    __all__ = [name for name in globals() if not name.startswith("_")]
    __all__ = sorted({*__all__, *_MODULE_OF} - {"annotations", "conversion", "errors", "operators"})  # noqa: PLE0605


def __getattr__(name: str) -> _typing.Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = _importlib.import_module(module)
    value = globals()[name] = getattr(found, name) if _LATER[module] else found
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
