"""Derivatives of tensors of a graph, and of functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ops
from ..base import nest
from ..base.callbacks import watched
from ..base.dataclass import dataclass
from ..collections.variables import Variable
from ..ir.array_storage import give_in_place_of
from ..ir.convert import convert_to_tensor
from ..ir.graph import Graph, current_graph
from ..ir.number_operators import carried, number_type
from ..ir.structured import StructureError
from ..ir.tensor import Tensor
from ..ir.tracers import ArrayTracer, kind_of, marked
from .activity import is_differentiable
from .build import build, seed, seeds_of, source_in, tensor_in
from .enclosing import enclosing, within
from .jacobians import jacobians
from .sources import Sources, check_alone
from .tape import GradientTape


def gradients(ys: Any, xs: Any, grad_ys: Any = None, stop_gradients: Any = None, name: str | None = None) -> Any:
    """Return the gradients of the sum of ``ys`` with regard to each of ``xs``, built into their graph.

    Parameters
    ----------
    ys : tensor or (nested) sequence of tensors
        Symbolic tensors, of a 1.x graph or of the function being traced (or of a loop's body or a branch in it).
    xs : tensor, Variable, or sequence of them
    grad_ys : sequence of tensors, optional
        The gradient that each of ``ys`` starts with; ones by default (``None`` entries, too).
    stop_gradients : tensor or sequence of tensors, optional
        Count as constants: nothing flows through them.
    name : str, optional
        Prefix of the new nodes.

    Returns
    -------
    list of Tensor, IndexedSlices or None
        One per element of ``xs``; ``None`` where no differentiable path leads to it, ``IndexedSlices`` where all there
        is comes from ``gather``.

    Raises
    ------
    TypeError
        If ``ys`` are values: then there is no graph to go back through.
    LookupError
        If an operation on the way has no gradient; the message names it and the line.

    Notes
    -----
    A *differentiable path* is made of floating (or complex) tensors and of operations that are not constant in them.
    Integers, ``stop_gradient``, comparisons, ``floor_divide``, the predicate of a branch or loop, and a loop with
    ``back_prop=False`` end it. Loops and branches are no exception: what goes into one has a path if one of its
    branches, or some number of iterations of its body, has one to a result that ``ys`` depend on. No iteration at all
    is such a number, which hands the initial value of a loop variable on. So ``None`` depends on the program, never on
    values; a path whose derivative happens to be zero gives zeros. ``GradientTape.gradient`` keeps the same rule;
    ``grad``, ``vjp`` and ``jacobian`` give zeros instead of ``None``.

    In the body of a loop, a branch or the function of a map, the path also leads through what was computed outside of
    it, at any depth; the gradient is computed where it is asked for. A loop variable is a value of its own there: no
    path leads from it to its initial value. What was computed outside of every function and graph is a value, which
    counts as a constant; a ``GradientTape`` around all of it knows more.

    Examples
    --------
    >>> with al.Graph():
    ...     x = al.constant(3.0)
    ...     slope = al.gradients(x * x, x)
    ...     with al.Session() as session:
    ...         print(session.run(slope))
    [np.float32(6.0)]
    """
    targets = [convert_to_tensor(y) for y in nest.flatten(ys, expand_composites=True)]
    sources = Sources.of(list(nest.flatten(xs)))
    for x in nest.flatten(xs):
        check_alone(x)
    if all(y.graph is None for y in targets):
        raise TypeError("gradients needs tensors of a graph: call it in a function, or use GradientTape [AL406]")
    given = seeds_of(ys, grad_ys)
    stops = [] if stop_gradients is None else [convert_to_tensor(t) for t in nest.flatten(stop_gradients)]
    graph = _where([*targets, *[g for g in given if isinstance(g, Tensor)]])
    with graph.as_default(), graph.name_scope(name or "gradients"):
        targets = [graph.capture(y) if y.graph is None else tensor_in(graph, y) for y in targets]
        pairs = [(y, seed(y, g)) for y, g in zip(targets, given) if is_differentiable(y)]
        constants = frozenset([tensor_in(graph, t) for t in stops])
        keys = [source_in(graph, x) for x in sources.keys]
        found = build(graph, [y for y, _ in pairs], [g for _, g in pairs], keys, constants, sparse=True)
        return sources.pack(found)


def _where(tensors: Sequence[Tensor]) -> Graph:
    """Return the graph to build a gradient in: the current one if it can use ``tensors``,
    else the innermost of theirs."""
    current = current_graph()
    graphs = [t.graph for t in tensors if t.graph is not None]
    candidates = graphs if current is None else [current, *graphs]
    for graph in candidates:
        around = enclosing(graph)
        if all(within(around, t) is not None for t in tensors):
            return graph
    return graphs[0]  # which says what is wrong with the others


# -- functions --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Point:
    """A function at a point: its value there, and the way back.

    Attributes
    ----------
    value
        What the function returned.
    arguments : list of Sources
        The differentiated arguments, made for this call.
    back : callable
        ``back(outputs, their gradients)`` gives a gradient or ``None`` for each of all the sources.
    """

    value: Any
    arguments: list[Sources]
    back: Callable[[Sequence[Tensor], Sequence[Any]], list[Tensor | None]]

    def pack(self, found: Sequence[Any]) -> list[Any]:
        """Return one thing per source in the structures of the arguments, zeros for ``None``."""
        made, start = [], 0
        for argument in self.arguments:
            count = len(argument.keys)
            made.append(argument.pack(found[start : start + count], zeros=True))
            start += count
        return made


def _evaluate(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], positions: Sequence[int]) -> _Point:
    """Call ``f`` so that derivatives with regard to the arguments at ``positions`` can be taken."""
    tensors = [t for t in nest.flatten([args, kwargs], True) if isinstance(t, Tensor)]
    owner = next((t.graph for t in tensors if t.is_symbolic), None)
    if current_graph() is None and owner is not None:
        with owner.as_default():
            return _evaluate(f, args, kwargs, positions)
    made = list(args)
    arguments = []
    for position in positions:
        if not -len(args) <= position < len(args):
            raise ValueError(f"argnums names argument {position}, the function was called with {len(args)} [AL403]")
        arguments.append(Sources.of(args[position], functools.partial(_own, position=position)))
        made[position] = arguments[-1].value()
    flat = [x for argument in arguments for x in argument.keys]
    same = [pair for k in positions for pair in zip(nest.flatten(made[k]), nest.flatten(args[k]))]
    graph = current_graph()
    if graph is not None:
        give_in_place_of([given for _, given in same], [tensor for tensor, _ in same])
        # what is no array has no memory to note that in: the caller gets what was given, as soon as this is over
        with watched(f, args, kwargs, same=[pair for pair in same if isinstance(pair[1], Variable)]):
            value = f(*made, **kwargs)

        def back(ys: Sequence[Tensor], gs: Sequence[Any]) -> list[Tensor | None]:
            seeds = [seed(y, g) for y, g in zip(ys, gs)]
            # no path leads outside, where the arguments made for this call are not
            return build(graph, [graph.capture(y) for y in ys], seeds, flat, spans={graph: graph.nodes})

        return _Point(value, arguments, back)
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    tape.watch(flat)
    tape.arrays.add(tensor for tensor, given in same if isinstance(given, np.ndarray | np.generic))
    with watched(f, args, kwargs, same=same), tape:
        value = f(*made, **kwargs)

    def replay(ys: Sequence[Tensor], gs: Sequence[Any]) -> list[Tensor | None]:
        return [None if g is None else convert_to_tensor(g) for g in tape.gradient(list(ys), flat, list(gs))]

    return _Point(value, arguments, replay)


def _own(value: Any, position: int) -> Tensor:
    """Return an argument's leaf as a tensor of its own, so that only this use of it counts."""
    if value is None or isinstance(value, (str, bytes)):
        raise TypeError(
            f"argument {position} is or holds {value!r}; derivatives are taken with regard to floats: give that as "
            f"an argument of its own, which argnums leaves out [AL401]"
        )
    tensor = convert_to_tensor(value) if number_type(value) not in (float, complex) else carried(value)
    if tensor.dtype.kind not in "fc":
        raise TypeError(
            f"argument {position} has dtype {tensor.dtype}; derivatives are taken with regard to floats: pass "
            f"{_as_float(value)}, or leave it out of argnums (for derivatives of integer-valued functions there is "
            f"nothing that vjp or jacobian could give either) [AL401]"
        )
    own: Tensor = ops.identity(tensor)
    return own


def _as_of(args: Any, value: Any) -> Any:
    """Return a value computed at once from ``args`` as plain Python would have it: of arrays alone an array."""
    if current_graph() is not None:
        return value
    kind = kind_of(nest.flatten(args), ArrayTracer)
    return nest.map_structure(lambda leaf: marked(kind, leaf) if isinstance(leaf, Tensor) else leaf, value)


def _as_float(value: Any) -> str:
    return f"{float(value)!r}" if isinstance(value, (int, np.integer)) else "a float tensor, e.g. cast(x, float32)"


def _positions(argnums: int | Sequence[int]) -> tuple[int, ...]:
    found = (argnums,) if isinstance(argnums, int) else argnums
    if not isinstance(found, Sequence) or not all(isinstance(one, int) for one in found):
        raise TypeError(
            f"argnums is the number of an argument, or a sequence of such, as 0 or (0, 1): got {argnums!r} [AL403]"
        )
    return tuple(found)


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that gives the value of ``f`` and its gradient.

    Parameters
    ----------
    f : callable
        Gives a real scalar; with ``has_aux`` a pair of it and anything else. May be a decorated function.
    argnums : int or sequence of int
        The arguments to differentiate with regard to: tensors, or structures of them, of floats.
    has_aux : bool

    Returns
    -------
    callable
        Takes the arguments of ``f``, gives ``(value, gradient)``, with ``has_aux`` ``((value, aux), gradient)``. The
        gradient has the structure of the argument, or is a tuple of these if ``argnums`` is a sequence; what the value
        does not depend on gets zeros. Works on values, inside functions, and on itself for higher derivatives.

    Raises
    ------
    TypeError
        If the value is no real scalar (use ``vjp`` or ``jacobian``) or an argument is not floating.

    Examples
    --------
    >>> value, slope = al.value_and_grad(lambda x: x * x)(al.constant(3.0))
    >>> print(value, slope)
    Tensor(9.0, shape=(), dtype=float32) Tensor(6.0, shape=(), dtype=float32)
    """
    positions = _positions(argnums)

    @functools.wraps(f)
    def with_gradient(*args: Any, **kwargs: Any) -> Any:
        point = _evaluate(f, args, kwargs, positions)
        value, aux = _with_aux(point.value) if has_aux else (point.value, None)
        y = _scalar(value)
        found = tuple(point.pack(point.back([y], [None])))
        gradient = found[0] if isinstance(argnums, int) else found
        y, aux = _as_of((args, kwargs), (marked(kind_of((value,)), y), aux))
        return ((y, aux), gradient) if has_aux else (y, gradient)

    return with_gradient


def _with_aux(value: Any) -> Any:
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(
            f"with has_aux=True the function must return a pair (value, aux), it returned {value!r} [AL402]"
        )
    return value


def _scalar(value: Any) -> Tensor:
    if isinstance(value, (list, tuple, dict)) or value is None:
        raise TypeError(
            f"grad needs a function that returns a real scalar, it returned {nest.describe(value)}; use vjp or "
            f"jacobian for functions with other results, or has_aux=True [AL402]"
        )
    y = convert_to_tensor(value)
    if y.dtype.kind != "f" or y.shape.rank not in (0, None):
        raise TypeError(
            f"grad needs a function that returns a real scalar, it returned a tensor of shape {y.shape} and dtype "
            f"{y.dtype}; use vjp or jacobian [AL402]"
        )
    return y


def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that gives the gradient of ``f``; see ``value_and_grad``.

    Parameters
    ----------
    f : callable
        Gives a real scalar, or such a scalar and something else (``has_aux``).
    argnums : int or sequence of int
        By which arguments.
    has_aux : bool
        ``f`` gives a second result, which is handed on.

    Returns
    -------
    callable
        Gives the gradient, with ``has_aux`` the pair ``(gradient, aux)``.

    Examples
    --------
    >>> print(al.grad(lambda x: x**3)(al.constant(2.0)))
    Tensor(12.0, shape=(), dtype=float32)
    """
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return the value of ``f`` and the function that takes gradients back through it.

    Parameters
    ----------
    f : callable
    *primals
        Its arguments: structures of floating tensors.
    has_aux : bool
        ``f`` gives a pair of its value and anything else.

    Returns
    -------
    value, callable
        And the anything else. The callable takes a structure like the value, gives a tuple with one gradient per
        argument, and may be called any number of times.

    Examples
    --------
    >>> value, pull = al.vjp(lambda x: x * x, al.constant([1.0, 2.0]))
    >>> print(pull(al.ones(2)))
    (<Tensor: shape=(2,), dtype=float32, numpy=array([2., 4.], dtype=float32)>,)
    """
    point = _evaluate(f, primals, {}, range(len(primals)))
    value, aux = _with_aux(point.value) if has_aux else (point.value, None)
    leaves, structure = nest.flatten_with_structure(value)
    ys = [convert_to_tensor(v) for v in leaves]

    def back(cotangents: Any) -> tuple[Any, ...]:
        parts, found = nest.flatten_with_structure(cotangents)
        if found != structure:
            raise StructureError(
                f"the gradients must have the structure of the value, {structure}, not {found} [AL404]"
            )
        pairs = [(y, g) for y, g in zip(ys, parts) if is_differentiable(y)]
        return tuple(point.pack(point.back([y for y, _ in pairs], [g for _, g in pairs])))

    value, aux = _as_of(primals, (value, aux))
    return (value, back, aux) if has_aux else (value, back)


def jacobian(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """Return a function that gives all derivatives of all elements of ``f``.

    Parameters
    ----------
    f : callable
        Gives floating tensors.
    argnums : int or sequence of int

    Returns
    -------
    callable
        Gives a tensor of shape ``f(x).shape + x.shape`` for each tensor ``x`` of the argument, in its structure; where
        ``f`` gives a structure, one with that in the place of each tensor. Takes one backward pass per element of
        ``f(x)``. By a complex ``x`` the gradients of the real parts of the elements, as ``grad`` of each would give.

    Examples
    --------
    >>> print(al.jacobian(lambda x: x * x)(al.constant([1.0, 2.0])))
    Tensor([[2. 0.]
     [0. 4.]], shape=(2, 2), dtype=float32)
    """
    positions = _positions(argnums)

    @functools.wraps(f)
    def derivatives(*args: Any, **kwargs: Any) -> Any:
        point = _evaluate(f, args, kwargs, positions)

        keys = [x for argument in point.arguments for x in argument.keys]

        def of_leaf(value: Any) -> Any:
            y = convert_to_tensor(value)
            found = point.pack(jacobians(y, keys, lambda one: point.back([y], [one]), True))
            return found[0] if isinstance(argnums, int) else tuple(found)

        return nest.map_structure(of_leaf, point.value)

    return derivatives


def hessian_vector_product(f: Callable[..., Any], primal: Any, vector: Any) -> Any:
    """Return the second derivatives of ``f`` applied to a vector, without forming them.

    Parameters
    ----------
    f : callable
        Gives a real scalar from one argument, a structure of floating tensors.
    primal
        Where.
    vector
        In the structure of ``primal``.

    Returns
    -------
    structure of Tensor
        In the structure of ``primal``.

    Examples
    --------
    >>> cubes = lambda x: al.sum(x**3)
    >>> print(al.hessian_vector_product(cubes, al.constant([1.0, 2.0]), al.constant([1.0, 0.0])))
    Tensor([6. 0.], shape=(2,), dtype=float32)
    """

    def slope(x: Any) -> Any:
        parts = zip(nest.flatten(grad(f)(x)), nest.flatten(vector))
        return functools.reduce(lambda a, b: ops.add(a, b), [ops.sum(ops.multiply(g, v)) for g, v in parts])

    return grad(slope)(primal)
