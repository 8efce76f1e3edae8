"""How arrays of the user's lie in memory, and what is in them as bytes and in files, plain against decorated."""

from __future__ import annotations

from itertools import product

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain

EXECUTORS = ("sequential", "dataflow", "auto")
X = np.arange(6.0).reshape(2, 3)


def _bytes_of_a_loop(x):
    b = x.tobytes()
    while x[0, 0] < 3:
        x += 1
        b = x.tobytes()
    return b, len(b), isinstance(b, bytes), type(b) is bytes, x.T.dumps()


def _bytes_of_a_branch(x):
    if x[0, 1] > 0:
        b = x.tobytes("F")
    else:
        b = x.T.tobytes("F")
    return b


def _read_only(x):
    y = x.copy()
    part = y[1:]
    y.flags.writeable = False
    part[:] = 7
    return y, y.flags.writeable, y.T.flags["W"], part.flags.writeable


def _opened_again(x):
    y = x.copy()
    y.setflags(write=False)
    y.setflags(write=True)
    y[0] = 5
    return y


def _field(x):
    x.setfield(3, np.int32, 4)
    x[1:].setfield(x[1], np.int32)


@each(product([_bytes_of_a_loop, _bytes_of_a_branch, _read_only, _opened_again, _field], EXECUTORS))
def test_it_is_as_in_numpy(f, executor):
    theirs, ours = X.copy(), X.copy()
    expected, found = f(theirs), al.function(f, executor=executor)(ours)
    assert np.array_equal(theirs, ours)
    for a, b in zip(*[one if isinstance(one, tuple) else (one,) for one in (expected, found)]):
        assert type(a) is type(b) and np.array_equal(a, b)
        if isinstance(a, np.ndarray):
            assert a.flags.writeable == b.flags.writeable


def _parts(x):
    return x.real, np.imag(x), x.T, x.reshape(-1), x.ravel(), x[:, 1], x.view(), np.atleast_3d(x), x.copy(), x[:, :0]


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize("dtype", [float, complex])
def test_views_of_no_elements_are_read_only_as_the_array_is(dtype, is_open):
    x = np.zeros((0, 3), dtype)
    x.flags.writeable = is_open
    function, expected = al.function(_parts), _parts(x)
    for _ in range(2):
        for a, b in zip(function(x), expected, strict=True):
            assert (a.dtype, a.shape, a.flags.writeable) == (b.dtype, b.shape, b.flags.writeable)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_files_are_written_in_the_order_of_the_program(executor, tmp_path):
    def written(x, raw, text, pickled):
        while x[0, 0] < 3:
            x += 1
            x.tofile(raw)
        x.T.tofile(text, ",", "%.1f")
        x.T.dump(pickled)
        x *= 2

    def run(f, name):
        with open(tmp_path / name, "wb") as raw:
            f(X.copy(), raw, str(tmp_path / f"{name}.text"), str(tmp_path / f"{name}.pickle"))
        return [(tmp_path / (name + end)).read_bytes() for end in ("", ".text", ".pickle")]

    assert run(al.function(written, executor=executor), "ours") == run(written, "theirs")


def test_a_trace_is_for_arrays_that_lie_so():
    def asked(x):
        return x.strides, x.flags.writeable, x.flags.owndata, x.flags["C"], x[1:].strides if x.flags.c_contiguous else 0

    read_only = X.copy()
    read_only.flags.writeable = False
    several = [X, X.copy(), np.asfortranarray(X), np.ones((3, 2)).T, X[:, ::-1], read_only, np.ones((2, 6))[:, ::2]]
    for some in (several[:4], several[4:]):
        f = al.function(asked)
        for x in (*some, *some):
            assert f(x) == asked(x)
        assert f.tracing_count <= 1 + len(some)


def test_arrays_of_another_byte_order_are_not_asked():
    f = al.function(lambda x: x.strides)
    assert f(X) == X.strides
    for other in (X.astype(">f8"), X.astype(">f8")[:, ::2]):
        with (
            al.GradientTape(),
            pytest.raises(TypeError, match="asks how an argument lies in memory, x.strides or the like, and one is of"),
        ):
            f(other)


def test_views_know_whose_they_are():
    def owners(x):
        y = x.copy()
        return x.T.base is x, x[1:][:1].T.base is x, y.base is None, y[0].base is y, x.real.base is x.base

    assert al.function(owners)(X.copy()) == owners(X.copy())


def _of_an_argument(x):
    r = x.T.reshape(-1)
    r[0] = 9
    return x.sum()


def _of_a_copy(x):
    y = x.copy(order="F")
    r, s = y.T.reshape(-1), y.ravel()
    r[0] = s[1] = 9
    return y.copy(), y.strides, y.flags.f_contiguous


def _of_what_lies_in_columns(x):
    y = np.asfortranarray(x)
    r = y.T.ravel()
    r[0] = 9
    return y.copy(), y.strides


def test_what_is_a_view_depends_on_how_an_array_lies():
    ways = (
        lambda x: x, np.asfortranarray, lambda x: x[::-1], lambda x: np.repeat(x, 2, 1)[:, ::2],
        lambda x: np.asfortranarray(np.repeat(x, 2, 1))[:, ::2], lambda x: x.reshape(3, 2).T,
    )  # fmt: skip
    for f in (_of_an_argument, _of_a_copy, _of_what_lies_in_columns):
        decorated = al.function(f)
        for k, way in enumerate(ways):
            theirs, ours = way(X.copy()), way(X.copy())
            expected, found = f(theirs), decorated(ours)
            assert np.array_equal(theirs, ours), (f, k)
            assert str(expected) == str(found), (f, k)


def _transposed_reshaped(x):
    y = x.T + 1
    r = y.T.reshape(-1)  # a view, or a copy, as x lies
    r[0] = 9
    return y.copy()


def test_sizes_in_memory_are_those_of_arrays():
    def f(x):
        return x.__sizeof__(), x[:1].__sizeof__(), x.copy().T.__sizeof__(), x[0, 0].__sizeof__(), x[1].__sizeof__()

    decorated = al.function(f)
    for x in (X, X.copy(), X.astype(np.float32)):
        assert decorated(x) == f(x)
    refused_or_plain(lambda x: (x + 1).__sizeof__(), "asks how an array lies in memory", X)


def _filled(x):
    y, z = np.zeros((2, 3), order="F"), np.zeros((2, 3, 4), order="F")
    y[0] = x[0]
    z[:, :, 1] = x
    for _ in range(50):
        y += x
    return y, y.T, z.transpose(1, 0, 2)


def test_results_lie_as_the_function_says():
    ways = (
        lambda x: x.T.copy().T, np.asfortranarray, lambda x: np.array(x, order="F"), lambda x: x.astype(int, order="F"),
        lambda x: np.copy(x, order="F"), lambda x: x.reshape((3, 2), order="F"), lambda x: np.ones((2, 3), order="F"),
        lambda x: x.T.copy(), lambda x: np.asfortranarray(x + 1), lambda x: (x * 2).copy("F")[::1], _filled,
    )  # fmt: skip
    for k, f in enumerate(ways):
        for executor in EXECUTORS:
            expected, found = f(X.copy()), al.function(f, executor=executor)(X.copy())
            for a, b in zip(*[one if isinstance(one, tuple) else (one,) for one in (expected, found)]):
                assert np.array_equal(a, b) and a.strides == b.strides, (k, executor)


def _set_in_a_loop(x):
    y = x.copy()
    while x[0, 0] < 3:
        x += 1
        y.setflags(write=False)


def _chosen(x):
    y = x.copy()
    y.setflags(write=False)
    z = x.copy()
    if x[0, 0] > 5:
        z = y
    z[0] = 1


def _view_opened(x):
    y = x[:]
    y.setflags(write=False)
    y.setflags(write=True)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda x: x.flags, "the flags of an array that lies nowhere while the graph is built"),
        (lambda x: x.setflags(write=False), "of an argument would change the caller's array"),
        (_set_in_a_loop, "in a loop or branch of the graph: call it before"),
        (_view_opened, "of a read-only view: make another one"),
        (lambda x: x.tobytes() == b"", "__eq__ asks for bytes that only the run knows"),
        (lambda x: x.tobytes() or 3, "a condition asks for bytes that only the run knows"),
        (lambda x: x.tobytes().hex(), "'hex' is asked of bytes that only the run knows"),
        (lambda x: len(x.dumps()), r"len\(\) asks for the number of bytes that only the run knows"),
        (lambda x: f"{x.tobytes()}", "bytes that only the run knows"),
        (lambda x: setattr(x.flags, "aligned", False), "setting 'aligned' would change the flags of an array"),
    ],
)
def test_what_nobody_knows_is_refused(f, words):
    with pytest.raises(TypeError, match=words):
        al.function(f, executor="native")(X.copy())


@each(
    [
        (lambda x: (x + 1).strides, "x.strides asks how an array lies in memory, which is known while the graph is"),
        (lambda x: (x + 1).dumps(), r"x.dumps\(\) asks how an array lies in memory"),
        (_chosen, "whether this is an array that setflags has made read-only, only the run knows"),
        (lambda x: x.tofile(f"/dev/{x[0, 0]}/none"), "x.tofile needs the path of a file, or a file, that is known"),
        (lambda x: x.tofile("/dev/null", f"{x[0, 0]}"), "x.tofile needs texts that are known while the graph is built"),
        (lambda x: x.setfield(int(x[0, 0]), np.int8), "x.setfield needs a known shape, a known offset, and"),
        (lambda x: x[x > 2].tolist(), r"tolist\(\) needs a known shape"),
        (_transposed_reshaped, r"whether ravel\(\), reshape\(\) and the like give a view or a copy depends on"),
    ]
)
def test_what_only_the_values_tell_plain_python_does(f, words):
    refused_or_plain(f, words, X)


@pytest.mark.parametrize("f", [lambda x: np.frombuffer(x.tobytes()), lambda x: bytearray((x * 2).tobytes())])
def test_what_asks_for_bytes_themselves_is_left_to_plain_python(f):
    with pytest.warns(UserWarning, match=r"runs as plain Python.* 'bytes \(which only the run knows\)'"):
        assert np.array_equal(al.function(f)(X.copy()), f(X))


def _written_in_a_loop(x):
    y = x.copy()
    y.setflags(write=False)
    while x[0, 0] < 3:
        x += 1
        y[0] = x[0]


def _written_in_a_branch(x):
    y = x.copy()
    y.setflags(write=False)
    if x[0, 0] < 3:
        y[0] = x[0]


@pytest.mark.parametrize(
    "f",
    [
        _written_in_a_loop,
        _written_in_a_branch,
        lambda x: x.tobytes("B"),
        lambda x: x.tobytes().none,
        lambda x: np.broadcast_to(x, (2, 2, 3)).setfield(1, "i4"),
        lambda x: x.setfield(300, np.int8),
        lambda x: x.setfield(1, np.int32, 6),
    ],
)
def test_errors_of_memory_are_numpys(f):
    with pytest.raises(Exception) as plain:  # noqa: PT011
        f(X.copy())
    with pytest.raises(plain.type) as ours:
        al.function(f)(X.copy())
    assert str(plain.value).splitlines()[0] in str(ours.value)


def test_how_a_copy_lies_is_not_asked_of_what_memory_happens_to_hold(monkeypatch):
    # a cast of nan warns
    empty = np.empty

    def left(shape, dtype=float, *args, **kwargs):
        made = empty(shape, dtype, *args, **kwargs)
        made.fill(np.nan if made.dtype.kind == "f" else 0)
        return made

    monkeypatch.setattr(np, "empty", left)
    f = al.function(lambda x: x.astype(int, order="F"), executor="sequential")
    assert f(np.ones((2, 3))).flags.f_contiguous


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.zeros_like(x, order="F"),
        lambda x: np.ones_like(x, order="F"),
        lambda x: np.full_like(x, x[0], order="F"),
        lambda x: np.full_like(x, 2, order="F", shape=(2, 2)),
        lambda x: np.full((2, 3), x[0], order="F"),
        lambda x: np.asarray(x, dtype="i4", order="F"),
        lambda x: np.asanyarray(x, dtype="f4", order="F"),
        lambda x: np.asarray(x, "f4", "F"),
        lambda x: np.full((2, 3), x[0], None, "F"),
        lambda x: np.zeros_like(x, None, "F"),
        lambda x: np.asfortranarray(x, dtype="i4"),
        lambda x: np.asfortranarray(x.T, dtype="i4"),
        lambda x: np.array(x.tolist(), order="F"),
        lambda x: np.asarray(x, order="C"),
    ],
)
def test_new_arrays_lie_as_the_program_says(f):
    plain = f(np.ones((2, 3)))
    for executor in ("auto", "sequential", "dataflow"):
        found = al.function(f, executor=executor)(np.ones((2, 3)))
        assert (found.strides, found.dtype) == (plain.strides, plain.dtype), executor
