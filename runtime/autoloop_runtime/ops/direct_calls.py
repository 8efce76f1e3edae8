"""Templates that call NumPy's function itself, by position: no kernel of ours stands between generated code and it."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

_LITERALS = (bool, int, str, type(None))
_MAX_STRING = 40


def is_literal(value: Any) -> bool:
    """Return whether generated code may hold ``ascii(value)`` for ``value``."""
    if type(value) in _LITERALS:
        return not isinstance(value, str) or len(value) <= _MAX_STRING
    if type(value) is float:
        return isfinite(value)
    return type(value) is tuple and len(value) <= 8 and all(map(is_literal, value))


def written(function: str, inputs: int, *more: Any) -> str | None:
    """Return a call of ``function`` with so many inputs, then ``more``; None if that cannot be written down."""
    if not all(map(is_literal, more)):
        return None
    return f"{function}({', '.join([*[f'{{{k}}}' for k in range(inputs)], *map(ascii, more)])})"


def calls(function: str, *attrs: str) -> Callable[[Any], str | None]:
    """Return what writes ``function(*inputs, *attrs)``: attributes by name, in the order of its signature."""
    return lambda node: written(function, len(node.inputs), *[node.attrs[name] for name in attrs])


def inside(name: str, function: str) -> str:
    """Return the function of NumPy's own module of C that ``function`` calls in the end, where this NumPy has it."""
    found = getattr(getattr(getattr(np, "_core", None), "multiarray", None), name, None)
    return function if found is None else f"np._core.multiarray.{name}"


def axis_as_given(axes: Any, rank: int | None) -> Any:
    """Return the axes of a reduction as NumPy is fastest with: None for all, a number for one."""
    if axes is None or (rank is not None and len(axes) == rank):
        return None
    return axes[0] if len(axes) == 1 else axes
