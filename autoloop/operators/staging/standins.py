"""What stands in converted code for a value of the user's that only a run knows.

None of these objects is anything the user has a name for, so none may get out: ``door`` asks each of them, wherever
a value leaves converted code, what may go in its place.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from autoloop_runtime import ops
from autoloop_runtime.base.stand_ins import UnknownWhileTracing, missing
from autoloop_runtime.ir.asked_for_text import hash_is_asked
from autoloop_runtime.ir.convert import convert_to_tensor
from autoloop_runtime.ir.numpy_results import lacking
from autoloop_runtime.ir.tracers import Kind, kind_of

from ...errors import ConversionError

if TYPE_CHECKING:
    from .growing_list import GrowingList
    from .optional import MaybeNone


class StandIn:
    """An object that stands for a value of the user's.

    Attributes
    ----------
    advice : str
        What messages say to do instead of letting it out.
    """

    __slots__ = ()
    #: the class that the user knows its objects to be of, where it is one
    __stands_for__: type | None = None
    advice = "return it from the decorated function, and do that with what the call gives"

    def described(self) -> str:
        """Return what messages call it."""
        raise NotImplementedError

    def decision(self) -> Any:
        """Return what a condition on it decides on."""
        return self

    def leaving(self) -> Any:
        """Return what code that is not converted gets in its place.

        Raises
        ------
        TypeError
            If there is nothing that it could be given while the graph is built.
        """
        self.refuse_leaving("code that is not converted would get")

    def parts(self) -> tuple[list[Any], Callable[..., Any]]:
        """Return tensors, and what makes of their values what the user would have here in a run."""
        self.refuse_leaving("an exception would hold")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"cannot copy a {type(self).__name__}")  # as Python says it of a type: plain Python may copy it

    def __hash__(self) -> int:
        hash_is_asked(self)
        raise TypeError(f"an element of a set, or a key of a dict, would be {self.described()}: use a list [AL017]")

    def refuse_leaving(self, what: str) -> NoReturn:
        """Raise the error that tells who would get this object; where plain Python can, it runs the function then."""
        raise UnknownWhileTracing(f"{what} {self.described()}: {self.advice}")

    def asked_for(self, name: str) -> Any:
        """Return what the class that it stands for has under a name."""
        self.refuse_leaving(f"{name!r} would tell of")


class Either(StandIn):
    """One of several objects: only the run could tell whether it is a certain one."""

    __slots__ = ()


class Rows(StandIn):
    """What lists that grow are to those who only ask whether something is one: most programs have none."""

    __slots__ = ()


class MaybeRecord(StandIn):
    """What stands behind a :class:`Maybe`.

    Attributes
    ----------
    name : str
        The variable.
    value : object
        Its value where it is there; anything of the same type where it is not.
    is_set : Tensor
        Which of the two.
    """

    __slots__ = ("is_set", "name", "value")

    def __init__(self, name: str, value: Any, is_set: Any) -> None:
        self.name, self.value, self.is_set = name, value, is_set

    def needed(self) -> Any:
        """Return the value; at run time it is an error if it is not there."""
        raise NotImplementedError

    def decision(self) -> Any:
        """Return the truth of the value."""
        return ops.cast(self.needed(), bool)


class Covered(StandIn):
    """What is to converted code what it stands for, whatever that is asked: what it knows itself ``opened`` gives."""

    __slots__ = ("__record__",)
    __record__: Any


class Face(Covered):
    """What stands for an object of a class of Python's, such as an iterator, that the run makes.

    To the user it has what that class has, and lacks what it lacks: Python says so in the words that it has for it.
    """

    __slots__ = ()
    __stands_for__: type = object

    def __getattribute__(self, name: str) -> Any:
        kind = object.__getattribute__(self, "__stands_for__")
        if (name[:2] == "__" and hasattr(type(self), name)) or not hasattr(kind, name):
            return object.__getattribute__(self, name) if name[:2] == "__" else _refuse_lacking(kind, name)
        return self.__record__.asked_for(name)

    def __setattr__(self, name: str, value: Any) -> None:
        _refuse_lacking(self.__stands_for__, name)

    def __delattr__(self, name: str) -> None:
        _refuse_lacking(self.__stands_for__, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        if not _is_copied(self.__stands_for__):  # of which Python has no copy, either
            raise TypeError(f"cannot pickle {self.__stands_for__.__name__!r} object")
        self.__record__.refuse_leaving("a copy would be made of")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        self.__record__.refuse_leaving("an array would hold")

    def __repr__(self) -> str:
        return f"<{self.__record__.described()}>"


class IteratorFace(Face):
    """What stands for an iterator of Python's."""

    __slots__ = ()

    def __iter__(self) -> IteratorFace:
        return self

    def __next__(self) -> Any:
        self.__record__.refuse_leaving("code that is not converted would advance")


def _refuse_lacking(kind: type, name: str) -> NoReturn:
    if not hasattr(kind, name):
        raise lacking(kind, name)
    raise AttributeError(f"attribute {name!r} of {kind.__name__!r} objects is not writable")


def _is_copied(kind: Any) -> bool:
    """Return whether Python copies objects of a class of its own."""
    return kind.__reduce__ is not object.__reduce__


@functools.cache
def _face_of(kind: type, base: type) -> type[Face]:
    """Return the class of what stands for objects of a class; Python's messages call it by the name of that."""
    hint = {"__length_hint__": _length_hint} if hasattr(kind, "__length_hint__") else {}
    return type(kind.__name__, (base,), {"__slots__": (), "__stands_for__": kind, **hint})


def _length_hint(face: Face) -> Any:
    """Refuse; a ``TypeError`` would say that there is no hint."""
    try:
        face.__record__.refuse_leaving("code that is not converted would ask for the length of")
    except TypeError as error:
        raise ConversionError(*error.args) from None


def faced(record: StandIn, kind: type, base: type[Face] = IteratorFace) -> Any:
    """Return what the user gets of a stand-in of ours for an object of a class of Python's."""
    made = object.__new__(_face_of(kind, base))  # type: ignore[arg-type]  # classes have a hash
    object.__setattr__(made, "__record__", record)
    return made


class Maybe(Covered):
    """A value of which only the run can tell whether it is there; used as the value it is checked then.

    To converted code it is the value: whatever attribute it is asked for, ``best.name``, is the value's. What it
    knows itself ``opened`` gives.
    """

    __slots__ = ()
    __record__: MaybeRecord

    def __getattribute__(self, name: str) -> Any:
        if name[:2] == "__":
            return object.__getattribute__(self, name)
        return getattr(self.__record__.needed(), name)

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        return getattr(self.__record__.value, name)  # raises what reading it raised

    def __setattr__(self, name: str, value: Any) -> None:
        self.__record__.refuse_leaving(f"setting {name!r} would change")

    def __autoloop_tensor__(self) -> Any:
        return convert_to_tensor(present(self))

    @property
    def __autoloop_kind__(self) -> Kind:
        return kind_of((self.__record__.value,))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*map(present, args), **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*map(present, args), **kwargs)

    def __iter__(self) -> Any:
        return iter(present(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return present(self)(*args, **kwargs)


def _forwarded(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: function(*map(present, args))


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(other, present(self))


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"):
    _function = getattr(operator, _name)
    setattr(Maybe, f"__{_name.strip('_')}__", _forwarded(_function))
    setattr(Maybe, f"__r{_name.strip('_')}__", _reflected(_function))
    # an array is changed in place
    setattr(Maybe, f"__i{_name.strip('_')}__", _forwarded(getattr(operator, f"i{_name.strip('_')}")))
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert", "getitem"):
    setattr(Maybe, f"__{_name}__", _forwarded(getattr(operator, _name)))
Maybe.__hash__ = StandIn.__hash__  # type: ignore[method-assign]


def opened(value: Any) -> Any:
    """Return a stand-in as we ask it: of one whose attributes are all those of the user's value, its record."""
    return value.__record__ if isinstance(value, Covered) else value


def known_class(value: Any) -> type | None:
    """Return the class that a stand-in's value has to the user, where it is known; None of anything else."""
    return type(value).__stands_for__ if isinstance(value, StandIn) else None


def instances_have(kind: type, name: str) -> bool:
    """Return whether objects of a class of Python's or NumPy's have an attribute: the class itself has more."""
    return any(name in vars(cls) for cls in kind.__mro__)


def present(value: Any) -> Any:
    """Return the value of what may not be there, checked at run time; anything else as it is."""
    return opened(value).needed() if isinstance(value, Maybe) else value


missing("__record__", "a value of which only the run knows whether it is there is asked for what it holds")


class NoneOrNot(Maybe):
    """What a value that may be None is to those who only ask whether something is one: most programs have none."""

    __slots__ = ()


def is_growing(value: Any) -> TypeGuard[GrowingList]:
    """Return whether a value is a list that grows."""
    return isinstance(value, Rows)


def is_optional(value: Any) -> TypeGuard[MaybeNone]:
    """Return whether only the run tells if a value is None."""
    return issubclass(type(value), NoneOrNot)
