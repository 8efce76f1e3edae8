"""A plugin of pytest: what the tests call is called again, plain and decorated, and has to agree.

``python -m pytest -p replays FILES``, with this folder and ``tests/runtime`` on the path. A call of a decorated
function with arrays and numbers is first made in forks of the process, whose world is that of the call, and nothing
that is done there is done here: in one the undecorated function is called twice, and in one for each executor the
decorated one. What they give, print, raise, and leave in arguments, instances, globals and closures is compared.

A refusal is no difference, nor is a copy where plain Python gives a view: those are in the table of the documentation.
An array that is the caller's where it must not be is one. What differs is written to the file of ``--replays``.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import itertools
import os
import pickle
import random
import select
import signal
import threading
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import autoloop as al
import numpy as np
import pytest
from autoloop.function import Function

EXECUTORS = ("sequential", "dataflow", "native")
#: how many calls of a test are called again, and how many seconds a fork may take
MOST, SECONDS = 10, 20.0


@dataclasses.dataclass
class Record:
    """What was found in this process, and what the present test is."""

    calls: int = 0
    refused: int = 0
    failed: int = 0  # where both raise
    slow: int = 0
    apart: list[str] = dataclasses.field(default_factory=list)
    test: str = ""
    seen: set[Any] = dataclasses.field(default_factory=set)  # the kinds of calls of the present test
    is_open: bool = False  # whether a call is called again
    is_plain: bool = False  # whether decorated functions do as undecorated ones


record = Record()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--replays", default="", help="a file for what differs")


def pytest_configure() -> None:
    call = Function._call

    def called(self: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if record.is_plain:
            return self.python_function(*self._receiver(), *args, **kwargs)
        if not record.is_open or threading.current_thread() is not threading.main_thread():
            return call(self, args, kwargs)
        record.is_open = False  # to calls inside this one
        try:
            if _is_chosen(self, args, kwargs):
                _compare(self, args, kwargs)
            return call(self, args, kwargs)
        finally:
            record.is_open = True

    Function._call = called


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    record.test, record.seen, record.is_open = item.nodeid, set(), True
    try:
        return (yield)
    finally:
        record.is_open = False
        if record.apart:
            _say(item.config, "\n".join(record.apart))
            record.apart.clear()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    counts = f"{record.calls} calls again, {record.refused} refused, {record.failed} raise, {record.slow} slow"
    terminalreporter.write_line(counts)
    _say(config, counts)


def _say(config: pytest.Config, text: str) -> None:
    """Write a line into the file of the run."""
    if path := config.getoption("--replays"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{text}\n")


def _is_chosen(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether a call is one of arrays and numbers, and the first of its kind in this test."""
    if function.needs_graph or not function.autograph or function.input_signature is not None:
        return False  # what has a signature is asked of shapes that nobody knows
    from api import default_graphs, locations, recorders  # not before the suite has said how its modules are read

    if default_graphs() or recorders():
        return False
    leaves = al.nest.flatten((args, kwargs))
    code = getattr(function.python_function, "__code__", None)
    if code is None or locations.is_own_file(code.co_filename) or len(record.seen) >= MOST:
        return False
    if not all(map(_is_plain_value, leaves)):
        return False
    if any(_makes_tensors(one) or _is_clock(one) for one in _world(function.python_function).values()):
        return False
    kind = code.co_filename, code.co_firstlineno, code.co_code, tuple(map(_kind, leaves))
    is_new = kind not in record.seen
    record.seen.add(kind)
    return is_new


def _is_plain_value(leaf: Any) -> bool:
    return isinstance(leaf, np.ndarray) or not (
        _makes_tensors(leaf) or hasattr(leaf, "__dlpack__") or hasattr(leaf, "write")
    )


def _makes_tensors(value: Any) -> bool:
    """Return whether a value is one of this library's: what takes part in its work becomes a tensor."""
    name = value.__name__ if isinstance(value, types.ModuleType) else type(value).__module__
    if isinstance(value, types.FunctionType | type):
        name = value.__module__ or ""
    return name.partition(".")[0] in ("autoloop", "autoloop_runtime") and not isinstance(value, Function)


def _is_clock(value: Any) -> bool:
    """Return whether what a value gives is another thing at each call, or tells of the decorator's own frame."""
    return value is time or value is traceback or getattr(value, "__module__", "") == time.__name__


def _kind(leaf: Any) -> Any:
    return (str(leaf.dtype), leaf.shape) if isinstance(leaf, np.ndarray | np.generic) else type(leaf).__name__


def _compare(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Note what the decorated function does otherwise than the plain one."""
    plain = _of_fork(lambda: _outcome(function.python_function, function, args, kwargs, True))
    if plain is None:
        record.slow += 1
        return
    record.calls += 1
    found: dict[str, list[str]] = {}
    for executor in EXECUTORS if record.calls % 4 == 0 else EXECUTORS[:1]:
        options = {**function.options(), "executor": executor}
        made = Function(function.python_function, **options)
        ours = _of_fork(lambda: _outcome(made, function, args, kwargs, False))
        if ours is None:
            record.slow += 1
        elif words := _apart(plain, ours):
            found.setdefault(words, []).append(executor)
    code = function.python_function.__code__
    for words, executors in found.items():
        where = f"{record.test}\n  {code.co_filename}:{code.co_firstlineno} {function.name} under {executors}"
        record.apart.append(f"{where}\n  {words}")


def _apart(plain: dict[str, Any], ours: dict[str, Any]) -> str:
    """Return in words what differs; empty if nothing does."""
    if plain["error"] or ours["error"]:
        if ours["refusal"] or not plain["error"]:  # which is never silent
            record.refused += 1
            return ""
        if plain["error"] != ours["error"]:
            return f"raises {ours['error']!r} {ours['said']}, not {plain['error']!r} {plain['said']}"
        record.failed += 1
        return ""
    for theirs, mine in zip(plain["sharing"], ours["sharing"]):
        if not mine <= theirs:
            return f"gives memory of the arguments {sorted(mine - theirs)}, which are no results"
    for part in ("results", "printed", "arguments", "world"):
        if not _same(plain[part], ours[part]):
            return f"{part}: {_short(ours[part])}\n  and not: {_short(plain[part])}"
    return ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 1200 else f"{text[:1200]} ..."


# -- in a fork ------------------------------------------------------------------------------------------------


def _of_fork(work: Callable[[], Any]) -> Any:
    """Return what a function gives that is called in a fork of this process; None if that takes too long or it dies."""
    read, write = os.pipe()
    state = random.getstate()
    pid = os.fork()
    if not pid:
        random.setstate(state)  # which Python seeds anew in a fork
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            os.close(read)
            found = pickle.dumps(work())
            while found:
                found = found[os.write(write, found) :]
        finally:
            os._exit(0)
    os.close(write)
    parts, ends = [], time.monotonic() + SECONDS + 5
    while select.select([read], [], [], max(0.0, ends - time.monotonic()))[0] and (part := os.read(read, 1 << 16)):
        parts.append(part)
    os.close(read)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    try:
        return pickle.loads(b"".join(parts))
    except (EOFError, pickle.UnpicklingError):
        return None


def _outcome(
    f: Callable[..., Any], function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], is_plain: bool
) -> dict[str, Any]:
    """Return all that two calls do."""
    record.is_plain, record.is_open = is_plain, False
    given = [leaf for leaf in al.nest.flatten((args, kwargs)) if isinstance(leaf, np.ndarray)]
    results, sharing, error, printed = [], [], None, io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            try:
                value = f(*function._receiver(), *args, **kwargs)
            except Exception as raised:
                error = raised
                break
            results.append(described(value))
            sharing.append(_sharing(value, given))
    code = function.python_function
    return {
        "error": type(error).__name__ if error is not None else "",
        "said": str(error)[:400],
        "refusal": not is_plain and error is not None and _is_refusal(error),
        "results": results,
        "sharing": sharing,
        "printed": printed.getvalue(),
        "arguments": described((args, kwargs)),
        "world": described((_world(code), getattr(function.instance, "__dict__", None))),
    }


def _is_refusal(error: BaseException) -> bool:
    """Return whether the library refuses to do what was asked, in its own words."""
    return isinstance(error, NotImplementedError | TypeError) or type(error).__name__.endswith("Refusal")


def _world(f: Callable[..., Any]) -> dict[str, Any]:
    """Return the variables outside that a function names: its module's and its closure's."""
    code = getattr(f, "__code__", None)
    if code is None:
        return {}
    found = {name: f.__globals__[name] for name in sorted(_names(code)) if name in f.__globals__}
    for name, cell in zip(code.co_freevars, f.__closure__ or ()):
        with contextlib.suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def _names(code: types.CodeType) -> set[str]:
    inner = [_names(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*inner)


def _sharing(value: Any, given: Sequence[Any]) -> set[tuple[int, int, str]]:
    """Return which arrays of a result are arrays that were given, or views of them."""
    found = set()
    leaves = [leaf for leaf in al.nest.flatten(value) if isinstance(leaf, np.ndarray) and leaf.dtype.kind != "O"]
    for (j, leaf), (k, one) in itertools.product(enumerate(leaves), enumerate(given)):
        if np.shares_memory(leaf, one):
            found |= {(j, k, "view"), (j, k, "itself" if leaf is one else "view")}
    return found


def described(value: Any, depth: int = 5) -> Any:
    """Return what a value is, in terms that can be sent and compared."""
    kind = type(value).__name__
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O":
        return kind, copy.deepcopy(np.asarray(value))
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return kind, value if type(value) in (bool, int, float, complex, str, bytes, type(None)) else repr(value)
    if isinstance(value, al.Tensor | al.Variable):
        return "Tensor", np.asarray(value)
    if depth == 0:
        return kind
    if isinstance(value, dict):
        return kind, [(described(key, 0), described(one, depth - 1)) for key, one in value.items()]
    if isinstance(value, set | frozenset):
        return kind, sorted(map(repr, value))
    if isinstance(value, list | tuple) or kind == "deque":
        return kind, [described(one, depth - 1) for one in value]
    if isinstance(value, types.FunctionType | types.ModuleType | type | Function):
        return "", getattr(value, "__name__", "")
    return kind, described(getattr(value, "__dict__", None), depth - 1)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return False
        if one.dtype.kind in "fc":
            most = 3e-5 if one.dtype.itemsize // (1 + (one.dtype.kind == "c")) <= 4 else 1e-9
            return bool(np.allclose(one, other, rtol=most, atol=most * 1e-2, equal_nan=True))
        return bool((one == other).all())
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float | complex):
        return bool(np.isclose(one, other, rtol=1e-9, equal_nan=True))
    return bool(one == other)
