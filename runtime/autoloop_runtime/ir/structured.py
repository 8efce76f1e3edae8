"""The two structured nodes, ``While`` and ``Cond``, made from traced sub-graphs.

This is the flat floor of control flow: lists of tensors in, lists of tensors out. The caller opens sub-graphs
with ``subgraph``, traces whatever it likes into them under ``graph.as_default()``, and closes the node with
``finish_while`` or ``finish_cond``, which line up the captures of all sub-graphs, thread the effect token and
check every loop variable against its invariant.

Form of a ``While`` node. Inputs: the initial values of the loop variables, then the captured tensors; the
parameters of ``attrs["cond"]`` and ``attrs["body"]`` correspond to them one to one. ``cond`` gives the
predicate (and, if it has effects, a token that replaces the token variable for the body), ``body`` the next
values. Outputs: the final values. A ``Cond`` node: predicate, then captures; both branches take the captures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.dataclass import dataclass
from ..base.dtypes import DType
from ..base.locations import Location
from ..base.shapes import SCALAR, TensorShape
from .convert import convert_to_tensor
from .graph import Graph
from .op import Op, call, register, ruled_in
from .tensor import Tensor
from .traits import NO_RULE, OPAQUE


def _specs(*_: Tensor, specs: Sequence[Any], **__: Any) -> list[Any]:
    return list(specs)


def _no_kernel(*_: Any, **__: Any) -> Any:
    raise AssertionError("a structured node has no kernel; it is lowered or emitted")


WHILE = register(
    Op("While", _specs, _no_kernel, NO_RULE, graphs=("cond", "body"), several=True, traits=OPAQUE.but(overwrites=True))
)
COND = register(Op("Cond", _specs, _no_kernel, NO_RULE, graphs=("then", "else"), several=True, traits=OPAQUE))


class StructureError(TypeError, ValueError):
    """A value whose nested structure or number of elements is not what it must be.

    A ``TypeError``, like every mismatch of type; also a ``ValueError``, which is what TensorFlow raises for a
    wrong number of values.
    """


@dataclass(frozen=True)
class LoopVar:
    """What a loop declares of one variable.

    Attributes
    ----------
    name : str
        The user's name for it, for messages and node names.
    init : Tensor
        The value on entry.
    invariant : TensorShape
        The shape that holds in every iteration.
    composite : str
        For a component tensor of a composite value: what messages say of the value's invariant, with ``{name}`` for
        its name and ``{relaxed!r}`` for a shape that would do; empty otherwise.
    """

    name: str
    init: Tensor
    invariant: TensorShape
    composite: str = ""


@dataclass(frozen=True)
class LoopOptions:
    """The keyword arguments of ``while_loop`` that do not concern single variables.

    ``begun``: how many iterations of the user's loop were written out before this one, for who counts them.
    """

    parallel_iterations: int = 10
    maximum_iterations: Any = None
    back_prop: bool = True
    swap_memory: bool = False
    gradient_memory: str | int | None = None
    begun: int = 0

    def __post_init__(self) -> None:
        check_gradient_memory(self.gradient_memory)
        n = self.parallel_iterations
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
            raise TypeError(f"parallel_iterations must be a positive integer, got {n!r} [AL109]")
        if n < 1:
            raise ValueError(f"parallel_iterations must be a positive integer, got {n} [AL109]")


def check_gradient_memory(value: Any) -> Any:
    """Return ``value`` if it is None (the default), ``"save"``, ``"checkpoint"`` or a number of checkpoints.

    Raises
    ------
    TypeError, ValueError
        If it is not.
    """
    if value is None or value in ("save", "checkpoint"):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(
            f"gradient_memory must be 'save', 'checkpoint' or a number of checkpoints, got {value!r} [AL109]"
        )
    if value < 2:
        raise ValueError(f"gradient_memory needs at least 2 checkpoints, got {value} [AL109]")
    return int(value)


def subgraph(parent: Graph, name: str, params: Sequence[tuple[DType, TensorShape, str]] = ()) -> Graph:
    """Return a sub-graph of ``parent`` with one parameter per ``(dtype, shape, name)``, in ``.inputs``."""
    graph = Graph(name, parent)
    here = graph.here() if params else None
    for dtype, shape, param in params:
        graph.parameter(dtype, shape, param, here)
    return graph


def body_and_cond(graph: Graph, scope: str, variables: Sequence[LoopVar]) -> tuple[Graph, Graph]:
    """Return the two empty sub-graphs of a loop over ``variables``: ``(cond, body)``."""
    params = [(v.init.dtype, v.invariant, v.name) for v in variables]
    return subgraph(graph, f"{scope}/cond", params), subgraph(graph, f"{scope}/body", params)


def check_predicate(pred: Any, what: str) -> Tensor:
    """Return ``pred`` as a boolean scalar tensor.

    Raises
    ------
    TypeError
        If it is not boolean.
    ValueError
        If it is known not to be a scalar.
    """
    if pred is None:
        raise TypeError(f"{what} must give a boolean scalar, it gave None (is a return missing?) [AL108]")
    tensor = convert_to_tensor(pred)
    if tensor.dtype != dtypes.bool_:
        raise TypeError(
            f"{what} must give a boolean scalar, it gave dtype {tensor.dtype}; compare it, e.g. x != 0 [AL108]"
        )
    if tensor.shape.rank not in (0, None):
        raise ValueError(
            f"{what} must give a boolean scalar, it gave shape {tensor.shape}; reduce it with any(...) or all(...)"
            " [AL108]"
        )
    return tensor


def check_initial(variable: LoopVar) -> None:
    """Raise ``ValueError`` if the entry value of ``variable`` does not conform to its invariant."""
    if not variable.init.shape.is_compatible_with(variable.invariant):
        raise ValueError(
            f"loop variable {variable.name!r} has shape {variable.init.shape} on entry, which does not conform "
            f"to its shape invariant {variable.invariant} [AL104]"
        )


def check_result(variable: LoopVar, value: Tensor) -> Tensor:
    """Return ``value`` as the next value of ``variable``.

    Raises
    ------
    TypeError
        If the dtype changed.
    ValueError
        If the shape is more general than the invariant or incompatible with it.
    """
    name, init = variable.name, variable.init
    if value.dtype != init.dtype:
        raise TypeError(
            f"loop variable {name!r} has dtype {init.dtype} on entry, but dtype {value.dtype} after one "
            f"iteration; start with cast({name}, {value.dtype}) or cast the new value with "
            f"cast({name}, {init.dtype}) [AL106]"
        )
    if not value.shape.is_subsumed_by(variable.invariant):
        how = "more general than" if value.shape.is_compatible_with(variable.invariant) else "incompatible with"
        relaxed = variable.invariant.most_general(value.shape)
        if variable.composite:
            rule = variable.composite.format(name=name.rpartition(".")[0], relaxed=relaxed)
            raise ValueError(
                f"loop variable {name!r} has shape {init.shape} on entry, but shape {value.shape} after one iteration, "
                f"which is {how} its shape invariant {variable.invariant}; the invariant of {rule} [AL105]"
            )
        raise ValueError(
            f"loop variable {name!r} has shape {init.shape} on entry, but shape {value.shape} after one iteration, "
            f"which is {how} its shape invariant {variable.invariant}; allow it with shape_invariants="
            f"{{{name!r}: {relaxed!r}}} (in while_loop: {relaxed!r} at the place of {name!r} in "
            f"shape_invariants; in a converted loop: set_loop_options(shape_invariants=[({name}, {relaxed!r})])), "
            f"or state the shape in the body with {name}.set_shape({variable.invariant}) [AL105]"
        )
    return value


def _line_up(
    graph: Graph, subs: Sequence[Graph], leading: Sequence[Sequence[Tensor]], keep: bool = True
) -> list[Tensor]:
    """Give all ``subs`` the same parameters: their ``leading`` ones, then one per captured tensor.

    Returns the captured tensors of ``graph``, in the order of the parameters.
    """
    outer: dict[Tensor, None] = {}
    for sub in subs:
        outer.update((o, None) for o, _ in sub.captured_inputs())
    here = subs[0].here() if outer else None
    for sub, first in zip(subs, leading):
        known = dict(sub.captured_inputs())
        captured = [known[o] if o in known else sub.parameter(o.dtype, o.shape, "capture", here) for o in outer]
        sub.inputs = [*first, *captured]
    return list(outer)


def finish_while(
    graph: Graph,
    scope: str,
    variables: Sequence[LoopVar],
    cond: Graph,
    pred: Tensor,
    body: Graph,
    results: Sequence[Tensor],
    options: LoopOptions,
    location: Location | None = None,
) -> list[Tensor]:
    """Close a loop whose sub-graphs were traced, as a node of ``graph``.

    Parameters
    ----------
    scope : str
        The node's (unique) name.
    variables : sequence of LoopVar
        One per leading parameter of ``cond`` and ``body``.
    pred, results : Tensor, sequence of Tensor
        The predicate, in ``cond``, and the next values, in ``body``, checked by ``check_result``.

    Returns
    -------
    list of Tensor
        The final values, with the invariants as static shapes.
    """
    variables, results = list(variables), [body.capture(r) for r in results]
    leading = [list(g.inputs[: len(variables)]) for g in (cond, body)]
    pred = cond.capture(pred)
    n_user = len(variables)
    if options.maximum_iterations is not None:
        counter, limit = _counter(graph, options.maximum_iterations), _limit(graph, options.maximum_iterations)
        variables.append(counter)
        for sub, first in zip((cond, body), leading):
            first.append(sub.parameter(counter.init.dtype, SCALAR, counter.name))
        with cond.as_default():
            pred = call("logical_and", call("less", leading[0][-1], limit), pred)
        with body.as_default():
            results.append(call("add", leading[1][-1], 1))
    outputs = [pred]
    token_index = None
    if cond.token_input is not None or body.token_input is not None:
        token_index = len(variables)
        variables.append(LoopVar("token", graph.effect_token(), SCALAR))
        _thread_token(cond, body, leading, outputs, results)
    captured = _line_up(graph, (cond, body), leading)
    cond.outputs, body.outputs = outputs, results
    attrs = {
        "cond": cond, "body": body, "token": token_index, "n_vars": len(variables),
        "names": tuple([v.name for v in variables]), "invariants": tuple([v.invariant for v in variables]),
        "specs": tuple([(v.init.dtype, v.invariant) for v in variables]),
        "parallel_iterations": int(options.parallel_iterations), "back_prop": options.back_prop,
        "swap_memory": options.swap_memory, "gradient_memory": options.gradient_memory, "begun": options.begun,
    }  # fmt: skip
    node = graph.add(WHILE, [*(v.init for v in variables), *captured], attrs, None, location, scope)
    if token_index is not None:
        graph.token = node.outputs[token_index]
    return list(node.outputs[:n_user])


def _thread_token(
    cond: Graph, body: Graph, leading: Sequence[list[Tensor]], outputs: list[Tensor], results: list[Tensor]
) -> None:
    """Let the effects of one iteration come after those of the one before."""
    for sub, first in zip((cond, body), leading):
        first.append(sub.effect_token() if sub.token_input is None else sub.token_input)
    if cond.token is not cond.token_input:
        assert cond.token is not None
        outputs.append(cond.token)
    assert body.token is not None
    results.append(body.token)


def _counter(graph: Graph, maximum: Any) -> LoopVar:
    dtype = maximum.dtype if isinstance(maximum, Tensor) else dtypes.int64
    return LoopVar("iteration", graph.constant(dtype.type(0), "iteration"), SCALAR)


def _limit(graph: Graph, maximum: Any) -> Tensor:
    return maximum if isinstance(maximum, Tensor) else graph.constant(np.int64(maximum), "maximum_iterations")


def check_maximum(maximum: Any) -> Any:
    """Return ``maximum_iterations`` as ``None``, an int or a scalar integer tensor (``TypeError``/``ValueError``
    else)."""
    if maximum is None or (isinstance(maximum, (int, np.integer)) and not isinstance(maximum, bool)):
        # no run reaches the greatest int64; less than none is none
        return maximum if maximum is None else min(max(int(maximum), 0), np.iinfo(np.int64).max)
    tensor = convert_to_tensor(maximum)
    if tensor.dtype.kind not in "iu":
        raise TypeError(f"maximum_iterations must be an integer scalar, got {maximum!r} [AL109]")
    if tensor.shape.rank not in (0, None):
        raise ValueError(f"maximum_iterations must be an integer scalar, got shape {tensor.shape} [AL109]")
    return tensor


def finish_cond(
    graph: Graph,
    scope: str,
    pred: Tensor,
    then: Graph,
    then_results: Sequence[Tensor],
    otherwise: Graph,
    else_results: Sequence[Tensor],
    location: Location | None = None,
) -> list[Tensor]:
    """Close a conditional whose branches were traced and give equally many tensors of equal dtypes.

    Returns
    -------
    list of Tensor
        The values; where the branches' static shapes differ the result's dimension is unknown.
    """
    subs = (then, otherwise)
    results = [[g.capture(r) for r in rs] for g, rs in zip(subs, (then_results, else_results))]
    n_user = len(results[0])
    specs = [(a.dtype, a.shape.most_general(b.shape)) for a, b in zip(*results)]
    leading: list[list[Tensor]] = [[], []]
    first: list[Tensor] = []
    has_token = any(g.token_input is not None for g in subs)
    if has_token:
        first.append(graph.effect_token())
        for sub, lead, values in zip(subs, leading, results):
            sub.effect_token()
            assert sub.token_input is not None and sub.token is not None
            lead.append(sub.token_input)
            values.append(sub.token)
        specs.append((dtypes.bool_, SCALAR))
    captured = _line_up(graph, subs, leading)
    then.outputs, otherwise.outputs = results
    attrs = {"then": then, "else": otherwise, "specs": tuple(specs)}
    node = graph.add(COND, [pred, *first, *captured], attrs, None, location, scope)
    if has_token:
        graph.token = node.outputs[-1]
    return list(node.outputs[:n_user])


ruled_in("cond_rules", COND)
ruled_in("while_rules", WHILE)
