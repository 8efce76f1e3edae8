"""Structures of arguments and results as JSON, and back: tuples, lists, dicts and named tuples, as such.

    ["tuple", a, b, ...]   ["list", a, b, ...]   ["dict", [key, a], ...]
    ["named tuple", "Point", ["x", "y"], a, b]   ["named arguments", ["name", a], ...]

Leaves are what whoever writes and reads the structure makes of them. A named tuple comes back as one of a class of its
own, of that name and with these fields.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Callable, Iterator
from typing import Any

from autoloop_runtime.saving.file_form import values_of
from autoloop_runtime.saving.load_errors import damaged, unsaid
from autoloop_runtime.saving.value_form import MOST_DEPTH, ValueReader, ValueWriter

from ..parameters import Named

#: what begins the form of a structure
_STRUCTURES = ("tuple", "list", "dict", "named tuple", "named arguments")
#: no named tuple has more fields
_MOST_FIELDS = 1 << 12


def is_named_tuple(value: Any) -> bool:
    """Return whether a value is a named tuple that is nothing but one."""
    kind = type(value)
    if not isinstance(value, tuple) or not hasattr(kind, "_fields"):
        return False
    return kind.__new__.__code__.co_filename.startswith("<string>") or _is_made_here(kind)


def _is_made_here(kind: type) -> bool:
    return getattr(kind, "__module__", None) == __name__


def tree_form(value: Any, leaf: Callable[[Any], Any], values: ValueWriter) -> Any:
    """Return the form of a structure; ``leaf`` gives that of each leaf, in the order in which they are met.

    Raises
    ------
    SaveError
        If there is a structure in it that no file holds.
    """
    kind = type(value)
    again = functools.partial(tree_form, leaf=leaf, values=values)
    if kind in (tuple, list):
        return [kind.__name__, *map(again, value)]
    if kind is dict:
        return ["dict", *[[values.form(key, "the key of a dict"), again(one)] for key, one in value.items()]]
    if kind is Named:
        return ["named arguments", *[[key, again(one)] for key, one in value.items()]]
    if is_named_tuple(value):
        return ["named tuple", kind.__name__, list(kind._fields), *map(again, value)]
    if hasattr(kind, "__dataclass_fields__"):
        raise unsaid(f"the dataclass {kind.__qualname__!r}: give its fields, or a dict or named tuple of them,")
    if isinstance(value, (tuple, list, dict)):
        raise unsaid(f"a structure of the class {kind.__qualname__!r}")
    return leaf(value)


def tree_of(form: Any, leaf: Callable[[list[Any]], Any], values: ValueReader, depth: int = 0) -> Any:
    """Return the structure of a form, with what ``leaf`` makes of the forms of leaves."""
    if type(form) is not list or not form or type(form[0]) is not str:
        raise damaged("a structure has no such form")
    if depth > MOST_DEPTH:
        raise damaged("structures are nested too deeply")
    kind, rest = form[0], form[1:]
    if kind not in _STRUCTURES:
        return leaf(form)
    again = functools.partial(tree_of, leaf=leaf, values=values, depth=depth + 1)
    if kind in ("tuple", "list"):
        made = list(map(again, rest))
        return tuple(made) if kind == "tuple" else made
    if kind == "named tuple":
        if len(rest) < 2 or type(rest[1]) is not list or len(rest[1]) != len(rest) - 2:
            raise damaged("a named tuple has not the fields that it must have")
        return tuple.__new__(named_tuple(rest[0], tuple(rest[1])), list(map(again, rest[2:])))
    pairs = [values_of(row, "a part of a structure", 2) for row in rest]
    if kind == "dict":
        keys = [values.value(key) for key, _ in pairs]
        if len(set(keys)) < len(keys):
            raise damaged("a dict has a key twice")
        return dict(zip(keys, [again(one) for _, one in pairs]))
    if not all(type(key) is str for key, _ in pairs):
        raise damaged("an argument has no such name")
    return Named([(key, again(one)) for key, one in pairs])


@functools.lru_cache(maxsize=256)
def named_tuple(name: Any, fields: Any) -> type[tuple[Any, ...]]:
    """Return a class of named tuples, the same each time; no code is made for it but what reads one element."""
    names = (name, *fields)
    if len(names) > _MOST_FIELDS or not all(type(one) is str and _is_name(one) for one in names):
        raise damaged("a named tuple has no such fields")
    if len(set(fields)) < len(fields) or any(one.startswith("_") for one in fields):
        raise damaged("a named tuple has no such fields")
    members: dict[str, Any] = {one: property(_element(k)) for k, one in enumerate(fields)}
    made: Any = type(name, (_NamedTuple,), {"__slots__": (), "_fields": tuple(fields), **members})
    return made  # type: ignore[no-any-return]


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text) and len(text) < 256


def _element(place: int) -> Callable[[Any], Any]:
    return lambda self: tuple.__getitem__(self, place)


class _NamedTuple(tuple[Any, ...]):
    """A named tuple of a file."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        given = [*args, *[kwargs[name] for name in cls._fields[len(args) :] if name in kwargs]]
        if len(given) != len(cls._fields) or len(args) + len(kwargs) != len(given):
            raise TypeError(f"{cls.__name__} takes the arguments {', '.join(cls._fields)} [AL712]")
        return tuple.__new__(cls, given)

    @classmethod
    def _make(cls, iterable: Any) -> Any:
        return cls(*iterable)

    def _asdict(self) -> dict[str, Any]:
        return dict(zip(self._fields, self))

    def _replace(self, **kwargs: Any) -> Any:
        return type(self)(**{**self._asdict(), **kwargs})

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={one!r}' for name, one in zip(self._fields, self))})"


def parts_of(saved: Any, given: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """Yield each leaf of a structure of a file, with what stands there in an argument.

    Raises
    ------
    TypeError
        If the argument ``name`` has another structure.
    """
    pairs: list[tuple[Any, Any]] = [(saved, given)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict):
            if not isinstance(other, dict) or one.keys() != other.keys():
                raise _other_structure(name, f"a dict with the keys {', '.join(map(repr, one))}", other)
            pairs += [(one[key], other[key]) for key in reversed(one)]
        elif isinstance(one, (tuple, list)):
            base = tuple if isinstance(one, tuple) else list
            is_alike = isinstance(other, base) and len(one) == len(other)
            fields = getattr(one, "_fields", None)
            if not is_alike or getattr(other, "_fields", None) != fields:
                what = "named tuple" if fields is not None else base.__name__
                raise _other_structure(name, f"a {what} of {len(one)} elements", other)
            pairs += [*zip(one, other)][::-1]
        else:
            yield one, other


def _other_structure(name: str, wanted: str, given: Any) -> TypeError:
    return TypeError(f"argument {name!r} is to be {wanted}, not {type(given).__name__} [AL712]")


def mapped(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return a structure with what ``leaf`` makes of its leaves."""
    if isinstance(tree, dict):
        return type(tree)([(key, mapped(one, leaf)) for key, one in tree.items()])
    if isinstance(tree, tuple):
        return tuple.__new__(type(tree), [mapped(one, leaf) for one in tree])
    return [mapped(one, leaf) for one in tree] if isinstance(tree, list) else leaf(tree)


def leaves_of(tree: Any) -> list[Any]:
    """Return the leaves of a structure."""
    found: list[Any] = []
    mapped(tree, found.append)
    return found
