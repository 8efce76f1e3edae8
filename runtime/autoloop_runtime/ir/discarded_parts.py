"""What NumPy says where imaginary parts are left out: once for each line that is traced, which it names."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from ..base.locations import capture

_WORDS = "Casting complex values to real discards the imaginary part"


def warn_of_discarded(given: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    """Give NumPy's warning of an array of one dtype that is made one of another, at the user's line."""
    if given.kind != "c" or wanted.kind not in "iuf":
        return
    location = capture()
    filename, line = (location[-1].filename, location[-1].lineno) if location else (__file__, 1)
    warnings.warn_explicit(_WORDS, np.exceptions.ComplexWarning, filename, line)


def quiet_about_discarded(given: np.dtype[Any]) -> AbstractContextManager[None]:
    """Return a context manager in which functions are tried on arrays of a dtype without that warning."""
    return _quiet() if given.kind == "c" else nullcontext()


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        yield
