"""Byte code where the environment wants none written, or is new: each thing is compiled once in a run of the suite.

A hundred tests start a process that imports the library, which takes three times as long from its sources. And each of
the processes that run the suite in parallel would rewrite all assertions, which takes longer than everything else it
does before the first test; so each begins with its share of the files, those of the library included, and finds those
of the others.

What is written goes to a folder of the run, which is gone at its end; where byte code is written anyway it goes to its
place.
"""

from __future__ import annotations

import contextlib
import importlib._bootstrap_external as _bootstrap_external
import importlib.util
import os
import py_compile
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite
from _pytest.assertion.rewrite import assertstate_key

_FOLDER = "autoloop_bytecode"
LIBRARY = "autoloop", "runtime"


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    given = getattr(config, "workerinput", {}).get(_FOLDER)
    if given is None and os.environ.get("PYTHONDONTWRITEBYTECODE"):
        given = tempfile.mkdtemp(prefix="autoloop-tests-")
        os.chmod(given, 0o755)  # some tests run as another user
        config.add_cleanup(lambda: shutil.rmtree(given, ignore_errors=True))
    config.stash[_KEY] = given
    if given and getattr(config.option, "dist", "no") == "no":  # otherwise other processes run the tests
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = given


_KEY = pytest.StashKey[str | None]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput[_FOLDER] = node.config.stash[_KEY]


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    config = session.config
    worker = getattr(config, "workerinput", None)
    if worker is None or assertstate_key not in config.stash:
        return
    given = config.stash[_KEY]
    if not given and sys.dont_write_bytecode:
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]  # one that is replaced: any share
    if given:
        rewrite.get_cache_dir = lambda file: Path(given, *file.parts[1:-1])
        _compile_library(config.rootpath, Path(given), number, count)
    for path in sorted((config.rootpath / "tests").rglob("test_*.py"))[number % count :: count]:
        _compile(path, config)


def _compile_library(root: Path, given: Path, number: int, count: int) -> None:
    """Compile a share of the library, and let all of it be imported from there; the rest has its own place."""
    own = {str(path): _compiled(given, path) for name in LIBRARY for path in sorted((root / name).rglob("*.py"))}
    for path in list(own)[number % count :: count]:
        if not os.path.exists(own[path]):
            py_compile.compile(path, own[path])
    placed = _bootstrap_external.cache_from_source
    _bootstrap_external.cache_from_source = lambda path, *how, **kwargs: own.get(path) or placed(path, *how, **kwargs)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Let the processes that tests start find what the environment has compiled of others' modules."""
    given = session.config.stash[_KEY]
    if given and getattr(session.config.option, "dist", "no") == "no":
        for module in list(sys.modules.values()):
            spec = getattr(module, "__spec__", None)
            if spec is not None and spec.has_location and spec.cached:
                _link(given, spec.origin, spec.cached)
        compiler = importlib.util.find_spec("llvmlite")
        for path in Path(compiler.origin).parent.rglob("*.py") if compiler is not None else ():
            _link(given, str(path), importlib.util.cache_from_source(str(path)))


def _link(given: str, source: str, compiled: str) -> None:
    place = os.path.join(given + os.path.dirname(source), os.path.basename(compiled))
    if not compiled.startswith(given) and os.path.exists(compiled):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.symlink(compiled, place)


def _compiled(given: Path, path: Path) -> str:
    """The place where a process looks that has the folder as its ``PYTHONPYCACHEPREFIX``."""
    return str(Path(given, *path.parts[1:-1]) / f"{path.stem}.{sys.implementation.cache_tag}.pyc")


def _compile(path: Path, config: pytest.Config) -> None:
    """Rewrite the assertions of a file, unless that has been done."""
    state = config.stash[assertstate_key]
    folder = rewrite.get_cache_dir(path)
    compiled = folder / (path.stem + rewrite.PYC_TAIL)
    if rewrite._read_pyc(path, compiled, state.trace) is None and rewrite.try_makedirs(folder):
        source, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(state, code, source, compiled)
