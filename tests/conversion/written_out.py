"""Small programs from text, run plain and decorated, and whether both gave the same."""

from __future__ import annotations

import linecache
import math
import numbers
import warnings
from collections.abc import Sequence
from itertools import count
from typing import Any

import autoloop as al
import numpy as np

_NUMBER = count()


def program(text: str, names: Sequence[str], **known: Any) -> Any:
    """Return a function of arguments ``names`` whose body is the text; an expression is what it returns."""
    body = text if "return" in text else f"return {text}"
    source = f"def program({', '.join(names)}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    filename = f"<written out {next(_NUMBER)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    namespace = {"np": np, "al": al, "math": math, "numbers": numbers, "__name__": "written_out", **known}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["program"]


def outcome(f: Any, *args: Any) -> Any:
    """Return what a call gives or raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return f(*[np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in args])
        except Exception as error:
            return error


def alike(plain: Any, ours: Any) -> bool:
    """Return whether two results are of one type and value, or two exceptions of one type."""
    if type(plain) is not type(ours):
        return False
    if isinstance(plain, Exception):
        return True
    if isinstance(plain, (tuple, list)):
        return len(plain) == len(ours) and all(map(alike, plain, ours))
    if isinstance(plain, dict):
        return list(plain) == list(ours) and all(map(alike, plain.values(), ours.values()))
    if isinstance(plain, (np.ndarray, np.generic)):
        if plain.dtype != ours.dtype or plain.shape != ours.shape:
            return False
        return bool(np.array_equal(plain, ours, equal_nan=plain.dtype.kind in "fc"))
    return bool(plain == ours or (plain != plain and ours != ours))


def differences(texts: Sequence[str], executor: str, args: dict[str, Any], **known: Any) -> list[str]:
    """Return of expressions that one function gives together those that it gives otherwise when it is decorated."""
    f = program(f"return [{', '.join(texts)}]", list(args), **known)
    plain = outcome(f, *args.values())
    ours = outcome(al.function(f, executor=executor), *args.values())
    if isinstance(plain, Exception) or isinstance(ours, Exception):
        return [f"{plain!r} and {ours!r}"]
    return [f"{text}: {a!r} and {b!r}" for text, a, b in zip(texts, plain, ours) if not alike(a, b)]


def failures(texts: Sequence[str], executor: str, args: dict[str, Any], **known: Any) -> list[str]:
    """Return of programs that raise those that raise something else when they are decorated."""
    found = []
    for text in texts:
        f = program(text, list(args), **known)
        plain, ours = outcome(f, *args.values()), outcome(al.function(f, executor=executor), *args.values())
        if not isinstance(plain, Exception) or not alike(plain, ours):
            found.append(f"{text}: {plain!r} and {ours!r}")
    return found
