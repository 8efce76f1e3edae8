"""Models compute what functions do: NumPy's functions one by one, whole programs, random ones and the samples."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path
from typing import Any

import autoloop as al
import numpy as np
import pytest
from array_functions import arguments, random_function
from autoloop.onnx_export import OnnxRefusal
from compared_models import compare, run, session, values
from exported_programs import PROGRAMS
from sample_calls import compiled, pool, samples

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore")]
SAMPLES = Path(__file__).parent.parent.parent / "samples"
#: samples of which onnxruntime makes something else: it multiplies matrices by 1 / 0, and finds places in no order
ELSEWHERE = ("np.cov(v[:1])", "i.searchsorted(")


@pytest.fixture(autouse=True)
def _libraries():
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f, args = PROGRAMS[name]
    compare(f, *args)


def _taken(sample: Any, dtype: str) -> bool:
    """Return whether a sample gives numbers that are not complex, of some arrays."""
    args = [pool(dtype)[name] for name in sample.names]
    if not args or any(one.dtype.kind == "c" for one in args) or any(one in sample.text for one in ELSEWHERE):
        return False
    try:
        return all(one.dtype.kind in "biuf" for one in values(compiled(sample)(*[np.array(one) for one in args])))
    except Exception:
        return False


@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("dtype", ["float64", "int32", "uint8", "bool", "float32"])
def test_functions_of_numpys(dtype, part):
    """Each sample of the table of functions, of other dtypes some, is the same or refused by name."""
    chosen = samples()[part :: 8 if dtype == "float64" else 40]
    done = 0
    for sample in chosen:
        if dtype in sample.dtypes and _taken(sample, dtype):
            try:
                compare(compiled(sample), *[pool(dtype)[name] for name in sample.names])
                done += 1
            except OnnxRefusal:
                pass
            except TypeError as error:
                if "has no graph" not in str(error):
                    raise AssertionError(sample.text) from error
            except Exception as error:
                raise AssertionError(sample.text) from error
    assert done > len(chosen) / 4


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    f, text = random_function(seed)
    try:
        compare(f, *arguments(seed)[0])
    except TypeError as error:
        assert "has no graph" in str(error), text
        pytest.skip("plain Python runs it")
    except Exception as error:
        raise AssertionError(text) from error


def test_an_extent_that_is_not_known_may_be_any():
    f = al.function(lambda x: al.sum(al.map_fn(lambda r: r * al.sum(r), x), axis=0))
    args = [(al.constant(np.ones((n, 3))),) for n in (1, 5, 0)]
    compare(f, *args[0], others=args[1:], traced=[al.TensorSpec([None, 3], al.float64)])


def test_collections_in_collections_are_refused():
    def f(x):
        def loss(x):
            for _ in al.range(3):
                y = x
                for _ in al.range(4):
                    y = al.sin(y)
                x = x + y
            return al.sum(x)

        return al.grad(loss)(x)

    with pytest.raises(OnnxRefusal, match="as gradients of loops in loops do"):
        al.export_onnx(f, al.ones([3]))


def test_where_python_raises_a_run_fails():
    def divided(x):
        k = 5
        while np.sum(x) > k - 7:
            k -= 1
            x = x + 1 / k
        return x

    def checked(x):
        if np.sum(x) < 0:
            raise ValueError("negative")
        assert x[0] < 10
        return x * 2

    def large(n):
        total = 1
        while n > 0:
            total = total * 3
            n -= 1
        return total

    for f, good, bad in [
        (divided, (np.ones(2) * -100,), (np.ones(2),)),
        (checked, (np.ones(2),), (-np.ones(2),)),
        (checked, (np.ones(2),), (np.ones(2) * 20,)),
        (large, (np.int64(30),), (np.int64(50),)),
        (lambda x, i: x[i], (np.ones(3), np.int64(-3)), (np.ones(3), np.int64(3))),
    ]:
        model = compare(f, *good)
        with pytest.raises(Exception, match="out of|indices element"):
            run(session(model), *bad)


# -- the samples ------------------------------------------------------------------------------------------------------


def _sample(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"sample_{name}", SAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _columns(module: Any) -> Any:
    return np.loadtxt(module.DATA, delimiter=",", skiprows=1, unpack=True)


def test_bouncing():
    module = _sample("bouncing")
    args = np.array([5.0, 5.0]), np.float64(module.BASKET)
    compare(module.throw, *args)
    compare(al.function(al.value_and_grad(module.height)), *args)


def test_collatz():
    compare(_sample("collatz").longest_chain, np.int32(50))


def test_conjugate_gradients():
    module = _sample("conjugate_gradients")
    with module.DATA.open() as file:
        co2 = np.array([float(row[1] or "nan") for row in list(csv.reader(file))[1:200]])
    w = np.where(np.isnan(co2), 0.0, 1.0)
    y = np.where(np.isnan(co2), 315.0, co2)
    compare(module.conjugate_gradients, y, y, w, np.float64(10), np.float64(1e-6), near=1e-6)


def test_fit_ode():
    module = _sample("fit_ode")
    years, hares, lynxes = _columns(module)
    first = np.log([0.5, 0.02, 0.02, 0.5, hares[0], lynxes[0]])
    args = years - years[0], np.stack([hares, lynxes], axis=1)
    compare(module.solve, np.exp(first)[4:], np.exp(first)[:4], args[0], near=1e-9)
    compare(module.loss, first, *args, near=1e-9)


def test_kmeans():
    module = _sample("kmeans")
    points = np.loadtxt(module.DATA, delimiter=",", skiprows=1, usecols=range(4))
    compare(module.kmeans, points, module.spread_out(points, 3), np.float64(1e-9))


def test_newton():
    module = _sample("newton")
    for f in (module.fixed_point, module.newton):
        compare(f, np.float64(np.pi), np.float64(1.0), module.ECCENTRICITY, np.float64(1e-12))


def test_pagerank():
    module = _sample("pagerank")
    _, links = module.read_graph(module.DATA)
    compare(module.pagerank, links, np.float64(0.85), np.float64(1e-10))


def test_rnn_forward():
    module = _sample("rnn_forward")
    _, spots = _columns(module)
    compare(module.forward, spots / 100, *module.weights(module.UNITS), near=1e-9)


def test_train_rnn():
    module = _sample("train_rnn")
    _, spots = _columns(module)
    w = module.first_weights()
    none = {name: np.zeros_like(x) for name, x in w.items()}
    compare(module.foretell, w, spots[:40] / 100)
    compare(module.train_step, w, none, none, np.float64(1), spots[:40] / 100, near=1e-8)


def test_viterbi():
    module = _sample("viterbi")
    _, flow = _columns(module)
    start = np.array([np.max(flow), np.min(flow)])
    compare(module.fit, flow, start, np.float64(np.std(flow) * 0.8))


def test_what_the_tour_shows(monkeypatch):
    monkeypatch.syspath_prepend(str(SAMPLES))
    module = _sample("tour")
    compare(module.collatz_steps, np.int32(27))
    compare(module.two_chains, np.ones(4), np.ones(4), np.int64(5))
