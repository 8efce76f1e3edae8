"""Sessions compute what is the same in every iteration once, and nobody sees it but by the time."""

from __future__ import annotations

import json
import random

import autoloop as al
import autoloop.compat.v1 as tf
import numpy as np
import pytest
from api import hoisted, session_module
from each_case import each

X = np.linspace(-1.0, 1.0, 9).reshape(3, 3)


def in_place(graph, *args):
    """Return what a session gives that leaves each operation where it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_module, "hoisted", lambda graph, fetches, feeds: (graph, [*fetches, *feeds]))
        return al.Session(graph=graph).run(*args)


class Random:
    """A random graph: placeholders, what is made of them, loops and conditionals that take any of it."""

    def __init__(self, seed):
        self.choose, self.calls, self.graph = random.Random(seed), [], al.Graph()
        with self.graph.as_default():
            self.x = tf.placeholder(np.float64, [3, 3], name="x")
            self.n = tf.placeholder(np.int32, [], name="n")
            self.known = [self.x, al.constant(X * 0.5)]
            for _ in range(3):
                self.known.append(self.made(self.known))
            for _ in range(2):
                self.known += self.loop(self.known, 2)

    def noted(self, value):
        self.calls.append(np.array(value).tolist())
        return value

    def made(self, known):
        a, b = self.choose.choice(known), self.choose.choice(known)
        kinds = [
            lambda: al.transpose(a), lambda: al.sin(a), lambda: a * b, lambda: al.matmul(a, al.transpose(b)) * 0.1,
            lambda: a[self.choose.randrange(3)] + b, lambda: al.where(al.sum(a) > 0, a, b),
            lambda: al.reshape(al.reshape(a, [9]) * 2.0, [3, 3]) - b, lambda: al.zeros([3, 3], np.float64) + a,
        ]  # fmt: skip
        return self.choose.choice(kinds)()

    def loop(self, known, deep):
        """A loop of two arrays, with others in it."""
        calls = self.choose.random() < 0.3

        def body(i, a, b):
            own, waits = [*known, a, b], []
            for _ in range(4):
                own.append(self.made(own))
            if calls and deep == 2:
                noted = al.py_function(self.noted, [self.choose.choice(known)], np.float64)
                noted.set_shape([3, 3])
                own.append(noted + a)
            if self.choose.random() < 0.4:
                then, other = [list(own), list(own)]
                own.append(al.cond(al.sum(a) > 0, lambda: self.made(then), lambda: self.made([self.made(other)])))
            if deep > 1 and self.choose.random() < 0.5:
                own += self.loop(own, deep - 1)
            if self.choose.random() < 0.3:
                waits = [self.choose.choice(own[2:])]
            with tf.control_dependencies(waits):
                ends = al.sin(own[-1] + self.choose.choice(own)), al.sin(self.choose.choice(own) * 0.5)
            return i + 1, *ends

        start = [al.constant(0), self.choose.choice(known), self.choose.choice(known)]
        return list(al.while_loop(lambda i, a, b: i < self.n, body, start)[1:])

    def asked(self):
        """What is fetched, and what is fed."""
        fetches = self.choose.sample(self.known[2:], 3)
        fed = self.choose.sample(self.known[1:], self.choose.randrange(3))
        values = {t: X.T * self.choose.random() for t in fed}
        return fetches, {self.x: X, self.n: self.choose.choice([0, 1, 3]), **values}


def same_results(seed):
    made = Random(seed)
    with al.Session(graph=made.graph) as session:
        for _ in range(2):
            asked = made.asked()
            got, calls = session.run(*asked), made.calls.copy()
            made.calls.clear()
            want = in_place(made.graph, *asked)
            for one, other in zip(got, want, strict=True):
                np.testing.assert_array_equal(one, other)
            assert sorted(calls) == sorted(made.calls)
            made.calls.clear()


@each(range(6))
def test_random_graphs_give_the_same(seed):
    same_results(seed)


@pytest.mark.nightly
@each(range(6, 306))
def test_many_random_graphs_give_the_same(seed):
    same_results(seed)


def backwards(n=4):
    """A loop with a product of what is the same in every iteration."""
    graph = al.Graph()
    with graph.as_default():
        w = tf.placeholder(np.float64, [3, 3], name="w")
        turned = al.add(w, 0.0, name="whole")
        body = lambda i, x: (i + 1, al.matmul(x, al.transpose(turned, name="turned")))
        ends = al.while_loop(lambda i, x: i < n, body, [al.constant(0), al.constant(X)], name="loop")
    return graph, w, turned, ends[1]


def test_a_transposed_matrix_is_made_once():
    graph, w, _, end = backwards()
    made, (fetched, fed) = hoisted(graph, [end], [w])
    assert made is not graph and fetched.graph is fed.graph is made
    loop = fetched.op
    assert "transpose" in [node.op.name for node in made.nodes]
    assert "transpose" not in [node.op.name for node in loop.attrs["body"].nodes]
    assert graph.get_operation_by_name("loop") is end.op  # as it was


def test_a_graph_in_which_nothing_moves_is_itself():
    graph = al.Graph()
    with graph.as_default():
        x = tf.placeholder(np.float64, [3, 3])
        end = al.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, al.sin(y)), [al.constant(0), x])[1]
    made, ends = hoisted(graph, [end], [x])
    assert made is graph and ends == [end, x]


def test_what_the_moved_comes_of_can_be_fed():
    graph, w, turned, end = backwards(2)
    with al.Session(graph=graph) as session:
        np.testing.assert_allclose(session.run(end, {w: X}), X @ X.T @ X.T)
        np.testing.assert_allclose(session.run(end, {turned: 2 * X}), 4 * X @ X.T @ X.T)
        np.testing.assert_array_equal(session.run([end, turned], {end: X, w: X})[0], X)
        with pytest.raises(ValueError, match="'w:0' needs a value"):
            session.run(end)


def test_failures_keep_their_line_and_iteration():
    graph = al.Graph()
    with graph.as_default():
        w = tf.placeholder(np.float64, [3, 3])

        def body(i, x):
            return i + 1, al.matmul(x, al.transpose(w)) + al.gather(al.constant([1.0, 2.0]), i)

        end = al.while_loop(lambda i, x: i < 4, body, [al.constant(0), al.constant(X)], name="loop")[1]
        places = []
        for run in (al.Session().run, lambda *args: in_place(graph, *args)):
            with pytest.raises(IndexError, match="iteration 2") as caught:
                run(end, {w: X})
            places.append([entry.lineno for entry in caught.traceback if str(entry.path) == __file__][1:])
    assert places[0] and places[0] == places[1][-len(places[0]) :]


def test_errors_of_numbers_are_those_of_their_iteration():
    """Of a loop that runs no iteration there are none."""
    graph = al.Graph()
    with graph.as_default():
        w, n = tf.placeholder(np.float64, [3, 3]), tf.placeholder(np.int32, [])
        end = al.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x + w * 1e308), [al.constant(0), w])[1]
        with al.Session() as session:
            assert np.isinf(session.run(end, {w: X * 1e9, n: 1})).any()
            with np.errstate(over="raise"):
                np.testing.assert_array_equal(session.run(end, {w: X * 1e9, n: 0}), X * 1e9)
                with pytest.raises(FloatingPointError, match="iteration 0"):
                    session.run(end, {w: X * 1e9, n: 1})


def test_a_trace_shows_each_operation(tmp_path):
    graph, w, _, end = backwards()
    with al.Session(graph=graph) as session, al.profiler.trace(tmp_path / "trace.json"):
        session.run(end, {w: X})
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = [event["name"] for event in events if event.get("ph") == "X"]
    assert sum("turned" in name for name in names) == 1 and sum("matmul" in name for name in names) == 4


def test_the_value_of_a_variable_is_read_where_it_was():
    """What is assigned in an iteration is there in the next."""
    graph = al.Graph()
    with graph.as_default():
        v = tf.Variable(X, name="v", dtype=np.float64)

        def body(i, x):
            with tf.control_dependencies([tf.assign(v, v.read_value() * 2.0)]):
                return i + 1, x + al.transpose(v.read_value())

        end = al.while_loop(lambda i, x: i < 3, body, [al.constant(0), al.constant(X)], parallel_iterations=1)[1]
        with al.Session() as session:
            session.run(tf.global_variables_initializer())
            np.testing.assert_allclose(session.run(end), X + 14 * X.T)
