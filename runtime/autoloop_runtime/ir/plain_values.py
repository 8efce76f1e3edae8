"""What the caller of a function gets of a value of its run: an array of its own, a NumPy scalar, a Python number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def plain_array(value: Any) -> Any:
    """Return a value of a run as an array that is its owner's to change; a NumPy scalar where it has no dimensions."""
    if type(value) is not np.ndarray or not value.ndim:
        scalar = np.asarray(value)[()] if not isinstance(value, np.generic) else value
        return str(scalar) if isinstance(scalar, np.str_) else scalar  # what an f-string has made
    return value if value.flags.writeable else value.copy()


def plain_zero_dim(value: Any) -> Any:
    """Return a value of a run as an array of its own, also if it has no axes."""
    return plain_array(value) if np.ndim(value) else np.array(value)


def plain_read_only(value: Any) -> Any:
    """Return a value of a run as an array of its own that nobody can write to."""
    made = np.array(value)
    made.flags.writeable = False
    return made


def plain_lying(strides: tuple[int, ...], plain: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what makes of a value of a run what ``plain`` does, with its elements in the order of these strides."""
    axes = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    back = np.argsort(axes)

    def given(value: Any) -> Any:
        made = plain(value)
        return made if made.strides == strides else made.transpose(axes).copy().transpose(back)

    return given


def plain_number(value: Any) -> Any:
    """Return a value of a run as a Python number."""
    return value.item() if hasattr(value, "item") else value
