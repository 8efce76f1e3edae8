"""Decorated functions where the standard library takes functions: they are what the plain ones are."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import cProfile
import dataclasses
import functools
import inspect
import io
import itertools
import logging
import sys
import threading
import timeit
import typing
import unittest.mock

import autoloop as al
import numpy as np
import pytest


@al.function
def waves(x, n=3, *, k: float = 1.0):
    """Do some."""
    i = 0
    while i < n:
        x = np.sin(x) * k
        i += 1
    return x


X = np.linspace(0, 1, 5)
WANTED = waves.python_function(X)
log = logging.getLogger(__name__)


def helper(x):
    return x + 1


@al.function
def helped(x):
    return helper(x)


def test_asyncio_runs_many_at_once_and_cancels():
    async def run():
        loop = asyncio.get_running_loop()
        several = await asyncio.gather(*[asyncio.to_thread(waves, X + k) for k in range(8)])
        others = waves(X), await loop.run_in_executor(None, waves, X)
        waiting = asyncio.create_task(asyncio.to_thread(waves, np.ones(100), np.int64(3000)))
        await asyncio.sleep(0)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(waves, np.ones(100), np.int64(3000)), 0.0001)
        return several, others, await asyncio.to_thread(waves, X)

    several, others, after = asyncio.run(run())
    for k, one in enumerate(several):
        assert np.allclose(one, waves.python_function(X + k), rtol=1e-12)
    assert all(np.allclose(one, WANTED, rtol=1e-12) for one in (*others, after))


def test_threads_of_concurrent_futures_share_a_function():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        made = list(pool.map(waves, [X * k for k in range(8)]))
        named = [pool.submit(waves, X, n=k, k=2.0).result() for k in range(3)]
    assert all(np.allclose(one, waves.python_function(X * k)) for k, one in enumerate(made))
    assert all(np.allclose(one, waves.python_function(X, k, k=2.0)) for k, one in enumerate(named))


def test_logging_is_done_at_each_call(caplog):
    def told(x, n):
        for i in range(n):
            log.info("step %d %s", i, x[0])
            x = x * 2
        if x[0] > 3:
            log.warning("big %.1f", x[0])
        log.debug("never")
        return x

    ours = al.function(told)
    with caplog.at_level(logging.INFO, __name__):
        for n in (2, 3, np.int64(3), 2):
            lines = []
            for f in (told, ours):
                caplog.clear()
                f(X + 1, n)
                lines.append([(one.levelname, one.funcName, one.lineno, one.getMessage()) for one in caplog.records])
            assert lines[0] == lines[1] and len(lines[0]) >= 3


def test_functools():
    assert np.allclose(functools.partial(waves, n=2)(X), waves.python_function(X, 2))
    kept = functools.lru_cache(al.function(lambda n: sum(range(n))))
    assert (kept(5), kept(5), kept.cache_info().hits) == (10, 10, 1)

    @functools.wraps(waves)
    def wrapped(*args, **kwargs):
        return waves(*args, **kwargs)

    assert (wrapped.__name__, wrapped.__doc__) == ("waves", "Do some.")
    assert inspect.signature(wrapped) == inspect.signature(waves) == inspect.signature(waves.python_function)
    assert typing.get_type_hints(waves) == {"k": float} and inspect.getsource(waves).startswith("@al.function")

    @functools.singledispatch
    def kind(x):
        return "any"

    kind.register(np.ndarray)(al.function(lambda x: x.sum()))

    @kind.register
    @al.function
    def _(x: int):
        return x + 1

    assert (kind(X), kind(3), kind("a")) == (2.5, 4, "any")
    assert functools.reduce(al.function(lambda a, b: a * b), [1, 2, 3, 4]) == 24
    assert list(itertools.accumulate([1, 2, 3], al.function(lambda a, b: a * b))) == [1, 2, 6]
    assert sorted([3, 1, 2], key=al.function(lambda v: -v)) == [3, 2, 1]


@dataclasses.dataclass
class Parts:
    a: np.ndarray
    b: float = 2.0

    @al.function
    def scaled(self):
        return self.a * self.b

    @functools.cached_property
    def waved(self):
        return waves(self.a)

    @property
    @al.function
    def more(self):
        return self.a + 1

    @classmethod
    @al.function
    def twice(cls, x):
        return x * 2

    @staticmethod
    @al.function
    def thrice(x):
        return x * 3

    shifted = functools.partialmethod(al.function(lambda self, x, k: self.a * x + k), k=2)


def test_classes():
    one = Parts(X)
    assert np.array_equal(one.scaled(), X * 2) and np.array_equal(dataclasses.replace(one, b=3.0).scaled(), X * 3)
    assert np.allclose(one.waved, WANTED) and one.waved is one.waved
    assert np.array_equal(one.more, X + 1) and np.array_equal(one.shifted(2.0), X * 2 + 2)
    assert (Parts.twice(3), one.twice(3), Parts.thrice(3), one.thrice(3)) == (6, 6, 9, 9)


def test_contexts_and_local_values():
    @contextlib.contextmanager
    def managed(x):
        yield waves(x)

    with managed(X) as found:
        assert np.allclose(found, WANTED)
    local = threading.local()
    local.v = 2.0
    f = al.function(lambda x: x * getattr(local, "v", 5.0))
    found = [f(1.0)]
    thread = threading.Thread(target=lambda: found.append(f(1.0)))
    thread.start()
    thread.join()
    local.v = 3.0
    assert [*found, f(1.0)] == [2.0, 5.0, 3.0]


@pytest.mark.filterwarnings("ignore:helped runs as plain Python")
def test_what_tests_put_in_place_of_a_function(monkeypatch):
    module = sys.modules[__name__]
    with unittest.mock.patch.object(module, "waves", return_value=3):
        assert module.waves(X) == 3
    with unittest.mock.patch.object(module, "waves", wraps=waves) as watched:
        assert np.allclose(module.waves(X), WANTED)
    watched.assert_called_once_with(X)
    assert helped(1.0) == 2.0
    with unittest.mock.patch.object(module, "helper", return_value=7.0):
        assert helped(1.0) == 7.0
    monkeypatch.setattr(module, "helper", lambda x: x * 100)
    assert helped(1.0) == 100.0
    monkeypatch.undo()
    assert helped(1.0) == 2.0


def test_who_measures_and_traces_sees_a_call():
    assert timeit.timeit(lambda: waves(X), number=3) > 0
    profile, said = cProfile.Profile(), io.StringIO()
    assert np.allclose(profile.runcall(waves, X), WANTED)
    import pstats

    pstats.Stats(profile, stream=said).print_stats()
    assert "function calls" in said.getvalue()
    if sys.gettrace() is None:
        sys.settrace(lambda *_: None)
        try:
            assert np.allclose(waves(X), WANTED)
        finally:
            sys.settrace(None)


@typing.overload
def either(x: int) -> int: ...
@typing.overload
def either(x: str) -> str: ...
@al.function
def either(x):
    return x


def test_overloads():
    assert (either(1), either("a")) == (1, "a") and len(typing.get_overloads(either.python_function)) == 2
