"""Decorated functions do in other processes what they do here: pools of the standard library, joblib and dask."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor

import autoloop as al
import numpy as np
import pytest

ROOT = os.path.dirname(os.path.dirname(__file__))


@al.function
def doubled(x):
    while x < 100:
        x = x * 2
    return x


@al.function(executor="sequential", name="mine")
def halves(x):
    return x / 2


@al.grad
def slope(x):
    return (x * x).sum()


@al.function
def failing(x):
    i = 0
    while i < 3:
        if x[i] < 0:
            raise ValueError("below zero")
        i += 1
    return x


class Scale:
    def __init__(self, by):
        self.by = by

    @al.function
    def times(self, x):
        return x * self.by


def told(one):
    return one.executor, one.name, one.tracing_count


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(
    "start", ["fork", *(pytest.param(one, marks=pytest.mark.nightly) for one in ("spawn", "forkserver"))]
)
def test_pools_of_processes(start):
    if start not in multiprocessing.get_all_start_methods():
        pytest.skip("not on this system")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(start)) as pool:
        given = [1.0, np.float64(3.0), 7]
        found = list(pool.map(doubled, given))
        assert found == [doubled(x) for x in given] and list(map(type, found)) == [float, np.float64, int]
        np.testing.assert_equal(list(pool.map(slope, [np.ones(2)])), [slope(np.ones(2))])
        assert list(pool.map(Scale(3.0).times, given)) == [3.0, 9.0, 21.0]
        assert pool.submit(told, halves).result() == told(halves)
        sent = pool.submit(al.constant, [1.0, 2.0]).result()
        assert isinstance(sent, al.Tensor) and sent.numpy().tolist() == [1.0, 2.0]
        with pytest.raises(ValueError, match="below zero") as caught:
            pool.submit(failing, np.array([1.0, -1.0, 2.0])).result()
        assert 'raise ValueError("below zero")' in str(caught.value.__cause__)


#: what is sent by value, for it is of the program; warnings, as for what is not converted there, are errors
PROGRAM = """
    import warnings
    warnings.filterwarnings("error", category=UserWarning)
    import autoloop as al
    import numpy as np

    SCALE = 3.0

    def helper(x):
        while x < 100:
            x = x * SCALE
        return x

    @al.function(executor="sequential", name="mine")
    def sent(x):
        total = 0.0
        for _ in range(3):
            total = total + helper(al.exp(x) * 0 + x)
        return total

    @al.function
    def factorial(n, x=1.0):
        return x if n <= 1 else factorial(n - 1, x * n)

    @al.grad
    def slope(x):
        return (x * x * SCALE).sum()

    @al.function
    def failing(x):
        while x < 10:
            x = x * 2
        raise KeyError("no such")

    class Descent:
        def __init__(self, rate):
            self.rate = rate

        @al.function
        def step(self, w, x, y):
            for _ in range(20):
                w = self.slower(w - self.rate * (x.T @ (x @ w - y)) / len(y))
            return w

        def slower(self, w):
            return w * 1.0

    def told(f):
        return f.executor, f.name, f.python_function.__name__

    given = [1.0, 2.0, np.float64(3.0)]
    want = [float(sent(x)) for x in given]
    x = np.random.default_rng(0).normal(size=(60, 3))
    y = x @ [1.0, 2.0, 3.0]
    descent = Descent(0.1)
    weights = descent.step(np.zeros(3), x, y)
"""
JOBLIB = """
    from joblib import Memory, Parallel, delayed

    if __name__ == "__main__":
        for backend in ("loky", "multiprocessing", "threading"):
            run = Parallel(2, backend=backend)
            assert [float(one) for one in run(delayed(sent)(x) for x in given)] == want
            assert run(delayed(factorial)(n) for n in (3, 4)) == [6.0, 24.0]
            assert [one.tolist() for one in run(delayed(slope)(np.ones(2) * k) for k in (1, 2))] == [[6, 6], [12, 12]]
            np.testing.assert_allclose(run(delayed(descent.step)(np.zeros(3), x, y) for _ in range(2)), [weights] * 2)
            assert run([delayed(told)(sent)]) == [("sequential", "mine", "sent")]
        try:
            Parallel(2)(delayed(failing)(x) for x in given)
        except KeyError as error:
            assert 'raise KeyError("no such")' in str(error.__cause__), error.__cause__
        else:
            raise AssertionError
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            kept = Memory(folder, verbose=0).cache(factorial)
            assert kept(5) == kept(5) == 120.0
"""
SKLEARN = """
    import copy, pickle
    from sklearn.base import BaseEstimator, RegressorMixin, clone
    from sklearn.model_selection import GridSearchCV, cross_val_score

    class Regressor(RegressorMixin, BaseEstimator):
        def __init__(self, rate=0.1, act=None, slope=None):
            self.rate, self.act, self.slope = rate, act, slope

        @al.function
        def step(self, w, x, y):
            for _ in range(50):
                w = w - self.rate * (x.T @ (x @ w - y)) / len(y)
            return w

        def fit(self, x, y):
            self.coef_ = self.step(np.zeros(x.shape[1]), x, y)
            return self

        def predict(self, x):
            return self.act(x @ self.coef_) if self.act else x @ self.coef_

    @al.function
    def act(x):
        return x * 1.0

    if __name__ == "__main__":
        one = Regressor(act=act, slope=slope)
        other = clone(one)
        assert other.act is act and other.slope is slope and other.get_params() == one.get_params()
        assert clone(Regressor(act=descent.step)).act.__self__.rate == descent.rate
        one.fit(x, y)
        for made in (copy.deepcopy(one), pickle.loads(pickle.dumps(one)), clone(one).fit(x, y)):
            np.testing.assert_array_equal(made.predict(x), one.predict(x))
        assert cross_val_score(one, x, y, n_jobs=2, error_score="raise").min() > 0.9
        search = GridSearchCV(Regressor(act=act), {"rate": [0.001, 0.1]}, n_jobs=2, error_score="raise").fit(x, y)
        assert search.best_params_ == {"rate": 0.1}
"""
DASK = """
    import dask
    from distributed import Client, LocalCluster

    if __name__ == "__main__":
        calls = [dask.delayed(sent)(x) for x in given]
        for scheduler in ("threads", "processes", "sync"):
            assert [float(one) for one in dask.compute(*calls, scheduler=scheduler)] == want
        assert dask.base.tokenize(sent) == dask.base.tokenize(sent) != dask.base.tokenize(factorial)
        for processes in (True, False):
            options = {"n_workers": 2, "threads_per_worker": 1, "processes": processes, "dashboard_address": ":0"}
            with LocalCluster(**options) as cluster, Client(cluster) as client:
                assert [float(one) for one in client.gather(client.map(sent, given))] == want
                assert client.submit(slope, np.ones(2)).result().tolist() == [6.0, 6.0]
                assert client.submit(told, sent).result() == ("sequential", "mine", "sent")
                for step in (descent.step, lambda *given: Descent.step(descent, *given)):
                    np.testing.assert_allclose(client.submit(step, np.zeros(3), x, y).result(), weights)
                assert client.submit(al.constant, [1.0, 2.0]).result().numpy().tolist() == [1.0, 2.0]
                assert "sequential" in str(client.submit(al.explain, sent, 1.0).result())
"""
CLOUDPICKLE = """
    import subprocess, sys
    import cloudpickle

    if __name__ == "__main__":
        things = [(sent, given[0]), (factorial, 4), (slope, np.ones(2)), (descent.step, np.zeros(3), x, y),
                  (al.function(lambda x: x * 2 if x < 3 else x), 1.0), (al.grad(helper), 1.0)]
        for protocol in (2, 3, 4, 5):
            program = "import pickle, sys, warnings; warnings.simplefilter('error')\\n" \\
                "for f, *given in pickle.load(sys.stdin.buffer): last = f(*given)\\n" \\
                "print(last, f.differentiated.__code__.co_filename)"
            data = cloudpickle.dumps(things, protocol)
            ran = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True)
            assert ran.returncode == 0, ran.stderr.decode()
            assert ran.stdout.split()[0] == str(things[-1][0](1.0)).encode() and b"program.py" in ran.stdout
"""


@pytest.mark.nightly
@pytest.mark.parametrize(
    "libraries, program",
    [(["joblib"], JOBLIB), (["sklearn"], SKLEARN), (["dask", "distributed"], DASK), (["cloudpickle"], CLOUDPICKLE)],
    ids=["joblib", "sklearn", "dask", "cloudpickle"],
)
def test_libraries_that_send_functions(libraries, program, tmp_path):
    for name in libraries:
        pytest.importorskip(name)
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM) + textwrap.dedent(program))
    path = os.pathsep.join([ROOT, os.path.join(ROOT, "runtime")])
    ran = subprocess.run(
        [sys.executable, file], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=200
    )
    assert ran.returncode == 0, ran.stderr
