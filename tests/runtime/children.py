"""Programs in a Python process of their own."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

SERVER = Path(__file__).parent / "program_server.py"
#: each program has an interpreter that is started for it: not in most runs, where it is a fork of one
afresh = not hasattr(os, "fork")


def _paths() -> str:
    return os.pathsep.join([os.path.dirname(__file__), *[p for p in sys.path if p]])


def _finished(arguments: list[str], environment: dict[str, str], timeout: float = 100) -> tuple[str, str]:
    done = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, "PYTHONPATH": _paths(), **environment},
        capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def run_python(code: str, *flags: str, **environment: str) -> str:
    """What ``python -c code`` prints; it finds what this process finds, and the helpers of the tests."""
    return _finished([*flags, "-c", textwrap.dedent(code)], environment)[0]


def run_file(
    code: str, folder: Path, timeout: float = 100, arguments: Sequence[str] = (), **environment: str
) -> tuple[str, str]:  # fmt: skip
    """Standard output and error of a program with a source file, so that its functions can be converted."""
    (folder / "program.py").write_text(code)
    return _finished([str(folder / "program.py"), *arguments], environment, timeout)


class _Server:
    """A process that has imported the library: each program begins as a fork of it."""

    def __init__(self) -> None:
        asked, self._ask = os.pipe()
        self._tell, told = os.pipe()
        self._owner = os.getpid()
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", str(SERVER), str(asked), str(told)], pass_fds=(asked, told),
            env={**os.environ, "PYTHONPATH": _paths(), "PYTHONIOENCODING": "utf-8"}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(asked)
        os.close(told)
        atexit.register(self._end)

    def _end(self) -> None:
        if os.getpid() == self._owner:
            os.close(self._ask)
            self._process.wait()

    def _number(self, timeout: float | None = None) -> int | None:
        """What it says next; nothing if that takes too long."""
        if not select.select([self._tell], [], [], timeout)[0]:
            return None
        return int(os.read(self._tell, 1) + b"".join(iter(lambda: os.read(self._tell, 1), b"\n")))

    def run(
        self, program: list[str], folder: Path, environment: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        with tempfile.TemporaryDirectory() as place:
            output = [os.path.join(place, name) for name in ("out", "err")]
            request = dict(program=program, folder=str(folder), environment=dict(environment), output=output)
            os.write(self._ask, json.dumps(request).encode() + b"\n")
            pid = self._number()
            code = self._number(timeout)
            if code is None:
                os.kill(pid, signal.SIGKILL)
                self._number()
                raise subprocess.TimeoutExpired(program, timeout)
            texts = [Path(name).read_text(encoding="utf-8") for name in output]
        return subprocess.CompletedProcess(program, code, *texts)


_server = cache(_Server)


def run_imported(code: str, timeout: float = 100) -> str:
    """What a program prints that need not import the library itself, as ``run_program`` says."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "program.py")
        path.write_text(textwrap.dedent(code))
        done = run_program(path, path.parent, os.environ, timeout)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def run_program(
    program: Path, folder: Path, environment: Mapping[str, str], timeout: float = 100, arguments: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """How a program ends whose warnings are errors, and what it prints.

    It is a process of its own that has imported the library; only in nightly runs it does that by itself.
    """
    if not afresh:
        return _server().run([str(program), *arguments], folder, environment, timeout)
    return subprocess.run(
        [sys.executable, "-W", "error", str(program), *arguments],
        env={**environment, "PYTHONPATH": _paths(), "PYTHONIOENCODING": "utf-8"}, cwd=folder, timeout=timeout,
        capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
