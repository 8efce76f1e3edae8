"""The door to NumPy's names: what writes them over the ops is loaded when the first of them is asked for.

Most programs never write one of them where tensors take part, or only such as stand beside an op's row.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..base.forks import undivided
from ..ir.numpy_protocols import NUMPY_DOORS


def _open(theirs: Any) -> None:
    """Fill the tables with all names of the namespace that ``theirs`` is of."""
    space = getattr(theirs, "__module__", None) or ""
    with undivided():
        from .numpy_names import main_namespace  # noqa: F401

        if space.startswith("numpy.linalg"):
            from .numpy_names import numpy_linalg  # noqa: F401
        elif space.startswith("numpy.fft"):
            from .numpy_names import numpy_fft  # noqa: F401
        elif space.startswith("scipy.special") or _is_scipys(theirs):
            from .numpy_names import special_compositions  # noqa: F401


def _is_scipys(theirs: Any) -> bool:
    """Return whether a ufunc is one of SciPy's, which do not say so; who has one has loaded that."""
    return isinstance(theirs, np.ufunc) and getattr(sys.modules.get("scipy.special"), theirs.__name__, None) is theirs


NUMPY_DOORS.append(_open)
