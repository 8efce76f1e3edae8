"""``tf.flags`` of 1.x: settings of a program that its command line changes."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autoloop_runtime.base.doors import listing
from autoloop_runtime.base.forks import Kind

__all__ = [
    "FLAGS", "DEFINE_bool", "DEFINE_boolean", "DEFINE_enum", "DEFINE_float", "DEFINE_integer", "DEFINE_list",
    "DEFINE_string", "FlagValues",
]  # fmt: skip
__dir__ = listing(globals())

_CODE = " [AL910]"
_KIND = Kind("FlagValues.lock", "values are replaced one by one")


class _Flag(NamedTuple):
    help: str
    parse: Callable[[str], Any]
    is_switch: bool


class FlagValues:
    """The flags of a program; the command line is read when a value is first asked for.

    Examples
    --------
    >>> from autoloop.compat import v1 as tf
    >>> flags = tf.flags.FlagValues()
    >>> tf.flags.DEFINE_integer("steps", 3, "How many.", flag_values=flags)
    >>> flags(["prog", "--steps=5", "more"])
    ['prog', 'more']
    >>> flags.steps
    5
    """

    def __init__(self) -> None:
        self.__dict__.update(_lock=_KIND.lock(), _flags={}, _values={}, _is_parsed=False)

    def define(self, name: str, default: Any, flag: _Flag) -> None:
        """Add a flag.

        Raises
        ------
        ValueError
            If there is one of that name.
        """
        with self._lock:
            if name in self._flags:
                raise ValueError(f"The flag '{name}' is defined twice. [AL910]")
            self._flags[name], self._values[name] = flag, default

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Read a command line, whose first word is the program's name; gives what is no flag.

        Raises
        ------
        ValueError
            If a flag is not known, or its value is none.
        """
        rest, words = [argv[0]], list(argv[1:])
        while words:
            word = words.pop(0)
            if word == "--":
                rest += words
                break
            if not word.startswith("-") or word == "-":
                rest.append(word)
                continue
            self._read(word, words, rest if known_only else None)
        self.__dict__["_is_parsed"] = True
        return rest

    def _read(self, word: str, words: list[str], unknown: list[str] | None) -> None:
        name, has_value, text = word.lstrip("-").partition("=")
        name = name.replace("-", "_")
        flag = self._flags.get(name)
        if flag is None and name.startswith("no") and not has_value:
            other = self._flags.get(name[2:])
            if other is not None and other.is_switch:
                self._values[name[2:]] = False
                return
        if flag is None:
            if unknown is None:
                raise ValueError(f"Unknown command line flag '{name}' [AL910]")
            unknown.append(word)
            return
        if not has_value:
            if flag.is_switch:
                text = "true"
            elif words:
                text = words.pop(0)
            else:
                raise ValueError(f"Missing value for flag --{name} [AL910]")
        try:
            self._values[name] = flag.parse(text)
        except ValueError as error:  # of Python, where the text is no number, or of ours
            raise ValueError(f"flag --{name}={text}: {str(error).removesuffix(_CODE)}{_CODE}") from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._flags:
            raise AttributeError(name)
        if not self._is_parsed:
            self(sys.argv, known_only=True)
        return self._values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._flags:
            raise AttributeError(name)
        self._values[name] = value

    def __contains__(self, name: str) -> bool:
        return name in self._flags

    def __iter__(self) -> Any:
        return iter(self._flags)

    def __dir__(self) -> list[str]:
        return [*self._flags]

    def flag_values_dict(self) -> dict[str, Any]:
        """Return the values by their names."""
        return {name: getattr(self, name) for name in self._flags}

    def help(self) -> str:
        """Return what the flags are for."""
        return "\n".join(
            f"  --{name}: {flag.help} (default: {self._values[name]!r})" for name, flag in self._flags.items()
        )


FLAGS = FlagValues()


def _within(lower_bound: float | None, upper_bound: float | None, number: Callable[[str], Any]) -> Callable[[str], Any]:
    low = -math.inf if lower_bound is None else lower_bound
    high = math.inf if upper_bound is None else upper_bound

    def parse(text: str) -> Any:
        value = number(text)
        if value < low or value > high:
            raise ValueError(f"the value should be in [{low}, {high}] [AL910]")
        return value

    return parse


def _truth(text: str) -> bool:
    if text.lower() in ("true", "t", "1"):
        return True
    if text.lower() in ("false", "f", "0"):
        return False
    raise ValueError("Non-boolean argument to boolean flag [AL910]")


def DEFINE_string(name: str, default: str | None, help: str, flag_values: FlagValues = FLAGS) -> None:
    """Define a flag whose value is text."""
    flag_values.define(name, default, _Flag(help, str, False))


def DEFINE_integer(
    name: str, default: int | None, help: str, lower_bound: int | None = None, upper_bound: int | None = None,
    flag_values: FlagValues = FLAGS,
) -> None:  # fmt: skip
    """Define a flag whose value is an integer."""
    flag_values.define(name, default, _Flag(help, _within(lower_bound, upper_bound, lambda text: int(text, 0)), False))


def DEFINE_float(
    name: str, default: float | None, help: str, lower_bound: float | None = None, upper_bound: float | None = None,
    flag_values: FlagValues = FLAGS,
) -> None:  # fmt: skip
    """Define a flag whose value is a float."""
    flag_values.define(name, default, _Flag(help, _within(lower_bound, upper_bound, float), False))


def DEFINE_boolean(name: str, default: bool | None, help: str, flag_values: FlagValues = FLAGS) -> None:
    """Define a flag that is true (``--name``) or false (``--noname``)."""
    flag_values.define(name, default, _Flag(help, _truth, True))


DEFINE_bool = DEFINE_boolean


def DEFINE_list(name: str, default: Any, help: str, flag_values: FlagValues = FLAGS) -> None:
    """Define a flag whose value is a list, written with commas."""
    first = default.split(",") if isinstance(default, str) else default
    flag_values.define(
        name, first, _Flag(help, lambda text: [part.strip() for part in text.split(",")] if text else [], False)
    )


def DEFINE_enum(
    name: str, default: str | None, enum_values: Sequence[str], help: str, flag_values: FlagValues = FLAGS
) -> None:
    """Define a flag whose value is one of several words."""

    def parse(text: str) -> str:
        if text not in enum_values:
            raise ValueError(f"the value should be one of <{'|'.join(enum_values)}> [AL910]")
        return text

    flag_values.define(name, default, _Flag(help, parse, False))
