"""Sessions, seeds, assertions, collections, flags and notes of runs, as 1.x has them."""

from __future__ import annotations

import json
import re
import sys
import warnings

import autoloop.compat.v1 as tf
import numpy as np
import pytest
from each_case import each


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_an_interactive_session_is_the_default_until_it_is_closed(graph):
    x = tf.constant(2.0) * 3
    sess = tf.InteractiveSession()
    assert x.eval() == 6 and tf.get_default_session() is sess and sess.graph is graph
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        other = tf.InteractiveSession(graph=tf.Graph())
    assert "already active" in str(seen[0].message) and seen[0].filename == __file__
    assert tf.get_default_graph() is other.graph and tf.get_default_session() is other
    sess.close()  # not the last that was made
    assert tf.get_default_session() is other
    other.close()
    other.close()
    assert tf.get_default_session() is None and tf.get_default_graph() is graph
    with pytest.raises(RuntimeError, match="closed"):
        sess.run(x)


def test_seeds_make_the_numbers_of_each_session_and_each_run():
    own, same, other = (tf.random_uniform([2], seed=s) for s in (5, 5, 6))
    free = tf.random_normal([2])
    with tf.Session() as one, tf.Session() as two:
        first, second = one.run(own), one.run(own)
        assert (first != second).all() and (two.run(own) == first).all() and (two.run(own) == second).all()
        assert (one.run(same) == first).all() and (one.run(other) != first).all()
        assert (one.run(free) != two.run(free)).all()
    tf.set_random_seed(3)
    assert tf.get_seed(7) == (3, 7) and tf.get_seed(None)[0] == 3
    seeded = tf.random_uniform([2], seed=5)
    with tf.Session() as sess:
        assert (sess.run(seeded) != first).all()
    loop = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.random_uniform([], seed=1)), [0, 0.0])[1]
    tf.set_random_seed(None)
    drawn = tf.multinomial(tf.constant([[0.0, -1e9], [-1e9, 0.0]]), 4, seed=1)
    with tf.Session() as sess:
        assert 0 < sess.run(loop) < 3
        np.testing.assert_array_equal(sess.run(drawn), [[0] * 4, [1] * 4])
        assert drawn.dtype == tf.int64 and drawn.shape == (2, 4)
    with pytest.raises(ValueError, match="Must specify maxval"):
        tf.random_uniform([2], dtype=tf.int32)


HOLDS = {"equal": [2], "none_equal": [3], "less": [3], "less_equal": [2], "greater": [1], "greater_equal": [2]}
FAILS = {"equal": [3], "none_equal": [2], "less": [2], "less_equal": [1], "greater": [2], "greater_equal": [3]}


@each(HOLDS)
def test_assertions_fail_when_built_or_when_run(name):
    claim = getattr(tf, f"assert_{name}")
    x = tf.placeholder(tf.int32, [1])
    with tf.Session() as sess:
        sess.run(claim(x, HOLDS[name]), {x: [2]})
        sess.run(claim([2], HOLDS[name]))
        with pytest.raises(AssertionError, match="did not hold element-wise.*\\[2\\]"):
            sess.run(claim(x, FAILS[name]), {x: [2]})
    with pytest.raises(AssertionError, match="mine Condition x .* did not hold"):
        claim([2], FAILS[name], message="mine")


def test_assertions_about_signs_ranks_and_kinds():
    x, any_rank = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32)
    with tf.Session() as sess:
        for claim, good, bad in (
            (tf.assert_positive, [1, 2], [0, 1]), (tf.assert_negative, [-1, -2], [0, -1]),
            (tf.assert_non_negative, [0, 1], [-1, 1]), (tf.assert_non_positive, [0, -1], [1, 0]),
        ):  # fmt: skip
            made = claim(x)
            sess.run(made, {x: good})
            with pytest.raises(AssertionError):
                sess.run(made, {x: bad})
        sess.run(tf.assert_near(x, x + 1e-7), {x: [1, 1]})
        with pytest.raises(AssertionError, match="tolerance"):
            sess.run(tf.assert_near(x, x + 1e-2), {x: [1, 1]})
        sess.run([tf.assert_rank(x, 1), tf.assert_rank_at_least(x, 1), tf.assert_rank_in(x, [0, 1])])
        ranked = tf.assert_rank(any_rank, 1)
        sess.run(ranked, {any_rank: [1.0]})
        with pytest.raises(AssertionError, match="must have rank 1"):
            sess.run(ranked, {any_rank: 1.0})
        checked = tf.check_numerics(x, "here")
        assert (sess.run(checked, {x: [1, 2]}) == [1, 2]).all()
        with pytest.raises(AssertionError, match="here : Tensor had NaN values"):
            sess.run(checked, {x: [1, np.nan]})
        with pytest.raises(AssertionError, match="here : Tensor had Inf values"):
            sess.run(tf.verify_tensor_all_finite(x, "here"), {x: [1, np.inf]})


def test_axes_may_be_tensors_that_are_known():
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    with tf.Session() as sess:
        assert sess.run(tf.reverse(x, tf.constant([1]))).tolist() == [[3, 2, 1], [6, 5, 4]]
        assert sess.run(tf.transpose(x, tf.constant([1, 0]))).tolist() == [[1, 4], [2, 5], [3, 6]]


def test_what_counts_steps_is_found_by_its_name():
    step = tf.Variable(7, name="global_step", trainable=False)
    assert tf.train.get_global_step() is step and tf.train.get_or_create_global_step() is step
    with tf.Graph().as_default():
        assert tf.train.get_global_step() is None
        made = tf.train.get_or_create_global_step()
        assert tf.train.get_global_step() is made and made.dtype == tf.int64


def test_what_waits_for_what():
    v = tf.Variable(1.0, name="v")
    change = v.assign_add(1.0)
    both = tf.tuple([tf.constant(5), None], control_inputs=[change.op])
    with tf.Session() as sess, tf.device("/gpu:0"):
        sess.run(tf.global_variables_initializer())
        assert sess.run(both[0]) == 5 and both[1] is None and v.eval(sess) == 2
        assert sess.run(tf.group([change], tf.no_op())) is None and sess.run(v) == 3
        assert sess.run(tf.cond(v > 2, lambda: [tf.constant(1)], lambda: [tf.constant(2)])) == 1
        late = tf.Variable(v.initialized_value() * 3)
        assert not sess.run(tf.is_variable_initialized(late))
        sess.run(late.initializer)
        assert sess.run(late) == 9
        counter = tf.Variable(0)
        sess.run(counter.initializer)
        assert [sess.run(counter.count_up_to(2)) for _ in range(2)] == [0, 1]
        with pytest.raises(AssertionError, match="Reached limit of 2"):
            sess.run(counter.count_up_to(2))
    assert isinstance(v, tf.Variable) and v.op.name == "v"
    with pytest.raises(ValueError, match="at least one Tensor"):
        tf.tuple([None])
    with pytest.raises(TypeError, match="'constraint'"):
        tf.Variable(1.0, constraint=abs)


def test_gradients_where_no_path_leads_and_what_optimizers_refuse():
    v, w = tf.Variable(2.0, name="v"), tf.Variable([1.0, 2.0], name="w")
    assert tf.gradients(v * v, [v, w])[1] is None
    zero = tf.gradients(v * v, w, unconnected_gradients=tf.UnconnectedGradients.ZERO)[0]
    opt = tf.train.AdamOptimizer(0.1)
    with pytest.raises(ValueError, match="No gradients provided"):
        opt.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="No variables to optimize"):
        opt.compute_gradients(v, [])
    train = opt.minimize(v * v)
    assert opt.get_slot_names() == ["m", "v"] and opt.get_slot(v, "m").name == "v/Adam:0"
    assert [one.name for one in opt.variables()] == ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]
    assert tf.get_collection(tf.GraphKeys.TRAIN_OP) == [train] and opt.get_slot(w, "m") is None
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert abs(sess.run(v) - 1.9) < 1e-6 and (sess.run(zero) == 0).all()


def test_a_run_tells_when_operations_ran():
    x = tf.matmul(tf.ones([3, 3]), tf.ones([3, 3]), name="product")
    with tf.Session() as sess:
        notes = tf.RunMetadata()
        sess.run(x, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=notes)
        (device,) = notes.step_stats.dev_stats
        assert device.node_stats and all(n.all_end_rel_micros >= 0 for n in device.node_stats)
        assert json.loads(json.dumps(notes.as_chrome_trace()))["traceEvents"]
        plain = tf.RunMetadata()
        sess.run(x, options=tf.RunOptions(), run_metadata=plain)
        assert plain.step_stats.dev_stats == []
        forever = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])
        with pytest.raises(TimeoutError):
            sess.run(forever, options=tf.RunOptions(timeout_in_ms=20))


def test_graphs_as_data(graph):
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), [0, x])
    made = graph.as_graph_def()
    kinds = {node.op for node in made.node}
    assert {"Enter", "Merge", "Switch", "NextIteration", "Exit", "LoopCond"} <= kinds
    assert 'name: "x"' in str(made) and 'op: "Placeholder"' in str(made)
    assert not graph.finalized and graph.get_all_collection_keys() == []
    graph.add_to_collection("a", 1)
    graph.get_collection_ref("a").append(2)
    assert graph.get_collection("a") == [1, 2] and tf.get_collection_ref("a") is graph.get_collection_ref("a")
    graph.clear_collection("a")
    assert graph.get_collection("a") == []


def test_flags_and_programs(monkeypatch, capsys):
    flags, values = tf.flags, tf.flags.FlagValues()
    flags.DEFINE_integer("steps", 3, "How many.", lower_bound=1, flag_values=values)
    flags.DEFINE_float("rate", 0.5, "", flag_values=values)
    flags.DEFINE_bool("fast", True, "", flag_values=values)
    flags.DEFINE_list("names", "a,b", "", flag_values=values)
    flags.DEFINE_enum("kind", None, ["x", "y"], "", flag_values=values)
    flags.DEFINE_string("dir", None, "", flag_values=values)
    assert values(["p", "--steps=5", "-rate", "2", "--nofast", "rest", "--kind=x", "--", "--dir"]) == [
        "p",
        "rest",
        "--dir",
    ]
    assert values.flag_values_dict() == {
        "steps": 5, "rate": 2.0, "fast": False, "names": ["a", "b"], "kind": "x", "dir": None,
    }  # fmt: skip
    for wrong, words in (
        ("--steps=0", "flag --steps=0: the value should be in [1, inf]"), ("--steps=x", "invalid literal for int()"),
        ("--kind=z", "the value should be one of <x|y>"), ("--fast=maybe", "Non-boolean argument to boolean flag"),
        ("--nothing=1", "Unknown command line flag 'nothing'"), ("--dir", "Missing value for flag --dir"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=re.escape(words) + r"[^\[]* \[AL910\]$"):
            values(["p", wrong])
    with pytest.raises(ValueError, match="The flag 'dir' is defined twice"):
        flags.DEFINE_string("dir", None, "", flag_values=values)
    values.steps = 7
    assert values.steps == 7 and "steps" in values and "other" not in values
    monkeypatch.setattr(tf.app.flags, "FLAGS", values)
    with pytest.raises(SystemExit) as end:
        tf.app.run(lambda argv: len(argv), ["p", "--steps=2", "word"])
    assert end.value.code == 2 and values.steps == 2
    with pytest.raises(SystemExit) as end:
        tf.app.run(lambda argv: 0, ["p", "--nothing"])
    assert end.value.code == 1 and "nothing" in capsys.readouterr().err
    assert "tensorflow" not in sys.modules
