"""What is done to one chunk is one task: with the same values, nothing large in between, and nothing done in a row
that could be done at once."""

from __future__ import annotations

import graphlib
import pickle
import random
import tracemalloc
import weakref

import autoloop as al
import numpy as np
import pytest
from api import chunk_programs, fresh_names, fused_chunks
from distributed_programs import PROGRAMS, cut
from each_case import each

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
spec = pytest.importorskip("dask._task_spec")
pytest.importorskip("array_api_compat")

LARGE = 10 * fused_chunks.SMALL


def graph_of(arrays):
    """The tasks that Dask would be sent, what is known of their chunks, and the keys that are wanted."""
    merged = da.core.HighLevelGraph.merge(*[one.dask for one in arrays])
    wanted = [key for one in arrays for key in dask.core.flatten(one.__dask_keys__())]
    known = fused_chunks.known_of(merged)
    return fresh_names.optimised(merged, wanted, arrays[0], known), known, wanted


def fused(*arrays, threads=1):
    tasks, known, wanted = graph_of(arrays)
    made = fused_chunks.fused(tasks, known, wanted, threads)
    assert set(wanted) <= set(made)
    list(
        graphlib.TopologicalSorter(
            {k: [d for d in t.dependencies if d in made] for k, t in made.items()}
        ).static_order()
    )
    for key in wanted:
        np.testing.assert_array_equal(dask.get(made, key), dask.get(tasks, key))
    return made


def rows(count, chunks=4, width=16):
    return da.from_array(np.random.default_rng(0).random((count, width)), chunks=(-(-count // chunks), -1))


def test_what_is_done_to_a_chunk_is_one_task():
    x = rows(40_000)
    y = da.exp(x - 1)
    made = fused(y.sum(axis=0) / (y * y).sum(axis=0))
    assert sum(str(key).startswith("chunk_") for key in made) == 4  # of y, nothing is kept
    assert len(made) == 4 + 4 + 1  # the chunks are cut out of the array first


def test_chunks_that_go_on_from_a_sum_are_not_put_together():
    x = rows(40_000)
    y = x / x.sum()
    made = fused(y)
    assert sum(len(task.dependencies) == 2 for task in made.values()) == 4
    fused(y, y.sum(), threads=4)


def test_a_tree_of_sums_stays_one():
    made = fused(rows(320_000, chunks=200).sum(axis=0, split_every=4))
    assert 4 < max(len(task.dependencies) for task in made.values()) <= fused_chunks.MOST


def test_arrays_of_one_chunk_stay_apart():
    known = {(name, 0): fused_chunks.Source(name, LARGE) for name in "ab"}
    tasks = {}
    for name in "ab":
        before = (name, 0)
        for k in range(3):
            tasks[f"{name}-{k}"] = spec.Task(f"{name}-{k}", np.tanh, spec.TaskRef(before))
            before = f"{name}-{k}"
    tasks["total"] = spec.Task("total", np.add, spec.TaskRef("a-2"), spec.TaskRef("b-2"))
    made = fused_chunks.fused(tasks, known, ["total"], 2)
    assert set(made) == {"a-2", "b-2", "total"}


def test_fewer_chunks_than_threads_are_not_done_in_a_row():
    x = rows(40_000)
    y = da.exp(x - 1)
    made = fused(y.sum(axis=0) / (y * y).sum(axis=0), threads=5)
    assert not any(str(key).startswith("chunk_") for key in made)


def _sum(*values):
    return sum(np.sum(value) for value in values)


@each(range(40))
def test_any_graph_gives_the_same(seed):
    draw = random.Random(seed)
    known = {("given", k): fused_chunks.Source(draw.choice([None, 0, 1, 2]), draw.choice([8, LARGE])) for k in range(5)}
    tasks, names = {}, list(known)
    for k in range(25):
        name = (f"node-{k}", 0)
        taken = draw.sample(names, draw.randint(1, 3))
        tasks[name] = spec.Task(name, _sum, *map(spec.TaskRef, taken), k)
        if draw.random() < 0.7:
            known[name] = fused_chunks.Source(None, draw.choice([8, 8, LARGE]))
        names.append(name)
    wanted = draw.sample(list(tasks), 4)
    made = fused_chunks.fused(tasks, known, wanted, draw.choice([1, 9]))
    data = {("given", k): spec.DataNode(("given", k), np.full(3, float(k))) for k in range(5)}
    for key in wanted:
        assert dask.get({**made, **data}, key) == dask.get({**tasks, **data}, key)
    assert len(made) <= len(tasks)


def test_a_program_lets_go_of_what_is_in_between():
    gone = []

    def first(x):
        made = x + 1
        weakref.finalize(made, gone.append, "first")
        return made

    def last(x):
        return list(gone)

    made = chunk_programs.program(
        {
            "a": spec.Task("a", first, spec.TaskRef("x")),
            "b": spec.Task("b", np.sum, spec.TaskRef("a")),
            "c": spec.Task("c", last, spec.TaskRef("b")),
        },
        ["b", "c"], ["x"],
    )  # fmt: skip
    assert made(np.ones(3)) == (6.0, ["first"])


def test_a_program_is_sent_as_bytes_that_are_read_once():
    made = chunk_programs.program({"a": spec.Task("a", np.add, spec.TaskRef("x"), 1)}, ["a"], ["x"])
    first, second = (pickle.loads(pickle.dumps(made)) for _ in range(2))
    assert first(2) == second(2) == 3
    assert first._read is second._read


def test_a_product_does_not_copy_a_chunk_that_is_whole():
    a = dask.persist(da.from_array(np.ones((1000, 1000)), chunks=(500, 1000)))[0]
    made = al.function(lambda a, x: a @ x)(a, np.ones(1000))
    tracemalloc.start()
    try:
        with dask.config.set(scheduler="synchronous"):
            made.compute()
        assert tracemalloc.get_traced_memory()[1] < 2e6
    finally:
        tracemalloc.stop()


def test_an_iteration_of_k_means_has_a_task_for_each_chunk(monkeypatch):
    counts = []

    def counted(*args):
        made = fused_chunks.fused(*args)
        counts.append(len(made))
        return made

    monkeypatch.setattr("autoloop_runtime.distributed.task_templates.fused", counted)
    program = PROGRAMS["k-means"]
    arguments = program.arguments(40_000)
    given = cut(program, [*arguments[:2], 1.0], 4, da.from_array)
    centres, rounds = dask.compute(al.function(program.function)(*given))[0]
    np.testing.assert_allclose(centres, program.function(*arguments[:2], 1.0)[0])
    assert max(counts) <= 4 + 3
