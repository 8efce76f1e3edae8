"""``show``: what a function became, beside the lines that it comes of; of derivatives, their graphs."""

from __future__ import annotations

import ast
import re
from itertools import pairwise

import autoloop as al
import numpy as np
import pytest
from autoloop.cli import main
from autoloop.conversion.pipeline import code_and_lines
from autoloop.viewing.beside import Row, rows_of, rows_of_either
from executors import needs_native

SOURCE = '''\
import functools
import autoloop as al
import numpy as np


@al.function
def halved(x, n):
    """Halve.

    More.
    """
    # until it is small
    while x.max() > 1:
        x = np.where(
            x > 1,
            x / 2,
            x,
        )
    else:
        n = n + 1
    for i in range(2):
        n = n * i
    return x, n


def loss(x):
    s = 0.0
    while s < 10.0:
        s = s + (x * x).sum()
    return s


slope = al.grad(loss)
bent = functools.partial(loss)
'''
FIRST = SOURCE.split("\n").index("@al.function") + 1


@pytest.fixture
def file(tmp_path, monkeypatch):
    (tmp_path / "halving.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return "halving.py"


def shown(capsys, *argv):
    assert main(["show", *argv]) == 0
    return capsys.readouterr().out


def halved(x):
    """Halve,

    and halve again."""
    # while it is large
    while x > 1:
        x = x / 2
    return x


@pytest.mark.parametrize("f", [halved, lambda x: x if x > 1 else 2])
def test_each_line_of_converted_source_knows_where_it_comes_from(f):
    text, lines = code_and_lines(f)
    first = f.__code__.co_firstlineno
    assert text == al.to_code(f) and len(lines) == len(text.splitlines())
    assert lines[:4] == [0, 0, 0, first]
    if f is halved:
        of = dict(zip(map(str.strip, text.splitlines()), lines, strict=True))
        assert of["# while it is large"] == of["def loop_test(x):"] == first + 5
        assert of["x = x / 2"] == first + 6 and of["return x"] == first + 7


def test_lines_stand_beside_what_comes_of_them():
    def line(text):
        return [("", text)]

    left, right = [line(c) for c in "abcd"], [line(c) for c in "stuvwxyz"]
    rows = rows_of(left, 5, right, [0, 5, 5, 7, 7, 7, 6, 99])
    assert [(r.number, r.left and r.left[0][1], r.right and r.right[0][1]) for r in rows] == [
        (None, None, "s"), (5, "a", "t"), (None, None, "u"), (6, "b", []), (7, "c", "v"), (8, "d", "w"),
        (None, None, "x"), (6, None, "y"), (None, None, "z"),
    ]  # fmt: skip
    assert rows_of_either(left[:1], 5, right[:2]) == [Row(5, line("a"), line("s")), Row(None, None, line("t"))]


def test_side_by_side_with_the_types_of_loop_variables(file, capsys):
    given = ["--side-by-side", "--args", "np.ones(3), np.int64(2)"]
    rows = [row.partition(" | ")[::2] for row in shown(capsys, f"{file}:halved", *given).splitlines()[2:]]
    sides = {left.strip(): right.strip() for left, right in rows if left.strip()}
    assert sides[f"{FIRST} @al.function"] == "from autoloop import operators as ops"
    assert sides[f"{FIRST + 1} def halved(x, n):"] == "def halved(x, n):"
    assert sides[f"{FIRST + 8}     x = np.where(".replace("     ", "         ")].startswith("x = ops.call(np.where)(")
    said = [right.strip() for _, right in rows]
    assert "# a loop of the graph, which carries x: float64[3]" in said
    assert "# unrolled: it iterates over a Python range" in said
    assert [left for left, _ in rows if "..." in left]  # what comes of a line further down has its number
    # every line of the source, once and in order
    shown_lines = [int(left.split()[0]) for left, _ in rows if left.strip() and "..." not in left]
    assert all(b == a + 1 for a, b in pairwise(shown_lines)) and shown_lines[0] == FIRST


def test_a_partial_has_the_source_of_its_function(file, capsys):
    assert "| def loss(x):" in shown(capsys, f"{file}:bent", "--side-by-side")


def test_comments_on_loops_keep_it_python(file, capsys):
    text = shown(capsys, f"{file}:halved", "--args", "np.ones(3), np.int64(2)")
    assert "# a loop of the graph" in text and ast.dump(ast.parse(text)) == ast.dump(
        ast.parse(shown(capsys, f"{file}:halved"))
    )


@pytest.mark.parametrize("stage, word", [
    ("source", "@al.function"), ("structured", "While("), ("optimised", "While("), ("lowered", "NextIteration("),
    ("python", "def run(x):"), ("sequential", "def run(x):"),
])  # fmt: skip
def test_stages_beside_the_source(file, capsys, stage, word):
    text = shown(capsys, f"{file}:loss", "--side-by-side", "--stage", stage, "--args", "np.ones(3)")
    assert word in text or stage == "source"
    row = next(row for row in text.splitlines() if "s = s + (x * x).sum()" in row)
    assert row.partition("|")[2].strip()


@needs_native
@pytest.mark.parametrize("stage", ["llvm", "asm"])
def test_machine_code_beside_the_source(file, capsys, stage):
    text = shown(capsys, f"{file}:loss", "--side-by-side", "--stage", stage, "--args", "np.ones(3)")
    assert "s = s + (x * x).sum()" in text and len({row.index("|") for row in text.splitlines()[2:]}) == 1


def test_derivatives_show_their_graphs_and_not_the_wrapper(file, capsys):
    text = shown(capsys, f"{file}:slope")
    assert "def loss(x):" in text and "grad(loss) was not traced yet" in text and "self._call" not in text
    graph = shown(capsys, f"{file}:slope", "--args", "np.ones(3)")
    assert "gradient.0, gradient.1" in graph and "Accumulate(" in graph
    assert main(["graph", f"{file}:slope", "--args", "np.ones(3)", "--stage", "optimised"]) == 0
    assert 'label="slope(x)' in capsys.readouterr().out
    assert main(["explain", f"{file}:slope", "--args", "np.ones(3)"]) == 0
    assert capsys.readouterr().out.startswith("grad(loss)\n")


def test_derivatives_in_python():
    def loss(x):
        return (x * x).sum()

    for make in (al.grad, al.value_and_grad):
        for f in (loss, al.function(loss, executor="sequential")):
            slope = make(f)
            assert "was not traced yet" in al.to_code(slope)
            slope(np.ones(2))
            code = al.to_code(slope)
            assert f"# {make.__name__}(loss) runs this graph" in code and "# multiply" in code
            compile(code, "shown", "exec")
            assert al.draw(slope, np.ones(2)).picture.title == f"{make.__name__}(loss)(x)"
            assert al.explain(slope, np.ones(2)).traces == ("float64[2]",)  # that of the call
    assert al.explain(slope, np.ones(2)).executor == "sequential"
    assert "grad(grad(loss)) was not traced yet" in al.to_code(al.grad(al.grad(loss)))
    assert al.draw(al.jacobian(loss), np.ones(2)).picture.title == "jacobian(loss)(x)"
    assert "was not traced" not in al.to_code(al.custom_gradient(lambda x: (x * x, lambda g: g)))


def test_pages_have_the_lines_that_light_up_together(file, capsys):
    page = shown(capsys, f"{file}:halved", "--html")
    assert page.count(f'data-line="{FIRST + 7}"') > 3 and "mouseenter" in page


def test_lines_end_where_python_ends_them(tmp_path, capsys):
    path = tmp_path / "odd.py"
    text = 'def f(x):\n    """A\u2028b\x0c."""\n    while x < 3:\n        x = x + 1\n    return x\n'
    path.write_text(text, encoding="utf-8")
    for options in ([], ["--side-by-side"], ["--html"], ["--args", "np.float64(1)", "--side-by-side"]):
        assert main(["show", f"{path}:f", *options]) == 0
        out = capsys.readouterr().out
        assert options == ["--html"] or "x = x + 1" in out, options
    assert re.search(r" 4 +x = x \+ 1 +\| +x = x \+ 1", out), out
