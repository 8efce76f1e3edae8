"""Settings of the process."""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Callable
from functools import lru_cache

from .doors import listing
from .locations import capture

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
#: are told whether functions run as Python, when that changes; likewise
_python_tellers: list[Callable[[bool], None]] = []

#: set to 0 it is as if ``set_native(False)`` had been called
NATIVE_OPT_OUT = "AUTOLOOP_NATIVE"
#: set to 1 it is as if ``run_as_python()`` had been called
AS_PYTHON = "AUTOLOOP_AS_PYTHON"


#: set to 1 it is as if ``show_progress()`` had been called
PROGRESS = "AUTOLOOP_PROGRESS"

_FROM_ENVIRONMENT = os.environ.get(AS_PYTHON, "0") not in ("", "0")


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
    return _num_threads or min(_processors(), MOST_BY_DEFAULT)


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
    if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
        raise TypeError(f"the swap budget is a number of bytes, got {count!r} [AL609]")
    if count is not None and count < 0:
        raise ValueError(f"the swap budget cannot be negative, got {count} [AL609]")
    _swap_budget = count


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
    if isinstance(count, bool) or not isinstance(count, int):
        raise TypeError(f"the spare memory is a number of bytes, got {count!r} [AL609]")
    if count < 0:
        raise ValueError(f"the spare memory cannot be negative, got {count} [AL609]")
    _spare_memory = count
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
    _check_switch("set_native", enabled)
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
    return os.environ.get(NATIVE_OPT_OUT, "1") != "0" if _native is None else _native


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
    _check_switch("run_as_python", enabled)
    _as_python = enabled
    for tell in list(_python_tellers):
        tell(runs_as_python())


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
    return _FROM_ENVIRONMENT if _as_python is None else _as_python


def tell_as_python(tell: Callable[[bool], None]) -> None:
    """Call ``tell`` whenever it changes whether decorated functions run undecorated."""
    _python_tellers.append(tell)


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
    _check_switch("show_progress", enabled)
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
    if _progress is not None:
        return _progress
    return os.environ.get(PROGRESS, "0") not in ("", "0") and _can_show_progress()


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


def _check_switch(name: str, enabled: bool | None) -> None:
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


__all__ = [
    "get_memory_limit", "get_native", "get_num_threads", "get_spare_memory", "get_swap_budget", "run_as_python",
    "runs_as_python", "set_memory_limit", "set_native", "set_num_threads", "set_spare_memory", "set_swap_budget",
    "show_progress", "shows_progress",
]  # fmt: skip
__dir__ = listing(globals())
