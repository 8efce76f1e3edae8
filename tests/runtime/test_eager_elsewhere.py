"""Public functions of arrays that are computed later, or lie on another device: their library computes."""

from __future__ import annotations

import contextlib
import operator
import types

import autoloop as al
import numpy as np
import pytest

V = np.arange(1.0, 10.0).reshape(3, 3) + np.eye(3)
OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "le", "gt", "ge", "eq", "ne",
)  # fmt: skip
#: what takes other arguments than one array, or two
CALLS = {
    "cast": lambda x: al.cast(x, al.int32), "reshape": lambda x: al.reshape(x, (9,)),
    "where": lambda x: al.where(x > 3.0, x, -x), "concat": lambda x: al.concat([x, V], 0),
    "stack": lambda x: al.stack([x, [[1.0] * 3] * 3]), "a list": lambda x: al.sum([x, x]),
    "take": lambda x: al.take(x, [0, 2]), "pad": lambda x: al.pad(x, [[1, 0], [0, 1]]),
    "einsum": lambda x: al.einsum("ij,jk->ik", x, x), "split": lambda x: al.split(x, 3),
    "clip": lambda x: al.clip(x, 2.0, 5.0), "top_k": lambda x: al.top_k(x, 2), "sum": lambda x: al.sum(x, axis=1),
    "sum of a dtype": lambda x: al.sum(x, dtype=al.float32), "softmax": lambda x: al.softmax(x, axis=0),
    "np.where": lambda x: np.where(al.constant(V) > 2, x, 0.0),
    "an index": lambda x: al.constant(V)[al.cast(x[0], int) % 3],
    "vector_norm": lambda x: al.linalg.vector_norm(x), "dot": lambda x: al.constant(V).dot(x),
}  # fmt: skip
#: explicit wishes for a tensor, and what asks for the shape alone, or gives one that is not known
FETCHING = {"Print", "asarray", "constant", "convert_to_tensor", "from_dlpack", "numpy"}
OF_THE_SHAPE = {
    "empty_like",
    "full_like",
    "ones_like",
    "zeros_like",
    "shape",
    "size",
    "rank",
    "imag",
    "argwhere",
    "unique",
}


@pytest.fixture
def lazy():
    """Return what makes an array of Dask's, and the keys of what was fetched."""
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    pytest.importorskip("array_api_compat")
    fetched = []

    def scheduler(graph, keys, **options):
        fetched.append(keys)
        return dask.get(graph, keys, **options)

    with dask.config.set(scheduler=scheduler):
        yield (lambda value: da.from_array(value, chunks=2)), fetched, da.Array


def same(wants, gots, kind):
    wants, gots = al.nest.flatten(wants), al.nest.flatten(gots)
    assert {type(got) for got in gots} == {kind}
    for want, got in zip(wants, gots, strict=True):
        assert (got.dtype, tuple(got.shape)) == (want.dtype, tuple(want.shape))
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-12, atol=1e-12)


def functions():
    for name in sorted({*al.__all__, "sum", "abs", "all", "any", "max", "min", "pow", "round"}):
        f = getattr(al, name)
        if callable(f) and not isinstance(f, (type, types.ModuleType)) and name not in FETCHING | OF_THE_SHAPE:
            yield name, f


@pytest.mark.nightly
def test_functions_of_one_or_two_arrays_leave_them(lazy):
    made, fetched, kind = lazy
    count = 0
    for name, f in functions():
        number, want = computed(f)
        if not number or not any(isinstance(one, al.Tensor) for one in al.nest.flatten(want)):
            continue
        try:
            got = f(*[made(V)] * number)
        except TypeError as refusal:
            assert "AL612" in str(refusal), name
        else:
            assert not fetched, name
            same(want, got, kind)
            count += 1
        fetched.clear()
    assert count > 90


def computed(f):
    """Return of how many arrays a function computes something, and what; none if it takes something else."""
    for number in (1, 2):
        with contextlib.suppress(Exception):
            return number, f(*[V] * number)
    return 0, None


def test_others_leave_them(lazy):
    made, fetched, kind = lazy
    for f in CALLS.values():
        fetched.clear()
        got = f(made(V))
        assert not fetched
        same(f(V), got, kind)


def test_what_can_be_gone_through_once_is_gone_through_once(lazy):
    made, fetched, kind = lazy
    values = [V, V * 2, V * 3]
    for f in (
        al.stack, al.concat, al.hstack, al.vstack, lambda x: al.concat(x, axis=None), lambda x: al.stack(values=x),
    ):  # fmt: skip
        for k in range(3):
            got = f(iter([made(one) if j == k else one for j, one in enumerate(values)]))
            assert not fetched
            same(f(values), got, kind)
            fetched.clear()


def test_operators_of_tensors_leave_them(lazy):
    made, fetched, kind = lazy
    t = al.constant(V)
    for f in (getattr(operator, name) for name in OPERATORS):
        fetched.clear()
        got = f(t, made(V)), f(made(V), t)
        assert not fetched
        same((f(t, t), f(t, t)), got, kind)


def test_operators_of_complex_tensors_leave_them(lazy):
    made, fetched, kind = lazy
    for z, x in ((V + 1j, V - 2j), (V, V - 2j), (V + 1j, V), (np.array(2 + 1j), np.array(1 - 2j))):
        t, lazily = al.constant(z), made(x) if x.ndim else made(np.array([x]))[0]
        for f in (operator.mul, np.multiply, operator.truediv, operator.pow, lambda a, b: abs(a * b) ** 2):
            fetched.clear()
            got = f(t, lazily)
            assert not fetched
            same(f(z, x), got, kind)


def test_a_decorated_function_gives_the_same_kind(lazy):
    made, _, kind = lazy
    same(al.sum(made(V)), al.function(al.sum)(made(V)), kind)


def test_what_is_asked_for_is_fetched(lazy):
    made, fetched, _ = lazy
    assert isinstance(al.constant(made(V)).numpy(), np.ndarray)
    al.Assert(al.sum(made(V)) > 3, ["no"])
    assert len(fetched) == 2
    y = al.constant(V)
    with al.GradientTape() as tape:  # a tape follows tensors
        tape.watch(y)
        z = al.sum(al.multiply(y, made(V)))
    np.testing.assert_array_equal(tape.gradient(z, y), V)


def test_what_the_library_has_not_is_refused_by_name(lazy):
    made, fetched, _ = lazy
    x = made(V)
    for f, words in (
        (lambda: al.linalg.svd(x), "svd cannot be computed over arrays of dask.array.*AL612"),
        (lambda: al.set_item(al.constant(V), 0, x[0]), "set_item cannot be computed over arrays of dask.array"),
        (lambda: al.py_function(np.sin, [x], al.float64), "py_function cannot be computed over arrays of dask.array"),
        (lambda: al.sum(x[x[:, 0] > 3]), "length of chunks is not known.*AL622"),
    ):
        with pytest.raises((NotImplementedError, TypeError), match=words) as caught:
            f()
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert not fetched


def test_arrays_on_another_device_stay_there():
    xs = pytest.importorskip("array_api_strict")
    there = xs.Device("device1")
    x = xs.asarray(V, device=there)
    made = (
        al.sum(x, 0),
        al.constant(V) * x,
        al.constant(V + 1j) * x,
        al.matmul(x, al.transpose(x)),
        al.while_loop(lambda s: al.sum(s) < 99, lambda s: s * 2.0, [x])[0],
    )
    wants = al.sum(V, 0), V * V, (V + 1j) * V, al.matmul(V, V.T), V * 4.0
    for got, want in zip(made, wants, strict=True):
        assert got.device == there
        np.testing.assert_allclose(np.asarray(got.to_device(xs.Device("CPU_DEVICE"))), np.asarray(want))
    assert isinstance(al.constant(V) * xs.asarray(V), al.Tensor)
    assert isinstance(al.sum(xs.asarray(V)), al.Tensor)  # one that is here is taken over, as ever
    assert al.constant(x).dtype == np.float64
    assert float(al.cond(xs.sum(x) > 3, lambda: 1.0, lambda: 2.0)) == 1.0
    with pytest.raises(RuntimeError, match=r"array_api_strict on .*device1.* are asked for.*to_device.*AL612"):
        al.constant(x).numpy()
    with pytest.raises(NotImplementedError, match="one of array_api_strict is beside it|one of .* on .* is beside it"):
        al.add(x, xs.asarray(V, device=xs.Device("device2")))
