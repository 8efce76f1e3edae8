"""What the elements of a list that grows in a loop or branch may be made of: what a column of a graph can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from autoloop_runtime.ir.tensor import Tensor

from ...left_to_python import refuse_unknown
from .standins import Maybe, StandIn, opened

#: types of which NumPy makes an array and a run the very same again; of a range, say, it would make numbers
_PLAIN = frozenset((bool, int, float, complex, str, bytes))


def checked_leaf(name: str, leaf: Any) -> Any:
    """Return a part of an element that is put into a list that grows.

    Parameters
    ----------
    name : str
        What messages call the list.
    leaf : object
        The part.

    Raises
    ------
    LeftToPython
        If the list of a run could not hold it, and plain Python can run the function.
    TypeError
        If plain Python cannot.
    """
    if not _is_held(leaf):
        what = f"something of type {type(leaf).__name__!r}"
        if leaf is None or isinstance(leaf, StandIn):
            what = "None" if leaf is None else opened(leaf).described()
        refuse_unknown(
            f"{what} is put into the list {name!r}, which grows in a loop or branch on tensors",
            "let it hold numbers, arrays or texts",
        )
    return leaf


def _is_held(leaf: Any) -> bool:
    if type(leaf) in _PLAIN:
        return True
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.ndim > 0 or leaf.dtype.kind not in "SU"  # a run makes a str of a text without axes
    is_tensor = isinstance(leaf, Tensor) or hasattr(type(leaf), "__autoloop_tensor__")
    return is_tensor and not isinstance(leaf, Maybe)


def refuse_hollow(name: str) -> None:
    """Let plain Python run the function, as the elements of a list that grows hold nothing: ``out.append([])``.

    Raises
    ------
    LeftToPython
    TypeError
        If plain Python cannot.
    """
    refuse_unknown(
        f"what is put into the list {name!r}, which grows in a loop or branch on tensors, holds nothing",
        "put a number in it, or count how often",
    )
