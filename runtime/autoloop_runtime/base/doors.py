"""Doors of packages: names whose modules are loaded when one of them is first asked for.

Of what most programs do without, a start then pays nothing. A module opens such a door with
``__getattr__ = door(globals(), module_of)``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from .collector import NoCollection
from .forks import undivided
from .kept_modules import named


def listing(namespace: dict[str, Any], *others: str) -> Callable[[], list[str]]:
    """Return a public module's ``__dir__``: the names of its ``__all__``, and others that are public but no part of a
    star, as those of Python's builtins; not what the module imports and works with."""
    return lambda: sorted({*namespace["__all__"], *others})


def door(
    namespace: dict[str, Any],
    module_of: Mapping[str, str],
    modules: Collection[str] = (),
    spelled: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[str], Any]:
    """Return a module's ``__getattr__``.

    Parameters
    ----------
    namespace : dict
        Of the module; what was found stays there, and is asked for only once.
    module_of : mapping
        In which module a name stands, by its full name.
    modules : collection of str
        The names that are for the modules themselves.
    spelled : mapping
        What names are called in their module, where it is otherwise.
    """

    def later(name: str) -> Any:
        module = module_of.get(name)
        if module is None:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        with undivided(), NoCollection():
            found = importlib.import_module(module)
        if name in modules:
            named(found)
        value = namespace[name] = found if name in modules else getattr(found, spelled.get(name, name))
        return value

    return later
