"""What runs is what was read, whatever its file says now; and functions whose text stands in no file."""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
from autoloop.conversion import changed_files

ODD = r"""
import autoloop as al

@al.function
def grown(x):
    '\mu is no escape'
    while x.sum() < 10:
        x = x * (2 if '' is not () else '\d')
    return x

kept = al.function(lambda x: x * len('\d'))
"""
NAMES = (f"changed_{number}" for number in itertools.count())
MODULE = """
import numpy as np, autoloop as al

FACTOR = 2

def larger(x):
    return x * FACTOR

@al.function
def grown(x):
    '''Of several lines,
    as many texts are.'''
    while x.sum() < 10:
        x = larger(x)
    return x

class Steps:
    @al.function
    def after(self, x, n):
        for i in range(n):
            x = x + 1
        return x
"""


class Written:
    """A module, as somebody writes it and writes it again."""

    def __init__(self, folder):
        self.name = next(NAMES)
        self.file = folder / f"{self.name}.py"
        self.times = itertools.count(int(time.time()) + 1)

    def write(self, text):
        self.file.write_text(text)
        written = next(self.times)
        os.utime(self.file, (written, written))


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Written(tmp_path)
    made.write(MODULE)
    yield made
    sys.modules.pop(made.name, None)


def test_a_file_that_was_changed_after_it_was_read(written):
    module = importlib.import_module(written.name)
    written.write(MODULE.replace("x * FACTOR", "x * 5"))
    with pytest.warns(UserWarning, match=r"larger runs as plain Python.* has changed since 'larger' was read from it"):
        assert list(module.grown(np.ones(2))) == [8, 8]
    steps = module.Steps()
    assert list(steps.after(np.ones(2), np.int64(3))) == [4, 4] and steps.after.tracing_count == 1


def test_an_older_file_that_was_moved_there(written, tmp_path):
    older = tmp_path / "older.txt"
    older.write_text(MODULE.replace("x * FACTOR", "x * 5"))
    os.utime(older, (1, 1))
    module = importlib.import_module(written.name)
    older.replace(written.file)
    with pytest.warns(UserWarning, match="has changed since 'larger' was read from it"):
        assert list(module.grown(np.ones(2))) == [8, 8]


def test_functions_that_stand_elsewhere_by_now_are_found(written):
    module = importlib.import_module(written.name)
    written.write(f"# a comment\n\n{MODULE}")
    assert list(module.grown(np.ones(2))) == [8, 8] and module.grown.tracing_count == 1


@pytest.fixture
def run():
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    from IPython.utils.capture import capture_output

    shell = interactive.InteractiveShell.instance()

    def run(cell):
        with capture_output() as out:
            shell.run_cell(cell, store_history=True)
        assert not out.stderr, out.stderr
        return out.stdout

    run("import numpy as np, autoloop as al")
    yield run
    interactive.InteractiveShell.clear_instance()


def test_autoreload(written, run):
    run(f"%load_ext autoreload\n%autoreload 2\nimport {written.name} as m\nfrom {written.name} import grown")
    run("steps = m.Steps()\n@al.function\ndef around(x):\n    return grown(x) + 0")
    call = "print(*(int(v[0] * 8) for v in (m.grown(x), grown(x), around(x), steps.after(x, np.int64(3)))))"
    asked = f"x = np.ones(2)\n{call}"
    assert run(asked) == "64 64 64 32\n"
    for old, new, expected in (
        ("x * FACTOR", "x * 3 + FACTOR", "40 40 40 32"),
        ("x = larger(x)", "x = larger(x) + 0.5", "44 44 44 32"),
        ("x + 1", "x + 100", "64 64 64 2408"),
        ("FACTOR = 2", "FACTOR = np.float64(4)", "128 128 128 32"),  # so the whole module is loaded again
        ("x = larger(x)", "x = larger(x) + 0.25", "78 78 78 32"),
    ):
        written.write(MODULE.replace(old, new))
        assert run(asked) == f"{expected}\n", new
    # each was a graph
    assert run("print(m.grown.tracing_count > 0, steps.after.tracing_count > 0)") == "True True\n"


CELL = """
@al.function
def grown(x):
    while x.sum() < 10:
        x = x * 2
    return x
print(grown(np.ones(2)), grown.tracing_count, grown(al.ones(2)).numpy())
"""


def test_a_function_in_a_timed_cell(run):
    assert run(f"%%time\n{CELL}").startswith("[8. 8.] 1 [8. 8.]\n")
    assert run(f"%%time\n{CELL.replace('* 2', '* 3')}").startswith("[9. 9.] 1 [9. 9.]\n")


@pytest.mark.nightly
@pytest.mark.parametrize("way", ["file", "pipe", "argument"])
def test_a_program_from_standard_input_or_an_argument(way, tmp_path):
    text = f"import numpy as np, autoloop as al\n{CELL}"
    path = tmp_path / "program"
    path.write_text(text)
    with path.open() as file:
        how = {"file": {"stdin": file}, "pipe": {"input": text}, "argument": {}}[way]
        words = ["-c", text] if way == "argument" else ["-"]
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=100, **how)
    if way == "pipe":
        said = "no source text for 'grown' in '<stdin>': a file has it, or a cell"
        assert f"grown runs as plain Python, without conversion: {said}" in done.stderr
        assert f"'grown' is not converted: {said}." in done.stderr
    else:
        assert (done.stdout, done.stderr) == ("[8. 8.] 1 [8. 8.]\n", "")


def test_which_code_is_the_same():
    pairs = {
        "def f(x): return x + 1": "def f(x): return x + 1.0",
        "def f(x): return x[0]": "def f(x): return x[1]",
        "def f(x): return [y + 1 for y in x]": "def f(x): return [y + 2 for y in x]",
        "def f(x): 'a'; return x": "def f(x): 'b'; return x",
        "def f(x): return x.a": "def f(x): return x.b",
    }
    for one, other in pairs.items():
        (first,), (second,), (moved,) = (
            [code for code in changed_files._functions(text, "f.py") if code.co_name == "f"]
            for text in (one, other, f"class A:\n  {one}")
        )
        assert not changed_files._same(first, second) and changed_files._same(first, moved)


def test_what_python_finds_odd_in_a_text_it_has_told(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(ODD)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(ODD, str(path), "exec"), odd := {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert odd["grown"](np.ones(2)).tolist() == [8.0, 8.0] and odd["kept"](np.ones(2)).tolist() == [2.0, 2.0]
