"""Promises of the reference documents that no other test holds, and the table that names a test for each of them."""

from __future__ import annotations

import collections
import dataclasses
import re
from itertools import product
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from api import Graph, SeededExecutor, lower
from each_case import each

ROOT = Path(__file__).parent.parent.parent
TABLE = ROOT / "runtime" / "SEMANTICS.md"
tf = al.compat.v1
COUNT = lambda i, *_: i < 3


def test_every_test_that_the_table_names_exists():
    rows = [line for line in TABLE.read_text().splitlines() if line.startswith("| ") and "---" not in line]
    named = [name for row in rows for name in re.findall(r"`(\w+)::(\w+)`", row)]
    promises = [row for row in rows if "::" in row]
    assert len(promises) >= 60 and all(row in promises for row in rows if not re.match(r"\| (promise|where)", row))
    sources = {path.stem: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    missing = [
        f"{module}::{test}" for module, test in named if not re.search(rf"^def {test}\(", sources.get(module, ""), re.M)
    ]
    assert not missing


def test_every_word_of_a_promise_is_in_the_reference():
    """The table quotes; where the documents are at hand, what is quoted must be found in one of them."""
    folder = Path("/work/shared/reference")
    if not folder.is_dir():
        pytest.skip("the reference documents are not here")
    plain = lambda text: re.sub(r"[^a-z0-9]+", "", re.sub(r"\\_|<[^>]*>|\[(.*?)\]\([^)]*\)", r"\1", text).lower())
    documents = {path.stem: plain(path.read_text()) for path in folder.glob("*.md")}
    rows = [row.split(" | ") for row in TABLE.read_text().splitlines() if "::" in row and row.startswith("| ")]
    missing = []
    for cells in rows:
        pieces = [plain(piece) for piece in cells[0].removeprefix("| ").split("...")]
        if not any(all(piece in text for piece in pieces) for text in documents.values()):
            missing.append(cells[0])
    assert not missing


# -- calling, values and results --------------------------------------------------------------------------


def test_cond_and_body_are_called_once_and_never_by_a_run():
    calls = collections.Counter()

    def cond(i, x):
        calls["cond"] += 1
        return i < 5

    def body(i, x):
        calls["body"] += 1
        return i + 1, x * 2.0

    with Graph().as_default(), al.Session() as session:
        out = al.while_loop(cond, body, (0, 1.0))
        assert calls == {"cond": 1, "body": 1}
        assert session.run(out) == session.run(out) == (5, 32)
    assert calls == {"cond": 1, "body": 1}


def test_what_is_inside_runs_once_per_iteration_and_what_is_outside_once():
    graph = Graph()
    x = graph.parameter(np.dtype(np.int32), al.TensorShape([]), "x")
    with graph.as_default():
        i, y = al.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * 3), (x - x, x))
        z = y - 1
    executor = SeededExecutor(lower(graph, [i, z], [x]))
    assert executor.run([2]) == [4, 161]
    counts = collections.Counter(executor.order)
    inside = {name: n for name, n in counts.items() if name.startswith("while/")}
    assert inside == {"while/cond/less": 5, "while/body/add": 4, "while/body/multiply": 4}
    assert counts["subtract"] == counts["subtract_1"] == 1


def test_a_variable_that_body_does_not_use_goes_round_all_the_same():
    a, n = al.while_loop(lambda a, n: a < n, lambda a, n: (a + 2, n), [al.constant(1), al.constant(10)])
    assert (a.numpy(), n.numpy()) == (11, 10)


def test_arrays_numbers_variables_and_tensor_arrays_are_initial_values():
    state = al.Variable([1.0, 2.0])
    start = (0, np.ones(2, np.float32), state, al.TensorArray(al.float32, 3), 0.5, np.int64(3), True)

    def body(i, x, v, out, s, k, flag):
        return i + 1, x + v, v * 2.0, out.write(i, x[0]), s + 1, k - 1, al.logical_not(flag)

    i, x, v, out, s, k, flag = al.while_loop(COUNT, body, start)
    assert (i.numpy(), s.numpy(), k.numpy(), flag.numpy()) == (3, 3.5, 0, False)
    assert (x.numpy().tolist(), v.numpy().tolist()) == ([8, 15], [8, 16])
    assert out.stack().numpy().tolist() == [1, 2, 4]
    assert (s.dtype, k.dtype, flag.dtype) == (al.float32, al.int64, al.bool)
    assert state.numpy().tolist() == [1, 2]


def test_structures_of_every_kind_nest():
    Pair = collections.namedtuple("Pair", "j, k")

    @dataclasses.dataclass
    class Box:
        content: object

    start = [al.constant(0), {"b": Pair(1, (2.0, [3.0])), "a": Box({"deep": [1, (2,)]})}]
    step = lambda i, s: (i + 1, al.nest.map_structure(lambda v: v * 2, s))
    i, s = al.while_loop(COUNT, step, start)
    assert (i.numpy(), s["b"].j.numpy(), s["b"].k[0].numpy(), s["b"].k[1][0].numpy()) == (3, 8, 16, 24)
    assert isinstance(s["a"], Box) and s["a"].content["deep"][1][0].numpy() == 16
    assert list(s) == ["b", "a"]


@each(["tensor", "array", "slices"])
def test_one_variable_is_returned_by_itself_in_v1_more_as_a_list(kind):
    with Graph().as_default():
        x = {
            "tensor": lambda: tf.constant(1.0),
            "array": lambda: tf.TensorArray(tf.float32, 3),
            "slices": lambda: tf.IndexedSlices(tf.ones([1]), [0], [2]),
        }[kind]()
        one = tf.while_loop(lambda x: tf.constant(False), lambda x: x, [x])
        assert isinstance(one, type(x))
        several = tf.while_loop(lambda i, x: i < 2, lambda i, x: [i + 1, x], [tf.constant(0), x])
        assert isinstance(several, list) and isinstance(several[1], type(x))


def test_the_result_has_the_structure_of_loop_vars():
    for start in ([0], (0,), [0, 1.0], (0, 1.0), (0, [1.0, (2.0,)])):
        out = al.while_loop(COUNT, lambda i, *rest: (i + 1, *rest), start)
        assert al.nest.structure_of(out) == al.nest.structure_of(start)


# -- shapes -----------------------------------------------------------------------------------------------


def test_the_shapes_of_the_documents():
    """``[11, None]`` is more general than ``[11, 17]``, and ``[11, 21]`` is not compatible with it."""
    x = al.ones([11, 17])
    general = lambda i, x: (i + 1, al.transpose(al.boolean_mask(al.transpose(x), al.ones([17]) > 0)))
    other = lambda i, x: (i + 1, al.ones([11, 21]))
    with pytest.raises(ValueError, match=r"shape \(11, None\).*more general than its shape invariant \(11, 17\)"):
        al.while_loop(COUNT, general, (0, x))
    with pytest.raises(ValueError, match=r"shape \(11, 21\).*incompatible with its shape invariant \(11, 17\)"):
        al.while_loop(COUNT, other, (0, x))
    for body, columns in ((general, 17), (other, 21)):
        assert al.while_loop(COUNT, body, (0, x), ([], [11, None]))[1].shape == [11, columns]


def test_the_result_carries_the_invariant_as_its_static_shape():
    with Graph().as_default():
        double = lambda i, x: (i + 1, al.concat([x, x], 0))
        invariants = ([], al.TensorShape([None, 2]))
        assert al.while_loop(COUNT, double, (0, al.ones([2, 2])), invariants)[1].shape == [None, 2]
        keep = lambda i, x: (i + 1, x)
        assert al.while_loop(COUNT, keep, (0, al.ones([2, 2])), invariants)[1].shape == [None, 2]
        assert al.while_loop(COUNT, keep, (0, al.ones([2, 2])))[1].shape == [2, 2]
        assert al.while_loop(COUNT, keep, (0, al.ones([2, 2])), ([], al.TensorShape(None)))[1].shape.rank is None


def test_set_shape_in_the_body_meets_the_invariant():
    def body(i, x):
        y = al.boolean_mask(x, x > 0)
        y.set_shape([2])
        return i + 1, y

    assert al.while_loop(COUNT, body, (0, al.ones([2])))[1].shape == [2]
    with pytest.raises(ValueError, match=r"\(2,\)"):
        al.while_loop(COUNT, body, (0, al.constant([1.0, -1.0])))


# -- gradients --------------------------------------------------------------------------------------------


@each(product(["in a loop", "outside"], ["carried", "captured", "outside"]))
def test_a_tensor_array_goes_from_loop_to_loop_and_gradients_come_back(filled, read):
    def f(x):
        array = al.TensorArray(x.dtype, 3, element_shape=[])
        if filled == "in a loop":
            fill = lambda i, a: (i + 1, a.write(i, x[i] * x[i]))
            array = al.while_loop(COUNT, fill, (0, array))[1]
        else:
            for i in range(3):
                array = array.write(i, x[i] * x[i])
        weighed = lambda a, i: a.read(i) * al.cast(i + 1, x.dtype)
        if read == "carried":
            add = lambda i, a, s: (i + 1, a, s + weighed(a, i))
            return al.while_loop(COUNT, add, (0, array, al.constant(0.0, x.dtype)))[2]
        if read == "captured":
            add = lambda i, s: (i + 1, s + weighed(array, i))
            return al.while_loop(COUNT, add, (0, al.constant(0.0, x.dtype)))[1]
        return weighed(array, 0) + weighed(array, 1) + weighed(array, 2)

    x = np.array([1.0, 2.0, 3.0])
    for g in (f, al.function(f, autograph=False)):
        assert g(al.constant(x)).numpy() == 1 + 8 + 27
        np.testing.assert_allclose(al.grad(g)(x), 2 * x * [1, 2, 3])


def test_stop_gradient_of_the_results_is_what_back_prop_false_was():
    def loop(x, **options):
        return al.while_loop(COUNT, lambda i, x: (i + 1, x * x), (0, x), **options)

    def stopped(x):
        return al.nest.map_structure(al.stop_gradient, loop(x))[1] + x

    for f in (stopped, lambda x: loop(x, back_prop=False)[1] + x):
        assert f(al.constant(2.0)).numpy() == 258
        assert al.grad(f)(al.constant(2.0)).numpy() == 1
    assert al.grad(lambda x: loop(x)[1])(al.constant(1.0)).numpy() == 8


# -- conversion -------------------------------------------------------------------------------------------


def test_python_loops_are_converted_unless_autograph_is_false():
    def total(n):
        i, s = al.constant(0), al.constant(0)
        while i < n:
            s += i
            i += 1
        for k in al.range(n):
            s += k
        return s

    assert al.function(total)(al.constant(4)).numpy() == 12
    with pytest.raises(TypeError, match="symbolic"):
        al.function(total, autograph=False)(al.constant(4))
