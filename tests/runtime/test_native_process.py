"""Where machine code is compiled and linked: another process, this one's memory, and what happens when that fails."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path

import autoloop_runtime.ops  # noqa: F401  fills the table of primitives
import numpy as np
import pytest
from autoloop_runtime.codegen.native import compiler, linker, process
from autoloop_runtime.codegen.native.compile import compile_ir, host
from native_checks import compile_native, graph_of

pytestmark = pytest.mark.skipif(not linker.is_supported(), reason="LLVM works in this process here")

ADD = """
define i64 @"{name}"(i64 %x) {
  %y = add i64 %x, NUMBER
  ret i64 %y
}
"""


def function(number, ir=ADD):
    """The function that adds ``number``; compiled when it is called, for no other has asked for this number."""
    code = compile_ir(ir.replace("NUMBER", str(number)), {}, None)
    made = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address)
    made.keep = code
    return made


def test_llvm_is_not_in_this_process():
    code = """
import sys, numpy as np, autoloop as al
f = al.function(lambda x: al.sin(x @ x), autograph=False, executor="native")
f(np.ones((9, 9)))
assert "llvmlite" not in sys.modules
with open("/proc/self/maps") as maps:
    assert "llvmlite" not in maps.read()
"""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", code], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_a_compiler_that_has_ended_is_started_again():
    assert function(101)(1) == 102
    running = process._running
    running._process.stdin.close()  # nothing more will be asked
    assert running._process.wait(timeout=30) == 0
    assert function(102)(1) == 103
    assert process._running is not running


def test_a_compiler_that_crashes_is_an_error_and_the_next_one_works():
    function(103)
    os.kill(process._running._process.pid, signal.SIGKILL)
    process._running._process.wait()
    with pytest.raises(process.CompilerDied):
        function(104)
    assert function(105)(1) == 106


def test_what_llvm_rejects_is_an_error_with_its_message():
    with pytest.raises(RuntimeError, match="LLVM IR parsing error"):
        function(106, "nonsense NUMBER")
    assert function(107)(1) == 108


@pytest.mark.parametrize("executable", ["", "/usr/sbin/uwsgi", "/nowhere/python3"])
def test_without_an_interpreter_llvm_works_in_this_process(monkeypatch, executable):
    process._forget()
    monkeypatch.setattr(sys, "executable", executable)
    assert function(201 + len(executable))(1) == 202 + len(executable)
    assert not process.is_running()


def test_what_is_interrupted_leaves_no_answer_behind(monkeypatch):
    function(108)
    running = process._running

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(process.json, "loads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            function(109)
    assert running._process.returncode is not None
    assert function(110)(1) == 111


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_compiler_of_its_own():
    function(111)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if function(112)(1) == 113 and process._running.owner == os.getpid() else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert function(113)(1) == 114


# -- the linker -------------------------------------------------------------------------------------------

GLOBALS = """
@table = private constant [3 x i64] [i64 5, i64 7, i64 NUMBER]
@count = internal global i64 0
@start = internal global i64 40
@alias = internal alias i64, ptr @start
declare i32 @getpid()
define i64 @"{name}"(i64 %x) {
  %n = load i64, ptr @count
  %m = add i64 %n, 1
  store i64 %m, ptr @count
  %p = getelementptr [3 x i64], ptr @table, i64 0, i64 %x
  %t = load i64, ptr %p
  %i = call i32 @getpid()
  %j = zext i32 %i to i64
  %a = add i64 %j, %t
  %s = load volatile i64, ptr @alias
  %u = add i64 %a, %s
  %v = add i64 %u, %m
  ret i64 %v
}
"""


def test_constants_variables_and_functions_of_the_c_library():
    f = function(1000, GLOBALS)
    assert [f(k) - os.getpid() for k in range(3)] == [5 + 40 + 1, 7 + 40 + 2, 1000 + 40 + 3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_variables_of_its_own():
    f = function(1001, GLOBALS)
    pid = os.fork()
    if pid == 0:
        f(0)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert f(0) - os.getpid() == 5 + 40 + 1


def test_code_cannot_be_written_to():
    f = function(114)
    lines = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
    (rights,) = [
        line[1] for line in lines if (ends := [int(x, 16) for x in line[0].split("-")])[0] <= f.keep.address < ends[1]
    ]
    assert rights.startswith("r-x")


def image(ir, name="f"):
    return compiler.to_object(ir.replace("{name}", name), host().described())


def test_what_is_not_understood_is_left_to_llvm():
    good = image(ADD.replace("NUMBER", "1"))
    linker.link(good, "f", lambda name: None)
    damaged = [b"", good[:64], good[:-40], b"\x7fELF\x01" + good[5:], good.replace(b"\x3e\x00", b"\xb7\x00", 1)]
    for data in damaged:
        with pytest.raises(linker.Unsupported):
            linker.link(data, "f", lambda name: None)
    with pytest.raises(linker.Unsupported, match="g is not defined"):
        linker.link(good, "g", lambda name: None)
    with pytest.raises(linker.Unsupported, match="'getpid' is nowhere"):
        linker.link(image(GLOBALS.replace("NUMBER", "1")), "f", lambda name: None)


def test_a_function_runs_when_the_linker_gives_up(monkeypatch):
    def unsupported(*_):
        raise linker.Unsupported

    monkeypatch.setattr(linker, "link", unsupported)
    x = np.linspace(0, 1, 7)
    np.testing.assert_allclose(compile_native(graph_of(lambda x: x * 1.2345, x))([x])[0], x * 1.2345)
