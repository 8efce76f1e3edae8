"""What a report of a defect needs to say of the machine and the installation."""

from __future__ import annotations

import ctypes
import importlib
import os
import platform
import sys

from autoloop_runtime.base import config
from autoloop_runtime.base.cache_folder import cache_folder
from threadpoolctl import threadpool_info

#: what takes part, if it is installed
PACKAGES = ("numpy", "optree", "gast", "astunparse", "threadpoolctl", "llvmlite", "scipy", "tqdm")
#: variables of the environment that are told besides our own
VARIABLES = ("XDG_CACHE_HOME", "LOCALAPPDATA", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def show_versions() -> None:
    """Print versions, libraries, settings and the cache folder, for reports of defects.

    Examples
    --------
    >>> al.show_versions()  # doctest: +ELLIPSIS
    python: ...
    """
    print("\n".join(f"{name}: {value}" for name, value in found().items()))


def found() -> dict[str, object]:
    """Return what there is, by name."""
    environment = {**os.environ}
    told = sorted(name for name in environment if name.startswith("AUTOLOOP_") or name in VARIABLES)
    build = f"{platform.system()} {platform.release()} {platform.machine()}"
    libraries = [f"{one['internal_api']} {one['version']}, threads: {one['num_threads']}" for one in threadpool_info()]
    return {
        "python": f"{sys.version.split()[0]} ({platform.python_implementation()}, {sys.executable})",
        "system": f"{build}, {os.cpu_count()} processors",
        "autoloop": sys.modules["autoloop"].__version__,
        **{name: _version(name) for name in PACKAGES},
        "BLAS and threads": "; ".join(libraries) or "unknown",
        "libmvec": _libmvec(),
        "cache": cache_folder("native") or "none",
        **{f"config.{name}": value for name, value in config.settings().items()},
        **{name: environment[name] for name in told},
    }


def _version(name: str) -> str:
    try:
        metadata = importlib.import_module("importlib.metadata")  # a Python without sockets has none
    except ImportError:
        return "unknown"
    try:
        return str(metadata.version(name))
    except metadata.PackageNotFoundError:
        return "not installed"


def _libmvec() -> str:
    """Return whether there is the C library's SIMD mathematics, which machine code calls."""
    try:
        ctypes.CDLL("libmvec.so.1")
    except OSError:
        return "not there"
    return "there"
