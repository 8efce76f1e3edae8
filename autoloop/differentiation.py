"""Derivatives of Python functions: the runtime's, with what is traced converted first.

Called on values these run the function as it is. Called inside a function (a trace), its loops and branches on tensors
are converted, as those of any callee. A decorated function and its gradient, called on values, are one graph of the
function's own executor: nothing that is kept for the way back is handed out in between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np
from autoloop_runtime import gradients as runtime
from autoloop_runtime.base import nest
from autoloop_runtime.gradients import GradientTape, gradients
from autoloop_runtime.ir.followers import as_arrays
from autoloop_runtime.ir.graph import current_graph
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.recorders import recorders
from autoloop_runtime.ir.tensor import Tensor

from .bound_function import BoundFunction
from .conversion.known_effects import needs_arrays
from .conversion.pipeline import convert, do_not_convert
from .derivative_functions import DerivativeFunction
from .function import Function
from .keys import Number

P = ParamSpec("P")
R = TypeVar("R")

__all__ = [
    "GradientTape", "custom_gradient", "grad", "gradients", "hessian_vector_product", "jacobian", "jvp",
    "value_and_grad", "vjp",
]  # fmt: skip


def _staged(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``f``, converted whenever it is called inside a trace, and decorated where it needs its arrays."""
    if not callable(f):
        raise TypeError(f"a function is needed, got {f!r} of type {type(f).__name__}")
    if isinstance(f, (Function, BoundFunction)):
        return f

    decorated = _decorated(f)

    @functools.wraps(f)
    def staged(*args: Any, **kwargs: Any) -> Any:
        if current_graph() is not None:
            return convert(f)(*args, **kwargs)
        return (decorated(as_arrays(nest.flatten([args, kwargs]))) or f)(*args, **kwargs)

    return do_not_convert(staged)


def _decorated(f: Callable[..., Any]) -> Callable[[Sequence[Any]], Function | None]:
    """Return what gives ``f`` as it is decorated, or as it would be for arguments with these leaves; None if it is not.

    A function that is not decorated is called with tensors, which are values: one that writes to arrays, or asks for
    them, is the same function of NumPy's arrays only where it is decorated. It is looked at when it is called: then the
    functions that it calls are there.
    """
    if isinstance(f, (Function, BoundFunction)):
        function = f.function if isinstance(f, BoundFunction) else f
        return lambda leaves: function

    @functools.cache
    def decorated() -> Function | None:
        return Function(f) if needs_arrays(f) else None

    return lambda leaves: None if any(isinstance(leaf, Tensor) for leaf in leaves) else decorated()


def grad(f: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[P, Any]:
    alone = runtime.grad(_staged(f), argnums, has_aux)

    def gradient(whole: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        value, found = whole(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    made = _in_one_graph(f, alone, argnums, has_aux, gradient)
    return DerivativeFunction(grad, f, (argnums, has_aux), made)


def value_and_grad(
    f: Callable[P, R], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[P, tuple[R, Any]]:
    alone = runtime.value_and_grad(_staged(f), argnums, has_aux)
    made = _in_one_graph(f, alone, argnums, has_aux, lambda whole, args, kwargs: whole(*args, **kwargs))
    return DerivativeFunction(value_and_grad, f, (argnums, has_aux), made)


#: names, among the derivatives that are kept with a function, that in given directions
_JVP = "jvp"
#: the leaves of arguments of which a trace is made as the function's own is
_LEAVES = (Tensor, np.ndarray, np.generic, bool, int, float, complex, str, type(None))


def _in_one_graph(
    f: Callable[..., Any],
    alone: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    call: Callable[[Function, Sequence[Any], dict[str, Any]], Any],
) -> Callable[..., Any]:
    """Return ``alone``, but where ``f`` is decorated and nobody records, ``call`` with the traced function of both."""
    decorated = _decorated(f)
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(alone)
    def together(*args: Any, **kwargs: Any) -> Any:
        leaves = nest.flatten([args, kwargs])
        function = decorated(leaves) if _is_alone(leaves) else None
        if function is None:
            return alone(*args, **kwargs)
        made = list(args)
        for k in positions:
            # a number that changes from call to call is no reason to trace again
            if -len(args) <= k < len(args):
                made[k] = nest.map_structure(_own, args[k])
        return call(_whole(function, argnums, has_aux), made, kwargs)

    return together


def _is_alone(leaves: Sequence[Any]) -> bool:
    """Return whether a function and its derivative at these values may be one trace: nobody else builds, or records."""
    known = all(isinstance(x, _LEAVES) and not (isinstance(x, Tensor) and x.is_symbolic) for x in leaves)
    return known and current_graph() is None and not recorders()


def _own(leaf: Any) -> Any:
    return Number(leaf) if number_type(leaf) in (float, complex) else leaf


def _whole(function: Function, argnums: int | Sequence[int], has_aux: bool) -> Function:
    """Return ``function`` and its gradient in one trace; the same one each time,
    as asking for a gradient makes no trace."""
    key = argnums if isinstance(argnums, int) else tuple(argnums), has_aux
    known = function.with_gradient.get(key)
    if known is None:
        both = runtime.value_and_grad(function, argnums, has_aux)
        known = function.derived(both)
        known = function.with_gradient.setdefault(key, known)
    return known


def jacobian(f: Callable[P, Any], argnums: int | Sequence[int] = 0) -> Callable[P, Any]:
    return DerivativeFunction(jacobian, f, (argnums,), runtime.jacobian(_staged(f), argnums))


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    made: tuple[Any, ...] = runtime.vjp(_staged(f), *primals, has_aux=has_aux)
    return made


def jvp(f: Callable[..., R], primals: Sequence[Any], directions: Sequence[Any]) -> tuple[R, R]:
    leaves = nest.flatten([primals, directions])
    function = _decorated(f)(leaves) if _is_alone(leaves) else None
    if function is None:
        return runtime.jvp(_staged(f), primals, directions)
    both = function.with_gradient.get(_JVP)
    if both is None:
        made = function.derived(functools.partial(runtime.jvp, function), False)
        both = function.with_gradient.setdefault(_JVP, made)
    given: tuple[R, R] = both(*[nest.map_structure(_own, list(one)) for one in (primals, directions)])
    return given


def hessian_vector_product(f: Callable[..., Any], primal: Any, vector: Any) -> Any:
    return runtime.hessian_vector_product(_staged(f), primal, vector)


def custom_gradient(f: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]:
    return DerivativeFunction(custom_gradient, f, (), runtime.custom_gradient(_staged(f)))


for _function in (grad, value_and_grad, jacobian, vjp, jvp, hessian_vector_product, custom_gradient):
    _function.__doc__ = getattr(runtime, _function.__name__).__doc__
