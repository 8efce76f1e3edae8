"""Loops and gradients run where what this system has is missing: if machine code needs it without, which is said."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
from executors import NATIVE
from other_system import OPTIONAL

TESTS = os.path.dirname(__file__)
ROOT = os.path.dirname(TESTS)
PROGRAM = """
    import contextlib, io, sys, tempfile
    import numpy as np
    import autoloop as al
    from autoloop.cli import main

    def counted(x):
        i = 0
        while i < 20000:
            x = x * 0.5 + i
            i += 1
        return x

    def chain(a):
        for _ in range(5):
            a = a @ a * 0.01
        return np.exp(-a).sum()

    def swapped(w):
        last = al.while_loop(lambda i, s: i < 50, lambda i, s: (i + 1, al.tanh(s * 1.01)), (0, w), swap_memory=True)[1]
        return al.sum(last)

    a = np.random.default_rng(0).random((40, 40))
    for executor in EXECUTORS:
        f, g = al.function(counted, executor=executor), al.function(chain, executor=executor)
        for _ in range(3):
            assert f(np.float64(0.5)) == counted(np.float64(0.5))
            assert np.allclose(g(a), chain(a), rtol=1e-12, atol=0)
        assert al.grad(g)(a).shape == a.shape
    assert al.grad(swapped)(al.constant(a)).shape == (40, 40)
    assert [x.numpy() for x in al.while_loop(lambda i: i < 5, lambda i: [i + 1], [0])] == [5]
    report = str(al.explain(al.function(counted), np.float64(0.5)))
    if not HAS_MMAP:
        assert "machine code needs " in report and "mmap" in report, report
        try:
            al.function(counted, executor="native")(np.float64(0.5))
        except ImportError as error:
            assert "mmap" in str(error), error
        else:
            raise AssertionError
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
        main(["--version"])
    assert said.getvalue().strip() == f"autoloop {al.__version__}"
    print("done on", sys.platform)
"""
MACHINE_CODE = {"darwin": NATIVE, "linux": NATIVE}  # Windows has other names for libraries, which only it can look up


def _run(system, machine, missing, folder):
    executors = ["auto", "sequential", "dataflow"] + ["native"] * (not missing and MACHINE_CODE.get(system, False))
    program = folder / "program.py"
    program.write_text(f"EXECUTORS, HAS_MMAP = {executors}, {not missing}\n" + textwrap.dedent(PROGRAM))
    command = [sys.executable, os.path.join(TESTS, "other_system.py"), system, machine, *missing, program]
    path = os.pathsep.join([ROOT, os.path.join(ROOT, "runtime")])
    environment = {**os.environ, "PYTHONPATH": path, "AUTOLOOP_CACHE_DIR": str(folder / "cache")}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout.strip()) == (0, f"done on {system}"), ran.stderr
    return ran


def test_without_what_only_posix_has_and_what_python_may_be_built_without(tmp_path):
    _run("win32", "AMD64", OPTIONAL, tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("system, machine", [("win32", "AMD64"), ("darwin", "arm64"), ("linux", "aarch64")])
def test_other_systems(system, machine, tmp_path):
    _run(system, machine, (), tmp_path)
