"""The examples of the ``tf.while_loop`` documents, in our own words and, where the documents are there, as printed."""

from __future__ import annotations

import collections
import contextlib
import doctest
import io
import re
from pathlib import Path

import autoloop
import numpy as np
import pytest
from autoloop.compat import v1

DOCUMENTS = Path(__file__).resolve().parents[2] / "shared" / "reference"
needs_documents = pytest.mark.skipif(not DOCUMENTS.is_dir(), reason="the reference documents are not here")


@pytest.fixture(autouse=True)
def fresh_default_graph():
    v1.reset_default_graph()
    yield
    v1.reset_default_graph()


def run(source: str, namespace: dict) -> str:
    """What running ``source`` prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, "<reference>", "exec"), namespace)
    return out.getvalue()


# -- in our own words -------------------------------------------------------------------------------------


def counter(tf):
    i = tf.constant(0)
    return tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, 1), [i])


def test_counter_gives_the_structure_of_loop_vars():
    (r,) = counter(autoloop)
    assert r.numpy() == 10


def test_counter_gives_one_tensor_in_v1():
    r = counter(v1)
    with v1.Session() as sess:
        assert sess.run(r) == 10


def test_nesting_and_a_namedtuple():
    Pair = collections.namedtuple("Pair", "j, k")
    start = (autoloop.constant(0), Pair(autoloop.constant(1), autoloop.constant(2)))
    i, pair = autoloop.while_loop(lambda i, p: i < 10, lambda i, p: (i + 1, Pair(p.j + p.k, p.j - p.k)), start)
    assert (i.numpy(), pair.j.numpy(), pair.k.numpy()) == (10, 32, 64)
    assert isinstance(pair, Pair)


def test_growing_matrix_needs_its_invariant():
    i0, m0 = autoloop.constant(0), autoloop.ones([2, 2])

    def loop(**invariants):
        return autoloop.while_loop(
            lambda i, m: i < 10, lambda i, m: [i + 1, autoloop.concat([m, m], axis=0)], [i0, m0], **invariants
        )

    assert loop(shape_invariants=[i0.get_shape(), autoloop.TensorShape([None, 2])])[1].shape == (2048, 2)
    with pytest.raises(ValueError, match=r"'m'.*\(2, 2\).*\(4, 2\).*shape_invariants"):
        loop()


def test_variables_initialisers_and_control_flow_in_one_session():
    i = v1.get_variable("i", dtype=v1.int32, shape=[], initializer=v1.ones_initializer())
    n = v1.constant(10)
    ii, nn = v1.while_loop(lambda a, n: a < n, lambda a, n: (a + 2, n), [i, n])
    with v1.Session() as sess:
        v1.global_variables_initializer().run()
        assert sess.run([ii + 3, nn + 4]) == [14, 14]


def test_only_the_counter_is_fetched_then_x_never_moves(capfd):
    n = 50
    x = v1.constant(list(range(n)))
    i, out = v1.while_loop(lambda i, x: i < n, lambda i, x: (v1.Print(i + 1, [i]), v1.Print(x + 1, [i], "x:")), (0, x))
    with v1.Session() as sess:
        assert sess.run(i) == n
        assert capfd.readouterr().err.split() == [f"[{k}]" for k in range(n)]
        np.testing.assert_array_equal(sess.run(out), np.arange(n) + n)
    lines = capfd.readouterr().err.split()
    assert sorted(line for line in lines if line.startswith("x:")) == sorted(f"x:[{k}]" for k in range(n))
    assert len(lines) == 2 * n


def test_sum_of_squares_both_ways():
    @autoloop.function
    def converted(n):
        i, result = autoloop.constant(0), autoloop.constant(0)
        while i < n:
            result += i * i
            i += 1
        return result

    @autoloop.function
    def by_hand(n):
        i, result = autoloop.constant(0), autoloop.constant(0)
        return autoloop.while_loop(
            lambda i, _: autoloop.less(i, n), lambda i, result: (i + 1, result + i * i), [i, result]
        )[1]

    assert converted(10).numpy() == by_hand(10).numpy() == 285


# -- as printed -------------------------------------------------------------------------------------------

BLOG = """\
i = tf.get_variable("i", dtype=tf.int32, shape=[], initializer=tf.ones_initializer())
n = tf.constant(10)
def cond(a, n): return a< n
def body(a, n): a = a + 2; return a, n
ii, nn = tf.while_loop(cond, body, [i, n])
v1=ii+3
v2=nn+4
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    res = sess.run([v1, v2])
    print(res)
"""


@needs_documents
def test_understanding_while_loop_as_printed():
    """The page lost its line breaks; put back, it is the text word for word."""
    text = (DOCUMENTS / "understanding_while_loop.md").read_text()
    squeeze = re.compile(r"[\s;]+")
    assert squeeze.sub("", BLOG) in squeeze.sub("", text)
    assert "14" in run(BLOG, {"tf": v1})


def fenced(name: str) -> list[str]:
    text = (DOCUMENTS / name).read_text().replace("</pre>", "")
    blocks = re.findall(r"```(?:python)?\n(.*?)```", text, re.S)
    return [b for b in blocks if "tf." in b]


def dedent(block: str) -> str:
    lines = [line for line in block.splitlines() if line.strip()]
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    return "\n".join(line[margin:] for line in lines)


@needs_documents
@pytest.mark.parametrize("tf", [autoloop, v1], ids=["autoloop", "v1"])
@pytest.mark.parametrize("name", ["while_loop_r0.md", "while_loop_r1_4.md"])
def test_fenced_examples_as_printed(name, tf):
    blocks = fenced(name)
    assert len(blocks) == 3
    results = []
    for block in blocks:
        namespace = {"tf": tf}
        run(dedent(block), namespace)
        results.append(namespace)
    r, final = results[0]["r"], results[1]["ijk_final"]
    if tf is v1:
        with v1.Session() as sess:
            r, final = sess.run(r), sess.run(final)
    else:
        r = r[0]
    assert int(r) == 10
    assert [int(v) for v in final[1]] == [32, 64]


@needs_documents
@pytest.mark.parametrize("tf", [autoloop, v1], ids=["autoloop", "v1"])
def test_plain_page_as_printed(tf, capfd):
    text = (DOCUMENTS / "while_loop_v2.md").read_text()
    parts = text.split("\n\n")
    examples = [p for p in parts if re.match(r"(i = tf|import collections|i0 = tf)", p)]
    assert len(examples) == 3
    for example in examples:
        run(example, {"tf": tf})
    start = text.index("n = 10000")
    nonstrict = text[start : text.index("print(sess.run(out).shape)", start)] + "print(sess.run(out).shape)"
    printed = run(nonstrict, {"tf": tf})
    assert printed.split() == ["10000", "(10000,)"]
    assert "[9999]" in capfd.readouterr().err


@needs_documents
@pytest.mark.parametrize("tf", [autoloop, v1], ids=["autoloop", "v1"])
def test_doctests_as_printed(tf, capfd):
    text = (DOCUMENTS / "while_loop_v2_16.md").read_text()
    if tf is v1:  # graph tensors have no .numpy(): only what does not ask for one can run
        text = text[text.index("with tf.compat.v1.Session()") - 200 :]
        text = text[text.index("```") :]
    text = text.replace("```", "").replace("<tf.Tensor: ", "<Tensor: ")  # a library of another name says no "tf."
    examples = doctest.DocTestParser().get_doctest(text, {"tf": tf}, "reference", None, 0)
    assert len(examples.examples) >= 1
    output = io.StringIO()
    with np.printoptions(legacy="1.25"):  # the page was made when NumPy printed 285 and not np.int32(285)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(examples, out=output.write)
    assert runner.failures == 0, output.getvalue()
