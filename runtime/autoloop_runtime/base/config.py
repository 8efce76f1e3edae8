"""Settings of the process, and of blocks: ``al.config``, which is a module that is called.

One file: of each setting what is set for the process, what for a block, and what holds.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, TypedDict

from .callbacks import listener
from .contexts import Setting
from .doors import listing
from .env_switches import switch
from .forks import Kind
from .locations import capture

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Unpack

#: more threads than this are used only when asked for
MOST_BY_DEFAULT = 8

# one reference, replaced as a whole: reading and writing it needs no lock
_num_threads: int | None = None
_swap_budget: int | None = None
_memory_limit: int | None = None
_spare_memory: int = 256 << 20
#: are told how much memory may be kept; adding one is atomic, and who goes through them takes a copy
_spare_tellers: list[Callable[[int], None]] = []
_native: bool | None = None
_as_python: bool | None = None
_progress: bool | None = None
#: whether it was said that the environment asks for what is not installed
_is_told = False
_executor: str | None = None
#: what ``config(...)`` has set in the blocks around
_IN_BLOCK: ContextVar[Mapping[str, Any]] = ContextVar("autoloop_settings", default=MappingProxyType({}))
#: are told when it changes whether calls ask what runs them: those of all functions, and of those without an executor;
#: likewise
_switch_tellers: list[Callable[[bool, bool], None]] = []
#: guards the next two: how many blocks there are, of any thread, that say what runs functions, and whether calls of all
#: functions, and of those without an executor of their own, ask it; the latter is read without it
_switching = Kind("config", "a child has the blocks of the thread that it goes on in; the others cost it time").lock()
_blocks = 0
_switches = (False, False)
#: ``auto`` chooses; ``dataflow`` runs the lowered graph on the scheduler; ``sequential`` runs generated Python;
#: ``native`` runs machine code
EXECUTORS = ("auto", "dataflow", "sequential", "native")
#: sends what is heavy to a cluster, and runs the rest as ``auto`` does
REMOTE = "dask"

#: set to 0 it is as if ``set_native(False)`` had been called
NATIVE_OPT_OUT = "AUTOLOOP_NATIVE"
#: set to 1 it is as if ``run_as_python()`` had been called
AS_PYTHON = "AUTOLOOP_AS_PYTHON"


#: set to 1 it is as if ``show_progress()`` had been called
PROGRESS = "AUTOLOOP_PROGRESS"

_FROM_ENVIRONMENT = switch(AS_PYTHON)


def _held(name: str, set_to: Any) -> Any:
    """Return what a block around sets, else what is set for the process."""
    return _IN_BLOCK.get().get(name, set_to)


def set_executor(name: str | None) -> None:
    """Set what runs functions that are decorated without an ``executor``; ``None`` means the default, ``"auto"``.

    Parameters
    ----------
    name : {"auto", "dataflow", "sequential", "native", "dask"} or None

    Raises
    ------
    ValueError
        If there is no such executor.

    Examples
    --------
    >>> al.config.set_executor("sequential")
    >>> al.config.get_executor()
    'sequential'
    >>> al.config.set_executor(None)
    """
    global _executor
    _executor = check_executor(name)
    _tell_switched()


def get_executor() -> str:
    """Return what runs functions that are decorated without an ``executor``.

    Returns
    -------
    str

    Examples
    --------
    >>> with al.config(executor="dataflow"):
    ...     al.config.get_executor()
    'dataflow'
    """
    return _held("executor", _executor) or "auto"


def check_executor(name: str | None) -> str | None:
    """Return ``name`` if it is that of an executor, or ``None``."""
    if name is not None and name not in EXECUTORS:
        if name != REMOTE:
            raise ValueError(f"executor must be one of {', '.join((*EXECUTORS, REMOTE))}, got {name!r} [AL601]")
        if any(importlib.util.find_spec(one) is None for one in ("dask", "distributed")):
            raise ImportError(
                "executor='dask' sends heavy work to a cluster of Dask, which is not installed: "
                "pip install 'autoloop[distributed]' [AL620]"
            )
    return name


def set_num_threads(n: int | None) -> None:
    """Let a run use up to ``n`` threads, the calling one included; ``None`` means the default.

    Parameters
    ----------
    n : int or None

    Raises
    ------
    TypeError, ValueError
        If ``n`` is not a positive integer.

    Examples
    --------
    >>> before = al.config.get_num_threads()
    >>> al.config.set_num_threads(1)
    >>> al.config.get_num_threads()
    1
    >>> al.config.set_num_threads(before)
    """
    global _num_threads
    _num_threads = None if n is None else check_num_threads(n)


def get_num_threads() -> int:
    """Return how many threads a run may use: what was set, else the number of processors, at most 8.

    Returns
    -------
    int

    Examples
    --------
    >>> al.config.get_num_threads() >= 1
    True
    """
    return _held("num_threads", _num_threads) or min(_processors(), MOST_BY_DEFAULT)


def set_swap_budget(count: int | None) -> None:
    """Set how many bytes the saved values of loops with ``swap_memory=True`` may take before the oldest go to a file.

    ``None`` means the default, a quarter of the machine's memory.

    Parameters
    ----------
    count : int or None
        Bytes; ``None`` means the default.

    Raises
    ------
    TypeError, ValueError
        If ``count`` is not a non-negative integer.

    Examples
    --------
    >>> before = al.config.get_swap_budget()
    >>> al.config.set_swap_budget(10_000_000)
    >>> al.config.set_swap_budget(before)
    """
    global _swap_budget
    _swap_budget = check_swap_budget(count)


def get_swap_budget() -> int:
    """Return the bytes in force.

    Returns
    -------
    int

    Examples
    --------
    >>> al.config.get_swap_budget() >= 0
    True
    """
    return _memory() // 4 if _swap_budget is None else _swap_budget


def check_swap_budget(count: int | None) -> int | None:
    """Return ``count`` if it is a number of bytes or ``None``."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
        raise TypeError(f"the swap budget is a number of bytes, got {count!r} [AL609]")
    if count is not None and count < 0:
        raise ValueError(f"the swap budget cannot be negative, got {count} [AL609]")
    return count


def _set_budget() -> int | None:
    """Return the swap budget as it was set; ``None`` for the default."""
    return _swap_budget


def set_memory_limit(count: int | None) -> None:
    """Set how many bytes of arrays the scheduler lets kernels fill; ``None``, as at first, sets no limit.

    Iterations that run ahead and lines that do not need each other have arrays of their own. Under a limit what runs
    ahead may take half of it: iterations behind the oldest one, and kernels that make arrays, wait until there is room.
    The oldest iteration always goes on, so results are the same under every limit, and a program that takes more than
    half of it in plain order takes what it takes. All runs share the limit but those of a ``Session`` with one of its
    own. Arrays that are given to a run, and what a ``TensorArray`` keeps, are not counted.

    Parameters
    ----------
    count : int or None
        Bytes.

    Raises
    ------
    TypeError, ValueError
        If ``count`` is not a non-negative integer.

    Examples
    --------
    >>> al.config.set_memory_limit(4_000_000_000)
    >>> al.config.set_memory_limit(None)
    """
    global _memory_limit
    _memory_limit = check_memory_limit(count)


def get_memory_limit() -> int | None:
    """Return the bytes in force, ``None`` if there is no limit.

    Returns
    -------
    int or None

    Examples
    --------
    >>> print(al.config.get_memory_limit())
    None
    """
    return _memory_limit


def check_memory_limit(count: int | None) -> int | None:
    """Return ``count`` if it is a number of bytes or ``None``."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
        raise TypeError(f"the memory limit is a number of bytes, got {count!r} [AL609]")
    if count is not None and count < 0:
        raise ValueError(f"the memory limit cannot be negative, got {count} [AL609]")
    return count


def set_spare_memory(count: int) -> None:
    """Set how many bytes of the memory that machine code saved values in it keeps for its next calls: 256 MiB at first.

    What is above that is given back to the system at once; with 0 all of it, and nothing is kept. On Linux the system
    may take what is kept whenever it needs memory.

    Parameters
    ----------
    count : int
        Bytes.

    Raises
    ------
    TypeError, ValueError
        If ``count`` is not a non-negative integer.

    Examples
    --------
    >>> before = al.config.get_spare_memory()
    >>> al.config.set_spare_memory(0)
    >>> al.config.set_spare_memory(before)
    """
    global _spare_memory
    _spare_memory = check_spare_memory(count)
    for tell in list(_spare_tellers):
        tell(count)


def get_spare_memory() -> int:
    """Return the bytes that may be kept.

    Returns
    -------
    int

    Examples
    --------
    >>> al.config.get_spare_memory() >= 0
    True
    """
    return _spare_memory


def check_spare_memory(count: int) -> int:
    """Return ``count`` if it is a number of bytes."""
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"the spare memory is a number of bytes, got {count!r} [AL609]")
    if count < 0:
        raise ValueError(f"the spare memory cannot be negative, got {count} [AL609]")
    return count


def tell_spare_memory(tell: Callable[[int], None]) -> None:
    """Call ``tell`` with the bytes that may be kept, now and whenever they change."""
    _spare_tellers.append(tell)
    tell(_spare_memory)


def set_native(enabled: bool | None) -> None:
    """Say whether ``executor="auto"`` and the scheduler may make machine code; ``None`` means the default.

    It does by default if the extra ``native`` is installed, unless the environment has ``AUTOLOOP_NATIVE=0``. What is
    said here holds for functions that are traced from then on; ``executor="native"`` does not ask.

    Parameters
    ----------
    enabled : bool or None

    Raises
    ------
    TypeError
        If ``enabled`` is neither a truth value nor ``None``.

    Examples
    --------
    >>> al.config.set_native(False)
    >>> al.config.get_native()
    False
    >>> al.config.set_native(True)
    """
    global _native
    check_switch("set_native", enabled)
    _native = enabled


def get_native() -> bool:
    """Return whether ``executor="auto"`` may make machine code.

    Returns
    -------
    bool

    Examples
    --------
    >>> al.config.get_native()
    True
    """
    enabled: bool | None = _held("native", _native)
    return switch(NATIVE_OPT_OUT, True) if enabled is None else enabled


def run_as_python(enabled: bool | None = True) -> None:
    """Let decorated functions run undecorated, as plain Python, from now on; ``None`` means the default.

    For the debugger, and to tell whether something is a matter of the graph. Nothing is traced then, and nothing
    refused. Derivatives and ``while_loop`` are as ever. By default functions do not, unless the environment has
    ``AUTOLOOP_AS_PYTHON=1``.

    Parameters
    ----------
    enabled : bool or None

    Raises
    ------
    TypeError
        If ``enabled`` is neither a truth value nor ``None``.

    Examples
    --------
    >>> al.config.run_as_python(True)  # every decorated function is the undecorated one
    >>> al.config.run_as_python(False)
    """
    global _as_python
    check_switch("run_as_python", enabled)
    _as_python = enabled
    _tell_switched()


def runs_as_python() -> bool:
    """Return whether decorated functions run undecorated.

    Returns
    -------
    bool

    Examples
    --------
    >>> al.config.runs_as_python()
    False
    """
    enabled: bool | None = _held("as_python", _as_python)
    return _FROM_ENVIRONMENT if enabled is None else enabled


def is_switched() -> bool:
    """Return whether calls have to ask what runs them: that may be no executor, or not the function's own."""
    return _switches[1]


def switches() -> tuple[bool, bool]:
    """Return whether calls of all functions, and of those without an executor of their own, ask what runs them."""
    return _switches


def tell_switched(tell: Callable[[bool, bool], None]) -> None:
    """Call ``tell`` whenever it changes whether calls of all functions, and of those without an executor of their own,
    ask what runs them."""
    _switch_tellers.append(tell)


def _tell_switched(blocks: int = 0) -> None:
    """Note that there are so many blocks more, and tell it."""
    global _blocks, _switches
    with _switching:
        _blocks += blocks
        is_plain = bool(_blocks) or (_FROM_ENVIRONMENT if _as_python is None else _as_python)
        _switches = is_plain, is_plain or _executor not in (None, "auto")
        for tell in list(_switch_tellers):
            tell(*_switches)


@contextmanager
def switched() -> Iterator[None]:
    """Have calls of all threads ask what runs them, while this block says it."""
    _tell_switched(1)
    try:
        yield
    finally:
        _tell_switched(-1)


def show_progress(enabled: bool | None = True) -> None:
    """Show how far loops are, of functions that are traced from now on and do not say it themselves (``progress=``).

    ``None`` means the default: they are not shown, unless the environment has ``AUTOLOOP_PROGRESS=1``. It needs the
    extra ``progress``.

    Parameters
    ----------
    enabled : bool or None

    Raises
    ------
    TypeError
        If ``enabled`` is neither a truth value nor ``None``.

    Examples
    --------
    >>> al.config.show_progress(False)
    """
    global _progress
    check_switch("show_progress", enabled)
    _progress = enabled


def shows_progress() -> bool:
    """Return whether it is shown how far loops are.

    Returns
    -------
    bool

    Examples
    --------
    >>> al.config.shows_progress()
    False
    """
    enabled: bool | None = _held("progress", _progress)
    return switch(PROGRESS) and _can_show_progress() if enabled is None else enabled


def _can_show_progress() -> bool:
    """Return whether there is what shows it; once it is said if not, for the environment is of many programs."""
    global _is_told
    if importlib.util.find_spec("tqdm") is not None:
        return True
    if _is_told:
        return False
    _is_told = True
    location = capture()
    filename, line = (location[-1].filename, location[-1].lineno) if location else (__file__, 1)
    warnings.warn_explicit(
        f"{PROGRESS} shows loops with tqdm, which is not installed: pip install 'autoloop[progress]'",
        UserWarning,
        filename,
        line,
    )
    return False


def check_switch(name: str, enabled: bool | None) -> None:
    """Raise ``TypeError`` if ``enabled`` is neither a truth value nor ``None``."""
    if enabled is not None and not isinstance(enabled, bool):
        raise TypeError(f"{name} takes True, False or None, got {enabled!r} [AL609]")


@lru_cache(maxsize=1)
def _memory() -> int:
    """Return the bytes of memory of the machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 << 30


def check_num_threads(n: int) -> int:
    """Return ``n`` if it is a positive integer."""
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"the number of threads must be a positive integer, got {n!r} [AL609]")
    if n < 1:
        raise ValueError(f"the number of threads must be a positive integer, got {n} [AL609]")
    return n


def _processors() -> int:
    """Return the processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def settings() -> dict[str, Any]:
    """Return all settings as they are in force here.

    Returns
    -------
    dict
        Under the names that ``config(...)`` takes.

    Examples
    --------
    >>> with al.config(num_threads=1, executor="sequential"):
    ...     al.config.settings()["num_threads"], al.config.settings()["executor"]
    (1, 'sequential')
    """
    return {
        "as_python": runs_as_python(), "executor": get_executor(), "memory_limit": get_memory_limit(),
        "native": get_native(), "num_threads": get_num_threads(), "progress": shows_progress(),
        "spare_memory": get_spare_memory(), "swap_budget": get_swap_budget(),
    }  # fmt: skip


class Settings(TypedDict, total=False):
    """What ``config(...)`` takes; ``None`` is the default of each."""

    as_python: bool | None
    executor: str | None
    memory_limit: int | None
    native: bool | None
    num_threads: int | None
    progress: bool | None
    spare_memory: int
    swap_budget: int | None


def _switch(name: str) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        check_switch(name, value)
        return value

    return checked


#: settings of a context -> what checks a value; ``None`` is the default of each
_OF_CONTEXT: Mapping[str, Callable[[Any], Any]] = {
    "as_python": _switch("as_python"),
    "executor": check_executor,
    "native": _switch("native"),
    "num_threads": lambda n: None if n is None else check_num_threads(n),
    "progress": _switch("progress"),
}
#: settings of the process -> what checks a value, sets it and reads what was set
_OF_PROCESS: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], None], Callable[[], Any]]] = {
    "memory_limit": (check_memory_limit, set_memory_limit, get_memory_limit),
    "spare_memory": (check_spare_memory, set_spare_memory, get_spare_memory),
    "swap_budget": (check_swap_budget, set_swap_budget, _set_budget),
}
NAMES = tuple(sorted({*_OF_CONTEXT, *_OF_PROCESS}))


class _Block(AbstractContextManager[None]):
    """A block in which settings have other values; may be entered again, also inside."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        unknown = sorted(settings.keys() - set(NAMES))
        if unknown:
            raise TypeError(
                f"there is no setting {', '.join(map(repr, unknown))}; there are {', '.join(NAMES)} [AL609]"
            )
        self._of_context = {name: _OF_CONTEXT[name](value) for name, value in settings.items() if name in _OF_CONTEXT}
        self._of_process = {
            name: _OF_PROCESS[name][0](value) for name, value in settings.items() if name in _OF_PROCESS
        }
        self._entered: list[ExitStack] = []

    def __enter__(self) -> None:
        with ExitStack() as stack:  # undone if it is interrupted
            if self._of_context:
                stack.enter_context(Setting(None, (_IN_BLOCK, {**_IN_BLOCK.get(), **self._of_context})))
            if self._of_context.keys() & {"as_python", "executor"}:
                stack.enter_context(switched())
            for name, value in self._of_process.items():
                stack.enter_context(_set_for_block(name, value))
            if (logs := listener()) is not None:
                logs.detail("running", self._said)
            self._entered.append(stack.pop_all())

    def _said(self) -> str:
        changed = {**self._of_context, **self._of_process}
        return f"in a block, settings are {', '.join([f'{name}={value!r}' for name, value in changed.items()])}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._entered.pop().__exit__(kind, error, traceback)


@contextmanager
def _set_for_block(name: str, value: Any) -> Iterator[None]:
    """Set a setting of the process, and set back what it was."""
    _, set_to, read = _OF_PROCESS[name]
    before = read()
    set_to(value)
    try:
        yield
    finally:
        set_to(before)


#: to checkers a module has every name
if TYPE_CHECKING:
    _Module = object
else:
    _Module = ModuleType


class Configuration(_Module):
    """This module: its functions are for the process, and a call of itself is for a block."""

    if TYPE_CHECKING:
        get_executor = staticmethod(get_executor)
        get_memory_limit = staticmethod(get_memory_limit)
        get_native = staticmethod(get_native)
        get_num_threads = staticmethod(get_num_threads)
        get_spare_memory = staticmethod(get_spare_memory)
        get_swap_budget = staticmethod(get_swap_budget)
        run_as_python = staticmethod(run_as_python)
        runs_as_python = staticmethod(runs_as_python)
        set_executor = staticmethod(set_executor)
        set_memory_limit = staticmethod(set_memory_limit)
        set_native = staticmethod(set_native)
        set_num_threads = staticmethod(set_num_threads)
        set_spare_memory = staticmethod(set_spare_memory)
        set_swap_budget = staticmethod(set_swap_budget)
        settings = staticmethod(settings)
        show_progress = staticmethod(show_progress)
        shows_progress = staticmethod(shows_progress)

    def __call__(self, **settings: Unpack[Settings]) -> AbstractContextManager[None]:
        """Return a context manager: in its block these settings hold, and afterwards those that did before.

        ``as_python``, ``executor``, ``native``, ``num_threads`` and ``progress`` hold for what this thread, or this
        task, does in the block, whatever others do; memory (``memory_limit``, ``spare_memory``, ``swap_budget``) is the
        process's. Blocks may stand in blocks.

        Parameters
        ----------
        **settings
            See ``settings()``; ``None`` means the default.

        Returns
        -------
        context manager

        Raises
        ------
        TypeError, ValueError
            If there is no such setting, or it does not take the value.

        Examples
        --------
        >>> @al.function
        ... def f(x):
        ...     return x + 1
        >>> with al.config(executor="sequential", num_threads=1):
        ...     f(2)
        3
        """
        return _Block(settings)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to assign a setting, which would set nothing."""
        if name in Settings.__annotations__:
            raise AttributeError(
                f"config.{name} is not assigned; config({name}=...) sets it for a block, and a function of config for "
                "the process, see dir(config) [AL609]"
            )
        super().__setattr__(name, value)


if TYPE_CHECKING:
    config: Configuration
else:
    config = sys.modules[__name__]
    config.__class__ = Configuration

__all__ = [
    "get_executor", "get_memory_limit", "get_native", "get_num_threads", "get_spare_memory", "get_swap_budget",
    "run_as_python", "runs_as_python", "set_executor", "set_memory_limit", "set_native", "set_num_threads",
    "set_spare_memory", "set_swap_budget", "settings", "show_progress", "shows_progress",
]  # fmt: skip
__dir__ = listing(globals())
_tell_switched()
