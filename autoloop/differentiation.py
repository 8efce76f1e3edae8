"""Derivatives of Python functions: the runtime's, with what is traced converted first.

Called on tensors these run the function as it is, on NumPy's arrays as it would run decorated. Called inside a function
(a trace), its loops and branches on tensors are converted, as those of any callee. A decorated function and its
gradient, called on values, are one graph of the function's own executor: nothing that is kept for the way back is
handed out in between.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

import numpy as np
from autoloop_runtime import gradients as runtime
from autoloop_runtime.base import nest
from autoloop_runtime.base.forks import undivided
from autoloop_runtime.gradients import GradientTape, gradients
from autoloop_runtime.ir.followers import as_arrays
from autoloop_runtime.ir.graph import current_graph, theirs_here
from autoloop_runtime.ir.number_operators import number_type
from autoloop_runtime.ir.recorders import recorders
from autoloop_runtime.ir.tensor import Tensor

from .bound_function import BoundFunction
from .conversion.known_effects import needs_arrays
from .conversion.pipeline import convert, do_not_convert
from .conversion.source import has_lines
from .derivative_functions import DerivativeFunction
from .errors import ConversionError
from .function import Function
from .given_arrays import may_be_foreign
from .keys import Number
from .left_to_python import NoGradientError

if TYPE_CHECKING:
    from .typing import Gradient, ValueAndGradient

P = ParamSpec("P")
R = TypeVar("R")

__all__ = [
    "GradientTape", "custom_gradient", "grad", "gradients", "hessian_vector_product", "jacobian", "jvp",
    "value_and_grad", "vjp",
]  # fmt: skip


def _staged(f: Callable[..., Any], decorated: _Decorated | None = None) -> Callable[..., Any]:
    """Return ``f``, converted whenever it is called inside a trace, and decorated where it is given NumPy's arrays."""
    if not callable(f):
        raise TypeError(f"a function is needed, got {f!r} of type {type(f).__name__} [AL001]")
    if isinstance(f, (Function, BoundFunction)):
        return f

    known = decorated or _Decorated(f)

    @functools.wraps(f)
    def staged(*args: Any, **kwargs: Any) -> Any:
        if current_graph() is not None:
            return convert(f)(*args, **kwargs)
        function = known.of(as_arrays(nest.flatten([args, kwargs])))
        if function is None:
            return f(*args, **kwargs)
        return known.unless_refused(lambda: function(*args, **kwargs), lambda: f(*args, **kwargs))

    return do_not_convert(staged)


class _Decorated:
    """A function as it is decorated, or as it would be where it is called with NumPy's arrays.

    One that is not decorated is called with tensors where it is given one. Of NumPy's arrays it is the function that it
    is undecorated: of arrays, which it may ask for their class, give to ``math`` or put in lists. Where no graph can do
    what it does, which is found before anything is done, it is called with tensors, if these do not mislead it.
    """

    def __init__(self, f: Callable[..., Any], has_backward: bool = False) -> None:
        self.f = f
        self.has_backward = has_backward  # what a function gives besides its value: another one, which a graph cannot
        self.is_own = isinstance(f, (Function, BoundFunction))
        self.is_refused = False

        self._made: list[Function | None] = []

    def function(self) -> Function | None:
        """Return the decorated function, made when it is first asked for; None if the function is called as it is."""
        if not self._made:
            f: Any = self.f
            if self.is_own:
                self._made.append(f.function if isinstance(f, BoundFunction) else f)
            else:
                own = inspect.unwrap(f)
                is_of_arrays = needs_arrays(own) or (has_lines(own) and not self.has_backward)
                self._made.append(Function(f) if is_of_arrays else None)
        return self._made[0]

    def of(self, leaves: Sequence[Any]) -> Function | None:
        """Return the decorated function for arguments with these leaves; None if it is called as it is."""
        if not self.is_own and (self.is_refused or any(isinstance(leaf, Tensor) for leaf in leaves)):
            return None
        return self.function()

    def unless_refused(self, decorated: Callable[[], R], alone: Callable[[], R]) -> R:
        """Return what ``decorated`` gives, or ``alone`` if that is refused and tensors do."""
        try:
            return decorated()
        except (NoGradientError, ConversionError):
            if self.is_own or needs_arrays(inspect.unwrap(self.f)):
                raise
        self.is_refused = True
        return alone()


def _decorated(f: Callable[..., Any]) -> _Decorated:
    """Return a function as it is decorated; that of a derivative is kept, with its traces."""
    if not isinstance(f, DerivativeFunction):
        return _Decorated(f)
    if f.as_decorated is None:
        f.as_decorated = _Decorated(f)
    made: _Decorated = f.as_decorated
    return made


@overload
def grad(f: Callable[Concatenate[Any, P], Any]) -> Gradient[P]: ...
@overload
def grad(f: Callable[P, Any], argnums: int | Sequence[int], has_aux: bool = False) -> Callable[P, Any]: ...
@overload
def grad(f: Callable[P, Any], argnums: int | Sequence[int] = 0, *, has_aux: bool) -> Callable[P, Any]: ...
def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    decorated = _Decorated(f)
    alone = runtime.grad(_staged(f, decorated), argnums, has_aux)

    def gradient(whole: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        value, found = whole(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    made = _in_one_graph(decorated, alone, argnums, has_aux, gradient)
    return DerivativeFunction(grad, f, (argnums, has_aux), made, _traced_as(decorated, argnums, has_aux))


@overload
def value_and_grad(f: Callable[Concatenate[Any, P], R], *, has_aux: bool = False) -> ValueAndGradient[P, R]: ...
@overload
def value_and_grad(
    f: Callable[P, R], argnums: int | Sequence[int], has_aux: bool = False
) -> Callable[P, tuple[R, Any]]: ...
def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    decorated = _Decorated(f)
    alone = runtime.value_and_grad(_staged(f, decorated), argnums, has_aux)
    made = _in_one_graph(decorated, alone, argnums, has_aux, lambda whole, args, kwargs: whole(*args, **kwargs))
    traced = _traced_as(decorated, argnums, has_aux)
    return DerivativeFunction(value_and_grad, f, (argnums, has_aux), made, traced)


#: names of derivatives that are kept with a function, beside those of ``value_and_grad``
_JVP, _JACOBIAN, _HVP = "jvp", "jacobian", "hessian_vector_product"
#: the leaves of arguments of which a trace is made as the function's own is
_LEAVES = (Tensor, np.ndarray, np.generic, bool, int, float, complex, str, type(None))


def _in_one_graph(
    decorated: _Decorated,
    alone: Callable[..., Any],
    argnums: int | Sequence[int],
    has_aux: bool,
    call: Callable[[Function, Sequence[Any], dict[str, Any]], Any],
) -> Callable[..., Any]:
    """Return ``alone``, but ``call`` with a traced function of both where one is decorated and nobody records."""
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(alone)
    def together(*args: Any, **kwargs: Any) -> Any:
        leaves = nest.flatten([args, kwargs])
        function = decorated.of(leaves) if _is_alone(leaves) else None
        if function is None:
            return alone(*args, **kwargs)
        made = _with_numbers(args, positions)
        whole = _whole(function, argnums, has_aux)
        return decorated.unless_refused(lambda: call(whole, made, kwargs), lambda: alone(*args, **kwargs))

    return together


def _traced_as(
    decorated: _Decorated, argnums: int | Sequence[int], has_aux: bool
) -> Callable[[Sequence[Any]], tuple[Function, Sequence[Any]] | None]:  # fmt: skip
    """Return what tells which traced function of both a call runs, and what that is given."""
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    def traced(args: Sequence[Any]) -> tuple[Function, Sequence[Any]] | None:
        function = decorated.function()
        return None if function is None else (_whole(function, argnums, has_aux), _with_numbers(args, positions))

    return traced


def _is_alone(leaves: Sequence[Any]) -> bool:
    """Return whether a function and its derivative at these values may be one trace: nobody else builds, or records."""
    known = all(
        (isinstance(x, _LEAVES) and not (isinstance(x, Tensor) and x.is_symbolic)) or may_be_foreign(type(x))
        for x in leaves
    )
    return known and current_graph() is None and not recorders()


def _own(leaf: Any) -> Any:
    return Number(leaf) if number_type(leaf) in (float, complex) else leaf


def _with_numbers(args: Sequence[Any], positions: Sequence[int]) -> list[Any]:
    """Return arguments of which a number that changes from call to call is no reason to trace again."""
    made = list(args)
    for k in positions:
        if -len(args) <= k < len(args):
            made[k] = nest.map_structure(_own, args[k])
    return made


def _whole(function: Function, argnums: int | Sequence[int], has_aux: bool) -> Function:
    """Return ``function`` and its gradient in one trace."""
    key = argnums if isinstance(argnums, int) else tuple(argnums), has_aux
    return _kept(function, key, lambda: runtime.value_and_grad(function, argnums, has_aux))


def _of_theirs(derived: Callable[..., Any], has_value: bool) -> Callable[..., Any]:
    """Return a derivative that is an array of another library where it is taken of such, be it a constant; it may come
    with what it is the derivative of."""

    @functools.wraps(derived)
    def given(*args: Any, **kwargs: Any) -> Any:
        made, theirs = derived(*args, **kwargs), theirs_here()
        if theirs is None:
            return made
        mark = functools.partial(theirs.given, nest.flatten([args, kwargs]))
        return (made[0], nest.map_structure(mark, made[1])) if has_value else nest.map_structure(mark, made)

    return given


def _kept(function: Function, key: Any, make: Callable[[], Callable[..., Any]], is_alike: bool = True) -> Function:
    """Return a derivative as a trace, the same one each time: asking for a derivative makes none. It *is alike* if it
    has the function's arguments."""
    known = function.with_gradient.get(key)
    if known is None:
        made = _of_theirs(make(), key not in (_JVP, _HVP) and key[0] != _JACOBIAN)
        known = function.with_gradient.setdefault(key, function.derived(made, is_alike))
    return known


def jacobian(f: Callable[P, Any], argnums: int | Sequence[int] = 0) -> Callable[P, Any]:
    decorated = _Decorated(f)
    alone = runtime.jacobian(_staged(f, decorated), argnums)
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(alone)
    def derivatives(*args: Any, **kwargs: Any) -> Any:
        leaves, places = nest.flatten([args, kwargs]), range(-len(args), len(args))
        by = nest.flatten([args[k] for k in positions if k in places])
        # by Python's numbers, which a function may give to ``math``, or by arrays of another library
        is_one = any(number_type(one) in (float, complex) or may_be_foreign(type(one)) for one in by)
        function = decorated.of(leaves) if is_one and _is_alone(leaves) else None
        if function is None:
            return alone(*args, **kwargs)
        whole = _kept(
            function,
            (_JACOBIAN, argnums if isinstance(argnums, int) else positions),
            lambda: runtime.jacobian(function, argnums),
        )
        made = _with_numbers(args, positions)
        return decorated.unless_refused(lambda: whole(*made, **kwargs), lambda: alone(*args, **kwargs))

    return DerivativeFunction(jacobian, f, (argnums,), derivatives)


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    made: tuple[Any, ...] = runtime.vjp(_staged(f), *primals, has_aux=has_aux)
    if not any(may_be_foreign(type(leaf)) for leaf in nest.flatten(primals)):
        return made
    with undivided():  # which few programs need
        from .foreign_results import as_theirs
    value, pull = as_theirs(primals, made[0]), made[1]
    return (value, lambda *cotangents: as_theirs(primals, pull(*cotangents)), *made[2:])


def jvp(f: Callable[..., R], primals: Sequence[Any], directions: Sequence[Any]) -> tuple[R, R]:
    leaves = nest.flatten([primals, directions])
    function = _decorated(f).function() if _is_alone(leaves) else None  # forward mode is a trace of tensors, too
    if function is None:
        return runtime.jvp(_staged(f), primals, directions)
    both = _kept(function, _JVP, lambda: functools.partial(runtime.jvp, function), False)
    given: tuple[R, R] = both(*[nest.map_structure(_own, list(one)) for one in (primals, directions)])
    return given


def hessian_vector_product(f: Callable[..., Any], primal: Any, vector: Any) -> Any:
    decorated, leaves = _decorated(f), nest.flatten([primal, vector])
    function = decorated.of(leaves) if _is_alone(leaves) else None
    if function is None:
        return runtime.hessian_vector_product(_staged(f), primal, vector)
    product = _kept(function, _HVP, lambda: functools.partial(runtime.hessian_vector_product, function), False)
    given = [nest.map_structure(_own, one) for one in (primal, vector)]
    return decorated.unless_refused(
        lambda: product(*given), lambda: runtime.hessian_vector_product(_staged(f), primal, vector)
    )


def custom_gradient(f: Callable[P, tuple[R, Callable[..., Any]]]) -> Callable[P, R]:
    made = runtime.custom_gradient(_staged(f, _Decorated(f, has_backward=True)))
    return DerivativeFunction(custom_gradient, f, (), made)


for _function in (grad, value_and_grad, jacobian, vjp, jvp, hessian_vector_product, custom_gradient):
    _function.__doc__ = getattr(runtime, _function.__name__).__doc__
