"""``map_fn``, ``scan``, ``foldl`` and ``foldr``: loops over the rows of tensors, on the same nodes as ``while_loop``.

All four are one loop: a counter, a state that is carried (none for ``map_fn``), and values that are emitted
into TensorArrays (none for the folds). The function is traced once; the TensorArrays are declared after the
trace, when dtype and shape of what it emits are known.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Any, TypeAlias, Unpack, overload

import numpy as np

from .. import ops
from ..base import dtypes, nest
from ..base.callbacks import calls_back
from ..base.dataclass import dataclass
from ..base.shapes import SCALAR, TensorShape
from ..collections.sparse.indexed_slices import IndexedSlices
from ..collections.sparse.sparse_tensor import SparseTensor
from ..collections.tensor_array import TensorArray
from ..ir.composite import composite_of
from ..ir.convert import convert_to_tensor
from ..ir.graph import Graph, current_graph
from ..ir.structured import LoopOptions, LoopVar, body_and_cond, check_result, finish_while
from ..ir.tensor import Tensor
from ..running.prepare import run_now
from .kept_kinds import keeps_kinds
from .loop_form import LoopForm
from .structure_types import T1, T2, MapArguments, R, ScanArguments

#: step(state, row) -> (next state, emitted); either may be _NOTHING
_Step = Callable[[Any, Any], tuple[Any, Any]]
_NOTHING: tuple[()] = ()
#: what has rows to loop over
Rows: TypeAlias = Tensor | SparseTensor


@dataclass(frozen=True)
class _Result:
    state: Any
    emitted: Any


def in_graph(build: Callable[[], Any], *values: Any) -> Any:
    """Run ``build`` in the current graph, in the graph of ``values``, or in one that is run at once."""
    if current_graph() is not None:
        return build()
    owner = next((t.graph for t in nest.flatten(values, True) if isinstance(t, Tensor) and t.node), None)
    if owner is None:
        return run_now(build)
    with owner.as_default():
        return build()


def length_of(leaves: list[Rows]) -> Any:
    """Return the common number of rows: an int where it is known, else a scalar tensor."""
    if not leaves:
        raise ValueError("elems is empty: there is nothing to loop over [AL113]")
    known = set()
    for leaf in leaves:
        if leaf.shape.rank == 0:
            raise ValueError(f"elems must have at least one dimension, got a tensor of shape {leaf.shape} [AL113]")
        if leaf.shape.rank is not None and leaf.shape[0] is not None:
            known.add(leaf.shape[0])
    if len(known) > 1:
        raise ValueError(f"the elems must have the same first dimension, they have {sorted(known)} [AL113]")
    if known:
        return known.pop()
    first = leaves[0]
    return ops.cast(first.dense_shape[0] if isinstance(first, SparseTensor) else ops.shape(first)[0], "int32")


def rows_of(elems: Any) -> tuple[list[Rows], Any]:
    """Return what to loop over, each a tensor or SparseTensor of which ``x[i]`` is a row,
    and the structure they are in."""
    leaves, structure = nest.flatten_with_structure(elems)
    return [leaf if isinstance(leaf, SparseTensor) else convert_to_tensor(leaf) for leaf in leaves], structure


def _loop(
    step: _Step, rows: list[Rows], structure: Any, state: Any, *,
    reverse: bool, options: LoopOptions, name: str, head: Any = _NOTHING,
) -> _Result:  # fmt: skip
    """Return the loop all four are made of, over the rows in the given direction.

    ``head``: what was emitted before the first row, in the structure of what is emitted; by default there is nothing.
    """
    graph = current_graph()
    assert graph is not None
    count = length_of(rows)
    form = LoopForm((state,), ["accumulator"], "fn", "its accumulator")
    scope = graph.unique_name(name)
    variables = [LoopVar("i", graph.constant(np.int32(0)), SCALAR), *form.variables(_growing(form))]
    cond, body = body_and_cond(graph, scope, variables)
    with body.as_default():
        i, *carried = body.inputs[: len(variables)]
        index = count - 1 - i if reverse else i
        row = nest.unflatten(structure, [r[index] for r in rows])
        next_state, emitted = step(form.pack(carried)[0], row)
        next_tensors, next_structures = form.next([next_state])
        results = [i + 1, *(check_result(v, t) for v, t in zip(variables[1:], next_tensors))]
        emitted_leaves, emitted_structure = nest.flatten_with_structure(emitted)
        heads = nest.flatten(head)
        at = index + 1 if heads and not reverse else index
        emissions = [_emission(leaf, at, like) for leaf, like in zip_longest(emitted_leaves, heads)]
    first = 0 if not reverse else count
    before = [part for leaf in heads for part in _emission(leaf, first).parts]
    total = count + 1 if heads else count
    structures = []
    parts = [(part, emission.alike) for emission in emissions for part in emission.parts]
    for (part, alike), earlier in zip_longest(parts, before):
        with graph.as_default():
            array = TensorArray.collecting(part.dtype, total, False, part.shape, alike)
            array = array if earlier is None else array.write(first, earlier)
        structures.append(_declare(cond, body, variables, array))
        with body.as_default():
            array = nest.unflatten(structures[-1], [body.inputs[len(variables) - 1]])
            results.extend(nest.flatten(array.write(at, part), True))
    with cond.as_default():
        pred = cond.inputs[0] < count
    finals = finish_while(graph, scope, variables, cond, pred, body, results, options)
    state_count = 1 + len(form.tensors)
    arrays = iter([nest.unflatten(s, [t]) for s, t in zip(structures, finals[state_count:])])
    stacked = [emission.stacked([next(arrays) for _ in emission.parts], total) for emission in emissions]
    (last,) = form.pack(finals[1:state_count], next_structures)
    return _Result(last, nest.unflatten(emitted_structure, stacked))


def _growing(form: LoopForm) -> dict[str, TensorShape]:
    """Return invariants by which IndexedSlices may change their number of rows,
    since there is no place to ask for it."""
    return {
        leaf.name: TensorShape([None]).concatenate(leaf.value.values.shape[1:])
        for leaf in form.leaves
        if isinstance(leaf.value, IndexedSlices) and leaf.value.values.shape.rank is not None
    }


@dataclass(frozen=True)
class _Emission:
    """What a leaf of an emitted value writes to TensorArrays, and how the rows become one value.

    ``stacked(arrays, count)`` makes it of one array for each of ``parts``. ``alike``: a part has one shape in all rows.
    """

    parts: tuple[Tensor, ...]
    stacked: Callable[[list[TensorArray], Any], Any]
    alike: bool = True


def _emission(value: Any, index: Any, like: Any = None) -> _Emission:
    """Return what ``value`` writes at ``index``, in the dtype of ``like`` if that is given."""
    if isinstance(value, SparseTensor):
        row = ops.cast(index, dtypes.int64)
        places = ops.pad(value.indices, [[0, 0], [1, 0]], constant_values=row)
        return _Emission((places, value.values, value.dense_shape), _stack_sparse, alike=False)
    if composite_of(value) is not None:
        raise TypeError(
            f"the values that fn gives at each row are stacked, and a {type(value).__name__} cannot be; foldl and "
            f"foldr give the last one alone [AL114]"
        )
    leaf = _emitted(value, None if like is None else like.dtype)

    def stacked(arrays: list[TensorArray], count: Any) -> Tensor:
        rows: Tensor = arrays[0].stack()
        if isinstance(count, int) and rows.shape.rank is not None and rows.shape[0] is None:
            rows.set_shape(TensorShape([count]).concatenate(leaf.shape))
        return rows

    return _Emission((leaf,), stacked)


def _stack_sparse(arrays: list[TensorArray], count: Any) -> SparseTensor:
    """Return one SparseTensor with a dimension more; where the rows differ in size it is as large as the largest."""
    places, values, extents = arrays
    sizes = ops.max(ops.pad(extents.stack(), [[1, 0], [0, 0]]), axis=0)  # of no rows: all zeros
    rows = ops.expand_dims(ops.cast(count, dtypes.int64), 0)
    return SparseTensor.of(places.concat(), values.concat(), ops.concat([rows, sizes], 0))


def _declare(cond: Graph, body: Graph, variables: list[LoopVar], array: TensorArray) -> Any:
    """Add a TensorArray as a loop variable to a loop that is being traced; gives its structure."""
    (flow,), structure = nest.flatten_with_structure(array, True)
    position = len(variables)
    variables.append(LoopVar("out", flow, SCALAR))
    for sub in (cond, body):
        parameter = sub.parameter(dtypes.variant, SCALAR, "out")
        sub.inputs.pop()  # ``parameter`` put it behind the captures, it belongs before them
        sub.inputs.insert(position, parameter)
    return structure


def _emitted(value: Any, dtype: Any = None) -> Tensor:
    """Return a leaf of what ``fn`` gave as a tensor."""
    if value is None:
        raise TypeError("fn returned None (is a return missing?) [AL107]")
    try:
        return convert_to_tensor(value, dtype)
    except TypeError as error:
        raise TypeError(f"the value of fn: {error} [AL114]") from None


def _options(parallel_iterations: Any, back_prop: bool, swap_memory: bool) -> LoopOptions:
    return LoopOptions(10 if parallel_iterations is None else parallel_iterations, None, back_prop, swap_memory)


@overload
def map_fn(
    fn: Callable[[T1], R], elems: T1, dtype: Any = None, parallel_iterations: int | None = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
    fn_output_signature: Any = None,
) -> R: ...  # fmt: skip
@overload
def map_fn(
    fn: Callable[[Any], Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
    fn_output_signature: Any = None,
) -> Any: ...  # fmt: skip
@calls_back("fn")
@keeps_kinds
def map_fn(
    fn: Callable[[Any], Any], elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:  # fmt: skip
    """Return ``fn`` of every row of ``elems``, stacked; rows are computed in parallel.

    Parameters
    ----------
    fn : callable
        Takes one row (in the structure of ``elems``); traced once.
    elems : structure of tensors
        With the same first dimension. A row of a SparseTensor is one of a dimension less.
    dtype, fn_output_signature : structure of dtypes, optional
        What ``fn`` gives; found by tracing when left out, checked when given.

    Returns
    -------
    structure of Tensor
        In the structure that ``fn`` returns, with the number of rows as first dimension.

    Raises
    ------
    TypeError
        If ``fn`` is not callable or gives another dtype than declared.
    ValueError
        If ``elems`` is empty, has a scalar, or first dimensions that differ.

    Examples
    --------
    >>> print(al.map_fn(lambda row: al.sum(row), al.constant([[1, 2], [3, 4]])))
    Tensor([3 7], shape=(2,), dtype=int32)
    """
    check_callable(fn)
    wanted = fn_output_signature if fn_output_signature is not None else dtype

    def step(_: Any, row: Any) -> tuple[Any, Any]:
        value = fn(row)
        if wanted is not None:
            value = nest.map_structure(_check_dtype, value, wanted)
        return _NOTHING, value

    def build() -> Any:
        rows, structure = rows_of(elems)
        options = _options(parallel_iterations, back_prop, swap_memory)
        return _loop(step, rows, structure, _NOTHING, reverse=False, options=options,
                     name=name or "map").emitted  # fmt: skip

    return in_graph(build, elems)


def _check_dtype(value: Any, wanted: Any) -> Any:
    dtype = dtypes.as_dtype(getattr(wanted, "dtype", wanted))
    if not isinstance(value, SparseTensor):
        return convert_to_tensor(value, dtype)
    if value.dtype != dtype:
        raise TypeError(f"fn gives a SparseTensor of {value.dtype}, {dtype} was declared; cast its values [AL114]")
    return value


def check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"fn must be callable, got {fn!r} of type {type(fn).__name__} [AL101]")


def _first_row(rows: list[Rows], structure: Any, reverse: bool) -> Any:
    count = length_of(rows)
    if isinstance(count, int) and count == 0:
        raise ValueError("elems has no rows: without an initializer there is no first value [AL113]")
    return nest.unflatten(structure, [r[-1 if reverse else 0] for r in rows])


@overload
def scan(fn: Callable[[T1, T2], T1], elems: T2, initializer: T1, **options: Unpack[ScanArguments]) -> T1: ...
@overload
def scan(fn: Callable[[T1, T1], T1], elems: T1, **options: Unpack[ScanArguments]) -> T1: ...
@overload
def scan(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
    name: str | None = None,
) -> Any: ...  # fmt: skip
@calls_back("fn")
@keeps_kinds
def scan(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, reverse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return all accumulated values of ``fn(accumulator, row)`` over the rows of ``elems``, stacked.

    Parameters
    ----------
    fn : callable
        Takes the accumulator and a row; gives the next accumulator.
    elems : structure of tensors
    initializer : structure of tensors, optional
        The first accumulator; by default the first row, which is then also the first result.
    reverse : bool
        From the last row to the first.

    Returns
    -------
    structure of Tensor
        In the structure of the accumulator, with the number of rows as first dimension.

    Examples
    --------
    >>> print(al.scan(lambda total, x: total + x, al.constant([1, 2, 3])))
    Tensor([1 3 6], shape=(3,), dtype=int32)
    """
    check_callable(fn)

    def step(state: Any, row: Any) -> tuple[Any, Any]:
        value = fn(state, row)
        return value, value

    def build() -> Any:
        rows, structure = rows_of(elems)
        head: Any = _NOTHING
        state = initializer
        if initializer is None:
            head = state = _first_row(rows, structure, reverse)
            rows = [r[:-1] if reverse else r[1:] for r in rows]
        options = _options(parallel_iterations, back_prop, swap_memory)
        return _loop(step, rows, structure, state, reverse=reverse, options=options, name=name or "scan",
                     head=head).emitted  # fmt: skip

    return in_graph(build, elems, initializer)


def _fold(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any, options: LoopOptions, reverse: bool, name: str
) -> Any:
    check_callable(fn)

    def build() -> Any:
        rows, structure = rows_of(elems)
        state = initializer
        if initializer is None:
            state = _first_row(rows, structure, reverse)
            rows = [r[:-1] if reverse else r[1:] for r in rows]
        return _loop(lambda s, row: (fn(s, row), _NOTHING), rows, structure, state, reverse=reverse,
                     options=options, name=name).state  # fmt: skip

    return in_graph(build, elems, initializer)


@overload
def foldl(fn: Callable[[T1, T2], T1], elems: T2, initializer: T1, **options: Unpack[MapArguments]) -> T1: ...
@overload
def foldl(fn: Callable[[T1, T1], T1], elems: T1, **options: Unpack[MapArguments]) -> T1: ...
@overload
def foldl(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False,
    name: str | None = None,
) -> Any: ...  # fmt: skip
@calls_back("fn")
@keeps_kinds
def foldl(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the last accumulated value of ``fn(accumulator, row)``, from the first row on.

    See ``scan`` for the parameters.

    Parameters
    ----------
    fn : callable
        Takes the accumulated value and a row, gives the next accumulated value.
    elems : structure of tensor-like
        Cut along the first axis.
    initializer : structure, optional
        The first accumulated value; by default the first row.
    parallel_iterations : int
        How many rows may be worked on at once.
    back_prop : bool
        Whether gradients go through.
    swap_memory : bool
        Keep in a file what the gradient needs, where it is too much.
    name : str, optional

    Returns
    -------
    structure of Tensor

    Examples
    --------
    >>> print(al.foldl(lambda total, x: total + x, al.constant([1, 2, 3])))
    Tensor(6, shape=(), dtype=int32)
    """
    return _fold(fn, elems, initializer, _options(parallel_iterations, back_prop, swap_memory), False, name or "foldl")


@overload
def foldr(fn: Callable[[T1, T2], T1], elems: T2, initializer: T1, **options: Unpack[MapArguments]) -> T1: ...
@overload
def foldr(fn: Callable[[T1, T1], T1], elems: T1, **options: Unpack[MapArguments]) -> T1: ...
@overload
def foldr(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False,
    name: str | None = None,
) -> Any: ...  # fmt: skip
@calls_back("fn")
@keeps_kinds
def foldr(
    fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """Return the last accumulated value of ``fn(accumulator, row)``, from the last row back.

    See ``scan`` for the parameters.

    Parameters
    ----------
    fn : callable
        Takes the accumulated value and a row, gives the next accumulated value.
    elems : structure of tensor-like
        Cut along the first axis.
    initializer : structure, optional
        The first accumulated value; by default the first row.
    parallel_iterations : int
        How many rows may be worked on at once.
    back_prop : bool
        Whether gradients go through.
    swap_memory : bool
        Keep in a file what the gradient needs, where it is too much.
    name : str, optional

    Returns
    -------
    structure of Tensor

    Examples
    --------
    >>> print(al.foldr(lambda total, x: total - x, al.constant([1, 2, 10])))
    Tensor(7, shape=(), dtype=int32)
    """
    return _fold(fn, elems, initializer, _options(parallel_iterations, back_prop, swap_memory), True, name or "foldr")
