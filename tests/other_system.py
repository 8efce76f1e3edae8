"""Makes a process look like one on another system: what that lacks is missing, and names say where it is.

Run with the system, the machine, and a program; the standard library and NumPy remain those of this system.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import mmap
import os
import pathlib
import platform
import runpy
import select
import signal
import socket
import sys
import sysconfig

import numpy as np  # noqa: F401  (it asks the system for what is taken away here)

#: what only POSIX has
MODULES = ("fcntl", "grp", "pwd", "resource", "termios", "_posixsubprocess", "_posixshmem", "readline")
FUNCTIONS = """
    confstr copy_file_range eventfd fchmod fchown fork forkpty fstatvfs getegid geteuid getgid getloadavg getpgid getuid
    killpg lockf memfd_create mkfifo nice openpty pipe2 posix_fadvise posix_fallocate posix_spawn pread preadv pwrite
    pwritev register_at_fork sched_getaffinity sched_setaffinity sendfile setsid setuid splice statvfs sysconf wait3
    wait4 O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_TMPFILE WNOHANG
""".split()
SIGNALS = ("SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN")
#: what only Linux has
LINUX = """
    copy_file_range eventfd memfd_create posix_fadvise posix_fallocate sched_getaffinity sched_setaffinity splice
""".split()
#: what a Python may be built without
OPTIONAL = ("mmap", "select", "socket", "_socket")


class _Missing(importlib.abc.MetaPathFinder):
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def without(*names):
    """Let modules be missing."""
    for name in names:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, _Missing(names))


def _take(module, names):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)


def become(system, machine):
    """Look like another system."""
    sysconfig.get_config_vars()  # read from a file that has the system's name
    with contextlib.suppress(ImportError):  # which are libraries of this one
        import llvmlite.binding  # noqa: F401
        import scipy.linalg.cython_blas  # noqa: F401
    if system == "win32":
        _take(os, FUNCTIONS)
        _take(signal, [n for n in dir(signal) if n.startswith(("SIG", "pthread_", "sig", "set")) and n not in SIGNALS])
        _take(signal, ["alarm", "getitimer", "pause"])
        _take(mmap, [name for name in dir(mmap) if name.startswith(("MAP_", "PROT_", "MADV_"))])
        _take(socket, ["AF_UNIX", "recv_fds", "send_fds"])
        _take(select, ["epoll", "poll"])
        without(*MODULES)
        os.name, pathlib.WindowsPath = "nt", pathlib.PosixPath
    elif system == "darwin":
        _take(os, LINUX)
    sys.platform = system
    platform.machine, platform.libc_ver = lambda: machine, lambda *_, **__: ("", "")
    platform.system = lambda: {"win32": "Windows", "darwin": "Darwin"}.get(system, "Linux")


if __name__ == "__main__":
    _, system, machine, *missing, program = sys.argv
    become(system, machine)
    without(*missing)
    runpy.run_path(program, run_name="__main__")
