"""Solvers as scientists write them for NumPy, over Dask's arrays: graphs, NumPy's numbers, the kinds of plain Dask.

By day a few on Dask's own threads, at night all of them, on two processes.
"""

from __future__ import annotations

import warnings

import autoloop as al
import numpy as np
import pytest
from api import Statistics, dask_engine
from day_sample import TURN
from solver_programs import made

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("array_api_compat")

GIVEN = {f.__name__: (f, given) for f, given in made().items()}
BY_DAY = (("lanczos", "pegasos"), ("gram_schmidt", "sinkhorn"))[TURN]
#: what asks an array of Dask's for its elements
ASKING = ("__array__", "__bool__", "__complex__", "__float__", "__index__", "__int__")


def arguments(given, cut):
    """Arrays that are cut into chunks stand in the table with their chunks."""
    for one in given:
        if isinstance(one, tuple):
            yield cut(one[0].copy(), one[1])
        else:
            yield one.copy() if isinstance(one, np.ndarray) else one


def leaves(value):
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, (tuple, list)) else [value]


def kinds(value):
    if isinstance(value, (tuple, list)):
        return type(value), [*map(kinds, value)]
    return type(value), getattr(value, "dtype", None), np.shape(value)


def decorated(name):
    f, given = GIVEN[name]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*runs as plain Python")
        found = al.function(f)(*arguments(given, da.from_array))
    expected = leaves(f(*arguments(given, lambda array, chunks: array)))
    for one, other in zip(dask.compute(*leaves(found)), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    return found


def counted(monkeypatch, call):
    """What a call gives, and how often something was fetched for it."""
    told = []

    def statistics():
        told.append(Statistics())
        return told[-1]

    with monkeypatch.context() as patched:
        patched.setattr(dask_engine, "Statistics", statistics)
        found = call()
    return found, sum(one.fetches for one in told)


def noted(method, asked):
    def noting(*args, **kwargs):
        asked.append(method)
        return method(*args, **kwargs)

    return noting


def plain(name, monkeypatch):
    """What plain Dask gives, and how often it is asked for elements."""
    (f, given), asked = GIVEN[name], []
    with monkeypatch.context() as patched, warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore")
        for method in ASKING:
            patched.setattr(da.Array, method, noted(getattr(da.Array, method, None), asked), raising=False)
        return f(*arguments(given, da.from_array)), len(asked)


@pytest.mark.parametrize("name", BY_DAY)
def test_a_solver_gives_what_it_gives_of_numpys_arrays(name, monkeypatch):
    with dask.config.set(scheduler="synchronous"):
        found, fetches = counted(monkeypatch, lambda: decorated(name))
    assert da.Array in map(type, leaves(found)) or name in ("lanczos", "gram_schmidt")
    assert fetches <= plain(name, monkeypatch)[1]


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as made, distributed.Client(made) as client:  # fmt: skip
        yield client


@pytest.mark.nightly
@pytest.mark.parametrize("name", GIVEN)
def test_a_solver_on_two_processes(name, cluster, monkeypatch):
    """Kinds are those of plain Dask, and no more is fetched than that fetches."""
    found, fetches = counted(monkeypatch, lambda: decorated(name))
    wanted, asked = plain(name, monkeypatch)
    assert kinds(found) == kinds(wanted)
    assert fetches <= asked
