"""``children.py``: a program that is a fork of a process with the library in it is like one that was started afresh."""

from __future__ import annotations

import os
import subprocess
import textwrap

import children
import pytest


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.nightly)], ids=["fork", "afresh"])
def run(request, monkeypatch, tmp_path):
    if not hasattr(os, "fork") and not request.param:
        pytest.skip("needs fork")
    monkeypatch.setattr(children, "afresh", request.param)

    def run(code, timeout=30, **environment):
        (tmp_path / "program.py").write_text(textwrap.dedent(code))
        return children.run_program(tmp_path / "program.py", tmp_path, {**os.environ, **environment}, timeout)

    return run


def test_a_program_finds_itself_where_it_was_put(run, tmp_path):
    (tmp_path / "beside.py").write_text("value = 3")
    done = run("""
        import os, sys, threading
        import beside
        def of_main(): pass
        print(__name__, of_main.__module__, sys.modules["__main__"].of_main is of_main, sys.argv == [__file__])
        print(os.getcwd(), os.path.dirname(__file__), os.environ["FOR_IT"])
        print(beside.value, threading.active_count(), "für")
        print("to the other", file=sys.stderr)
    """, FOR_IT="only")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "to the other\n")
    assert done.stdout == f"__main__ __main__ True True\n{tmp_path} {tmp_path} only\n3 1 für\n"


def test_nothing_is_left_for_the_next(run):
    assert run("import os, decimal; os.environ['A'] = 'b'; import autoloop; autoloop.mine = 1").returncode == 0
    assert run("import os, autoloop; print('A' in os.environ, hasattr(autoloop, 'mine'))").stdout == "False False\n"


@pytest.mark.parametrize(
    "code, returned, said",
    [
        ("import sys; sys.exit(3)", 3, ""), ("import os; os._exit(4)", 4, ""), ("1 / 0", 1, "ZeroDivisionError"),
        ("import warnings; warnings.warn('x', DeprecationWarning)", 1, "DeprecationWarning"), ("x =", 1, "SyntaxError"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -9, ""),
        ("import atexit; atexit.register(lambda: 1 / 0)", 0, "ZeroDivisionError"),
    ],
)  # fmt: skip
def test_how_it_ends_is_told(run, code, returned, said):
    done = run(code)
    assert (done.returncode, done.stdout) == (returned, "")
    assert said in done.stderr and bool(said) is bool(done.stderr)


def test_one_that_hangs_is_ended(run):
    with pytest.raises(subprocess.TimeoutExpired):
        run("import time; time.sleep(60)", timeout=0.3)
    assert run("print(1)").stdout == "1\n"
