"""``case`` and ``switch_case``: what they ask of their predicates and branches, wherever they run."""

from __future__ import annotations

from itertools import product

import autoloop as al
import pytest
from autoloop.compat import v1 as tf
from each_case import each
from executors import EXECUTORS

TWO, NONE = "more than one predicate is true", "no predicate is true"
#: default, exclusive, predicates -> the value or what the error says
CASES = [
    (True, False, (True, True), 1),
    (True, False, (False, False), 3),
    (True, True, (True, True), TWO),
    (True, True, (False, True), 2),
    (True, True, (False, False), 3),
    (False, True, (True, True), TWO),
    (False, True, (True, False), 1),
    (False, True, (False, False), NONE),
    (False, False, (True, True), 1),
    (False, False, (False, True), 2),
    (False, False, (False, False), NONE),
]


def _case(p, q, default, exclusive, one=lambda: al.constant(1), two=lambda: al.constant(2)):
    return al.case([(p, one), (q, two)], (lambda: al.constant(3)) if default else None, exclusive)


def _eagerly(p, q, *how):
    return _case(al.constant(p), al.constant(q), *how)


def _of_bools(p, q, *how):
    return _case(p, q, *how)


def _in_session(p, q, *how):
    with tf.Graph().as_default(), tf.Session() as sess:
        preds = [tf.placeholder(tf.bool, []) for _ in range(2)]
        return sess.run(_case(*preds, *how), dict(zip(preds, (p, q))))


def _of_bools_in_session(p, q, *how):
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(_case(p, q, *how))


def _in_function(executor):
    return lambda p, q, *how: al.function(lambda p, q: _case(p, q, *how), executor=executor)(*map(al.constant, (p, q)))


WAYS = {
    "eager": _eagerly, "bools": _of_bools, "session": _in_session, "bools in session": _of_bools_in_session,
    **{e: _in_function(e) for e in EXECUTORS},
}  # fmt: skip


@each([(way, *case) for way in WAYS for case in CASES])
def test_case_gives_the_value_of_the_one_true_predicate_or_says_what_is_wrong(way, default, exclusive, preds, expected):
    if isinstance(expected, int):
        assert WAYS[way](*preds, default, exclusive) == expected
    else:
        with pytest.raises(AssertionError, match=expected):
            WAYS[way](*preds, default, exclusive)


@each([((True, True), TWO), ((False, False), NONE), ((False, True), 10)])
def test_no_branch_of_a_case_that_fails_has_run(preds, expected):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(0)
        places = [tf.placeholder(tf.bool, []) for _ in range(2)]
        branches = lambda: v.assign_add(1), lambda: v.assign_add(10)
        fetch = _case(*places, False, True, *branches)
        sess.run(v.initializer)
        if isinstance(expected, int):
            assert sess.run(fetch, dict(zip(places, preds))) == sess.run(v) == expected
        else:
            with pytest.raises(AssertionError, match=expected):
                sess.run(fetch, dict(zip(places, preds)))
            assert sess.run(v) == 0


def test_a_case_of_values_that_are_there_already_is_checked_too():
    with tf.Graph().as_default(), tf.Session() as sess:
        p, x = tf.placeholder(tf.bool, []), tf.constant(5)
        there = tf.case([(p, lambda: x), (p, lambda: x)], exclusive=True)
        only = tf.case([(p, lambda: (x, None))])
        operation = tf.case([(True, lambda: x.op)], exclusive=True)
        assert sess.run([only[0], operation], {p: True}) == [5, None] and only[1] is None
        with pytest.raises(AssertionError, match=TWO):
            sess.run(there, {p: True})
        with pytest.raises(AssertionError, match=NONE):
            sess.run(only[0], {p: False})


def test_a_case_without_a_default_graph_goes_where_its_predicates_are():
    graph = al.Graph()
    with graph.as_default():
        p = tf.placeholder(tf.bool, [])
        x = al.constant(2.0)
    made = al.case([(p, lambda: x * 2)], exclusive=True)
    with al.Session(graph) as sess:
        assert sess.run(made, {p: True}) == 4
        with pytest.raises(AssertionError, match=NONE):
            sess.run(made, {p: False})


@each(EXECUTORS)
def test_gradients_go_through_a_case(executor):
    @al.function(executor=executor)
    def f(x):
        return al.grad(lambda x: al.case([(x < 0, lambda: -x), (x > 1, lambda: x * x)], exclusive=True))(x)

    assert float(f(al.constant(-2.0))) == -1 and float(f(al.constant(3.0))) == 6
    with pytest.raises(AssertionError, match=NONE):
        f(al.constant(0.5))


@pytest.mark.parametrize(
    "branches, numbers",
    [
        ({0: int, 2: int}, [0, 2]),
        ({1: int, 2: int}, [1, 2]),
        ({-1: int, 0: int}, [-1, 0]),
        ([(0, int), (0, int)], [0, 0]),
        ([(1, int), (0, int), (1, int)], [0, 1, 1]),
    ],
)
@pytest.mark.parametrize("index", [0, "tensor"])
@pytest.mark.parametrize("default", [None, int])
def test_branches_are_numbered_without_gaps_and_once(branches, numbers, index, default):
    with pytest.raises(ValueError, match=f"numbered 0 to {len(numbers) - 1}, each once.*{numbers}".replace("[", r"\[")):
        al.switch_case(al.constant(0) if index else 0, branches, default)


@each(product(EXECUTORS, [None, lambda: al.constant(30)]))
def test_the_order_of_numbered_branches_does_not_matter(executor, default):
    branches = [(2, lambda: al.constant(12)), (0, lambda: al.constant(10)), (1, lambda: al.constant(11))]

    @al.function(executor=executor)
    def f(k):
        return al.switch_case(k, branches, default), al.switch_case(k, dict(branches), default)

    last = 12 if default is None else 30
    for k, expected in ((-1, last), (0, 10), (1, 11), (2, 12), (3, last)):
        assert [int(v) for v in f(al.constant(k))] == [expected] * 2
        assert (
            int(al.switch_case(k, branches, default))
            == int(al.switch_case(al.constant(k), branches, default))
            == expected
        )


def _operations(v, w):
    """Branches that give operations, and what they leave in ``v`` and ``w`` where the predicate is true, and is not."""
    there = w.assign_add(7).op
    return {
        "no_op": (lambda: tf.no_op(), lambda: tf.no_op(), (0, 0), (0, 0)),
        "group": (lambda: tf.group([v.assign_add(1), [w.assign_add(2)]]), lambda: tf.no_op(), (1, 2), (0, 0)),
        "assignments": (lambda: v.assign_add(1).op, lambda: w.assign_add(2).op, (1, 0), (0, 2)),
        # which are made outside, and so run whatever the condition says
        "initializers": (lambda: tf.global_variables_initializer(), lambda: tf.no_op(), (0, 0), (0, 0)),
        "what is there": (lambda: there, lambda: w.assign_add(1).op, (0, 7), (0, 8)),
        "in a structure": (lambda: [v.assign_add(1).op, 3], lambda: [tf.no_op(), 4], (1, 0), (0, 0)),
        "branches in branches": (
            lambda: tf.cond(v.read_value() > 0, lambda: w.assign(1).op, lambda: v.assign_add(2).op), lambda: tf.no_op(),
            (2, 0), (0, 0),
        ),
    }  # fmt: skip


@each(product(_operations(*[tf.Variable(0) for _ in range(2)]), [True, False]))
def test_branches_may_give_operations(what, pred):
    with tf.Graph().as_default(), tf.Session() as sess:
        v, w = tf.Variable(0), tf.Variable(0)
        p = tf.placeholder(tf.bool, [])
        then, other, *left = _operations(v, w)[what]
        made = {
            "cond": tf.cond(p, then, other),
            "case": tf.case([(p, then)], default=other),
            "switch_case": tf.switch_case(tf.cast(p, tf.int32), [other, then]),
        }
        for fetch in made.values():
            sess.run([v.initializer, w.initializer])
            sess.run(fetch, {p: pred})
            assert tuple(sess.run([v, w])) == left[not pred]
        value = sess.run(made["cond"], {p: pred})
        assert (value == [pred, 3 if pred else 4]) if isinstance(value, list) else (value == pred)


def test_an_operation_of_a_branch_runs_in_each_iteration_that_waits_for_it():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(0)

        def body(i):
            with tf.control_dependencies([tf.cond(i > 0, lambda: v.assign_add(1).op, lambda: tf.no_op())]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 4, body, [tf.constant(0)])
        sess.run(v.initializer)
        assert sess.run([loop, v.initializer])[0] == 4
        sess.run(v.initializer)
        sess.run(loop)
        assert sess.run(v) == 3


def test_an_operation_beside_a_tensor_is_a_truth_value():
    with tf.Graph().as_default():
        p = tf.placeholder(tf.bool, [])
        with pytest.raises(TypeError, match="the same dtypes, they return bool and int32"):
            tf.cond(p, lambda: tf.no_op(), lambda: 1)


def test_groups_and_control_dependencies_take_structures():
    with tf.Graph().as_default(), tf.Session() as sess:
        v, w = tf.Variable(0), tf.Variable(0)
        slices = tf.IndexedSlices(tf.reshape(w.assign_add(1), [1]), tf.constant([0]))
        both = tf.group([v.assign_add(1), slices], {"a": v.assign_add(10)}, ())
        with tf.control_dependencies([slices, [v.assign_add(100)]]):
            third = tf.constant(3)
        sess.run(tf.global_variables_initializer())
        assert sess.run([both, tf.group([])]) == [None, None]
        assert tuple(sess.run([v, w])) == (11, 1)
        assert sess.run(third) == 3 and tuple(sess.run([v, w])) == (111, 2)
        with pytest.raises(TypeError, match="None cannot be converted"):
            tf.group(None)
