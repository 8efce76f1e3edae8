"""Functions that are saved and loaded: what they give, what they take, what is refused."""

from __future__ import annotations

import collections
import contextlib
import copy
import io
import pickle
import sys
import warnings
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from executors import EXECUTORS, INTERPRETED, needs_native, spread_each

sys.path.insert(0, str(Path(__file__).parent / "equivalence"))

import harness
import kernels_in_place
import kernels_of_applications

Point = collections.namedtuple("Point", "x y")
X = np.array([1.0, 2.0, 3.0])


def reloaded(f, *args, executor="auto", **kwargs):
    """Return a function that was saved and loaded."""
    file = io.BytesIO()
    al.save(f, file, *args, **kwargs)
    file.seek(0)
    return al.load(file, executor=executor)


def to_the_bit(found):
    """Return values, dtypes, shapes and bytes of what ``harness.outcome`` gives."""
    calls, error, held = found

    def bits(value):
        array = np.asarray(value)
        return array.dtype, array.shape, array.tobytes()

    calls = [([values[0], *map(bits, values[1:])], places) for values, places in calls]
    return calls, type(error), list(map(bits, al.nest.flatten(held)))


def doubled(x):
    while x.sum() < 100:
        x = x * 2 + np.sin(x)
    return x.sum()


@al.function
def many_kinds(p, d, *rest, scale=2.0, **more):
    """Arguments and results in structures of all sorts."""
    return Point(p.x * scale, d["a"] + rest[0]), {"z": more["w"] + 1, 3: (p.y, None, "s")}, [d["a"].sum()]


def grown(x, n):
    """Lists of which the run knows the length, a view of an argument, the same array twice."""
    found, i = [], 0
    while i < n:
        found.append((i, x[i % 3] * i))
        i += 1
    y = x * 2
    return found, x[1:], y, y, n, i


def told(x, n):
    """Prints, asserts and raises in a loop."""
    i = 0
    while i < n:
        print(f"at {i:3d}", x.sum(), i)
        assert i < 5, "five"
        if i == 4 and x.sum() < 0:
            raise ValueError("negative", i)
        i += 1
    return i


def written(x, y):
    i = 0
    while y.sum() < 100:
        y += x
        x[0] = i
        i += 1
    return y


def listed(x, n):
    table = al.TensorArray(al.float64, size=4)
    table = al.while_loop(lambda i, t: i < 4, lambda i, t: (i + 1, t.write(i, x * al.cast(i, al.float64))), (0, table))[
        1
    ]
    return table.stack(), al.random.normal([2], key=al.random.key(n)), np.bincount(np.array([1, 2, 1]))


PROGRAMS = [
    (doubled, (X,), {}),
    (many_kinds, (Point(X, 2.5), {"a": X}, X + 1), {"w": np.float32(3)}),
    (grown, (X, np.int64(4)), {}),
    (told, (X, np.int64(3)), {}),
    (told, (X, np.int64(9)), {}),
    (told, (-X, np.int64(5)), {}),
    (written, (X, X * 2), {}),
    (listed, (al.constant(X), 3), {}),
    (al.grad(doubled), (X,), {}),
    (al.function(lambda x: al.grad(lambda y: (al.grad(doubled)(y) ** 2).sum())(x)), (X,), {}),
]


def _check(f, args, kwargs, executor):
    def named(function):
        return lambda *given: function(*given, **kwargs)

    decorated = al.function(getattr(f, "python_function", f), executor=executor)
    try:
        as_decorated = harness.outcome(named(decorated), args)
    except TypeError:  # values that cannot be copied
        return
    if executor == "native" and type(as_decorated[1]).__name__ == "NativeRefusal":
        return
    loaded = reloaded(decorated, *copy.deepcopy(args), executor=executor, **kwargs)
    assert to_the_bit(harness.outcome(named(loaded), args)) == to_the_bit(as_decorated)


@spread_each(PROGRAMS, INTERPRETED, always=())
def test_what_is_loaded_does_the_same(f, args, kwargs, executor):
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        _check(f, args, kwargs, executor)
    lines = shown.getvalue().splitlines()
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]


@pytest.mark.nightly
@needs_native
@pytest.mark.parametrize(("f", "args", "kwargs"), [one for one in PROGRAMS if one[0] is not told])  # which prints
def test_machine_code_does_the_same(f, args, kwargs):
    _check(f, args, kwargs, "native")


@pytest.mark.nightly
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("kernel", "make"),
    kernels_in_place.KERNELS + kernels_of_applications.KERNELS,
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_kernels_do_the_same(kernel, make, executor):
    rng = np.random.default_rng(0)
    _check(kernel, tuple(one(rng) if callable(one) else one for one in make), {}, executor)


# -- what is loaded -------------------------------------------------------------------------------------------------


def test_it_is_called_in_functions_and_differentiated():
    loaded = reloaded(doubled, X)

    def outer(f):
        def calls(x):
            i = 0
            while i < 2:
                x = x + f(x) / 100
                i += 1
            return x

        return al.function(calls)

    assert (outer(loaded)(X) == outer(al.function(doubled))(X)).all()
    assert (al.grad(loaded)(X) == al.grad(doubled)(X)).all()
    with al.GradientTape() as tape:
        x = al.constant(X)
        tape.watch(x)
        y = loaded(x)
    assert (tape.gradient(y, x).numpy() == al.grad(doubled)(X)).all()


def test_it_says_what_it_takes_and_is_looked_into():
    loaded = reloaded(many_kinds, Point(X, 2.5), {"a": X}, X, w=np.float32(3))
    (p, d, rest), named = loaded.structured_input_signature
    assert (p.x, p.y, d["a"], rest) == (al.TensorSpec([3], al.float64), 2.5, *[al.TensorSpec([3], al.float64)] * 2)
    assert named == {"scale": 2.0, "w": al.TensorSpec([], al.float32)}
    loaded = reloaded(doubled, X)
    assert "test_saving.py" in str(al.explain(loaded, X)) and "while x.sum() < 100" in str(al.explain(loaded, X))
    assert "while" in str(al.draw(loaded, X).svg)
    assert loaded.get_concrete_function().structured_input_signature == ((al.TensorSpec([3], al.float64),), {})
    assert repr(loaded).startswith("<autoloop.LoadedFunction doubled at ")


@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        (
            (X[:2],),
            ValueError,
            r"doubled: argument 'x' is to be an array of dtype float64 and shape \(3,\), not of shape \(2,\)",
        ),
        ((X.astype("f4"),), TypeError, ", not of dtype float32"),
        (([1.0],), TypeError, "argument 'x' is to be an array of dtype float64 and shape (3,), not list"),
        ((), TypeError, "missing"),
        ((X, X), TypeError, "too many|takes"),
    ],
)
def test_other_arguments_are_refused(args, error, words):
    with pytest.raises(error, match=words if "(3,), not list" not in words else "not list"):
        reloaded(doubled, X)(*args)


def test_constants_are_part_of_what_is_saved():
    def scaled(x, n, how="up"):
        return x * n if how == "up" else x / n

    loaded = reloaded(scaled, X, 3)
    assert (loaded(X, 3) == X * 3).all() and (loaded(x=X, n=3, how="up") == X * 3).all()
    with pytest.raises(
        TypeError, match="argument 'n' is part of what was saved, 3, and cannot be 4; save the function"
    ):
        loaded(X, 4)
    with pytest.raises(TypeError, match="cannot be 3.0"):
        loaded(X, 3.0)


def test_extents_may_be_open():
    f = al.function(lambda x: x * 2, input_signature=[al.TensorSpec([None, 3], al.float32)])
    loaded = reloaded(f)
    for rows in (1, 2):
        assert (loaded(al.ones([rows, 3])).numpy() == 2).all()
    with pytest.raises(ValueError, match=r"shape \(None, 3\), not of shape \(2, 2\)"):
        loaded(al.ones([2, 2]))
    again = io.BytesIO()
    al.save(f.get_concrete_function(), again)
    assert al.load(io.BytesIO(again.getvalue())).structured_input_signature == loaded.structured_input_signature


def test_variables_and_what_is_found_outside():
    variable, weights = al.Variable(2.0), np.arange(3.0)

    @al.function
    def f(x):
        variable.assign_add(1.0)
        return x * variable + weights.sum()

    loaded = reloaded(f, al.constant(1.0))
    weights[:] = 0
    assert [float(loaded(al.constant(1.0))) for _ in range(2)] == [6.0, 7.0]
    assert float(variable.numpy()) == 2.0 and float(loaded.variables[0].numpy()) == 4.0
    copied = pickle.loads(pickle.dumps(loaded))
    assert float(copied(al.constant(1.0))) == 8.0 and float(loaded.variables[0].numpy()) == 4.0


def test_errors_name_the_authors_line():
    loaded = reloaded(told, -X, np.int64(9))
    with pytest.raises(ValueError, match="negative") as caught:
        loaded(-X, np.int64(9))
    assert caught.value.args == ("negative", 4)
    said = "".join(getattr(caught.value, "__notes__", ())) + str(caught.traceback)
    assert "test_saving.py" in said


def test_files_are_written_as_a_whole(tmp_path, monkeypatch):
    path = tmp_path / "f.autoloop"
    al.save(doubled, path, X)
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("no room")))
    with pytest.raises(OSError, match="no room"):
        al.save(doubled, path, X[:2])
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        al.load(tmp_path / "nothing")


# -- what is refused ------------------------------------------------------------------------------------------------

_calls = [0]


def _counts(x):
    _calls[0] = _calls[0] + x.size
    return x


_held = np.zeros(3)


def _writes(x):
    while x.sum() < 9:
        _held[0] += 1
        x = x + 1
    return x


class _Own(Exception):
    pass


def _raises(x):
    while x.sum() > 0:
        if x[0] > 5:
            raise _Own(x)
        x = x - 1
    return x * 1


def _either(x, y):
    z = x if x.sum() > 3 else y
    return z


def test_a_result_that_may_be_an_argument_is_a_new_array():
    assert al.function(_either)(X, X + 1) is X
    given = reloaded(_either, X, X + 1)(X, X + 1)
    assert given is not X and not np.may_share_memory(given, X) and (given == X).all()


@al.custom_gradient
def _own_gradient(x):
    return x * 2, lambda g: g


@pytest.mark.parametrize(
    ("f", "args", "words"),
    [
        (
            lambda x: al.py_function(lambda y: y, [x], al.float64),
            (al.constant(X),),
            "py_function cannot be saved: the Python function",
        ),
        (
            lambda x: x + np.random.rand(3),
            (X,),
            "a random generator outside .use autoloop.random, with a key. cannot be saved",
        ),
        (lambda x: _own_gradient(x), (al.constant(X),), "a function with custom_gradient cannot be saved"),
        (_counts, (X,), "_counts changes what is outside of its arguments, .*_calls.*: that cannot be saved"),
        (_writes, (X,), "_writes changes what is outside of its arguments, _held: that cannot be saved"),
        (lambda x: _held[1:], (X,), "a result that is an array outside of the arguments cannot be saved: return a"),
        (_raises, (X,), "an exception of a class of its own, or with more than arguments, cannot be saved"),
        (lambda x: {1, 2}, (X,), "a result of the class 'set' cannot be saved"),
        (lambda x, y: x, (X, object()), "an argument of the class 'object' cannot be saved"),
        (lambda x: x * 2, (X.astype(np.longdouble),), "dtype .*not the same bytes everywhere"),
    ],
    ids=[
        "py_function", "random", "custom_gradient", "state", "array", "array given", "exception", "set", "object",
        "longdouble",
    ],
)  # fmt: skip
def test_what_cannot_be_saved_is_said(f, args, words):
    with warnings.catch_warnings(), pytest.raises(TypeError, match=words) as caught:
        warnings.simplefilter("ignore")
        al.save(f, io.BytesIO(), *args)
    assert isinstance(caught.value, al.SaveError)
    if f not in (_counts,) and "longdouble" not in words:
        assert "test_saving.py:" in str(caught.value)


def test_dataclasses_are_named():
    import dataclasses

    @dataclasses.dataclass
    class Pair:
        a: np.ndarray

    with pytest.raises(al.SaveError, match="the argument 'p' cannot be saved: the dataclass '.*Pair': give its"):
        al.save(lambda p: p.a, io.BytesIO(), Pair(X))
    with pytest.raises(
        al.SaveError, match="the argument 'y' cannot be saved: an argument of the class 'set'"
    ) as caught:
        al.save(lambda x, y: x, io.BytesIO(), X, {1})
    assert str(caught.value).count("AL711") == str(caught.value).count("test_saving.py:") == 1


def test_what_is_no_function_is_said():
    with pytest.raises(TypeError, match="a function is saved, got 3 of type int"):
        al.save(3, io.BytesIO())
    with pytest.raises(TypeError, match="is a trace: it is saved as it is, without arguments"):
        al.save(al.function(doubled).get_concrete_function(X), io.BytesIO(), X)
