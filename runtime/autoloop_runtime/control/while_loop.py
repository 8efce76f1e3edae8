"""``while_loop``: nested values over the structured node ``While``; the conditionals of ``branches`` beside it.

The semantics are those of the reference documents on ``tf.while_loop``: ``cond`` and ``body`` are called
exactly once, shape invariants are enforced, iterations are not strict. Outside a graph the loop is traced and run at
once through the same nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack, overload

from ..base import nest
from ..base.callbacks import calls_back
from ..base.dataclass import replace
from ..ir.argument_types import ArrayLike
from ..ir.graph import Graph, current_graph
from ..ir.structured import (
    LoopOptions,
    LoopVar,
    body_and_cond,
    check_initial,
    check_maximum,
    check_predicate,
    check_result,
    finish_while,
    subgraph,
)
from ..ir.tensor import Tensor
from ..running.prepare import run_now
from .cond import BranchValues, case, cond, switch_case
from .loop_form import LoopForm, argument_names, check_arity
from .structure_types import T1, T2, T3, T4, LoopArguments, Value

__all__ = ["BranchValues", "case", "cond", "switch_case", "while_loop"]


@overload
def while_loop(
    cond: Callable[[Tensor], Value],
    body: Callable[[Tensor], Sequence[Value] | Value],
    loop_vars: tuple[Value], **options: Unpack[LoopArguments],
) -> tuple[Tensor]: ...  # fmt: skip
@overload
def while_loop(
    cond: Callable[[Tensor, Tensor], Value],
    body: Callable[[Tensor, Tensor], Sequence[Value]],
    loop_vars: tuple[Value, Value], **options: Unpack[LoopArguments],
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
@overload
def while_loop(
    cond: Callable[[Tensor, Tensor, Tensor], Value],
    body: Callable[[Tensor, Tensor, Tensor], Sequence[Value]],
    loop_vars: tuple[Value, Value, Value], **options: Unpack[LoopArguments],
) -> tuple[Tensor, Tensor, Tensor]: ...  # fmt: skip
@overload
def while_loop(
    cond: Callable[[Tensor, Tensor, Tensor, Tensor], Value],
    body: Callable[[Tensor, Tensor, Tensor, Tensor], Sequence[Value]],
    loop_vars: tuple[Value, Value, Value, Value], **options: Unpack[LoopArguments],
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...  # fmt: skip
@overload
def while_loop(
    cond: Callable[[T1], Value],
    body: Callable[[T1], tuple[T1] | list[Any] | T1],
    loop_vars: tuple[T1], **options: Unpack[LoopArguments],
) -> tuple[T1]: ...  # fmt: skip
@overload
def while_loop(
    cond: Callable[[T1, T2], Value],
    body: Callable[[T1, T2], tuple[T1, T2] | list[Any]],
    loop_vars: tuple[T1, T2], **options: Unpack[LoopArguments],
) -> tuple[T1, T2]: ...  # fmt: skip
@overload
def while_loop(
    cond: Callable[[T1, T2, T3], Value],
    body: Callable[[T1, T2, T3], tuple[T1, T2, T3] | list[Any]],
    loop_vars: tuple[T1, T2, T3], **options: Unpack[LoopArguments],
) -> tuple[T1, T2, T3]: ...  # fmt: skip
@overload
def while_loop(
    cond: Callable[[T1, T2, T3, T4], Value],
    body: Callable[[T1, T2, T3, T4], tuple[T1, T2, T3, T4] | list[Any]],
    loop_vars: tuple[T1, T2, T3, T4], **options: Unpack[LoopArguments],
) -> tuple[T1, T2, T3, T4]: ...  # fmt: skip
@overload
def while_loop(
    cond: Callable[[T1], Value],
    body: Callable[[T1], T1], loop_vars: T1, **options: Unpack[LoopArguments],
) -> T1: ...  # fmt: skip
@overload
def while_loop(
    cond: Callable[..., Value], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any = None,
    parallel_iterations: int = 10, back_prop: bool = True, swap_memory: bool = False,
    maximum_iterations: ArrayLike | None = None, name: str | None = None, gradient_memory: str | int | None = None,
) -> Any: ...  # fmt: skip
@calls_back("cond", "body")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: ArrayLike | None = None,
    name: str | None = None,
    gradient_memory: str | int | None = None,
) -> Any:
    """Repeat ``body`` while ``cond`` is true.

    Parameters
    ----------
    cond : callable
        Takes as many arguments as there are loop variables; gives a boolean scalar.
    body : callable
        Takes the same arguments; gives their next values, in the structure of ``loop_vars``.
    loop_vars : (nested) tuple, list or named tuple
        Tensors, arrays, Python numbers, TensorArrays: the values on entry.
    shape_invariants : structure of TensorShape, optional
        The shape that each variable keeps; by default its shape on entry. ``"auto"`` relaxes the shapes that
        the body changes. A dict ``{name: shape}`` relaxes the variables it names.
    parallel_iterations : int
        How many iterations may be alive at once.
    back_prop : bool
        False: no gradient flows through the loop (as ``stop_gradient`` on the results).
    swap_memory : bool
        Keep what the gradient needs in a temporary file when it is large; see ``config.set_swap_budget``.
    maximum_iterations : int or scalar integer tensor, optional
        AND-ed into the condition.
    name : str, optional
        Prefix of the nodes' names.
    gradient_memory : {"save", "checkpoint"} or int, optional
        What is kept for gradients: whatever they need of each iteration; or the variables at some iterations
        (checkpoints), and those between are run once again, so that n iterations take O(sqrt(n)) memory. With a number
        c, at least 2, there are never more than c checkpoints and the intermediates of k iterations, however many
        iterations there are: each is run again r times, for the least r with binomial(c + r, r) >= n / k. Here k is c,
        or as many iterations as compute no more than 64 KiB, all their values together, if that is more. The values
        are the same. The body must then have no effects. A gradient of the gradient saves what it needs.

    Returns
    -------
    structure of Tensor
        The values after the loop, in the structure of ``loop_vars``; static shapes are the invariants.

    Raises
    ------
    TypeError
        If ``cond`` or ``body`` is not callable, or a variable changes its dtype or structure.
    ValueError
        If ``loop_vars`` is empty, a shape breaks its invariant, or ``parallel_iterations`` is below 1.

    Examples
    --------
    >>> i, total = al.while_loop(lambda i, total: i < 5, lambda i, total: (i + 1, total + i), (0, 0))
    >>> print(total)
    Tensor(10, shape=(), dtype=int32)
    """
    options = LoopOptions(
        10 if parallel_iterations is None else parallel_iterations,
        check_maximum(maximum_iterations), back_prop, swap_memory, gradient_memory,
    )  # fmt: skip
    return _in_its_graph(loop_vars, lambda: _build(cond, body, loop_vars, shape_invariants, options, name))


def _in_its_graph(loop_vars: Any, build: Callable[[], Any]) -> Any:
    """Return what ``build`` builds: in the default graph, else that of a variable, else in one that runs now."""
    if current_graph() is not None:
        return build()
    owner = next((t.graph for t in nest.flatten(loop_vars, True) if isinstance(t, Tensor) and t.node), None)
    if owner is None:
        return run_now(build)
    with owner.as_default():
        return build()


def _build(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, shape_invariants: Any,
    options: LoopOptions, name: str | None,
) -> Any:  # fmt: skip
    for what, f in (("cond", cond), ("body", body)):
        if not callable(f):
            raise TypeError(f"{what} must be callable, got {f!r} of type {type(f).__name__} [AL101]")
    graph = current_graph()
    assert graph is not None
    form = LoopForm(loop_vars, argument_names(body, loop_vars))
    if isinstance(shape_invariants, str):
        if shape_invariants != "auto":
            raise ValueError(f"shape_invariants is a structure of shapes or 'auto', not {shape_invariants!r} [AL117]")
        variables = _relaxed(graph, form, body)
    else:
        variables = form.variables(shape_invariants)
    for variable in variables:
        check_initial(variable)
    for what, f in (("cond", cond), ("body", body)):
        check_arity(f, what, form.arity)
    scope = graph.unique_name(name or "while")
    cond_graph, body_graph = body_and_cond(graph, scope, variables)
    with cond_graph.as_default():
        pred = check_predicate(cond(*form.pack(cond_graph.inputs)), "cond")
    with body_graph.as_default():
        value = body(*form.pack(body_graph.inputs))
        results, structures = form.results(value)
        results = [check_result(v, r) for v, r in zip(variables, results)]
    outputs = finish_while(graph, scope, variables, cond_graph, pred, body_graph, results, options)
    return form.final(outputs, structures)


def _relaxed(graph: Graph, form: LoopForm, body: Callable[..., Any]) -> list[LoopVar]:
    """Return invariants found by tracing ``body`` into scratch graphs until no shape gets more general.

    Terminates: each round makes at least one dimension unknown, and no dimension becomes known again.
    """
    variables = form.variables(None)
    while True:
        scratch = subgraph(graph, "scratch", [(v.init.dtype, v.invariant, v.name) for v in variables])
        with scratch.as_default():
            results, _ = form.results(body(*form.pack(scratch.inputs)))
        relaxed = [
            replace(v, invariant=v.invariant.most_general(v.invariant.most_general(r.shape)))
            for v, r in zip(variables, results)
        ]
        if relaxed == variables or [v.invariant for v in relaxed] == [v.invariant for v in variables]:
            return variables
        variables = relaxed
