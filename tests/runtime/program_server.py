"""A process that has imported the library, and runs each program it is asked for in a fork of itself.

To import the library and NumPy takes longer than most programs of tests do, and so does what a first call loads. A fork
begins where all modules have just been imported: no graph has been made, no thread started. Requests come through one
pipe; through another it says which process runs the program, and then how that ended: see ``children.py``.

What was imported counts as there for good: the collector would go through it in each program, and at its end, and the
pages it is in would be copied.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import sys
import types
import warnings
from typing import Any

import autoloop
import autoloop_runtime


def _load_all() -> None:
    """Import every module of the library that needs no extra which is missing."""
    for package in (autoloop, autoloop_runtime):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                with contextlib.suppress(ModuleNotFoundError):
                    importlib.import_module(found.name)
    gc.collect()
    gc.freeze()


def _request(asked: int) -> bytes:
    """The next line; nothing where there will be none."""
    line = b""
    while not line.endswith(b"\n") and (more := os.read(asked, 65536)):
        line += more
    return line


def _forked(asked: int, told: int) -> dict[str, Any]:
    """In a fork of this process, the program it is for; this process ends when nobody asks any more."""
    while line := _request(asked):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads: those of BLAS, which it ends for a fork
            pid = os.fork()
        if not pid:
            os.close(asked)
            os.close(told)
            return json.loads(line)
        os.write(told, f"{pid}\n".encode())
        os.write(told, f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())
    sys.exit()


def _run(program: list[str], folder: str, environment: dict[str, str], output: list[str]) -> None:
    """Run a program as the interpreter does that is started with it."""
    for number, name in enumerate(output, 1):
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[:] = program
    path = program[0]
    sys.path[0] = os.path.dirname(path)
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = path
    with open(path, encoding="utf-8") as source:
        code = compile(source.read(), path, "exec", dont_inherit=True)
    exec(code, main.__dict__)


if __name__ == "__main__":
    _load_all()
    _run(**_forked(int(sys.argv[1]), int(sys.argv[2])))
