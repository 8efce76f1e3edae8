"""Runs under a limit to memory whose tokens are moved in native memory: with no more iterations at once than fit."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import config, core_runs, memory_limit, token_core
from executors import needs_native
from test_machine_kernels import at_once as at_once
from test_overlapped_loops import A, B, V, W, flat
from test_overlapped_loops import runs as runs

pytestmark = needs_native
WINDOW = 30


def ahead(a, b, n):
    """What needs only the counter runs ahead of a chain, and its arrays with it."""
    body = lambda i, a: (i + 1, al.tanh(a @ V + al.tanh((B + al.cast(i, al.float32)) @ W)))
    return al.while_loop(lambda i, *_: i < n, body, (0, a), parallel_iterations=WINDOW)


@pytest.fixture
def windows(runs, monkeypatch):
    """How many iterations runs might have at once, and how many bytes of buffers they had in the end."""
    found = []
    run = core_runs.CoreRun.run

    def noted(self, args):
        made = run(self, args)
        m = self._m
        classes = [m[m[token_core.CLASSES] + k] for k in range(m[token_core.COUNTED], m[token_core.UNUSED])]
        window = int(m[m[token_core.ROOT] + token_core.F_WINDOW])
        found.append((window, sum([self.tables.sizes[k][0] for k in classes])))
        return made

    monkeypatch.setattr(core_runs.CoreRun, "run", noted)
    yield found
    config.set_memory_limit(None)


def test_as_many_iterations_as_fit(windows):
    f = al.function(ahead, executor="dataflow", autograph=False)
    n = al.constant(WINDOW)
    for _ in range(5):
        wanted = flat(f(A, B, n))
    assert windows[-1][0] == WINDOW
    windows.clear()
    seen = []
    for limit in (1 << 30, 6 << 20, 1 << 16):
        config.set_memory_limit(limit)
        for threads in (1, 2):
            config.set_num_threads(threads)
            for x, y in zip(flat(f(A, B, n)), wanted, strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
        assert all(taken <= limit // 2 for _, taken in windows)
        seen.append([window for window, _ in windows])
        windows.clear()
    assert seen[0] == [WINDOW] * 2 and seen[2] == []
    assert len(seen[1]) == 2 and all(1 <= window < WINDOW // 2 for window in seen[1])


def test_where_others_take_much_there_is_one_at_once(windows):
    f = al.function(ahead, executor="dataflow", autograph=False)
    for _ in range(5):
        wanted = flat(f(A, B, al.constant(7)))
    config.set_memory_limit(8 << 20)
    windows.clear()
    with memory_limit._shared.promised(6 << 20, 8 << 20) as has_room:
        assert has_room
        found = flat(f(A, B, al.constant(7)))
    assert [window for window, _ in windows] == [1] and memory_limit._shared.live() < 1 << 20
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
