"""The replay on a report: what is told of a run, and that nothing is left of the run."""

from __future__ import annotations

import io
import json

import autoloop as al
import autoloop.compat.v1 as tf
import numpy as np
import pytest
from autoloop.viewing.report import replayed_loops
from autoloop.viewing.report.replayed_loops import replay_of
from autoloop.viewing.report.run_timelines import timeline_of
from autoloop.viewing.report.seen_stages import Source


def words(report):
    return [event[-1] for event in report.data["replay"]["events"]]


def test_of_the_article_s_example():
    with tf.Graph().as_default():
        i = tf.get_variable("i", dtype=tf.int32, shape=[], initializer=tf.ones_initializer())
        n = tf.constant(10)
        ii, nn = tf.while_loop(lambda a, n: a < n, lambda a, n: (a + 2, n), [i, n])
        v1, v2, kept = ii + 3, nn + 4, i.assign_add(5)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            report = al.report(session.run, [v1, v2])
            alone = al.report(session.run, [v1, kept])
            assert session.run(i) == 1
    told = words(report)
    assert told[0] == "ReadVariable i() = 1"
    for line in [
        "The first token opens the frame of while. Iteration 0 begins.",
        "Merge a: 3 has come from NextIteration, and goes on",
        "less(3, 10) = True",
        "Switch a: LoopCond was True, 9 goes into the body by T; a dead token goes to the Exit by F",
        "Exit n: a dead token ends here, the loop goes on",
        "Switch a: LoopCond was False, 11 goes to the Exit by F; a dead token goes into the body by T",
        "add: an input is dead, so it is not computed; what it gives is dead",
        "NextIteration n: a dead token ends here, it begins no iteration 6",
        "Exit a: 11 leaves the loop",
        "The frame of while is closed: the body ran 5 times.",
        "Result 0 is there: 14",
    ]:
        assert line in told, line
    assert "Exit n: 10 leaves the loop; nobody has asked for it" in words(alone)
    assert "unused" in {box["style"] for box in alone.data["replay"]["graph"]["boxes"]}
    json.dumps(report.data, allow_nan=False)
    assert report.data["source"]["file"] == "test_replayed_loops.py"


def test_nothing_is_left_of_the_run(capsys):
    written = io.StringIO()

    def walk(x, n):
        i = 0
        while i < n:
            x[0] += np.random.normal()
            print("at", i)
            print("at", i, file=written)
            i += 1 + 0 // (3 - i)
        return x

    x, state = np.zeros(3), np.random.get_state()[2]
    replay = replay_of(al.function(walk), (x, np.int64(9)), {}, Source("", 0, ""))
    assert timeline_of(al.function(walk, executor="sequential"), (x, np.int64(9)), {}, Source("", 0, ""))
    assert not x.any() and np.random.get_state()[2] == state and capsys.readouterr().out == ""
    assert written.getvalue() == ""
    told = [event[-1] for event in replay["events"]]
    assert replay["failure"].startswith("ZeroDivisionError") and "raises ZeroDivisionError" in told[-1]
    assert any(line.startswith("print") for line in told)


def test_a_long_loop_is_cut():
    def count(n):
        i = 0
        while i < n:
            i += 1
        return i

    replay = replay_of(al.function(count), (np.int64(10**9),), {}, Source("", 0, ""))
    assert replay["cut"] and len(replay["events"]) == 2000


def test_a_session_s_run_is_as_it_would_be_but_for_what_is_heard():
    called = []
    with tf.Graph().as_default():
        v = tf.Variable(1.0)
        said = tf.py_func(lambda x: called.append(x), [v], [], stateful=True)
        with tf.control_dependencies([v.assign_add(1.0), said]):
            x = tf.while_loop(lambda x: x < 9.0, lambda x: x * 3.0, [tf.identity(v)])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            report = al.report(session.run, x)
            assert session.run(v) == 1.0
    assert not called and words(report)[-1] == "The result is there: 18.0"


def test_a_slow_one_is_cut(monkeypatch):
    monkeypatch.setattr(replayed_loops, "MOST_SECONDS", 0.0)
    assert replay_of(al.function(lambda n: al.while_loop(lambda i: i < n, lambda i: [i + 1], [0])), (np.int64(9),), {},
                     Source("", 0, ""))["cut"]  # fmt: skip


def test_where_plain_python_runs_there_is_nothing_to_replay():
    kept = []

    def plain(n):
        i = 0
        while i < n:
            i += 1
        kept.append(kept)
        return i

    assert replay_of(al.function(plain), (np.int64(3),), {}, Source("", 0, "")) is None or not kept


@pytest.mark.parametrize("given", [np.ones(2), al.TensorSpec([2], al.float64)], ids=["no loop", "no values"])
def test_where_there_is_nothing_to_replay(given):
    assert replay_of(al.function(lambda x: x + 1), (given,), {}, Source("", 0, "")) is None
