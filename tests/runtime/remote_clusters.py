"""What tests of parts on a cluster share: clusters that cost nothing, and a program of two chains."""

from __future__ import annotations

import numpy as np
import pytest
from api import remote_cluster, remote_costs, remote_driver, remote_regions

distributed = pytest.importorskip("distributed")

FREE = remote_cluster.Network(1e-4, 1e-5, 1e12, 1000)
SLOW = remote_cluster.Network(1.0, 1.0, 1e3)


@pytest.fixture(scope="module")
def client():
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as made:
        yield made


@pytest.fixture
def cluster(client):
    """The cluster, which costs nothing to reach."""
    made = remote_cluster.of(client)
    made.network, made.submitted = FREE, 0
    yield made
    made.network = None


@pytest.fixture
def everything_goes(monkeypatch):
    """Each node is worth sending."""
    for name in ("UNIT", "OPENED"):
        monkeypatch.setattr(remote_regions, name, -1.0)
    for name in ("WORTH", "LEAST"):
        monkeypatch.setattr(remote_costs, name, -1.0)


@pytest.fixture
def loops_are_opened(monkeypatch):
    """Loops are opened for less than usually."""
    monkeypatch.setattr(remote_regions, "OPENED", 1e4)
    monkeypatch.setattr(remote_regions, "UNIT", 1e4)


RNG = np.random.default_rng(0)
A, B, M = (RNG.standard_normal((150, 150)) / 12 for _ in range(3))


def chains(a, b, m, n):
    for _ in range(n):
        a = np.tanh(a @ m)
        b = np.tanh(b @ m)
    return a, b.sum()


def same(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        assert type(one) is type(other)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def regions_in(f, *args):
    return f.get_concrete_function(*args).runner.run.__self__.regions()


@pytest.fixture
def moved(cluster, monkeypatch):
    """Sizes of the large arrays that were sent, and that came back before the end."""
    sent, come = [], []

    class Noting(remote_driver.Mailbox):
        def put(self, letter):
            values = letter[-1] if isinstance(letter[-1], tuple) else letter[-1:]
            come.extend([value.nbytes for value in values if getattr(value, "nbytes", 0) > 10_000])
            super().put(letter)

    put = cluster.put
    monkeypatch.setattr(cluster, "put", lambda value: sent.append(np.size(value)) or put(value))
    monkeypatch.setattr(remote_driver, "Mailbox", Noting)
    monkeypatch.setattr(remote_regions.Region, "learn", lambda *_: None)
    monkeypatch.setattr(remote_costs, "LEAST", 0.0)
    cluster.network = remote_cluster.Network(1e-5, 1e-6, 1e10, 1000)
    return sent, come
