"""Arrays as bytes and in files: ndarray's ``tobytes``, ``dumps``, ``tofile`` and ``dump`` when a graph runs.

Bytes are carried as a vector of uint8. Files are written in program order, as what is printed is.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ..base.dtypes import of_numbers
from ..base.shapes import TensorShape
from ..base.stand_ins import UnknownWhileTracing
from ..ir.apply import apply, apply_several
from ..ir.convert import convert_to_tensor
from ..ir.op import function, numpys_alone
from ..ir.tensor import Tensor
from ..ir.tracers import NumberTracer
from ..ir.traits import NO_GRADIENT, NO_RULE, OPAQUE
from .broadcasting import broadcast_to
from .define import primitive
from .operands import as_dtype
from .shape_queries import shape_of

_BYTE = np.dtype(np.uint8)


def _bytes_infer(x: Tensor, method: str, order: str) -> Any:
    count = x.shape.num_elements() if method == "tobytes" else None
    return _BYTE, TensorShape([None if count is None else count * x.dtype.itemsize])


def _bytes_kernel(x: Any, method: str, order: str) -> Any:
    laid = np.asarray(x, order=order)  # type: ignore[call-overload]  # C or F
    made = laid.tobytes(order) if method == "tobytes" else laid.dumps()
    return np.frombuffer(made, _BYTE).copy()


_BYTES = primitive("array_bytes", _bytes_infer, _bytes_kernel, NO_GRADIENT, traits=OPAQUE)


def bytes_in_run(x: Tensor, method: str, order: str) -> Tensor:
    """Return the bytes that a method of an array gives, as a vector."""
    return apply(_BYTES, [x.plain], {"method": method, "order": order})


def _file_kernel(x: Any, method: str, given: tuple[Any, ...], order: str) -> Any:
    getattr(np.asarray(x, order=order), method)(*given)  # type: ignore[call-overload]
    return ()


_TO_FILE = primitive(
    "array_to_file", lambda x, method, given, order: [], _file_kernel, NO_GRADIENT, effect=True, several=True,
    traits=OPAQUE,
)  # fmt: skip


def array_to_file(x: Tensor, method: str, given: tuple[Any, ...], order: str) -> None:
    """Write an array into a file when the graph runs."""
    file, *texts = given
    if not (isinstance(file, (str, bytes, os.PathLike)) or hasattr(file, "write")) or isinstance(file, Tensor):
        raise UnknownWhileTracing(
            f"x.{method} needs the path of a file, or a file, that is known while the graph is built"
        )
    if not all(isinstance(one, str) for one in texts) or any(isinstance(one, Tensor) for one in texts):
        raise UnknownWhileTracing(f"x.{method} needs texts that are known while the graph is built")
    apply_several(_TO_FILE, [x.plain], {"method": method, "given": given, "order": order})


def _set_field_kernel(x: Any, value: Any, to: Any, offset: int) -> Any:
    made = np.array(x)
    made.setfield(value, to, offset)
    return made


_SET_FIELD = primitive(
    "set_field", lambda x, value, to, offset: (x.dtype, x.shape), _set_field_kernel, NO_RULE, traits=OPAQUE
)


def set_field(x: Tensor, value: Any, dtype: Any, offset: Any) -> Tensor:
    """Return an array with a part of the bytes of each element set."""
    to = of_numbers(dtype)
    if not x.shape.is_fully_defined() or isinstance(value, NumberTracer) or isinstance(offset, Tensor):
        raise UnknownWhileTracing(
            "x.setfield needs a known shape, a known offset, and an array or a known number as value"
        )
    tried = np.zeros(x.shape.as_tuple(), x.dtype)
    tried.setfield(0 if isinstance(value, Tensor) else value, to, offset)  # NumPy says what is wrong
    given: Any = tried.getfield(to, offset).copy()
    if isinstance(value, Tensor):
        given = broadcast_to(as_dtype(value.plain, to), shape_of(x))
    return apply(_SET_FIELD, [x.plain, convert_to_tensor(given)], {"to": to, "offset": offset})


function("bytes_in_run", bytes_in_run)
function("array_to_file", array_to_file)
function("set_field", set_field)


numpys_alone("it looks at memory of NumPy's", _BYTES, _TO_FILE, _SET_FIELD)
