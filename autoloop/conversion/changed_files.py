"""Functions whose file has been written since the process began: what runs may be older than the text, or be compiled
of it anew with other lines, as IPython's ``%autoreload`` does."""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from autoloop_runtime.base.parsing import parse

from ..errors import SourceNotFoundError

_PARTS = (
    "co_name", "co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_posonlyargcount",
    "co_kwonlyargcount", "co_exceptiontable",
)  # fmt: skip


def as_it_stands(code: types.CodeType, lines: Sequence[str]) -> types.CodeType:
    """Return the code of the same function as the lines of its file have it, which says where it stands there.

    Raises
    ------
    SourceNotFoundError
        If there is no such function in them.
    """
    alike = [one for one in _functions("".join(lines), code.co_filename) if _same(one, code)]
    if not alike:
        raise SourceNotFoundError(
            f"{code.co_filename!r} has changed since {code.co_qualname!r} was read from it [AL002]"
        )
    far = lambda one: (one.co_qualname != code.co_qualname, abs(one.co_firstlineno - code.co_firstlineno))  # noqa: E731
    return min(alike, key=far)


@functools.lru_cache(maxsize=4)
def _functions(text: str, filename: str) -> tuple[types.CodeType, ...]:
    """Return the code of all functions in a text; none if it cannot be compiled."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what is compiled, as when it was read
            return tuple(_inside(compile(parse(text), filename, "exec", dont_inherit=True)))
    except (SyntaxError, ValueError):
        return ()


def _inside(code: types.CodeType) -> Iterator[types.CodeType]:
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield one
            yield from _inside(one)


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    """Return whether two functions do the same; they may stand on other lines, and be indented otherwise."""
    if any(getattr(one, part) != getattr(other, part) for part in _PARTS) or len(one.co_consts) != len(other.co_consts):
        return False
    pairs = list(zip(one.co_consts, other.co_consts))
    told, *rest = pairs or [(None, None)]
    if not (isinstance(told[0], str) and isinstance(told[1], str) and told[0].split() == told[1].split()):
        rest = pairs  # the first may be what it says of itself, where spaces are of no matter
    return all(map(_alike, *zip(*rest))) if rest else True


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, types.CodeType):
        return isinstance(other, types.CodeType) and _same(one, other)
    return type(one) is type(other) and repr(one) == repr(other)
