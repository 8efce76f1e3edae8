"""``map_fn`` and its like over arrays of Dask's: traced here once, run where the chunks are.

What goes to a worker is the graph of the loop over a chunk's rows, not the function: what that reads is read now, as
when its rows are NumPy's.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.inside import nodes_inside
from ..base import nest
from ..base.callbacks import watched
from ..base.contexts import undisturbed
from ..base.dtypes import DType
from ..base.shapes import TensorShape
from ..collections.sparse.sparse_tensor import SparseTensor
from ..distributed.mapped_chunks import Loop, looped, single_chunk, whole_rows
from ..ir.composite import composite_of
from ..ir.convert import convert_to_tensor
from ..ir.graph import Graph
from ..ir.recorders import recorders
from ..ir.tensor import Tensor
from ..ir.tracers import ArrayTracer, marked
from ..namespaces import namespace_of
from ..running.prepare import set_outputs
from ..running.remote_programs import Program, arrived

_Spec = tuple[DType, tuple[int | None, ...]]


def holds_lazy(elems: Any) -> bool:
    """Return whether rows are to be looped over, in no graph, of which some are in an array of Dask's."""
    leaves = nest.flatten(elems)
    return any(map(_is_lazy, leaves)) and not any(isinstance(leaf, Tensor) and leaf.node for leaf in leaves)


def by_chunks(transform: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Return what ``transform`` gives, as arrays of Dask's.

    Parameters
    ----------
    transform : callable
        One of ``map_fn``, ``vectorized_map``, ``scan``, ``foldl`` and ``foldr``.
    given : mapping
        What it is called with, by the names of its parameters.

    Raises
    ------
    NotImplementedError
        If that would not be what it gives of NumPy's arrays, or cannot be sent.
    """
    name = transform.__name__
    if recorders():
        raise _refusal(name, "a tape does not follow what is computed later")
    leaves, structure = nest.flatten_with_structure(given["elems"])
    rows = [_array(name, leaf) for leaf in leaves]
    specs = [_spec(row) for row in rows]
    is_carried, is_stacked = name in ("scan", "foldl", "foldr"), not name.startswith("fold")
    start, held, kind = None, specs[:0], structure
    if is_carried and given.get("initializer") is not None:
        values, kind = nest.flatten_with_structure(given["initializer"])
        arrays = [_array(name, value) for value in values]
        held, start = [_spec(array) for array in arrays], [single_chunk(array) for array in arrays]
    lengths = {shape[:1] for _, shape in specs}
    if len(lengths) > 1 or lengths & {(), (0,) if start is None and is_carried else ()}:
        _traced(transform, given, (held, kind), (specs, structure))  # says what is wrong
    if start is None and is_carried:
        held = [(dtype, shape[1:]) for dtype, shape in specs]
    rows = whole_rows(rows)
    reverse = name == "foldr" or bool(given.get("reverse"))
    # chunks of one length are loops of that length
    extents = set(rows[0].chunks[0])
    extent = extents.pop() if len(extents) == 1 and (start is not None or not is_carried) else None
    chunk = [(dtype, (extent, *shape[1:])) for dtype, shape in specs]
    graph, form = _traced(transform, given, (held, kind), (chunk, structure))
    content = Program(graph).content
    if content is None:
        raise _refusal(name, "fn holds what cannot be sent")
    digest = hashlib.blake2b(content, digest_size=16).hexdigest()
    made_of = [_row_of(name, tensor, is_stacked) for tensor in graph.outputs]
    carried, stacked = made_of if is_carried else [], made_of if is_stacked else []
    made = looped(Loop(name, (arrived, digest, content), carried, stacked, reverse), rows, start)
    return nest.unflatten(form, made.stacked if is_stacked else made.last)


def _traced(
    transform: Callable[..., Any], given: Mapping[str, Any], held: tuple[Sequence[_Spec], Any],
    chunk: tuple[Sequence[_Spec], Any],
) -> tuple[Graph, Any]:  # fmt: skip
    """Return the graph of the loop over a chunk, of the carry and the rows, and the structure of what it gives."""
    graph, name = Graph(ordered=True), transform.__name__

    def parameters(specs: Sequence[_Spec], structure: Any) -> Any:
        made = [graph.parameter(dtype, TensorShape(shape), "rows") for dtype, shape in specs]
        return nest.unflatten(structure, [marked(ArrayTracer, one) for one in made])

    def trace() -> Any:
        with watched(given["fn"]), graph.as_default():
            changed = {"initializer": parameters(*held)} if held[0] else {}
            elems = parameters(*chunk)
            leaves, structure = nest.flatten_with_structure(transform(**{**given, "elems": elems, **changed}))
            if any(composite_of(leaf) is not None for leaf in leaves):
                raise _refusal(name, "fn gives what is no array")
            tensors = [convert_to_tensor(leaf) for leaf in leaves]
            set_outputs(graph, tensors)
        return structure

    structure = undisturbed(trace)
    noticed = next((node for node in nodes_inside(graph) if node.op.effect or node.op.stateful), None)
    if noticed is not None:
        where = f" at {noticed.location[-1]}" if noticed.location else ""
        raise _refusal(name, f"operation {noticed.op.name!r}{where} does more than compute")
    return graph, structure


def _is_lazy(value: Any) -> bool:
    return isinstance(value, getattr(sys.modules.get("dask.array"), "Array", ()))


def _array(name: str, value: Any) -> Any:
    """Return rows, or the start of a carry, as an array of Dask's or NumPy's."""
    if _is_lazy(value):
        if any(n != n for n in value.shape):
            raise _refusal(name, "the length of chunks is not known; x.compute_chunk_sizes() finds it")
        return value
    if isinstance(value, SparseTensor):
        raise _refusal(name, "a SparseTensor is beside it")
    return np.asarray(convert_to_tensor(value).value)


def _spec(array: Any) -> _Spec:
    found = namespace_of(array)  # says what is wrong with one whose chunks are not NumPy's
    return (array.dtype, array.shape) if found is None else found.spec(array)


def _row_of(name: str, tensor: Tensor, is_stacked: bool) -> tuple[DType, tuple[int, ...]]:
    """Return dtype and shape of what a loop gives, of a row if it is stacked."""
    shape = None if tensor.shape.rank is None else tuple(tensor.shape)[int(is_stacked) :]
    if shape is None or None in shape:  # chunks of which each has another shape would be put together somehow
        raise _refusal(name, "only a run tells which shape fn gives")
    return tensor.dtype, tuple([int(n) for n in shape if n is not None])


def _refusal(name: str, why: str) -> NotImplementedError:
    return NotImplementedError(
        f"{name} cannot go through arrays of dask.array by chunks: {why}; give np.asarray(x) [AL622]"
    )
