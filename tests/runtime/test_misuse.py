"""What is refused: each misuse, the type of its exception, and the words that must be in it."""

from __future__ import annotations

import re

import autoloop as al
import numpy as np
import pytest
from api import Graph
from each_case import each

tf = al.compat.v1
KEEP = lambda i: i + 1
TRUE = lambda i: i < 3
BOTH = lambda i, x: (i + 1, x)
WHILE = lambda i, *_: i < 3
SCALAR = al.TensorShape([])


def loop(body, *loop_vars, **options):
    """A loop of three iterations."""
    return lambda: al.while_loop(WHILE, body, loop_vars, **options)


def array(*args, **options):
    return al.TensorArray(al.float32, *args, **options)


def staged(f, *args):
    return lambda: al.function(f, autograph=False)(*map(al.constant, args))


def fetched(build, feed=None):
    def run():
        with Graph().as_default(), tf.Session() as session:
            return session.run(build(), feed)

    return run


def in_graph(build):
    def run():
        with Graph().as_default():
            return build()

    return run


def foreign():
    """A tensor of another graph."""
    return Graph().parameter(np.dtype(np.int32), SCALAR)


def kept(build):
    """``build(keep)`` gives a tensor; then what it kept from inside is used outside."""

    def f(n):
        inside = []
        build(n, lambda t: inside.append(t) or t)
        return inside[0] + 1

    return staged(f, 3)


def inside_a_body():
    """A tensor that has one value per iteration."""
    inside = []
    tf.while_loop(TRUE, lambda i: inside.append(i) or i + 1, [tf.constant(0)])
    return inside[0]


MISUSES = {
    # the arguments of while_loop
    "cond is no callable": (lambda: al.while_loop(3, KEEP, [0]), TypeError, "cond must be callable"),
    "body is no callable": (lambda: al.while_loop(TRUE, None, [0]), TypeError, "body must be callable"),
    "no loop variables, list": (lambda: al.while_loop(TRUE, KEEP, []), ValueError, "loop_vars is empty"),
    "no loop variables, tuple": (lambda: al.while_loop(TRUE, KEEP, ()), ValueError, "loop_vars is empty"),
    "no loop variables, None": (lambda: al.while_loop(TRUE, KEEP, None), ValueError, "loop_vars is empty"),
    "no loop variables, dict": (lambda: al.while_loop(TRUE, KEEP, {}), ValueError, "loop_vars is empty"),
    "body takes too few": (loop(lambda i: i, 0, 1.0), TypeError, "body must take as many .* loop variables: 2"),
    "cond takes too few": (lambda: al.while_loop(TRUE, BOTH, [0, 1.0]), TypeError, "cond must take as many .*: 2"),
    "window 0": (loop(KEEP, 0, parallel_iterations=0), ValueError, "positive integer"),
    "window -3": (loop(KEEP, 0, parallel_iterations=-3), ValueError, "positive integer"),
    "window 2.5": (loop(KEEP, 0, parallel_iterations=2.5), TypeError, "positive integer"),
    "window True": (loop(KEEP, 0, parallel_iterations=True), TypeError, "positive integer"),
    "window '10'": (loop(KEEP, 0, parallel_iterations="10"), TypeError, "positive integer"),
    "maximum 2.5": (loop(KEEP, 0, maximum_iterations=2.5), TypeError, "maximum_iterations"),
    "maximum '3'": (loop(KEEP, 0, maximum_iterations="3"), TypeError, "maximum_iterations.*integer"),
    "maximum True": (loop(KEEP, 0, maximum_iterations=True), TypeError, "maximum_iterations.*integer"),
    "maximum of rank 1": (loop(KEEP, 0, maximum_iterations=al.constant([1])), ValueError, "maximum.*shape"),
    "maximum of another graph": (
        in_graph(lambda: al.while_loop(TRUE, KEEP, [0], maximum_iterations=foreign())), ValueError, "another graph",
    ),
    "initial value of another graph": (
        in_graph(lambda: al.while_loop(TRUE, KEEP, [foreign()])), ValueError, "another graph.*pass its value",
    ),
    "cond uses another graph": (
        in_graph(lambda: al.while_loop(lambda i: i < foreign(), KEEP, [0])), ValueError, "another graph",
    ),
    "ragged list": (lambda: al.constant([[1, 2], [3]]), ValueError, r"\[\[1, 2\], \[3\]\] is no array.*lengths.*pad"),
    "ragged operand": (lambda: al.ones([2]) + [[1.0], [2.0, 3.0]], ValueError, "parts have different lengths"),
    # what cond gives
    "cond gives an int": (lambda: al.while_loop(lambda i: i, KEEP, [0]), TypeError, "boolean scalar.*int32"),
    "cond gives a Python int": (lambda: al.while_loop(lambda i: 1, KEEP, [0]), TypeError, "boolean scalar.*x != 0"),
    "cond gives a vector": (
        lambda: al.while_loop(lambda i: al.constant([True]), KEEP, [0]), ValueError, r"boolean scalar.*\(1,\).*any",
    ),
    "cond gives a tuple": (lambda: al.while_loop(lambda i: (i < 3, i < 4), KEEP, [0]), ValueError, r"scalar.*\(2,\)"),
    "cond gives None": (lambda: al.while_loop(lambda i: None, KEEP, [0]), TypeError, "None.*return missing"),
    "cond gives a text": (lambda: al.while_loop(lambda i: "yes", KEEP, [0]), TypeError, "boolean scalar"),
    "cond gives a vector at run time": (
        lambda: al.function(
            lambda m: al.while_loop(lambda i: m, KEEP, [0]), input_signature=[al.TensorSpec(None, al.bool)],
            autograph=False,
        )(np.array([True, False])),
        ValueError, r"condition of the loop 'while' must be a scalar.*\(2,\)",
    ),
    # what body gives
    "body gives one too many, a TypeError": (loop(lambda i: (i, i), 0), TypeError, "same nested structure"),
    "body gives one too many, a ValueError": (loop(lambda i: (i, i), 0), ValueError, "same nested structure"),
    "body gives one too few": (loop(lambda i, x: i + 1, 0, 1.0), TypeError, "same nested.*number of elements"),
    "body gives a list for a tuple": (
        loop(lambda i, p: (i + 1, [p[0], p[1]]), 0, (1, 2)), TypeError, r"takes \(\*, \*\) and returned \[\*, \*\]",
    ),
    "body gives another key": (
        lambda: al.while_loop(lambda d: d["i"] < 3, lambda d: {"j": d["i"]}, [{"i": 0}]), TypeError, "'i'.*'j'",
    ),
    "body gives None": (loop(lambda i: None, 0), TypeError, "'i' is None after one iteration.*return missing"),
    "body gives an object": (loop(lambda i: object(), 0), TypeError, "'i'.*cannot be converted"),
    "body gives a text": (loop(lambda i: "a", 0), TypeError, "'i' has dtype int32 on entry, but dtype <U1 after one"),
    "body changes the dtype": (loop(lambda i: i + 0.5, 0), TypeError, "'i' has dtype int32.*float64.*cast"),
    "body gives a number of another kind": (loop(lambda i: 0.5, 0), TypeError, "'i' has dtype int32.*float32"),
    "body gives a NumPy scalar of another dtype": (
        loop(lambda x: np.float64(0.5), 0.5), TypeError, "'x' has dtype float32.*float64",
    ),
    "body gives a number that does not fit": (loop(lambda i: 2**40, 0), OverflowError, "'i'.*int32"),
    "body adds an axis": (
        loop(lambda i, x: (i + 1, x[None]), 0, al.ones([2])), ValueError,
        r"'x' has shape \(2,\) on entry, but shape \(1, 2\).*incompatible",
    ),
    "body loses an axis": (
        loop(lambda i, x: (i + 1, al.sum(x)), 0, al.ones([2])), ValueError, r"shape \(\) .*incompatible",
    ),
    "body forgets a dimension": (
        loop(lambda i, x: (i + 1, al.boolean_mask(x, x > 0)), 0, al.ones([2])), ValueError,
        r"\(None,\).*more general than.*shape_invariants=\{'x': TensorShape\(\[None\]\)\}.*set_loop_options.*set_shape",
    ),
    "body breaks the relaxed invariant": (
        loop(lambda i, x: (i + 1, al.concat([x, x], 1)), 0, al.ones([2, 2]), shape_invariants=([], [None, 2])),
        ValueError, r"\(None, 4\).*incompatible with its shape invariant \(None, 2\).*TensorShape\(\[None, None\]\)",
    ),
    # initial values
    "initial None": (loop(KEEP, None), TypeError, "'i' is None on entry"),
    "initial object": (loop(KEEP, object()), TypeError, "'i'.*cannot be converted"),
    "initial object array": (loop(KEEP, np.array([None])), TypeError, "'i'.*an array of Python objects"),
    "initial number that does not fit": (loop(KEEP, 2**40), OverflowError, "'i'.*out of bounds for int32"),
    # invariants
    "invariant not met on entry": (
        loop(BOTH, 0, al.ones([2]), shape_invariants=[SCALAR, al.TensorShape([5])]), ValueError,
        r"'x' has shape \(2,\) on entry.*invariant \(5,\)",
    ),
    "invariant of another rank": (
        loop(BOTH, 0, al.ones([2]), shape_invariants=([], [None, None])), ValueError,
        r"'x'.*does not conform.*None, None",
    ),
    "too few invariants": (loop(BOTH, 0, 1.0, shape_invariants=[SCALAR]), ValueError, "shape_invariants has 1"),
    "invariants of another structure": (
        loop(BOTH, 0, (1, 2), shape_invariants=([], ([],))), TypeError, "shape_invariants.*same nested structure",
    ),
    "invariant for nobody": (loop(KEEP, 0, shape_invariants={"j": []}), ValueError, r"names \['j'\].*\['i'\]"),
    "invariant 'some'": (loop(KEEP, 0, shape_invariants="some"), ValueError, "'auto'"),
    "invariant that is a text": (loop(KEEP, 0, shape_invariants=["abc"]), TypeError, "is a TensorShape, got 'abc'"),
    "invariant that is an object": (loop(KEEP, 0, shape_invariants=[object()]), TypeError, "is a TensorShape"),
    "invariant with a half dimension": (
        loop(BOTH, 0, al.ones([2]), shape_invariants=([], [2.5])), TypeError, r"TensorShape, got \[2.5\]",
    ),
    "invariant with a negative dimension": (
        loop(BOTH, 0, al.ones([2]), shape_invariants=([], [-1])), ValueError, "negative: -1 .*None",
    ),
    "invariant of another dtype": (
        loop(KEEP, 0, shape_invariants=[al.TensorSpec([], al.float32)]), TypeError, "dtype float32.*int32",
    ),
    "invariant of a TensorArray": (
        loop(BOTH, 0, array(3), shape_invariants=([], [10])), ValueError, "scalar to the loop.*element_shape",
    ),
    # from inside to outside
    "a tensor of body used outside": (
        kept(lambda n, keep: al.while_loop(lambda i: i < n, lambda i: keep(i * 2) + 1, [0])), ValueError,
        "lives inside 'while/body'.*loop variable",
    ),
    "a tensor of cond used outside": (
        kept(lambda n, keep: al.while_loop(lambda i: keep(i) < n, KEEP, [0])), ValueError, "inside 'while/cond'",
    ),
    "a tensor of a branch used outside": (
        kept(lambda n, keep: al.cond(n > 0, lambda: keep(n + 1), lambda: n)), ValueError, "inside 'cond/then'",
    ),
    "fetching from a body": (
        fetched(inside_a_body), ValueError, "lives inside 'while/body' and has one value per iteration",
    ),
    # cond, case, switch_case
    "pred is a vector": (lambda: al.cond(al.constant([True, False]), int, int), ValueError, "pred.*scalar"),
    "pred is a number": (lambda: al.cond(al.constant(3), int, int), TypeError, "pred.*boolean"),
    "pred is None": (lambda: al.cond(None, int, int), TypeError, "pred.*None"),
    "a branch that is a value": (lambda: al.cond(True, 1, int), TypeError, "true_fn must be callable"),
    "a missing branch": (lambda: al.cond(al.constant(True), int), TypeError, "false_fn must be callable"),
    "branches of two dtypes": (
        staged(lambda p: al.cond(p, lambda: al.constant(1.0), lambda: al.constant(1)), True), TypeError,
        "float32 and int32.*cast",
    ),
    "branches of two structures": (
        staged(lambda p: al.cond(p, lambda: (1, 2), lambda: {"a": 1}), True), TypeError, r"\(\*, \*\) and \{'a': \*\}",
    ),
    "a value and None": (staged(lambda p: al.cond(p, lambda: None, int), True), TypeError, "the other None"),
    "a text and a number": (staged(lambda p: al.cond(p, lambda: "a", int), True), TypeError, "<U1 and int32"),
    "an object in a branch": (staged(lambda p: al.cond(p, object, int), True), TypeError, "true_fn.*cannot be conv"),
    "a TensorArray and a tensor": (
        staged(lambda p: al.cond(p, lambda: array(3), lambda: 1.0), True), TypeError,
        "TensorArray of 1 tensor and Tensor",
    ),
    "TensorArrays of two dtypes": (
        staged(lambda p: al.cond(p, lambda: array(3), lambda: al.TensorArray(al.int32, 3)), True), TypeError,
        "TensorArrays of float32 and int32",
    ),
    "no branches": (lambda: al.switch_case(0, []), ValueError, "empty"),
    "branches that are a number": (lambda: al.switch_case(0, 3), TypeError, "branch_fns must be a list"),
    "a branch that is a number": (lambda: al.switch_case(0, [3]), TypeError, "callable"),
    "a branch selected by a text": (lambda: al.switch_case(0, {"a": int}), TypeError, "selected by an int, got 'a'"),
    "a default that is a number": (lambda: al.switch_case(0, [int], default=3), TypeError, "default must be callable"),
    "index 0.5": (lambda: al.switch_case(al.constant(0.5), [int]), TypeError, "branch_index.*integer"),
    "index True": (lambda: al.switch_case(True, [int]), TypeError, "branch_index.*integer.*bool"),
    "index None": (lambda: al.switch_case(None, [int]), TypeError, "branch_index.*None"),
    "index of rank 1": (lambda: al.switch_case(al.constant([0, 1]), [int, int]), ValueError, r"branch_index.*\(2,\)"),
    "no cases": (lambda: al.case([]), ValueError, "empty"),
    "a case that is no pair": (lambda: al.case([int]), TypeError, "pairs of a predicate and a callable"),
    "a case with a value": (lambda: al.case([(al.constant(True), 3)]), TypeError, "pairs of a predicate"),
    "a case of an int": (lambda: al.case([(3, int)], default=int), TypeError, "boolean scalar"),
    "two cases at once": (
        lambda: al.case([(al.constant(True), int)] * 2, exclusive=True), AssertionError, "more than one predicate",
    ),
    # map_fn, scan, folds
    "fn is no callable": (lambda: al.map_fn(3, al.ones([2])), TypeError, "fn must be callable"),
    "scan of no callable": (lambda: al.scan(3, al.ones([2])), TypeError, "fn must be callable"),
    "foldl of no callable": (lambda: al.foldl(None, al.ones([2])), TypeError, "fn must be callable"),
    "no elems": (lambda: al.map_fn(KEEP, []), ValueError, "empty"),
    "elems is a scalar": (lambda: al.map_fn(KEEP, al.constant(1)), ValueError, "at least one dimension"),
    "foldr over a scalar": (lambda: al.foldr(lambda a, x: a, 3.0), ValueError, "at least one dimension"),
    "elems of two lengths": (
        lambda: al.map_fn(lambda x: x[0], (al.ones([2]), al.ones([3]))), ValueError, "first dimension",
    ),
    "fn gives None": (lambda: al.map_fn(lambda x: None, al.ones([2])), TypeError, "fn returned None"),
    "fn gives an object": (lambda: al.map_fn(lambda x: object(), al.ones([2])), TypeError, "value of fn.*cannot"),
    "fn gives another dtype": (lambda: al.map_fn(KEEP, al.ones([2]), dtype=al.int32), TypeError, "float32.*int32"),
    "map_fn with window 0": (lambda: al.map_fn(KEEP, al.ones([2]), parallel_iterations=0), ValueError, "positive"),
    "foldl over nothing": (lambda: al.foldl(lambda a, x: a, al.zeros([0])), ValueError, "no rows.*initializer"),
    "scan over nothing": (lambda: al.scan(lambda a, x: a, al.zeros([0])), ValueError, "no rows.*initializer"),
    "scan changes the dtype": (lambda: al.scan(lambda a, x: a + 0.5, al.ones([2]), 0), TypeError, "int32.*float64"),
    "scan changes the shape": (
        lambda: al.scan(lambda a, x: al.concat([a, a], 0), al.ones([3]), al.ones([1])), ValueError, r"\(1,\).*\(2,\)",
    ),
    "scan changes the structure": (
        lambda: al.scan(lambda a, x: (a, x), al.ones([3]), 0.0), TypeError,
        r"same nested structure.*\* and.*\(\*, \*\)",
    ),
    # TensorArray
    "write at -1": (lambda: array(3).write(-1, 1.0), IndexError, "index -1 is negative"),
    "write behind the end": (lambda: array(3).write(3, 1.0), IndexError, "out of range for size 3.*dynamic_size"),
    "read behind the end": (lambda: array(3).read(3), IndexError, "out of range for size 3"),
    "write twice": (lambda: array(3).write(0, 1.0).write(0, 1.0), ValueError, "index 0 was written before"),
    "write twice in a loop": (
        loop(lambda i, a: (i + 1, a.write(0, 1.0)), 0, array(3)), ValueError, "index 0 was written before",
    ),
    "write another dtype": (lambda: array(3).write(0, al.constant(1)), TypeError, "float32.*int32.*cast"),
    "write another shape": (lambda: array(3, element_shape=[2]).write(0, 1.0), ValueError, r"shape \(\).*\(2,\)"),
    "read at 0.5": (lambda: array(3).read(0.5), TypeError, "index must be an integer"),
    "size 2.5": (lambda: array(2.5), TypeError, "size must be an integer"),
    "size -1": (lambda: array(-1), ValueError, "negative"),
    "read what nobody wrote": (lambda: array(3).read(0), ValueError, "index 0 was not written"),
    "stack of two shapes": (
        lambda: array(2, infer_shape=False).write(0, al.ones([1])).write(1, al.ones([2])).stack(), ValueError,
        "different shapes",
    ),
    "read a cleared element": (
        lambda: (lambda a: (a.read(0), a.read(0)))(array(1, clear_after_read=True).write(0, 1.0)), ValueError,
        "cleared",
    ),
    "an array of another dtype after an iteration": (
        loop(lambda i, a: (i + 1, al.TensorArray(al.int32, 3)), 0, array(3)), TypeError,
        "'a' is a TensorArray of float32 on entry and of int32",
    ),
    "a TensorArray as a tensor": (lambda: al.convert_to_tensor(array(3)), TypeError, "stack"),
    # symbolic tensors as Python values
    **{
        f"{name} of a symbolic tensor": (staged(use, 1), TypeError, "symbolic: it has no value.*autoloop.function")
        for name, use in {
            "bool": bool, "int": int, "float": float, "len": len, "list": list, "asarray": np.asarray,
            "index": lambda x: [1, 2][x], "numpy": lambda x: x.numpy(), "range": range,
        }.items()
    },
    "a NumPy function without a counterpart": (
        staged(lambda x: np.busday_count(x, x), [1]), TypeError, r"numpy\.busday_count has no",
    ),
    "a NumPy operation without a counterpart": (staged(np.isnat, 1.0), TypeError, r"numpy\.isnat has no"),
    "a method of a NumPy operation": (
        staged(lambda x: np.add.at(x, [0], 1), [1]), TypeError, r"numpy\.add\.at changes its first argument.*scatter",
    ),
    "assigning to an element": (lambda: al.constant([1]).__setitem__(0, 2), TypeError, "set_item"),
    "a kept symbolic tensor": (lambda: foreign() + al.constant(1) + foreign(), ValueError, "another graph"),
    # shapes and dtypes
    "set_shape that contradicts": (staged(lambda x: x.set_shape([3]), [1, 2]), ValueError, r"\(3,\).*\(2,\)"),
    "shapes that do not broadcast": (lambda: al.ones([2]) + al.ones([3]), ValueError, r"\(2,\) and \(3,\)"),
    "== of two shapes": (lambda: al.ones([2]) == al.ones([3]), ValueError, r"\(2,\) and \(3,\)"),
    "matmul": (lambda: al.ones([2, 3]) @ al.ones([2, 3]), ValueError, r"\(2, 3\).*do not fit"),
    "reshape": (lambda: al.reshape(al.ones([6]), [4, -1]), ValueError, r"\(6,\).*\[4, -1\]"),
    "concat": (lambda: al.concat([al.ones([2]), al.ones([2, 2])], 0), ValueError, r"\(2,\) and \(2, 2\)"),
    "a constant that does not fit": (lambda: al.constant(300, al.int8), OverflowError, "300.*int8"),
    "values that do not fit the shape": (lambda: al.constant([1, 2, 3], shape=[2]), ValueError, r"3 values.*\(2,\)"),
    "an index that is out of range": (lambda: al.constant([1, 2])[5], IndexError, "index 5 is out of bounds"),
    # variables, sessions, functions
    "assign another dtype": (lambda: al.Variable(1.0).assign(al.constant(1)), TypeError, "float32.*int32.*cast"),
    "assign another shape": (lambda: al.Variable([1.0]).assign([1.0, 2.0]), ValueError, r"\(1,\).*\(2,\)"),
    "a variable of nothing": (al.Variable, ValueError, "initial_value"),
    "fetch a number": (fetched(lambda: 3), TypeError, "cannot fetch 3"),
    "fetch an unknown name": (fetched(lambda: "nothing:0"), ValueError, "no operation named 'nothing'"),
    "fetch from another graph": (fetched(foreign), ValueError, "another graph"),
    "nothing fed": (fetched(lambda: tf.placeholder(tf.int32) + 1), ValueError, "'Placeholder:0'.*feed"),
    "feed for a number": (fetched(lambda: tf.constant(1), {3: 4}), TypeError, "keys of feed_dict"),
    "run a closed session": (
        lambda: (lambda s: (s.close(), s.run([])))(al.Session(graph=Graph())), RuntimeError, "closed",
    ),
    "an uninitialised variable": (
        fetched(lambda: tf.get_variable("a", shape=[])), RuntimeError, "'a:0' is not initialised.*initializer",
    ),
    "a variable twice": (
        in_graph(lambda: [tf.get_variable("a", shape=[]) for _ in "12"]), ValueError, "a already exists.*reuse",
    ),
    "an unknown executor": (lambda: al.function(KEEP, executor="gpu"), ValueError, "dataflow, sequential, native"),
    "an assertion": (lambda: al.Assert(al.constant(False), ["oh"]), AssertionError, "oh"),
    "py_function of no callable": (lambda: al.py_function(3, [1], al.int32), TypeError, "callable"),
    "py_function gives another dtype": (lambda: al.py_function(lambda x: 0.5, [1], al.int32), TypeError, "int32"),
    "py_function gives too few": (
        lambda: al.py_function(lambda x: (1, 2), [1], [al.int32] * 3), ValueError, "gave 2 values, Tout has 3",
    ),
    "options outside of a loop": (
        lambda: al.function(lambda: al.set_loop_options(parallel_iterations=3))(), ValueError, "first statement",
    ),
}  # fmt: skip


@each(MISUSES)
def test_misuse_is_refused_with_a_sentence_that_mends_it(name):
    misuse, error, words = MISUSES[name]
    with pytest.raises(error) as caught:
        misuse()
    assert re.search(words, str(caught.value), re.DOTALL), str(caught.value)


def test_the_table_is_long_enough():
    assert len(MISUSES) >= 120


def test_nothing_is_left_behind_by_a_refusal():
    from_inside = []

    def body(i):
        from_inside.append(al.get_default_graph())
        raise RuntimeError("in body")

    with pytest.raises(RuntimeError, match="in body"):
        al.while_loop(TRUE, body, [0])
    assert al.get_default_graph() is not from_inside[0]
    assert al.while_loop(TRUE, KEEP, [0])[0].numpy() == 3
