"""The compiler in a process of its own, so that its memory is given back and its crashes are not the program's.

Whoever asks holds ``background.exclusive``, so there is one request at a time.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from . import compiler


class Unavailable(Exception):
    """There can be no other process; the message says why."""


class CompilerDied(RuntimeError):
    """The compiler ended in the middle of its work."""


class _Compiler:
    """A running compiler; used by one thread at a time."""

    def __init__(self) -> None:
        # a group of its own: Ctrl-C is for this process, which stops it then
        command = [sys.executable, "-S", "-P", compiler.__file__]  # -P: this folder is no place for modules
        self.owner = os.getpid()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self.ask({"path": sys.path})

    def ask(self, request: dict[str, Any]) -> tuple[Any, bytes]:
        """The answer to a request and the bytes that come with it.

        Raises
        ------
        EOFError
            If the process has ended.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
        except (BrokenPipeError, ValueError):
            raise EOFError from None
        line = stdout.readline()
        if not line:
            raise EOFError
        head = json.loads(line)
        if "error" in head:
            kind = ImportError if head["error"] in ("ImportError", "ModuleNotFoundError") else RuntimeError
            raise kind(head["message"])
        data = stdout.read(head["size"])
        if len(data) < head["size"]:
            raise EOFError
        return head["answer"], data

    def stop(self) -> int:
        """End the process, if it is this one's; gives its exit code."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # it did not read all that was written
                pipe.close()
        if self.owner != os.getpid():
            self._process.returncode = 0  # the child of another process
            return 0
        code = self._process.poll()
        if code is None:
            self._process.kill()
            code = self._process.wait()
        return code


# guarded by ``background.exclusive``
_running: _Compiler | None = None
#: those of the process that this one was forked from: a thread that does not exist here may hold their pipes
_left: list[_Compiler] = []


def is_running() -> bool:
    """True if the next request need not wait for the compiler to be loaded."""
    return _running is not None and _running.owner == os.getpid()


def ask(request: dict[str, Any]) -> tuple[Any, bytes]:
    """What ``compiler`` answers.

    Raises
    ------
    Unavailable
        If no process can be started.
    ImportError, RuntimeError
        As the compiler does.
    """
    global _running
    fresh = not is_running()
    if _running is not None and fresh:
        _forget()
    try:
        if _running is None:
            _running = _start()
        return _running.ask(request)
    except EOFError:
        code = _forget()
        if fresh or code:
            raise CompilerDied(f"LLVM ended with code {code} while it compiled") from None
        return ask(request)  # it had nothing to do for a while
    except (ImportError, RuntimeError, Unavailable):
        raise
    except BaseException:
        _forget()  # stopped half way, by Ctrl-C perhaps: the next answer would not belong to the next question
        raise


def _start() -> _Compiler:
    name = Path(sys.executable or "").name
    if not name.startswith("python"):
        raise Unavailable(f"sys.executable is {sys.executable!r}")
    try:
        return _Compiler()
    except (OSError, EOFError) as error:
        raise Unavailable(f"{type(error).__name__}: {error}") from None


def _forget() -> int:
    global _running
    running, _running = _running, None
    if running is not None and running.owner != os.getpid():
        _left.append(running)
        return 0
    return 0 if running is None else running.stop()


atexit.register(_forget)
