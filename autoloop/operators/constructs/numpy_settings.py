"""NumPy's settings of errors and prints, made for a while inside a traced function.

``np.errstate`` that silences is what a run does anyway, unless who calls has asked for errors; any other setting, and
how arrays are printed, would hold while the function is traced and not when it runs: plain Python makes it. What
changes a setting for good or asks for it, ``np.seterr`` and its like, is left to Python as any unknown effect is.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from autoloop_runtime.ir.graph import current_graph

from ...conversion.cells import value_in
from ..mutation.outside_world import found_outside, leave

_OF_THE_TRACE = "it would hold while that is traced, not when it runs; put it around that, or around the whole call"
#: the code of what ``np.errstate`` makes of a function that it decorates
_DECORATED = np.errstate()(np.geterr).__code__


def setting_inside(f: Any) -> Callable[..., Any] | None:
    """Return what takes the place of a callable that makes a setting for a while; None if it may be called."""
    if f is np.errstate:
        return _errstate
    if f is np.printoptions:
        return _printoptions
    return _decorated(f) if is_under_settings(f) else None


def is_under_settings(f: Any) -> bool:
    """Return whether ``np.errstate`` decorates a function."""
    return isinstance(f, types.FunctionType) and f.__code__ is _DECORATED


def is_found_setting(manager: Any) -> bool:
    """Return whether a manager sets what NumPy does about errors, and nobody has seen to what."""
    return isinstance(manager, np.errstate) and found_outside(manager) is not None


def _errstate(**settings: Any) -> np.errstate:
    """Return ``np.errstate`` if it silences; plain Python does what else it asks for."""
    if any(value not in ("ignore", None) for value in settings.values()):
        leave("np.errstate is entered", _OF_THE_TRACE)
    _silence()
    return np.errstate(**settings)


def _printoptions(*_: Any, **__: Any) -> NoReturn:
    """Let plain Python enter ``np.printoptions``: text is made when the function runs."""
    leave("np.printoptions is entered", _OF_THE_TRACE)


def _decorated(f: types.FunctionType) -> Callable[..., Any] | None:
    """Return None for a function that ``np.errstate`` decorates to silence it."""
    cells = map(value_in, f.__closure__ or ())
    manager = next((one for one in cells if isinstance(one, np.errstate)), None)
    if manager is None:
        return None
    with np.errstate(all="ignore"):
        asked_for = set(manager(np.geterr)().values())
    if asked_for == {"ignore"}:
        _silence()
        return None
    return lambda *args, **kwargs: leave(f"{f.__name__}() is called under np.errstate", _OF_THE_TRACE)


def _silence() -> None:
    graph = current_graph()
    assert graph is not None
    graph.root.is_silenced = True
