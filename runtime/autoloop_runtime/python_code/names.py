"""Names of variables in generated code: the user's where there are some, always valid, never used twice."""

from __future__ import annotations

import builtins
import keyword

import numpy as np

from ..base.dtypes import dtype_name

#: names with a meaning of their own in generated code
RESERVED = frozenset({*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "np", "state", "run", "_"})
_MAX = 40
_LETTERS = frozenset("_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def identifier(text: str) -> str:
    """Return ``text`` made a valid identifier: ``loop_vars[0]`` is ``loop_vars_0``."""
    if not (text.isascii() and text.isidentifier()):
        text = "_".join("".join([c if c in _LETTERS else " " for c in text]).split())
    name = text.strip("_")[:_MAX] or "value"
    if name[0].isdigit():
        name = f"v{name}"
    return name


def of_node(name: str) -> str:
    """Return the variable name for a node: the last part of its path."""
    return identifier(name.rpartition("/")[2])


def of_constant(value: np.generic) -> str:
    """Return a name that shows a scalar constant: ``int32_1``, ``float32_minus_0_5``."""
    text, dtype = str(value), dtype_name(value.dtype).removeprefix("np.").rstrip("_")
    if len(text) > 12:
        return f"{dtype}_constant"
    text = text.removesuffix(".0").replace("-", "minus_").replace("+", "").replace(".", "_")
    return identifier(f"{dtype}_{text}")


class Names:
    """The names of one generated module: globals (constants, kernels) and locals of its functions.

    A global is never released and never was a local, since an assignment anywhere in a function would
    make it local there. A local may be released where its scope ends, and used again.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set(RESERVED)
        self._ever: set[str] = set(RESERVED)
        self._globals: set[str] = set()

    def new_global(self, wanted: str) -> str:
        """Return a name for something that lives as long as the module."""
        name = self._free(wanted, self._ever)
        self._globals.add(name)
        self._ever.add(name)
        self._taken.add(name)
        return name

    def new_local(self, wanted: str) -> str:
        """Return a name for a variable."""
        name = self._free(wanted, self._taken)
        self._ever.add(name)
        self._taken.add(name)
        return name

    def release(self, names: set[str]) -> None:
        """Allow ``names`` of locals to be used again."""
        self._taken -= names - self._globals - RESERVED

    @staticmethod
    def _free(wanted: str, taken: set[str]) -> str:
        if wanted not in taken:
            return wanted
        if wanted in RESERVED and f"{wanted}_" not in taken:
            return f"{wanted}_"
        stem, _, number = wanted.rpartition("_")
        base = stem if number.isdecimal() else wanted
        count = 1
        while (name := f"{base}_{count}") in taken:
            count += 1
        return name
