"""NumPy's functions as NumPy's callers call them: an argument means what it means there, or is refused by its name.

NumPy hands its functions to us with the arguments as they were written. Ours have other parameters in other places
(``np.sort(x, -1, "stable")``, ``al.sort(x, -1, descending)``): so they are bound by NumPy's own signature, and given by
name. What we have no parameter for must have its default.
"""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from ..base.callbacks import FOUND
from ..base.forks import undivided
from ..base.parsing import signature_of
from ..base.stand_ins import UnknownWhileTracing
from .array_kinds import computing

#: NumPy's name of a parameter -> ours, where the place does not say it and the names differ
_RENAMED = {"a_min": "min", "a_max": "max", "offset": "k"}
#: what is as good as not given: of arguments that NumPy gives no default for its users to see, and of ufuncs
_NEUTRAL: dict[str, tuple[Any, ...]] = {
    "casting": ("same_kind",), "dtype": (None,), "keepdims": (False,), "order": ("K",), "out": (None, (None,)),
    "subok": (True,), "where": (True,),
}  # fmt: skip
#: NumPy's names of operands, of which those that are lists or Python numbers are arrays of its own dtypes
_OPERANDS = frozenset(("A", "a", "array", "b", "m", "v"))
#: what changes how a result is found, not which it is: equal elements keep their order here, whatever the kind of sort
_MEANINGLESS = frozenset({"optimize", "kind", "stable"})
#: what None means something for that is known, though its default is another or it has none
_MEANT_BY_NONE = frozenset(
    {"a_max", "a_min", "axes", "axis", "copy", "dtype", "max", "min", "ord", "order", "out", "rtol"}
)
_ADVICE = {
    "out": "tensors are not written to: assign the result",
    "dtype": "cast an operand or the result instead: x.astype(dtype)",
    "where": "choose between the results instead: numpy.where(condition, x, y)",
}
_ABSENT: Any = getattr(np, "_NoValue", None)
#: functions written in C do not say their signature in every version of NumPy
SIGNATURES: dict[Any, Callable[..., None]] = {
    np.bincount: lambda x, /, weights=None, minlength=0: None,
    np.concatenate: lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    np.dot: lambda a, b, out=None: None,
    np.inner: lambda a, b, /: None,
    np.vdot: lambda a, b, /: None,
    np.where: lambda condition, x=_ABSENT, y=_ABSENT, /: None,  # by what NumPy does, which it says of no None
}


def full_name(f: Any) -> str:
    """Return ``numpy.linalg.norm``."""
    return f"{getattr(f, '__module__', None) or 'numpy'}.{f.__name__}"


def advice_for(argument: str) -> str:
    """Return what to write instead of a well-known argument."""
    return _ADVICE.get(argument, "leave it out")


def refuse(name: str, argument: str) -> NoReturn:
    """Raise ``TypeError``: the function ``name`` of NumPy's does not take ``argument`` where tensors take part."""
    raise UnknownWhileTracing(
        f"{name} does not take the argument {argument!r} where tensors take part; {advice_for(argument)}"
    )


def telling_none_apart(theirs: Any, ours: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``ours``, which leaves to NumPy what None means where nothing given means another thing, and what it says
    of arguments of other types than its parameters have."""
    with undivided():  # which simple programs do without
        from .odd_arguments import ask, ask_for_attributes, asked_for_attributes, unusual
    optional, place = _optional(theirs, ours)
    of_arrays = asked_for_attributes(theirs)

    def called(*args: Any, **kwargs: Any) -> Any:
        if of_arrays:
            ask_for_attributes(theirs, of_arrays, args, kwargs)
        if optional and (odd := unusual(optional, place, args, kwargs)) is not None:
            ask(theirs, odd, place, args, kwargs)
        for value in args:
            if value is None:
                _refuse_none(theirs, args, kwargs)
                return ours(*args, **kwargs)
        for value in kwargs.values():
            if value is None:
                _refuse_none(theirs, args, kwargs)
                break
        return ours(*args, **kwargs)

    return computing(called)


def _optional(theirs: Any, ours: Callable[..., Any]) -> tuple[dict[str, Any], dict[int, str]]:
    """Return the parameters of NumPy's own functions that are looked at: of others' nothing is known."""
    if not (getattr(theirs, "__module__", None) or "numpy").startswith("numpy"):
        return {}, {}
    with undivided():
        from .odd_arguments import parameters_of
    for one in (SIGNATURES.get(theirs, theirs), getattr(ours, "ours", ours)):
        with suppress(TypeError, ValueError):
            return parameters_of(one)
    return {}, {}


def _refuse_none(theirs: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    try:
        signature = signature_of(SIGNATURES.get(theirs, theirs))
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):  # wrong arguments, of which ours says what Python says
        return
    for name, value in given.items():
        if value is None and name not in _MEANT_BY_NONE and signature.parameters[name].default is not None:
            refuse_none(full_name(theirs), name)


def ask_of_odd(theirs: Any, options: Mapping[str, Any], *args: Any, **kwargs: Any) -> None:
    """Raise what NumPy raises of one of some ``options`` whose type its ufunc, or method, has no use for."""
    with undivided():  # which simple programs do without
        from .odd_arguments import ask, unusual
    odd = unusual({"subok": True}, {}, (), options)
    if odd is not None:
        ask(theirs, odd, {}, args, {**kwargs, odd: options[odd]})


def refuse_none(function: str, argument: str) -> NoReturn:
    """Raise ``TypeError``: None is given where nothing given means another thing."""
    raise UnknownWhileTracing(
        f"{function}: what None for {argument!r} means NumPy alone knows; give a value, or leave it out"
    )


def refuse_nones(function: str, kwargs: Mapping[str, Any]) -> None:
    """Raise ``TypeError`` if an argument of a ufunc is None that means another thing than leaving it out."""
    for name, value in kwargs.items():
        if value is None and name not in _MEANT_BY_NONE:
            refuse_none(function, name)


def refuse_found(array: Any) -> None:
    """Raise ``TypeError`` if ``array += tensor`` would leave as it is an array that the function has found."""
    name_of = FOUND.get()
    if name_of is not None and (name := name_of(array)) is not None:
        raise TypeError(
            f"the array{f' {name!r}' if name else ''}, which the function finds, is changed in place (as by `+=`) by "
            f"what is traced or differentiated: it would stay as it is. Decorate the function with autoloop.function, "
            f"or let it make a new array, x = x + y [AL016]"
        )


def is_neutral(argument: str, value: Any) -> bool:
    """Return whether ``value`` of a well-known argument asks for nothing."""
    return any(value is neutral or (type(value) is type(neutral) and value == neutral)
               for neutral in _NEUTRAL.get(argument, ()))  # fmt: skip


def is_operator(frame: FrameType | None) -> bool:
    """Return whether ``x * y`` or ``x *= y`` called NumPy, and not the program itself by the name of the function, with
    ``out=``: both arrive alike."""
    while frame is not None and frame.f_code.co_name == "__array_ufunc__":  # one that hands on to another
        frame = frame.f_back
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == _BINARY


_BINARY = dis.opmap["BINARY_OP"]


def as_in_numpy(operand: Any) -> Any:
    """Return an operand that is a list as NumPy takes it: an array with a dtype of its own, int64 or float64."""
    if not isinstance(operand, (list, tuple)):
        return np.asarray(operand) if isinstance(operand, (int, float, complex)) else operand
    if any(isinstance(part, (list, tuple)) or _stands_for_array(part) for part in operand):
        return [as_in_numpy(part) for part in operand]
    return np.asarray(operand)


def _stands_for_array(value: Any) -> bool:
    return hasattr(type(value), "__array_function__") and not isinstance(value, np.ndarray)


class Counterpart:
    """``ours`` under the arguments of NumPy's function ``theirs``."""

    def __init__(self, theirs: Any, ours: Callable[..., Any]) -> None:
        self.theirs = theirs
        self.ours = ours
        #: how many arguments by place and which by name -> the parameters they are for, see ``_received``
        self._forms: dict[tuple[int, tuple[str, ...]], list[tuple[str, str | None, Any]] | None] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        form = (len(args), tuple(kwargs))
        if form not in self._forms:
            self._forms[form] = self._received(*form)
        received = self._forms[form]
        if received is None:
            given, named = self.arguments(args, kwargs)
            return self.ours(*given, **named)
        named = {}
        for (theirs, ours, default), value in zip(received, (*args, *kwargs.values())):
            self._name(named, theirs, value, ours, default)
        return self.ours(**named)

    def _received(self, count: int, names: tuple[str, ...]) -> list[tuple[str, str | None, Any]] | None:
        """Return, for each argument of a call, NumPy's parameter, ours and the default; None if some are collected."""
        parameters = self._signature.parameters
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values()):
            return None
        bound = self._signature.bind(*range(count), **{name: count + place for place, name in enumerate(names)})
        places = {place: name for name, place in bound.arguments.items()}
        return [(name, self._places.get(name), parameters[name].default) for _, name in sorted(places.items())]

    @property
    @functools.cache  # noqa: B019  (these objects stay; a cached_property has a lock in Python 3.11)
    def _signature(self) -> inspect.Signature:
        try:
            return signature_of(self.theirs)
        except ValueError:
            return signature_of(SIGNATURES[self.theirs])

    @property
    @functools.cache  # noqa: B019  (these objects stay; a cached_property has a lock in Python 3.11)
    def _parameters(self) -> dict[str, inspect.Parameter]:
        return dict(signature_of(self.ours).parameters)

    @property
    @functools.cache  # noqa: B019  (these objects stay; a cached_property has a lock in Python 3.11)
    def _places(self) -> dict[str, str]:
        """NumPy's parameter -> ours: operands by place, the others by name."""
        places, free = {}, list(self._parameters)
        for name, parameter in self._signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if parameter.default is parameter.empty and free:
                places[name] = free.pop(0)
            else:
                wanted = next((n for n in (name, _RENAMED.get(name)) if n in free and n != "name"), None)
                if wanted is not None:
                    places[name] = wanted
        return places

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return what to call ``ours`` with.

        Raises
        ------
        TypeError
            If NumPy does not take the arguments, or we do not take one of them.
        """
        bound = self._signature.bind(*args, **kwargs)
        given: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                given += bound.arguments.get(name, ())
            elif parameter.kind is parameter.VAR_KEYWORD:
                for other, value in bound.arguments.get(name, {}).items():
                    self._name(named, other, value, other if other in self._parameters else None, parameter.empty)
            elif name in bound.arguments:
                self._name(named, name, bound.arguments[name], self._places.get(name), parameter.default)
        return given, named

    def _name(self, named: dict[str, Any], theirs: str, value: Any, ours: str | None, default: Any) -> None:
        as_default = value is default or (type(value) is type(default) and value == default)
        if ours is not None:
            if value is not getattr(np, "_NoValue", None):
                named[ours] = as_in_numpy(value) if theirs in _OPERANDS else value
        elif not (as_default or theirs in _MEANINGLESS or is_neutral(theirs, value)):
            refuse(full_name(self.theirs), theirs)
