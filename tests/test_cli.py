"""The command line: what it prints, what it writes, and what it says when something is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from api import TensorSpec
from autoloop.cli import main, show
from autoloop.cli.arguments import ArgumentError, parse_arguments
from autoloop.cli.problems import UsageError
from autoloop.cli.target import Target
from autoloop.viewing import highlight

SOURCE = '''
import autoloop as al

@al.function
def collatz(n):
    """How many steps."""
    steps = 0
    # until one
    while n > 1:
        n = al.where(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    return steps

def count(n):
    i = 0
    while i < n:
        i += 1
    return i

def pair(x, y=2):
    return {"sum": x + y, "both": (x, [y, None])}

def fails(x):
    while x < 10:
        assert x < 5, "x got too large"
        x += 1
    return x

class Model:
    weight = 3.0

    @al.function
    def apply(self, x):
        return x * self.weight

    @staticmethod
    def plain(x):
        return x + 1

class Sized:
    def __init__(self, size):
        self.size = size

    def apply(self, x):
        return x * self.size

number = 3

if __name__ == "__main__":
    raise SystemExit("the main part ran")
'''


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "job.py"
    path.write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("NO_COLOR", "1")
    yield "job.py"
    place = str(path.resolve())
    for name in [n for n, m in sys.modules.items() if getattr(m, "__file__", None) == place]:
        del sys.modules[name]


def run(capsys, *argv):
    code = main(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


# -- show ---------------------------------------------------------------------------------------------------


def test_show_prints_code_that_compiles(file, capsys):
    code, out, err = run(capsys, "show", f"{file}:collatz")
    assert (code, err) == (0, "")
    compile(out, "shown", "exec")
    assert "def collatz(n):" in out and "while_stmt" in out and "\x1b" not in out


def test_show_side_by_side(file, capsys):
    code, out, _ = run(capsys, "show", f"{file}:collatz", "--side-by-side")
    lines = out.splitlines()
    assert code == 0 and lines[0].startswith("original") and lines[0].endswith("| converted")
    assert any("  9     while n > 1:" in line.partition("|")[0] for line in lines)
    assert len({line.index("|") for line in lines[2:] if "|" in line}) == 1
    assert any("while_stmt" in line.partition("|")[2] for line in lines)


def test_show_html_is_a_page_with_both(file, capsys):
    code, out, _ = run(capsys, "show", f"{file}:collatz", "--html")
    assert code == 0 and out.startswith("<!DOCTYPE html>")
    assert '<span class="keyword">while</span>' in out and "while_stmt" in out
    assert out.count("<section>") == 2


def test_show_the_sequential_stage(file, capsys):
    code, out, _ = run(capsys, "show", f"{file}:collatz", "--stage", "sequential", "--args", "int32[]")
    assert code == 0
    compile(out, "shown", "exec")
    assert "def run(n):" in out and "while" in out


def test_show_a_method(file, capsys):
    code, out, _ = run(capsys, "show", f"{file}:Model.apply")
    assert code == 0 and "def apply(self, x):" in out


def test_long_lines_are_wrapped_on_a_terminal():
    made = show._Made("long = " + "1 + " * 40 + "1\n", "converted", [7])
    text = show._side_by_side(("x = 1\n", 7), made, True, 60)
    plain = text
    for code in (*highlight._ANSI.values(), highlight._RESET):
        plain = plain.replace(code, "")
    assert plain != text
    assert max(map(len, plain.splitlines())) <= 60
    assert plain.count("1") >= 41 and "   7 x = 1" in plain


# -- run ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("executor", [None, "auto", "dataflow", "sequential"])
def test_run_prints_the_result(file, capsys, executor):
    chosen = [] if executor is None else ["--executor", executor]
    assert run(capsys, "run", f"{file}:collatz", "--args", "tensor(27)", *chosen) == (0, "111\n", "")


def test_run_prints_the_parts_of_a_structure(file, capsys):
    code, out, _ = run(capsys, "run", f"{file}:pair", "--args", "ones(2), y=arange(2)")
    assert code == 0
    assert out.splitlines() == ["['both'][0] [1. 1.]", "['both'][1][0] [0 1]", "['both'][1][1] None", "['sum'] [1. 2.]"]


def test_run_repeatedly_prints_times(file, capsys):
    code, out, err = run(capsys, "run", f"{file}:collatz", "--args", "tensor(27)", "--repeat", "5", "--threads", "1")
    assert (code, out) == (0, "111\n")
    assert "4 calls" in err and "median" in err


def test_run_methods(file, capsys):
    assert run(capsys, "run", f"{file}:Model.apply", "--args", "tensor(2.0)")[:2] == (0, "6.0\n")
    assert run(capsys, "run", f"{file}:Model.plain", "--args", "tensor(2.0)")[:2] == (0, "3.0\n")
    code, _, err = run(capsys, "run", f"{file}:Sized.apply", "--args", "tensor(2.0)")
    assert code == 2 and "needs an instance of Sized" in err


def test_run_a_sample(capsys):
    sample = Path(__file__).parent.parent / "samples" / "newton.py"
    code, out, _ = run(
        capsys, "run", f"{sample}:newton", "--args", "float64(3.0), float64(1), float64(0.5), float64(1e-9)"
    )
    assert code == 0
    assert abs(float(out.splitlines()[0].split()[1]) - 1.4987011335) < 1e-8


# -- graph, trace, explain ----------------------------------------------------------------------------------


def test_graph_as_dot_svg_and_html(file, capsys, tmp_path):
    code, out, err = run(capsys, "graph", f"{file}:collatz", "--args", "tensor(27)")
    assert (code, err) == (0, "") and out.startswith("digraph autoloop {")
    for word in ("Enter", "Merge", "LoopCond", "Switch", "NextIteration", "Exit", "job.py:9  while n > 1:"):
        assert word in out
    assert run(capsys, "graph", f"{file}:collatz", "--args", "int32[]", "-o", "g.svg")[0] == 0
    assert ET.parse(tmp_path / "g.svg").getroot().tag.endswith("svg")
    assert run(capsys, "graph", f"{file}:collatz", "--args", "int32[]", "-o", "g.html")[0] == 0
    page = (tmp_path / "g.html").read_text(encoding="utf-8")
    assert page.count('data-line="9"') > 3 and "<svg" in page and "until one" in page


@pytest.mark.parametrize("stage", ["structured", "optimized", "regions", "lowered", "scheduled"])
def test_graph_stages(file, capsys, stage):
    code, out, _ = run(capsys, "graph", f"{file}:collatz", "--args", "int32[]", "--stage", stage)
    assert code == 0 and ("LoopCond" in out) == (stage in ("lowered", "scheduled"))


def test_graph_without_tensors_gives_a_hint(file, capsys):
    code, _, err = run(capsys, "graph", f"{file}:count", "--args", "27")
    assert code == 0 and "tensor(10)" in err


def test_trace_writes_a_timeline(file, capsys, tmp_path):
    code, out, err = run(capsys, "trace", f"{file}:collatz", "--args", "tensor(3)", "-o", "t.json")
    assert (code, out) == (0, "7\n") and "slices" in err
    assert json.loads((tmp_path / "t.json").read_text())


def test_explain(file, capsys):
    code, out, _ = run(capsys, "explain", f"{file}:collatz", "--args", "int32[]")
    assert code == 0 and "job.py:9  while n > 1:\n  converted: " in out


# -- what goes wrong ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv, words",
    [
        (["run", "nowhere.py:f"], "there is no file 'nowhere.py'"),
        (["run", "nowhere.py"], "FILE.py:FUNC"),
        (["run", "job.py"], "which function of job.py? It has collatz, count, pair, fails, Model.apply, Model.plain"),
        (["run", "job.py:colatz"], "job.py has no function 'colatz'; did you mean 'collatz'?"),
        (["run", "job.py:Model"], "name one of its methods: Model.apply"),
        (["run", "job.py:number"], "job.py is no function, but of type int"),
        (["run", "job.py:collatz"], "missing a required argument: 'n'; arguments are given with --args '...'"),
        (["run", "job.py:collatz", "--args", "float32[]"], "is a kind of tensor, not a value"),
        (["run", "job.py:collatz", "--args", "tensor(1)", "--repeat", "0"], "positive integer"),
        (["run", "job.py:collatz", "--executor", "gpu"], "invalid choice"),
        (["graph", "job.py:collatz", "--args", "1", "-o", "g.jpg"], "the format of 'g.jpg' is not clear from its name"),
        (["graph", "job.py:collatz", "--args", "1", "-o", "no/where.svg"], "cannot write"),
        (["trace", "job.py:collatz", "--args", "tensor(1)", "-o", "no/where.json"], "cannot write"),
        (['run', 'job.py:pair', '--args', '1', '2'], "are one text: --args 'zeros(3), 1e-6'"),
        ([], "COMMAND"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_line_and_code_2(file, capsys, argv, words):
    code, _, err = run(capsys, *argv)
    assert code == 2 and words in err
    assert "Traceback" not in err and err.count("\n") == 1


def test_a_failure_shows_only_the_users_lines(file, capsys):
    code, _, err = run(capsys, "run", f"{file}:fails", "--args", "tensor(1)")
    assert code == 2
    assert "AssertionError: x got too large" in err and "assert x < 5" in err
    assert "iteration 4" in err
    assert "cli" not in err and "importlib" not in err and "scheduler" not in err


def test_a_file_that_fails_when_imported(tmp_path, capsys):
    broken = tmp_path / "broken.py"
    broken.write_text("import math\nmath.sqrt('x')\n")
    code, _, err = run(capsys, "show", f"{broken}:f")
    assert code == 2 and 'broken.py", line 2' in err and "importlib" not in err and "TypeError" in err
    leaves = tmp_path / "leaves.py"
    leaves.write_text("raise SystemExit(3)\n")
    code, _, err = run(capsys, "show", f"{leaves}:f")
    assert code == 2 and "__name__" in err


def test_unsupported_code_is_told_with_its_line(tmp_path, capsys):
    path = tmp_path / "gen.py"
    path.write_text("def f(x):\n    yield x\n")
    code, _, err = run(capsys, "show", f"{path}:f")
    assert code == 2 and "line 2" in err and "Traceback" not in err


def test_modules_of_packages_are_imported_by_their_full_name(tmp_path, capsys, monkeypatch):
    package = tmp_path / "pack_of_cli"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "other.py").write_text("three = 3\n")
    (package / "job.py").write_text("from .other import three\n\ndef f(x):\n    return x + three\n")
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert run(capsys, "run", f"{package / 'job.py'}:f", "--args", "tensor(1)")[:2] == (0, "4\n")


def test_as_a_process(file):
    command = [sys.executable, "-m", "autoloop", "run", f"{file}:collatz", "--args", "tensor(27)"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "111\n", "")


def test_its_version(capsys):
    assert run(capsys, "--version")[:2] == (0, f"autoloop {al.__version__}\n")


# -- arguments ----------------------------------------------------------------------------------------------


def parsed(text):
    return parse_arguments(text)[0]


@pytest.mark.parametrize(
    "text, value",
    [
        ("", []), ("1, 2.5, 'a', None, True", [1, 2.5, "a", None, True]), ("-3, 2**10, 1e-3 * 2", [-3, 1024, 2e-3]),
        ("(1, [2, {'k': {3}}])", [(1, [2, {"k": {3}}])]), ("*(1, 2)", [1, 2]), ("range(3)", [range(3)]),
    ],
)  # fmt: skip
def test_literals(text, value):
    assert parsed(text) == value


def test_keywords():
    assert parse_arguments("1, b=2") == ([1], {"b": 2})


@pytest.mark.parametrize(
    "text, value",
    [
        ("zeros(2, 3)", np.zeros((2, 3), "f4")), ("ones((2,), float64)", np.ones(2)), ("eye(2)", np.eye(2, dtype="f4")),
        ("arange(4)", np.arange(4, dtype="i4")), ("arange(0.5, 2)", np.arange(0.5, 2, dtype="f4")),
        ("linspace(0, 1, 5)", np.linspace(0, 1, 5, dtype="f4")), ("full([2], 7)", np.full(2, 7, "i4")),
        ("float64(3)", np.float64(3)), ("tensor([1, 2], int64)", np.array([1, 2])),
        ("np.ones(2, dtype=int8)", np.ones(2, "i1")), ("float64(ones(2))", np.ones(2)),
        ("np.zeros(2)", np.zeros(2)), ("np.array([1, 2])", np.array([1, 2])), ("numpy.full(2, 0.5)", np.full(2, 0.5)),
        ("np.arange(3)", np.arange(3)), ("np.linspace(0, 1, 3, float32)", np.linspace(0, 1, 3, dtype="f4")),
        ("ones(2) * 3", np.full(2, 3, "f4")), ("int32([1, 2])", np.array([1, 2], "i4")),
    ],
)  # fmt: skip
def test_constructors(text, value):
    (made,) = parsed(text)
    assert made.dtype == value.dtype and made.shape == value.shape
    np.testing.assert_array_equal(made, value)


def test_arrays_may_be_written_to():
    (made, zeros), _ = parse_arguments("array([0.0, 4.0]), np.zeros(2)")
    made[0] = zeros[0] = 1.0
    assert made.tolist() == [1.0, 4.0] and zeros.tolist() == [1.0, 0.0]


def test_random_numbers_are_the_same_every_time():
    (a,), (b,), (c,) = parsed("random(3, 3)"), parsed("random(3, 3)"), parsed("random(3, 3, seed=1)")
    np.testing.assert_array_equal(a, b)
    assert a.dtype == np.float32 and a.shape == (3, 3) and not np.array_equal(a, c)
    assert parsed("normal(4, float64)")[0].dtype == np.float64


def test_specs():
    assert parsed("float32[None, 3], int32[]") == [TensorSpec([None, 3], "float32"), TensorSpec([], "int32")]


@pytest.mark.parametrize(
    "text, words, place",
    [
        ("1, zeroes(3)", "did you mean 'zeros'?", 3), ("1 +", "not Python", None), ("open('x')", "'open'", 0),
        ("(1).__class__", "only literals", 0), ("[x for x in (1,)]", "only literals", 0), ("1) + f(2", "", 0),
        ("'é', nme", "the name 'nme'", 5), ("zeros(-1)", "negative", 0), ("9**9**9", "too large", 0),
        ("zeros", "needs its", 0),
        ("'a' * 10", "for numbers", 0), ("2, **{}", "'**'", 5), ("lambda: 0", "only literals", 0),
        ("int32(2**40)", "", 0),
    ],
)  # fmt: skip
def test_bad_arguments_are_pointed_at(text, words, place):
    with pytest.raises(ArgumentError) as caught:
        parse_arguments(text)
    message, shown, marks = str(caught.value).split("\n")
    assert words in message and shown == f"  {text}"
    assert place is None or marks.index("^") - 2 == place


# -- colours ------------------------------------------------------------------------------------------------


def test_highlighting_keeps_the_text():
    source = "class A:\n    @f.g\n    def m(self, x=1.5):\n"
    source += '        """Two\n        lines."""\n        return f"{x!r}"  # done\n'
    lines = highlight.spans_of(source)
    assert ["".join(t for _, t in spans) for spans in lines] == source.splitlines()
    kinds = {text: kind for spans in lines for kind, text in spans}
    assert kinds["class"] == "keyword" and kinds["m"] == "name" and kinds["1.5"] == "number"
    assert kinds["# done"] == "comment" and kinds['        lines."""'] == "string" and kinds["@"] == "decorator"
    assert "x" not in kinds or kinds["x"] == ""
    assert highlight.to_terminal(lines[0], True).startswith("\x1b[35mclass\x1b[0m ")


def test_text_that_is_no_python_stays_plain():
    assert highlight.spans_of("a '''\nb") == [[("", "a '''")], [("", "b")]]


def test_colour_only_for_terminals(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")

    class Terminal:
        def isatty(self):
            return True

    assert highlight.wants_colour(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not highlight.wants_colour(Terminal())


def test_what_is_no_python(file, tmp_path, capsys):
    (tmp_path / "job.txt").write_text("text")
    code, _, err = run(capsys, "show", "job.txt:f")
    assert code == 2 and "job.txt is not a Python file" in err
    code, _, err = run(capsys, "run", f"{file}:collatz", "--args", "1), f(2")
    assert code == 2 and "the parentheses do not match" in err
    with pytest.raises(UsageError, match="the source of 'len' cannot be found"):
        Target("len", Path("job.py"), len, None).source()


def test_explain_as_json(file, capsys):
    assert main(["explain", f"{file}:collatz", "--args", "tensor(7)", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["name"] == "collatz" and report["loops"][0]["line"]["line"] == 9
    assert [one["name"] for one in report["loops"][0]["variables"]] == ["n", "steps"]


def test_a_module_is_named_instead_of_a_file(file, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "job", None)
    del sys.modules["job"]
    assert main(["run", "job:count", "--args", "3"]) == 0
    assert capsys.readouterr().out == "3\n"
    assert main(["show", "job"]) == 2
    assert "which function of job? It has collatz, count" in capsys.readouterr().err
    assert main(["show", "no_such_module:f"]) == 2
    assert "there is no file 'no_such_module'" in capsys.readouterr().err


def test_functions_of_notebooks(file, capsys):
    up = "@al.function\ndef up(n):\n    i = 0\n    while i < n:\n        i += 1\n        assert i < 5\n    return i"
    texts = ["%load_ext autoloop\n!ls\nimport autoloop as al", "%%bash\nls -l", up]
    cells = [("markdown", "# *a title*"), *(("code", text) for text in texts)]
    book = {"cells": [{"cell_type": kind, "source": text.splitlines(True)} for kind, text in cells], "nbformat": 4}
    Path("book.ipynb").write_text(json.dumps(book))
    assert main(["show", "book.ipynb:up"]) == 0
    assert "ops.while_stmt" in capsys.readouterr().out
    assert main(["run", "book.ipynb:up", "--args", "tensor(9)"]) == 2
    assert "assert i < 5" in (said := capsys.readouterr().err) and "book.ipynb[3]" in said
    Path("empty.ipynb").write_text("[]")
    assert main(["show", "empty.ipynb:up"]) == 2
    assert "empty.ipynb is not a notebook" in capsys.readouterr().err


def test_error_says_what_a_code_means(capsys):
    assert main(["error", "[al105]"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("AL105: a shape that changes in a loop") and "AL106" not in said
    assert main(["error"]) == 0
    assert "AL902: an argument that is not taken" in capsys.readouterr().out
    assert main(["error", "AL999"]) == 2
    assert "there is no message with the code 'AL999'" in capsys.readouterr().err
