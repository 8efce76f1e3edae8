"""Loops over the rows of Dask's arrays as tasks: one for each chunk of rows, which runs a loop over these.

::

  rows of a map:   chunk 0 -> loop -> rows        rows of a scan:   chunk 0 -> loop -> rows
                   chunk 1 -> loop -> rows                                      | carry
                                                                    chunk 1 -> loop -> rows

A carry goes by itself from task to task: the rows stay where they are. What a task gives of its chunk as a whole is
summed up, or there is one of each chunk.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base.dataclass import dataclass, replace
from ..base.dtypes import DType
from ..namespaces.chunk_kernels import dask_array


@dataclass(frozen=True)
class Loop:
    """The loop over one chunk.

    Attributes
    ----------
    name : str
        What tasks are called.
    program : tuple
        A function and its arguments, of which two that are equal compute the same. It gives what takes the carry and
        the chunk's rows, and gives what is stacked, or else the next carry: a tuple, or a single value alone.
    carried, stacked : sequence of (dtype, shape)
        What a carry is made of; and the rows of what is stacked.
    reverse : bool
        From the last chunk to the first.
    summed, apart : sequence of (dtype, shape)
        What is given of each chunk behind that: what is summed up over all; and what is not, as a row.
    """

    name: str
    program: tuple[Any, ...]
    carried: Sequence[tuple[DType, tuple[int, ...]]]
    stacked: Sequence[tuple[DType, tuple[int, ...]]]
    reverse: bool = False
    summed: Sequence[tuple[DType, tuple[int, ...]]] = ()
    apart: Sequence[tuple[DType, tuple[int, ...]]] = ()


@dataclass(frozen=True)
class Looped:
    """What loops over chunks give, as arrays of Dask's.

    Attributes
    ----------
    last : list of dask.array.Array
        The last carry.
    stacked, summed : list of dask.array.Array
    apart : list of dask.array.Array
        A row for each chunk, and each a chunk of its own.
    begun : list of dask.array.Array
        The same of the carry that each chunk begins with.
    """

    last: list[Any]
    stacked: list[Any]
    summed: list[Any]
    apart: list[Any]
    begun: list[Any]


def whole_rows(rows: Sequence[Any]) -> list[Any]:
    """Return arrays of Dask's, and NumPy's, as Dask's that are cut alike, along the first axis alone: as the first of
    Dask's is."""
    da = dask_array()
    first = next(row for row in rows if isinstance(row, da.Array))
    extents = tuple([n for n in first.chunks[0] if n]) or (0,)
    # what is computed later is computed of what is given now
    found = []
    for row in rows:
        chunks = (extents, *[(n,) for n in row.shape[1:]])
        is_lazy = isinstance(row, da.Array)
        found.append(row.rechunk(chunks) if is_lazy else da.from_array(np.array(row), chunks=chunks))
    return found


def single_chunk(value: Any) -> Any:
    """Return an array of Dask's or NumPy's as an array of Dask's of one chunk."""
    da = dask_array()
    return value.rechunk(-1) if isinstance(value, da.Array) else da.from_array(np.array(value), chunks=-1)


def looped(
    loop: Loop, rows: Sequence[Any], start: Sequence[Any] | None, *, beside: Sequence[Any] = (),
    heads: Sequence[Any] = (), each: Sequence[Any] = (),
) -> Looped:  # fmt: skip
    """Return what loops over chunks give.

    Parameters
    ----------
    loop : Loop
    rows : sequence of dask.array.Array
        As ``whole_rows`` gives them.
    start : sequence of dask.array.Array, optional
        The first carry, of one chunk each; by default the first rows.
    beside : sequence of dask.array.Array
        What each chunk is given before the carry, of one chunk each.
    heads : sequence of dask.array.Array
        What is stacked before that of the rows that come first, of one chunk each; for all that is stacked, or none.
    each : sequence of dask.array.Array
        Of what each chunk is given a row, a chunk by itself, behind its rows.
    """
    graphs: Any = importlib.import_module("dask.highlevelgraph")
    tokenize = importlib.import_module("dask.base").tokenize
    begin = () if start is None else start
    every = (rows, begin, beside, heads, each)
    token = tokenize(loop.program[1:], loop.name, loop.reverse, [[one.name for one in arrays] for arrays in every])
    name, extents = f"{loop.name}-{token}", rows[0].chunks[0]
    assert all(one.chunks[0] == (1,) * len(extents) for one in each), "of another number of chunks"
    order = range(len(extents))[:: -1 if loop.reverse else 1]
    layer = _layer(loop, name, token, order, [*rows, *each], start, beside, heads)
    below = graphs.HighLevelGraph.from_collections(
        name, layer, dependencies=[one for arrays in every for one in arrays]
    )
    if heads:
        extents = tuple([n + (k == order[0]) for k, n in enumerate(extents)])
    number, made = itertools.count(), functools.partial(_part, below, loop.name, name, token)
    last = [
        made(next(number), dtype, _single(shape), {(0,) * len(shape): (name, order[-1])})
        for dtype, shape in loop.carried
    ]
    stacked = [
        made(next(number), dtype, (extents, *_single(shape)), {(k, *[0] * len(shape)): (name, k) for k in order})
        for dtype, shape in loop.stacked
    ]
    summed, apart = [
        [_of_chunks(made, next(number), *spec, [(name, k) for k in sorted(order)], read) for spec in specs]
        for specs, read in ((loop.summed, _as_row), (loop.apart, None))
    ]
    return Looped(last, stacked, [one.sum(axis=0) for one in summed], apart, _begins(loop, made, token, order, start))


def _of_chunks(
    made: Any, j: int | str, dtype: DType, shape: tuple[int, ...], given_by: Sequence[Any],
    read: Callable[[Any, Any], Any] | None,
) -> Any:  # fmt: skip
    """Return an array of one row for each chunk; ``given_by``: what gives it."""
    tasks = {(k, *[0] * len(shape)): of for k, of in enumerate(given_by)}
    return made(j, dtype, ((1,) * len(given_by), *_single(shape)), tasks, read)


def _begins(
    loop: Loop, made: Any, token: str, order: Sequence[int], start: Sequence[Any] | None
) -> list[Any]:  # fmt: skip
    """Return the carry that each chunk begins with, where the first is given one."""
    carry = f"{loop.name}-carry-{token}"
    found = []
    for j, (one, (dtype, shape)) in enumerate(zip(start or (), loop.carried)):
        firsts = [(one.name, *[0] * one.ndim), *[(carry, k, j) for k in order[:-1]]]
        given_by = firsts[:: -1 if loop.reverse else 1]
        beside = functools.partial(made, others=(one.name,))
        found.append(_of_chunks(beside, f"begin{j}", dtype, shape, given_by, _as_row))
    return found


def _layer(
    loop: Loop, name: str, token: str, order: Sequence[int], rows: Sequence[Any], start: Sequence[Any] | None,
    beside: Sequence[Any], heads: Sequence[Any],
) -> dict[Any, Any]:  # fmt: skip
    """Return the tasks of the loops over chunks, by their keys."""
    spec: Any = importlib.import_module("dask._task_spec")
    carry, program, count = f"{loop.name}-carry-{token}", f"{loop.name}-program-{token}", len(loop.carried)
    fixed, held, first = [
        [spec.TaskRef((one.name, *[0] * one.ndim)) for one in arrays] for arrays in (beside, start or (), heads)
    ]
    layer: dict[Any, Any] = {program: spec.Task(program, *loop.program)}
    told = replace(loop, program=())  # goes with each chunk
    for k in order:
        parts = [spec.TaskRef((row.name, k, *[0] * (row.ndim - 1))) for row in rows]
        run: Callable[..., Any] = _run
        if k == order[0]:
            run = functools.partial(_headed, len(first)) if first else _begun if start is None and count else _run
            parts = [*parts, *first]
        layer[name, k] = spec.Task((name, k), run, told, spec.TaskRef(program), *fixed, *held, *parts)
        for j in range(count):
            layer[carry, k, j] = spec.Task((carry, k, j), operator.itemgetter(j), spec.TaskRef((name, k)))
        held = [spec.TaskRef((carry, k, j)) for j in range(count)]
    return layer


def _part(
    below: Any, what: str, name: str, token: str, j: int | str, dtype: DType, chunks: tuple[Any, ...],
    tasks: dict[Any, Any], read: Callable[[Any, Any], Any] | None = None, others: Sequence[str] = (),
) -> Any:  # fmt: skip
    """Return an array of the ``j``-th values that loops over chunks have given; ``tasks``: place -> which gave it."""
    da, spec = dask_array(), importlib.import_module("dask._task_spec")
    graphs: Any = importlib.import_module("dask.highlevelgraph")
    own, get = f"{what}-{j}-{token}", operator.itemgetter(j) if read is None else functools.partial(read, j)
    named = {(own, *at): spec.Task((own, *at), get, spec.TaskRef(of)) for at, of in tasks.items()}
    graph = graphs.HighLevelGraph({**below.layers, own: named}, {**below.dependencies, own: {name, *others}})
    return da.Array(graph, own, chunks, meta=np.empty((0,) * len(chunks), dtype))


def _as_row(j: int | str, given: Any) -> Any:
    """Return the ``j``-th value that the loop over a chunk has given, or what it begins with, as a row."""
    return np.asarray(given if isinstance(j, str) else given[j])[None]


def _single(shape: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple([(n,) for n in shape])


def _run(loop: Loop, program: Callable[..., Any], *given: Any) -> tuple[Any, ...]:
    """Run the loop over a chunk; gives the next carry and what is stacked."""
    results = program(*[np.asarray(value) for value in given])
    several = results if isinstance(results, tuple) else (results,)
    if len(several) == len(loop.carried) + len(loop.stacked) + len(loop.summed) + len(loop.apart):
        return several
    return (*_last(loop, given, several), *several)


def _headed(count: int, loop: Loop, program: Callable[..., Any], *given: Any) -> tuple[Any, ...]:
    """Run the loop over the first chunk, and put before what is stacked the last ``count`` values that are given."""
    return with_heads(_run(loop, program, *given[:-count]), given[-count:], len(loop.carried), loop.reverse)


def with_heads(results: Sequence[Any], heads: Sequence[Any], first: int, reverse: bool) -> tuple[Any, ...]:
    """Return what a loop gives with values before so many of it, from the ``first`` on; behind them if it went
    backwards."""
    joined = [
        np.concatenate([result, head[None]] if reverse else [head[None], result])
        for head, result in zip(map(np.asarray, heads), results[first:])
    ]
    return (*results[:first], *joined, *results[first + len(heads) :])


def _begun(loop: Loop, program: Callable[..., Any], *rows: Any) -> tuple[Any, ...]:
    """Run the loop over the chunk whose first row is the first carry, and the first that is stacked."""
    heads = [np.array(row[-1 if loop.reverse else 0]) for row in rows]
    results = _run(loop, program, *heads, *[row[:-1] if loop.reverse else row[1:] for row in rows])
    return with_heads(results, heads if loop.stacked else (), len(loop.carried), loop.reverse)


def _last(loop: Loop, given: Sequence[Any], stacked: Sequence[Any]) -> Sequence[Any]:
    """Return the carry that a scan goes on with: what it gave last, by itself, or that which it was given."""
    if not len(stacked[0]):
        return given[: len(loop.carried)]
    return [np.array(values[0 if loop.reverse else -1]) for values in stacked]
