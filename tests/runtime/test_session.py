"""Graphs, sessions, placeholders and variables in the manner of 1.x."""

from __future__ import annotations

import threading

import autoloop as al
import numpy as np
import pytest
from api import config
from autoloop.compat import v1 as tf
from each_case import each


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


def test_fed_numbers_fit_or_are_refused():
    i, b = tf.placeholder(tf.int32, name="i"), tf.placeholder(tf.bool)
    with tf.Session() as sess:
        for value in (2**40, np.int64(2**40), [1, -(2**31) - 1], np.array([2**31])):
            with pytest.raises(OverflowError, match="'i:0'.*out of bounds for int32"):
                sess.run(i, {i: value})
        for value in (1.5, [1.0, 2.5], np.float32(1), None):
            with pytest.raises(TypeError, match="'i:0' has dtype int32"):
                sess.run(i, {i: value})
        assert sess.run(i, {i: np.array([2**31 - 1])}).dtype == np.int32
        assert sess.run(i, {i: np.uint64(7)}) == 7 and sess.run(i, {i: []}).shape == (0,)
        assert sess.run(b, {b: [0, 1]}).tolist() == [False, True]
        with pytest.raises(ValueError, match="cannot feed 'nope:0'"):
            sess.run(i, {"nope:0": 1})
        with pytest.raises(TypeError, match="feed_dict maps"):
            sess.run(i, [(i, 1)])


def test_running_neither_grows_the_graph_nor_forgets_what_it_made_ready():
    v = tf.get_variable("v", shape=[], initializer=tf.zeros_initializer())
    x = tf.placeholder(tf.float32, [None])
    y = x + v
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run([v, y], {x: [1.0]})
        nodes, ready = len(sess.graph.nodes), len(sess._executables)
        for _ in range(5):
            assert sess.run([v, y], {x: [1.0]}) == [0, [1]]
            v.eval()
        assert len(sess.graph.nodes) == nodes and len(sess._executables) == ready + 1
        other = y * 2  # what is added later does not matter to what is there
        sess.run([v, y], {x: [1.0]})
        assert len(sess._executables) == ready + 1
        y.set_shape([2])  # a promise does
        with pytest.raises(ValueError, match="set_shape promised"):
            sess.run([v, y], {x: [1.0]})
        assert sess.run(other, {x: [1.0, 2.0]}).tolist() == [2, 4]


def test_control_dependencies_of_none_forget_those_around():
    v = tf.get_variable("v", shape=[], initializer=tf.zeros_initializer())
    with tf.control_dependencies([v.assign_add(1.0)]):
        with tf.control_dependencies(None):
            free = tf.identity(7)
        bound = tf.identity(8)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        with tf.control_dependencies([bound]):
            assert sess.run([free, v]) == [7, 0]  # a fetch does not depend on where it is made
        assert sess.run(bound) == 8 and sess.run(v) == 1


def test_operations_without_a_value_can_be_run_and_depended_on(capsys):
    x = tf.placeholder(tf.int32, [])
    check = tf.Assert(x < 3, ["x is", x])
    with tf.get_default_graph().as_default():
        shown = al.print("x", x)
        seen = al.py_function(lambda v: None, [x], [])
    with tf.control_dependencies([check, shown]):
        y = x + 1
    with tf.get_default_graph().control_dependencies([check]):
        z = x + 2
    with tf.Session() as sess:
        assert sess.run(check, {x: 1}) is None
        assert sess.run([y, shown, seen], {x: 1}) == [2, None, None]
        assert capsys.readouterr().out == "x 1\n"
        for fetch in (check, y, z, tf.group(check)):
            with pytest.raises(AssertionError, match="x is 5"):
                sess.run(fetch, {x: 5})

    @al.function
    def quiet(x):
        return al.print(x), al.Assert(x > 0, [x])

    assert quiet(al.constant(1)) == (None, None)


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
    with pytest.raises(ValueError, match="already exists"):
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


def test_what_is_ready_at_once_waits_for_its_control_inputs():
    log, too_early = [], threading.Event()

    def note(name, value, f=lambda: None):
        return tf.py_function(lambda v: (f(), log.append(name), v)[2], [value], tf.float32)

    x = tf.placeholder(tf.float32, [])
    first = note("first", x, lambda: too_early.wait(0.05))  # time enough for another thread to begin what it may
    with tf.control_dependencies([first]):
        second = note("second", x, too_early.set)
    before = config.get_num_threads()
    config.set_num_threads(2)
    with tf.Session() as sess:
        sess.run(second, {x: 1.0})
    config.set_num_threads(before)
    assert log == ["first", "second"]


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


@each([("soon", TypeError), (True, TypeError), (0, ValueError), (-1, ValueError)])
def test_a_timeout_is_a_positive_number(timeout, error):
    with tf.Session() as sess, pytest.raises(error, match="timeout"):
        sess.run(tf.constant(3) + 1, timeout=timeout)


def test_a_variable_can_be_fetched_from_a_finished_graph():
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", shape=[], initializer=tf.ones_initializer())
        start = tf.global_variables_initializer()
    graph.finalize()
    with tf.Session(graph=graph) as sess:
        sess.run(start)
        assert sess.run(v) == 1.0


def test_a_callable_resolves_its_fetches_once_and_gives_values_of_its_own():
    with tf.Graph().as_default() as graph:
        p = tf.placeholder(tf.float32, [2], name="p")
        doubled = p * 2
    fixed = al.constant(np.ones(2))
    with tf.Session(graph=graph) as session:
        call = session.make_callable({"a": doubled, "b": [fixed, "p:0"], "c": doubled.op}, [p])
        for value in (1.0, 2.0):
            found = call(np.full(2, value, np.float32))
            assert found["a"].tolist() == [2 * value] * 2 and found["c"] is None
            assert [v.tolist() for v in found["b"]] == [[1.0, 1.0], [value, value]]
            found["b"][0][:] = 7
        with pytest.raises(TypeError, match="1 values are to be fed, 2"):
            call(1, 2)
        with pytest.raises(ValueError, match="shape"):
            call(np.float32(1))
    with pytest.raises(RuntimeError, match="closed"):
        call(np.ones(2, np.float32))
