"""Transformations under JAX's names: ``vmap``, ``fori_loop``, and matrices of first and second derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np
from autoloop_runtime import ops
from autoloop_runtime.base import nest
from autoloop_runtime.base.callbacks import calls_back
from autoloop_runtime.control.vectorized_map import vectorized_map
from autoloop_runtime.control.while_loop import while_loop
from autoloop_runtime.ir.argument_types import ArrayLike
from autoloop_runtime.ir.convert import convert_to_tensor

from .conversion.pipeline import convert
from .derivative_functions import DerivativeFunction
from .differentiation import jacobian, jvp

__all__ = ["fori_loop", "hessian", "jacfwd", "jacrev", "vmap"]

P = ParamSpec("P")
T = TypeVar("T")


def vmap(fun: Callable[P, T], in_axes: int | Sequence[Any] | None = 0, out_axes: int = 0) -> Callable[P, T]:
    """Return a function that maps ``fun`` over an axis of its arguments, computed at once where that is the same.

    Parameters
    ----------
    fun : callable
        Of one element along the axis of each argument. It is traced, as by ``vectorized_map``.
    in_axes : int, None, or sequence of them (or of structures of them)
        Which axis of each positional argument is mapped over; None: the argument is given as it is. Keyword arguments
        are mapped over their first axis.
    out_axes : int
        Where the axis is in the results.

    Returns
    -------
    callable

    Raises
    ------
    TypeError
        If ``fun`` is not callable, or ``out_axes`` is no integer.
    ValueError
        When it is called: if no argument is mapped over, ``in_axes`` has another form than the arguments, an
        argument has no such axis, or their extents differ.

    See Also
    --------
    vectorized_map : Over the first axis of one argument.

    Examples
    --------
    >>> import autoloop as al
    >>> import numpy as np
    >>> al.vmap(np.dot, in_axes=(0, None))(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    if not callable(fun):
        raise TypeError(f"vmap: a function is needed, got {fun!r} [AL412]")
    if not isinstance(out_axes, int):
        raise TypeError(f"vmap: out_axes is an integer, got {out_axes!r} [AL412]")

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        given, form = nest.flatten_with_structure([list(args), kwargs])
        axes = [*_axes_of(args, in_axes, "arguments"), *[0] * len(nest.flatten(kwargs))]
        moved = [_in_front(x, axis) for x, axis in zip(given, axes) if axis is not None]
        if not moved:
            raise ValueError("vmap must have at least one argument that is mapped over, see in_axes [AL412]")
        extents = {x.shape[0] for x in moved} - {None}
        if len(extents) > 1:
            raise ValueError(f"vmap got axes of different extents to be mapped over: {sorted(extents)} [AL412]")

        def one(rows: Any) -> Any:
            left = iter(rows)
            leaves = [x if axis is None else next(left) for x, axis in zip(given, axes)]
            positional, named = nest.unflatten(form, leaves)
            return convert(fun)(*positional, **named)

        made = vectorized_map(one, moved)
        return made if out_axes == 0 else nest.map_structure(lambda x: np.moveaxis(x, 0, out_axes), made)

    return DerivativeFunction(vmap, fun, (in_axes, out_axes), mapped)


def _axes_of(given: Any, in_axes: Any, parts: str = "elements") -> list[Any]:
    """Return the axis for each leaf of what is given: one for all, or one, or a structure of them, for each part."""
    leaves, form = nest.flatten_with_structure(given)
    if in_axes is None or isinstance(in_axes, (int, np.integer)):
        return [in_axes] * len(leaves)
    if isinstance(given, dict):
        fits, told = isinstance(in_axes, dict) and in_axes.keys() == given.keys(), f"a dict with the keys {[*given]}"
    elif isinstance(given, (list, tuple)):
        fits = isinstance(in_axes, (list, tuple)) and len(in_axes) == len(given)
        told = f"{len(given)} {parts}"
    else:
        fits, told = False, f"one {type(given).__name__}"
    if not fits or form.is_leaf():
        raise ValueError(f"vmap: in_axes says {in_axes!r} of {told}; an axis is an integer or None [AL412]")
    steps = dict.fromkeys(path[0] for path in form.paths())  # in the order of the leaves
    return [axis for step in steps for axis in _axes_of(given[step], in_axes[step])]


def _in_front(x: Any, axis: int) -> Any:
    rank = np.ndim(x) if not hasattr(x, "shape") else len(x.shape)
    if not -rank <= axis < rank:
        raise ValueError(f"vmap: an argument with {rank} axes has no axis {axis} [AL412]")
    array = x if hasattr(x, "shape") else np.asarray(x)
    return array if axis == 0 else np.moveaxis(array, axis, 0)


@calls_back("body_fun")
def fori_loop(lower: ArrayLike, upper: ArrayLike, body_fun: Callable[[Any, T], T], init_val: T) -> T:
    """Return what ``init_val`` becomes when ``body_fun(i, val)`` is applied for each ``i`` in ``range(lower, upper)``.

    Parameters
    ----------
    lower, upper : integer scalar
    body_fun : callable
        Takes the number of the turn and the value, and gives the next one: of the same structure, dtypes and shapes.
    init_val : structure of tensors

    Returns
    -------
    structure of Tensor
        That of ``init_val``.

    Raises
    ------
    TypeError
        If ``body_fun`` is not callable, a bound is no integer scalar, or a value changes its structure or dtype.
    ValueError
        If a value changes its shape.

    See Also
    --------
    while_loop : With a condition.

    Examples
    --------
    >>> import autoloop as al
    >>> al.fori_loop(0, 5, lambda i, total: total + i, 0).numpy()
    np.int32(10)
    """
    if not callable(body_fun):
        raise TypeError(f"fori_loop: body_fun must be callable, got {body_fun!r} [AL412]")
    first, last = convert_to_tensor(lower), convert_to_tensor(upper)
    for bound in (first, last):
        if bound.dtype.kind not in "iu" or bound.shape.rank not in (0, None):
            raise TypeError(f"fori_loop: a bound is an integer scalar, got {bound.shape} {bound.dtype} [AL412]")
    if first.dtype != last.dtype:
        wide = np.result_type(first.dtype, last.dtype)
        if wide.kind == "f":  # as int64 and uint64
            raise TypeError(f"fori_loop: no integer holds both bounds, {first.dtype} and {last.dtype} [AL412]")
        first, last = ops.cast(first, wide), ops.cast(last, wide)
    made = while_loop(lambda i, _: i < last, lambda i, value: (i + 1, body_fun(i, value)), (first, init_val))
    value: T = made[1]
    return value


def jacrev(fun: Callable[P, Any], argnums: int | Sequence[int] = 0) -> Callable[P, Any]:
    """Return a function that gives all derivatives of all results of ``fun``, one backward pass for each: ``jacobian``.

    Parameters
    ----------
    fun : callable
        Gives a floating tensor of known shape.
    argnums : int or sequence of int
        Which arguments.

    Returns
    -------
    callable
        Gives tensors of the shape of the result and of the argument behind each other.

    Raises
    ------
    TypeError
        When it is called, if an argument is complex: ``jacobian`` says what it gives then, JAX refuses.

    See Also
    --------
    jacfwd : The same, one forward pass for each element of the argument.

    Examples
    --------
    >>> import autoloop as al
    >>> import numpy as np
    >>> al.jacrev(lambda x: x * x)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])
    """
    return DerivativeFunction(jacrev, fun, (argnums,), _of_reals("jacrev", jacobian(fun, argnums), argnums))


def _of_reals(name: str, derivatives: Callable[P, Any], argnums: int | Sequence[int]) -> Callable[P, Any]:
    """Return ``derivatives``, but refuse complex arguments: a derivative by these is another thing in JAX."""
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(derivatives)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Any:
        for x in nest.flatten([args[k] for k in positions if -len(args) <= k < len(args)]):
            if np.dtype(getattr(x, "dtype", type(x) if isinstance(x, complex) else float)).kind == "c":
                raise TypeError(f"{name} takes no complex arguments; see jacobian for what it gives of them [AL412]")
        return derivatives(*args, **kwargs)

    return checked


def jacfwd(fun: Callable[P, Any], argnums: int | Sequence[int] = 0) -> Callable[P, Any]:
    """Return a function that gives all derivatives of all results of ``fun``, one forward pass for each element.

    Parameters
    ----------
    fun : callable
        Gives floating tensors.
    argnums : int or sequence of int
        Which arguments: floating, of known shape.

    Returns
    -------
    callable
        Gives tensors of the shape of the result and of the argument behind each other.

    Raises
    ------
    TypeError
        When it is called, if an argument or a result is not floating, or an argument has no known shape.

    See Also
    --------
    jacrev : The same, one backward pass for each element of the result.

    Examples
    --------
    >>> import autoloop as al
    >>> import numpy as np
    >>> al.jacfwd(lambda x: x * x)(np.array([1.0, 3.0]))
    array([[2., 0.],
           [0., 6.]])
    """

    @functools.wraps(fun)
    def derivatives(*args: Any, **kwargs: Any) -> Any:
        positions = [argnums] if isinstance(argnums, int) else list(argnums)
        found = [_forward(fun, k, args, kwargs) for k in positions]
        return found[0] if isinstance(argnums, int) else tuple(found)

    return DerivativeFunction(jacfwd, fun, (argnums,), derivatives)


def _forward(fun: Callable[..., Any], k: int, args: Sequence[Any], kwargs: Any) -> Any:
    if not -len(args) <= k < len(args):
        raise ValueError(f"argnums names argument {k}, the function was called with {len(args)} [AL403]")
    x = args[k] if hasattr(args[k], "dtype") else np.asarray(args[k])
    shape = tuple(x.shape)
    if x.dtype.kind != "f" or None in shape:
        raise TypeError(f"jacfwd needs floating arguments of known shape, got {x.shape} {x.dtype} [AL412]")
    if 0 in shape:  # no pass says what the results are
        return jacobian(fun, k)(*args, **kwargs)

    def of_one(value: Any) -> Any:
        return fun(*[*args[:k], value, *args[k:][1:]], **kwargs)

    columns = []
    for place in np.ndindex(shape):
        direction = np.zeros(shape, x.dtype)
        direction[place] = 1
        columns.append(jvp(of_one, [args[k] if not shape else x], [direction if shape else direction[()]])[1])

    def joined(*parts: Any) -> Any:
        for part in parts[:1]:
            if np.dtype(getattr(part, "dtype", type(part))).kind not in "fc":
                raise TypeError("jacfwd needs a function that gives floating tensors [AL412]")
        if not shape:
            return parts[0]  # of the kind that the function gives
        whole: Any = np.stack(parts, -1)
        return whole.reshape((*whole.shape[:-1], *shape))

    return nest.map_structure(joined, *columns)


def hessian(fun: Callable[P, Any], argnums: int | Sequence[int] = 0) -> Callable[P, Any]:
    """Return a function that gives all second derivatives of ``fun`` with regard to an argument.

    Parameters
    ----------
    fun : callable
        Gives a floating tensor of known shape.
    argnums : int or sequence of int
        Which arguments.

    Returns
    -------
    callable
        Gives a tensor of the shape of the result, and twice that of the argument.

    Raises
    ------
    TypeError
        When it is called, if an argument is complex.

    See Also
    --------
    hessian_vector_product : Of a direction, without the matrix.

    Examples
    --------
    >>> import autoloop as al
    >>> import numpy as np
    >>> al.hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    second = jacobian(jacobian(fun, argnums), argnums)
    return DerivativeFunction(hessian, fun, (argnums,), _of_reals("hessian", second, argnums))
