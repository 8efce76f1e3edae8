"""What Python takes of a special method of the user's that has to give a number, or an iterator, of Python's own.

``len(o)`` is a Python int, also where ``__len__`` gives one of NumPy's, which ``__bool__`` and ``__int__`` must not.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tracers import Tracer

from ... import operators
from ...errors import mark_programs_own
from ..staging.mixed_numbers import MixedNumber
from ..staging.raising import Raising, raise_unless
from ..staging.standins import StandIn, is_growing
from ..staging.users_methods import CHECKED
from .math_functions import of_one_kind, tried
from .mixed_operators import by_types

#: who asks for a method's answer -> the function that makes a run's number of it
_MADE_BY: dict[str, Any] = {
    "__bool__": bool, "__complex__": complex, "__float__": float, "__index__": operator.index, "__int__": int,
    "__len__": operator.index,
}  # fmt: skip
#: what has elements and is asked for none by itself
_NO_ITERATORS = (np.ndarray, list, tuple, dict, set, frozenset, str, bytes, range)


def accepted_answer(name: str, owner: Any, made: Any) -> Any:
    """Return what Python gives to who asks ``owner``, of what its method has given; raise what Python raises."""
    ask = functools.partial(_through, CHECKED[name], name, type(owner).__name__)
    if name == "__iter__":
        return _iterator(ask, made)
    if type(made) is MixedNumber:
        return by_types(functools.partial(accepted_answer, name, owner), (made,), {})
    if isinstance(made, Tracer):
        of_one_kind(CHECKED[name], made)
        tried(ask, made)
        number = operators.STAGED[_MADE_BY[name]](made)
        if name == "__len__":
            raise_unless(ops.greater_equal(number, 0), Raising(ValueError, _negative))
        return number
    return made if isinstance(made, (Tensor, StandIn)) or is_growing(made) else _asked(ask, made)


def _iterator(ask: Callable[[Any], Any], made: Any) -> Any:
    if isinstance(made, Tracer):
        tried(ask, made)
    elif is_growing(made):
        _asked(ask, [])
    elif type(made) in _NO_ITERATORS:
        _asked(ask, made)
    return made


def _through(ask: Callable[[Any], Any], name: str, kind: str, made: Any) -> Any:
    """Ask an object whose method gives ``made``."""
    return ask(type(kind, (), {name: lambda _: made})())


def _asked(ask: Callable[[Any], Any], made: Any) -> Any:
    try:
        return ask(made)
    except Exception as error:
        mark_programs_own(error)
        raise


def _negative() -> ValueError:
    return ValueError("__len__() should return >= 0")
