"""``grad`` and its kin of functions that are not decorated, at NumPy's arrays: they are functions of arrays there."""

import functools
import math
import warnings
from itertools import product

import autoloop as al
import numpy as np
import pytest

X = np.array([0.3, 0.9, 0.5])


def asked_for_its_class(x):
    return (x * 2).sum() if isinstance(x, np.ndarray) else (x * 3).sum()


def asked_for_its_type(x):
    return (x * 2).sum() if type(x) is np.ndarray else (x * 3).sum()


PROGRAMS = {
    "isinstance": (asked_for_its_class, [2, 2, 2]),
    "type": (asked_for_its_type, [2, 2, 2]),
    "math": (lambda x: math.log(x[0]) * x[1], [3, math.log(0.3), 0]),
    "math of each": (lambda x: sum(math.exp(v) for v in x), np.exp(X)),
    "list in a function": (lambda x: np.sum([v**2 for v in x]), 2 * X),
    "scalars in a list": (lambda x: np.dot([x[0], x[1]], [x[1], 2.0]), [0.9, 2.3, 0]),
    "matrix of scalars": (lambda x: np.linalg.det([[x[0], x[1]], [1.0, 2.0]]), [2, -1, 0]),
    "coefficients": (lambda x: np.polyval([x[0], x[1], 1.0], 2.0), [4, 2, 0]),
    "np.r_": (lambda x: np.r_[x[0], x] @ np.arange(4.0), [1, 2, 3]),
    "np.full": (lambda x: np.full(3, x[0]) @ x, [2, 0.3, 0.3]),
}


@pytest.mark.parametrize(("f", "slope"), PROGRAMS.values(), ids=PROGRAMS)
def test_they_are_the_functions_of_arrays(f, slope):
    g = al.grad(f)
    for _ in range(2):
        value, found = al.value_and_grad(f)(X)
        assert type(value) is type(f(X)) and value == pytest.approx(f(X))
        assert type(found) is np.ndarray
        np.testing.assert_allclose(found, slope)
        np.testing.assert_allclose(g(X), slope)
    np.testing.assert_allclose(al.jacobian(f)(X), slope)
    np.testing.assert_allclose(al.vjp(f, X)[1](1.0)[0], slope)
    np.testing.assert_allclose(al.jvp(f, [X], [np.ones(3)])[1], np.sum(slope))


def test_the_second_order():
    f = PROGRAMS["math"][0]
    wanted = [[-0.9 / 0.09, 1 / 0.3, 0], [1 / 0.3, 0, 0], [0, 0, 0]]
    np.testing.assert_allclose(al.jacobian(al.grad(f))(X), wanted)


def test_prints_are_those_of_the_function_of_arrays(capsys):
    def f(x):
        print(x[0])
        return x @ x

    al.grad(f)(X)
    f(X)
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def early(x):
    if x[0] > 5:
        return 0.0
    for v in x:
        if v > 0.8:
            return v**2
    return None


def caught(x):
    try:
        if x[0] < 0.5:
            raise KeyError("a")
    except KeyError:
        return x @ x
    return x.sum()


def under_errstate(x):
    with np.errstate(divide="raise"):
        return (1 / x).sum()


REFUSED = {"early": (early, [0, 1.8, 0]), "try": (caught, 2 * X), "errstate": (under_errstate, -1 / X**2)}


@pytest.mark.parametrize(("f", "slope"), REFUSED.values(), ids=REFUSED)
def test_what_no_graph_can_do_is_done_with_tensors(f, slope):
    g = al.grad(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            np.testing.assert_allclose(g(X), slope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(al.vjp(f, X)[1](1.0)[0], slope)
    for given in (X, al.constant(X)):
        with pytest.raises((TypeError, NotImplementedError)):
            al.jvp(f, [given], [np.ones(3)])
    with pytest.raises((TypeError, NotImplementedError)):
        al.grad(al.function(f))(X)


def test_one_that_tensors_would_mislead_stays_refused():
    def f(x):
        return early(x) if isinstance(x, np.ndarray) else x.sum()

    with pytest.raises(TypeError, match="has no gradient"):
        al.grad(f)(X)


def test_functions_without_lines_and_objects_that_are_called():
    made = {}
    exec("def f(x):\n    return x[0] ** 2 if x[0] > 0 else x[1]", made)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(al.grad(made["f"])(X), [0.6, 0, 0])
        np.testing.assert_allclose(al.grad(functools.partial(np.dot, X))(X), X)
        np.testing.assert_allclose(al.grad(np.sum)(X), [1, 1, 1])


def test_a_function_with_a_gradient_of_its_own_is_called_as_it_is():
    seen = []

    @al.custom_gradient
    def f(x):
        seen.append(x)
        return al.sum(x * 2), lambda dy: dy * 7 * al.ones_like(x)

    np.testing.assert_allclose(al.grad(lambda x: f(x) * 1.0)(X), [7, 7, 7])
    f(X)
    assert len(seen) == 2


def test_derivatives_of_derivatives_by_pythons_numbers():
    def f(x):
        return math.sin(x) * x

    second = 2 * math.cos(0.7) - 0.7 * math.sin(0.7)
    for outer, inner in product((al.grad, al.jacobian), repeat=2):
        found = outer(inner(f))(0.7)
        assert type(found) is float
        np.testing.assert_allclose(found, second, rtol=1e-12)
