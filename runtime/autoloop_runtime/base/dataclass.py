"""``dataclass``, ``field`` and ``replace`` with the meaning they have in ``dataclasses``, for our own small records.

The standard decorator compiles up to six methods while a class is defined, a quarter of a millisecond for each class:
with the hundred records of this package that was the larger part of ``import autoloop``. Here ``__init__`` is
compiled when as many instances have been made as pay for it, and the other methods are shared code.

What is left out of the standard's options is not needed here: inheritance of fields, ``ClassVar``, ``InitVar``,
keyword-only fields. Unlike the standard's, instances are leaves to ``nest``.

``Protocol`` is the standard's to checkers only: nobody asks whether something is an instance, and the class would cost
as much as three others.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform, overload

if TYPE_CHECKING:
    from typing import Protocol as Protocol
else:
    Protocol = object

_T = TypeVar("_T")
_C = TypeVar("_C", bound=type)
_FIELDS = "__record_fields__"
_REQUIRED = object()  # a field without a default
_SLOT = MemberDescriptorType
#: instances of a class that are made without a compiled ``__init__``, which costs as much as a hundred such. A program
#: that calls one function once makes fewer of nearly all classes
_FIRST = 100


class _Fresh:
    """A default that is made anew for each instance."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def field(*, default_factory: Callable[[], Any]) -> Any:
    """Return a default that ``default_factory()`` makes for each instance."""
    return _Fresh(default_factory)


def replace(record: _T, /, **changes: Any) -> _T:
    """Return a copy of ``record`` with some fields changed."""
    return type(record)(**{name: getattr(record, name) for name in getattr(record, _FIELDS)} | changes)


@overload
def dataclass(cls: _C, /) -> _C: ...
@overload
def dataclass(*, frozen: bool = False, eq: bool = True, slots: bool = False) -> Callable[[_C], _C]: ...
@dataclass_transform(field_specifiers=(field,))
def dataclass(cls: Any = None, /, *, frozen: bool = False, eq: bool = True, slots: bool = False) -> Any:
    """Make a class a record of the names that it annotates.

    Parameters
    ----------
    frozen : bool
        Assigning to an instance is an ``AttributeError``. Without ``slots`` many instances are quick to make, and
        their fields take somewhat longer to read.
    eq : bool
        Equal instances have equal fields (and are hashable, if frozen); else they compare by identity.
    slots : bool
        Instances have no dict.
    """
    if cls is None:
        return lambda cls: _record(cls, frozen, eq, slots)
    return _record(cls, frozen, eq, slots)


def _record(cls: type, frozen: bool, eq: bool, slots: bool) -> type:
    fields = {name: cls.__dict__.get(name, _REQUIRED) for name in cls.__annotations__}
    for name, default in fields.items():
        if default is not _REQUIRED and (slots or type(default) is _Fresh):
            delattr(cls, name)
    if slots:
        body = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
        cls = type(cls)(cls.__name__, cls.__bases__, {**body, "__slots__": tuple(fields)})
    own = {*vars(cls)}
    for name, value in _methods(cls, fields, frozen, eq).items():
        if name not in own:
            setattr(cls, name, value)
    return cls


def _methods(cls: type, fields: dict[str, Any], frozen: bool, eq: bool) -> dict[str, Any]:
    names = tuple(fields)
    made: dict[str, Any] = {
        _FIELDS: names,
        "__match_args__": names,
        "__init__": _first_init(cls, fields, frozen),
        "__repr__": _repr,
    }
    if eq:
        # of one name attrgetter gives the value instead of a tuple, which compares as well
        values = attrgetter(*names) if names else type

        def __eq__(self: Any, other: object) -> bool:
            return values(self) == values(other) if type(other) is type(self) else NotImplemented

        def __hash__(self: Any) -> int:
            return hash(values(self))

        made["__eq__"], made["__hash__"] = __eq__, __hash__ if frozen else None
    if frozen:
        made["__setattr__"] = made["__delattr__"] = _refuse
    if "__slots__" in vars(cls):
        made["__reduce__"] = reduced
    return made


def _first_init(cls: type, fields: dict[str, Any], frozen: bool) -> Callable[..., None]:
    """Return ``__init__`` of the first instances, which puts the compiled one in its place after them."""
    names, put = tuple(fields), _putting(cls, fields, frozen)
    required = tuple([name for name, default in fields.items() if default is _REQUIRED])
    fresh = [name for name, default in fields.items() if type(default) is _Fresh]
    finishes, left = "__post_init__" in vars(cls), _FIRST

    def __init__(self: Any, *args: Any, **given: Any) -> None:
        nonlocal left
        values = {**fields, **dict(zip(names, args)), **given}
        fits = len(values) == len(names) >= len(args) and given.keys().isdisjoint(names[: len(args)])
        if left <= 0 or not fits or not given.keys() >= {*required[len(args) :]}:
            # it also says what is wrong with the arguments; if two threads come here at once, either one's stays
            compiled: Any = _compiled_init(cls, fields, frozen)
            cls.__init__ = compiled  # type: ignore[misc]
            compiled(self, *args, **given)
            return
        left -= 1
        for name in fresh:
            if values[name] is fields[name]:
                values[name] = fields[name].make()
        put(self, values)
        if finishes:
            self.__post_init__()

    return __init__


def _putting(cls: type, fields: dict[str, Any], frozen: bool) -> Callable[[Any, dict[str, Any]], None]:
    """Return what gives an instance the values of its fields, which come in their order."""
    setters = [slot.__set__ for name in fields if isinstance(slot := vars(cls).get(name), MemberDescriptorType)]
    if len(setters) == len(fields):  # one by one by its name a field takes five times as long

        def fill(self: Any, values: dict[str, Any]) -> None:
            for put, value in zip(setters, values.values()):
                put(self, value)

        return fill
    if frozen:  # past the ban
        return lambda self, values: self.__dict__.update(values)

    def assign(self: Any, values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    return assign


def _compiled_init(cls: type, fields: dict[str, Any], frozen: bool) -> Callable[..., None]:
    """Return ``__init__`` as one would write it."""
    namespace: dict[str, Any] = {}
    parameters, lines = ["self"], []
    if frozen and "__slots__" not in vars(cls):
        lines.append("    __own__ = self.__dict__")  # past the ban in a fifth of what object.__setattr__ takes
    for name, default in fields.items():
        value = name
        if default is _REQUIRED:
            parameters.append(name)
        else:
            parameters.append(f"{name}=default_{name}")
            namespace[f"default_{name}"] = default
            if type(default) is _Fresh:
                value = f"default_{name}.make() if {name} is default_{name} else {name}"
        if not frozen:
            lines.append(f"    self.{name} = {value}")
        elif isinstance(slot := vars(cls).get(name), MemberDescriptorType):
            namespace[f"set_{name}"] = slot.__set__
            lines.append(f"    set_{name}(self, {value})")
        else:
            lines.append(f"    __own__[{name!r}] = {value}")
    if "__post_init__" in vars(cls):
        lines.append("    self.__post_init__()")
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *lines, "    return"]), namespace)
    made: Callable[..., None] = namespace["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def reduced(self: Any) -> tuple[Any, ...]:
    """Return what ``copy`` and ``pickle`` make an instance with slots of anew; put into classes as ``__reduce__``.

    Python's own needs a protocol above 1, and sets what a frozen instance bans.
    """
    slots = {name: slot for cls in type(self).__mro__ for name, slot in vars(cls).items() if type(slot) is _SLOT}
    return made_of_slots, (type(self), {name: getattr(self, name) for name in slots if hasattr(self, name)})


def made_of_slots(cls: type[_T], values: dict[str, Any]) -> _T:
    """Return an instance with these values in its slots."""
    made = cls.__new__(cls)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def not_pickled(words: str) -> Callable[[Any], NoReturn]:
    """Return the ``__reduce__`` of a class whose instances other processes could do nothing with."""

    def __reduce__(self: Any) -> NoReturn:
        raise TypeError(words)

    return __reduce__


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in getattr(self, _FIELDS))
    return f"{type(self).__qualname__}({shown})"


def _refuse(self: Any, name: str, *_: Any) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: its field {name!r} cannot be changed [AL506]")
