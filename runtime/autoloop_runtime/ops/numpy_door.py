"""The door to NumPy's names: what writes them over the ops is loaded when the first of them is asked for.

Most programs never write one of them where tensors take part, or only such as stand beside an op's row.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.forks import undivided
from ..ir.numpy_protocols import NUMPY_DOORS
from .later_rows import NUMPYS

#: module of the room -> the names of ``np.`` that it enters; a name that stands nowhere has all of them loaded
HOLDS: Mapping[str, str] = {
    "differences": "diff ediff1d gradient trapezoid unwrap",
    "distinct_elements": (
        "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values"
    ),
    "histograms": "bincount digitize histogram histogram2d histogram_bin_edges histogramdd",
    "index_tricks": "ix_",
    "interpolation": "convolve correlate interp",
    "joined_arrays": (
        "append array_split atleast_1d atleast_2d atleast_3d block column_stack delete dsplit dstack hsplit hstack "
        "insert row_stack split vsplit vstack"
    ),
    "moved_axes": "fliplr flipud resize rot90 trim_zeros",
    "nan_reductions": "nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmin nanprod nanstd nansum nanvar",
    "numpy_bits": "packbits unpackbits",
    "numpy_creation": (
        "arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray copy empty empty_like "
        "eye fromiter full full_like identity ones ones_like require zeros zeros_like"
    ),
    "numpy_grids": (
        "broadcast diag_indices diag_indices_from indices mask_indices ndenumerate ndindex nditer nested_iters "
        "ravel_multi_index tri tril_indices tril_indices_from triu_indices triu_indices_from unravel_index"
    ),
    "numpy_joining": "concatenate stack",
    "numpy_logic": (
        "allclose angle array_equal array_equiv astype can_cast common_type imag isclose iscomplex iscomplexobj "
        "isfortran isneginf isposinf isreal isrealobj iterable min_scalar_type real real_if_close result_type"
    ),
    "numpy_ranges": "geomspace linspace logspace",
    "numpy_reductions": "all amax amin any argmax argmin count_nonzero max mean min prod ptp std sum var",
    "numpy_running_sums": "cumprod cumsum cumulative_prod cumulative_sum",
    "numpy_selection": (
        "choose clip compress diag diagflat extract flatnonzero nan_to_num nonzero select take take_along_axis "
        "tril triu where"
    ),
    "numpy_shapes": "broadcast_arrays diagonal meshgrid ndim ravel reshape rollaxis shape size squeeze trace unstack",
    "numpy_sorting": "argsort searchsorted sort sort_complex",
    "numpy_texts": "array2string array_repr array_str format_float_positional format_float_scientific",
    "numpy_ufuncs": (
        "bitwise_count conjugate deg2rad degrees divmod fabs float_power fmax fmin fmod frexp gcd heaviside lcm "
        "ldexp logaddexp2 modf nextafter positive rad2deg radians signbit spacing"
    ),
    "numpy_windows": "around bartlett blackman fix hamming hanning i0 kaiser round sinc",
    "order_statistics": "argpartition lexsort median nanmedian nanpercentile nanquantile partition percentile quantile",
    "padding": "pad",
    "polynomials": "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots vander",
    "sample_statistics": "average corrcoef cov",
    "tensor_products": (
        "cross dot einsum einsum_path inner kron matrix_transpose matvec outer tensordot vdot vecdot vecmat"
    ),
    "writing_in_place": "copyto fill_diagonal place put put_along_axis putmask",
}

_HOLDER: Mapping[str, str] = {name: module for module, names in HOLDS.items() for name in names.split()}


def _open(theirs: Any) -> None:
    """Fill the tables with what ``theirs`` is written as, and what stands beside it."""
    space, name = getattr(theirs, "__module__", None) or "", getattr(theirs, "__name__", "")
    with undivided():
        if space.startswith("scipy.linalg"):
            from .numpy_names import scipy_calls  # noqa: F401
        elif space.startswith("scipy.special") or _is_scipys(theirs):
            from .numpy_names import special_compositions  # noqa: F401
        elif space.startswith("numpy.linalg"):
            from .numpy_names import numpy_linalg  # noqa: F401
        elif space.startswith("numpy.fft"):
            from .numpy_names import numpy_fft  # noqa: F401
        elif getattr(np, name, None) is theirs and name in _HOLDER:
            importlib.import_module(f".numpy_names.{_HOLDER[name]}", __package__)
        elif getattr(np, name, None) is theirs and name in NUMPYS:
            importlib.import_module(f".{NUMPYS[name]}", __package__)
        elif not isinstance(theirs, np.ufunc):
            from .numpy_names import main_namespace  # noqa: F401
        if isinstance(theirs, np.ufunc):
            from .numpy_names import ufunc_methods  # noqa: F401


def _is_scipys(theirs: Any) -> bool:
    """Return whether a ufunc is one of SciPy's, which do not say so; who has one has loaded that."""
    return isinstance(theirs, np.ufunc) and getattr(sys.modules.get("scipy.special"), theirs.__name__, None) is theirs


NUMPY_DOORS.append(_open)
