"""Arrays of other libraries that a function finds in globals, closures and objects: staged as its arguments are.

Plain Python with the same library's arrays says what is right.
"""

from __future__ import annotations

import types
import warnings

import autoloop as al
import numpy as np
import pytest
from each_case import each

pytest.importorskip("array_api_compat")
V = np.array([1.0, 2.0, 3.0, 4.0])


def torch_tensor(values):
    return pytest.importorskip("torch").tensor(np.asarray(values))


def strict_array(values):
    return pytest.importorskip("array_api_strict").asarray(np.asarray(values))


def lazy_array(values):
    return pytest.importorskip("dask.array").from_array(np.asarray(values), chunks=2)


every_library = pytest.mark.parametrize("theirs", [torch_tensor, strict_array, lazy_array])

SOURCE = """
def total(x):
    return x.__array_namespace__().sum(x) if hasattr(x, "__array_namespace__") else x.sum()

def found(x):
    s = x + T
    while total(s) < 100:
        s = s * 2 + W
    return s

def found_alone(n):
    s = T
    for _ in range(n):
        s = s + W
    return s

def beside_numpys(a):
    s = T
    while total(s) < 100:
        s = s + T
    return s, a * 2

def closed_over(k):
    def inner(x):
        while total(x) < 100:
            x = x + k
        return x
    return inner

def of_an_object(x):
    while total(x) < 100:
        x = x + box.t
    return x

def of_a_list(x):
    while total(x) < 100:
        x = x + both[0] * both[1]
    return x

def rebound(x):
    global W
    W = W + x
    box.t = W * 2
    return total(W)

def given_back(x):
    return T, x + T, [T]

def compared(x):
    return x is T, T is U, x is U, x + T
"""


def check(got, want):
    assert type(got) is type(want)
    if isinstance(want, (tuple, list)):
        for one, other in zip(got, want, strict=True):
            check(one, other)
    elif hasattr(want, "dtype"):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
    else:
        assert got == want


@pytest.fixture
def sources(tmp_path):
    """Make a module with a file, of which the functions find arrays that a function makes."""
    path = tmp_path / "found_arrays.py"
    path.write_text(SOURCE)

    def made(theirs):
        module = types.ModuleType("found_arrays")
        module.__file__ = str(path)
        exec(compile(SOURCE, str(path), "exec"), vars(module))
        vars(module).update(T=theirs(V), W=theirs(V * 2), box=types.SimpleNamespace(t=theirs(V + 1)))
        vars(module).update(U=module.T, both=[theirs(V), theirs(V * 3)])
        return module

    return made


@every_library
@pytest.mark.parametrize("executor", ["auto", "dataflow"])
def test_they_are_staged(theirs, executor, sources):
    x, plain, ours = theirs(V), sources(theirs), sources(theirs)
    given = {
        "found": x, "found_alone": np.int64(3), "beside_numpys": V, "of_an_object": x, "of_a_list": x, "rebound": x,
        "given_back": x, "compared": x,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".* runs as plain Python")
        for name, value in given.items():
            f = al.function(getattr(ours, name), executor=executor)
            for _ in range(3):
                check(f(value), getattr(plain, name)(value))
                check((ours.W, ours.box.t), (plain.W, plain.box.t))
            assert f.tracing_count == 1
        inner = al.function(ours.closed_over(theirs(V * 5)), executor=executor)
        check(inner(x), plain.closed_over(theirs(V * 5))(x))


@every_library
def test_what_stands_there_in_each_call_is_taken(theirs, sources):
    x, module = theirs(V), sources(theirs)
    f = al.function(module.found)
    for values, count in ((V, 1), (V * 7, 1), (V[:, None] + V, 2), (V * 3, 2)):
        module.T = theirs(values)
        check(f(x), module.found(x))
        assert f.tracing_count == count
    module.T = module.W = V
    check(f(V), module.found(V))


@every_library
def test_which_of_them_are_one(theirs, sources):
    module = sources(theirs)
    f, x = al.function(module.compared), theirs(V)
    for given in (x, module.T, x):
        check(f(given), module.compared(given))
    module.U = x
    for given in (x, module.T):
        check(f(given), module.compared(given))
    module.T = x
    for given in (x, theirs(V)):
        check(f(given), module.compared(given))


@every_library
def test_gradients_go_through_them(theirs, sources):
    module, of_numpys = sources(theirs), sources(np.asarray)
    got = al.grad(lambda x: (module.found_alone(3) * x).sum() if theirs is not strict_array else
                  x.__array_namespace__().sum(module.found_alone(3) * x))(theirs(V))  # fmt: skip
    assert type(got) is type(theirs(V))
    np.testing.assert_allclose(np.asarray(got), of_numpys.found_alone(3))


@each(["native", "sequential"])
def test_who_needs_numpys_arrays_refuses_or_leaves_them(executor):
    pytest.importorskip("array_api_strict")
    array = strict_array(V)

    def f(n):
        s = array
        for _ in range(n):
            s = s + array
        return s

    if executor == "native":
        pytest.importorskip("llvmlite")
        with pytest.raises(TypeError, match=r"'array' is an array of array_api_strict.*AL602"):
            al.function(f, executor=executor)(np.int64(3))
    else:
        with pytest.warns(UserWarning, match=r"'array' is an array of array_api_strict"):
            check(al.function(f, executor=executor)(np.int64(3)), f(3))


def test_what_changes_in_place_is_plain_pythons():
    torch = pytest.importorskip("torch")
    tensor = torch.ones(3)

    def f(n):
        for _ in range(n):
            tensor[:] = tensor + 1
        return tensor * 2

    with pytest.warns(UserWarning, match="runs as plain Python"):
        got = al.function(f)(np.int64(2))
    np.testing.assert_array_equal(got, [6.0, 6.0, 6.0])
    np.testing.assert_array_equal(tensor, [3.0, 3.0, 3.0])


def test_two_libraries_are_plain_pythons():
    torch, _ = pytest.importorskip("torch"), pytest.importorskip("array_api_strict")
    beside = strict_array(V)

    def f(x):
        while x.sum() < 100:
            x = x * 2
        return x, beside

    with pytest.warns(UserWarning, match=r"'beside', an array of array_api_strict, is used beside one of torch"):
        got = al.function(f)(torch.ones(3))
    assert got[1] is beside
