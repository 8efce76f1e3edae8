"""Control dependencies hold back whatever is made under them: constants, and what shapes make constant, too."""

from __future__ import annotations

import autoloop as al
import numpy as np
import pytest
from api import Graph, Node, Tensor, nest, ops
from autoloop.compat import v1 as tf
from each_case import each
from executors import EXECUTORS

X = np.float32([1, 2, 3])

#: made of a constant tensor and a TensorArray
MADE = {
    "constant": lambda x, ta: tf.constant(7),
    "convert_to_tensor": lambda x, ta: tf.convert_to_tensor(X),
    "zeros": lambda x, ta: tf.zeros([2]),
    "ones": lambda x, ta: tf.ones([2]),
    "fill": lambda x, ta: tf.fill([2], 3),
    "eye": lambda x, ta: tf.eye(2),
    "range": lambda x, ta: tf.range(3),
    "linspace": lambda x, ta: tf.linspace(0.0, 1.0, 3),
    "zeros_like": lambda x, ta: tf.zeros_like(x),
    "one_hot": lambda x, ta: tf.one_hot(1, 3),
    "shape": lambda x, ta: tf.shape(x),
    "size": lambda x, ta: tf.size(x),
    "rank": lambda x, ta: tf.rank(x),
    "identity": lambda x, ta: tf.identity(x),
    "reshape": lambda x, ta: tf.reshape(x, [3]),
    "TensorArray.size": lambda x, ta: ta.size(),
    "TensorArray.identity": lambda x, ta: ta.identity().flow,
    "TensorArray": lambda x, ta: tf.TensorArray(tf.float32, 2).flow,
    "no_op": lambda x, ta: tf.no_op(),
    "group": lambda x, ta: tf.group(x),
    "while_loop": lambda x, ta: tf.while_loop(lambda i, k: i < 3, lambda i, k: (i + 1, k), [0, x])[1],
    "cond": lambda x, ta: tf.cond(tf.constant(True), lambda: x, lambda: x),
    "map_fn": lambda x, ta: tf.map_fn(lambda e: e, x),
    "foldl": lambda x, ta: tf.foldl(lambda a, e: a, x),
    "switch_case": lambda x, ta: tf.switch_case(tf.constant(0), [lambda: x, lambda: x]),
    "SparseTensor": lambda x, ta: tf.SparseTensor([[0, 0]], [1.0], [3, 3]).values,
}


def _at_top(make):
    return make()


def _in_loop(make):
    def body(i):
        with tf.control_dependencies([make()]):
            return i + 1

    return tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])


def _in_branch(make):
    def branch():
        with tf.control_dependencies([make()]):
            return tf.constant(1)

    return tf.cond(tf.constant(True), branch, lambda: tf.constant(2))


@each([(what, *case) for what in MADE for case in ((_at_top, 1), (_in_loop, 3), (_in_branch, 1))])
def test_what_is_made_under_control_dependencies_waits_for_them(what, place, times):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(0)
        x, ta = tf.constant(X), tf.TensorArray(tf.float32, 3).unstack(X)

        def make():
            with tf.control_dependencies([v.assign_add(1)]):
                return MADE[what](x, ta)

        fetch = place(make)
        sess.run(v.initializer)
        sess.run(fetch)
        assert sess.run(v) == times


def test_a_constant_that_waits_is_a_constant():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(0)
        with tf.control_dependencies([v.assign_add(1)]):
            k = tf.constant([2, 3], name="k")
        assert k.name == "k:0" and tf.zeros(k).shape == (2, 3)
        inside = tf.while_loop(lambda i: i < 9, lambda i: i + k[1], [0])
        sess.run(v.initializer)
        assert sess.run(inside) == 9 and sess.run(v) == 1
        assert sess.run(inside, {k: [0, 4]}) == 12 and sess.run(v) == 1  # what is fed waits for nothing


def test_an_unchanging_loop_variable_waits_with_its_loop():
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(0)
        x = tf.constant(5)
        with tf.control_dependencies([v.assign_add(1)]):
            kept = tf.while_loop(lambda i, k: i < 3, lambda i, k: (i + 1, k), [0, x])[1]
        sess.run(v.initializer)
        assert sess.run(kept) == 5 and sess.run(v) == 1


@pytest.mark.parametrize("executor", EXECUTORS)
def test_in_a_function_effects_happen_whoever_waits_for_them(executor):
    if executor == "native":
        pytest.skip("machine code has no variables")
    v = al.Variable(0)

    @al.function(executor=executor)
    def f(n):
        for _ in range(n):
            with tf.control_dependencies([v.assign_add(1)]):
                k = tf.constant(7)
        return k

    assert f(al.constant(3)) == 7 and v.numpy() == 3


#: these give back their argument where there is nothing to do: that was made before
GIVE_BACK = {
    "cast", "ceil", "clip", "conj", "diff", "floor", "real", "rint", "round", "stack", "trunc",
}  # fmt: skip
ARGUMENTS = [
    lambda x: (x,), lambda x: (x, x), lambda x: (x, 0), lambda x: (x, [0]), lambda x: ([2, 2],), lambda x: (x > 0,),
    lambda x: (x > 0, x, x), lambda x: ([x, x],), lambda x: (x, [3, 3]), lambda x: (3,), lambda x: (x, 0, 1),
    lambda x: (0.0, 1.0, 3),
]  # fmt: skip


def _waits(node: Node, awaited: Tensor) -> bool:
    seen, todo = set(), [node]
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            if any(t is awaited for t in node.control_inputs):
                return True
            todo += [t.node for t in node.inputs]
    return False


def test_every_operation_waits():
    tried = 0
    for name in set(ops.__all__) - GIVE_BACK:
        for arguments in ARGUMENTS if callable(getattr(ops, name)) else ():
            graph = Graph()
            with graph.as_default():
                x = tf.constant(np.eye(3, dtype=np.float32) + 1)
                awaited = x + 1
                given = arguments(x)
                try:
                    with graph.control_dependencies([awaited]):
                        made = getattr(ops, name)(*given)
                except (ArithmeticError, AttributeError, LookupError, NotImplementedError, TypeError, ValueError):
                    continue
            for leaf in nest.flatten(made, True):
                node = leaf.node if isinstance(leaf, Tensor) else leaf
                if isinstance(node, Node):
                    tried += 1
                    assert _waits(node, awaited), (name, given)
    assert tried > 500


def test_an_axis_that_waits_for_something():
    # the number goes into the operation, and nothing would be left that waits
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(0.0)
        x = tf.constant([[1.0, 2.0]])
        with tf.control_dependencies([tf.assign(v, 5.0)]):
            axis = tf.constant(0)
            inside = tf.reduce_sum(x, axis=axis)
            in_a_body = tf.while_loop(lambda i: i < 1, lambda i: i + 1 + tf.argmax(x, axis=axis)[0], [np.int64(0)])
        for make in (
            lambda: tf.reduce_sum(x, axis=axis),
            lambda: tf.transpose(x, [axis, 1]),
            lambda: tf.while_loop(lambda i: i < 1, lambda i: i + 1 + tf.argmax(x, axis=axis)[0], [np.int64(0)]),
        ):
            with pytest.raises(TypeError, match="the axis 'Const.*' has control dependencies"):
                make()
        for fetched in (inside, in_a_body):
            session.run(v.initializer)
            session.run(fetched)
            assert session.run(v) == 5
