"""Rows that most programs do without: their modules are loaded when one of their functions is first asked for.

Each module costs a quarter of a millisecond at every start. Who needs the whole table, as machine code does, whose
templates name other rows, says ``load_all()``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.collector import NoCollection
from ..base.doors import door
from ..base.forks import undivided
from ..ir.numpy_protocols import NUMPY_UFUNCS, UFUNC_OPERATORS
from ..ir.op import FUNCTIONS, OPS, Op

if TYPE_CHECKING:  # what rows of every start call in gradients, and of rare values
    from .complex_numbers import complex as complex
    from .complex_numbers import conj as conj
    from .complex_numbers import imag as imag
    from .complex_numbers import real as real
    from .creation import arange as arange
    from .filled import zeros_like as zeros_like
    from .rounding import floor as floor
    from .selection import where as where

#: module -> its public functions
PUBLIC: Mapping[str, str] = {
    "bounds": "clip maximum minimum nan_to_num relu",
    "complex_numbers": "complex conj imag real",
    "composed": (
        "allclose array_equal average count_nonzero cross diff hstack inner isclose meshgrid nonzero ptp vdot vstack"
    ),
    "contractions": "einsum",
    "creation": "arange eye linspace one_hot range",
    "diagonals": "diag diagonal trace tril triu",
    "dots": "dot tensordot",
    "effects": "Assert Print assert_true format_string print raise_error",
    "filled": "full full_like ones ones_like zeros zeros_like",
    "gathering": "gather gather_nd scatter scatter_add scatter_update take take_along_axis",
    "joining": "concat split stack unstack",
    "linalg": "cholesky det inv matmul outer solve",
    "powers": "cbrt erf exp exp2 expm1 hypot log log1p log2 log10 logaddexp pow rsqrt sigmoid softplus sqrt",
    "python_functions": "py_function",
    "reductions": "all any argmax argmin log_softmax logsumexp max mean min norm prod softmax std var",
    "repeating": "pad repeat tile",
    "rounding": "ceil floor rint round trunc",
    "running_sums": "cumprod cumsum",
    "selection": "argwhere where",
    "sorting": "argsort bincount searchsorted sort top_k unique",
    "trigonometry": ("angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh cos cosh sin sinh tan tanh"),
}
#: module -> what the floors below call besides
CALLED: Mapping[str, str] = {
    "arrays_as_bytes": "array_to_file bytes_in_run set_field",
    "complex_numbers": "set_imag set_real",
    "exact_numbers": (
        "number_abs number_add number_divide number_float number_floor_divide number_left_shift number_mod "
        "number_multiply number_negative number_pow number_right_shift number_subtract place_in python_int python_ratio"
    ),
    "extent_names": "names_of part_names",
    "powers": "length numpy_power operator_pow",
    "python_math": "number_asked number_round",
}
#: other spelling -> our name
SPELLED: Mapping[str, str] = {
    "fill": "full", "clip_by_value": "clip", "scatter_nd": "scatter", "tensor_scatter_nd_update": "scatter_update",
    "tensor_scatter_nd_add": "scatter_add", "is_close": "isclose",
    "diag_part": "diagonal", "concatenate": "concat", "matrix_inverse": "inv",
    "matrix_determinant": "det", "matrix_solve": "solve", "reduce_prod": "prod", "reduce_max": "max",
    "reduce_min": "min", "reduce_mean": "mean", "reduce_any": "any", "reduce_all": "all",
    "reduce_logsumexp": "logsumexp", "reduce_variance": "var", "reduce_std": "std", "acos": "arccos",
    "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh",
}  # fmt: skip
#: another function of NumPy's that such a row stands for -> its module
NUMPYS: Mapping[str, str] = {
    "argwhere": "selection", "matmul": "linalg", "repeat": "repeating", "tile": "repeating",
}  # fmt: skip
#: element-wise function of NumPy's -> ours that takes its place
UFUNCS: Mapping[str, str] = {
    "power": "numpy_power",
    **{
        name: name
        for module in ("bounds", "powers", "rounding", "trigonometry")
        for name in PUBLIC[module].split()
        if isinstance(getattr(np, name, None), np.ufunc) and name != "pow"
    },
}
#: all of them
MODULES = (*{**PUBLIC, **CALLED}, "random")
#: public function -> the full name of its module
MODULE_OF: Mapping[str, str] = {
    name: f"{__package__}.{module}" for module, names in PUBLIC.items() for name in names.split()
}


def is_range(op: Op) -> bool:
    """Return whether an op counts, as ``range`` does."""
    return op is OPS.get("range")


def is_where(op: Op) -> bool:
    """Return whether an op takes each element from one of two."""
    return op is OPS.get("where")


def load_all() -> None:
    """Have the whole table loaded."""
    with undivided(), NoCollection():
        for module in MODULES:
            importlib.import_module(f".{module}", __package__)


def _announced(name: str, module: str, /, *args: Any, **kwargs: Any) -> Any:
    with undivided(), NoCollection():
        importlib.import_module(f".{module}", __package__)  # which puts the function in the place of this one
    return FUNCTIONS[name](*args, **kwargs)


for _table in (PUBLIC, CALLED):
    for _module, _names in _table.items():
        FUNCTIONS.update({name: partial(_announced, name, _module) for name in _names.split()})
for _name, _ours in UFUNCS.items():
    NUMPY_UFUNCS[getattr(np, _name)] = FUNCTIONS[_ours]
UFUNC_OPERATORS[np.power] = FUNCTIONS["operator_pow"]

if not TYPE_CHECKING:
    __getattr__ = door(globals(), MODULE_OF)
