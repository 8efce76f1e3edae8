"""What of installed packages a function reaches, whose code is not followed: where that keeps things begins there."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from autoloop_runtime.base.callbacks import module_of
from autoloop_runtime.base.locations import is_library_file

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


def roots_of(
    values: Iterable[tuple[str, Any]], classes: Iterable[type], modules: Iterable[Any], is_used: Callable[[str], bool]
) -> list[tuple[str, Any]]:
    """Return where installed packages begin for code, with names for messages.

    Parameters
    ----------
    values : iterable of (str, object)
        What the code has names for.
    classes : iterable of type
        The user's, which may extend others.
    modules : iterable
        Those that it names.
    is_used : callable
        Whether it uses a name.

    Returns
    -------
    list of (str, object)
        Functions, classes and objects of packages; modules, each with the names that are used of it.
    """
    found = [(name, value) for name, value in values if _is_of_package(value)]
    for kind in classes:
        found += [(kind.__name__, base) for base in kind.__mro__[1:-1] if is_installed(module_of(base))]
    for module in modules:
        name = vars(module).get("__name__") if issubclass(type(module), types.ModuleType) else None
        if is_installed(name):
            found.append((str(name), (module, [one for one in vars(module) if is_used(one)])))
    return found


def _is_of_package(value: Any) -> bool:
    """Return whether something is a function, class or object of a package; a wrapper of Python's may hold such."""
    kind = type(value)
    if kind is not types.FunctionType:
        return is_installed(module_of(value if issubclass(kind, type) else kind))
    package = package_of(value.__globals__)
    if package in sys.stdlib_module_names:
        return bool(value.__closure__)
    return package not in KEEPING_NOTHING and is_library_file(value.__code__.co_filename)
