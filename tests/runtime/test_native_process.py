"""Where machine code is compiled and linked: another process, this one's memory, and what happens when that fails."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import examples
import numpy as np
import optimisation
import pytest
from adders import ADD, function, is_gone, until, waiting
from api import child, compiler, host, interpreter, linker, process
from children import run_imported
from native_checks import compile_native, graph_of

pytestmark = pytest.mark.skipif(not linker.is_supported(), reason="LLVM works in this process here")


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


def test_a_compiler_that_has_ended_leaves_nothing_and_another_one_is_started():
    assert function(101)(1) == 102
    one = waiting()
    one._socket.shutdown(socket.SHUT_WR)  # nothing more will be asked
    until(lambda: is_gone(one.pid))
    until(lambda: not process.is_running())
    assert function(102)(1) == 103
    assert waiting() is not one


def test_a_compiler_that_was_killed_while_it_waited_is_replaced():
    function(103)
    one = waiting()
    os.kill(one.pid, signal.SIGKILL)
    assert function(104)(1) == 105
    assert waiting().pid != one.pid and is_gone(one.pid)


@pytest.mark.parametrize(
    "signal_", [signal.SIGKILL, signal.SIGSTOP, pytest.param(signal.SIGSEGV, marks=pytest.mark.nightly)]
)
def test_a_compiler_that_is_lost_in_its_work_is_replaced_once(monkeypatch, signal_):
    monkeypatch.setattr(child, "LOOK", 0.1)
    lost, left = [], [1]
    answered = process._answered

    def lose(one, request, *rest):
        if "ir" in request and left[0]:
            left[0] -= 1
            lost.append(one.pid)
            os.kill(one.pid, signal.SIGSTOP)  # it does not read what is sent now
            if signal_ != signal.SIGSTOP:
                os.kill(one.pid, signal_)
                os.kill(one.pid, signal.SIGCONT)
        return answered(one, request, *rest)

    monkeypatch.setattr(process, "_answered", lose)
    number = 120 + signal_
    assert function(number)(1) == number + 1
    # one that waited does not count, as it may have been lost before it was asked
    process._waiting.pop().stop()
    left[0] = 2
    with pytest.raises(process.CompilerDied, match="stopped" if signal_ == signal.SIGSTOP else "ended"):
        function(number + 100)
    assert function(number + 100)(1) == number + 101
    assert len(lost) == 3 and all(map(is_gone, lost))


def test_a_compiler_that_does_nothing_is_given_up(monkeypatch):
    """Frozen with its group, perhaps: then it has a state like any other, and none of the processor's time."""
    monkeypatch.setattr(child, "LOOK", 0.05)
    monkeypatch.setattr(child, "IDLE", 0.2)
    command = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]
    one = child.Child(command, dict(os.environ))
    with pytest.raises(child.Ended, match="did nothing"):
        one.ask(b"anything\n").line()
    assert one.stop() == -signal.SIGKILL


def test_a_compiler_that_never_gets_done_is_given_up(monkeypatch):
    monkeypatch.setattr(child, "LOOK", 0.05)
    one = child.Child([sys.executable, "-I", "-S", "-c", "while True: pass"], dict(os.environ))
    with pytest.raises(child.TooLate):
        one.ask(b"anything\n", longest=0.2).line()
    assert one.stop() == -signal.SIGKILL


def test_what_llvm_rejects_is_an_error_with_its_message():
    with pytest.raises(RuntimeError, match="LLVM IR parsing error"):
        function(106, "nonsense NUMBER")
    assert function(107)(1) == 108


def test_what_is_interrupted_leaves_no_answer_behind(monkeypatch):
    function(108)
    one = waiting()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(process.json, "loads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            function(109)
    assert is_gone(one.pid)
    assert function(110)(1) == 111


def test_a_signal_handler_may_have_something_compiled_too(monkeypatch):
    """In the middle of a question: each compiler is asked one thing at a time."""
    function(149)
    one, inner, look = waiting(), [], child._Patience.look
    os.kill(one.pid, signal.SIGSTOP)  # there is no answer before there was a look

    def interrupted(self):
        if not inner:
            inner.append(None)
            inner.append(function(151)(1))
            os.kill(one.pid, signal.SIGCONT)
        look(self)

    monkeypatch.setattr(child._Patience, "look", interrupted)
    assert function(150)(1) == 151
    assert inner == [None, 152]
    assert len(process._waiting) == 1


def test_a_write_to_a_compiler_that_ended_is_no_signal():
    """Programs may want a broken pipe to end them."""
    code = """
import os, signal
from adders import function, process, until, is_gone
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
function(1)
one = process._waiting[0]
one.is_over = property  # nobody has noticed
os.kill(one.pid, signal.SIGKILL)
until(lambda: is_gone(one.pid))
one.is_over = False
print(function(2)(1))
"""
    assert run_imported(code) == "3\n"


# -- which program it is ------------------------------------------------------------------------------------


@pytest.mark.parametrize("executable", ["", "/usr/sbin/uwsgi", "/nowhere/python3", "/opt/python-shop/pythonista"])
def test_without_an_interpreter_llvm_works_in_this_process(monkeypatch, executable):
    process._waiting.clear()
    monkeypatch.setattr(sys, "executable", executable)
    assert function(201 + len(executable))(1) == 202 + len(executable)
    assert not process.is_running()


@pytest.mark.parametrize("mark", ["frozen", "_MEIPASS", "oxidized", "__compiled__", interpreter.STARTED])
def test_a_frozen_application_is_not_started_again(monkeypatch, mark):
    assert interpreter.why_not() == ""
    if mark == interpreter.STARTED:
        monkeypatch.setenv(mark, "1")
    else:
        monkeypatch.setattr(sys.modules["__main__"] if mark == "__compiled__" else sys, mark, True, raising=False)
    monkeypatch.setattr(child.subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    process._waiting.clear()
    number = 250 + len(mark)
    assert function(number)(1) == number + 1


APPLICATION = """#!{python}
# an application with an interpreter's name, that has everything in it: it takes no notice of an interpreter's options
import os, sys
with open({log!r}, "a") as file:
    file.write(f"{{os.getpid()}} {{os.environ.get('AUTOLOOP_COMPILER')}}\\n")
sys.path[:] = {path!r}
sys.executable = {self!r}
from adders import function
print(function(1)(1), function(2)(1))
"""


def test_an_application_that_looks_like_an_interpreter_is_started_once_at_most(tmp_path):
    """It is asked who it is, does not know, and is not asked again; in it nothing is started."""
    name, log = tmp_path / "python3.11", tmp_path / "log"
    path = [os.path.dirname(__file__), *sys.path]
    name.write_text(APPLICATION.format(python=sys.executable, log=str(log), path=path, self=str(name)))
    name.chmod(0o755)
    done = subprocess.run([name], capture_output=True, text=True, timeout=100)
    assert done.stdout == "2 3\n", done.stderr
    starts = [line.split()[1] for line in log.read_text().splitlines()]
    assert starts[0] == "None" and starts[1:] in ([], ["1"])


POISON = "import pathlib; pathlib.Path({log!r}).open('a').write(__name__ + '\\n')\nraise SystemExit(1)\n"


# isolated is both of the others
@pytest.mark.parametrize(
    "flags", [(), ("-I",), *[pytest.param((flag,), marks=pytest.mark.nightly) for flag in ("-E", "-s")]]
)
def test_the_compiler_is_as_isolated_as_the_program(tmp_path, flags):
    """Nothing comes from PYTHONPATH, from the working folder, or from site's customisations."""
    log, poison = tmp_path / "log", tmp_path / "poison"
    poison.mkdir()
    names = ("json", "struct", "ctypes", "platform", "select", "contextlib", "sitecustomize", "usercustomize")
    for name in names:
        (poison / f"{name}.py").write_text(POISON.format(log=str(log)))
    # the poison comes once the program itself is under way
    code = f"""
import os, sys
sys.path[:0] = {sys.path!r}
from autoloop_runtime.native.toolchain import compile_ir, process
os.chdir({str(poison)!r})
sys.path.insert(0, "")
os.environ["PYTHONPATH"] = os.environ["PYTHONUSERBASE"] = {str(poison)!r}
assert compile_ir.compile_ir({ADD.replace("NUMBER", "1")!r}, dict(), None).address
(waiting,) = process._waiting
print(waiting.pid > 0)
"""
    # isolated, it would not know where byte code is to go
    where = ["-X", f"pycache_prefix={kept}"] if (kept := os.environ.get("PYTHONPYCACHEPREFIX")) else []
    paths = {} if "-I" in flags or "-E" in flags else {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-B", *where, *flags, "-c", code],
        env={**os.environ, **paths},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.stdout == "True\n", done.stderr
    assert not log.exists(), log.read_text()


def test_the_compiler_writes_no_byte_code_where_the_program_writes_none(monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "pycache_prefix", "/nowhere")
    command = interpreter.command("compiler.py")
    assert command[1:6] == ["-I", "-S", "-B", "-X", "pycache_prefix=/nowhere"] and os.path.isabs(command[6])


# -- files, forks and ends ----------------------------------------------------------------------------------


def test_a_number_that_is_somebody_elses_by_now_is_left_alone(tmp_path):
    """Programs that become daemons close all files there are, and open their own."""
    function(301)
    one = waiting()
    number = one._socket.fileno()
    with open(tmp_path / "mine", "wb") as file:
        keep = os.dup(number)
        os.dup2(file.fileno(), number)
        assert function(302)(1) == 303
        os.write(number, b"still open")  # and nothing was written to it
        os.close(number)
        os.close(keep)
    assert (tmp_path / "mine").read_bytes() == b"still open"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_closes_only_what_is_its_own(tmp_path):
    function(303)
    number = waiting()._socket.fileno()
    pid = os.fork()
    if pid == 0:
        fine = not os.path.exists(f"/proc/self/fd/{number}")
        file = os.open(tmp_path / "mine", os.O_CREAT | os.O_WRONLY)
        if file != number:  # the lowest that is free, which may be that one
            os.dup2(file, number)
            os.close(file)
        fine = fine and function(304)(1) == 305
        os.write(number, b"x")
        os._exit(0 if fine else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert (tmp_path / "mine").read_bytes() == b"x"
    assert function(305)(1) == 306


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_nobody_waits_for_a_stopped_compiler_to_fork(monkeypatch):
    """Nor in the child; the thread that asked gets its answer from another one."""
    monkeypatch.setattr(child, "LOOK", 0.1)
    function(306)
    one, results, asking = waiting(), [], threading.Event()
    os.kill(one.pid, signal.SIGSTOP)
    ask = one.ask

    def asks(*args, **options):
        asking.set()
        return ask(*args, **options)

    one.ask = asks
    thread = threading.Thread(target=lambda: results.append(function(307)(1)))
    thread.start()
    assert asking.wait(30)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if function(308)(1) == 309 else 1)
    assert not results or is_gone(one.pid)
    assert os.waitpid(pid, 0)[1] == 0
    thread.join(60)
    assert results == [308]


def test_nobody_waits_for_a_stopped_compiler_to_end():
    """Machine code that is made in the background is not wanted once the program is over."""
    code = """
import os, signal, sys, threading
from autoloop_runtime.base import background
from autoloop_runtime.native.toolchain import child
from adders import function, waiting
child.LOOK = 1e9  # it would be waited for without end
function(1)
pid = waiting().pid
os.kill(pid, signal.SIGSTOP)
begun = threading.Event()
def job():
    begun.set()
    try:
        function(2)
    except child.Unwanted:
        print("unwanted")
background.submit(job)
begun.wait()
print(pid)
"""
    pid, said = run_imported(code).split()
    assert said == "unwanted"
    until(lambda: is_gone(pid))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_compiler_of_its_own():
    function(111)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if function(112)(1) == 113 and process.is_running() else 1)
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
    return compiler.to_object(ir.replace("{name}", name), host().described(), compiler.LEVEL)


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


def test_llvm_optimises_here_as_it_does_for_users(monkeypatch):
    monkeypatch.setattr(examples, "of_long_runs", False)
    files = [path.name for path in Path(__file__).parent.parent.rglob("test_*.py")]
    assert all(any(file.startswith(name) for file in files) for name in optimisation.OPTIMISED)
    assert optimisation.level(Path(__file__).name, "auto") == compiler.LEVEL
    assert optimisation.level("test_kinds.py", "auto") < optimisation.level("test_kinds.py", "native") == compiler.LEVEL
    for by_day in (True, False):
        monkeypatch.setattr(optimisation, "by_day", by_day)
        with optimisation.translated():
            assert compiler.LEVEL == (optimisation.NONE if by_day else optimisation.USERS)
        with optimisation.translated(False):
            assert compiler.LEVEL == optimisation.USERS
    told = "from autoloop_runtime.native.toolchain import compiler; print(compiler.LEVEL)"
    assert int(run_imported(told)) == compiler.LEVEL
