"""What a session is fed: the parts of composites, and values in the dtype of their tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import dtypes, nest
from ..ir.composite import composite_of
from ..ir.convert import convert_to_tensor
from ..ir.graph import eager
from ..ir.tensor import Tensor


def feed_parts(key: Any, value: Any) -> list[tuple[Any, Any]]:
    """Return what is fed, and the values: one tensor, or the parts of a composite, whose values must fit each other."""
    composite = composite_of(key)
    names = () if composite is None else composite.names(key)
    if composite is None or "values" not in names:
        return [(key, value)]
    keys = composite.components(key)
    given = list(value) if isinstance(value, tuple) else nest.flatten(value, expand_composites=True)
    if len(given) != len(keys) or not isinstance(value, (tuple, type(key))):
        raise TypeError(
            f"the value fed for a {type(key).__name__} is one, or the tuple ({', '.join(names)}) of its parts, not "
            f"{value!r} [AL502]"
        )
    if any(isinstance(part, Tensor) and part.is_symbolic for part in given):
        raise TypeError(f"the value fed for a {type(key).__name__} is symbolic; feed arrays or numbers [AL502]")
    place = names.index("values")
    with eager():
        if isinstance(given[place], list):  # Python numbers take the dtype that is needed
            given[place] = convert_to_tensor(given[place], key.dtype)
        made = type(key)(*given)
    return list(zip(keys, nest.flatten(made, expand_composites=True)))


def cast_feed(array: np.ndarray[Any, Any], tensor: Tensor, python: bool) -> np.ndarray[Any, Any]:
    """Return a fed array in the dtype of ``tensor``, if that can hold the kind of its values, and every integer.

    ``python``: it was made of Python numbers, of which integers may stand for truth values.
    """
    source, dtype = array.dtype, tensor.dtype
    integers = source.kind in "iu" and dtype.kind in ("iub" if python else "iu")
    if not integers and not np.can_cast(source, dtype, "same_kind") and array.size:
        raise TypeError(f"{tensor.name!r} has dtype {dtype}, the fed value has {source}; cast it first [AL502]")
    if integers and array.size:
        try:
            dtypes.check_fits(int(array.min()), dtype)
            dtypes.check_fits(int(array.max()), dtype)
        except OverflowError as error:
            raise OverflowError(f"the value fed for {tensor.name!r}: {error} [AL502]") from None
    return array.astype(dtype)


def check_settled(tensor: Tensor, value: Any, what: str) -> None:
    """Raise if the graph was built with another value of ``tensor`` than the one that is fed."""
    known = tensor.constant_value()
    assert known is not None
    if not np.array_equal(np.asarray(value), known):
        raise ValueError(
            f"{tensor.name!r} was used as {what} when the graph was built, with the value {known}; no other can be fed"
            " [AL502]"
        )
