"""``input_signature``: what the arguments of every call are, where there shall be one trace for all calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from autoloop_runtime.base import nest
from autoloop_runtime.base.shapes import TensorShape
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.ir.tensor_spec import CompositeSpec, TensorSpec

from .keys import SCALARS, leaf_key
from .parameters import Parameters


def checked_signature(signature: Any) -> tuple[Any, ...]:
    """Return ``signature`` if it is a sequence of structures of specs."""
    if not isinstance(signature, (list, tuple)):
        raise TypeError(f"input_signature is a list of TensorSpec, one per argument, got {signature!r} [AL012]")
    for leaf in nest.flatten(tuple(signature)):
        if not isinstance(leaf, (TensorSpec, CompositeSpec)):
            raise TypeError(
                f"input_signature holds TensorSpec, e.g. TensorSpec([None, 2], float32), not {leaf!r} [AL012]"
            )
    return tuple(signature)


def conform(
    call: tuple[Any, ...], signature: tuple[Any, ...], parameters: Parameters, function: str
) -> tuple[Any, ...]:
    """Return a call in canonical form made to fit a signature; an argument not in it must have its default value.

    Parameters
    ----------
    call : tuple
        The arguments, as ``parameters`` binds them.
    signature : tuple
        A structure of specs per argument.
    parameters : Parameters
    function : str
        The name of the function that is called.
    """
    count = len(signature)
    positional, named = parameters.split(call)
    unlisted = [*zip(parameters.names[count:], positional[count:]), *named.items()]
    fits = count <= len(positional) and len(unlisted) == len(positional) - count + len(named)
    if not fits or not all(_is_default(parameters.default(n), v) for n, v in unlisted):
        raise TypeError(
            f"{function} has an input_signature of {count} arguments, got {len(positional) + len(named)}; "
            f"an argument that it does not list must keep its default [AL012]"
        )
    made = []
    for spec, (name, arg) in zip(signature, parameters.named(call)):
        specs, structure = nest.flatten_with_structure(spec)
        try:
            parts = structure.flatten_up_to(arg)
        except ValueError as error:
            raise TypeError(
                f"{function}: argument {name!r} has another structure than its entry in input_signature: {error}"
                " [AL012]"
            ) from None
        made.append(nest.unflatten(structure, [_fit(s, p, function, name) for s, p in zip(specs, parts)]))
    return parameters.join((*made, *positional[count:]), named)


def _is_default(default: Any, value: Any) -> bool:
    """Return whether an argument is what stands for it in the signature."""
    return value is default or (isinstance(value, SCALARS) and leaf_key(value) == leaf_key(default))


def _fit(spec: TensorSpec | CompositeSpec, value: Any, function: str, name: str) -> Any:
    if isinstance(value, type(spec)):
        return value
    if isinstance(spec, CompositeSpec):
        spec.check(value, function)
        return value
    if not isinstance(value, (Tensor, np.ndarray, np.generic)):
        try:
            value = convert_to_tensor(value, spec.dtype)
        except (TypeError, ValueError, OverflowError) as error:
            raise type(error)(f"{function}: argument {name!r}: {error}") from None
    if not spec.is_compatible_with(value):
        raise (TypeError if value.dtype != spec.dtype else ValueError)(
            f"{function}: argument {name!r}, of dtype {value.dtype} and shape {TensorShape(value.shape)}, does not "
            f"fit its entry {spec} in input_signature"
        )
    return value
