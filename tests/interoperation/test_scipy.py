"""SciPy's solvers call decorated functions and their derivatives: the same results as of plain ones, few traces."""

from __future__ import annotations

import math

import autoloop as al
import numpy as np
import pytest

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")
linalg = pytest.importorskip("scipy.sparse.linalg")

X0 = np.array([1.3, 0.7, 0.8])


def rosen(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2
    return total


def pendulum(t, y, b):
    return [y[1], -b * y[1] - 5.0 * np.sin(y[0]) if t < 1 else -b * y[1]]


def hump(x, a):
    return math.exp(-a * x * x) if x < 0.5 else a * x**2


def both(f):
    return f, al.function(f)


def test_minimize_takes_values_and_derivatives():
    f = al.function(rosen)
    slope, product = al.grad(f), lambda x, v: al.hessian_vector_product(f, x, v)
    found = [
        optimize.minimize(f, X0),
        optimize.minimize(al.value_and_grad(f), X0, jac=True),
        optimize.minimize(f, X0, jac=slope, method="L-BFGS-B"),
        optimize.minimize(f, X0, jac=slope, hess=al.jacobian(slope), method="trust-exact"),
        optimize.minimize(f, X0, jac=slope, hessp=product, method="Newton-CG", options={"xtol": 1e-9}),
    ]
    for one in found:
        assert one.success or one.status == 2
        assert type(one.x) is np.ndarray and np.allclose(one.x, 1, atol=1e-3)
    assert found[0].nfev == optimize.minimize(rosen, X0).nfev and f.tracing_count == 1
    assert optimize.check_grad(f, slope, X0) < 1e-4


def test_arguments_bounds_constraints_callbacks_and_an_early_end():
    def f(x, a, b):
        return np.sum(a * (x - b) ** 2)

    def halted(intermediate_result):
        if intermediate_result.fun < 1.0:
            raise StopIteration

    ends = []
    for one, stop in zip(both(f), both(halted)):
        seen = []
        for a in (1.0, 2.0, 3.0, 4.0, 5.0):
            limit = {"type": "ineq", "fun": al.function(lambda x: 2.5 - x[0])}
            made = optimize.minimize(one, X0, (a, 2), bounds=[(0, 1.5)] * 3, constraints=limit, callback=seen.append)
            ends.append(made.x)
        with pytest.warns(UserWarning, match="runs as plain Python") if one is not f else pytest.MonkeyPatch.context():
            ends.append(optimize.minimize(one, X0 * 9, (1.0, 2), callback=stop).x)
        assert seen
    assert np.allclose(ends[:6], ends[6:], rtol=1e-9)
    assert one.tracing_count <= 3


def test_what_a_function_raises_ends_the_search():
    def f(x):
        if x[0] > 2:
            raise RuntimeError("too far")
        return -np.sum(x)

    for one in both(f):
        for _ in range(2):
            with pytest.raises(RuntimeError, match="too far"):
                optimize.minimize(one, X0)


def test_least_squares_curve_fit_and_roots():
    t = np.linspace(0, 1, 20)
    y = 2 * np.exp(-1.5 * t)
    residual = al.function(lambda p: p[0] * np.exp(-p[1] * t) - y)
    assert np.allclose(optimize.least_squares(residual, [1.0, 1.0], jac=al.jacobian(residual)).x, [2, 1.5])
    assert np.allclose(optimize.curve_fit(al.function(lambda x, a, b: a * np.exp(-b * x)), t, y)[0], [2, 1.5])
    pair = al.function(lambda x: [x[0] + x[1] - 3, x[0] * x[1] - 2])
    assert np.allclose(optimize.root(pair, [0.0, 1.1], jac=al.jacobian(pair)).x, [2, 1])
    assert np.allclose(optimize.fsolve(pair, [0, 1.1]), [2, 1])
    assert np.allclose(optimize.fixed_point(al.function(lambda x, c: np.sqrt(c / x)), [1.2, 1.3], (8.0,)), 2)
    peaks = al.function(lambda x: np.sum(x**2 - 10 * np.cos(2 * np.pi * x) + 10))
    options = {"bounds": [(-5, 5)] * 2, "seed": 1, "maxiter": 3, "polish": False}
    found, wanted = (optimize.differential_evolution(one, **options) for one in (peaks, peaks.python_function))
    assert np.array_equal(found.x, wanted.x)


def test_numbers_that_keep_changing_make_few_traces():
    cube, slope = al.function(lambda x: x**3 - 2 * x - 5), al.grad(lambda x: x**3 - 2 * x - 5)
    roots = [
        optimize.brentq(cube, 2.0, 3.0), optimize.newton(cube, 2.0), optimize.newton(cube, 2.0, fprime=slope),
        optimize.root_scalar(al.value_and_grad(cube), x0=2.0, fprime=True).root,
        optimize.minimize_scalar(al.function(lambda x: cube(x) ** 2), bounds=(2, 3), method="bounded").x,
    ]  # fmt: skip
    assert np.allclose(roots, roots[0], atol=1e-4) and cube.tracing_count <= 4  # a float, and NumPy's
    for f, given in ((hump, (1.5,)), (lambda x: 2.0**x + x**x, ()), (lambda x, a: np.ones(int(x) + 2).sum() * a, (2,))):
        plain, ours = both(f)
        assert np.allclose(integrate.quad(ours, 0, 1, given), integrate.quad(plain, 0, 1, given), rtol=1e-12)
        assert ours.tracing_count <= 3
    plain, ours = both(lambda x, y, z: x * y + z)
    options = {"opts": {"epsrel": 1e-3}}
    limits = [[0, 1], [0, 2], [0, 1]]
    assert np.allclose(integrate.nquad(ours, limits, **options), integrate.nquad(plain, limits, **options))
    assert ours.tracing_count <= 5  # for three numbers


class Oscillator:
    def __init__(self, b):
        self.b = b

    @al.function
    def rhs(self, t, y):
        return np.array([y[1], -self.b * y[1] - y[0] if t < 2 else -y[0]])


def test_differential_equations():
    plain, ours = both(pendulum)
    for method in ("RK45", "LSODA"):
        options = {"method": method, "args": (0.25,), "dense_output": True}
        found, wanted = (integrate.solve_ivp(one, (0, 2), [3.0, 0.0], **options) for one in (ours, plain))
        assert np.allclose(found.y, wanted.y, rtol=1e-9) and found.nfev == wanted.nfev
        assert np.allclose(found.sol(np.linspace(0, 2, 5)), wanted.sol(np.linspace(0, 2, 5)))
    assert ours.tracing_count <= 4  # a float, and NumPy's
    jac = al.jacobian(ours, 1)
    stiff = integrate.solve_ivp(ours, (0, 1), [3.0, 0.0], method="Radau", args=(0.25,), jac=jac)
    assert stiff.success
    times = np.linspace(0, 1, 5)
    again = [integrate.odeint(one, [3.0, 0.0], times, args=(0.25,), tfirst=True) for one in (ours, plain)]
    assert np.allclose(*again)

    hit = al.function(lambda t, y: y[0])
    hit.terminal, hit.direction = True, -1
    fall = integrate.solve_ivp(al.function(lambda t, y: np.array([y[1], -9.8])), (0, 9), [0.0, 10.0], events=hit)
    assert fall.status == 1 and np.isclose(fall.t_events[0][0], 20 / 9.8)
    assert integrate.solve_ivp(Oscillator(0.1).rhs, (0, 3), [1.0, 0.0]).success


def test_operators_of_sparse_linear_algebra():
    def laplacian(v):
        out = 2 * v
        out[1:] -= v[:-1]
        out[:-1] -= v[1:]
        return out

    f = al.function(laplacian)
    operator = linalg.LinearOperator((20, 20), matvec=f, rmatvec=f, dtype=float)
    b = np.ones(20)
    x, info = linalg.cg(operator, b)
    assert info == 0 and np.allclose(laplacian(x), b, atol=1e-3)
    assert np.allclose(operator @ np.eye(20), [laplacian(row) for row in np.eye(20)])
    assert np.isclose(linalg.eigsh(operator, k=1, v0=b)[0][0], 4 * np.sin(10 * np.pi / 21) ** 2)
