"""``autoloop.distributed``: maps, sweeps and heavy parts of functions on a cluster, and what befalls one."""

from __future__ import annotations

import doctest
import gc
import importlib.util
import subprocess
import sys
import textwrap
import threading

import autoloop as al
import autoloop.distributed
import numpy as np
import pytest
from autoloop.distributed import Client, NoCluster

NEEDED = ("dask", "distributed")
needs_dask = pytest.mark.skipif(
    any(importlib.util.find_spec(one) is None for one in NEEDED), reason="the extra is not installed"
)
HERE = {"processes": False, "n_workers": 1, "threads_per_worker": 2, "dashboard_address": ":0"}


@pytest.fixture(scope="module")
def client():
    made = Client(**HERE)
    yield made
    made.close()


@al.function
def steps(x, n, rate=0.1):
    for _ in range(n):
        x = x - rate * x
    return x


@pytest.mark.parametrize("asked", ["executor", "client"])
def test_without_the_extra(monkeypatch, asked):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name in NEEDED else found(name, *a))
    with pytest.raises(ImportError, match=r"pip install 'autoloop\[distributed\]'.*AL620"):
        al.function(lambda x: x, executor="dask") if asked == "executor" else Client()


def test_the_library_loads_nothing_of_dask():
    program = """
        import sys
        import autoloop as al, numpy as np
        al.function(lambda x: x + 1, executor="dataflow")(np.ones(3))
        assert not {"dask", "distributed"} & set(sys.modules)
        import autoloop.distributed
        assert not {"dask", "distributed"} & set(sys.modules)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(program)]).returncode == 0


@needs_dask
def test_maps_and_sweeps(client):
    xs = [1.0, 2.0, 3.0]
    assert client.gather(client.map(steps, xs, n=3)) == [steps(x, 3) for x in xs]
    assert client.gather(client.map(steps, xs, [1, 2])) == [steps(1.0, 1), steps(2.0, 2)]
    assert client.map(steps, []) == client.map(steps) == []
    found = client.sweep(steps, {"x": xs, "rate": [0.1, 0.5]}, n=2)
    assert [point for point, _ in found] == [{"x": x, "rate": rate} for x in xs for rate in (0.1, 0.5)]
    assert all(value == steps(n=2, **point) for point, value in found)
    assert client.gather(client.submit(steps, client.submit(steps, 1.0, 1), 1)) == steps(1.0, 2)
    assert "autoloop.distributed.Client of" in repr(client)
    latency, overhead, bandwidth = client.network.latency, client.network.overhead, client.network.bandwidth
    assert 0 < overhead <= latency < 60 and bandwidth > 0 and client.network is client.network


@needs_dask
@pytest.mark.parametrize("grid", [[1, 2], {"x": 1.0}, {1: [2.0]}, np.ones(3), "x"])
def test_a_sweep_goes_through_values_by_name(client, grid):
    with pytest.raises(TypeError, match="AL623"):
        client.sweep(steps, grid)


def failing(x):
    if x == 2:
        raise ValueError("two")
    return x


@needs_dask
def test_a_call_that_fails_leaves_nothing(client):
    for call in (
        lambda: client.sweep(failing, {"x": [1, 2, 3]}),
        lambda: client.gather(client.map(failing, [1, 2, 3])),
        lambda: client.gather([client.submit(failing, 1), client.submit(failing, 2)]),
    ):
        with pytest.raises(ValueError, match="two") as caught:
            call()
        del caught
        gc.collect()  # of pytest's
        for _ in range(100):  # what Dask itself has to end
            if client.dask_client.futures:
                client.dask_client.run(int)
                gc.collect()
        assert not client.dask_client.futures
    assert client.gather(client.map(failing, [1, 3])) == [1, 3]


@needs_dask
def test_arguments_are_the_functions(client):
    """Whatever they are called: Dask has a ``key``, ``workers`` and more of its own."""

    def told(x, key=0, workers=1, priority=2, pure=3, func=4, n=5):
        return x, key, workers, priority, pure, func, n

    own = {"key": "k", "workers": [7], "priority": "high", "pure": True, "func": "f", "n": 1}
    wanted = [told(x, **own) for x in (1, 2)]
    assert client.gather(client.map(told, [1, 2], **own)) == wanted
    assert [client.submit(told, x, **own).result() for x in (1, 2)] == wanted
    assert [value for _, value in client.sweep(told, {"x": [1, 2]}, **own)] == wanted
    assert client.sweep(told, {}, x=1, **own) == [({}, wanted[0])] and client.sweep(told, {"x": []}) == []


@needs_dask
def test_the_block_says_which_cluster(client):
    assert Client(client.dask_client).dask_client is client.dask_client
    x = np.random.default_rng(0).standard_normal((700, 700)) / 26

    @al.function(executor="dask")
    def product(x):
        return np.tanh(x @ x) @ x

    with Client(client.dask_client) as inner:
        np.testing.assert_allclose(product(x), product.python_function(x), rtol=1e-9, atol=1e-12)
        assert inner.network is client.network
    assert client.dask_client.status == "running"  # it was not made there


@needs_dask
def test_loops_over_arrays_of_dask_run_on_the_client_of_the_block(client):
    pytest.importorskip("array_api_compat")
    da, distributed = importlib.import_module("dask.array"), importlib.import_module("distributed")

    def halved(x):
        while x.max() > 1:
            x = x / 2
        return x

    def client_of(f):
        made = f(da.ones(4, chunks=2) * 3)
        (found,) = {future.client for future in distributed.futures_of(made)}
        # what is computed in the block, and what comes of it, is computed there, too
        assert np.array_equal(made.compute(), np.full(4, 0.75))
        return found

    f, sent, there = al.function(halved), al.function(halved, executor="dask"), client.dask_client
    with Client(**HERE) as other:  # which Dask takes for the current one from now on
        assert distributed.default_client() is other.dask_client
        with Client(there) as inner:
            assert client_of(f) is client_of(sent) is there
            with other:
                assert client_of(f) is other.dask_client and Client().dask_client is other.dask_client
            with inner:
                assert client_of(f) is there
            assert client_of(f) is there
            found = []
            thread = threading.Thread(target=lambda: found.append(_in_block(other, client_of, f)))
            thread.start()
            assert client_of(f) is there
            thread.join()
            assert found == [other.dask_client]
        assert client_of(f) is other.dask_client


def _in_block(client, call, *args):
    with client:
        return call(*args)


@needs_dask
def test_an_asynchronous_client_is_refused(client):
    class Asynchronous:
        asynchronous = True

    from_dask = type("Made", (Asynchronous, type(client.dask_client)), {"__init__": lambda self: None})
    with pytest.raises(NoCluster, match="a client with asynchronous=True cannot wait"):
        Client(from_dask.__new__(from_dask))


@needs_dask
@pytest.mark.nightly
def test_examples():
    for name in ("Client", "Client.sweep"):
        one = eval(name, vars(autoloop.distributed))
        (found,) = doctest.DocTestFinder(recurse=False).find(one, name, globs={"al": al, "np": np})
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found).failed == 0


# -- processes ------------------------------------------------------------------------------------------------------

PROGRAM = """
    import os, signal, sys, threading, time
    import numpy as np
    import autoloop as al
    from autoloop.distributed import Client, LostCluster

    RATE = 0.5

    @al.function
    def solve(x, n):
        i = 0
        while i < n:
            x = x + RATE * np.sin(x)
            i += 1
        return x

    def told(k):
        found = solve(np.float64(k), np.int64(50))
        return found, os.getpid(), solve.tracing_count, time.thread_time()

    @al.function(executor="dask")
    def chains(a, b, m, n):
        i = 0
        while i < n:
            a = np.tanh(a @ m)
            b = np.tanh(b @ m)
            i += 1
        return a, b

    def arrays(size):
        rng = np.random.default_rng(0)
        return [rng.standard_normal((size, size)) / size ** 0.5 for _ in range(3)]

    def check(found, given, n):
        for one, other in zip(found, chains.python_function(*given, n)):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12)

    if __name__ == "__main__":
        with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
            {body}
"""


def run(tmp_path, body):
    """Run a program with a cluster of two processes; what it prints. No process is left of it."""
    path = tmp_path / "program.py"
    inner = textwrap.indent(textwrap.dedent(body).strip(), " " * 8).strip()
    path.write_text(textwrap.dedent(PROGRAM).replace("{body}", inner))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert str(path) not in left
    return done.stdout


@needs_dask
@pytest.mark.nightly
def test_one_trace_a_worker(tmp_path):
    out = run(
        tmp_path,
        """
        found = client.gather(client.map(told, range(24)))
        assert [one[0] for one in found] == [solve(np.float64(k), np.int64(50)) for k in range(24)]
        assert {one[2] for one in found} == {1}
        print(len({one[1] for one in found}))
        """,
    )
    assert int(out) in (1, 2)


@needs_dask
@pytest.mark.nightly
def test_heavy_chains_and_their_programs(tmp_path):
    run(
        tmp_path,
        """
        given = arrays(800)
        check(chains(*given, np.int64(4)), given, 4)
        sent = client.submitted
        assert sent >= 2
        check(chains(*given, np.int64(4)), given, 4)
        def kept():
            from autoloop_runtime.running import remote_programs
            return len(remote_programs._programs)
        counts = client.dask_client.run(kept)
        assert max(counts.values()) <= sent
        left = client.dask_client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        assert left <= 4, left
        """,
    )


@needs_dask
@pytest.mark.nightly
def test_a_worker_dies(tmp_path):
    run(
        tmp_path,
        """
        given = arrays(800)
        chains(*given, np.int64(2))
        pids = client.dask_client.run(os.getpid)
        threading.Timer(0.7, os.kill, (list(pids.values())[0], signal.SIGKILL)).start()
        check(chains(*given, np.int64(12)), given, 12)
        """,
    )


@needs_dask
@pytest.mark.nightly
def test_the_scheduler_is_lost(tmp_path):
    run(
        tmp_path,
        """
        given = arrays(800)
        chains(*given, np.int64(2))
        threading.Timer(0.7, client.dask_client.cluster.close).start()
        try:
            chains(*given, np.int64(100_000))
        except LostCluster as lost:
            assert "AL616" in str(lost), lost
        else:
            raise AssertionError("nothing was raised")
        """,
    )


@needs_dask
@pytest.mark.nightly
def test_ctrl_c_cancels_what_is_in_flight(tmp_path):
    run(
        tmp_path,
        """
        given = arrays(800)
        chains(*given, np.int64(2))
        threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            chains(*given, np.int64(100_000))
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("nothing was raised")
        def left(dask_scheduler):
            return [one.key for one in dask_scheduler.tasks.values() if one.state in ("waiting", "queued", "no-worker")]
        end = time.monotonic() + 20  # the scheduler forgets keys when it comes to it
        while (found := client.dask_client.run_on_scheduler(left)) and time.monotonic() < end:
            time.sleep(0.1)
        assert found == [], found
        check(chains(*given, np.int64(2)), given, 2)
        """,
    )
