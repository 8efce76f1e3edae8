"""``f.lower(*args)``: texts of stages, what a run takes, and functions that are compiled ahead of their calls."""

from __future__ import annotations

import tracemalloc

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS, needs_native

X = np.arange(6.0).reshape(2, 3)


@al.function
def settled(x, w, n):
    for _ in range(10):
        x = np.tanh(x @ w)
    while x.sum() > n:
        x = x - 1.0
    return x, {"sum": x.sum(), "what": "text"}


ARGS = X, np.ones((3, 3)) / 4, np.float64(-5)


def test_it_says_what_goes_in_and_comes_out():
    lowered = settled.lower(*ARGS)
    specs = al.TensorSpec([2, 3], al.float64), al.TensorSpec([3, 3], al.float64), al.TensorSpec([], al.float64)
    assert lowered.in_info == lowered.args_info == (specs, {})
    assert lowered.out_info == (specs[0], {"sum": specs[2], "what": "text"})
    assert repr(lowered) == "<Lowered settled>" and repr(lowered.compile()) == "<Compiled settled>"


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("source", "for _ in range(10):"),
        ("converted", "ops.while_stmt("),
        ("structured", "matmul = matmul("),
        ("optimized", "While("),
        ("lowered", "NextIteration("),
        ("python", "while "),
        pytest.param("llvm", "define ", marks=needs_native),
    ],
)
def test_each_stage_is_a_text(stage, words):
    assert words in settled.lower(*ARGS).as_text(stage)
    with pytest.raises(ValueError, match="stage must be one of source, converted, structured"):
        settled.lower(*ARGS).as_text("other")


@pytest.mark.parametrize("executor", EXECUTORS)
def test_what_is_compiled_takes_what_it_was_compiled_for(executor):
    compiled = settled.lower(*ARGS).compile(executor)
    found, wanted = compiled(*ARGS), settled.python_function(*ARGS)
    assert np.allclose(found[0], wanted[0], rtol=1e-12) and type(found[0]) is np.ndarray and found[1]["what"] == "text"
    for args, error, words in (
        (
            (X[:1], *ARGS[1:]),
            ValueError,
            r"was compiled for 'x' of dtype float64 and shape \(2, 3\), not of dtype float64 and",
        ),
        (
            (X, ARGS[1], np.int64(1)),
            TypeError,
            r"was compiled for 'n' of dtype float64 and shape \(\), not of dtype int64",
        ),
        ((X, ARGS[1], 1.0), TypeError, "was compiled for an array as 'n', not float"),
        (([X], *ARGS[1:]), TypeError, "was compiled for arguments of another structure"),
    ):
        with pytest.raises(error, match=words):
            compiled(*args)


def test_constants_and_open_extents():
    lowered = al.function(lambda x, k: x * k).lower(al.TensorSpec([None, 3], al.float32), 2)
    assert lowered.cost_analysis()["open extents"] == 64
    compiled = lowered.compile()
    assert (compiled(al.ones([5, 3]), k=2).numpy() == 2).all() and (
        compiled(np.ones((1, 3), "f4"), 2).numpy() == 2
    ).all()
    with pytest.raises(TypeError, match="was compiled for k=2, not 3"):
        compiled(al.ones([5, 3]), 3)


# -- what a run takes -----------------------------------------------------------------------------------------------


def _product(x):
    return np.sin(x) @ np.cos(x).T + 1


def _sums(x):
    s = np.zeros_like(x)
    for _ in range(50):
        s = s * 0.5 + np.exp(x)
    return s


def _halved(x):
    while x.sum() > 1:
        x = x / 2
    return x * 1


def _chosen(x):
    if x.sum() > 1:
        x = x * 2 + 1
    else:
        x = x + 1
    return x


@pytest.mark.parametrize(
    ("f", "flops", "transcendentals", "trips"),
    [
        (_product, 2 * 40 * 50 * 40 + 40 * 40, 2 * 40 * 50, []),
        (_halved, 2000 + 2000 + 2000, 0, [None]),  # the sum and the quotient of one turn, and the product
        (_chosen, 2000 + 2 * 2000, 0, []),
    ],
)
def test_flops_are_those_that_one_counts(f, flops, transcendentals, trips):
    found = al.function(f).lower(np.ones((40, 50))).cost_analysis()
    assert (found["flops"], found["transcendentals"], [trip for _, trip in found["loops"]]) == (
        flops,
        transcendentals,
        trips,
    )


def test_known_turns_count():
    found = al.function(_sums).lower(np.ones((40, 50))).cost_analysis()
    ((line, trips),) = found["loops"]
    assert "test_lowering_ahead.py:" in line and found["flops"] == 50 * 2 * 2000
    assert found["transcendentals"] == 50 * 2000 and 49 <= trips <= 50
    compiled = al.function(_sums).lower(np.ones((40, 50))).compile().cost_analysis()
    assert compiled["transcendentals"] < 3 * 2000  # the same in each turn


def test_bytes_are_those_of_operands_and_results():
    found = al.function(lambda x: x + x * 2.0).lower(np.ones(1000)).cost_analysis()
    assert found["bytes accessed"] == (8000 + 8 + 8000) + 3 * 8000
    assert "svd" in " ".join(al.function(np.linalg.svd).lower(np.ones((3, 3))).cost_analysis()["not counted"])


@pytest.mark.parametrize("f", [_product, _sums, _halved])
def test_peak_memory_is_that_of_a_run(f):
    x = np.ones((400, 500))
    g = al.function(f, executor="sequential")
    g(x)
    tracemalloc.start()
    try:
        g(x)
        measured = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    said = g.lower(x).compile().cost_analysis()["peak memory"] - x.nbytes
    assert 0.7 * measured < said < 1.5 * measured
