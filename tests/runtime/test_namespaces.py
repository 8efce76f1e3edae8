"""Graphs over arrays of other libraries: each kernel that meets one is the library's own."""

from __future__ import annotations

import pickle

import autoloop as al
import numpy as np
import pytest
from api import OPS, ChunkKernel, Executable, NamespaceRefusal, in_namespace, lower, namespace_of


def compiled(f, arrays, values, foreign=None):
    """The executable of ``f``, traced with ``arrays``, over what ``values`` are arrays of."""
    graph = al.function(f, executor="dataflow").get_concrete_function(*arrays).runner.graph
    lowered = lower(graph, graph.outputs, graph.inputs)
    return Executable(in_namespace(lowered, namespace_of(values[0]), foreign))


def of_strict(array):
    return pytest.importorskip("array_api_strict").asarray(array)


def of_torch(array):
    pytest.importorskip("array_api_compat")
    return pytest.importorskip("torch").asarray(array)


LIBRARIES = pytest.mark.parametrize("of", [of_strict, of_torch], ids=["strict", "torch"])
A = np.arange(24.0).reshape(2, 3, 4) - 11.5
ROWS, COLUMNS, MASK = [[0, 2], [1, -1]], [1, 0], (A[0] > 4).tolist()
PARTS = {
    "one": lambda x: x[0], "last": lambda x: x[..., -1], "backwards": lambda x: x[1, ::-1],
    "new axis": lambda x: x[:, None, 1:9], "rows": lambda x: x[:, ROWS], "scattered": lambda x: x[COLUMNS, :, [0, 1]],
    "neighbours": lambda x: x[:, COLUMNS, [0, 1]], "number first": lambda x: x[0, :, COLUMNS],
    "mask of two": lambda x: x[:, x[0] > 4], "mask of all": lambda x: x[x > 3], "element": lambda x: x[-1, -1, -1],
    "constant mask": lambda x: x[1:, MASK], "all steps": lambda x: x[::-2, 5:1:-1],
}  # fmt: skip


@LIBRARIES
@pytest.mark.parametrize("name", PARTS)
def test_brackets(name, of):
    f = PARTS[name]
    (made,) = compiled(lambda x: f(x) * 1, [A], [of(A)]).run([of(A)])
    assert isinstance(made, type(of(A)))
    np.testing.assert_array_equal(np.asarray(made), f(A), strict=True)


def test_brackets_beyond_the_end():
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 1 with size 3"):
        compiled(lambda x, i: x[0, i] * 1, [A, np.array(1)], [of_strict(A)], [0]).run([of_strict(A), np.array(7)])


def steps(x, n):
    s, i = x.sum(axis=0), 0
    while i < n:
        s = s * 0.5 + np.exp(-s * s).reshape(-1)
        i += 1
    return s, i


@LIBRARIES
@pytest.mark.parametrize("threads", [1, 2])
def test_a_loop(of, threads):
    x = of(A[0])
    run = compiled(steps, [A[0], np.array(3)], [x], [0])
    made, count = run.run([x, np.array(50)], threads=threads)
    expected, _ = steps(A[0], 50)
    np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-12)
    assert isinstance(made, type(x)) and type(count) is np.int64 and count == 50


def test_what_never_meets_such_an_array_is_left_as_it_is():
    graph = al.function(steps, executor="dataflow").get_concrete_function(A[0], np.array(3)).runner.graph
    lowered = lower(graph, graph.outputs, graph.inputs)
    changed = in_namespace(lowered, namespace_of(of_strict(A)), [0])
    same = [old.op.name for old, new in zip(lowered.nodes, changed.nodes) if old is new and old.op is not None]
    assert {"less", "add"} <= set(same)
    assert in_namespace(lowered, namespace_of(of_strict(A)), []).nodes == lowered.nodes


def test_numbers_and_arrays_of_numpy_have_no_namespace():
    for value in (1, 2.0, True, None, "text", np.ones(2), np.float32(1), al.constant(1.0), [np.ones(2)], np):
        assert namespace_of(value) is None


def test_a_tensor_that_torch_follows_is_refused():
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    with pytest.raises(NamespaceRefusal, match="requires a gradient"):
        namespace_of(torch.ones(2, requires_grad=True))
    with pytest.raises(NamespaceRefusal, match="no array"):
        namespace_of(torch.eye(2).to_sparse())


# -- dtypes ---------------------------------------------------------------------------------------------------

#: what PyTorch gives another dtype than NumPy, and what both give the same
TORCHS_OWN = {
    "int / int": lambda k, f: k / 2, "int * float": lambda k, f: k * 0.5, "int * floats": lambda k, f: k * f,
    "compared": lambda k, f: k < 1.5, "NumPy's scalar": lambda f, k: f * np.float64(2), "root": lambda k, f: k**0.5,
    "no change": lambda k, f: k * 1.0,
}  # fmt: skip
THE_SAME = {
    "ints": lambda k, f: k * 2 + k**2, "floats": lambda k, f: f * 2 - f // 0.3, "comparison": lambda k, f: f < 2,
    "count": lambda k, f: (k > 0).sum(), "booleans": lambda k, f: (k > 0) + (f > 0),
    "bool * int": lambda k, f: (k > 0) * k,
}  # fmt: skip


def numbers(of):
    return of(np.arange(3)), of(np.arange(3, dtype=np.float32))


@pytest.mark.parametrize("name", [*TORCHS_OWN, *THE_SAME])
def test_dtypes_that_torch_has_rules_of_its_own_for_are_left_to_it(name):
    k, f = numbers(of_torch)
    function = {**TORCHS_OWN, **THE_SAME}[name]
    staged = al.function(lambda k, f: function(k, f), autograph=False, executor="dataflow")
    if name in THE_SAME:
        made, expected = staged(k, f), function(k, f)
        assert made.dtype == expected.dtype and (made == expected).all()
    else:
        with pytest.raises(TypeError, match="cast (the operands to one dtype|them) first"):
            staged(k, f)


def test_a_variable_that_changes_its_dtype_in_a_loop():
    def halved(x):
        i = 0
        while i < 3:
            x = x * 0.5
            i += 1
        return x

    k, f = numbers(of_torch)
    with pytest.raises(TypeError, match="float32 over arrays of torch, and float64|cast them first"):
        al.function(halved, executor="dataflow")(k)
    assert (al.function(halved, executor="dataflow")(f) == halved(f)).all()


def test_a_cast_on_a_line_of_its_own_is_what_it_says():
    strict = pytest.importorskip("array_api_strict")

    def halves(k):
        xp = k.__array_namespace__()
        x = xp.astype(k, xp.float32)
        return x / 2

    made = al.function(halves, executor="dataflow")(strict.asarray([1, 2]))
    assert made.dtype == strict.float32
    with pytest.raises(TypeError, match="multiply gives an error"):
        al.function(lambda k: k * 0.5, autograph=False, executor="dataflow")(strict.asarray([1, 2]))


# -- kernels on chunks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "attrs", "args"),
    [
        (al.cast, {"dtype": np.dtype(np.float32)}, (np.arange(3),)),
        (al.sigmoid, {}, (np.arange(3.0),)),
        (al.pow, {}, (np.arange(3.0), np.float64(2))),
    ],
)
def test_kernels_are_sent_by_the_names_of_their_ops(f, attrs, args):
    """Some are functions without a name, which would be sent with all that they use."""
    kernel = ChunkKernel(OPS[f.__name__], attrs)
    sent = pickle.dumps(kernel)
    assert len(sent) < 300
    np.testing.assert_array_equal(pickle.loads(sent)(*args), kernel(*args), strict=True)


def test_what_dask_gives_is_not_cut_where_the_larger_factor_is_not():
    da = pytest.importorskip("dask.array")
    pytest.importorskip("array_api_compat")
    w, x = np.arange(36.0).reshape(6, 6), np.arange(6.0)
    given = [da.from_array(w, chunks=(2, 6)), da.from_array(x, chunks=2)]
    (made,) = compiled(lambda w, x: (w @ x) * 1, [w, x], given).run(given)
    assert made.chunks == ((2, 2, 2),) and len(made.dask) < 20
    np.testing.assert_array_equal(made.compute(scheduler="sync"), w @ x)
