"""What a kernel's result means: the op says so, not the number of outputs, and all executors read it alike."""

from __future__ import annotations

import random
import time
from itertools import product

import autoloop as al
import numpy as np
import pytest
from api import FUNCTIONS, OPS, SCALAR, Executable, Graph, Op, apply, apply_several, compile_graph, dtypes, lower
from api import fold_pass as fold
from each_case import each
from executors import EXECUTORS

V, W = np.array([3.0, 4.0], np.float32), np.array([[3.0], [4.0]], np.float32)
_random = random.Random(0)
_pairs = al.custom_gradient(lambda *vs: (list(vs), lambda *gs: [3.0 * g for g in gs]))


def _distinct(v):
    entries = al.SparseTensor(al.cast(v[:, None], al.int64), v, [9])
    slices = al.IndexedSlices(entries.values, entries.indices[:, 0], [9])
    return al.convert_to_tensor(slices)


#: op -> functions that use it with one output, with two, and with none where it can have none
SAMPLES = {
    "unstack": [
        lambda v: al.unstack(v[:1]),
        lambda v: al.unstack(v),
        lambda v: al.unstack(v[:, None], axis=1),
        lambda v: al.unstack(v[:0]),
    ],
    "split": [
        lambda v: al.split(v, 1),
        lambda v: al.split(v, [2]),
        lambda v: al.split(v, 2),
        lambda v: al.split(v[:, None], 1, axis=1),
        lambda v: al.split(v[:0], []),
    ],
    "py_function": [
        lambda v: al.py_function(lambda x: x[0], [v], al.float32),
        lambda v: al.py_function(lambda x: x * 2, [v], [al.float32]),
        lambda v: al.py_function(lambda x: [x * 2], [v], [al.float32]),
        lambda v: al.py_function(lambda x: (x[0], x[1:]), [v], [al.float32, al.float32]),
        lambda v: (al.py_function(lambda x: None, [v], None), v)[1],
        lambda v: (al.py_function(lambda x: None, [v], []), v)[1],
    ],
    "CustomGradient": [lambda v: _pairs(v), lambda v: _pairs(v[0], v[1:]), lambda v: (_pairs(), v)[1]],
    "Remat": [lambda v: al.remat(al.sin)(v), lambda v: al.remat(lambda x: (al.sin(x), al.cos(x)))(v)],
    "Held": [
        lambda v: al.grad(al.remat(lambda x: al.sum(al.sin(x))))(v),
        lambda v: al.grad(al.remat(lambda x, y: al.sum(al.sin(x * y))), (0, 1))(v, v),
    ],
    "random_draw": [
        al.convert(lambda v: v * _random.uniform(1, 1)),
        al.convert(lambda v: (_random.choices([2.0], k=2), v)),
        al.convert(lambda v: (_random.seed(0), v)[1]),
    ],
    "sparse_distinct": [_distinct],
    "print": [lambda v: (al.print(v[:0]), v)[1]],
    "assert": [lambda v: (al.Assert(v[0] > 0, [v]), v)[1]],
    "raise": [lambda v: al.cond(v[0] > 9, lambda: (al.raise_error(ValueError, v), v)[1], lambda: v)],
    "array_to_file": [lambda v: (FUNCTIONS["array_to_file"](v, "tofile", ("/dev/null", "", "%s"), "C"), v)[1]],
    "known_call": [
        al.convert(lambda v: v * (time.sleep(0) is None)),
        al.convert(lambda v: v * (time.time() > 0)),
    ],
    "NoOp": [lambda v: (al.compat.v1.no_op(), v)[1]],
}


def test_every_op_with_a_list_of_outputs_has_a_sample():
    """Those whose kernels are NumPy's own stand in the table of NumPy's functions, SciPy's in tests of their own."""
    libraries = {name for name, op in OPS.items() if name.startswith("special_") and type(op.kernel) is np.ufunc}
    ours = [
        op for op in OPS.values() if op.name not in libraries and ".numpy_names." not in (op.kernel.__module__ or "")
    ]
    assert {op.name for op in ours if op.several and not op.graphs} == SAMPLES.keys()


_CASES = {f"{name}-{i}": f for name, fs in SAMPLES.items() for i, f in enumerate(fs)}


def _arrays(value):
    return [np.asarray(v) for v in al.nest.flatten(value)]


@each(product(_CASES, EXECUTORS))
def test_one_or_none_or_several_are_the_same_everywhere(case, executor):
    f = _CASES[case]
    wanted = _arrays(f(al.constant(V)))
    try:
        results = _arrays(al.function(f, autograph=False, executor=executor)(al.constant(V)))
    except RuntimeError as refusal:  # what has no machine code is said to have none
        assert executor == "native" and "native" in str(refusal)
        return
    assert [(r.dtype, r.shape, r.tolist()) for r in results] == [(w.dtype, w.shape, w.tolist()) for w in wanted]


def _unpacked(x):
    (a,) = x[:1]
    return a * 2


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.where(x)[0],
        lambda x: np.nonzero(x)[0],
        _unpacked,
        lambda x: np.split(x, 1)[0],
    ],
    ids=["where", "nonzero", "unpacking", "split"],
)
def test_sequences_of_one_array(f, executor):
    x = np.array([2.0, 0.0, 3.0])
    try:
        result = al.function(f, executor=executor)(x)
    except RuntimeError as refusal:
        assert executor == "native" and "native" in str(refusal)
        return
    wanted = f(x)
    assert (np.shape(result), np.asarray(result).tolist()) == (np.shape(wanted), np.asarray(wanted).tolist())


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (lambda w: al.unstack(w, axis=1)[0], np.ones((2, 1))),
        (lambda w: al.split(w, 1)[0], np.ones((2, 1))),
        (lambda w: al.split(w, 2)[1], np.array([[0.0], [1.0]])),
        (lambda w: _pairs(w)[0], np.full((2, 1), 3.0)),
        (lambda w: _pairs(w, w)[1], np.full((2, 1), 3.0)),
    ],
)
def test_their_gradients(f, wanted, executor):
    def total(w):
        return al.sum(f(w))

    assert np.array_equal(al.grad(total)(al.constant(W)), wanted)
    assert np.array_equal(al.function(al.grad(total), executor=executor)(al.constant(W)), wanted)


def test_a_promise_about_one_of_a_list_is_checked():
    @al.function(executor="sequential")
    def f(v):
        (made,) = al.py_function(lambda x: x, [v], [al.float32])
        made.set_shape([3])
        return made

    with pytest.raises(ValueError, match="set_shape promised"):
        f(al.constant(V))


# -- the rule itself --------------------------------------------------------------------------------------

SPEC = (dtypes.int64, SCALAR)


@pytest.mark.parametrize(
    ("inferred", "several", "message"),
    [
        ([SPEC], False, "'wrong' is declared with one output, but infers"),
        ([], False, "'wrong' is declared with one output, but infers"),
        (SPEC, True, "'wrong' is declared with several outputs, but infers"),
    ],
)
def test_an_op_infers_what_it_declares(inferred, several, message):
    wrong = Op("wrong", lambda: inferred, lambda: np.int64(1), several=several)
    with pytest.raises(AssertionError, match=message):
        (apply_several if several else apply)(wrong, [])
    with pytest.raises(AssertionError, match=message):
        Graph().add(wrong, [])


@pytest.mark.parametrize(
    ("result", "several", "message"),
    [
        ((np.int64(1),), False, "the kernel of op 'wrong' must give a value, not tuple"),
        (np.int64(1), True, "the kernel of op 'wrong' must give a tuple of 1, not int64"),
        ((np.int64(1), np.int64(1)), True, "must give a tuple of 1, not tuple"),
        ((), True, "must give a tuple of 1, not tuple"),
    ],
)
def test_a_kernel_gives_what_its_op_declares(result, several, message):
    wrong = Op("wrong", lambda *_: [SPEC] if several else SPEC, lambda *_: result, several=several)
    with pytest.raises(AssertionError, match=message):
        (apply_several if several else apply)(wrong, [])


@each(product([1, 2], [False, True]))
def test_scheduler_and_generated_code_read_a_list_by_the_declaration(count, effect):
    made = tuple(np.array([k, k]) for k in range(count))
    op = Op(
        "listed",
        lambda x: [(dtypes.int64, al.TensorShape([2]))] * count,
        lambda x: made,
        effect=effect,
        several=True,
    )
    graph = Graph(ordered=True)
    x = graph.parameter(dtypes.int64, SCALAR, "x")
    graph.outputs = list(graph.add(op, [x]).outputs[:count])
    for results in (
        Executable(lower(graph, graph.outputs, [x])).run([np.int64(0)]),
        compile_graph(graph)([np.int64(0)]),
    ):
        assert [r.tolist() for r in results] == [m.tolist() for m in made]


def test_constants_are_folded_by_the_declaration():
    graph = Graph()
    with graph.as_default():
        (part,) = al.unstack(al.zeros([1, 2]) + 1.0)
    graph.outputs = [part]
    folded = fold.fold(graph)
    assert [r.tolist() for r in compile_graph(folded)([])] == [[1.0, 1.0]]
