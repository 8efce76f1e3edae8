"""What 1.x builds graphs of besides arrays: gradients, conditions, groups, what waits for what."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from autoloop_runtime import ops
from autoloop_runtime.base.dtypes import float32, float64, int32, int64
from autoloop_runtime.base.shapes import ShapeLike
from autoloop_runtime.collections import variables
from autoloop_runtime.collections.sparse import IndexedSlices
from autoloop_runtime.collections.variables import awaited
from autoloop_runtime.control import map_scan
from autoloop_runtime.control import while_loop as control_flow
from autoloop_runtime.gradients import gradients as gradients_of
from autoloop_runtime.ir.argument_types import ArrayLike, DTypeLike
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.graph import CONST
from autoloop_runtime.ir.tensor import Tensor
from autoloop_runtime.running.session import get_default_graph

from .building import building, one_of

__all__ = [
    "UnconnectedGradients", "case", "cond", "control_dependencies", "device", "gradients", "group", "hessians",
    "no_op", "placeholder_with_default", "py_func", "switch_case", "to_double", "to_float", "to_int32", "to_int64",
    "tuple",
]  # fmt: skip


class UnconnectedGradients:
    """What ``gradients`` gives where no path leads."""

    NONE = "none"
    ZERO = "zero"


@building
def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str | None = "gradients", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: str = UnconnectedGradients.NONE,
) -> list[Any]:  # fmt: skip
    """Return the derivatives of the sum of ``ys`` with regard to each of ``xs``.

    Parameters
    ----------
    ys, xs : Tensor, Variable, or list of them
    grad_ys : tensor-like or list of them, optional
        The gradients that ``ys`` have themselves, by default 1.
    stop_gradients : Tensor or list of them, optional
        What is taken for constant.
    unconnected_gradients : "none" or "zero"
        What is given where no path leads: None, or zeros.

    Raises
    ------
    ValueError
        If ``unconnected_gradients`` is none of these.
    """
    if unconnected_gradients not in ("none", "zero"):
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r} [AL908]")
    sources = list(xs) if isinstance(xs, (list, builtins.tuple)) else [xs]
    found = list(gradients_of(ys, sources, grad_ys, stop_gradients, name))
    if unconnected_gradients == "zero":
        found = [ops.zeros_like(convert_to_tensor(x)) if g is None else g for g, x in zip(found, sources)]
    return found


@building
def hessians(
    ys: Any, xs: Any, name: str | None = "hessians", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None,
) -> list[Tensor]:  # fmt: skip
    """Return the second derivatives of the sum of ``ys`` with regard to each of ``xs``, of shape ``x.shape * 2``.

    Raises
    ------
    ValueError
        If no path leads.
    """
    made = []
    with get_default_graph().name_scope(name or "hessians"):
        for x in xs if isinstance(xs, (list, builtins.tuple)) else [xs]:
            source = x if isinstance(x, Tensor) else x.read_value() if isinstance(x, variables.Variable) else x
            (first,) = gradients_of(ys, [x])
            if first is None:
                raise ValueError("hessians: no path leads from one of xs to ys [AL908]")
            flat = ops.reshape(convert_to_tensor(first), [-1])

            def row(k: Any, flat: Tensor = flat, x: Any = x, source: Tensor = source) -> Tensor:
                (found,) = gradients_of(flat[k], [x])
                return ops.zeros_like(source) if found is None else convert_to_tensor(found)

            rows = map_scan.map_fn(row, ops.range(ops.size(flat)), dtype=source.dtype)
            shape = ops.concat([ops.shape(source), ops.shape(source)], 0)
            known = source.shape.concatenate(source.shape)
            made.append(ops.ensure_shape(ops.reshape(rows, shape), known))
    return made


# -- conditions -------------------------------------------------------------------------------------------


@building
def cond(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None,
    strict: bool = False, name: str | None = None, fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:  # fmt: skip
    """Return what ``true_fn`` gives if ``pred`` is true, else what ``false_fn`` gives; only that is computed.

    A list or tuple of one is that one, unless ``strict``.

    Raises
    ------
    TypeError
        If a function is missing or none, or ``pred`` is a Python bool.
    """
    first, second = one_of("cond", true_fn=true_fn, fn1=fn1), one_of("cond", false_fn=false_fn, fn2=fn2)
    for word, f in (("true_fn", first), ("false_fn", second)):
        if f is None:
            raise TypeError(f"cond(): '{word}' argument required [AL908]")
        if not callable(f):
            raise TypeError(f"'{word}' must be callable. [AL908]")
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool [AL908]")
    made = control_flow.cond(pred, first, second, name=name)
    alone = not strict and isinstance(made, (list, builtins.tuple)) and len(made) == 1 and not hasattr(made, "_fields")
    return made[0] if alone else made


case, switch_case = building(control_flow.case), building(control_flow.switch_case)

# -- what waits for what ----------------------------------------------------------------------------------


@building
def group(*inputs: Any, **kwargs: Any) -> Any:
    """Return one operation that runs after all the given ones, which may be in lists.

    Raises
    ------
    ValueError
        If another argument than ``name`` is given.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)} [AL908]")
    return variables.group(*inputs, name=name or "group_deps")


@building
def no_op(name: str | None = None) -> Any:
    """Return an operation that does nothing."""
    return variables.group(name=name or "NoOp")


@building
def tuple(tensors: Sequence[Any], name: str | None = None, control_inputs: Sequence[Any] | None = None) -> list[Any]:
    """Return tensors that are there when all of them are, and ``control_inputs``; None stays None.

    Raises
    ------
    ValueError
        If there is no tensor.
    """
    if all(one is None for one in tensors):
        raise ValueError(f"Must have at least one Tensor. Received: {tensors} [AL908]")
    graph = get_default_graph()
    with graph.name_scope(name or "tuple"):
        gate = [*[t for t in tensors if t is not None], *(control_inputs or ())]
        with graph.control_dependencies(awaited(gate)):
            return [_passed(one) for one in tensors]


def _passed(one: Any) -> Any:
    if one is None or not isinstance(one, IndexedSlices):
        return None if one is None else ops.identity(convert_to_tensor(one))
    return IndexedSlices(ops.identity(one.values), one.indices, one.dense_shape)


def control_dependencies(control_inputs: Sequence[Any] | None) -> AbstractContextManager[None]:
    """Let what is made inside run only after ``control_inputs`` (operations or tensors); ``None``: after nothing."""
    graph = get_default_graph()
    return graph.control_dependencies(None if control_inputs is None else awaited(list(control_inputs)))


def device(device_name_or_function: Any) -> AbstractContextManager[None]:
    """Accept where operations are to run: there is one machine, and nothing is placed."""
    return nullcontext()


# -- what is given from outside ---------------------------------------------------------------------------


def placeholder_with_default(input: ArrayLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Return ``input`` unless something else is fed, which has its shape."""
    tensor = building(ops.identity)(input, name=name)
    assert tensor.op.op is not CONST
    return tensor


@building
def py_func(
    func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """Return ``py_function`` under its 1.x name."""
    return ops.py_function(func, inp, Tout, name=name)


# -- dtypes -----------------------------------------------------------------------------------------------


def _cast_to(dtype: DTypeLike, default: str) -> Callable[..., Tensor]:
    @building
    def cast(x: ArrayLike, name: str | None = None) -> Tensor:
        return ops.cast(x, dtype, name=name or default)

    cast.__name__ = cast.__qualname__ = default
    cast.__doc__ = f"Return the values as {dtype}."
    return cast


to_float, to_double = _cast_to(float32, "ToFloat"), _cast_to(float64, "ToDouble")
to_int32, to_int64 = _cast_to(int32, "ToInt32"), _cast_to(int64, "ToInt64")
