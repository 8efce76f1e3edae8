"""What NumPy finds wrong with the elements of an operand, or how many there are: raised when they are there, at the
user's line."""

from __future__ import annotations

from typing import Any

from ...ir.apply import apply
from ...ir.op import numpys_alone
from ...ir.tensor import Tensor
from ...ir.traits import VIEWING, Fails
from ..define import primitive
from ..logic import equal


def _kernel(x: Any, holds: Any, error: type[Exception], message: str) -> Any:
    if not holds.all():
        raise error(message)
    return x


CHECKED = primitive(
    "checked_elements", lambda x, holds, error, message: (x.dtype, x.shape), _kernel,
    lambda g, outputs, inputs, attrs: [g, None], traits=VIEWING.but(fails=Fails.MAYBE, raises=Exception),
)  # fmt: skip


def checked(x: Tensor, holds: Tensor, error: type[Exception], message: str) -> Any:
    """Return ``x``; where not all of ``holds`` is true, computing it raises ``error(message)``."""
    known = holds.constant_value()
    if known is not None:
        if not known.all():
            raise error(message)
        return x
    return apply(CHECKED, [x, holds], {"error": error, "message": message})


def equal_extents(x: Tensor, one: Any, other: Any, error: type[Exception], message: str) -> Any:
    """Return ``x``; where two extents differ, of which only the run may know one, that raises ``error(message)``."""
    if isinstance(one, int) and isinstance(other, int):
        if one != other:
            raise error(message)
        return x
    return checked(x, equal(one, other), error, message)


numpys_alone("it decides by all elements whether it raises", CHECKED)
