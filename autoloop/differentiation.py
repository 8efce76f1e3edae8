"""Derivatives of Python functions: the runtime's, with what is traced converted first.

Called on values these run the function as it is. Called inside a function (a trace), its loops and branches on tensors
are converted, as those of any callee.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from autoloop_runtime import gradients as runtime
from autoloop_runtime.gradients import GradientTape, gradients
from autoloop_runtime.graph import current_graph

from .conversion.pipeline import convert, do_not_convert
from .function import BoundFunction, Function

__all__ = [
    "GradientTape", "custom_gradient", "grad", "gradients", "hessian_vector_product", "jacobian", "jvp",
    "value_and_grad", "vjp",
]  # fmt: skip


def _staged(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f``, converted whenever it is called inside a trace."""
    if not callable(f):
        raise TypeError(f"a function is needed, got {f!r} of type {type(f).__name__}")
    if isinstance(f, (Function, BoundFunction)):
        return f

    @functools.wraps(f)
    def staged(*args: Any, **kwargs: Any) -> Any:
        target = f if current_graph() is None else convert(f)
        return target(*args, **kwargs)

    return do_not_convert(staged)


def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    return do_not_convert(runtime.grad(_staged(f), argnums, has_aux))


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    return do_not_convert(runtime.value_and_grad(_staged(f), argnums, has_aux))


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    return do_not_convert(runtime.jacobian(_staged(f), argnums))


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    return runtime.vjp(_staged(f), *primals, has_aux=has_aux)


def jvp(f: Callable[..., Any], primals: Sequence[Any], directions: Sequence[Any]) -> tuple[Any, Any]:
    return runtime.jvp(_staged(f), primals, directions)


def hessian_vector_product(f: Callable[..., Any], primal: Any, vector: Any) -> Any:
    return runtime.hessian_vector_product(_staged(f), primal, vector)


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return do_not_convert(runtime.custom_gradient(_staged(f)))


for _function in (grad, value_and_grad, jacobian, vjp, jvp, hessian_vector_product, custom_gradient):
    _function.__doc__ = getattr(runtime, _function.__name__).__doc__
