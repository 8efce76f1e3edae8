"""Who lets go of an error of a cluster lets go of what was computed there: no cycle holds it, and nobody collects."""

from __future__ import annotations

import gc
import time
import traceback

import api
import autoloop as al
import numpy as np
import pytest
from autoloop.distributed import Client

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytest.importorskip("array_api_compat")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as made:  # fmt: skip
        yield made


@pytest.fixture
def client(cluster):
    """It holds nothing in the end, without a visit of the collector of cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    with distributed.Client(cluster) as client:
        yield client
        until = time.monotonic() + 3  # the loop of the client may still be at it
        while (left := [str(key) for key in client.futures]) and time.monotonic() < until:
            client.run_on_scheduler(int)
        assert not left
    if was_enabled:
        gc.enable()


def chunked():
    return da.from_array(np.arange(1.0, 41.0), chunks=10)


def test_a_loop_that_has_gone_on_after_a_loss_lets_go_of_that(client, monkeypatch):
    monkeypatch.setattr(api.loop_recovery, "FIRST", 4)
    monkeypatch.setattr(api.loop_recovery, "SHARE", 0)
    real, left = api.anchors.Anchors.anchored, [2]

    def loses(self, arrays):
        left[0] -= 1
        if not left[0]:
            client.cancel(arrays, force=True)
        return real(self, arrays)

    monkeypatch.setattr(api.anchors.Anchors, "anchored", loses)

    @al.function
    def smooth(x, n):
        i = 0
        while i < n:
            x = x * 0.5 + x.max() * 0.25 + 1.0
            i += 1
        return x

    plain = smooth.python_function(np.arange(1.0, 41.0), 12)
    assert np.array_equal(smooth(chunked(), np.int64(12)).compute(), plain)
    assert left[0] < 0


def refused(x):
    if float(np.asarray(x).ravel()[0]) > 8.0:
        raise ZeroDivisionError("as in a user's kernel")
    return x


def fails_in_a_loop(_):
    @al.function
    def f(x, n):
        i = 0
        while i < n:
            x = np.linalg.inv(x * (i - 3.0))
            i += 1
        return x

    f(da.from_array(np.eye(4), chunks=4), np.int64(9))


def fails_in_a_gradient(_):
    @al.function
    def f(x, n):
        i = 0
        while i < n:
            x = np.linalg.inv(x * (i - 3.0))
            i += 1
        return x.sum()

    al.grad(f)(da.from_array(np.eye(4), chunks=4), np.int64(9))


def fails_in_a_condition(_):
    @al.function
    def f(x, least):
        while np.linalg.inv(x).max() < least:
            x = x * 0.5 - 0.5 * np.eye(4)
        return x

    f(da.from_array(np.eye(4), chunks=4), 1e9)


def fails_in_a_sweep(client):
    client.sweep(refused, {"x": [2.0, 3.0, 9.0]})


@pytest.mark.parametrize(
    "call",
    [
        fails_in_a_loop, fails_in_a_condition, fails_in_a_sweep,
        pytest.param(fails_in_a_gradient, marks=pytest.mark.nightly),
    ],
)  # fmt: skip
def test_an_error_that_was_told_is_let_go_of_by_who_has_caught_it(call, client):
    held = Client(client)
    try:
        call(held)
    except (ZeroDivisionError, np.linalg.LinAlgError) as error:
        assert traceback.format_exception(error)
    else:
        raise AssertionError
