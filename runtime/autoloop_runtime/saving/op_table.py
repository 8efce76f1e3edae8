"""The whole table of ops: of rows that nothing in this process has asked for, the modules are loaded here."""

from __future__ import annotations

import contextlib
import functools
import importlib
import pkgutil
from collections.abc import Callable

from .. import collections, ops
from ..base.collector import NoCollection
from ..base.forks import undivided
from ..ir.op import OPS, Op
from ..ops import numpy_names


@functools.cache
def load_rows() -> None:
    """Load every module that has rows, once: those of SciPy's functions need SciPy."""
    with undivided(), NoCollection():
        for package in (ops, numpy_names, collections):
            for module in pkgutil.iter_modules(package.__path__):
                with contextlib.suppress(ImportError):
                    importlib.import_module(f"{package.__name__}.{module.name}")


def op_named(name: str, load: Callable[[], None] = load_rows) -> Op | None:
    """Return the op of a name, None if there is none."""
    found = OPS.get(name)
    if found is None:
        load()
        found = OPS.get(name)
    return found


def is_row(op: Op) -> bool:
    """Return whether an op is of the table, and not one that a pass has made."""
    return op in OPS.values()
