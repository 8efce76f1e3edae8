"""How far loops are, shown while they run: by each executor, and nothing else changes by it."""

from __future__ import annotations

import importlib.util
import re
import threading

import autoloop as al
import autoloop.compat.v1 as tf
import numpy as np
import pytest
from executors import EXECUTORS

needs_tqdm = pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="the extra is not installed")


def counted(x, seen, n):
    for i in range(n):
        x = x * 0.5 + i
        seen[0] += 1
    return x


def stopped(x, seen, n):
    turns = 0
    while True:
        x = x * 0.5 + 1
        if turns == n:
            break
        turns += 1
    for i in range(n // 2):
        for _ in range(i):
            x = x + 1
    seen[0] = turns
    return x


def refused(x, seen, n):
    for i in range(n):
        seen[0] += 1
        if i == 5:
            raise ValueError("too far")
    return x


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr("autoloop_runtime.running.shown_runs.DELAY", 0.0)


@needs_tqdm
@pytest.mark.parametrize(
    ("f", "bars", "executor"),
    [*[(counted, ["300/300"], one) for one in EXECUTORS], (stopped, ["300it", "150/150"], EXECUTORS[-1])],
)
def test_loops_are_shown_and_do_the_same(f, bars, executor, at_once, capsys):
    shown, plain = (al.function(f, executor=executor, progress=progress) for progress in (True, False))
    for _ in range(2):
        results = []
        for g in (f, plain, shown):
            seen = np.zeros(2)
            results.append((type(result := g(np.float64(3.0), seen, np.int64(300))), result, seen.tolist()))
        assert results[0] == results[1] == results[2]
        last = re.findall(r"while\w* \(test_progress\.py:\d+\): [^\r\n]*?(\d+(?:/\d+|it))", capsys.readouterr().err)
        assert set(bars) <= set(last)
    assert not [one for one in threading.enumerate() if one.name == "autoloop progress"]


@needs_tqdm
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_failure_ends_what_is_shown(executor, at_once, capsys):
    shown = al.function(refused, executor=executor, progress=True)
    for _ in range(2):
        seen = np.zeros(2)
        with pytest.raises(ValueError, match="too far"):
            shown(np.float64(1.0), seen, 300)
        assert not [one for one in threading.enumerate() if one.name == "autoloop progress"]


@needs_tqdm
def test_sessions_and_the_setting_show_it(at_once, capsys):
    with tf.Graph().as_default() as graph:
        total = tf.while_loop(lambda i, x: i < 40, lambda i, x: (i + 1, tf.tanh(x) + 1), (tf.constant(0), tf.ones([3])))
    with tf.Session(graph=graph) as session:
        one, other = session.run(total), session.run(total, progress=True)
    assert "40/40" in capsys.readouterr().err
    np.testing.assert_array_equal(one[1], other[1])
    try:
        al.config.show_progress()
        assert al.function(counted)(np.float64(3.0), np.zeros(2), 50) == counted(np.float64(3.0), np.zeros(2), 50)
    finally:
        al.config.show_progress(None)
    assert "50/50" in capsys.readouterr().err
    al.function(counted)(np.float64(3.0), np.zeros(2), 50)
    assert capsys.readouterr().err == ""


def test_what_is_missing_is_named(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: name != "tqdm" and found(name, *more) or None)
    with pytest.raises(ImportError, match=r"autoloop\[progress\]"):
        al.function(counted, progress=True)
    with pytest.raises(TypeError, match="progress is True, False or None"):
        al.function(counted, progress="yes")
    with pytest.raises(TypeError, match="show_progress takes"):
        al.config.show_progress(1)


def test_an_environment_that_asks_for_what_is_missing_is_warned_once(monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: name != "tqdm" and found(name, *more) or None)
    monkeypatch.setenv("AUTOLOOP_PROGRESS", "1")
    monkeypatch.setattr(al.config, "_is_told", False)
    with pytest.warns(UserWarning, match=r"AUTOLOOP_PROGRESS .*autoloop\[progress\]") as told:
        for f in (counted, stopped):
            seen = np.zeros(2)
            assert al.function(f)(np.float64(3.0), seen, 5) == f(np.float64(3.0), np.zeros(2), 5)
    assert len(told) == 1 and told[0].filename == __file__
