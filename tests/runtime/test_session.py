"""Graphs, sessions, placeholders and variables in the manner of 1.x."""

from __future__ import annotations

import threading

import autoloop as al
import numpy as np
import pytest
from autoloop.compat import v1 as tf


@pytest.fixture(autouse=True)
def fresh_default_graph():
    tf.reset_default_graph()
    yield
    tf.reset_default_graph()


def test_fetches_of_any_structure_and_feeds_of_any_tensor():
    x = tf.placeholder(tf.float32, [None], name="x")
    y = x * 2.0
    z = tf.reduce_sum(y)
    with tf.Session() as sess:
        out = sess.run({"y": y, "both": [z, (x,)], "name": "x:0"}, {x: [1, 2]})
        np.testing.assert_array_equal(out["y"], [2, 4])
        assert out["both"][0] == 6 and isinstance(out["both"][1], tuple)
        np.testing.assert_array_equal(out["name"], [1, 2])
        assert sess.run(z, {y: np.float32([5, 6])}) == 11
        assert sess.run(z, {"x:0": [4]}) == 8
        assert z.eval({x: [1, 1]}) == 4


def test_what_cannot_be_run_is_said():
    x = tf.placeholder(tf.float32, [2], name="x")
    y = x + 1
    with tf.Session() as sess:
        with pytest.raises(ValueError, match="placeholder 'x:0' .*feed it"):
            sess.run(y)
        with pytest.raises(ValueError, match=r"shape \(2,\).*\(3,\)"):
            sess.run(y, {x: [1, 2, 3]})
        with pytest.raises(TypeError, match="float32"):
            sess.run(y, {x: np.array([1j, 2])})
        with pytest.raises(TypeError, match="cannot fetch"):
            sess.run(object())
        with pytest.raises(ValueError, match="no operation named 'nope'"):
            sess.run("nope")
        with pytest.raises(TypeError, match="keys of feed_dict"):
            sess.run(y, {3: 4})
    with pytest.raises(RuntimeError, match="closed"):
        sess.run(y)
    with tf.Graph().as_default():
        other = tf.constant(1)
    with tf.Session() as sess, pytest.raises(ValueError, match="another graph"):
        sess.run(other)


def test_variables_belong_to_the_session():
    v = tf.get_variable("v", shape=[2], initializer=tf.zeros_initializer())
    add = v.assign_add([1.0, 2.0])
    one, two = tf.Session(), tf.Session()
    with pytest.raises(RuntimeError, match="'v:0' is not initialised"):
        one.run(v)
    one.run(tf.global_variables_initializer())
    two.run(tf.global_variables_initializer())
    one.run(add)
    one.run(add.op)
    np.testing.assert_array_equal(one.run(v), [2, 4])
    np.testing.assert_array_equal(two.run(v), [0, 0])
    with pytest.raises(ValueError, match="exists already"):
        tf.get_variable("v", shape=[2])
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("v", shape=[2]) is v


def test_control_dependencies_order_what_data_does_not():
    v = tf.Variable(1.0)
    change = v.assign(5.0)
    with tf.control_dependencies([change]):
        after = v.read_value()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(after) == 5.0


def test_effects_that_are_not_fetched_do_not_run(capfd):
    x = tf.constant(1.0)
    loud = tf.Print(x, [x], "loud: ")
    with tf.Session() as sess:
        assert sess.run(x + 1) == 2.0
        assert capfd.readouterr().err == ""
        assert sess.run(loud + 1) == 2.0
        assert capfd.readouterr().err == "loud: [1.0]\n"


def test_a_session_of_the_plain_namespace_makes_its_graph_the_default():
    with al.Session() as sess:
        x = al.zeros([2, 3])
        assert x.is_symbolic
        assert sess.run(x).shape == (2, 3)
    graph = al.Graph()
    with graph.as_default():
        y = al.constant(3) * 2
    with al.Session(graph=graph) as sess:
        assert sess.run(y) == 6
        assert sess.run(y + 1) == 7


def test_several_threads_run_one_session():
    x = tf.placeholder(tf.int32, [])
    out = tf.while_loop(lambda i, s: i < 50, lambda i, s: (i + 1, s + x), (0, 0))[1]
    results = {}
    with tf.Session() as sess:

        def work(k):
            results[k] = [sess.run(out, {x: k}) for _ in range(5)]

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert results == {k: [50 * k] * 5 for k in range(4)}


def test_tensors_by_name_and_frozen_graphs():
    with al.Graph().as_default() as graph:
        x = al.add(al.constant(1), 2, name="three")
    assert graph.get_tensor_by_name("three:0") is x
    assert graph.get_operation_by_name("three").type == "Add" or graph.get_operation_by_name("three").type == "add"
    with pytest.raises(KeyError):
        graph.get_tensor_by_name("four:0")
    graph.finalize()
    with pytest.raises(RuntimeError, match="finished"), graph.as_default():
        al.constant(1) + x


def test_a_run_that_takes_too_long_is_stopped():
    out = tf.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 1000, [0])
    with tf.Session() as sess:
        with pytest.raises(TimeoutError):
            sess.run(out, timeout=0.2)
        assert sess.run(tf.constant(3)) == 3
