"""What of installed packages a function reaches, whose code is not followed: where that keeps things begins there."""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

from autoloop_runtime.base.callbacks import module_of
from autoloop_runtime.base.locations import is_library_file

if TYPE_CHECKING:
    from .noted import Reached

#: packages whose functions keep nothing that they are given, or whose state is looked after elsewhere
KEEPING_NOTHING = frozenset(("numpy", "scipy", "autoloop", "autoloop_runtime", "optree", "llvmlite", "pytest"))


def package_of(namespace: dict[str, Any]) -> str:
    """Return the package to which a module belongs, given what that holds."""
    return str(namespace.get("__name__")).partition(".")[0]


def is_installed(module: Any) -> bool:
    """Return whether a module of this name is of an installed package, whose state nobody else looks after."""
    package = str(module).partition(".")[0]
    if package in KEEPING_NOTHING or package in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(str(module)), "__file__", None)
    return isinstance(file, str) and is_library_file(file)


def roots_of(reached: Reached) -> list[tuple[str, Any]]:
    """Return the functions, classes and objects of installed packages that code in reach names, and their names; the
    modules, each with the names that are used of it."""
    found: list[tuple[str, Any]] = []
    for place, value in reached.of_libraries:
        if isinstance(value, types.FunctionType):
            package = package_of(value.__globals__)
            is_one = package not in KEEPING_NOTHING and not (
                package in sys.stdlib_module_names and not value.__closure__
            )
        else:
            kind = value if isinstance(value, type) else type(value)
            is_one = is_installed(module_of(kind))
        if is_one:
            found.append((place.name, value))
    for place, value in reached.holders:
        if isinstance(value, type):  # of the user's, which may extend one of a library
            found += [(place.name, base) for base in value.__mro__[1:-1] if is_installed(module_of(base))]
    names = reached.names
    for module in [*reached.modules.values(), *[sys.modules.get(name) for name in names.imported]]:
        if isinstance(module, types.ModuleType) and is_installed(module.__name__):
            used = [name for name in vars(module) if names.use(name) or name in names.stored]
            found.append((module.__name__, (module, used)))
    return found
